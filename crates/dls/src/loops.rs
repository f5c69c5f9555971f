//! Directories being listed, to notice one that contains itself.

use alloc::vec::Vec;
use dents_sys::stat::{self, Mask};
use dents_sys::{BorrowedFd, Result};

/// The directories from the operand down to the one being listed, by device and inode.
#[derive(Default)]
pub(crate) struct ActiveDirectories(Vec<((u32, u32), u64)>);

impl ActiveDirectories {
    /// Enters a directory: one `statx`. `false` if it is one of those being listed.
    ///
    /// # Errors
    /// What `statx` gives.
    pub(crate) fn enter(&mut self, dir: BorrowedFd<'_>) -> Result<bool> {
        let statx = stat::fstat(dir, Mask::INO)?;
        Ok(self.enter_known((statx.dev(), statx.ino())))
    }

    /// The same for one whose device and inode are known.
    pub(crate) fn enter_known(&mut self, identity: ((u32, u32), u64)) -> bool {
        let new = !self.0.contains(&identity);
        if new {
            self.0.push(identity);
        }
        new
    }

    /// Leaves the directory entered last.
    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }
}
