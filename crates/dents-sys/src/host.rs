//! The machine's name, the effective user and the working directory.
use crate::Result;
use alloc::vec::Vec;

/// The name of this machine: one `uname`.
#[must_use]
pub fn nodename() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// The effective user, whose permissions count: one `geteuid`.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The absolute path of the current directory: one `getcwd`.
///
/// Errors: `ENOENT` if the directory was removed. If it cannot be reached from the root, its path does not begin with
/// a slash.
pub fn current_directory() -> Result<Vec<u8>> {
    Ok(rustix::process::getcwd(Vec::new())?.into_bytes())
}
