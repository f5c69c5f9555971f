//! Whether a directory is on a rotating disk.

use alloc::format;
use core::ffi::CStr;
use dents_sys::stat::{self, Mask};
use dents_sys::{BorrowedFd, file};

/// Whether the kernel says that the disk of this directory rotates. It says so of many virtual disks that do not.
///
/// One `statx`; three calls to read the flag, four for a partition. File systems that have no block device of their own are not
/// looked up: btrfs, overlayfs and all that are remote have major number 0.
pub(super) fn is_on_rotating_disk(dir: BorrowedFd<'_>) -> bool {
    let Ok(statx) = stat::fstat(dir, Mask::INO) else { return false };
    let (major, minor) = statx.dev();
    // A partition has no queue of its own; the directory above it is that of the disk.
    let read = |above: &str| {
        let path = format!("/sys/dev/block/{major}:{minor}{above}/queue/rotational\0");
        file::read_to_end(CStr::from_bytes_with_nul(path.as_bytes()).ok()?, 16).ok()
    };
    major != 0 && read("").or_else(|| read("/..")).is_some_and(|flag| flag.starts_with(b"1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::open;
    use dents_sys::{AsFd, CWD};

    #[test]
    fn proc_is_on_no_disk() {
        let proc = open::by_path(CWD, b"/proc", true, &mut 0).expect("it opens");
        assert!(!is_on_rotating_disk(proc.as_fd()));
    }
}
