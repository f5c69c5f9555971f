//! Roots that overlap: an entry below several roots is counted once.
//!
//! If no symbolic links are followed, the walk can find an entry twice only if it finds a root twice: if a root is below another root,
//! under any name, or is given twice. So only the roots are remembered. If links are followed, the walk may find any directory and any
//! file twice, and all of them are remembered.

use crate::inode::Inode;
use dents_core::needs::Kind;
use dents_core::tree::Follow;
use dents_core::tree::hardlinks::UNKNOWN_NLINK;
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{BorrowedFd, CWD};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

/// The files that the walk may find more than once.
pub struct Overlap {
    /// Whether these are all files, because links are followed.
    all: bool,
    directories: HashSet<Inode>,
    files: HashSet<Inode>,
    /// The directories among these that were found.
    met: Mutex<HashSet<Inode>>,
}

impl Overlap {
    /// The files for these roots. Costs one `statx` for each root if there are several.
    pub fn new(paths: &[CString], follow: Follow) -> Overlap {
        let mut overlap = Overlap {
            all: follow == Follow::Always,
            directories: HashSet::new(),
            files: HashSet::new(),
            met: Mutex::default(),
        };
        if paths.len() > 1 {
            for (inode, kind) in paths.iter().filter_map(|path| root(path, follow)) {
                let known = if kind == Kind::Dir { &mut overlap.directories } else { &mut overlap.files };
                known.insert(inode);
            }
        }
        overlap
    }

    /// Whether the walk may find a directory more than once.
    pub(crate) fn has_directories(&self) -> bool {
        self.all || !self.directories.is_empty()
    }

    /// Whether the walk may find any directory more than once, because links are followed.
    pub(crate) fn is_by_links(&self) -> bool {
        self.all
    }

    /// Whether a directory must be counted: false if it was found before.
    pub fn is_new(&self, directory: Inode) -> bool {
        let may_repeat = self.all || self.directories.contains(&directory);
        !may_repeat || self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(directory)
    }

    /// The number of names of a file that the walk may find: its link count, or [`UNKNOWN_NLINK`].
    pub fn names(&self, file: Inode, nlink: u32) -> u32 {
        if self.all || self.files.contains(&file) { UNKNOWN_NLINK } else { nlink }
    }
}

/// The identity of an open directory: one `statx`.
pub(crate) fn directory(dir: Option<BorrowedFd<'_>>) -> Option<Inode> {
    let statx = stat::fstat(dir?, Mask::INO).ok()?;
    Some(Inode { dev: statx.dev(), ino: statx.ino() })
}

/// The identity of a directory by its path: one `statx`.
pub(crate) fn of_path(path: &[u8]) -> Option<Inode> {
    let path = CString::new(path).ok()?;
    let statx = stat::statx(CWD, &path, Flags::NO_AUTOMOUNT, Mask::INO).ok()?;
    Some(Inode { dev: statx.dev(), ino: statx.ino() })
}

/// Identity and type of a root: one `statx`.
pub(crate) fn root(path: &CStr, follow: Follow) -> Option<(Inode, Kind)> {
    let flags = if follow == Follow::Never { Flags::NOFOLLOW } else { Flags::empty() };
    let statx = stat::statx(CWD, path, flags | Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO).ok()?;
    Some((Inode { dev: statx.dev(), ino: statx.ino() }, Kind::from_mode(statx.mode() as u16)))
}
