//! Whole hierarchies: many directories at once, each read as a listing reads one, in bounded memory.
//!
//! ```text
//! operands ─► tasks ─► open ─► read ─► stat ─► Visitor ─┐
//!               ▲     openat  getdents64  statx  batches │
//!               └──────────────── subdirectories ◄───────┘
//! ```
//!
//! A walk is [`walk`] with a [`Visitor`] for each worker, or, on one thread, an [`Entries`] that is asked for batch after batch.
//! Either way [batches](crate::batch::Batch) come out, with the [`Place`] they belong to; what cannot be opened or read comes as a [`Failure`].
//!
//! **What it costs.** Names only: `openat`, `getdents64` and `close` for each directory; a second `getdents64` only where
//! the file system does not tell the end by the position after the last entry (ext4 does). Metadata: one `statx` for each
//! entry whose needs `d_type` does not answer. Nothing is allocated per entry, and for a directory only if it has
//! subdirectories.
//!
//! **Which directory is next** ([`dents_engine::order::steal`]). The subdirectories of one directory stay together: their names
//! in one piece of memory, and a counter for the next to be opened. Each worker goes depth first over a stack of these
//! and offers it to the others, which steal from its far end. A directory with very many subdirectories is not read to its end
//! before some of them are done: once 16,384 wait, it stays open until they are entered (as long as a worker's share of
//! descriptors allows, else it is read on). So memory is bounded by depth × 16,384 names a worker, not by the size of the tree
//! or of a directory: 200,000 subdirectories with names of 200 bytes, one of which has 50,000 more, take
//! 8 MiB with one worker and 21 to 24 with two to eight that stat them (42 and more if they were not paused); a million files of one
//! directory 0.7 MiB with two workers (`tests/memory.rs`). With [`Order::Inode`] they go into one queue in the order of inode numbers instead, as
//! an elevator moves over a disk, up to [`Options::frontier`] of them.
//!
//! **How many workers.** As many as cores where answers come from memory, many where they are round trips, never more than the
//! policy of the file system allows ([`dents_engine::limit`]): the first directories tell (`probe.rs`).
//!
//! **Descriptors never cross workers.** One stays open for each directory whose subdirectories are still to be opened,
//! as long as a worker's share of [`Options::descriptors`] lasts; beyond, and for what is taken from another worker,
//! directories are opened by path. Paths longer than `PATH_MAX` are opened piece by piece.
//!
//! **Huge directories** are asked about in parts, by any worker, while one of them reads on, where something must be asked of
//! the entries.
//!
//! ```
//! use core::ffi::CStr;
//! use dents_core::batch::Batch;
//! use dents_core::needs::Kind;
//! use dents_core::stat::Workers;
//! use dents_core::tree::{self, Failure, Options, Place, Step, Visitor};
//!
//! /// std's scoped threads.
//! struct Threads;
//!
//! impl Workers for Threads {
//!     fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
//!         std::thread::scope(|scope| {
//!             for worker in 1..workers {
//!                 // A thread that cannot be started is left out.
//!                 let _ = std::thread::Builder::new().spawn_scoped(scope, move || job(worker));
//!             }
//!             job(0);
//!         });
//!     }
//! }
//!
//! /// Each worker counts for itself.
//! #[derive(Default)]
//! struct Count {
//!     directories: u64,
//!     errors: u64,
//! }
//!
//! impl Visitor for Count {
//!     type State = ();
//!
//!     fn entries(&mut self, _: &Place<'_>, batch: &Batch, _: &()) -> Step {
//!         self.directories += batch.iter().filter(|entry| entry.kind() == Kind::Dir).count() as u64;
//!         Step::Enter
//!     }
//!
//!     fn failed(&mut self, failure: &Failure<'_>) -> Step {
//!         eprintln!("{}: {}", failure.path.escape_ascii(), failure.errno);
//!         self.errors += 1;
//!         Step::Enter
//!     }
//! }
//!
//! let outcome = tree::walk(&[c"/usr/share"], &Options::default(), &Threads, |_| Count::default());
//! let directories: u64 = outcome.visitors.iter().map(|count| count.directories).sum();
//! assert_eq!(directories, outcome.tally.directories + outcome.visitors.iter().map(|count| count.errors).sum::<u64>());
//! ```

mod beginning;
mod bounds;
pub mod hardlinks;
pub mod held;
mod lineage;
mod open;
mod probe;
mod shared;
mod subdirectories;
pub mod total;
mod visitor;
mod worker;

