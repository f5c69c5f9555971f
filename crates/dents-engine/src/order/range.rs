//! The entries of one directory, claimed in chunks, possibly while more of its names are read.
//!
//! A directory has one position, so one worker at a time reads it; all workers request metadata. A worker that finds
//! fewer than `low` unclaimed names, and the source free, refills: it reads one more buffer of names, then continues
//! with its requests. So no thread is a dedicated reader, and no worker waits while there are names.
//!
//! ```text
//! names run short, source free ─► Task::Refill   the worker reads one buffer, then calls Range::refilled
//! names are there ──────────────► Task::Ask      a chunk of them, claimed by this worker
//! none, the source is taken ────► Later          until refilled() has announced more
//! none, the source is used up ──► End
//! ```
//!
//! Publishing rule: one locked step appends the names and releases the source; the crew is notified afterwards. If it
//! were notified earlier, a worker could find neither names nor the source and sleep again.
//!
//! Costs: a claim takes one lock for nanoseconds, and copies the claimed names where more may be read
//! ([`Names::copy`]). A refill takes the lock twice.

use crate::crew::{Crew, Next, Order};
use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering, broken};
use core::mem;
use core::ops::Range as Claimed;

/// The names of a directory, as far as they are read.
pub trait Names: Send {
    /// A worker's copy of the entries that it claimed: the names may move when more are read.
    type Copy;
    /// Reads more names. One worker at a time holds it.
    type Source: Send;
    /// The names of one read.
    type Buffer;

    /// The number of entries.
    fn len(&self) -> usize;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the claimed entries for a worker. Called under the lock.
    fn copy(&self, claimed: &Claimed<usize>, copy: &mut Self::Copy);

    /// Appends the names of one read. Called under the lock.
    fn append(&mut self, buffer: Self::Buffer);
}

/// A worker's own state.
#[derive(Debug)]
pub struct Claims<C> {
    /// Most entries to claim at a time.
    pub step: usize,
    /// Fewer unclaimed names than this make the worker refill.
    pub low: usize,
    /// The entries claimed last.
    pub copy: C,
}

/// A worker's next task.
#[derive(Debug, PartialEq, Eq)]
pub enum Task<S> {
    /// Read one buffer and publish it with [`Range::refilled`].
    Refill(S),
    /// Ask about these entries; [`Claims::copy`] has them.
    Ask(Claimed<usize>),
}

/// The entries. Chunks are claimed in order, each once.
pub struct Range<N: Names> {
    state: Mutex<State<N>>,
    /// Most entries that any worker may claim at a time.
    step: AtomicUsize,
}

struct State<N: Names> {
    names: N,
    /// The first unclaimed entry.
    next: usize,
    source: Source<N::Source>,
}

enum Source<S> {
    Free(S),
    Taken,
    UsedUp,
}

impl<N: Names> Range<N> {
    /// A range with no entry claimed. Without a source, `names` is complete.
    pub fn new(names: N, source: Option<N::Source>) -> Range<N> {
        let source = source.map_or(Source::UsedUp, Source::Free);
        Range { state: Mutex::new(State { names, next: 0, source }), step: AtomicUsize::new(usize::MAX) }
    }

    /// Sets the most entries that a worker may claim at a time.
    pub fn set_step(&self, step: usize) {
        self.step.store(step, Ordering::Relaxed);
    }

    fn step(&self, claims: &Claims<N::Copy>) -> usize {
        self.step.load(Ordering::Relaxed).min(claims.step)
    }

    /// Claims entries that have been read, for a worker that never refills.
    pub fn claim(&self, claims: &mut Claims<N::Copy>) -> Option<Claimed<usize>> {
        self.state.lock().claim(self.step(claims), claims)
    }

    /// Publishes the names of one read, and returns the source unless it is exhausted.
    pub fn refilled(&self, buffer: N::Buffer, source: Option<N::Source>, crew: &Crew) {
        let tells_first = broken(Fault::NotifyWhileRefilling);
        if tells_first {
            crew.announce(usize::MAX);
        }
        let mut state = self.state.lock();
        state.names.append(buffer);
        state.source = source.map_or(Source::UsedUp, Source::Free);
        drop(state);
        if !tells_first {
            crew.announce(usize::MAX);
        }
    }

    /// Whether there are unclaimed entries, or may be more names.
    pub fn has_more(&self) -> bool {
        let state = self.state.lock();
        state.next < state.names.len() || !matches!(state.source, Source::UsedUp)
    }

    /// The names. Call it after all workers have returned.
    pub fn into_names(self) -> N {
        self.state.into_inner().names
    }
}

impl<N: Names> State<N> {
    fn claim(&mut self, step: usize, claims: &mut Claims<N::Copy>) -> Option<Claimed<usize>> {
        let claimed = self.next..self.names.len().min(self.next.saturating_add(step));
        if claimed.is_empty() {
            return None;
        }
        self.names.copy(&claimed, &mut claims.copy);
        self.next = claimed.end;
        Some(claimed)
    }

