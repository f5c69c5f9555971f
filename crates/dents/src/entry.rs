use crate::Error;
use dents_core::batch::{self, Asked, Batch as Core};
use dents_core::needs::{Kind, Needs};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// Some entries of one directory, read and answered together. Entries share it.
#[derive(Default)]
pub(crate) struct Block {
    /// The directory; empty for roots.
    pub(crate) path: Vec<u8>,
    /// Of the entries.
    pub(crate) depth: usize,
    pub(crate) follow: bool,
    pub(crate) batch: Core,
    /// Which entries are given; all without.
    pub(crate) kept: Option<Vec<bool>>,
}

impl Block {
    pub(crate) fn keeps(&self, index: usize) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept[index])
    }

    /// An entry, or why it could not be asked.
    pub(crate) fn give(self: &Arc<Block>, index: usize) -> Result<Entry, Error> {
        match self.batch.entry(index).fault() {
            Some((Asked::Stat, errno)) => {
                let entry = self.batch.entry(index);
                Err(Error::new(&join(&self.path, entry.name()), self.depth, errno))
            }
            _ => Ok(Entry { block: Arc::clone(self), index: index as u32 }),
        }
    }

    pub(crate) fn view(&self, index: usize) -> View<'_> {
        View { path: &self.path, depth: self.depth, follow: self.follow, entry: self.batch.entry(index) }
    }
}

/// `parent/name`, without doubling the slash.
pub(crate) fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if parent.is_empty() || parent.ends_with(b"/") { b"" } else { b"/" };
    [parent, slash, name].concat()
}

/// The type of a file, as `readdir` or `stat` told it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileType(pub(crate) Kind);

impl FileType {
    /// A directory.
    #[must_use]
    pub fn is_dir(self) -> bool {
        self.0 == Kind::Dir
    }

    /// A regular file.
    #[must_use]
    pub fn is_file(self) -> bool {
        self.0 == Kind::Reg
    }

    /// A symbolic link.
    #[must_use]
    pub fn is_symlink(self) -> bool {
        self.0 == Kind::Link
    }

    /// A FIFO.
    #[must_use]
    pub fn is_fifo(self) -> bool {
        self.0 == Kind::Fifo
    }

    /// A socket.
    #[must_use]
    pub fn is_socket(self) -> bool {
        self.0 == Kind::Sock
    }

    /// A block device.
    #[must_use]
    pub fn is_block_device(self) -> bool {
        self.0 == Kind::Block
    }

    /// A character device.
    #[must_use]
    pub fn is_char_device(self) -> bool {
        self.0 == Kind::Char
    }

    /// Whether neither the directory nor a `statx` told it: only without [`Needs::TYPE`].
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.0 == Kind::Unknown
    }
}

impl fmt::Debug for FileType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.0)
    }
}

/// An entry of a [`Batch`](crate::Batch), borrowed.
#[derive(Clone, Copy)]
pub struct View<'b> {
    pub(crate) path: &'b [u8],
    pub(crate) depth: usize,
    pub(crate) follow: bool,
    pub(crate) entry: batch::Entry<'b>,
}

/// An entry that owns its data. Entries of one directory share most of it: keeping one keeps up to some thousand others in
/// memory; [`Entry::path`] makes what is independent of them.
#[derive(Clone)]
pub struct Entry {
    block: Arc<Block>,
    index: u32,
}

impl Entry {
    /// The entry, to read several facts of it.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.block.view(self.index as usize)
    }
}

