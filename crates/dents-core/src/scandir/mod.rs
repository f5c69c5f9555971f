//! Splits one directory into subdirectories and other entries with the fewest requests, like `aio_scandir` of libeio.
//!
//! Where the file system fills `d_type`, reading the names suffices. Elsewhere (XFS made without ftype, ext4 without
//! filetype, many FUSE and network file systems) each name of unknown type costs a request. Five tricks make these
//! requests few and fast. Each can be switched off ([`Tricks`]), and [`Savings`] counts what it saved:
//!
//! 1. types from `readdir` ([`Tricks::D_TYPE`]);
//! 2. the link count of a directory is the number of its subdirectories plus two, on file systems that maintain it
//!    ([`Tricks::NLINK`], [`links`]): once as many are found, all remaining entries are other files;
//! 3. so likely directories are tried first ([`Tricks::LIKELY_FIRST`]), in inode order ([`Tricks::INODE_ORDER`]);
//! 4. `statx` of `name/.` fails, before the inode is fetched, if `name` is not a directory ([`Tricks::DOT`]); if it
//!    succeeds, a second request confirms it, because `name/.` follows symbolic links;
//! 5. several requests are in flight at once ([`Options::max_requests`]), relative to the directory's descriptor.
//!
//! Requests about entries, for a directory of 20,000 files and 3 subdirectories that were made when half of the files
//! were there (ext4 made without `filetype`, on a loop device; `examples/scandir.rs` with `-j1`):
//!
//! | tricks | `name/.` | `statx` | requests | warm |
//! |---|---|---|---|---|
//! | all | 3 | 3 | 6 | 15 ms |
//! | all but [`Tricks::DOT`] | 0 | 3 | 3 | 17 ms |
//! | all but [`Tricks::LIKELY_FIRST`] | 10,003 | 3 | 10,006 | 19 ms |
//! | all but [`Tricks::NLINK`] | 20,003 | 3 | 20,006 | 48 ms |
//! | none | 0 | 20,003 | 20,003 | 52 ms |
//!
//! Most of the time is spent reading names (twice with trick 2, else once); the times are from one noisy run, so
//! compare the counts. The directory itself costs 3 requests with trick 2, else one.
//!
//! A scan is not atomic, so with trick 2 alone a directory could end up among the files: another one appeared meanwhile
//! and was counted in its place. So the directory is stat'ed before and after the scan. If it changed, or changed so
//! shortly before that a change might not show in its times, all names are stat'ed. The guarantee that always holds:
//! **nothing in [`Scan::others`] is a directory, unless it was replaced by one during the scan.**
//!
//! ```
//! use dents_core::scandir::{Options, scandir};
//!
//! let scan = scandir(c"/usr", &Options::default())?;
//! assert!(scan.directories().any(|entry| entry.name() == b"bin" || entry.name() == b"share"));
//! println!("{} others, {:?}", scan.others().count(), scan.savings);
//! # Ok::<(), dents_sys::Errno>(())
//! ```

mod classify;
pub mod links;
mod options;
mod order;
mod readdirx;

pub use classify::Savings;
pub use options::{Options, Readdir, Tricks};
pub use readdirx::{Listing, readdirx};

use crate::batch::{Batch, Entry};
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec::Vec;
use classify::Class;
use core::ffi::CStr;
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsFd, BorrowedFd, CWD, Result, clock, dir};
use links::Snapshot;

/// The result of a scan.
pub struct Scan {
    /// All entries except `.` and `..`, in reading order. Their needs are [`Needs::TYPE`]; the kind of an entry is that
    /// of `readdir` (unknown without [`Tricks::D_TYPE`]).
    pub batch: Batch,
    sorted: [Vec<u32>; 3],
    /// The requests that were made, and those that were saved.
    pub savings: Savings,
}

impl Scan {
    /// The directories.
    pub fn directories(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.sort(Class::Directory)
    }

    /// All entries that are not directories, symbolic links among them, also those to directories.
    pub fn others(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.sort(Class::Other)
    }

    /// Entries of unknown type: those that vanished before their request, all in a directory without search permission,
    /// those on a broken disk.
    pub fn unknown(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.sort(Class::Unknown)
    }

    fn sort(&self, class: Class) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.sorted[class as usize].iter().map(|index| self.batch.entry(*index as usize))
    }
}

/// Scans the directory at `path`, relative to the current directory.
///
/// Costs `openat`, `getdents64` to the end, and `close`. If some type is unknown, also: the first buffer again
/// (`lseek`, `getdents64`), two `statx` and one `fstatfs` of the directory, and the requests for entries.
///
/// # Errors
/// The errors of opening and reading. An error of one entry makes it [unknown](Scan::unknown).
pub fn scandir(path: &CStr, options: &Options<'_>) -> Result<Scan> {
    scandir_at(CWD, path, options)
}

