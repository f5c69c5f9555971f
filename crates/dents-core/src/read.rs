//! Reading the names of a directory: `getdents64` into one buffer, parsed into a [`Batch`].

pub(crate) mod several;

use crate::batch::Batch;
use crate::needs::{Kind, Kinds};
use crate::pattern::Pattern;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use dents_sys::dir::{self, Dirent, Dirents};
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, Result};

/// Which hidden names are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// No names that begin with a dot.
    #[default]
    Skip,
    /// All names except `.` and `..`.
    AlmostAll,
    /// All names.
    All,
}

/// Which names are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Names that begin with a dot.
    pub hidden: Hidden,
    /// Matching names are left out while `hidden` is [`Hidden::Skip`].
    pub hide: Vec<Pattern>,
    /// Matching names are left out.
    pub ignore: Vec<Pattern>,
    /// Entries known to be of another type are left out.
    pub kinds: Kinds,
}

impl Filter {
    /// Whether to keep a name with this `d_type`.
    #[must_use]
    #[inline]
    pub fn wants(&self, name: &[u8], kind: Kind) -> bool {
        let shown = match self.hidden {
            Hidden::All => true,
            Hidden::Skip => name.first() != Some(&b'.'),
            Hidden::AlmostAll => name != b"." && name != b"..",
        };
        shown && (self.is_plain() || self.kinds.contains(kind) && self.no_pattern_matches(name))
    }

    #[inline]
    fn wants_record(&self, record: &Dirent<'_>) -> bool {
        self.wants(record.name.to_bytes(), Kind::from_d_type(record.d_type))
    }

    /// Appends the entry to the batch if it is wanted.
    #[inline]
    fn keep(&self, record: &Dirent<'_>, batch: &mut Batch) {
        let kind = Kind::from_d_type(record.d_type);
        if self.wants(record.name.to_bytes(), kind) {
            batch.push(record.name, kind, record.ino);
        }
    }

    fn is_plain(&self) -> bool {
        self.hide.is_empty() && self.ignore.is_empty() && self.kinds == Kinds::ALL
    }

    #[cold]
    fn no_pattern_matches(&self, name: &[u8]) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        let hidden = self.hidden == Hidden::Skip && any(&self.hide);
        !hidden && !any(&self.ignore)
    }
}

/// A directory that is being read.
pub struct Reader {
    dir: OwnedFd,
    buffer: Vec<u8>,
    /// Bytes of the buffer that the last read filled.
    filled: usize,
    fs: OnceCell<Option<FsType>>,
}

/// Size of the buffer of the first `getdents64`: about 2,000 entries. 32 KiB, 128 KiB and 1 MiB took the same time; 64
/// KiB shows the first names soon.
const BUFFER: usize = 64 * 1024;

/// Size of the next buffers, once the first was filled: fewer calls, and fewer round trips where a network client
/// requests as much as the buffer holds.
const LARGE_BUFFER: usize = 256 * 1024;

/// More bytes than any record has.
const ONE_RECORD: usize = 1024;

impl Reader {
    /// Opens a directory: one `openat`. It never blocks on a FIFO (`O_NONBLOCK`). It fails on other types of files, and
    /// without `follow` on symbolic links to directories.
    ///
    /// # Errors
    /// The error of `openat`.
    pub fn open(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> Result<Reader> {
        let dir = if follow { dir::open(at, path)? } else { dir::open_nofollow(at, path)? };
        Ok(Reader::new(dir))
    }

    /// Reads an open directory.
    #[must_use]
    pub fn new(dir: OwnedFd) -> Reader {
        Reader { dir, buffer: Vec::new(), filled: 0, fs: OnceCell::new() }
    }

    /// The directory's descriptor; names are relative to it.
    #[must_use]
    pub fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// The file system of the directory, if it can be found: two system calls the first time, no request to a server.
    #[must_use]
    pub fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir()).ok())
    }

    /// Takes the directory for one of another file system.
    #[cfg(test)]
    pub(crate) fn pretend(&self, fs: FsType) {
        self.fs.set(Some(fs)).expect("unknown until now");
    }

    /// The result of an earlier [`Reader::fs`].
    pub(crate) fn known_fs(&self) -> Option<Option<FsType>> {
        self.fs.get().copied()
    }

    /// Returns the descriptor, which the caller closes, and the buffer for the next reader.
    #[must_use]
    pub fn into_parts(self) -> (OwnedFd, Vec<u8>) {
        (self.dir, self.buffer)
    }

    /// Sets a used buffer, to avoid an allocation.
    #[must_use]
    pub fn with_buffer(mut self, buffer: Vec<u8>) -> Reader {
        (self.buffer, self.filled) = (buffer, 0);
        self
    }

    /// Splits the directory into its descriptor and the stream of its names, to request the metadata of some names
    /// while others are read.
    pub(crate) fn split(&mut self) -> (BorrowedFd<'_>, Stream<'_>) {
        (self.dir.as_fd(), Stream::new(self.dir.as_fd(), &mut self.buffer))
    }

    /// The records read last, unless the buffer has grown since.
    pub(crate) fn records(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// Whether the buffer had no room for another record after the last read, unless it has grown since.
    pub(crate) fn is_full(&self) -> bool {
        fills(self.filled, self.buffer.len())
    }

    /// Appends the names of one more buffer: one `getdents64`. `Ok(false)` at the end.
    ///
    /// # Errors
    /// The error of `getdents64`; names already appended are valid. `EIO` where a file system returns invalid records,
    /// `EOVERFLOW` for more entries than a batch holds (4 billion).
    pub fn read(&mut self, filter: &Filter, batch: &mut Batch) -> Result<bool> {
        let (_, mut stream) = self.split();
        let answer = stream.read(filter, batch);
        self.filled = stream.filled;
        answer
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// Like [`Reader::read`]; names read before stay in the batch.
    pub fn read_all(&mut self, filter: &Filter, batch: &mut Batch) -> Result<()> {
        while self.read(filter, batch)? {}
        Ok(())
    }
}

/// The remaining names of a directory.
pub(crate) struct Stream<'a> {
    dir: BorrowedFd<'a>,
    buffer: &'a mut Vec<u8>,
    /// Bytes of it that the last read filled.
    filled: usize,
    /// Whether the last read left no room for another record.
    pub(crate) was_full: bool,
    /// Most bytes to read at a time.
    most: usize,
    bound: Option<Bound<'a>>,
}

