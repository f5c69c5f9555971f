//! Walks hierarchies: many directories at once, each read like a listing, in bounded memory.
//!
//! ```text
//! operands ─► tasks ─► open ─► read ─► stat ─► Visitor ─┐
//!               ▲     openat  getdents64  statx  batches │
//!               └──────────────── subdirectories ◄───────┘
//! ```
//!
//! Use [`walk`] with a [`Visitor`] for each worker. It gets [batches](crate::batch::Batch) with their [`Place`]; a
//! directory that cannot be opened or read is a [`Failure`].
//!
//! **Cost.** Names only: `openat`, `getdents64` and `close` for each directory; a second `getdents64` only where the
//! file system does not mark the end in the position of the last entry (ext4 does). Metadata: one `statx` for each
//! entry whose needs `d_type` does not answer. Memory is allocated per directory with subdirectories, not per entry.
//!
//! **Which directory is next** ([`dents_engine::order::steal`]). The subdirectories of one directory stay together:
//! their names in one block of memory, and a counter for the next one to open. Each worker goes depth first over a
//! stack of these groups and offers them to the others, which steal from its far end. A directory with very many
//! subdirectories is paused: once 16,384 of them wait, it stays open until they are entered (while the worker's share
//! of descriptors lasts, else it is read further). So memory is bounded by depth × 16,384 names for each worker, not by
//! the size of the tree or of a directory. 200,000 subdirectories with names of 200 bytes, one of which has 50,000
//! more, take 8 MiB with one worker and 21 to 33 with two to eight that stat them (42 and more without pausing); a
//! million files of one directory take 0.7 MiB with two workers (`tests/memory.rs`). With [`Order::Inode`], up to
//! [`Options::frontier`] directories wait in one queue instead, and are passed in two sweeps, as a head moves over a disk: opened by inode number, to
//! find their first blocks, and read in the order of these (`docs/DISK.md`).
//!
//! **How many workers.** One for each core where answers come from memory, many where each answer is a round trip,
//! never more than the policy of the file system allows ([`dents_engine::limit`]). The first directories tell the
//! latency (`probe.rs`). On a rotating disk one worker continues by inode number: it has one head.
//!
//! **Descriptors never cross workers.** One stays open for each directory whose subdirectories are still to be opened,
//! while the worker's share of [`Options::descriptors`] lasts. Beyond that, and after stealing, directories are opened
//! by path. Paths longer than `PATH_MAX` are opened in several steps.
//!
//! **Huge directories** are split into parts if metadata is needed. Any worker requests the metadata of a part, while
//! one of them reads further.
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

mod ancestors;
mod bounds;
mod bulk_pass;
pub mod hardlinks;
pub mod hierarchy;
mod open;
mod pausable;
mod probe;
mod rotation;
mod shared;
mod start_point;
mod subdirectories;
pub mod sums;
pub mod total;
mod visitor;
mod worker;

pub use open::open_by_path;
pub use pausable::{Left, Pausable};
pub use start_point::StartPoint;
pub use visitor::{Failure, Piece, Place, Problem, Step, Visitor};

use crate::bulk::changed::Changed;
use crate::bulk::{self, Usage, When};
use crate::lock::Mutex;
use crate::needs::{Needs, NeedsByKind};
use crate::read::{Filter, Hidden};
use crate::stat::Workers;
use crate::stat::request_counts::RequestCounter;
use crate::watchdog::Watch;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bulk_pass::BulkPass;
use core::ffi::CStr;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use dents_engine::limit::policy::Policy;
use dents_sys::{BorrowedFd, CWD, clock};
use probe::Probed;
use shared::Shared;
use worker::Worker;

