//! Threads, each taking the next few entries until none are left.

use super::Todo;
use super::auto::Strategy;
use super::policy::Policy;
use crate::batch::{Dent, Metas, Names};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use dents_sys::BorrowedFd;

/// A few entries to ask.
pub(crate) struct Piece<'p> {
    /// Their place among all.
    pub(crate) start: usize,
    pub(crate) dents: &'p [Dent],
    pub(crate) names: Names<'p>,
}

/// Memory of a worker's own for the entries it takes, where they cannot stay where they are.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) dents: Vec<Dent>,
    pub(crate) names: Vec<u8>,
}

/// How a worker takes entries.
#[derive(Clone, Copy)]
pub(crate) struct Taking<'d> {
    /// So many at a time.
    pub(crate) step: usize,
    /// Where fewer than these are left, names are read on.
    pub(crate) low: usize,
    /// The directory as it was opened to be read, by a number that this thread's table has.
    pub(crate) dir: BorrowedFd<'d>,
}

/// Where workers get their entries from. Pieces come in order and never twice.
pub(crate) trait Supply: Sync {
    /// The next few, or none when all have been handed out.
    fn next<'p>(&'p self, taking: &Taking<'_>, scratch: &'p mut Scratch) -> Option<Piece<'p>>;

    /// Whether there are more, or may be.
    fn has_more(&self) -> bool;
}

/// Entries that have all been read.
pub(crate) struct Listed<'a> {
    todo: &'a Todo<'a>,
    next: AtomicUsize,
}

impl<'a> Listed<'a> {
    pub(crate) fn new(todo: &'a Todo<'a>) -> Listed<'a> {
        Listed { todo, next: AtomicUsize::new(0) }
    }
}

impl Supply for Listed<'_> {
    fn next<'p>(&'p self, taking: &Taking<'_>, _: &'p mut Scratch) -> Option<Piece<'p>> {
        let start = self.next.fetch_add(taking.step, Ordering::Relaxed);
        let end = self.todo.dents.len().min(start + taking.step);
        let dents = self.todo.dents.get(start..end).filter(|dents| !dents.is_empty())?;
        Some(Piece { start, dents, names: self.todo.names })
    }

    fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.todo.dents.len()
    }
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) struct Crew {
    pub(crate) threads: usize,
    /// Whether each answer is a round trip: then as many threads ask at once as turns out to pay.
    pub(crate) round_trips: bool,
    /// Threads, if answers turn out to come from memory after all.
    pub(crate) cores: usize,
    /// Whether to look a name up once for all that is asked about it ([`Asker::hold`](super::ask::Asker::hold)).
    pub(crate) holds: bool,
}

impl Crew {
    /// Those of a strategy of threads; of another, the calling thread alone.
    pub(crate) fn of(strategy: Strategy) -> Crew {
        let (threads, round_trips) = match strategy {
            Strategy::Par(threads) => (threads, false),
            Strategy::Flight(threads) => (threads, true),
            Strategy::Classic | Strategy::Iou => (1, false),
        };
        Crew { threads, round_trips, cores: threads, holds: round_trips }
    }

    /// The same on a machine of so many cores, and on a file system.
    pub(crate) fn at(self, cores: usize, policy: &Policy) -> Crew {
        Crew { cores, holds: self.round_trips && policy.holds(), ..self }
    }

    /// Entries taken at a time: at 2 µs an answer a worker comes back for more every 130 µs, so nobody waits for
    /// anybody, and at the end for no more than that. Fewer where there are few, so that all have work to the end; where
    /// each answer is a round trip, one.
    pub(crate) fn step(&self, entries: usize) -> usize {
        if self.round_trips {
            return 1;
        }
        (entries / self.threads.max(1) / 4).clamp(1, Metas::CHUNK).next_power_of_two()
    }
}
