//! Small directories read ahead of their turn, for a listing that shows one after the other.
//!
//! Each small directory on its own is too little work to share, but `-R` has thousands of them. So workers read the next
//! ones that are known to follow, ask about their entries, sort them, and go on with what these lead to; all that is kept
//! until it is shown ([`dents_engine::order::turns`]). Large directories are not kept: all workers share such a one when its
//! turn comes, and it would fill memory until then.

use crate::batch::{Batch, Entry};
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::needs::{Kind, NeedsByKind};
use crate::path::below;
use crate::read::{Filter, Reader};
use crate::sort::{Collate, Order};
use crate::stat::policy::Policy;
use crate::stat::{self, Asking, Means, Mode, Report, Threads, Workers};
use crate::team::Team;
use crate::watchdog::Watch;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use core::ops::Range;
pub use dents_engine::order::turns::Turn;
use dents_engine::order::turns::{Item, Turns};
use dents_sys::stat::Mask;
use dents_sys::{AsFd, CWD, Errno, Result, dir, statfs};

/// Entries of a directory that is small: 50 KiB with all that is known of them.
const SMALL: usize = 512;

/// The same where each answer is a round trip: of the entries of a larger one many are better asked about at once.
const SMALL_AND_FAR: usize = 32;

/// Threads where each answer is a round trip.
const FAR: usize = 32;

/// With fewer than these it is not worth a thread: 30 µs to start, against some 10 to 30 µs for each directory.
pub const WORTH: usize = 16;

/// What that is in entries: a directory is 10 to 30 µs of work, an entry 2 µs.
const FEW: usize = WORTH * 16;

/// With so many known, all cores are worth their threads; with fewer, two do.
const MANY: usize = 64;

/// As many are kept until it is their turn: some milliseconds of work, some megabytes at most.
const KEPT: usize = 512;

/// A directory that is to be listed, now or later, by its path.
pub type Directory = Item<CString, Ahead>;

/// What became of a directory that was read ahead.
pub enum Ahead {
    /// It cannot be opened.
    Closed(Errno),
    /// It was read.
    Small(Box<Small>),
    /// It is large, or there was no descriptor left to open it: to be read in its turn.
    Later,
}

/// All of a small directory.
pub struct Small {
    /// Its device and inode.
    pub identity: Result<((u32, u32), u64)>,
    /// Its entries, filled.
    pub batch: Batch,
    /// What filling them took.
    pub report: Report,
    /// What ended the reading, if not the end of the directory.
    pub ended: Result<()>,
    /// Its entries in their order; `None` if that is found out elsewhere.
    pub order: Option<Vec<u32>>,
    /// What is to be listed after it, in this order; `None` if that is found out elsewhere.
    pub below: Option<Vec<Arc<Directory>>>,
}

impl Ahead {
    fn below(&self) -> &[Arc<Directory>] {
        if let Ahead::Small(small) = self { small.below.as_deref().unwrap_or_default() } else { &[] }
    }
}

/// The subdirectories of a directory, among its entries in this order.
#[must_use]
pub fn all_below(path: &CStr, batch: &Batch, order: &[u32]) -> Vec<Arc<Directory>> {
    let entries = order.iter().map(|index| batch.entry(*index as usize));
    let below = |entry: Entry<'_>| CString::new(below(path.to_bytes(), entry.name())).ok();
    let is_below = |entry: &Entry<'_>| entry.kind() == Kind::Dir && !matches!(entry.name(), b"." | b"..");
    entries.filter(is_below).filter_map(below).map(Directory::new).collect()
}

/// What is wanted of each directory.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Which entries.
    pub filter: &'a Filter,
    /// What must be known of them.
    pub needs: &'a NeedsByKind,
    /// Whether links are followed.
    pub follow: bool,
    /// In which order, unless that is found out elsewhere.
    pub order: Option<&'a Order>,
    /// Whether what is below them will be listed. Only with an order.
    pub recursive: bool,
}

/// The workers that were started so far, beside the thread that lists.
#[derive(Debug, Default)]
pub struct Started {
    workers: usize,
    far: bool,
    complete: bool,
}

impl Started {
    /// Whether each answer is a round trip, as far as that is known.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.far
    }

    /// Those to start now, if there is enough to do: two threads at first, later one for each core, or as many as suit the file
    /// system. The thread that lists is one of them where it `reads_ahead`, and where the number of questions in flight is what
    /// matters. Costs four system calls once, and what it takes to count the cores.
    #[must_use]
    pub fn more(
        &mut self,
        prefetch: &Prefetch,
        means: &Means<'_>,
        reads_ahead: impl FnOnce() -> bool,
    ) -> Option<Start> {
        if self.complete {
            return None;
        }
        let (unread, next) = prefetch.turns.next_unread();
        let (is_first, threads) = (self.workers == 0, means.threads);
        if unread < if is_first { WORTH } else { MANY } {
            return None;
        }
        let policy = next.filter(|_| is_first).map(|next| policy_of_parent(next.payload()));
        self.far |= policy.is_some_and(Policy::is_far);
        let count = match (threads.asked(), policy) {
            (None, Some(policy)) if self.far => FAR.min(policy.most).min(threads.most_in_flight()),
            (None, Some(policy)) => policy.cores(threads.count_for(FEW)),
            _ => threads.count(),
        };
        self.complete = !is_first || self.far || threads.asked().is_some() || count < 2;
        if count < 2 {
            return None;
        }
        let workers = count - usize::from(self.far || reads_ahead());
        let started = mem::replace(&mut self.workers, workers);
        (started < workers).then_some(Start { numbers: started + 1..workers + 1, far: self.far })
    }
}

