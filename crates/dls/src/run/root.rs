//! The operand being listed: the directories below it are opened from its descriptor.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::mounts::Mounts;
use dents_core::path::below;
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result, dir};

/// The current operand, from which directories below are opened.
pub(super) struct Root {
    path: CString,
    /// Opened at its first use (`O_PATH`): until then its descriptor may be the only one left for other files.
    directory: Option<OwnedFd>,
    /// The length of its own part of paths below it.
    len: usize,
    /// The mount point below it that was opened last.
    mount: Option<CString>,
    /// Whether nothing is mounted below it; `None` until that is needed.
    is_alone: Option<bool>,
}

impl Root {
    /// Opens nothing yet.
    pub(super) fn new(path: &CStr) -> Root {
        let len = below(path.to_bytes(), b"").len();
        Root { path: path.into(), directory: None, len, mount: None, is_alone: None }
    }

    /// Ends the use of the operand.
    pub(super) fn into_directory(self) -> Option<OwnedFd> {
        self.directory
    }

    /// Records that a mount point could not be opened from here.
    pub(super) fn set_mount(&mut self, path: &CStr) {
        self.mount = Some(path.into());
    }

    /// Opens a directory below it: one `openat2`, which fails with `EXDEV` at a mount point.
    pub(super) fn open(&mut self, path: &CStr) -> Result<OwnedFd> {
        let name = path.to_bytes_with_nul().get(self.len..).unwrap_or_default();
        let name = CStr::from_bytes_with_nul(name).map_err(|_| Errno::NOSYS)?;
        dir::open_on_same_mount(self.directory().ok_or(Errno::NOSYS)?, name, true)
    }

    fn directory(&mut self) -> Option<BorrowedFd<'_>> {
        self.directory = self.directory.take().or_else(|| dir::open_place(CWD, &self.path).ok());
        self.directory.as_ref().map(AsFd::as_fd)
    }

    /// Whether nothing is mounted below it, so that all directories there are on one file system.
    pub(super) fn is_alone(&mut self, mounts: &Mounts) -> bool {
        let known = self.is_alone;
        let is_alone = known.unwrap_or_else(|| self.directory().is_some_and(|dir| !mounts.any_below(dir)));
        *self.is_alone.insert(is_alone)
    }

    /// Whether something may be mounted right in the directory with this path.
    pub(super) fn holds_mount(&mut self, path: &CStr, mounts: &Mounts) -> bool {
        let rest = path.to_bytes().get(self.len..).unwrap_or_default();
        !self.is_alone(mounts) && self.directory().is_none_or(|dir| mounts.any_in(dir, rest))
    }

    /// The beginning of the paths of all directories below it.
    pub(super) fn prefix(&self) -> Vec<u8> {
        below(self.path.to_bytes(), b"")
    }

    /// Whether the path contains the mount point that was opened last.
    pub(super) fn is_beyond(&self, path: &CStr) -> bool {
        let mount = self.mount.as_deref().map_or(&b"/"[..], CStr::to_bytes);
        path.to_bytes().strip_prefix(mount).is_some_and(|rest| rest.starts_with(b"/"))
    }
}