/// Like [`scandir`], with the path relative to `at`.
///
/// # Errors
/// Like [`scandir`].
pub fn scandir_at(at: BorrowedFd<'_>, path: &CStr, options: &Options<'_>) -> Result<Scan> {
    let directory = dir::open(at, path)?;
    let directory = directory.as_fd();
    let believe = options.tricks.contains(Tricks::D_TYPE);
    let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE));
    let mut names = readdirx::Names::new(directory, believe);
    let mut savings = Savings::default();
    let mut more = names.read(&mut batch)?;
    let mut before = Before { fs: FsType(0), snapshot: None };
    if names.found_unknown {
        // The snapshot must be older than all names that are read.
        before = Before::look(directory, options.tricks, &mut savings);
        if before.snapshot.is_some() {
            batch.clear();
            dir::rewind(directory)?;
            more = true;
        }
    }
    while more {
        more = names.read(&mut batch)?;
    }
    savings.entries = batch.len() as u64;
    let classes = classify(directory, &batch, options, &before, &mut savings);
    Ok(Scan { sorted: split(&classes), batch, savings })
}

/// The state of the directory before it is read.
pub(crate) struct Before {
    fs: FsType,
    /// Only if the link count can be trusted.
    snapshot: Option<Snapshot>,
}

impl Before {
    fn look(directory: BorrowedFd<'_>, tricks: Tricks, savings: &mut Savings) -> Before {
        savings.directory_stats += 1;
        let fs = statfs::fstatfs(directory).unwrap_or(FsType(0));
        let mut snapshot = None;
        if tricks.contains(Tricks::NLINK) && links::counts_subdirectories(fs) {
            savings.directory_stats += 1;
            snapshot = Snapshot::take(directory).ok();
        }
        Before { fs, snapshot }
    }
}

/// Why a link count is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    /// The file system does not maintain it.
    FileSystem,
    /// The directory changed just now, or has more subdirectories than its file system counts.
    Directory,
}

/// The state of a directory before it is read, if its link count can be trusted. For a walk that needs only to
/// recognize directories, where types are unknown. Costs one `fstatfs`, and one `statx` where links are counted.
pub(crate) fn link_count(directory: BorrowedFd<'_>) -> core::result::Result<Before, Distrust> {
    let before = Before::look(directory, Tricks::NLINK, &mut Savings::default());
    let snapshot = before.snapshot.ok_or(Distrust::FileSystem)?;
    let usable = snapshot.subdirectories().is_some() && !snapshot.is_recent(clock::realtime());
    if usable { Ok(before) } else { Err(Distrust::Directory) }
}

/// Finds the directories in `batch`, which was read after [`link_count`]; other entries keep an unknown type. Returns
/// `None`, without changes, if the request of some entry failed. `name/.` is not tried: on file systems that count
/// links a `statx` costs no more.
pub(crate) fn find_directories(
    directory: BorrowedFd<'_>,
    batch: &mut Batch,
    before: &Before,
) -> Option<Savings> {
    let mut savings = Savings { entries: batch.len() as u64, ..Savings::default() };
    let tricks = Tricks::all().difference(Tricks::DOT);
    let options = Options { tricks, ..Options::default() };
    let classes = classify(directory, batch, &options, before, &mut savings);
    if classes.contains(&Class::Unknown) {
        return None;
    }
    for (index, _) in classes.iter().enumerate().filter(|(_, class)| **class == Class::Directory) {
        batch.set_kind(index, Kind::Dir);
    }
    Some(savings)
}

/// Classifies all entries.
fn classify(
    directory: BorrowedFd<'_>,
    batch: &Batch,
    options: &Options<'_>,
    before: &Before,
    savings: &mut Savings,
) -> Vec<Class> {
    let mut classes: Vec<Class> = batch.iter().map(|entry| from_d_type(entry.d_kind())).collect();
    let known = classes.iter().filter(|class| **class != Class::Unknown).count();
    savings.by_d_type = known as u64;
    if known == batch.len() {
        return classes;
    }
    let order = order::questions(batch, options.tricks);
    let directories = classes.iter().filter(|class| **class == Class::Directory).count();
    let trusted = before.snapshot.filter(|snapshot| !snapshot.is_recent(clock::realtime()));
    let expected = trusted.and_then(|snapshot| snapshot.subdirectories());
    let left = expected.map_or(usize::MAX, |all| (all as usize).saturating_sub(directories));
    let how = (options, before.fs);
    let asked = classify::classify(directory, batch, how, (&order, left), &mut classes, savings);
    let rest = &order[asked..];
    if rest.is_empty() {
        savings.changed = before.snapshot.is_some() && trusted.is_none();
        return classes;
    }
    savings.directory_stats += 1;
    if Snapshot::take(directory).ok() == before.snapshot {
        savings.by_nlink = rest.len() as u64;
        for index in rest {
            classes[*index as usize] = Class::Other;
        }
    } else {
        savings.changed = true;
        classify::classify(directory, batch, how, (rest, usize::MAX), &mut classes, savings);
    }
    classes
}

fn from_d_type(kind: Kind) -> Class {
    match kind {
        Kind::Unknown => Class::Unknown,
        Kind::Dir => Class::Directory,
        _ => Class::Other,
    }
}

fn split(classes: &[Class]) -> [Vec<u32>; 3] {
    let mut sorted = [const { Vec::new() }; 3];
    for (index, class) in classes.iter().enumerate() {
        sorted[*class as usize].push(index as u32);
    }
    sorted
}