/// What to walk, and how.
#[derive(Clone)]
pub struct Options<'a> {
    /// The directory that relative operands start from; the current directory by default.
    pub at: BorrowedFd<'a>,
    /// The needs of the entries; the type by default, which costs no `statx` where `readdir` returns it. Without any
    /// needs, only directories are recognized. If `readdir` returns no types, the tricks of [`mod@crate::scandir`] find
    /// them with requests for a few entries of each directory, and all other entries keep an unknown type.
    pub needs: NeedsByKind,
    /// Also fill the [`Extra`](crate::batch::Extra) of each entry: all times and the device. Only for entries that are
    /// stat'ed: declare the needs.
    pub extra: bool,
    /// Which entries to keep: all except `.` and `..` by default. A directory that is filtered out is not entered.
    pub filter: Filter,
    /// Entries below this depth are not read. Operands have depth 0, their entries depth 1.
    pub max_depth: u32,
    /// Which symbolic links are entered.
    pub follow: Follow,
    /// Whether a directory may be mounted below itself ([`Mounts::any_loop`](crate::mounts::Mounts::any_loop)). Then loops are found
    /// as with [`Follow::Always`].
    pub mounts_loop: bool,
    /// Do not enter directories on another file system (device number) than that of their operand.
    pub one_file_system: bool,
    /// The order of directories and requests.
    pub order: Order,
    /// With [`Order::Inode`], the most directories that wait in that order; further ones are walked depth first.
    pub frontier: usize,
    /// The number of workers, each with one request in flight: a limit for both. `None` chooses by the latency of the
    /// first answers, the cores and the file system ([`dents_engine::limit::choose::workers`]); a small tree then
    /// starts no thread.
    pub workers: Option<usize>,
    /// The policy of the file system, if the number of workers is not set. `None` looks it up ([`Policy::of`]): one
    /// `fstatfs`, except for a small tree.
    pub policy: Option<&'static Policy>,
    /// The most descriptors that all workers may have open; `None` for half of the process's limit (`RLIMIT_NOFILE`),
    /// at most 1,024. With fewer than four for each worker, there are fewer workers.
    pub descriptors: Option<usize>,
    /// Requests per second of all workers, of any kind ([`Tally::requests`]), to spare a metadata server. Further
    /// requests about one entry (the target of a link, the attributes) and the steps of a path beyond `PATH_MAX` follow
    /// the first at once, and are paid for before the worker's next request.
    pub rate: Option<NonZeroU32>,
    /// When to stop, on the clock of [`dents_sys::clock::monotonic_ns`]. A request in flight is not interrupted.
    pub deadline_ns: Option<u64>,
    /// Stops the walk when set. A request in flight is not interrupted.
    pub cancel: Option<Flag<'a>>,
    /// Where to count requests.
    pub counter: Option<&'a RequestCounter>,
    /// Where workers show the path that they wait for; the first worker has seat 1.
    pub watch: Option<&'static Watch>,
    /// Whether metadata of whole file systems is read in bulk ([`crate::bulk`]); never by default. Not with a rate, nor where links
    /// are followed.
    pub bulk: When,
    /// Whether nothing but the [`Usage`] of all files is wanted. If a pass in bulk returns it, the walk ends, and visitors may have got
    /// some entries or none ([`Outcome::usage`]). Not if entries are filtered out, or if `max_depth` is set.
    pub usage_suffices: bool,
    /// Passes over all entries but these and the directories above them: they are no part of any batch, and their metadata is not
    /// requested. An inode number counts on any file system.
    pub only: Option<&'a Changed>,
    /// Treats all types of `readdir` as unknown, as on a file system without `d_type`.
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
            mounts_loop: false,
            one_file_system: false,
            order: Order::Any,
            frontier: 1 << 16,
            workers: None,
            policy: None,
            descriptors: None,
            rate: None,
            deadline_ns: None,
            cancel: None,
            counter: None,
            watch: None,
            bulk: When::Never,
            usage_suffices: false,
            only: None,
            distrust_d_type: false,
        }
    }
}

/// A flag that another thread sets.
#[derive(Clone, Debug)]
pub enum Flag<'a> {
    /// For a walk that ends before the flag does.
    Borrowed(&'a AtomicBool),
    /// For a walk that ends at any time.
    Shared(Arc<AtomicBool>),
}

impl Flag<'_> {
    fn is_set(&self) -> bool {
        match self {
            Flag::Borrowed(flag) => flag.load(Relaxed),
            Flag::Shared(flag) => flag.load(Relaxed),
        }
    }
}

/// Which symbolic links to directories are entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// None.
    #[default]
    Never,
    /// Operands.
    Operands,
    /// All. One `statx` of each directory finds loops: a directory inside itself is a [`Failure`] and not entered.
    Always,
}

/// The order of opening directories and of requests for entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The cheapest: depth first in reading order; exactly so if the number of workers is set to one. If it is not set, and the first
    /// directories take as long as on a rotating disk, and the disk is one, the walk continues by inode number with one worker.
    #[default]
    Any,
    /// In the order of the disk, over all waiting directories: fewer seeks on a rotating disk without cached data. Inodes are read by
    /// number, directories by their first block. Costs `openat` and an `ioctl` for each directory beside those of reading it.
    Inode,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The whole tree was walked.
    Complete,
    /// A visitor returned [`Step::Stop`].
    Stopped,
    /// [`Options::cancel`] was set.
    Cancelled,
    /// [`Options::deadline_ns`] passed.
    Deadline,
}