pub use beginning::Beginning;
pub use visitor::{Failure, Piece, Place, Problem, Step, Visitor};

use crate::lock::Mutex;
use crate::needs::{Needs, NeedsByKind};
use crate::read::{Filter, Hidden};
use crate::stat::Workers;
use crate::stat::ledger::Ledger;
use crate::watchdog::Watch;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::num::NonZeroU32;
use core::sync::atomic::AtomicBool;
use dents_engine::limit::policy::Policy;
use dents_sys::{BorrowedFd, CWD, clock};
use shared::Shared;
use worker::Worker;

/// What to walk, and how.
pub struct Options<'a> {
    /// Where relative operands begin; the current directory by default.
    pub at: BorrowedFd<'a>,
    /// What must be known of the entries; the type by default, which needs no `statx` where `readdir` tells it. With no
    /// needs at all, and where it does not, only directories are told: by the tricks of [`mod@crate::scandir`], which look at
    /// a few entries of each. What is none keeps an unknown type then.
    pub needs: NeedsByKind,
    /// Also fill the batches' [`Extra`](crate::batch::Extra) column: all times and the device. Only of entries that are
    /// stat'ed: declare the needs.
    pub extra: bool,
    /// Which entries are wanted: all but `.` and `..` by default. What is filtered out is not entered either.
    pub filter: Filter,
    /// Entries below this depth are not read. Operands have depth 0, what is in them depth 1.
    pub max_depth: u32,
    /// Which symbolic links are entered.
    pub follow: Follow,
    /// Directories on another file system (device number) than their operand are not entered.
    pub one_file_system: bool,
    /// In which order.
    pub order: Order,
    /// With [`Order::Inode`], how many directories may wait in that order; what comes on top is taken depth first.
    pub frontier: usize,
    /// How many workers, each of which has one request in flight: a bound for both. `None` for as many as suit the
    /// latency of the first answers, the cores and the file system ([`dents_engine::limit::choose::workers`]); a small tree
    /// then starts none at all.
    pub workers: Option<usize>,
    /// What is done on the file system, where the number of workers is not given; `None` to look it up in the table
    /// ([`Policy::of`]): one `fstatfs`, but for a small tree.
    pub policy: Option<&'static Policy>,
    /// Descriptors that may be open at once, among all workers; `None` for half of what the process may have
    /// (`RLIMIT_NOFILE`), at most 1,024. Fewer than four a worker mean fewer workers.
    pub descriptors: Option<usize>,
    /// Requests a second among all workers, of whatever kind ([`Tally::requests`]): mercy for a metadata server. The
    /// second and further questions about one entry (where a link leads, its attributes) and the pieces of a path beyond
    /// `PATH_MAX` follow the first at once and are paid for before the worker's next request.
    pub rate: Option<NonZeroU32>,
    /// The moment to stop, on the clock of [`dents_sys::clock::monotonic_ns`]. A request under way is not interrupted.
    pub deadline_ns: Option<u64>,
    /// Stops the walk when set. A request under way is not interrupted.
    pub cancel: Option<&'a AtomicBool>,
    /// Where to note what was asked.
    pub ledger: Option<&'a Ledger>,
    /// Where workers show what they wait for; the first has seat 1.
    pub watch: Option<&'static Watch>,
    /// Takes all types that `readdir` gives for unknown: how a file system without `d_type` looks.
    pub distrust_d_type: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            at: CWD,
            needs: NeedsByKind::all(Needs::TYPE),
            extra: false,
            filter: Filter { hidden: Hidden::AlmostAll, ..Filter::default() },
            max_depth: u32::MAX,
            follow: Follow::Never,
            one_file_system: false,
            order: Order::Any,
            frontier: 1 << 16,
            workers: None,
            policy: None,
            descriptors: None,
            rate: None,
            deadline_ns: None,
            cancel: None,
            ledger: None,
            watch: None,
            distrust_d_type: false,
        }
    }
}

/// Which symbolic links are entered, if they lead to a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// None.
    #[default]
    Never,
    /// Operands.
    Operands,
    /// All. One `statx` of each directory finds loops: a directory within itself is a [`Failure`] and not entered.
    Always,
}

