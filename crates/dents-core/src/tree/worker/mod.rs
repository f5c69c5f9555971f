//! One worker: takes a task, opens or reads a directory, requests the metadata of its entries, and publishes its
//! subdirectories.
//!
//! [`Worker::execute`] executes one task, which may produce a batch or a failure for the visitor. [`Worker::collect`]
//! follows when the visitor has seen the batch.

mod descriptors;
mod enter;
mod order;
mod read;

use super::bounds::Clock;
use super::shared::{Part, PartDirectory, Shared};
use super::subdirectories::{About, Gathering, Subdirectories};
use super::visitor::{Failure, Piece, Place, Problem, Step, Visitor};
use super::{Follow, Tally};
use crate::batch::{Batch, Entry};
use crate::needs::Kind;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_engine::crew::Next;
use dents_engine::limit::policy::Lists;
use dents_engine::order::steal::{self, Stack};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd};
use descriptors::Descriptors;
use order::Task;

pub(super) struct Worker<S> {
    stack: Stack<Subdirectories<S>, Paused<S>>,
    /// Descriptors of the directories whose subdirectories are on the stack.
    descriptors: Descriptors,
    /// The path of the directory opened last.
    path: Vec<u8>,
    buffer: Vec<u8>,
    batch: Batch,
    /// Whether the batch may have entries to enter.
    may_have_subdirectories: bool,
    source: Source<S>,
    reading: Option<Reading<S>>,
    /// The error of the directory being read.
    read_error: Option<Errno>,
    gathering: Gathering,
    clock: Clock,
    pub(super) tally: Tally,
}

/// A directory being read.
struct Reading<S> {
    dir: OwnedFd,
    about: About<S>,
    ended: bool,
    piece: Piece,
    /// Number of pieces so far.
    pieces: u32,
    directory: Option<Arc<PartDirectory<S>>>,
    /// Whether reading and requests take turns: see [`Policy::interleave`](dents_engine::limit::policy::Policy).
    interleaves: bool,
    /// What lists of attributes cost, if it is known: see [`Policy::lists`](dents_engine::limit::policy::Policy).
    lists: Lists,
    /// The level of its subdirectories on the stack.
    level: usize,
}

/// A very wide directory that is read further when the subdirectories found so far are done, or one whose worker has left the walk.
pub(super) struct Paused<S> {
    path: Box<[u8]>,
    reading: Reading<S>,
    /// See [`Worker::read_error`].
    error: Option<Errno>,
}

/// What a worker has left to do.
pub(super) type Rest<S> = Stack<Subdirectories<S>, Paused<S>>;

/// Subdirectories of one directory that may wait before it is paused: a few MiB with names of any length.
const WIDE: usize = 1 << 14;

/// The source of the current batch.
enum Source<S> {
    Operands,
    /// The directory being read.
    Own,
    /// A part of a directory.
    Part(Box<Part<S>>),
}

/// A result for the visitor.
pub(super) enum Ready {
    Entries,
    /// A failure; its path is that of the worker.
    Failed(Failure<'static>),
}

impl<S: Clone + Default + Send + Sync> Worker<S> {
    pub(super) fn new(index: usize, shared: &Shared<'_, S>) -> Self {
        Worker {
            stack: Stack::new(index),
            descriptors: Descriptors::new(shared.share, 0),
            path: Vec::new(),
            buffer: Vec::new(),
            batch: Batch::new(shared.options.needs),
            may_have_subdirectories: false,
            source: Source::Own,
            reading: None,
            read_error: None,
            gathering: Gathering::default(),
            clock: Clock::default(),
            tally: Tally { workers: 1, ..Tally::default() },
        }
    }

    /// What is left of the worker's tasks. Only directories that are read in part stay open.
    pub(super) fn into_rest(mut self) -> Rest<S> {
        if let Some(reading) =
            self.reading.take().filter(|reading| !reading.ended || self.read_error.is_some())
        {
            let (path, error) = (self.path.into(), self.read_error);
            self.stack.pause(self.stack.levels(), Paused { path, reading, error });
        }
        self.stack
    }

    /// The first worker, with what others left.
    pub(super) fn with_rest(rest: Rest<S>, shared: &Shared<'_, S>) -> Self {
        let paused = (0..rest.levels()).filter(|level| rest.group(*level).is_none()).count();
        let descriptors = Descriptors::new(shared.share, paused);
        Worker { stack: rest, descriptors, ..Worker::new(0, shared) }
    }

    /// The worker's seat in the watch. Seat 0 is the lister's.
    fn seat(&self) -> usize {
        1 + self.stack.worker()
    }

    /// Executes `wait` for the directory of `self.path`, and shows that to the watchdog.
    fn show<T>(&mut self, shared: &Shared<'_, S>, wait: impl FnOnce(&mut Self) -> T) -> T {
        let Some(watch) = shared.options.watch else { return wait(self) };
        watch.begin(self.seat(), &self.path);
        let done = wait(self);
        watch.end(self.seat(), 0);
        done
    }

