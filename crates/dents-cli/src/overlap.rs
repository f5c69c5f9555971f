//! Roots that lie in one another: what one way led to is not counted again when another leads there.
//!
//! Below two roots nothing is met twice unless one of the roots itself is: a root that lies below another, by whatever name
//! or link, or that is given twice. So only the roots are remembered. Where symbolic links are followed any directory
//! and any file may be met twice, and all are remembered.

use crate::inode::Inode;
use dents_core::needs::Kind;
use dents_core::tree::Follow;
use dents_core::tree::hardlinks::UNKNOWN_NLINK;
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{BorrowedFd, CWD};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

/// What may be met more than once.
pub(crate) struct Overlap {
    /// Everything.
    all: bool,
    directories: HashSet<Inode>,
    files: HashSet<Inode>,
    /// Directories of these that were met.
    met: Mutex<HashSet<Inode>>,
}

impl Overlap {
    /// For these roots. One `statx` for each if there are several.
    pub(crate) fn new(paths: &[CString], follow: Follow) -> Overlap {
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

    /// Whether a directory may be met more than once.
    pub(crate) fn has_directories(&self) -> bool {
        self.all || !self.directories.is_empty()
    }

    /// Whether a directory is met for the first time, as far as that matters.
    pub(crate) fn is_new(&self, directory: Inode) -> bool {
        let may_repeat = self.all || self.directories.contains(&directory);
        !may_repeat || self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(directory)
    }

    /// How many names of a file may be met, by its link count.
    pub(crate) fn names(&self, file: Inode, nlink: u32) -> u32 {
        if self.all || self.files.contains(&file) { UNKNOWN_NLINK } else { nlink }
    }
}

/// An open directory: one `statx`.
pub(crate) fn directory(dir: Option<BorrowedFd<'_>>) -> Option<Inode> {
    let statx = stat::fstat(dir?, Mask::INO).ok()?;
    Some(Inode { dev: statx.dev(), ino: statx.ino() })
}

/// A root: one `statx`.
pub(crate) fn root(path: &CStr, follow: Follow) -> Option<(Inode, Kind)> {
    let flags = if follow == Follow::Never { Flags::NOFOLLOW } else { Flags::empty() };
    let statx = stat::statx(CWD, path, flags | Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO).ok()?;
    Some((Inode { dev: statx.dev(), ino: statx.ino() }, Kind::from_mode(statx.mode() as u16)))
}
