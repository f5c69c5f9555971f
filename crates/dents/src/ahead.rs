//! Directories that threads of a pool read before their turns in a sorted walk.
//!
//! ```text
//! caller    d0 ───── d1 ── d2 ── …      enters each in its turn: takes what was read, reads what no thread has claimed
//! helpers   d0/a     d1/a d1/b …        the next directories; each leaves when there are none, or enough are kept
//! ```
//!
//! The protocol is that of the engine's [`Turns`]. Here helpers leave instead of sleeping, so a walk whose entries are not taken has no thread; the
//! caller calls them again. A call that is missed loses nothing: the caller waits only for directories that a helper is reading.

use crate::entry::{Block, join};
use crate::filter::State;
use crate::ordered::{Device, Level, open_by_path};
use crate::pool::Pool;
use crate::search::TURN;
use crate::{Error, Walk};
use dents_core::batch::{Batch, Entry};
use dents_core::needs::NeedsByKind;
use dents_core::prefetch::{Item, Turn, Turns};
use dents_core::read::Reader;
use dents_core::stat::{self, policy::Policy};
use dents_sys::statfs::FsType;
use dents_sys::{Errno, sched};
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Directories that a walk enters before helpers are called: a smaller tree is read before a thread has started.
pub(crate) const WORTH: usize = 16;

/// Directories that are read and wait for their turns: some milliseconds of work. Of names in /usr, 64 took 5 % longer than 256.
const KEPT: usize = 128;

/// The most entries of a directory that a helper reads; in its turn all threads share a larger one. Where each answer is a round trip,
/// a smaller one is better shared, too.
const SMALL: usize = 512;
const SMALL_AND_FAR: usize = 32;

/// After this time it is looked whether the helper that is waited for is in this process.
const PATIENCE_NS: u64 = 200_000_000;

/// Helpers where each answer is a round trip.
const FAR: usize = 32;

/// Subdirectories of one directory that are offered at a time, so that a very wide one costs little memory.
pub(crate) const OFFERED: usize = 256;

/// A directory that will be entered, and what a helper found there.
pub(crate) type Directory = Item<Place, Found>;

/// The place of a directory.
pub(crate) struct Place {
    pub(crate) above: Arc<Block>,
    pub(crate) index: usize,
    /// Of the directory above.
    pub(crate) state: State,
    pub(crate) device: Option<Device>,
}

impl Place {
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.above.batch.entry(self.index)
    }

    pub(crate) fn path(&self) -> Vec<u8> {
        join(&self.above.path, self.entry().name())
    }

    pub(crate) fn failed(&self, errno: Errno) -> Error {
        Error::new(&self.path(), self.above.depth, errno)
    }
}

/// What a directory is found to be.
pub(crate) enum Found {
    Level(Box<Level>),
    /// It is on another file system, or no directory.
    NotEntered,
    Failed(Box<Error>),
    /// It is large, or no descriptor was left: the caller reads it.
    Later,
    Panicked(Box<dyn Any + Send>),
}

impl Found {
    fn below(&self) -> &[Arc<Directory>] {
        if let Found::Level(level) = self { &level.offered } else { &[] }
    }
}

/// What the caller and the helpers of a walk share.
pub(crate) struct Ahead {
    pub(crate) walk: Arc<Walk>,
    pool: Pool,
    turns: Turns<Place, Found>,
    /// Helpers that were called and have not left, and the most.
    helpers: AtomicUsize,
    pub(crate) most: usize,
    /// The most entries of a directory.
    small: usize,
    /// Whether the caller reads ahead, too, while it waits for a directory. It must not get stuck in another one.
    reads_itself: bool,
    is_abandoned: AtomicBool,
    /// The process that the helpers are in.
    process: u32,
}

impl Ahead {
    /// `None` if the walk must run on one thread: the caller said so, or each request waits for its time, or links are followed, and
    /// each directory must be compared with those above.
    pub(crate) fn new(walk: &Arc<Walk>, fs: impl FnOnce() -> Option<FsType>) -> Option<Arc<Ahead>> {
        if walk.threads == Some(1) || walk.rate.is_some() || walk.follow {
            return None;
        }
        let (policy, needs): (_, NeedsByKind) = (Policy::of(fs()), walk.core_needs());
        let is_far = policy.is_far();
        let pool = walk.pool.clone().unwrap_or_else(Pool::shared);
        let reads_itself = !is_far && walk.is_on_one_mount();
        let cores = policy.cores(sched::available_cores());
        // A caller that sleeps while it waits leaves its core to one more.
        let chosen = if is_far { FAR.min(policy.most) } else { (cores - usize::from(reads_itself)).max(1) };
        let threads = pool.workers(walk.threads.map(|threads| threads - 1)).unwrap_or(chosen);
        // One for four descriptors, as in other walks.
        let most = walk.max_open.map_or(threads, |open| threads.min(open / 4));
        let small = if is_far && needs.asks_any() { SMALL_AND_FAR } else { SMALL };
        Some(Arc::new(Ahead {
            walk: Arc::clone(walk),
            pool,
            turns: Turns::new(KEPT),
            helpers: AtomicUsize::new(0),
            most,
            small,
            reads_itself,
            is_abandoned: AtomicBool::new(false),
            process: std::process::id(),
        }))
    }

