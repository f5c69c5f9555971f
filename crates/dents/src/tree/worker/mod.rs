//! One worker: takes a directory, opens and reads it, gets the answers about its entries, and puts up its subdirectories.
//!
//! [`Worker::prepare`] goes on until there is a batch or a failure to show, [`Worker::collect`] comes after the batch was
//! seen; between the two stands whoever looks at it.

mod descent;
mod enter;
mod read;

use super::frontier::{Frontier, Grain, Home};
use super::kin::{About, Gathering};
use super::pace::Watch;
use super::visitor::{Failure, Piece, Place, Problem, Step, Visitor};
use super::{Follow, Tally, new_batch};
use crate::batch::{Batch, Entry};
use crate::needs::Kind;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_sys::{AsFd, Errno, OwnedFd};
use descent::Descent;
use enter::{Entered, Next};

pub(super) struct Worker<S> {
    index: usize,
    descent: Descent<S>,
    /// Of the directory opened last.
    path: Vec<u8>,
    buffer: Vec<u8>,
    batch: Batch,
    /// Whether the batch may hold something to enter.
    promising: bool,
    source: Source,
    grain: Option<(Grain<S>, Option<OwnedFd>)>,
    reading: Option<Reading<S>>,
    trouble: Option<Errno>,
    gathering: Gathering,
    watch: Watch,
    pub(super) tally: Tally,
}

/// A directory being read.
struct Reading<S> {
    dir: OwnedFd,
    about: About<S>,
    ended: bool,
    piece: Piece,
    /// Pieces numbered so far.
    pieces: u32,
    home: Option<Arc<Home<S>>>,
    /// Where its subdirectories begin on the way down.
    level: usize,
}

/// Subdirectories of one directory that may wait before it is paused: of a few MiB, whatever their names.
const WIDE: usize = 1 << 14;

/// Where the entries come from that are to be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Operands,
    Own,
    Grain,
}

/// What is to be shown.
pub(super) enum Ready {
    Entries,
    Failed(Fault),
}

pub(super) struct Fault {
    id: u64,
    parent: u64,
    depth: u32,
    problem: Problem,
    errno: Errno,
}

/// Whether there was something to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Made,
    Idle,
}

