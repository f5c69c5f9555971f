//! What the workers of a walk share: directories that wait, grains that wait, and who waits for either.
//!
//! Work is found by its owner without a lock; another worker takes it through the owner's stall. A worker is *active*
//! while it may have work, and it always may while something it offered is left: so when no worker is active any more,
//! everything is done. Those without work sleep on a futex; whoever offers some wakes one, and looks for sleepers only
//! after the offer is visible, as a sleeper looks for offers only after it can be seen sleeping.

use super::kin::{About, Device, Kin};
use super::open::Border;
use super::pace::Pace;
use super::visitor::Piece;
use super::{End, Follow, Options, Order};
use crate::batch::Batch;
use crate::lock::Mutex;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::Hidden;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use dents_sys::{futex, sched};

/// Descriptors in use by a worker beside those it holds: what it reads, and two on the way along a long path.
const WORKING: usize = 3;
const MOST_DESCRIPTORS: usize = 1024;

/// Entries of a grain: half a millisecond of warm `statx`.
const GRAIN: usize = 512;
/// A grain takes about that long, where answers take longer.
const GRAIN_NS: u64 = 20_000_000;

/// One worker's offers, on cache lines of their own.
#[repr(align(128))]
struct Stall<S>(Mutex<VecDeque<Arc<Kin<S>>>>);

/// Some entries of a directory, not yet asked about.
pub(super) struct Grain<S> {
    pub(super) home: Arc<Home<S>>,
    pub(super) batch: Batch,
    pub(super) piece: Piece,
}

/// The directory that grains are of. Descriptors never cross workers, so whoever takes one opens it by path.
pub(super) struct Home<S> {
    pub(super) path: Box<[u8]>,
    pub(super) about: About<S>,
    /// What its path must lead to.
    pub(super) identity: (Device, u64),
}

/// One of the kin, by its position.
type Waiting<S> = (Arc<Kin<S>>, usize);

/// Directories in the order of inode numbers, taken by a head that moves in one direction and starts over at the end.
struct Elevator<S> {
    /// By inode and number of the directory.
    waiting: BTreeMap<(u64, u64), Waiting<S>>,
    head: u64,
}

pub(super) struct Frontier<'o, S> {
    pub(super) options: &'o Options<'o>,
    /// Those of the options, and the type.
    pub(super) needs: NeedsByKind,
    /// Whether some known type must be asked about.
    pub(super) asks: bool,
    /// Whether nothing is needed but directories, whose number a link count may tell. Not while each request counts, nor
    /// where `.` and `..` are among the entries.
    settles: AtomicBool,
    pub(super) pace: Pace<'o>,
    pub(super) border: Border,
    /// Descriptors that each worker may hold.
    pub(super) share: usize,
    stalls: Vec<Stall<S>>,
    grains: Mutex<VecDeque<Grain<S>>>,
    /// How many there are.
    dealt: AtomicUsize,
    grain: AtomicUsize,
    elevator: Option<Mutex<Elevator<S>>>,
    ids: AtomicU64,
    active: AtomicUsize,
    sleepers: AtomicUsize,
    epoch: AtomicU32,
    done: AtomicBool,
}

impl<'o, S> Frontier<'o, S> {
    /// For one worker; see [`Frontier::grow`].
    pub(super) fn new(options: &'o Options<'o>) -> Self {
        let elevator = Elevator { waiting: BTreeMap::new(), head: 0 };
        let mut frontier = Frontier {
            options,
            needs: if options.extra { options.needs.with_extra() } else { options.needs }
                | NeedsByKind::of(Kind::Dir, Needs::TYPE),
            asks: options.needs.asks_any(),
            settles: AtomicBool::new(settles(options)),
            pace: Pace::new(options),
            border: Border::new(),
            share: 0,
            stalls: Vec::new(),
            grains: Mutex::new(VecDeque::new()),
            dealt: AtomicUsize::new(0),
            grain: AtomicUsize::new(GRAIN),
            elevator: (options.order == Order::Inode).then(|| Mutex::new(elevator)),
            ids: AtomicU64::new(1),
            active: AtomicUsize::new(1),
            sleepers: AtomicUsize::new(0),
            epoch: AtomicU32::new(0),
            done: AtomicBool::new(false),
        };
        frontier.grow(1);
        frontier
    }

    /// For so many workers, or as many as descriptors suffice for.
    pub(super) fn grow(&mut self, workers: usize) -> usize {
        let descriptors = self.options.descriptors.unwrap_or_else(|| {
            let limit = sched::open_files_limit().unwrap_or(u64::MAX) / 2;
            usize::try_from(limit).unwrap_or(usize::MAX).min(MOST_DESCRIPTORS)
        });
        let workers = workers.min(descriptors / (WORKING + 1)).max(1);
        self.share = (descriptors / workers).saturating_sub(WORKING);
        self.stalls.resize_with(workers, || Stall(Mutex::new(VecDeque::new())));
        workers
    }

    pub(super) fn crew(&self) -> usize {
        self.stalls.len()
    }