    /// Takes the source, if it is free and fewer than `low` names, or none, are unclaimed.
    fn take_source(&mut self, low: usize) -> Option<N::Source> {
        let left = self.names.len() - self.next;
        if left >= low.max(1) || !matches!(self.source, Source::Free(_)) {
            return None;
        }
        match mem::replace(&mut self.source, Source::Taken) {
            Source::Free(source) => Some(source),
            Source::Taken | Source::UsedUp => None,
        }
    }
}

/// The crew of a range has a producer ([`Crew::new`]): the range itself, which reports the end.
impl<N: Names> Order for Range<N> {
    type Task = Task<N::Source>;
    type Local = Claims<N::Copy>;

    fn next(&self, claims: &mut Claims<N::Copy>) -> Next<Task<N::Source>> {
        let mut state = self.state.lock();
        if let Some(source) = state.take_source(claims.low) {
            return Next::Task(Task::Refill(source));
        }
        match state.claim(self.step(claims), claims) {
            Some(claimed) => Next::Task(Task::Ask(claimed)),
            None if matches!(state.source, Source::UsedUp) => Next::End,
            None => Next::Later,
        }
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use crate::limit::Limit;
    use std::vec;
    use std::vec::Vec;

    /// Numbers in place of names.
    impl Names for Vec<u32> {
        type Copy = Vec<u32>;
        type Source = &'static str;
        type Buffer = Vec<u32>;

        fn len(&self) -> usize {
            self.len()
        }

        fn copy(&self, claimed: &Claimed<usize>, copy: &mut Vec<u32>) {
            *copy = self[claimed.clone()].to_vec();
        }

        fn append(&mut self, buffer: Vec<u32>) {
            self.extend(buffer);
        }
    }

    fn claims(step: usize, low: usize) -> Claims<Vec<u32>> {
        Claims { step, low, copy: Vec::new() }
    }

    #[test]
    fn entries_that_have_been_read_come_in_order() {
        let (range, mut claims) = (Range::new(vec![7, 8, 9], None), claims(2, 100));
        assert!(range.has_more());
        range.set_step(1);
        assert_eq!(range.next(&mut claims), Next::Task(Task::Ask(0..1)));
        range.set_step(8);
        assert_eq!(range.claim(&mut claims), Some(1..3));
        assert_eq!(claims.copy, [8, 9]);
        assert!(!range.has_more());
        assert_eq!((range.claim(&mut claims), range.next(&mut claims)), (None, Next::End));
        assert_eq!(range.into_names(), [7, 8, 9]);
    }

    #[test]
    fn a_worker_that_finds_few_names_refills() {
        let (range, crew) = (Range::new(vec![0, 1, 2, 3], Some("source")), Crew::new(Limit::fixed(), 1));
        let (mut one, mut other) = (claims(2, 3), claims(2, 3));
        assert_eq!(range.next(&mut one), Next::Task(Task::Ask(0..2)), "enough names are left");
        assert_eq!(range.next(&mut one), Next::Task(Task::Refill("source")));
        assert_eq!(range.next(&mut other), Next::Task(Task::Ask(2..4)), "the other worker asks meanwhile");
        assert_eq!(range.next(&mut other), Next::Later);
        assert!(range.has_more());
        range.refilled(vec![4, 5, 6], Some("the rest"), &crew);
        assert_eq!(range.next(&mut other), Next::Task(Task::Ask(4..6)), "three names are enough");
        assert_eq!(range.claim(&mut other), Some(6..7));
        assert_eq!((range.claim(&mut other), range.has_more()), (None, true));
        let mut waits = claims(1, 0);
        assert_eq!(range.next(&mut waits), Next::Task(Task::Refill("the rest")), "no names are left");
        range.refilled(vec![], None, &crew);
        assert_eq!((range.next(&mut one), range.has_more()), (Next::End, false));
    }

    #[test]
    fn workers_of_a_range_ask_about_each_entry_once() {
        let (range, crew) = (Range::new(vec![], Some("source")), Crew::new(Limit::counted(2, 2), 1));
        let (read, asked) = (Mutex::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    crew.work(&range, &mut claims(3, 8), |claims, task| match task {
                        Task::Refill(source) => {
                            let mut read = read.lock();
                            let buffer = (*read..*read + 50).collect();
                            *read += 50;
                            range.refilled(buffer, (*read < 1000).then_some(source), &crew);
                        }
                        Task::Ask(_) => asked.lock().append(&mut claims.copy),
                    });
                });
            }
        });
        let mut asked = asked.into_inner();
        asked.sort_unstable();
        assert!(asked.into_iter().eq(0..1000) && range.into_names().len() == 1000);
    }
}