/// After how many names a stream pauses: it reports its end, and tells here that it is none.
pub(crate) struct Bound<'a> {
    pub(crate) names: usize,
    pub(crate) is_reached: &'a AtomicBool,
}

impl<'a> Stream<'a> {
    /// Reads into a buffer, which may be empty.
    pub(crate) fn new(dir: BorrowedFd<'a>, buffer: &'a mut Vec<u8>) -> Stream<'a> {
        Stream { dir, buffer, filled: 0, was_full: false, most: LARGE_BUFFER, bound: None }
    }

    /// Keeps the buffer small, because workers wait for the names.
    pub(crate) fn with_small_reads(self) -> Stream<'a> {
        Stream { most: BUFFER, ..self }
    }

    /// Pauses after a number of names.
    pub(crate) fn with_bound(self, bound: Option<Bound<'a>>) -> Stream<'a> {
        Stream { bound, ..self }
    }

    /// Like [`Reader::read`].
    pub(crate) fn read(&mut self, filter: &Filter, batch: &mut Batch) -> Result<bool> {
        self.read_by(self.dir, filter, batch)
    }

    /// The same, by a descriptor of the same open directory in another thread's table.
    pub(crate) fn read_by(
        &mut self,
        dir: BorrowedFd<'_>,
        filter: &Filter,
        batch: &mut Batch,
    ) -> Result<bool> {
        if self.buffer.is_empty() {
            *self.buffer = vec![0; BUFFER];
        }
        let room = self.buffer.len().min(self.most);
        let filled = getdents(dir, &mut self.buffer[..room])?;
        self.filled = filled;
        let before = batch.len();
        batch.reserve(filled);
        let mut records = Dirents::new(&self.buffer[..filled]);
        records.by_ref().for_each(|record| filter.keep(&record, batch));
        let malformed = records.malformed();
        // The rest of the buffer could not hold another record: there may be more names.
        self.was_full = fills(filled, room);
        if fills(filled, BUFFER) && self.buffer.len() < self.most {
            *self.buffer = vec![0; self.most];
            self.filled = 0;
        }
        batch.whole()?;
        if malformed {
            return Err(Errno::IO);
        }
        Ok(filled != 0 && !self.pauses(batch.len() - before))
    }

    /// Whether the bound is reached with so many names more.
    fn pauses(&mut self, names: usize) -> bool {
        let Some(bound) = &mut self.bound else { return false };
        bound.names = bound.names.saturating_sub(names);
        let is_reached = bound.names == 0;
        bound.is_reached.store(is_reached, Ordering::Relaxed);
        is_reached
    }
}

/// Whether so many bytes leave no room for another record.
pub(crate) fn fills(filled: usize, room: usize) -> bool {
    filled + ONE_RECORD > room
}

fn getdents(dir: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize> {
    match dir::getdents64(dir, buffer) {
        // The directory was removed while it was open: it has no entries (POSIX, readdir).
        Err(Errno::NOENT) => Ok(0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_shown_except_ignored_ones() {
        let patterns = |text: &[u8]| vec![Pattern::new(text, false, true)];
        let mut filter = Filter { hide: patterns(b"*.o"), ignore: patterns(b"*~"), ..Filter::default() };
        let wanted = |filter: &Filter, name: &str| filter.wants(name.as_bytes(), Kind::Reg);
        let all = ["a.o", "a~", ".a~", ".", "b"];
        assert_eq!(all.map(|name| wanted(&filter, name)), [false, false, false, false, true]);
        filter.hidden = Hidden::All;
        assert_eq!(all.map(|name| wanted(&filter, name)), [true, false, true, true, true]);
        filter.hidden = Hidden::AlmostAll;
        assert_eq!(all.map(|name| wanted(&filter, name)), [true, false, true, false, true]);
        filter.kinds = Kinds::of(Kind::Dir);
        assert!(all.iter().all(|name| !wanted(&filter, name)));
        assert!([Kind::Dir, Kind::Unknown].into_iter().all(|kind| filter.wants(b"b", kind)));
        assert!(!filter.wants(b"a~", Kind::Dir));
    }
}