    /// What a request takes: grains shrink where that is long, so that all workers have some.
    pub(super) fn set_latency(&self, nanoseconds: u64) {
        let fitting = (GRAIN_NS / nanoseconds.max(1)) as usize;
        self.grain.store(fitting.clamp(1, GRAIN), Ordering::Relaxed);
    }

    pub(super) fn grain(&self) -> usize {
        self.grain.load(Ordering::Relaxed)
    }

    pub(super) fn settles(&self) -> bool {
        self.settles.load(Ordering::Relaxed)
    }

    /// A file system was met that does not count links. To ask for it again in each directory would cost what was to be
    /// saved, on a network.
    pub(super) fn settles_no_more(&self) {
        self.settles.store(false, Ordering::Relaxed);
    }

    /// Numbers for so many directories: the first of them.
    pub(super) fn number(&self, directories: usize) -> u64 {
        self.ids.fetch_add(directories as u64, Ordering::Relaxed)
    }

    /// Puts subdirectories where other workers find them.
    pub(super) fn offer(&self, worker: usize, kin: &Arc<Kin<S>>) {
        self.stalls[worker].0.lock().push_back(Arc::clone(kin));
        self.announce();
    }

    /// Takes back what is used up.
    pub(super) fn withdraw(&self, worker: usize, kin: &Arc<Kin<S>>) {
        let mut stall = self.stalls[worker].0.lock();
        // The last offered is the first used up, but for what thieves already swept away.
        if let Some(at) = stall.iter().rposition(|one| Arc::ptr_eq(one, kin)) {
            stall.remove(at);
        }
    }

    /// Something of another worker's: what was offered first, for it lies highest in the tree.
    pub(super) fn steal(&self, thief: usize) -> Option<Arc<Kin<S>>> {
        let crew = self.crew();
        (1..crew).find_map(|step| {
            let mut stall = self.stalls[(thief + step) % crew].0.lock();
            while stall.front().is_some_and(|kin| kin.remaining() == 0) {
                stall.pop_front();
            }
            stall.front().cloned()
        })
    }

    /// Puts directories into inode order; false if that is not the order, or if too many wait.
    pub(super) fn elevate(&self, kin: &Arc<Kin<S>>, inos: &[u64]) -> bool {
        let Some(elevator) = &self.elevator else { return false };
        let mut elevator = elevator.lock();
        if elevator.waiting.len() + inos.len() > self.options.frontier {
            return false;
        }
        for (index, ino) in inos.iter().enumerate() {
            elevator.waiting.insert((*ino, kin.id(index)), (Arc::clone(kin), index));
        }
        drop(elevator);
        self.announce();
        true
    }

    /// The next in inode order.
    pub(super) fn next_by_inode(&self) -> Option<Waiting<S>> {
        let mut elevator = self.elevator.as_ref()?.lock();
        let head = elevator.head;
        let ahead = elevator.waiting.range((head, 0)..).next().map(|(key, _)| *key);
        let key = ahead.or_else(|| elevator.waiting.keys().next().copied())?;
        elevator.head = key.0;
        elevator.waiting.remove(&key)
    }

    pub(super) fn give_grain(&self, grain: Grain<S>) {
        self.grains.lock().push_back(grain);
        self.dealt.fetch_add(1, Ordering::SeqCst);
        self.announce();
    }

    pub(super) fn take_grain(&self) -> Option<Grain<S>> {
        if self.dealt.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let grain = self.grains.lock().pop_front()?;
        self.dealt.fetch_sub(1, Ordering::SeqCst);
        Some(grain)
    }

    /// Whether so many grains wait that nobody needs more.
    pub(super) fn has_plenty(&self) -> bool {
        self.dealt.load(Ordering::Relaxed) >= 2 * self.crew()
    }

    pub(super) fn someone_sleeps(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) > 0
    }

    fn announce(&self) {
        if self.crew() > 1 && self.sleepers.load(Ordering::SeqCst) > 0 {
            self.epoch.fetch_add(1, Ordering::SeqCst);
            let _ = futex::wake(&self.epoch, 1);
        }
    }

    /// A worker looks for work.
    pub(super) fn enter(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    /// A worker found none. Returns when there may be some again; false when there will be none. Counts its sleep.
    pub(super) fn rest(&self, sleeps: &mut u64) -> bool {
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 || self.pace.stopped() {
            self.done.store(true, Ordering::SeqCst);
            self.epoch.fetch_add(1, Ordering::SeqCst);
            let _ = futex::wake(&self.epoch, u32::MAX);
            return false;
        }
        let epoch = self.epoch.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if !self.done.load(Ordering::SeqCst) && !self.has_offers() {
            *sleeps += 1;
            let _ = futex::wait(&self.epoch, epoch, None);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        !self.done.load(Ordering::SeqCst)
    }

    fn has_offers(&self) -> bool {
        self.dealt.load(Ordering::SeqCst) > 0
            || self.elevator.as_ref().is_some_and(|elevator| !elevator.lock().waiting.is_empty())
            || self.stalls.iter().any(|stall| stall.0.lock().iter().any(|kin| kin.remaining() > 0))
    }

    /// A visitor's wish.
    pub(super) fn stop(&self) {
        self.pace.stop(End::Stopped);
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
