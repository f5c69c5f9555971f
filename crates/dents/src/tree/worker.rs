//! One worker: takes a directory, opens and reads it, gets the answers about its entries, and puts up its subdirectories.
//!
//! [`Worker::prepare`] goes on until there is a batch or a failure to show, [`Worker::collect`] comes after the batch was
//! seen; between the two stands whoever looks at it.

use super::frontier::{Frontier, Grain, Home};
use super::kin::{About, Gathering, Kin, Lineage};
use super::pace::Watch;
use super::visitor::{Failure, Piece, Place, Problem, Step, Visitor};
use super::{Follow, PIECE, Tally, new_batch, open};
use crate::batch::{Batch, Entry};
use crate::needs::Kind;
use crate::stat::steady;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::AtomicU32;
use dents_sys::dir::{self, Dirents};
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, Result, futex};

/// Bytes given to each `getdents64`.
const BUFFER: usize = 64 * 1024;

/// Where descriptors run out, a worker gives up its own and tries again so often, a millisecond apart.
const PATIENCE: u32 = 2000;
const NAP_NS: u64 = 1_000_000;

/// Subdirectories still to be opened by a directory that is closed make it worth to be opened again.
const WORTH_OPENING: usize = 3;

pub(super) struct Worker<S> {
    index: usize,
    /// The way down: what is still to be opened, deepest last.
    stack: Vec<Held<S>>,
    /// Descriptors in the stack, and how many may be.
    held: usize,
    share: usize,
    /// Of those below `closed`, only every `stride`th still has its descriptor.
    closed: usize,
    stride: usize,
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
    tally: Tally,
    opens: u64,
}