    /// Makes the operands the first batch.
    pub(super) fn push_operands(&mut self, operands: &[&CStr], shared: &Shared<'_, S>) {
        operands.iter().for_each(|operand| self.batch.push(operand, Kind::Unknown, 0));
        let follow = shared.options.follow != Follow::Never;
        self.fill(None, (shared.options.at, Lists::default()), (follow, None), shared);
        self.tally.entries += self.batch.len() as u64;
        self.may_have_subdirectories = true;
        self.source = Source::Operands;
    }

    /// Executes tasks with the other workers until the walk ends. The first worker continues what it has begun.
    pub(super) fn run<V: Visitor<State = S>>(&mut self, shared: &Shared<'_, S>, visitor: &mut V) {
        self.descriptors.set_share(shared.share);
        let execute = |worker: &mut Self, task| {
            if worker.step(task, shared, visitor) && visitor.pauses() {
                shared.pause();
            }
        };
        let crew = &shared.tasks.crew;
        if self.stack.worker() == 0 {
            shared.tasks.offer_all(&self.stack);
            crew.work_on(shared, self, execute);
        } else {
            crew.work(shared, self, execute);
        }
    }

    /// Executes a task, and passes its result to the visitor. Returns whether there was one.
    pub(super) fn step<V: Visitor<State = S>>(
        &mut self,
        task: Task<S>,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> bool {
        let ready = self.execute(task, shared, visitor);
        let step = match ready {
            None => return false,
            Some(Ready::Failed(failure)) => visitor.failed(&self.failure(failure)),
            Some(Ready::Entries) => {
                let step = match self.about() {
                    Some(about) => visitor.entries(&self.place(shared), self.batch(), &about.state),
                    None => visitor.entries(&self.place(shared), self.batch(), &S::default()),
                };
                self.tally.requests += visitor.requests();
                let first = self.collect(shared, step == Step::Enter, |place, entry, state| {
                    visitor.descend(place, entry, state)
                });
                first.into_iter().for_each(|first| visitor.numbered(first));
                step
            }
        };
        if step == Step::Stop {
            shared.stop();
        }
        true
    }

    /// Whether the worker must first continue: with the operands, or with the directory being read.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.source, Source::Operands)
            || self.reading.as_ref().is_some_and(|reading| !reading.ended || self.read_error.is_some())
    }

    /// The next waiting task.
    pub(super) fn next(&mut self, shared: &Shared<'_, S>) -> Next<Task<S>> {
        let next = shared.tasks.next(&mut self.stack);
        self.descriptors.truncate(self.stack.levels());
        next.map(Some)
    }

    fn execute<V: Visitor<State = S>>(
        &mut self,
        task: Task<S>,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> Option<Ready> {
        let whole = match task {
            None if matches!(self.source, Source::Operands) => true,
            None => match self.read_error.take() {
                Some(errno) => {
                    let about = self.reading.take()?.about;
                    return Some(Ready::Failed(self.failed(&about, Problem::Read, errno)));
                }
                None => self.read(shared, visitor),
            },
            Some(steal::Task::Own(group, index)) => {
                return self.enter(&group, index, true, shared, visitor).map(Ready::Failed);
            }
            Some(steal::Task::Found(group, index)) => {
                self.locate(group, index, shared);
                false
            }
            Some(steal::Task::Sorted(group, index)) => {
                return self.enter(&group, index, false, shared, visitor).map(Ready::Failed);
            }
            Some(steal::Task::Stolen(group)) => {
                self.tally.stolen += 1;
                shared.tasks.push(&mut self.stack, group);
                false
            }
            Some(steal::Task::Resume(Paused { path, reading, error })) => {
                self.descriptors.resume();
                self.path = path.into_vec();
                self.read_error = error;
                self.reading = Some(Reading { level: self.stack.levels(), ..reading });
                false
            }
            Some(steal::Task::Part(part)) => self.fill_part(part, shared, visitor),
        };
        whole.then_some(Ready::Entries)
    }

    fn failed(&mut self, about: &About<S>, problem: Problem, errno: Errno) -> Failure<'static> {
        self.tally.faults += 1;
        Failure { id: about.id, parent: about.parent, depth: about.depth, path: b"", problem, errno }
    }

    /// Completes a failure with the path of the directory opened last.
    pub(super) fn failure(&self, failure: Failure<'static>) -> Failure<'_> {
        Failure { path: &self.path, ..failure }
    }

    /// The current batch.
    pub(super) fn batch(&self) -> &Batch {
        if let Source::Part(part) = &self.source { &part.batch } else { &self.batch }
    }

    fn about(&self) -> Option<&About<S>> {
        match &self.source {
            Source::Operands => None,
            Source::Own => self.reading.as_ref().map(|reading| &reading.about),
            Source::Part(part) => Some(&part.directory.about),
        }
    }

    /// The directory of the current batch.
    pub(super) fn place<'w>(&'w self, shared: &Shared<'w, S>) -> Place<'w> {
        match (&self.source, &self.reading) {
            (Source::Part(part), _) => {
                let dir = part.dir.as_ref().map(AsFd::as_fd);
                place_of(&part.directory.about, &part.directory.path, part.piece, dir)
            }
            (Source::Own, Some(reading)) => {
                place_of(&reading.about, &self.path, reading.piece, Some(reading.dir.as_fd()))
            }
            _ => {
                let (piece, dir) = (Piece { index: 0, last: true }, Some(shared.options.at));
                Place { id: 0, parent: 0, depth: 0, nth: 0, path: b"", piece, dir, ancestors: None }
            }
        }
    }

    /// The highest open directory.
    pub(super) fn highest_open(&self) -> Option<BorrowedFd<'_>> {
        let reading = self.reading.as_ref().map(|reading| reading.dir.as_fd());
        self.descriptors.iter().next().map(|(_, dir)| dir).or(reading)
    }

