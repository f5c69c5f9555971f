//! What was asked, of which kind of entry, and how long the answers took: kept for `--explain`, and only then.

use super::policy::Policy;
use crate::lock::Mutex;
use crate::needs::Kind;
use core::ops::{Add, AddAssign};
use dents_sys::statfs::FsType;

/// Calls of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// How many.
    pub count: u64,
    /// How long they took together, in nanoseconds. Several may wait at a time, so this may be more than has passed.
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

/// The sorts of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `statx` of an entry.
    Stat,
    /// `readlinkat`.
    Readlink,
    /// `statx` of what a link leads to.
    Target,
    /// `listxattrat` and `getxattrat`, or what stands in for them.
    Xattr,
}

impl Call {
    /// All of them.
    pub const ALL: [Call; 4] = [Call::Stat, Call::Readlink, Call::Target, Call::Xattr];
}

/// What was asked about the entries of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page([Calls; Call::ALL.len()]);

impl Page {
    /// Calls of a sort.
    #[must_use]
    pub fn of(&self, call: Call) -> Calls {
        self.0[call as usize]
    }

    /// All calls.
    #[must_use]
    pub fn total(&self) -> Calls {
        self.0.into_iter().fold(Calls::default(), Add::add)
    }

    /// Notes some.
    pub fn add(&mut self, call: Call, calls: Calls) {
        self.0[call as usize] += calls;
    }
}

/// What was asked, by the type that an entry turned out to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages([Page; 16]);

impl Pages {
    /// About entries of a kind. [`Kind::Unknown`]: those that did not answer.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &Page {
        &self.0[kind as usize]
    }

    /// The same, to write in.
    pub fn of_mut(&mut self, kind: Kind) -> &mut Page {
        &mut self.0[kind as usize]
    }

    /// About all.
    #[must_use]
    pub fn total(&self) -> Page {
        let mut total = Page::default();
        for page in &self.0 {
            total.merge(page);
        }
        total
    }

    fn merge(&mut self, other: &Pages) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl Page {
    fn merge(&mut self, other: &Page) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// All that was noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The calls.
    pub pages: Pages,
    /// The most that were in flight at once, where each answer was a round trip.
    pub in_flight: u32,
    /// The file system of the directory with the most entries, where it is known, and how many entries those are.
    pub fs: (Option<FsType>, u64),
}

impl Account {
    /// The policy for that file system.
    #[must_use]
    pub fn policy(&self) -> &'static Policy {
        Policy::of(self.fs.0)
    }
}

/// The account of a listing, written to by all askers.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Account>);

impl Ledger {
    /// What was noted so far.
    #[must_use]
    pub fn account(&self) -> Account {
        *self.0.lock()
    }

    /// Adds what was noted elsewhere.
    pub fn absorb(&self, other: &Account) {
        self.note_calls(&other.pages);
        self.note_in_flight(other.in_flight);
        self.note_directory(other.fs.0, other.fs.1 as usize);
    }

    pub(crate) fn note_calls(&self, pages: &Pages) {
        self.0.lock().pages.merge(pages);
    }

    pub(crate) fn note_in_flight(&self, highest: u32) {
        let mut account = self.0.lock();
        account.in_flight = account.in_flight.max(highest);
    }

    pub(crate) fn note_directory(&self, fs: Option<FsType>, entries: usize) {
        let mut account = self.0.lock();
        if entries as u64 >= account.fs.1 {
            account.fs = (fs, entries as u64);
        }
    }
}
