//! All names of a directory, in a chosen order.

use super::options::Readdir;
use super::order;
use crate::batch::Batch;
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec;
use alloc::vec::Vec;
use dents_sys::dir::{self, Dirents};
use dents_sys::{BorrowedFd, Errno, Result};

/// The result of [`readdirx`].
pub struct Listing {
    /// All entries except `.` and `..`.
    pub batch: Batch,
    /// Positions in the batch, in the requested order.
    pub order: Vec<u32>,
    /// [`Readdir::FOUND_UNKNOWN`] or empty.
    pub flags: Readdir,
}

/// Reads an open directory from its current position to the end: `getdents64` of 64 KiB each, the last one empty. Makes
/// no `statx`.
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
/// The error of `getdents64`; `EIO` where a file system returns invalid records.
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
    /// Whether a type was unknown so far.
    pub(super) found_unknown: bool,
}

const BUFFER: usize = 64 * 1024;

impl<'a> Names<'a> {
    pub(super) fn new(directory: BorrowedFd<'a>, believe_types: bool) -> Self {
        Names { directory, believe_types, buffer: vec![0; BUFFER], found_unknown: false }
    }

    /// Reads one buffer: one `getdents64`. Returns whether there may be more.
    pub(super) fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        let filled = match dir::getdents64(self.directory, &mut self.buffer) {
            // The directory was removed while it was open: it has no entries.
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