    /// Publishes the subdirectories of the current batch that the visitor enters. Returns the number of the first.
    pub(super) fn collect(
        &mut self,
        shared: &Shared<'_, S>,
        enters: bool,
        descend: impl FnMut(&Place<'_>, &Entry<'_>, &S) -> Step,
    ) -> Option<u64> {
        let mut gathering = core::mem::take(&mut self.gathering);
        gathering.clear();
        if enters && self.may_have_subdirectories {
            self.gather(&mut gathering, shared, descend);
        }
        let first = match core::mem::replace(&mut self.source, Source::Own) {
            Source::Operands => self.publish(&gathering, b"", About::default(), None, shared),
            Source::Own => self.publish_own(&gathering, shared),
            Source::Part(part) => {
                let Part { directory, dir, .. } = *part;
                self.publish(&gathering, &directory.path, directory.about.clone(), dir, shared)
            }
        };
        self.gathering = gathering;
        first
    }

    /// Publishes the subdirectories of the directory being read. The directory is then read further, paused or done.
    fn publish_own(&mut self, gathering: &Gathering, shared: &Shared<'_, S>) -> Option<u64> {
        let reading = self.reading.take()?;
        let path = core::mem::take(&mut self.path);
        let first;
        if reading.ended && self.read_error.is_none() {
            first = self.publish(gathering, &path, reading.about, Some(reading.dir), shared);
        } else {
            first = self.publish(gathering, &path, reading.about.clone(), None, shared);
            let is_wide = self.read_error.is_none() && self.stack.unclaimed(reading.level) >= WIDE;
            if is_wide && self.descriptors.pause(reading.level, self.stack.levels()) {
                let path = path.as_slice().into();
                self.stack.pause(reading.level, Paused { path, reading, error: None });
            } else {
                self.reading = Some(reading);
            }
        }
        self.path = path;
        first
    }

    fn gather(
        &self,
        gathering: &mut Gathering,
        shared: &Shared<'_, S>,
        mut descend: impl FnMut(&Place<'_>, &Entry<'_>, &S) -> Step,
    ) {
        let place = self.place(shared);
        if place.depth >= shared.options.max_depth {
            return;
        }
        let nothing = S::default();
        let state = self.about().map_or(&nothing, |about| &about.state);
        let follow = shared.follows();
        for entry in self.batch().iter() {
            let may_be_link = match entry.kind() {
                Kind::Dir => entry.d_kind() == Kind::Link,
                // A link without a `statx`: opening it tells its type.
                Kind::Link if follow && !entry.is_known() => true,
                _ => continue,
            };
            if place.depth > 0 && matches!(entry.name(), b"." | b"..") {
                continue;
            }
            match descend(&place, &entry, state) {
                Step::Enter => {
                    gathering.push(entry.c_name(), may_be_link, entry.d_ino(), place.position(&entry))
                }
                Step::Skip => {}
                Step::Stop => return shared.stop(),
            }
        }
    }

    /// Publishes subdirectories. `dir` is their parent, if no other code needs it open. Returns the number of the
    /// first.
    pub(super) fn publish(
        &mut self,
        gathering: &Gathering,
        path: &[u8],
        about: About<S>,
        dir: Option<OwnedFd>,
        shared: &Shared<'_, S>,
    ) -> Option<u64> {
        if gathering.len() == 0 {
            return None;
        }
        let follow = match shared.options.follow {
            Follow::Never => false,
            Follow::Operands => about.depth == 0,
            Follow::Always => true,
        };
        let first_id = shared.number(gathering.len());
        let group = gathering.group(path, about, follow, first_id);
        if !shared.tasks.sort(&group, &gathering.inos) {
            let levels = self.stack.levels();
            dir.into_iter().for_each(|dir| self.descriptors.keep(levels, dir, levels));
            shared.tasks.push(&mut self.stack, group);
        }
        Some(first_id)
    }
}

fn place_of<'w, S>(
    about: &'w About<S>,
    path: &'w [u8],
    piece: Piece,
    dir: Option<BorrowedFd<'w>>,
) -> Place<'w> {
    let About { id, parent, depth, nth, ref ancestors, .. } = *about;
    Place { id, parent, depth, nth, path, piece, dir, ancestors: ancestors.as_deref() }
}
