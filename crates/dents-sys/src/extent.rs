//! Where a file is on its disk: `FS_IOC_FIEMAP`.
//!
//! Source: include/uapi/linux/fiemap.h. It needs no privilege, only a descriptor that is open for reading.
use crate::{BorrowedFd, Errno, Result};
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `struct fiemap` with room for one `struct fiemap_extent`.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extent: Extent,
}

#[repr(C)]
#[derive(Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more_reserved: [u32; 3],
}

/// `FS_IOC_FIEMAP`; its size is that of `struct fiemap` without extents.
const FIEMAP: Opcode = opcode::read_write::<[u8; 32]>(b'f', 11);

/// The position of the first block of a file or directory on the block device of its file system, in bytes. One `ioctl`, which reads
/// nothing from the disk if the inode is in memory and holds its extents, as that of a small file does.
///
/// Errors: `ENODATA` if it has no block; `EOPNOTSUPP` or `ENOTTY` where the file system does not tell, as XFS of directories.
pub fn first_block(file: BorrowedFd<'_>) -> Result<u64> {
    let mut map = Fiemap { length: u64::MAX, count: 1, ..Fiemap::default() };
    // SAFETY: the kernel writes the header and at most `count` extents, one, for which the structure has room.
    unsafe { ioctl(file, Updater::<FIEMAP, Fiemap>::new(&mut map))? };
    if map.mapped == 0 { Err(Errno::NODATA) } else { Ok(map.extent.physical) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsFd, CWD, dir};

    #[test]
    fn the_layout_is_that_of_the_kernel() {
        assert_eq!((size_of::<Fiemap>(), size_of::<Extent>()), (88, 56));
    }

    #[test]
    fn a_directory_has_a_place_or_the_file_system_does_not_tell() {
        let place = first_block(dir::open(CWD, c"/").expect("it opens").as_fd());
        assert!(matches!(place, Ok(1..) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOTTY)), "{place:?}");
    }

    #[test]
    fn proc_has_no_disk() {
        let place = first_block(dir::open(CWD, c"/proc").expect("it opens").as_fd());
        assert!(matches!(place, Err(Errno::OPNOTSUPP | Errno::NOTTY)), "{place:?}");
    }
}
