//! Several small directories at once, for a listing that shows one after the other.
//!
//! Each small directory on its own is too little work to share, but `-R` has thousands of them: so the next few that are
//! known to follow are read, and their entries asked about, by all threads, and kept until it is their turn. Only
//! small ones: a large one is better shared by all when it comes, and would fill memory until then. And only where answers
//! come from this machine: a server that hangs over one directory must not hold up those that are shown before it.

use crate::batch::Batch;
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::read::{Filter, Reader};
use crate::sort::Order;
use crate::stat::policy::Policy;
use crate::stat::{self, Asking, Means, Mode, Report, Threads};
use crate::team::Team;
use crate::watch::Watch;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};
use dents_sys::stat::Mask;
use dents_sys::{AsFd, CWD, Errno, Result, dir, statfs};

/// Entries of a directory that is small: 50 KiB with all that is known of them.
pub const SMALL: usize = 512;

/// Directories to read ahead at once: some milliseconds of work, against 30 µs to start a thread.
pub const MOST: usize = 128;

/// With fewer than these it is not worth a thread.
pub const WORTH: usize = 16;

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

/// Whether so many directories, of which this is the first, can be read ahead: by threads, on this machine, with nothing
/// to note about each call. Four system calls, if there are enough.
#[must_use]
pub fn pays(means: &Means<'_>, path: &CStr, directories: usize) -> bool {
    let threaded = matches!(means.mode, Mode::Auto | Mode::Par);
    let worth = threaded && directories >= WORTH && means.ledger.is_none() && threads(means, directories) > 1;
    worth && is_near(path)
}

/// Whether what contains a directory is on a file system of this machine.
fn is_near(path: &CStr) -> bool {
    let mut parent = path.to_bytes().to_vec();
    parent.truncate(memchr::memrchr(b'/', &parent).map_or(0, |slash| slash + 1));
    if parent.is_empty() {
        parent.push(b'.');
    }
    let Ok(parent) = CString::new(parent) else { return false };
    let fs = dir::hold(CWD, &parent).and_then(|parent| statfs::of_mount(parent.as_fd()));
    fs.is_ok_and(|fs| !Policy::of(Some(fs)).is_far())
}

fn threads(means: &Means<'_>, directories: usize) -> usize {
    // A directory is some 30 µs of work, an entry 2 µs.
    means.threads.count_for(directories * 16)
}

/// Reads directories ahead.
///
/// Costs for each what it costs anyhow: `openat`, `statx`, `getdents64` twice, `close`, and the questions of its entries.
pub fn read(paths: &[&CStr], wanted: &Wanted<'_>) -> Vec<Ahead> {
    let Wanted { filter, asking: Asking { needs, follow, means }, order } = *wanted;
    let (lazy, workers, watch) = (means.lazy, means.workers, means.threads.watching());
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(paths.len())));
    workers.run(threads(means, paths.len()), &|worker| {
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
            let ahead = one(path, &mut buffer, &wanted);
            if let Some(seat) = seat {
                seat.leave(&ahead);
            }
            mine.push((nth, ahead));
        }
        found.lock().append(&mut mine);
    });
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
