//! All names of a directory, in an order to choose.

use super::order;
use crate::batch::Batch;
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec;
use alloc::vec::Vec;
use dents_sys::dir::{self, Dirents};
use dents_sys::{BorrowedFd, Errno, Result};

bitflags::bitflags! {
    /// What [`readdirx`] shall give, and what it found.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Readdir: u8 {
        /// Types and inode numbers beside the names. Without it, all types are unknown and all numbers zero.
        const DENTS = 1 << 0;
        /// Likely directories first: those known to be, else names with a dot in front, then names without a dot, the
        /// shorter first. These in inode order, the others as they were read.
        const DIRS_FIRST = 1 << 1;
        /// In the order in which to stat all of them: that of inode numbers, near to that of inodes on the disk. With
        /// [`Readdir::DIRS_FIRST`], so that the likely directories still come first.
        const STAT_ORDER = 1 << 2;
        /// In the result only: some type was unknown. Its absence says that `readdir` told all types.
        const FOUND_UNKNOWN = 1 << 7;
    }
}

/// What [`readdirx`] read.
pub struct Listing {
    /// All entries but `.` and `..`.
    pub batch: Batch,
    /// Positions in the batch, in the order asked for.
    pub order: Vec<u32>,
    /// [`Readdir::FOUND_UNKNOWN`] or nothing.
    pub flags: Readdir,
}

/// Reads an open directory from where it stands to its end: `getdents64` of 64 KiB each, the last one empty. No entry is
/// stat'ed.
///
/// ```
/// use dents_core::scandir::{Readdir, readdirx};
/// use dents_sys::{AsFd, CWD, dir};
///
/// let tmp = dir::open(CWD, c"/usr")?;
/// let listing = readdirx(tmp.as_fd(), Readdir::DENTS | Readdir::DIRS_FIRST)?;
/// for index in &listing.order {
///     let entry = listing.batch.entry(*index as usize);
///     println!("{:?} {}", entry.d_kind(), entry.name().escape_ascii());
/// }
/// # Ok::<(), dents_sys::Errno>(())
/// ```
///
/// # Errors
/// What `getdents64` gives; `EIO` where a file system answers with records that make no sense.
pub fn readdirx(directory: BorrowedFd<'_>, flags: Readdir) -> Result<Listing> {
    let mut names = Names::new(directory, true);
    let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE));
    while names.read(&mut batch)? {}
    let order = order::listing(&batch, flags);
    if !flags.contains(Readdir::DENTS) {
        batch.forget_types();
    }
    let flags = if names.found_unknown { Readdir::FOUND_UNKNOWN } else { Readdir::empty() };
    Ok(Listing { batch, order, flags })
}

/// Reads names for a scan.
pub(super) struct Names<'a> {
    directory: BorrowedFd<'a>,
    believe_types: bool,
    buffer: Vec<u8>,
    /// Whether a type read so far is unknown.
    pub(super) found_unknown: bool,
}

const BUFFER: usize = 64 * 1024;

impl<'a> Names<'a> {
    pub(super) fn new(directory: BorrowedFd<'a>, believe_types: bool) -> Self {
        Names { directory, believe_types, buffer: vec![0; BUFFER], found_unknown: false }
    }

    /// One `getdents64`; whether there may be more.
    pub(super) fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        let filled = match dir::getdents64(self.directory, &mut self.buffer) {
            // Removed while it was open: no entries any more.
            Err(Errno::NOENT) => 0,
            other => other?,
        };
        let mut records = Dirents::new(&self.buffer[..filled]);
        for record in records.by_ref() {
            if matches!(record.name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = if self.believe_types { Kind::from_d_type(record.d_type) } else { Kind::Unknown };
            self.found_unknown |= kind == Kind::Unknown;
            batch.push(record.name, kind, record.ino);
        }
        if records.malformed() { Err(Errno::IO) } else { Ok(filled != 0) }
    }
}
