//! Several small directories at once, for a listing that shows one after the other.
//!
//! Each small directory on its own is too little work to share, but `-R` has thousands of them: so the next few that are
//! known to follow are read, and their entries asked about, by all threads, and kept until it is their turn. Only
//! small ones: a large one is better shared by all when it comes, and would fill memory until then.

use crate::batch::Batch;
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::read::{Filter, Reader};
use crate::sort::Order;
use crate::stat::auto::is_round_trip;
use crate::stat::{self, Asking, Means, Mode, Report, Threads};
use crate::team::Team;
use crate::watch::Watch;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use dents_sys::stat::Mask;
use dents_sys::{CWD, Errno, Result, clock};

/// Entries of a directory that is small: 50 KiB with all that is known of them.
pub const SMALL: usize = 512;

/// Directories to read ahead at once: some milliseconds of work, against 30 µs to start a thread.
pub const MOST: usize = 128;

/// With fewer than these it is not worth a thread.
pub const WORTH: usize = 16;

/// Threads where each answer is a round trip.
const FAR: usize = 32;

/// A directory that was to be read ahead.
pub enum Ahead {
    /// It cannot be opened.
    Closed(Errno),
    /// It was read.
    Small(Box<Small>),
    /// It is large, or there was no descriptor left to open it: to be read when it is needed.
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
    /// Its entries in their order, if that was asked for.
    pub order: Option<Vec<u32>>,
}

/// What is wanted of each directory.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Which entries.
    pub filter: &'a Filter,
    /// What must be known of them.
    pub asking: &'a Asking<'a>,
    /// In which order, if names are compared by bytes.
    pub order: Option<&'a Order>,
}

/// Whether directories can be read ahead: by threads, with nothing to note about each call.
#[must_use]
pub fn pays(means: &Means<'_>, directories: usize) -> bool {
    let threaded = matches!(means.mode, Mode::Auto | Mode::Par);
    threaded && directories >= WORTH && means.ledger.is_none() && threads(means, directories) > 1
}

fn threads(means: &Means<'_>, directories: usize) -> usize {
    // A directory is some 30 µs of work, an entry 2 µs.
    means.threads.count_for(directories * 16)
}

/// Reads directories ahead; `far` says whether each answer is a round trip, as far as known, and is told what was seen.
///
/// Costs for each what it costs anyhow: `openat`, `statx`, `getdents64` twice, `close`, and the questions of its entries.
pub fn read(paths: &[&CStr], wanted: &Wanted<'_>, far: &mut bool) -> Vec<Ahead> {
    let Wanted { filter, asking: Asking { needs, follow, means }, order } = *wanted;
    let (lazy, workers, watch) = (means.lazy, means.workers, means.threads.watching());
    let cores = threads(means, paths.len());
    let (next, waited_ns, answers) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let found = Mutex::new(Vec::with_capacity(paths.len()));
    let count = if *far { FAR.min(paths.len()).max(cores) } else { cores };
    workers.run(count, &|worker| {
        let (threads, mounts, mut buffer) = (Threads::new(Some(1)), Mounts::default(), Vec::new());
        let mode = Mode::Auto;
        let means = Means {
            mode,
            threads: &threads,
            workers,
            mounts: Some(&mounts),
            rings: None,
            lazy,
            ledger: None,
        };
        let asking = Asking { needs, follow: *follow, means: &means };
        let wanted = Wanted { filter, asking: &asking, order };
        let mut mine = Vec::new();
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(nth) else { break };
            let seat = watch.map(|watch| Seat::take(watch, 1 + worker, path));
            let began = clock::monotonic_ns();
            let ahead = one(path, &mut buffer, &wanted);
            let asked = if let Ahead::Small(small) = &ahead { small.report.tally.stats } else { 0 };
            waited_ns.fetch_add(clock::monotonic_ns() - began, Ordering::Relaxed);
            answers.fetch_add(5 + asked, Ordering::Relaxed);
            if let Some(seat) = seat {
                seat.leave(&ahead);
            }
            mine.push((nth, ahead));
        }
        found.lock().append(&mut mine);
    });
    *far = is_round_trip(waited_ns.into_inner() / answers.into_inner().max(1));
    let mut found = found.into_inner();
    found.sort_unstable_by_key(|(nth, _)| *nth);
    found.into_iter().map(|(_, ahead)| ahead).collect()
}

/// Where somebody who looks on sees what is being read.
struct Seat(&'static Watch, usize);

impl Seat {
    fn take(watch: &'static Watch, desk: usize, path: &CStr) -> Seat {
        watch.begin(desk, path.to_bytes());
        Seat(watch, desk)
    }

    fn leave(self, ahead: &Ahead) {
        let entries = if let Ahead::Small(small) = ahead { small.batch.len() } else { 0 };
        self.0.add_read(entries);
        self.0.end(self.1, entries as u64);
    }
}

fn one(path: &CStr, buffer: &mut Vec<u8>, wanted: &Wanted<'_>) -> Ahead {
    let reader = match Reader::open(CWD, path, true) {
        Ok(reader) => reader,
        Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Ahead::Later,
        Err(errno) => return Ahead::Closed(errno),
    };
    let mut reader = reader.with_buffer(core::mem::take(buffer));
    let ahead = all_of(&mut reader, wanted);
    *buffer = reader.into_parts().1;
    ahead
}

fn all_of(reader: &mut Reader, wanted: &Wanted<'_>) -> Ahead {
    let Wanted { filter, asking, order } = *wanted;
    let identity = dents_sys::stat::fstat(reader.dir(), Mask::INO).map(|statx| (statx.dev(), statx.ino()));
    let mut batch = Batch::new(*asking.needs);
    let ended = loop {
        match reader.read(filter, &mut batch) {
            Ok(true) if batch.len() > SMALL => return Ahead::Later,
            Ok(true) => {}
            ended => break ended.map(drop),
        }
    };
    let report = stat::fill(&mut batch, reader.dir(), asking);
    let order = order.map(|order| order.sort(&batch, None, &Team::ALONE));
    Ahead::Small(Box::new(Small { identity, batch, report, ended, order }))
}
