//! What a fill is given to work with: threads, a strategy, a watch.

use super::choose::{self, Signals};
use super::ledger::Ledger;
use super::policy::Policy;
use super::{Place, Question};
use crate::mounts::Mounts;
use crate::needs::NeedsByKind;
use crate::ring::Rings;
use crate::watchdog::Watch;
use core::cell::OnceCell;
pub use dents_engine::crew::Workers;
use dents_sys::{sched, stat};

/// How many threads: as many as asked for, or as the process may use cores, which is found out when first needed.
#[derive(Debug)]
pub struct Threads {
    pub(super) asked: Option<usize>,
    in_flight: usize,
    pub(super) cores: OnceCell<usize>,
    watch: Option<&'static Watch>,
}

impl Default for Threads {
    fn default() -> Threads {
        Threads::new(None)
    }
}

impl Threads {
    /// `None` for the cores.
    #[must_use]
    pub fn new(asked: Option<usize>) -> Threads {
        Threads { asked, in_flight: choose::IN_FLIGHT, cores: OnceCell::new(), watch: None }
    }

    /// With at most so many questions in flight where each answer is a round trip.
    #[must_use]
    pub fn in_flight(self, most: usize) -> Threads {
        Threads { in_flight: most.max(1), ..self }
    }

    /// With the watch of a watchdog.
    #[must_use]
    pub fn watched(self, watch: Option<&'static Watch>) -> Threads {
        Threads { watch, ..self }
    }

    /// The watch, if there is a watchdog.
    #[must_use]
    pub fn watching(&self) -> Option<&'static Watch> {
        self.watch
    }

    /// Questions in flight at most.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.in_flight
    }

    /// The number that was asked for.
    #[must_use]
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// The number: [`sched::available_cores`] once at most, which costs about ten system calls.
    #[must_use]
    pub fn count(&self) -> usize {
        self.asked.unwrap_or_else(|| *self.cores.get_or_init(sched::available_cores))
    }

    /// The number for this many entries. For a few hundred, one call must do, and two threads.
    pub(crate) fn count_for(&self, entries: usize) -> usize {
        match (self.asked, self.cores.get()) {
            (None, None) if entries < FEW => sched::affinity().min(2),
            _ => self.count(),
        }
    }
}

/// Some milliseconds of work: to read the quotas of control groups (50 µs) would be a part of it.
const FEW: usize = 4096;

/// How to go about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One thread, one question at a time.
    Classic,
    /// Threads.
    Par,
    /// io_uring.
    Iou,
    /// Whichever suits.
    #[default]
    Auto,
}

/// What a fill was given to work with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The strategy asked for.
    pub mode: Mode,
    /// How many of them.
    pub threads: &'a Threads,
    /// What starts them.
    pub workers: &'a dyn Workers,
    /// Where `readdir` cannot be believed about inode numbers. Without it, it is believed nowhere.
    pub mounts: Option<&'a Mounts>,
    /// The rings to use. Without them, each fill that wants one makes its own.
    pub rings: Option<&'a Rings>,
    /// Whether values may be stale where that spares requests to a server (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to note what was asked of which kind of entry. Costs two readings of the clock for each call.
    pub ledger: Option<&'a Ledger>,
}

impl<'a> Means<'a> {
    pub(super) fn signals(
        &self,
        entries: usize,
        cores: usize,
        latency_ns: u64,
        policy: &'static Policy,
    ) -> Signals {
        let Threads { asked: fixed, in_flight, .. } = *self.threads;
        Signals { entries, cores, fixed, in_flight, latency_ns, policy }
    }

    /// The question to the entries of a place.
    pub(super) fn question<'q>(
        &self,
        place: &Place<'q>,
        needs: &'q NeedsByKind,
        follow: bool,
        by_text: bool,
    ) -> Question<'q>
    where
        'a: 'q,
    {
        let lazy = self.lazy && stat::takes_dont_sync(place.dir);
        Question {
            dir: place.dir,
            needs,
            follow,
            by_text,
            lazy,
            ledger: self.ledger,
            watch: self.threads.watching(),
        }
    }

    /// The watch that there is; or, where answers come from far away, that of a watchdog started for it.
    pub(super) fn watchdog(&self, policy: &Policy) -> Option<&'static Watch> {
        self.threads.watching().or_else(|| if policy.is_far() { self.workers.watchdog() } else { None })
    }
}

/// Which questions are asked about the entries of a directory, and how.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// What must be known, by type.
    pub needs: &'a NeedsByKind,
    /// Whether a symbolic link stands for what it leads to.
    pub follow: bool,
    /// What there is to work with.
    pub means: &'a Means<'a>,
}
