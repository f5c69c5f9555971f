//! What the workers of a walk share: the order of its tasks, its bounds, and what follows from its options.

use super::bounds::Bounds;
use super::lineage::Device;
use super::open::Border;
use super::subdirectories::{About, Subdirectories};
use super::visitor::Piece;
use super::worker::{Paused, Worker};
use super::{End, Follow, Options, Order};
use crate::batch::Batch;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::Hidden;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use dents_engine::crew::{self, Next};
use dents_engine::order::steal::{self, Steal};
use dents_sys::{OwnedFd, sched};

/// Descriptors in use by a worker beside those it holds: what it reads, and two on the way along a long path.
const WORKING: usize = 3;
const MOST_DESCRIPTORS: usize = 1024;

/// Entries of a part of a directory that another worker may ask about: half a millisecond of warm `statx`.
const PART: usize = 512;
/// A part takes about that long, where answers take longer.
const PART_NS: u64 = 20_000_000;

/// Some entries of a directory, not yet asked about.
pub(super) struct Part<S> {
    pub(super) home: Arc<Home<S>>,
    pub(super) batch: Batch,
    pub(super) piece: Piece,
    /// The directory, once a worker has opened it.
    pub(super) dir: Option<OwnedFd>,
}

/// The directory that parts are of. Descriptors never cross workers, so a worker that takes one opens it by path.
pub(super) struct Home<S> {
    pub(super) path: Box<[u8]>,
    pub(super) about: About<S>,
    /// What its path must lead to.
    pub(super) identity: (Device, u64),
}

/// What a worker takes from the order; `None` to go on with what it has begun.
pub(super) type Task<S> = Option<steal::Task<Subdirectories<S>, Paused<S>, Box<Part<S>>>>;

pub(super) struct Shared<'o, S> {
    pub(super) options: &'o Options<'o>,
    /// Those of the options, and the type.
    pub(super) needs: NeedsByKind,
    /// Whether some known type must be asked about.
    pub(super) asks: bool,
    /// Whether nothing is needed but directories, whose number a link count may tell. Not while each request counts, nor
    /// where `.` and `..` are among the entries. Until a file system is met that does not count links: to ask for it again
    /// in each directory would cost what was to be saved, on a network.
    pub(super) settles: AtomicBool,
    pub(super) bounds: Bounds<'o>,
    pub(super) border: Border,
    /// Descriptors that each worker may hold.
    pub(super) share: usize,
    /// Entries of a part.
    pub(super) part: AtomicUsize,
    pub(super) tasks: Steal<Subdirectories<S>, Box<Part<S>>>,
    ids: AtomicU64,
}

impl<'o, S> Shared<'o, S> {
    /// For one worker; see [`Shared::set_workers`].
    pub(super) fn new(options: &'o Options<'o>) -> Self {
        let by_inode = options.order == Order::Inode;
        let mut shared = Shared {
            options,
            needs: if options.extra { options.needs.with_extra() } else { options.needs }
                | NeedsByKind::of(Kind::Dir, Needs::TYPE),
            asks: options.needs.asks_any(),
            settles: AtomicBool::new(settles(options)),
            bounds: Bounds::new(options),
            border: Border::new(),
            share: 0,
            part: AtomicUsize::new(PART),
            tasks: Steal::new(if by_inode { options.frontier } else { 0 }),
            ids: AtomicU64::new(1),
        };
        shared.set_workers(1);
        shared
    }

    /// For so many workers, or as many as descriptors suffice for.
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

    /// What a request takes: parts shrink where that is long, so that all workers have some.
    pub(super) fn set_latency(&self, nanoseconds: u64) {
        let fitting = (PART_NS / nanoseconds.max(1)) as usize;
        self.part.store(fitting.clamp(1, PART), Relaxed);
    }

    /// Numbers for so many directories: the first of them.
    pub(super) fn number(&self, directories: usize) -> u64 {
        self.ids.fetch_add(directories as u64, Relaxed)
    }

    /// Whether all links are followed.
    pub(super) fn follows(&self) -> bool {
        self.options.follow == Follow::Always
    }

    /// A visitor's wish.
    pub(super) fn stop(&self) {
        self.bounds.stop(End::Stopped);
    }
}

impl<S: Clone + Default + Send + Sync> crew::Order for Shared<'_, S> {
    type Task = Task<S>;
    type Local = Worker<S>;

    fn next(&self, worker: &mut Worker<S>) -> Next<Task<S>> {
        if self.bounds.stopped() {
            return Next::End;
        }
        if worker.has_begun() {
            // While a directory is read, parts come first only if there are enough of them to be read later.
            let part = if self.tasks.has_enough_parts() { self.tasks.pop_part() } else { None };
            return Next::Task(part.map(steal::Task::Part));
        }
        worker.next(self)
    }
}

fn settles(options: &Options<'_>) -> bool {
    options.needs.any().is_empty()
        && options.follow != Follow::Always
        && options.filter.hidden != Hidden::All
        && options.rate.is_none()
        && options.deadline_ns.is_none()
        && options.cancel.is_none()
}