/// Workers to be started.
#[derive(Debug)]
pub struct Start {
    numbers: Range<usize>,
    far: bool,
}

/// The directories that are known to follow.
pub struct Prefetch {
    turns: Turns<CString, Ahead>,
    /// What has been shown, to be used again: several threads that allocate get in each other's way.
    #[expect(clippy::vec_box, reason = "a box is handed on as it is")]
    shown: Mutex<Vec<Box<Small>>>,
}

impl Default for Prefetch {
    fn default() -> Prefetch {
        Prefetch { turns: Turns::new(KEPT), shown: Mutex::default() }
    }
}

impl Prefetch {
    /// Whether directories may be read ahead at all: by threads, and with nothing to note about each call.
    #[must_use]
    pub fn suits(means: &Means<'_>) -> bool {
        matches!(means.mode, Mode::Auto | Mode::Par) && means.ledger.is_none()
    }

    /// Directories that will be listed before those that were offered already, in this order.
    pub fn offer(&self, directories: &[Arc<Directory>]) {
        self.turns.offer(directories.iter());
    }

    /// While a worker is at a directory, `reader` reads the next one, if it lies below `root` and needs no worker. See
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

    /// What was shown, and is used again.
    pub fn reuse(&self, small: Box<Small>) {
        self.shown.lock().push(small);
    }

    /// Runs `own`, which takes all turns and may read ahead itself, with these workers beside it. `collate` where names are not
    /// compared by bytes.
    pub fn run(
        &self,
        Start { numbers, far }: Start,
        wanted: Wanted<'_>,
        means: &Means<'_>,
        collate: Option<&dyn Collate>,
        own: &mut dyn FnMut(&mut Worker<'_>),
    ) {
        let (watch, lazy) = (means.threads.watching(), means.lazy);
        let most = if far && wanted.needs.asks_any() { SMALL_AND_FAR } else { SMALL };
        let fork = |_| Mutex::new(collate.map(|collate| collate.fork()));
        let collates: Vec<_> = (numbers.start - 1..numbers.end).map(fork).collect();
        let worker = |thread: usize| {
            let collate = collates.get(thread).and_then(|collate| collate.lock().take());
            let (alone, mounts, buffer) = (Threads::new(Some(1)), Mounts::default(), Vec::new());
            // The first seat is the lister's.
            let seat = if thread == 0 { 0 } else { numbers.start + thread - 1 };
            let watch = watch.map(|watch| (watch, seat));
            Worker { wanted, most, lazy, watch, collate, alone, mounts, buffer }
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
        means.workers.run_beside(numbers.len() + 1, &work, &mut || {
            own(&mut worker(0));
            self.turns.end();
        });
    }
}

/// No threads: a worker asks alone. Nor may it be replaced: replacements look for its directory by the number of a descriptor
/// that is its own.
struct Alone;

impl Workers for Alone {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}

/// A thread that reads ahead, and what it needs for that.
pub struct Worker<'r> {
    wanted: Wanted<'r>,
    /// Entries of a directory that is small.
    most: usize,
    lazy: bool,
    /// Where the watchdog and the line of progress see what is read, and which seat that is.
    watch: Option<(&'static Watch, usize)>,
    collate: Option<Box<dyn Collate + 'r>>,
    alone: Threads,
    mounts: Mounts,
    buffer: Vec<u8>,
}

impl Worker<'_> {
    /// Reads a directory, with the memory of one that has been shown.
    ///
    /// Costs what it costs anyhow: `openat`, `statx`, `getdents64` twice, `close`, and the questions of its entries.
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
            let (identity, report, ended) = (Err(Errno::NOENT), Report::default(), Ok(()));
            Box::new(Small { identity, batch, report, ended, order: None, below: None })
        });
        let small = self.read_all(&mut reader, path, small);
        self.buffer = reader.into_parts().1;
        small.map_or(Ahead::Later, Ahead::Small)
    }

    /// All of it, if it is small.
    fn read_all(&mut self, reader: &mut Reader, path: &CStr, mut small: Box<Small>) -> Option<Box<Small>> {
        let Small { identity, batch, report, ended, order, below } = &mut *small;
        *identity = dents_sys::stat::fstat(reader.dir(), Mask::INO).map(|statx| (statx.dev(), statx.ino()));
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
        let means = Means { mode, threads, workers: &Alone, mounts, rings: None, lazy, ledger: None };
        stat::fill(batch, reader.dir(), &Asking { needs, follow, means: &means })
    }
}

/// What is done on the file system of what contains a directory: four system calls.
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
