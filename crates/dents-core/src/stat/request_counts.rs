//! Counts the requests for each type of entry, and the time of their answers: only for `--explain`.

use crate::lock::Mutex;
use crate::needs::Kind;
use core::ops::{Add, AddAssign};
use dents_engine::limit::policy::Policy;
use dents_sys::statfs::FsType;

/// Calls of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// How many.
    pub count: u64,
    /// Their total time in nanoseconds. Several calls may run at a time, so this may exceed the elapsed time.
    pub waited_ns: u64,
}

impl Add for Calls {
    type Output = Calls;

    fn add(self, other: Calls) -> Calls {
        Calls { count: self.count + other.count, waited_ns: self.waited_ns + other.waited_ns }
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, other: Calls) {
        *self = *self + other;
    }
}

/// The types of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `statx` of an entry.
    Stat,
    /// `readlinkat`.
    Readlink,
    /// `statx` of the target of a link.
    Target,
    /// `listxattrat` and `getxattrat`, or their substitutes.
    Xattr,
}

impl Call {
    /// All types.
    pub const ALL: [Call; 4] = [Call::Stat, Call::Readlink, Call::Target, Call::Xattr];
}

/// The calls about entries of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallsByType([Calls; Call::ALL.len()]);

impl CallsByType {
    /// The calls of one type.
    #[must_use]
    pub fn of(&self, call: Call) -> Calls {
        self.0[call as usize]
    }

    /// All calls.
    #[must_use]
    pub fn total(&self) -> Calls {
        self.0.into_iter().fold(Calls::default(), Add::add)
    }

    /// Adds calls.
    pub fn add(&mut self, call: Call, calls: Calls) {
        self.0[call as usize] += calls;
    }
}

/// The calls by the final type of their entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallsByKind([CallsByType; 16]);

impl CallsByKind {
    /// About entries of a kind. [`Kind::Unknown`]: those whose `statx` failed.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &CallsByType {
        &self.0[kind as usize]
    }

    /// The same, mutable.
    pub fn of_mut(&mut self, kind: Kind) -> &mut CallsByType {
        &mut self.0[kind as usize]
    }

    /// About all entries.
    #[must_use]
    pub fn total(&self) -> CallsByType {
        let mut total = CallsByType::default();
        for one in &self.0 {
            total.merge(one);
        }
        total
    }

    fn merge(&mut self, other: &CallsByKind) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl CallsByType {
    fn merge(&mut self, other: &CallsByType) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// All counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// The calls.
    pub by_kind: CallsByKind,
    /// Most requests in flight, where each answer was a round trip.
    pub in_flight: u32,
    /// The file system of the largest directory, if it is known, and the number of its entries.
    pub fs: (Option<FsType>, u64),
}

impl RequestCounts {
    /// The policy for that file system.
    #[must_use]
    pub fn policy(&self) -> &'static Policy {
        Policy::of(self.fs.0)
    }
}

/// The counts of a listing; all askers add to it.
#[derive(Debug, Default)]
pub struct RequestCounter(Mutex<RequestCounts>);

impl RequestCounter {
    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> RequestCounts {
        *self.0.lock()
    }

    /// Adds other counts.
    pub fn add(&self, other: &RequestCounts) {
        self.note_calls(&other.by_kind);
        self.note_in_flight(other.in_flight);
        self.note_directory(other.fs.0, other.fs.1 as usize);
    }

    pub(crate) fn note_calls(&self, by_kind: &CallsByKind) {
        self.0.lock().by_kind.merge(by_kind);
    }

    pub(crate) fn note_in_flight(&self, highest: u32) {
        let mut counts = self.0.lock();
        counts.in_flight = counts.in_flight.max(highest);
    }

    pub(crate) fn note_directory(&self, fs: Option<FsType>, entries: usize) {
        let mut counts = self.0.lock();
        if entries as u64 >= counts.fs.1 {
            counts.fs = (fs, entries as u64);
        }
    }
}
