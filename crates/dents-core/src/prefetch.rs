//! Prefetches small directories, for a listing that shows one after the other.
//!
//! A single small directory has too little work to share, but `-R` has thousands. So workers read the next known ones, request
//! their metadata, sort them, and continue with their subdirectories. The results are kept until they are shown
//! ([`dents_engine::order::turns`]). Large directories are not kept, because they would fill memory: all workers share one in its
//! turn.

use crate::batch::{Batch, Entry};
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::path::below;
use crate::read::{Filter, Reader};
use crate::sort::{Collate, Order};
use crate::stat::policy::{Lists, Policy};
use crate::stat::{self, Asking, Mode, Report, Resources, Threads, Workers};
use crate::team::Team;
use crate::watchdog::Watch;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use core::ops::Range;
pub use dents_engine::order::turns::{Item, Turn, Turns};
use dents_sys::stat::Mask;
use dents_sys::{AsFd, CWD, Errno, Result, dir, statfs};

/// Most entries of a small directory: 50 KiB with their metadata.
const SMALL: usize = 512;

/// The same where each answer is a round trip: the entries of a larger directory are better requested many at once.
const SMALL_AND_FAR: usize = 32;

/// Threads where each answer is a round trip.
const FAR: usize = 32;

/// Directories that make it worth starting a thread: 30 µs, against some 10 to 30 µs for each directory.
pub const WORTH: usize = 16;

/// The same in entries: a directory takes 10 to 30 µs, an entry 2 µs.
const FEW: usize = WORTH * 16;

/// Known directories that make it worth using all cores; with fewer, two threads suffice.
const MANY: usize = 64;

/// Most results that are kept: some milliseconds of work, some megabytes.
const KEPT: usize = 512;

/// A directory to list, by its path.
pub type Directory = Item<CString, Ahead>;

/// The result of prefetching a directory.
pub enum Ahead {
    /// It could not be opened.
    Closed(Errno),
    /// It was read.
    Small(Box<Small>),
    /// It is large, or no descriptor was left: it is read in its turn.
    Later,
}

/// A small directory, completely read.
pub struct Small {
    /// Its device and inode, if they were [wanted](Wanted::identity).
    pub identity: Result<Option<((u32, u32), u64)>>,
    /// Its entries, filled.
    pub batch: Batch,
    /// The report of filling them.
    pub report: Report,
    /// The error that ended the reading.
    pub ended: Result<()>,
    /// The order of its entries; `None` if the caller sorts.
    pub order: Option<Vec<u32>>,
    /// The directories to list after it, in order; `None` if the caller finds them.
    pub below: Option<Vec<Arc<Directory>>>,
}

impl Ahead {
    fn below(&self) -> &[Arc<Directory>] {
        if let Ahead::Small(small) = self { small.below.as_deref().unwrap_or_default() } else { &[] }
    }
}

/// The subdirectories of a directory, in the order of its entries.
#[must_use]
pub fn all_below(path: &CStr, batch: &Batch, order: &[u32]) -> Vec<Arc<Directory>> {
    let entries = order.iter().map(|index| batch.entry(*index as usize));
    let below = |entry: Entry<'_>| CString::new(below(path.to_bytes(), entry.name())).ok();
    let is_below = |entry: &Entry<'_>| entry.kind() == Kind::Dir && !matches!(entry.name(), b"." | b"..");
    entries.filter(is_below).filter_map(below).map(Directory::new).collect()
}

/// What to read of each directory.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Which entries.
    pub filter: &'a Filter,
    /// What must be known of them.
    pub needs: &'a NeedsByKind,
    /// Whether links are followed.
    pub follow: bool,
    /// The order, unless the caller sorts.
    pub order: Option<&'a Order>,
    /// Whether subdirectories are listed. Only with an order.
    pub recursive: bool,
    /// Whether the device and inode of each directory are requested: one `statx`.
    pub identity: bool,
}

/// The workers started so far, beside the lister.
#[derive(Debug, Default)]
pub struct Started {
    workers: usize,
    policy: Option<&'static Policy>,
    complete: bool,
}