/// Counts of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Directories opened.
    pub directories: u64,
    /// Entries passed to visitors, operands among them.
    pub entries: u64,
    /// Calls of `getdents64`.
    pub reads: u64,
    /// Requests: `openat` and `openat2`, `getdents64`, `statx`, `fstatfs`, `readlinkat`, `listxattrat`, `getxattrat`.
    /// Not `close`.
    pub requests: u64,
    /// `statx` of entries.
    pub stats: u64,
    /// Entries whose needs `readdir` answered.
    pub avoided: u64,
    /// Entries whose metadata was read in bulk.
    pub joined: u64,
    /// Entries with a failed request, and directories that could not be opened or read.
    pub faults: u64,
    /// Groups of subdirectories that a worker took from another.
    pub stolen: u64,
    /// Parts of huge directories that were published for any worker.
    pub dealt: u64,
    /// Number of workers.
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
        self.joined += other.joined;
        self.faults += other.faults;
        self.stolen += other.stolen;
        self.dealt += other.dealt;
        self.workers += other.workers;
    }
}

/// The result of a walk.
pub struct Outcome<V> {
    /// The visitors; that of the calling thread is the first.
    pub visitors: Vec<V>,
    /// Why it ended.
    pub end: End,
    /// The counts.
    pub tally: Tally,
    /// The order in which the walk ended. On a rotating disk [`Order::Any`] becomes [`Order::Inode`].
    pub order: Order,
    /// Whether metadata was read in bulk, or why not.
    pub bulk: bulk::Outcome,
    /// The sums of all files of the file system, if they [suffice](Options::usage_suffices) and were read.
    pub usage: Option<Usage>,
}

/// Walks the operands and everything below them. `make` makes the visitor of each worker, on its thread.
///
/// The first directories are read on the calling thread, to measure the latency; `workers` are started only if there
/// are more directories. A walk never fails as a whole: an operand that does not exist is an entry with a fault.
pub fn walk<V, F>(operands: &[&CStr], options: &Options<'_>, workers: &dyn Workers, make: F) -> Outcome<V>
where
    V: Visitor + Send,
    F: Fn(usize) -> V + Sync,
{
    walk_on(operands, &[], options, workers, make)
}

/// Like [`walk`], and continues at directories of an interrupted walk. [`Options::max_depth`],
/// [`Options::one_file_system`] and the search for loops apply as in that walk; the parents of these directories have
/// number 0.
///
/// Without operands there is no batch of operands.
pub fn walk_on<V, F>(
    operands: &[&CStr],
    start_points: &[StartPoint],
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
    worker.push_start_points(start_points, &shared);
    let mut bulk = BulkPass::new(operands, !start_points.is_empty(), &mut shared);
    if !operands.is_empty() {
        worker.push_operands(operands, &shared);
    }
    bulk.see(worker.batch(), &mut shared);
    bulk.always(&mut shared, workers);
    let mut visitor = make(0);
    let count = match options.workers {
        _ if bulk.usage.is_some() => None,
        Some(count) => Some(count),
        None => match probe::workers(&mut worker, &mut shared, &mut visitor) {
            Probed::Workers(count) => Some(count),
            Probed::Paused | Probed::Ended => None,
        },
    };
    shared.probing = false;
    bulk.auto(&mut shared, workers, count);
    if bulk.usage.is_some() {
        let (visitors, tally, end) = (alloc::vec![visitor], worker.tally, shared.bounds.end());
        return Outcome { visitors, end, tally, order: Order::Any, bulk: bulk.outcome, usage: bulk.usage };
    }
    let count = shared.set_workers(count.unwrap_or(1));
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
    let order = if shared.by_inode { Order::Inode } else { Order::Any };
    Outcome { visitors, end: shared.bounds.end(), tally, order, bulk: bulk.outcome, usage: None }
}

/// A time this many nanoseconds from now, for [`Options::deadline_ns`].
#[must_use]
pub fn deadline_in(nanoseconds: u64) -> u64 {
    clock::monotonic_ns().saturating_add(nanoseconds)
}

/// Largest batch in entries, before metadata is requested: enough that threads pay off, and few enough to bound memory
/// in a directory of a million.
const PIECE: usize = 4096;