impl<S: Clone + Default + Send + Sync> Worker<S> {
    pub(super) fn new(index: usize, frontier: &Frontier<'_, S>) -> Self {
        Worker {
            index,
            descent: Descent::new(frontier.share),
            path: Vec::new(),
            buffer: Vec::new(),
            batch: new_batch(frontier.options),
            promising: false,
            source: Source::Own,
            grain: None,
            reading: None,
            trouble: None,
            gathering: Gathering::default(),
            watch: Watch::default(),
            tally: Tally { workers: 1, ..Tally::default() },
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Where another thread sees what this worker waits for: the first desk is the lister's.
    fn desk(&self) -> usize {
        1 + self.index
    }

    /// What is done now about the directory of `self.path`, for a thread that looks on.
    fn show<T>(&mut self, frontier: &Frontier<'_, S>, wait: impl FnOnce(&mut Self) -> T) -> T {
        let Some(watch) = frontier.options.watch else { return wait(self) };
        watch.begin(self.desk(), &self.path);
        let done = wait(self);
        watch.end(self.desk(), 0);
        done
    }

    /// The operands become the first batch.
    pub(super) fn give_operands(&mut self, operands: &[&CStr], frontier: &Frontier<'_, S>) {
        for operand in operands {
            self.batch.push(operand, Kind::Unknown, 0);
        }
        let follow = frontier.options.follow != Follow::Never;
        self.fill(None, frontier.options.at, follow, frontier);
        self.tally.entries += self.batch.len() as u64;
        self.promising = true;
        self.source = Source::Operands;
    }

    /// Works until all is done or somebody says stop.
    pub(super) fn run<V: Visitor<State = S>>(&mut self, frontier: &Frontier<'_, S>, visitor: &mut V) {
        self.descent.set_share(frontier.share);
        if self.index != 0 {
            frontier.enter();
        }
        loop {
            while self.advance(frontier, visitor) == Progress::Made || self.steal(frontier) {}
            if !frontier.rest(&mut self.tally.sleeps) {
                return;
            }
            frontier.enter();
        }
    }

    /// Offers all that was found while there were no others.
    pub(super) fn offer_all(&mut self, frontier: &Frontier<'_, S>) {
        if frontier.crew() > 1 {
            self.descent.offer(self.index, frontier);
        }
    }

    /// One batch or failure.
    pub(super) fn advance<V: Visitor<State = S>>(
        &mut self,
        frontier: &Frontier<'_, S>,
        visitor: &mut V,
    ) -> Progress {
        let ready = self.prepare(frontier, |place, state| visitor.opened(place, state));
        let step = match ready {
            None => return Progress::Idle,
            Some(Ready::Failed(fault)) => visitor.failed(&self.failure(fault)),
            Some(Ready::Entries) => {
                let step = match self.about() {
                    Some(about) => visitor.entries(&self.place(frontier), self.batch(), &about.state),
                    None => visitor.entries(&self.place(frontier), self.batch(), &S::default()),
                };
                let first = self.collect(frontier, step == Step::Enter, |place, entry, state| {
                    visitor.descend(place, entry, state)
                });
                first.into_iter().for_each(|first| visitor.numbered(first));
                step
            }
        };
        if step == Step::Stop {
            frontier.stop();
        }
        Progress::Made
    }

    /// Goes on until there is something to show; `None` if there is nothing left here, or an end to all.
    pub(super) fn prepare(
        &mut self,
        frontier: &Frontier<'_, S>,
        mut opened: impl FnMut(&Place<'_>, &mut S) -> Step,
    ) -> Option<Ready> {
        loop {
            if frontier.pace.stopped() {
                return None;
            }
            if self.source == Source::Operands {
                return Some(Ready::Entries);
            }
            if let Some(errno) = self.trouble.take() {
                return self.cannot(Problem::Read, errno);
            }
            let reads_on = match &self.reading {
                Some(reading) => !reading.ended,
                None => false,
            };
            // Before a new directory; and while one is read only if there are enough of them to be read later.
            if (!reads_on || frontier.has_plenty())
                && let Some(grain) = frontier.take_grain()
            {
                if self.take(grain, frontier) {
                    return Some(Ready::Entries);
                }
                continue;
            }
            if !reads_on {
                let entered = match self.claim(frontier)? {
                    Next::Subdirectory(kin, index, mine) => {
                        self.enter(&kin, index, mine, frontier, &mut opened)
                    }
                    Next::Resumed => Entered::Reading,
                };
                match entered {
                    Entered::Reading => {}
                    Entered::Skipped => continue,
                    Entered::Failed(fault) => return Some(Ready::Failed(fault)),
                }
            }
            if self.read(frontier) {
                return Some(Ready::Entries);
            }
        }
    }

    /// The batch to be seen.
    pub(super) fn batch(&self) -> &Batch {
        match &self.grain {
            Some((grain, _)) => &grain.batch,
            None => &self.batch,
        }
    }

    fn about(&self) -> Option<&About<S>> {
        match self.source {
            Source::Operands => None,
            Source::Own => self.reading.as_ref().map(|reading| &reading.about),
            Source::Grain => self.grain.as_ref().map(|(grain, _)| &grain.home.about),
        }
    }

    /// Where the batch belongs.
    pub(super) fn place<'w>(&'w self, frontier: &Frontier<'w, S>) -> Place<'w> {
        if let Some((grain, dir)) = &self.grain {
            let About { id, parent, depth, ref lineage, .. } = grain.home.about;
            let (dir, lineage) = (dir.as_ref().map(AsFd::as_fd), lineage.as_deref());
            return Place { id, parent, depth, path: &grain.home.path, piece: grain.piece, dir, lineage };
        }
        match &self.reading {
            Some(reading) => place_of(&self.path, reading),
            None => {
                let piece = Piece { index: 0, last: true };
                let dir = Some(frontier.options.at);
                Place { id: 0, parent: 0, depth: 0, path: b"", piece, dir, lineage: None }
            }
        }
    }

    pub(super) fn failure(&self, fault: Fault) -> Failure<'_> {
        let Fault { id, parent, depth, problem, errno } = fault;
        Failure { id, parent, depth, path: &self.path, problem, errno }
    }

    /// What goes wrong with the directory being read.
    fn cannot(&mut self, problem: Problem, errno: Errno) -> Option<Ready> {
        self.tally.faults += 1;
        let (id, parent, depth) =
            self.reading.as_ref().map_or((0, 0, 0), |one| (one.about.id, one.about.parent, one.about.depth));
        Some(Ready::Failed(Fault { id, parent, depth, problem, errno }))
    }

    /// Puts up the subdirectories in the batch that was seen, if any shall be entered. The number of the first of them.
    pub(super) fn collect(
        &mut self,
        frontier: &Frontier<'_, S>,
        enters: bool,
        descend: impl FnMut(&Place<'_>, &Entry<'_>, &S) -> Step,
    ) -> Option<u64> {
        let mut gathering = core::mem::take(&mut self.gathering);
        gathering.clear();
        if enters && self.promising {
            self.gather(&mut gathering, frontier, descend);
        }
        let source = core::mem::replace(&mut self.source, Source::Own);
        let first = match (source, self.grain.take(), self.reading.take()) {
            (Source::Operands, ..) => self.put_up(&gathering, b"", About::operands(), None, frontier),
            (_, Some((grain, dir)), reading) => {
                let about = grain.home.about.clone();
                self.reading = reading;
                self.put_up(&gathering, &grain.home.path, about, dir, frontier)
            }
            (_, None, Some(reading)) => {
                let path = core::mem::take(&mut self.path);
                let first;
                if reading.ended && self.trouble.is_none() {
                    first = self.put_up(&gathering, &path, reading.about, Some(reading.dir), frontier);
                } else {
                    first = self.put_up(&gathering, &path, reading.about.clone(), None, frontier);
                    self.reading = self.pause(reading, &path, &mut gathering);
                }
                self.path = path;
                first
            }
            (_, None, None) => None,
        };
        self.gathering = gathering;
        first
    }

    /// Reads on later, if so many subdirectories wait already; else gives the directory back. One that cannot be read on is
    /// not paused, nor one too many to stay open.
    fn pause(&mut self, reading: Reading<S>, path: &[u8], gathering: &mut Gathering) -> Option<Reading<S>> {
        if self.trouble.is_some() || self.descent.waiting(reading.level) < WIDE {
            return Some(reading);
        }
        gathering.clear();
        let none = gathering.kin(path, reading.about.clone(), false, 0);
        self.descent.pause(reading.level, none, reading)
    }

    fn gather(
        &self,
        gathering: &mut Gathering,
        frontier: &Frontier<'_, S>,
        mut descend: impl FnMut(&Place<'_>, &Entry<'_>, &S) -> Step,
    ) {
        let place = self.place(frontier);
        if place.depth >= frontier.options.max_depth {
            return;
        }
        let nothing = S::default();
        let state = self.about().map_or(&nothing, |about| &about.state);
        let follow = frontier.options.follow == Follow::Always;
        for entry in self.batch().iter() {
            let perhaps = match entry.kind() {
                Kind::Dir => entry.d_kind() == Kind::Link,
                // Nobody needed to stat it: opening it tells.
                Kind::Link if follow && !entry.is_known() => true,
                _ => continue,
            };
            if place.depth > 0 && matches!(entry.name(), b"." | b"..") {
                continue;
            }
            match descend(&place, &entry, state) {
                Step::Enter => gathering.push(entry.c_name(), perhaps, entry.d_ino()),
                Step::Skip => {}
                Step::Stop => return frontier.stop(),
            }
        }
    }

    /// Puts subdirectories into the frontier; `dir` is where they are, if it needs to be open no longer. Returns the number
    /// of the first.
    pub(super) fn put_up(
        &mut self,
        gathering: &Gathering,
        path: &[u8],
        about: About<S>,
        dir: Option<OwnedFd>,
        frontier: &Frontier<'_, S>,
    ) -> Option<u64> {
        if gathering.len() == 0 {
            return None;
        }
        let follow = match frontier.options.follow {
            Follow::Never => false,
            Follow::Operands => about.depth == 0,
            Follow::Always => true,
        };
        let first_id = frontier.number(gathering.len());
        let kin = gathering.kin(path, about, follow, first_id);
        if frontier.elevate(&kin, &gathering.inos) {
            return Some(first_id);
        }
        let offered = frontier.crew() > 1 && kin.len() > 1;
        if offered {
            frontier.offer(self.index, &kin);
        }
        self.descent.push(kin, dir, offered);
        Some(first_id)
    }
}

fn place_of<'w, S>(path: &'w [u8], reading: &'w Reading<S>) -> Place<'w> {
    let About { id, parent, depth, ref lineage, .. } = reading.about;
    let (dir, lineage) = (Some(reading.dir.as_fd()), lineage.as_deref());
    Place { id, parent, depth, path, piece: reading.piece, dir, lineage }
}