    /// Offers the subdirectories of a level of the caller from this place of its order on, if those offered before were taken.
    pub(crate) fn offer(&self, level: &mut Level, next: usize) {
        if level.left().is_empty() {
            level.choose(&self.walk, next);
            self.turns.offer(level.offered.iter());
        }
    }

    /// Calls one more helper, if there is enough to do and a thread is free.
    pub(crate) fn call(self: &Arc<Ahead>) {
        if self.helpers.load(Relaxed) < self.most && self.turns.is_worth_calling() {
            self.helpers.fetch_add(1, Relaxed);
            if !self.pool.call_ahead(self, self.most) {
                self.helpers.fetch_sub(1, Relaxed);
            }
        }
    }

    /// What a helper found, or `None` if the caller must read the directory. Propagates a panic, such as a filter's.
    pub(crate) fn take(&self, directory: &Directory, buffer: &mut Vec<u8>) -> Option<Found> {
        let mut read_ahead =
            || self.turns.read_ahead(directory, |_| true, |place| self.read(place, buffer), Found::below);
        while self.reads_itself && read_ahead() {}
        match self.turn_of(directory) {
            Turn::Found(Found::Panicked(panic)) => resume_unwind(panic),
            Turn::Found(Found::Later) | Turn::Yours | Turn::Late => None,
            Turn::Found(found) => Some(found),
        }
    }

    /// Takes a directory in its turn. In a child that `fork` made there is no helper to wait for.
    fn turn_of(&self, directory: &Directory) -> Turn<Found> {
        loop {
            match self.turns.take(directory, Some(PATIENCE_NS)) {
                Turn::Late if std::process::id() == self.process => {}
                turn => return turn,
            }
        }
    }

    /// Takes directories that will not be entered, and all below them that helpers have read. Waits for those that are being read:
    /// helpers would otherwise go on below them.
    pub(crate) fn discard(&self, directories: &[Arc<Directory>]) {
        for directory in directories.iter().rev() {
            if let Turn::Found(found) = self.turn_of(directory) {
                self.discard(found.below());
            }
        }
    }

    /// Nothing more is read.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Relaxed);
    }

    /// On a thread of the pool.
    pub(crate) fn help(&self) {
        let (began, mut buffer) = (Instant::now(), Vec::new());
        let gives_way = || self.pool.is_wanted() && began.elapsed() >= TURN;
        while !gives_way() && self.turns.work_once(|place| self.read(place, &mut buffer), Found::below) {}
        self.helpers.fetch_sub(1, Relaxed);
    }

    /// A panic is kept for the caller, who may wait for this directory.
    fn read(&self, place: &Place, buffer: &mut Vec<u8>) -> Found {
        if self.is_abandoned.load(Relaxed) || self.walk.cancel.is_cancelled() {
            return Found::Later;
        }
        catch_unwind(AssertUnwindSafe(|| self.read_small(place, buffer))).unwrap_or_else(Found::Panicked)
    }

    fn read_small(&self, place: &Place, buffer: &mut Vec<u8>) -> Found {
        let mut reader = match open_by_path(&place.path(), false) {
            Ok(reader) => reader.with_buffer(mem::take(buffer)),
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Found::Later,
            Err(errno) => return Found::Failed(Box::new(place.failed(errno))),
        };
        let mut found = Level::read(&self.walk, place, &mut reader, |_| false, |reader| self.entries(reader));
        if let Found::Level(level) = &mut found {
            level.choose(&self.walk, 0);
        }
        // The directory is closed: many levels may be kept.
        *buffer = reader.into_parts().1;
        found
    }

    /// All entries, or `None` if there are many.
    fn entries(&self, reader: &mut Reader) -> Option<(Batch, dents_sys::Result<()>)> {
        let (needs, filter) = (self.walk.core_needs(), self.walk.filter());
        let mut batch = Batch::new(needs);
        let ended = loop {
            match reader.read(&filter, &mut batch) {
                Ok(true) if batch.len() <= self.small => {}
                Ok(true) => return None,
                ended => break ended.map(drop),
            }
        };
        stat::fill_alone(&mut batch, reader.dir(), &needs, false, |_| !self.walk.cancel.is_cancelled());
        Some((batch, ended))
    }
}
