//! Whether a directory is on a rotating disk.

use alloc::format;
use core::ffi::CStr;
use dents_sys::stat::{self, Mask};
use dents_sys::{BorrowedFd, file};

/// Disks of hypervisors, as SCSI names their vendors: blocks of a server's storage, which answers many requests at once.
const VIRTUAL: [&[u8]; 4] = [b"Msft", b"QEMU", b"VMware", b"Google"];

/// Whether this directory is on a single disk that rotates. The kernel's flag is believed of SCSI and ATA disks alone: it is
/// also set for most disks of virtual machines, for network block devices and for arrays of disks, where several workers are faster.
///
/// One `statx`; three calls to read each of two files, four for a partition. A file system without a block device of its own has no
/// disk here: btrfs, overlayfs and all that are remote have major number 0.
pub(super) fn is_on_rotating_disk(dir: BorrowedFd<'_>) -> bool {
    let Ok(statx) = stat::fstat(dir, Mask::INO) else { return false };
    let (major, minor) = statx.dev();
    // A partition has neither a queue nor a vendor of its own; the directory above it is that of the disk.
    let read = |file: &str| {
        ["", "/.."].iter().find_map(|above| {
            let path = format!("/sys/dev/block/{major}:{minor}{above}/{file}\0");
            file::read_to_end(CStr::from_bytes_with_nul(path.as_bytes()).ok()?, 16).ok()
        })
    };
    is_disk(major)
        && read("queue/rotational").is_some_and(|flag| flag.starts_with(b"1"))
        && !read("device/vendor").is_some_and(|vendor| is_virtual(&vendor))
}

/// SCSI and ATA disks (Documentation/admin-guide/devices.txt of the kernel), and loop devices, whose flag is that of the disk
/// below them.
fn is_disk(major: u32) -> bool {
    matches!(major, 7 | 8 | 65..=71 | 128..=135)
}

fn is_virtual(vendor: &[u8]) -> bool {
    VIRTUAL.iter().any(|virtual_vendor| vendor.starts_with(virtual_vendor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::open;
    use dents_sys::{AsFd, CWD};

    #[test]
    fn disks_of_hypervisors_and_arrays_do_not_count() {
        assert!(is_disk(8) && is_disk(65) && is_disk(135) && is_disk(7));
        assert!(
            [0, 9, 43, 252, 253, 254, 259].iter().all(|major| !is_disk(*major)),
            "md, nbd, virtio, dm, NVMe"
        );
        assert!(is_virtual(b"Msft    \n") && is_virtual(b"QEMU    \n") && !is_virtual(b"ATA     \n"));
    }

    #[test]
    fn proc_is_on_no_disk() {
        let proc = open::by_path(CWD, b"/proc", true, &mut 0).expect("it opens");
        assert!(!is_on_rotating_disk(proc.as_fd()));
    }
}