impl Started {
    /// Whether each answer is a round trip, if known.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.policy.is_some_and(Policy::is_far)
    }

    /// Whether directories on the file system of the first one form a tree, if it is known: see [`Policy::is_a_tree`].
    #[must_use]
    pub fn is_on_a_tree(&self) -> bool {
        self.policy.is_some_and(|policy| policy.is_a_tree)
    }

    /// The workers to start now, if there is enough work: two threads at first, later one for each core, or as many as suit the
    /// file system. The lister counts as one of them if it `reads_ahead`, or if the number of requests in flight decides. Costs
    /// four system calls once, and counting the cores.
    #[must_use]
    pub fn more(
        &mut self,
        prefetch: &Prefetch,
        resources: &Resources<'_>,
        reads_ahead: impl FnOnce() -> bool,
    ) -> Option<Start> {
        if self.complete {
            return None;
        }
        let (unread, next) = prefetch.turns.next_unread();
        let (is_first, threads) = (self.workers == 0, resources.threads);
        if unread < if is_first { WORTH } else { MANY } {
            return None;
        }
        let policy = next.filter(|_| is_first).map(|next| policy_of_parent(next.payload()));
        self.policy = self.policy.or(policy);
        let far = self.is_far();
        let count = match (threads.asked(), policy) {
            (None, Some(policy)) if far => FAR.min(policy.most).min(threads.most_in_flight()),
            (None, Some(policy)) => policy.cores(threads.count_for(FEW)),
            _ => threads.count(),
        };
        self.complete = !is_first || far || threads.asked().is_some() || count < 2;
        if count < 2 {
            return None;
        }
        let workers = count - usize::from(far || reads_ahead());
        let started = mem::replace(&mut self.workers, workers);
        (started < workers).then_some(Start {
            numbers: started + 1..workers + 1,
            far,
            lists: self.policy.map(|policy| policy.lists).unwrap_or_default(),
        })
    }
}

/// Workers to be started.
#[derive(Debug)]
pub struct Start {
    numbers: Range<usize>,
    far: bool,
    /// [`Policy::lists`].
    lists: Lists,
}

/// The directories that are known to follow.
pub struct Prefetch {
    turns: Turns<CString, Ahead>,
    /// Directories that were shown, for reuse: threads that allocate compete for the allocator's lock.
    #[expect(clippy::vec_box, reason = "a box is handed on as it is")]
    shown: Mutex<Vec<Box<Small>>>,
}

impl Default for Prefetch {
    fn default() -> Prefetch {
        Prefetch { turns: Turns::new(KEPT), shown: Mutex::default() }
    }
}

impl Prefetch {
    /// Whether prefetching is possible: with threads, and without counting each call.
    #[must_use]
    pub fn suits(resources: &Resources<'_>) -> bool {
        matches!(resources.mode, Mode::Auto | Mode::Par) && resources.counter.is_none()
    }

    /// Adds directories that are listed before those added earlier, in this order.
    pub fn offer(&self, directories: &[Arc<Directory>]) {
        self.turns.offer(directories.iter());
    }

    /// While a worker reads `directory`, `reader` reads the next one, if it is below `root` and needs no worker. See
    /// [`Turns::read_ahead`].
    pub fn read_ahead(&self, directory: &Directory, reader: &mut Worker<'_>, root: &[u8]) -> bool {
        let may = |path: &CString| path.to_bytes().starts_with(root);
        let spare = || self.shown.lock().pop();
        self.turns.read_ahead(directory, may, |path| reader.read(path, spare()), Ahead::below)
    }

    /// See [`Turns::take`].
    pub fn take(&self, directory: &Directory, patience_ns: Option<u64>) -> Turn<Ahead> {
        self.turns.take(directory, patience_ns)
    }

    /// Returns a directory that was shown, for reuse.
    pub fn reuse(&self, small: Box<Small>) {
        self.shown.lock().push(small);
    }

    /// Runs `own`, which takes all turns and may prefetch itself, beside these workers. `collate` if names are not compared
    /// bytewise.
    pub fn run(
        &self,
        Start { numbers, far, lists }: Start,
        wanted: Wanted<'_>,
        resources: &Resources<'_>,
        collate: Option<&dyn Collate>,
        own: &mut dyn FnMut(&mut Worker<'_>),
    ) {
        let (watch, lazy) = (resources.threads.watching(), resources.lazy);
        let most = if far && wanted.needs.asks_any() { SMALL_AND_FAR } else { SMALL };
        let fork = |_| Mutex::new(collate.map(|collate| collate.fork()));
        let collates: Vec<_> = (numbers.start - 1..numbers.end).map(fork).collect();
        let worker = |thread: usize| {
            let collate = collates.get(thread).and_then(|collate| collate.lock().take());
            let (alone, mounts, buffer) = (Threads::new(Some(1)), Mounts::default(), Vec::new());
            // The first seat is the lister's.
            let seat = if thread == 0 { 0 } else { numbers.start + thread - 1 };
            let watch = watch.map(|watch| (watch, seat));
            Worker { wanted, most, lists, lazy, watch, collate, alone, mounts, buffer }
        };
        let work = |thread: usize| {
            if thread == 0 {
                return;
            }
            let mut worker = worker(thread);
            let spare = || self.shown.lock().pop();
            let read = |path: &CString| {
                let spare = spare();
                worker.read(path, spare)
            };
            self.turns.work(read, Ahead::below);
        };
        resources.workers.run_beside(numbers.len() + 1, &work, &mut || {
            own(&mut worker(0));
            self.turns.end();
        });
    }
}

/// No threads: a worker makes its requests alone. It must not be replaced, because a replacement would look up its
/// directory by a descriptor number that only this worker has.
struct Alone;

impl Workers for Alone {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}

/// A thread that prefetches, and its resources.
pub struct Worker<'r> {
    wanted: Wanted<'r>,
    /// Most entries of a small directory.
    most: usize,
    /// Where lists are round trips, it is worthwhile to look up the file system of each directory whose entries need marks.
    lists: Lists,
    lazy: bool,
    /// The watch and the worker's seat.
    watch: Option<(&'static Watch, usize)>,
    collate: Option<Box<dyn Collate + 'r>>,
    alone: Threads,
    mounts: Mounts,
    buffer: Vec<u8>,
}

impl Worker<'_> {
    /// Reads a directory into the memory of one that was shown.
    ///
    /// Costs the same as in its turn: `openat`, `statx` if its identity is wanted, `getdents64` twice, `close`, and the requests
    /// for its entries.
    fn read(&mut self, path: &CStr, spare: Option<Box<Small>>) -> Ahead {
        let Some((watch, seat)) = self.watch else { return self.open_and_read(path, spare) };
        watch.begin(seat, path.to_bytes());
        let ahead = self.open_and_read(path, spare);
        let entries = if let Ahead::Small(small) = &ahead { small.batch.len() } else { 0 };
        watch.add_read(entries);
        watch.end(seat, entries as u64);
        ahead
    }

