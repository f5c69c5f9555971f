//! Reading the names of a directory: `getdents64` into one buffer, parsed into a [`Batch`].

use crate::batch::Batch;
use crate::needs::{Kind, Kinds};
use crate::pattern::Pattern;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ffi::CStr;
use dents_sys::dir::{self, Dirents};
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, Result};

/// Which hidden names are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// Names that begin with a dot stay out.
    #[default]
    Skip,
    /// All but `.` and `..`.
    AlmostAll,
    /// All.
    All,
}

/// Which names are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those that begin with a dot.
    pub hidden: Hidden,
    /// Names that match stay out while [`Hidden::Skip`] holds.
    pub hide: Vec<Pattern>,
    /// Names that match stay out.
    pub ignore: Vec<Pattern>,
    /// What is known to be of another type stays out.
    pub kinds: Kinds,
}

impl Filter {
    /// Whether a name is wanted, of an entry of that type as far as the directory tells it.
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

/// A directory being read.
pub struct Reader {
    dir: OwnedFd,
    buffer: Vec<u8>,
    fs: OnceCell<Option<FsType>>,
}

/// Bytes given to the first `getdents64`: about 2,000 entries. 32 KiB, 128 KiB and 1 MiB were measured to make no
/// difference in time; this one shows the first names soon.
const BUFFER: usize = 64 * 1024;

/// And to the others, once one was filled: fewer calls, and on a network fewer round trips where the client asks the
/// server for as much as it is asked for.
const LARGE_BUFFER: usize = 256 * 1024;

impl Reader {
    /// Opens a directory: one `openat`. It never blocks on a FIFO (`O_NONBLOCK`) and fails on what is not a
    /// directory, which without `follow` a symbolic link to one is not.
    ///
    /// # Errors
    /// What `openat` gives.
    pub fn open(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> Result<Reader> {
        let dir = if follow { dir::open(at, path)? } else { dir::open_nofollow(at, path)? };
        Ok(Reader::new(dir))
    }

    /// Reads a directory that is open.
    #[must_use]
    pub fn new(dir: OwnedFd) -> Reader {
        Reader { dir, buffer: Vec::new(), fs: OnceCell::new() }
    }

    /// The descriptor that names are relative to.
    #[must_use]
    pub fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// The file system it is on, if that can be known: two system calls the first time, no request to a server.
    #[must_use]
    pub fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir()).ok())
    }

    /// The same, if it was asked for before.
    pub(crate) fn known_fs(&self) -> Option<Option<FsType>> {
        self.fs.get().copied()
    }

    /// Gives the descriptor to the caller, which closes it, and the buffer back to the next reader.
    #[must_use]
    pub fn into_parts(self) -> (OwnedFd, Vec<u8>) {
        (self.dir, self.buffer)
    }

    /// Reads with a buffer that served before.
    #[must_use]
    pub fn with_buffer(mut self, buffer: Vec<u8>) -> Reader {
        self.buffer = buffer;
        self
    }

    /// The descriptor, and what reads from it, apart: to ask about some names while others are read.
    pub(crate) fn split(&mut self) -> (BorrowedFd<'_>, Stream<'_>) {
        (self.dir.as_fd(), Stream::new(self.dir.as_fd(), &mut self.buffer))
    }

    /// Appends the wanted names of one more buffer: one `getdents64`. `Ok(false)` at the end.
    ///
    /// # Errors
    /// What `getdents64` gives; names already appended stay good. `EIO` where a file system answers with
    /// records that make no sense, `EOVERFLOW` for more entries than a batch holds (4 billion).
    pub fn read(&mut self, filter: &Filter, batch: &mut Batch) -> Result<bool> {
        self.split().1.read(filter, batch)
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// As [`Reader::read`]; what was read before stays in the batch.
    pub fn read_all(&mut self, filter: &Filter, batch: &mut Batch) -> Result<()> {
        while self.read(filter, batch)? {}
        Ok(())
    }
}

/// The names that are still to come.
pub(crate) struct Stream<'a> {
    dir: BorrowedFd<'a>,
    buffer: &'a mut Vec<u8>,
    /// Bytes to read at a time at most.
    most: usize,
}

impl<'a> Stream<'a> {
    /// With a buffer that may be empty.
    pub(crate) fn new(dir: BorrowedFd<'a>, buffer: &'a mut Vec<u8>) -> Stream<'a> {
        Stream { dir, buffer, most: LARGE_BUFFER }
    }

    /// A little at a time: others wait for the names.
    pub(crate) fn in_sips(self) -> Stream<'a> {
        Stream { most: BUFFER, ..self }
    }

    /// As [`Reader::read`].
    pub(crate) fn read(&mut self, filter: &Filter, batch: &mut Batch) -> Result<bool> {
        self.read_by(self.dir, filter, batch)
    }

    /// The same by a descriptor of the same open directory in another thread's table.
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
        let filled = match dir::getdents64(dir, &mut self.buffer[..room]) {
            // The directory was removed while it was open: it has no entries any more (as readdir in POSIX).
            Err(Errno::NOENT) => 0,
            other => other?,
        };
        batch.reserve(filled);
        let mut records = Dirents::new(&self.buffer[..filled]);
        for record in records.by_ref() {
            let kind = Kind::from_d_type(record.d_type);
            if filter.wants(record.name.to_bytes(), kind) {
                batch.push(record.name, kind, record.ino);
            }
        }
        let malformed = records.malformed();
        // Full but for less than any record: there is more to come.
        if filled + 1024 > BUFFER && self.buffer.len() < self.most {
            *self.buffer = vec![0; self.most];
        }
        batch.whole()?;
        if malformed { Err(Errno::IO) } else { Ok(filled != 0) }
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