/// Methods of [`View`], which [`Entry`] has too.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident -> $type:ty = |$view:ident| $body:expr;)*) => {
        impl<'b> View<'b> {
            $($(#[$doc])* #[must_use] pub fn $name(&self) -> $type { let $view = self; $body })*
        }

        impl Entry {
            $($(#[$doc])* #[must_use] pub fn $name(&self) -> $type { self.view().$name() })*
        }
    };
}

facts! {
    /// The path, beginning with the root as it was given.
    path -> PathBuf = |view| PathBuf::from(OsStr::from_bytes(&join(view.path, view.entry.name())).to_owned());

    /// How deep it lies: 0 for a root, 1 for what is in one.
    depth -> usize = |view| view.depth;

    /// The type. Costs nothing where the file system tells it with the name, which all common ones do; else a `statx`, if
    /// [`Needs::TYPE`] is declared, as it is by default.
    file_type -> FileType = |view| FileType(view.entry.kind());

    /// Whether the name itself is a symbolic link, even where links are followed.
    path_is_symlink -> bool = |view| view.entry.d_kind() == Kind::Link;

    /// Size in bytes. [`Needs::SIZE`].
    size -> u64 = |view| view.declared(Needs::SIZE, "SIZE").size();

    /// Allocated space in bytes. [`Needs::BLOCKS`].
    allocated -> u64 = |view| view.declared(Needs::BLOCKS, "BLOCKS").blocks().saturating_mul(512);

    /// Type and permission bits, as `st_mode`. [`Needs::MODE`].
    mode -> u32 = |view| view.declared(Needs::MODE, "MODE").mode().into();

    /// Number of hard links. [`Needs::NLINK`].
    nlink -> u64 = |view| view.declared(Needs::NLINK, "NLINK").nlink().into();

    /// Owner. [`Needs::UID`].
    uid -> u32 = |view| view.declared(Needs::UID, "UID").uid();

    /// Group. [`Needs::GID`].
    gid -> u32 = |view| view.declared(Needs::GID, "GID").gid();

    /// The inode number, as `stat` gives it. [`Needs::INODE`].
    ino -> u64 = |view| view.declared(Needs::INODE, "INODE").ino();

    /// When the contents changed last. [`Needs::MTIME`].
    modified -> Option<SystemTime> = |view| view.time(Needs::MTIME, "MTIME");

    /// When it was read last, as far as the file system keeps that. [`Needs::ATIME`].
    accessed -> Option<SystemTime> = |view| view.time(Needs::ATIME, "ATIME");

    /// When it was made. None where the file system does not keep it. [`Needs::BTIME`].
    created -> Option<SystemTime> = |view| view.time(Needs::BTIME, "BTIME");

    /// When the inode changed last. [`Needs::CTIME`].
    changed -> Option<SystemTime> = |view| view.time(Needs::CTIME, "CTIME");
}

impl<'b> View<'b> {
    /// The name, without the directory; of a root, all of what was given.
    #[must_use]
    pub fn file_name(&self) -> &'b OsStr {
        OsStr::from_bytes(self.entry.name())
    }

    /// The text of a symbolic link; none of anything else. [`Needs::LINK`].
    #[must_use]
    pub fn link(&self) -> Option<&'b Path> {
        let text = self.declared(Needs::LINK, "LINK").link()?;
        Some(Path::new(OsStr::from_bytes(text)))
    }

    /// Everything that std knows of it: one `statx`, at this moment.
    ///
    /// # Errors
    /// Those of [`std::fs::symlink_metadata`]; where links are followed, of [`std::fs::metadata`].
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        let path = self.path();
        if self.follow { fs::metadata(path) } else { fs::symlink_metadata(path) }
    }

    fn declared(&self, needs: Needs, name: &str) -> batch::Entry<'b> {
        assert!(
            self.entry.declares(needs),
            "what is not declared was not asked: add Needs::{name} with `.needs(…)`"
        );
        self.entry
    }

    fn time(&self, needs: Needs, name: &str) -> Option<SystemTime> {
        let entry = self.declared(needs, name);
        let time = match entry.extra() {
            None => entry.time(),
            Some(extra) if needs == Needs::ATIME => extra.atime,
            Some(extra) if needs == Needs::BTIME => extra.btime,
            Some(extra) if needs == Needs::CTIME => extra.ctime,
            Some(extra) => extra.mtime,
        };
        if time == batch::Time::UNKNOWN {
            return None;
        }
        let whole = Duration::from_secs(time.sec.unsigned_abs());
        let begin = SystemTime::UNIX_EPOCH;
        let second = if time.sec < 0 { begin.checked_sub(whole) } else { begin.checked_add(whole) };
        second?.checked_add(Duration::from_nanos(time.nsec.into()))
    }
}

impl Entry {
    /// The name, without the directory; of a root, all of what was given.
    #[must_use]
    pub fn file_name(&self) -> &OsStr {
        self.view().file_name()
    }

    /// The text of a symbolic link; none of anything else. [`Needs::LINK`].
    #[must_use]
    pub fn link(&self) -> Option<&Path> {
        self.view().link()
    }

    /// Everything that std knows of it: one `statx`, at this moment.
    ///
    /// # Errors
    /// Those of [`std::fs::symlink_metadata`]; where links are followed, of [`std::fs::metadata`].
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.view().metadata()
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry").field("path", &self.path()).field("file_type", &self.file_type()).finish()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(out)
    }
}
