//! The directories that are being listed, to detect one that contains itself.

use alloc::vec::Vec;
use dents_sys::stat::{self, Mask};
use dents_sys::{BorrowedFd, Result};

/// Device, by major and minor number, and inode.
pub(crate) type Identity = ((u32, u32), u64);

/// The device and inode of a directory: one `statx`.
///
/// # Errors
/// Those of `statx`.
pub(crate) fn identify(dir: BorrowedFd<'_>) -> Result<Identity> {
    let statx = stat::fstat(dir, Mask::INO)?;
    Ok((statx.dev(), statx.ino()))
}

/// The directories from the operand down to the one being listed, by device and inode; none for those that cannot contain
/// themselves.
#[derive(Default)]
pub(crate) struct ActiveDirectories(Vec<Option<Identity>>);

impl ActiveDirectories {
    /// Enters a directory. `false` if it is one of those being listed.
    pub(crate) fn enter(&mut self, identity: Option<Identity>) -> bool {
        let new = identity.is_none() || !self.0.contains(&identity);
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