/// The order in which directories are opened and entries stat'ed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As is cheapest: depth first in reading order, with one worker exactly so.
    #[default]
    Any,
    /// By inode number, over the whole frontier: fewer seeks where nothing is cached and the disk turns.
    Inode,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All was walked.
    Complete,
    /// A visitor said [`Step::Stop`].
    Stopped,
    /// [`Options::cancel`] was set.
    Cancelled,
    /// [`Options::deadline_ns`] passed.
    Deadline,
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Directories opened.
    pub directories: u64,
    /// Entries given to visitors, operands among them.
    pub entries: u64,
    /// `getdents64`.
    pub reads: u64,
    /// Requests: `openat` and `openat2`, `getdents64`, `statx`, `fstatfs`, `readlinkat`, `listxattrat`, `getxattrat`. Not
    /// `close`.
    pub requests: u64,
    /// `statx` of entries.
    pub stats: u64,
    /// Entries whose types and needs `readdir` answered.
    pub avoided: u64,
    /// Entries about which a question failed, and directories that could not be opened or read.
    pub faults: u64,
    /// Times that a worker took subdirectories over from another.
    pub stolen: u64,
    /// Parts of huge directories that were given to any worker.
    pub dealt: u64,
    /// Workers that there were.
    pub workers: u64,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.directories += other.directories;
        self.entries += other.entries;
        self.reads += other.reads;
        self.requests += other.requests;
        self.stats += other.stats;
        self.avoided += other.avoided;
        self.faults += other.faults;
        self.stolen += other.stolen;
        self.dealt += other.dealt;
        self.workers += other.workers;
    }
}

/// What comes of a walk.
pub struct Outcome<V> {
    /// The visitors, with what they gathered; the one of the calling thread first.
    pub visitors: Vec<V>,
    /// Why it ended.
    pub end: End,
    /// What was done.
    pub tally: Tally,
}

/// Walks over the operands and everything below them. `make` makes the visitor of each worker, on its thread.
///
/// The first directories are read on the calling thread, to see how long answers take; `workers` are only asked for if
/// there are more. Nothing fails as a whole: an operand that is not there is an entry with a fault.
pub fn walk<V, F>(operands: &[&CStr], options: &Options<'_>, workers: &dyn Workers, make: F) -> Outcome<V>
where
    V: Visitor + Send,
    F: Fn(usize) -> V + Sync,
{
    walk_on(operands, &[], options, workers, make)
}

/// As [`walk`], and over the directories of a walk that was broken off: their depths are what they were, and so are
/// [`Options::max_depth`], [`Options::one_file_system`] and the search for loops; their parents have number 0.
///
/// Without operands there is no batch of them.
pub fn walk_on<V, F>(
    operands: &[&CStr],
    beginnings: &[Beginning],
    options: &Options<'_>,
    workers: &dyn Workers,
    make: F,
) -> Outcome<V>
where
    V: Visitor + Send,
    F: Fn(usize) -> V + Sync,
{
    let mut shared = Shared::new(options);
    let mut worker = Worker::new(0, &shared);
    worker.give_beginnings(beginnings, &shared);
    if !operands.is_empty() {
        worker.give_operands(operands, &shared);
    }
    let mut visitor = make(0);
    let count = match options.workers {
        Some(count) => count,
        None => probe::workers(&mut worker, &shared, &mut visitor),
    };
    let count = shared.set_workers(count);
    let first = Mutex::new(Some((worker, visitor)));
    let finished = Mutex::new(Vec::with_capacity(count));
    workers.run(count, &|index| {
        let inherited = if index == 0 { first.lock().take() } else { None };
        let (mut worker, mut visitor) =
            inherited.unwrap_or_else(|| (Worker::new(index, &shared), make(index)));
        worker.run(&shared, &mut visitor);
        finished.lock().push((index, visitor, worker.tally));
    });
    let mut finished = finished.into_inner();
    finished.sort_unstable_by_key(|(index, ..)| *index);
    let mut tally = Tally::default();
    finished.iter().for_each(|(.., one)| tally += *one);
    let visitors = finished.into_iter().map(|(_, visitor, _)| visitor).collect();
    Outcome { visitors, end: shared.bounds.end(), tally }
}

/// Nanoseconds from now on, for [`Options::deadline_ns`].
#[must_use]
pub fn deadline_in(nanoseconds: u64) -> u64 {
    clock::monotonic_ns().saturating_add(nanoseconds)
}

/// What a whole piece of the tree becomes in memory, before something is asked: enough entries that threads are worth it, few
/// enough that a million of them never are in memory at once.
const PIECE: usize = 4096;
