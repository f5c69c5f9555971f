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

/// The effective user when the program was started (`AT_EUID` of getauxval(3)): no system call.
#[cfg(feature = "auxv")]
#[must_use]
pub fn effective_user_at_start() -> u32 {
    /// `AT_EUID` of elf.h.
    const EFFECTIVE_USER: core::ffi::c_ulong = 12;
    // SAFETY: this is the signature of getauxval(3), which reads memory of the process for any argument.
    unsafe extern "C" {
        safe fn getauxval(kind: core::ffi::c_ulong) -> core::ffi::c_ulong;
    }
    getauxval(EFFECTIVE_USER) as u32
}

/// The absolute path of the current directory: one `getcwd`.
///
/// Errors: `ENOENT` if the directory was removed. If it cannot be reached from the root, its path does not begin with
/// a slash.
pub fn current_directory() -> Result<Vec<u8>> {
    Ok(rustix::process::getcwd(Vec::new())?.into_bytes())
}
