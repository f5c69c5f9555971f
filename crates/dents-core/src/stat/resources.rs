//! The resources with which metadata is requested: a strategy, threads, the mount table, rings.

use super::question::{ListedDir, Question};
use super::request_counts::RequestCounter;
use crate::mounts::Mounts;
use crate::needs::NeedsByKind;
use crate::ring::Rings;
use crate::watchdog::Watch;
use core::cell::OnceCell;
pub use dents_engine::crew::Workers;
use dents_engine::limit::choose::{self, Signals};
use dents_engine::limit::policy::Policy;
use dents_sys::{sched, stat};

/// The number of threads: as requested, or one for each core that the process may use, counted when first needed.
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
    /// `None` for one thread for each core.
    #[must_use]
    pub fn new(asked: Option<usize>) -> Threads {
        Threads { asked, in_flight: choose::IN_FLIGHT, cores: OnceCell::new(), watch: None }
    }

    /// Limits the requests in flight where each answer is a round trip.
    #[must_use]
    pub fn in_flight(self, most: usize) -> Threads {
        Threads { in_flight: most.max(1), ..self }
    }

    /// Sets the watch of a watchdog.
    #[must_use]
    pub fn watched(self, watch: Option<&'static Watch>) -> Threads {
        Threads { watch, ..self }
    }

    /// The watch, if there is a watchdog.
    #[must_use]
    pub fn watching(&self) -> Option<&'static Watch> {
        self.watch
    }

    /// Most requests in flight.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.in_flight
    }

    /// The requested number.
    #[must_use]
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// The number of threads. Calls [`sched::available_cores`] at most once, which costs about ten system calls.
    #[must_use]
    pub fn count(&self) -> usize {
        self.asked.unwrap_or_else(|| *self.cores.get_or_init(sched::available_cores))
    }

    /// The number of threads for this many entries. For a few hundred, one system call and two threads suffice.
    pub(crate) fn count_for(&self, entries: usize) -> usize {
        match (self.asked, self.cores.get()) {
            (None, None) if entries < FEW => sched::affinity().min(2),
            _ => self.count(),
        }
    }
}

/// Entries that take some milliseconds: reading the quotas of control groups (50 µs) would be a notable part of that.
const FEW: usize = 4096;

/// The strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One thread, one request at a time.
    Classic,
    /// Threads.
    Par,
    /// io_uring.
    Iou,
    /// The best of them, chosen at run time.
    #[default]
    Auto,
}

/// The resources of a fill.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The requested strategy.
    pub mode: Mode,
    /// The number of threads.
    pub threads: &'a Threads,
    /// Starts the threads.
    pub workers: &'a dyn Workers,
    /// The mount table, which tells where inode numbers of `readdir` can be trusted. Without it they are trusted
    /// nowhere.
    pub mounts: Option<&'a Mounts>,
    /// The rings to use. Without them, each fill that needs one creates its own.
    pub rings: Option<&'a Rings>,
    /// Whether values may be stale where that saves requests to a server (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to count requests. Costs two clock readings for each call.
    pub counter: Option<&'a RequestCounter>,
}

impl<'a> Resources<'a> {
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

    /// The request for the entries of a directory.
    pub(super) fn question<'q>(
        &self,
        listed: &ListedDir<'q>,
        needs: &'q NeedsByKind,
        follow: bool,
        by_text: bool,
    ) -> Question<'q>
    where
        'a: 'q,
    {
        let lazy = self.lazy && stat::takes_dont_sync(listed.dir);
        Question {
            dir: listed.dir,
            needs,
            follow,
            by_text,
            lists: listed.lists(),
            lazy,
            counter: self.counter,
            watch: self.threads.watching(),
        }
    }

    /// The existing watch; or, on a remote file system, that of a watchdog started for it.
    pub(super) fn watchdog(&self, policy: &Policy) -> Option<&'static Watch> {
        self.threads.watching().or_else(|| if policy.is_far() { self.workers.watchdog() } else { None })
    }
}

/// Which requests to make about the entries of a directory, and how.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The needs of each type.
    pub needs: &'a NeedsByKind,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// The resources.
    pub resources: &'a Resources<'a>,
}