    fn open_and_read(&mut self, path: &CStr, spare: Option<Box<Small>>) -> Ahead {
        let reader = match Reader::open(CWD, path, true) {
            Ok(reader) => reader,
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Ahead::Later,
            Err(errno) => return Ahead::Closed(errno),
        };
        let mut reader = reader.with_buffer(mem::take(&mut self.buffer));
        let small = spare.unwrap_or_else(|| {
            let batch = Batch::new(*self.wanted.needs);
            let (identity, report, ended) = (Ok(None), Report::default(), Ok(()));
            Box::new(Small { identity, batch, report, ended, order: None, below: None })
        });
        let small = self.read_all(&mut reader, path, small);
        self.buffer = reader.into_parts().1;
        small.map_or(Ahead::Later, Ahead::Small)
    }

    /// Reads all of it, if it is small.
    fn read_all(&mut self, reader: &mut Reader, path: &CStr, mut small: Box<Small>) -> Option<Box<Small>> {
        let Small { identity, batch, report, ended, order, below } = &mut *small;
        let identify = || dents_sys::stat::fstat(reader.dir(), Mask::INO);
        *identity = match self.wanted.identity {
            true => identify().map(|statx| Some((statx.dev(), statx.ino()))),
            false => Ok(None),
        };
        batch.clear();
        *ended = loop {
            match reader.read(self.wanted.filter, batch) {
                Ok(true) if batch.len() > self.most => return None,
                Ok(true) => {}
                ended => break ended.map(drop),
            }
        };
        *report = self.fill(batch, reader);
        let mut places = order.take().unwrap_or_default();
        *order = self.wanted.order.map(|order| {
            let collate = self.collate.as_mut().map(|collate| &mut **collate as &mut dyn Collate);
            order.sort_into(&mut places, batch, collate, &Team::ALONE);
            places
        });
        let order = order.as_ref().filter(|_| self.wanted.recursive);
        *below = order.map(|order| all_below(path, batch, order));
        Some(small)
    }

    fn fill(&self, batch: &mut Batch, reader: &Reader) -> Report {
        let Wanted { needs, follow, .. } = self.wanted;
        let (mode, threads, mounts, lazy) = (Mode::Auto, &self.alone, Some(&self.mounts), self.lazy);
        let resources =
            Resources { mode, threads, workers: &Alone, mounts, rings: None, lazy, counter: None };
        // A mount below may be of another file system, so it is looked up for each directory.
        let fs =
            (self.lists != Lists::WithMetadata && needs.any().intersects(Needs::MARK)).then(|| reader.fs());
        stat::fill_on(batch, reader.dir(), fs, &Asking { needs, follow, resources: &resources })
    }
}

/// The policy of the file system of a directory's parent: four system calls.
fn policy_of_parent(path: &CStr) -> &'static Policy {
    let mut parent = path.to_bytes().to_vec();
    parent.truncate(memchr::memrchr(b'/', &parent).map_or(0, |slash| slash + 1));
    if parent.is_empty() {
        parent.push(b'.');
    }
    let parent = CString::new(parent).map_err(|_| Errno::INVAL).and_then(|parent| dir::hold(CWD, &parent));
    Policy::of(parent.and_then(|parent| statfs::of_mount(parent.as_fd())).ok())
}

#[cfg(test)]
mod tests;
