use crate::{Error, Walk};
use dents_core::batch::{self, Asked, Batch as Core};
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// Entries of one directory with their metadata. Each [`Entry`] holds a reference to its block.
#[derive(Default)]
pub(crate) struct Block {
    /// The directory; empty for roots.
    pub(crate) path: Vec<u8>,
    /// The depth of the entries.
    pub(crate) depth: usize,
    pub(crate) follow: bool,
    pub(crate) batch: Core,
    /// Which entries are yielded; `None` for all.
    pub(crate) kept: Option<Vec<bool>>,
}

impl Block {
    pub(crate) fn keeps(&self, index: usize) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept[index])
    }

    /// Whether a walk enters the entry.
    pub(crate) fn is_entered(&self, walk: &Walk, index: usize) -> bool {
        let entry = self.batch.entry(index);
        // A followed link without a `statx` may lead to a directory. The attempt to open it shows that.
        let maybe = walk.follow && entry.kind() == Kind::Link && !entry.is_known();
        self.depth < walk.max_depth && (entry.kind() == Kind::Dir || maybe)
    }

    /// The entry, or the error of its `statx`.
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
    [parent, path::separator(parent), name].concat()
}

/// The type of a file, from `readdir` or `stat`.
///
/// It does not convert into [`std::fs::FileType`], because std has no constructor for that type; `entry.metadata()?.file_type()` is it, for one
/// `statx`. The methods have the names that std uses.
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

    /// Whether the type is unknown: neither `readdir` nor `stat` returned it.
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

/// An entry of a [`Batch`](crate::Batch), borrowed. Methods that name a need panic if the walk did not declare it.
#[derive(Clone, Copy)]
pub struct View<'b> {
    pub(crate) path: &'b [u8],
    pub(crate) depth: usize,
    pub(crate) follow: bool,
    pub(crate) entry: batch::Entry<'b>,
}

/// An entry that owns its data. Methods that name a need panic if the walk did not declare it.
///
/// Entries of one directory share a block of memory, so an entry that is kept keeps some thousand others in memory.
/// Keep [`Entry::path`] instead to avoid that.
#[derive(Clone)]
pub struct Entry {
    block: Arc<Block>,
    index: u32,
}

impl Entry {
    /// A view of the entry. It is cheaper if several facts are read.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.block.view(self.index as usize)
    }

    /// The path. It begins with the root as given.
    #[must_use]
    pub fn into_path(self) -> PathBuf {
        self.path()
    }
}

/// Methods that [`View`] and [`Entry`] have in common.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident -> $type:ty = |$view:ident| $body:expr;)*) => {
        impl<'b> View<'b> {
            $($(#[$doc])* #[must_use] #[track_caller] pub fn $name(&self) -> $type { let $view = self; $body })*
        }

        impl Entry {
            $($(#[$doc])* #[must_use] #[track_caller] pub fn $name(&self) -> $type { self.view().$name() })*
        }
    };
}

facts! {
    /// The path. It begins with the root as given.
    path -> PathBuf = |view| PathBuf::from(OsStr::from_bytes(&join(view.path, view.entry.name())).to_owned());

    /// The depth: 0 for a root, 1 for the entries of a root.
    depth -> usize = |view| view.depth;

    /// The type. It costs nothing where `readdir` returns types, as on all common file systems. Elsewhere it costs a
    /// `statx`, because [`Needs::TYPE`] is declared by default.
    file_type -> FileType = |view| FileType(view.entry.kind());

    /// Whether the entry itself is a symbolic link, even where links are followed.
    path_is_symlink -> bool = |view| view.entry.d_kind() == Kind::Link;

    /// Size in bytes. Needs [`Needs::SIZE`].
    size -> u64 = |view| view.declared(Needs::SIZE, "SIZE").size();

    /// Allocated space in bytes. Needs [`Needs::BLOCKS`].
    allocated -> u64 = |view| view.declared(Needs::BLOCKS, "BLOCKS").blocks().saturating_mul(512);

    /// Type and permission bits, as in `st_mode`. Needs [`Needs::MODE`].
    mode -> u32 = |view| view.declared(Needs::MODE, "MODE").mode().into();

    /// Number of hard links. Needs [`Needs::NLINK`].
    nlink -> u64 = |view| view.declared(Needs::NLINK, "NLINK").nlink().into();

    /// The user id of the owner. Needs [`Needs::UID`].
    uid -> u32 = |view| view.declared(Needs::UID, "UID").uid();

    /// The group id. Needs [`Needs::GID`].
    gid -> u32 = |view| view.declared(Needs::GID, "GID").gid();

    /// The inode number that `stat` returns. Needs [`Needs::INODE`].
    ino -> u64 = |view| view.declared(Needs::INODE, "INODE").ino();

    /// Time of the last change of the contents. Needs [`Needs::MTIME`].
    modified -> Option<SystemTime> = |view| view.time(Needs::MTIME, "MTIME");

    /// Time of the last access, as far as the file system keeps it. Needs [`Needs::ATIME`].
    accessed -> Option<SystemTime> = |view| view.time(Needs::ATIME, "ATIME");

    /// Time of creation; `None` if the file system does not keep it. Needs [`Needs::BTIME`].
    created -> Option<SystemTime> = |view| view.time(Needs::BTIME, "BTIME");

    /// Time of the last change of the inode. Needs [`Needs::CTIME`].
    changed -> Option<SystemTime> = |view| view.time(Needs::CTIME, "CTIME");
}

impl<'b> View<'b> {
    /// The name, without the directory; for a root, the last component of its path, or the whole path if that has no name (`/`, `..`).
    #[must_use]
    pub fn file_name(&self) -> &'b OsStr {
        let name = OsStr::from_bytes(self.entry.name());
        if self.depth == 0 { Path::new(name).file_name().unwrap_or(name) } else { name }
    }

    /// The target of a symbolic link; `None` for other types. [`Needs::LINK`].
    #[must_use]
    #[track_caller]
    pub fn link(&self) -> Option<&'b Path> {
        let text = self.declared(Needs::LINK, "LINK").link()?;
        Some(Path::new(OsStr::from_bytes(text)))
    }

    /// The metadata as std has it: one `statx`, made by this call.
    ///
    /// # Errors
    /// Those of [`std::fs::symlink_metadata`]; where links are followed, of [`std::fs::metadata`].
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        let path = self.path();
        if self.follow { fs::metadata(path) } else { fs::symlink_metadata(path) }
    }

    #[track_caller]
    fn declared(&self, needs: Needs, name: &str) -> batch::Entry<'b> {
        assert!(
            self.entry.declares(needs),
            "this field was not declared: add Needs::{name} with `.needs(…)`"
        );
        self.entry
    }

    #[track_caller]
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
    /// The name, without the directory; for a root, the last component of its path, or the whole path if that has no name (`/`, `..`).
    #[must_use]
    pub fn file_name(&self) -> &OsStr {
        self.view().file_name()
    }

    /// The target of a symbolic link; `None` for other types. [`Needs::LINK`].
    #[must_use]
    #[track_caller]
    pub fn link(&self) -> Option<&Path> {
        self.view().link()
    }

    /// The metadata as std has it: one `statx`, made by this call.
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