/// Subdirectories, and their directory as long as it may stay open.
struct Held<S> {
    kin: Arc<Kin<S>>,
    dir: Option<OwnedFd>,
    offered: bool,
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
}

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
            stack: Vec::new(),
            held: 0,
            share: frontier.share,
            closed: 0,
            stride: 1,
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
            opens: 0,
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Requests made so far.
    pub(super) fn requests(&self) -> u64 {
        self.opens + self.tally.reads + self.tally.stats
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
        self.share = frontier.share;
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
                self.collect(frontier, step == Step::Enter, |place, entry, state| {
                    visitor.descend(place, entry, state)
                });
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
                let (kin, index, mine) = self.claim(frontier)?;
                match self.enter(&kin, index, mine, frontier, &mut opened) {
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

    /// The next subdirectory: of one's own, deepest first; else by inode.
    fn claim(&mut self, frontier: &Frontier<'_, S>) -> Option<(Arc<Kin<S>>, usize, bool)> {
        while let Some(held) = self.stack.last() {
            if let Some(index) = held.kin.claim() {
                return Some((Arc::clone(&held.kin), index, true));
            }
            self.let_go(frontier);
        }
        let (kin, index) = frontier.next_by_inode()?;
        Some((kin, index, false))
    }

    /// Removes what is used up.
    fn let_go(&mut self, frontier: &Frontier<'_, S>) {
        if let Some(held) = self.stack.pop() {
            self.held -= usize::from(held.dir.is_some());
            self.closed = self.closed.min(self.stack.len());
            if self.stack.is_empty() {
                self.stride = 1;
            }
            if held.offered {
                frontier.withdraw(self.index, &held.kin);
            }
        }
    }

    /// Takes over from another worker.
    fn steal(&mut self, frontier: &Frontier<'_, S>) -> bool {
        if frontier.pace.stopped() {
            return false;
        }
        let Some(kin) = frontier.steal(self.index) else { return false };
        self.tally.stolen += 1;
        self.stack.push(Held { kin, dir: None, offered: false });
        true
    }

    /// Offers all that was found while there were no others.
    pub(super) fn offer_all(&mut self, frontier: &Frontier<'_, S>) {
        if frontier.crew() > 1 {
            for held in &mut self.stack {
                held.offered = true;
                frontier.offer(self.index, &held.kin);
            }
        }
    }

    /// Opens a subdirectory.
    fn enter(
        &mut self,
        kin: &Kin<S>,
        index: usize,
        mine: bool,
        frontier: &Frontier<'_, S>,
        opened: &mut impl FnMut(&Place<'_>, &mut S) -> Step,
    ) -> Entered {
        self.set_path(&kin.path, kin.name(index).to_bytes());
        let result = self.open(kin, index, mine, frontier);
        if mine && kin.remaining() == 0 {
            // Or a chain of directories with one subdirectory each would hold them all.
            self.let_go(frontier);
        }
        let above = &kin.about;
        let mut about = About {
            id: kin.id(index),
            parent: above.id,
            depth: above.depth + 1,
            state: above.state.clone(),
            lineage: None,
            device: above.device,
        };
        let identified = |dir: OwnedFd| match self.identify(&dir, kin, &mut about, frontier) {
            Ok(()) => Ok(dir),
            Err(Errno::LOOP) => Err((Problem::Loop, Errno::LOOP)),
            Err(errno) => Err((Problem::Open, errno)),
        };
        let dir = match result.map_err(|errno| (Problem::Open, errno)).and_then(identified) {
            Ok(dir) => dir,
            Err((Problem::Open, errno)) if is_no_failure(errno, kin.perhaps(index), frontier) => {
                return Entered::Skipped;
            }
            Err((problem, errno)) => {
                self.tally.faults += 1;
                let About { id, parent, depth, .. } = about;
                return Entered::Failed(Fault { id, parent, depth, problem, errno });
            }
        };
        self.tally.directories += 1;
        let piece = Piece { index: 0, last: false };
        let mut reading = Reading { dir, about, ended: false, piece, pieces: 0, home: None };
        let mut state = core::mem::take(&mut reading.about.state);
        let step = opened(&place_of(&self.path, &reading), &mut state);
        reading.about.state = state;
        match step {
            Step::Enter => {
                self.reading = Some(reading);
                return Entered::Reading;
            }
            Step::Skip => {}
            Step::Stop => frontier.stop(),
        }
        Entered::Skipped
    }

    /// Device and lineage, where they matter.
    fn identify(
        &self,
        dir: &OwnedFd,
        kin: &Kin<S>,
        about: &mut About<S>,
        frontier: &Frontier<'_, S>,
    ) -> Result<()> {
        if frontier.options.one_file_system && about.device.is_none() {
            about.device = Some(frontier.border.found(dir.as_fd())?);
        }
        if frontier.options.follow == Follow::Always {
            let statx = stat::fstat(dir.as_fd(), Mask::INO)?;
            let lineage = Lineage::child(kin.about.lineage.as_ref(), statx.dev(), statx.ino());
            about.lineage = Some(lineage.ok_or(Errno::LOOP)?);
        }
        Ok(())
    }

    /// Opens it relative to its parent, or by `self.path`.
    fn open(
        &mut self,
        kin: &Kin<S>,
        index: usize,
        mine: bool,
        frontier: &Frontier<'_, S>,
    ) -> Result<OwnedFd> {
        let mut tries = 0;
        loop {
            if !frontier.pace.ask(&mut self.watch) {
                return Err(Errno::CANCELED);
            }
            if mine {
                self.reopen(kin, frontier);
            }
            self.opens += 1;
            let parent = if mine { self.stack.last().and_then(|held| held.dir.as_ref()) } else { None };
            let (name, follow) = (kin.name(index), kin.follow);
            let result = match (parent, kin.about.device) {
                (Some(parent), None) => open::child(parent.as_fd(), name, follow),
                (Some(parent), Some(device)) => frontier.border.child(parent.as_fd(), name, follow, device),
                (None, device) => {
                    let (at, path) = self.shortest(mine, &self.path, frontier);
                    let dir = open::by_path(at, path, follow);
                    match device {
                        Some(device) => dir.and_then(|dir| open::Border::check(dir, device)),
                        None => dir,
                    }
                }
            };
            match result {
                Err(Errno::MFILE | Errno::NFILE) if tries < PATIENCE => {
                    self.close_all();
                    if tries > 0 {
                        let _ = futex::wait(&AtomicU32::new(0), 0, Some(NAP_NS));
                    }
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Opens the parent of several subdirectories that came without: by path, once for all of them.
    fn reopen(&mut self, kin: &Kin<S>, frontier: &Frontier<'_, S>) {
        let worth = self.share > 0 && !kin.path.is_empty() && kin.remaining() + 1 >= WORTH_OPENING;
        if !worth || self.stack.last().is_none_or(|held| held.dir.is_some()) {
            return;
        }
        self.opens += 1;
        let (at, path) = self.shortest(true, &kin.path, frontier);
        if let Ok(dir) = open::by_path(at, path, true) {
            self.make_room();
            self.held += 1;
            if let Some(last) = self.stack.last_mut() {
                last.dir = Some(dir);
            }
            self.closed = self.closed.min(self.stack.len().saturating_sub(1));
        }
    }

    /// The shortest way to a path on the way down: from the deepest directory above it that is still open.
    fn shortest<'w>(
        &'w self,
        mine: bool,
        path: &'w [u8],
        frontier: &Frontier<'w, S>,
    ) -> (BorrowedFd<'w>, &'w [u8]) {
        let below = |held: &'w Held<S>| {
            let dir = held.dir.as_ref()?;
            let rest = path.strip_prefix(&*held.kin.path)?.strip_prefix(b"/")?;
            (!held.kin.path.is_empty() && !rest.starts_with(b"/")).then_some((dir.as_fd(), rest))
        };
        let stack = if mine { self.stack.as_slice() } else { &[] };
        stack.iter().rev().find_map(below).unwrap_or((frontier.options.at, path))
    }

    /// Closes a directory if there is no room for another: the highest first, but for every `stride`th of them, from
    /// which those between are found again without the whole path; and those too, every other time, when only they are
    /// left.
    fn make_room(&mut self) {
        while self.held >= self.share.max(1) {
            if self.closed >= self.stack.len() {
                self.closed = 0;
                self.stride *= 2;
                if self.stride > 2 * self.stack.len() {
                    return self.close_all();
                }
            }
            if !self.closed.is_multiple_of(self.stride) && self.stack[self.closed].dir.take().is_some() {
                self.held -= 1;
            }
            self.closed += 1;
        }
    }

    fn close_all(&mut self) {
        for held in &mut self.stack {
            held.dir = None;
        }
        self.held = 0;
        self.closed = 0;
        self.stride = 1;
    }

    fn set_path(&mut self, parent: &[u8], name: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(parent);
        if !parent.is_empty() && !parent.ends_with(b"/") {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
    }

    /// Reads the next piece of the directory that is open, and finds out what must be known. False if the walk ended
    /// meanwhile.
    fn read(&mut self, frontier: &Frontier<'_, S>) -> bool {
        let Some(mut reading) = self.reading.take() else { return false };
        self.source = Source::Own;
        self.promising = false;
        let unknown = self.read_names(&mut reading, frontier);
        reading.piece = Piece { index: reading.pieces, last: reading.ended };
        reading.pieces += 1;
        let mut whole = true;
        if frontier.asks || unknown || frontier.options.follow == Follow::Always {
            self.deal(&mut reading, frontier);
            if frontier.options.order == super::Order::Inode {
                self.batch.sort_by_inode();
            }
            let follow = frontier.options.follow == Follow::Always;
            whole = self.fill(None, reading.dir.as_fd(), follow, frontier);
        }
        self.reading = Some(reading);
        self.tally.entries += self.batch.len() as u64;
        whole
    }

    /// Reads until the end, or until there are enough for a piece. Whether a type is unknown.
    fn read_names(&mut self, reading: &mut Reading<S>, frontier: &Frontier<'_, S>) -> bool {
        let options = frontier.options;
        let follow = options.follow == Follow::Always;
        let mut unknown = false;
        if self.buffer.is_empty() {
            self.buffer = vec![0; BUFFER];
        }
        self.batch.clear();
        while self.batch.len() < PIECE && !reading.ended && frontier.pace.ask(&mut self.watch) {
            self.tally.reads += 1;
            let filled = match dir::getdents64(reading.dir.as_fd(), &mut self.buffer) {
                // Removed while it was open: no entries any more.
                Err(Errno::NOENT) => 0,
                Ok(filled) => filled,
                Err(errno) => {
                    self.trouble = Some(errno);
                    0
                }
            };
            let mut records = Dirents::new(&self.buffer[..filled]);
            let mut position = 0;
            for record in records.by_ref() {
                position = record.off;
                if !options.filter.wants(record.name.to_bytes()) {
                    continue;
                }
                let kind = Kind::from_d_type(record.d_type);
                let kind = if options.distrust_d_type { Kind::Unknown } else { kind };
                unknown |= kind == Kind::Unknown;
                self.promising |= kind == Kind::Dir || (follow && kind == Kind::Link);
                self.batch.push(record.name, kind, record.ino);
            }
            if records.malformed() {
                self.trouble = Some(Errno::IO);
            }
            // That the buffer is not full proves nothing: some file systems answer in pieces. The greatest position
            // there is leaves no room for another entry; ext4 says so (fs/ext4/dir.c, EXT4_HTREE_EOF_64BIT).
            reading.ended = filled == 0 || position == i64::MAX || self.trouble.is_some();
        }
        self.promising |= unknown;
        unknown
    }

    /// Gives a part of the entries away, if others have nothing to do or there are more to be read.
    fn deal(&mut self, reading: &mut Reading<S>, frontier: &Frontier<'_, S>) {
        let grain = frontier.grain();
        let wanted = frontier.crew() > 1 && (!reading.ended || frontier.someone_sleeps());
        if !wanted || self.batch.len() <= grain {
            return;
        }
        if reading.home.is_none() {
            let Ok(statx) = stat::fstat(reading.dir.as_fd(), Mask::INO) else { return };
            let (path, about) = (self.path.as_slice().into(), reading.about.clone());
            let identity = (statx.dev(), statx.ino());
            reading.home = Some(Arc::new(Home { path, about, identity }));
        }
        let Some(home) = &reading.home else { return };
        let ended = core::mem::replace(&mut reading.piece.last, false);
        let grains = (self.batch.len() - 1) / grain;
        for at in (1..=grains).rev() {
            let batch = self.batch.split_off(at * grain);
            let index = reading.pieces + at as u32 - 1;
            let piece = Piece { index, last: ended && at == grains };
            self.tally.dealt += 1;
            frontier.give_grain(Grain { home: Arc::clone(home), batch, piece });
        }
        reading.pieces += grains as u32;
    }

    /// Gets the answers about a grain. False if the walk ended meanwhile.
    fn take(&mut self, mut grain: Grain<S>, frontier: &Frontier<'_, S>) -> bool {
        let follow = frontier.options.follow == Follow::Always;
        self.opens += 1;
        let opened = open::by_path(frontier.options.at, &grain.home.path, true).and_then(|dir| {
            let statx = stat::fstat(dir.as_fd(), Mask::INO)?;
            // Another directory took its place.
            if (statx.dev(), statx.ino()) == grain.home.identity { Ok(dir) } else { Err(Errno::NOENT) }
        });
        let whole = match &opened {
            Ok(dir) => {
                if frontier.options.order == super::Order::Inode {
                    grain.batch.sort_by_inode();
                }
                self.fill(Some(&mut grain.batch), dir.as_fd(), follow, frontier)
            }
            Err(errno) => {
                grain.batch.fail_all(*errno);
                self.tally.faults += grain.batch.len() as u64;
                true
            }
        };
        self.tally.entries += grain.batch.len() as u64;
        self.promising = true;
        self.source = Source::Grain;
        self.grain = Some((grain, opened.ok()));
        whole
    }

    /// Asks about a batch, its own or another, what its names and types do not answer.
    fn fill(
        &mut self,
        batch: Option<&mut Batch>,
        dir: BorrowedFd<'_>,
        follow: bool,
        frontier: &Frontier<'_, S>,
    ) -> bool {
        let batch = batch.unwrap_or(&mut self.batch);
        let (pace, watch) = (&frontier.pace, &mut self.watch);
        let go_on = || pace.ask(watch);
        let (tally, whole) = steady::fill(batch, dir, &frontier.needs, follow, frontier.options.extra, go_on);
        self.tally.stats += tally.stats;
        self.tally.avoided += tally.avoided;
        self.tally.faults += tally.faults;
        whole
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
            let About { id, parent, depth, .. } = grain.home.about;
            let dir = dir.as_ref().map(AsFd::as_fd);
            return Place { id, parent, depth, path: &grain.home.path, piece: grain.piece, dir };
        }
        match &self.reading {
            Some(reading) => place_of(&self.path, reading),
            None => {
                let piece = Piece { index: 0, last: true };
                Place { id: 0, parent: 0, depth: 0, path: b"", piece, dir: Some(frontier.options.at) }
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

    /// Puts up the subdirectories in the batch that was seen, if any shall be entered.
    pub(super) fn collect(
        &mut self,
        frontier: &Frontier<'_, S>,
        enters: bool,
        descend: impl FnMut(&Place<'_>, &Entry<'_>, &S) -> Step,
    ) {
        let mut gathering = core::mem::take(&mut self.gathering);
        gathering.clear();
        if enters && self.promising {
            self.gather(&mut gathering, frontier, descend);
        }
        let source = core::mem::replace(&mut self.source, Source::Own);
        match (source, self.grain.take(), self.reading.take()) {
            (Source::Operands, ..) => {
                let state = S::default();
                let about = About { id: 0, parent: 0, depth: 0, state, lineage: None, device: None };
                self.put_up(&gathering, b"", about, None, frontier);
            }
            (_, Some((grain, dir)), reading) => {
                let about = grain.home.about.clone();
                self.put_up(&gathering, &grain.home.path, about, dir, frontier);
                self.reading = reading;
            }
            (_, None, Some(reading)) => {
                let path = core::mem::take(&mut self.path);
                if reading.ended && self.trouble.is_none() {
                    self.put_up(&gathering, &path, reading.about, Some(reading.dir), frontier);
                } else {
                    self.put_up(&gathering, &path, reading.about.clone(), None, frontier);
                    self.reading = Some(reading);
                }
                self.path = path;
            }
            (_, None, None) => {}
        }
        self.gathering = gathering;
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

    /// Puts subdirectories into the frontier; `dir` is where they are, if it needs to be open no longer.
    fn put_up(
        &mut self,
        gathering: &Gathering,
        path: &[u8],
        about: About<S>,
        dir: Option<OwnedFd>,
        frontier: &Frontier<'_, S>,
    ) {
        if gathering.len() == 0 {
            return;
        }
        let follow = match frontier.options.follow {
            Follow::Never => false,
            Follow::Operands => about.depth == 0,
            Follow::Always => true,
        };
        let first_id = frontier.number(gathering.len());
        let kin = gathering.kin(path, about, follow, first_id);
        if frontier.elevate(&kin, &gathering.inos) {
            return;
        }
        let offered = frontier.crew() > 1 && kin.len() > 1;
        if offered {
            frontier.offer(self.index, &kin);
        }
        let mut dir = dir;
        if self.share == 0 {
            dir = None;
        }
        if dir.is_some() {
            self.make_room();
            self.held += 1;
        }
        self.stack.push(Held { kin, dir, offered });
    }
}

/// What came of entering a directory.
enum Entered {
    Reading,
    Skipped,
    Failed(Fault),
}

/// Whether a directory stays closed without anything being wrong: it lies on another file system and that is not to be
/// entered; a link leads to no directory; the walk ends.
fn is_no_failure<S>(errno: Errno, perhaps: bool, frontier: &Frontier<'_, S>) -> bool {
    match errno {
        Errno::XDEV => frontier.options.one_file_system,
        Errno::NOTDIR | Errno::NOENT | Errno::LOOP => perhaps,
        Errno::CANCELED => frontier.pace.stopped(),
        _ => false,
    }
}

fn place_of<'w, S>(path: &'w [u8], reading: &'w Reading<S>) -> Place<'w> {
    let About { id, parent, depth, .. } = reading.about;
    Place { id, parent, depth, path, piece: reading.piece, dir: Some(reading.dir.as_fd()) }
}
