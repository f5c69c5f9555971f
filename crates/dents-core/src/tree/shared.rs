//! State that all workers of a walk share: the order of its tasks, its bounds, and values derived from its options.

use super::ancestors::Device;
use super::bounds::Bounds;
use super::open::Border;
use super::subdirectories::{About, Subdirectories};
use super::visitor::Piece;
use super::{End, Follow, Options, Order};
use crate::batch::Batch;
use crate::bulk::Bulk;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::Hidden;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use dents_engine::limit::policy::{Lists, Policy};
use dents_engine::order::steal::Steal;
use dents_sys::statfs::{self, FsType};
use dents_sys::{BorrowedFd, OwnedFd, sched};

/// Descriptors of a worker beside those it keeps: the directory it reads, and two for the steps of a long path.
const WORKING: usize = 3;
const MOST_DESCRIPTORS: usize = 1024;

/// Largest part of a directory, in entries: half a millisecond of warm `statx`.
const PART: usize = 512;
/// The time for a part, where answers take longer.
const PART_NS: u64 = 20_000_000;

/// Some entries of a directory whose metadata is not requested yet.
pub(super) struct Part<S> {
    pub(super) directory: Arc<PartDirectory<S>>,
    pub(super) batch: Batch,
    pub(super) piece: Piece,
    /// The directory, once the worker has opened it.
    pub(super) dir: Option<OwnedFd>,
}

/// The directory of parts. Descriptors never cross workers, so a worker that takes a part opens it by path.
pub(super) struct PartDirectory<S> {
    pub(super) path: Box<[u8]>,
    pub(super) about: About<S>,
    /// Device and inode of the directory: the path may lead to another one later.
    pub(super) identity: (Device, u64),
    /// [`Policy::lists`], if it is known.
    pub(super) lists: Lists,
}

pub(super) struct Shared<'o, S> {
    pub(super) options: Options<'o>,
    /// The needs of the options, and the type.
    pub(super) needs: NeedsByKind,
    /// Whether an entry of known type may need a request.
    pub(super) asks: bool,
    /// Whether only directories must be recognized, for which the link count may suffice. Not with a rate, deadline or
    /// cancellation, and not if `.` and `..` are kept. Cleared at the first file system that does not count links:
    /// testing each directory again would cost requests instead of saving them.
    pub(super) by_link_count: AtomicBool,
    pub(super) bounds: Bounds<'o>,
    pub(super) border: Border,
    /// Descriptors that each worker may keep.
    pub(super) share: usize,
    /// Whether directories and requests are in the order of inode numbers.
    pub(super) by_inode: bool,
    /// Entries for each part.
    pub(super) part: AtomicUsize,
    /// Whether the first worker is alone, and the number of workers is to be chosen.
    pub(super) probing: bool,
    /// The time that an answer takes, once it is known; 0 before.
    pub(super) latency_ns: AtomicU64,
    pub(super) tasks: Steal<Subdirectories<S>, Box<Part<S>>>,
    /// Metadata read in bulk.
    pub(super) bulk: Option<Bulk>,
    /// The file system where the walk began, once it is known.
    pub(super) fs: Option<FsType>,
    /// Whether a worker has waited in vain for a descriptor, and none has opened a directory since.
    pub(super) starves: AtomicBool,
    /// Whether the workers have left to come back later.
    is_paused: AtomicBool,
    ids: AtomicU64,
}

impl<'o, S> Shared<'o, S> {
    /// For one worker; see [`Shared::set_workers`].
    pub(super) fn new(options: &Options<'o>) -> Self {
        let by_inode = options.order == Order::Inode;
        let mut shared = Shared {
            options: options.clone(),
            needs: if options.extra { options.needs.with_extra() } else { options.needs }
                | NeedsByKind::of(Kind::Dir, Needs::TYPE),
            asks: options.needs.asks_any(),
            by_link_count: AtomicBool::new(by_link_count(options)),
            bounds: Bounds::new(options),
            border: Border::new(),
            share: 0,
            by_inode,
            part: AtomicUsize::new(PART),
            probing: options.workers.is_none(),
            latency_ns: AtomicU64::new(0),
            tasks: Steal::new(if by_inode { options.frontier } else { 0 }),
            bulk: None,
            fs: None,
            starves: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            ids: AtomicU64::new(1),
        };
        shared.set_workers(1);
        shared
    }

    /// Sets the number of workers, reduced if the descriptors do not suffice. Returns it.
    pub(super) fn set_workers(&mut self, workers: usize) -> usize {
        let descriptors = self.options.descriptors.unwrap_or_else(|| {
            let limit = sched::open_files_limit().unwrap_or(u64::MAX) / 2;
            usize::try_from(limit).unwrap_or(usize::MAX).min(MOST_DESCRIPTORS)
        });
        let workers = workers.min(descriptors / (WORKING + 1)).max(1);
        self.share = (descriptors / workers).saturating_sub(WORKING);
        self.tasks.set_workers(workers);
        workers
    }

    /// Continues in the order of inode numbers. Directories that wait already are not sorted.
    pub(super) fn continue_by_inode(&mut self) {
        self.by_inode = true;
        self.tasks.set_most_sorted(self.options.frontier);
    }

    /// Sets the latency of requests. A long latency makes parts smaller, so that all workers get some.
    pub(super) fn set_latency(&self, nanoseconds: u64) {
        let fitting = (PART_NS / nanoseconds.max(1)) as usize;
        self.part.store(fitting.clamp(1, PART), Relaxed);
        self.latency_ns.store(nanoseconds.max(1), Relaxed);
    }

    /// Whether the worker must measure the latency with the first entries of a large batch.
    pub(super) fn wants_latency(&self) -> bool {
        let is_unknown = self.latency_ns.load(Relaxed) == 0;
        is_unknown && !self.by_inode && (self.probing || self.tasks.workers() > 1)
    }

    /// The policy of a directory whose first reply may be a server's: two system calls.
    pub(super) fn policy_of(&self, dir: BorrowedFd<'_>) -> &'static Policy {
        self.options.policy.unwrap_or_else(|| Policy::of(statfs::of_mount(dir).ok()))
    }

    /// Reserves consecutive numbers for directories. Returns the first.
    pub(super) fn number(&self, directories: usize) -> u64 {
        self.ids.fetch_add(directories as u64, Relaxed)
    }

    /// Whether all links are followed.
    pub(super) fn follows(&self) -> bool {
        self.options.follow == Follow::Always
    }

    /// Whether the walk compares each directory with those above it.
    pub(super) fn finds_loops(&self) -> bool {
        self.follows() || self.options.mounts_loop
    }

    /// All workers leave after their current tasks.
    pub(super) fn pause(&self) {
        self.is_paused.store(true, Relaxed);
        self.tasks.crew.end();
    }

    /// Whether the workers have left because of [`Shared::pause`]; afterwards no longer.
    pub(super) fn take_pause(&self) -> bool {
        self.is_paused.swap(false, Relaxed)
    }

    /// Ends the walk because a visitor returned [`Step::Stop`](super::Step).
    pub(super) fn stop(&self) {
        self.bounds.stop(End::Stopped);
    }
}

fn by_link_count(options: &Options<'_>) -> bool {
    options.needs.any().is_empty()
        && options.follow != Follow::Always
        && options.filter.hidden != Hidden::All
        && options.rate.is_none()
        && options.deadline_ns.is_none()
        && options.cancel.is_none()
}
