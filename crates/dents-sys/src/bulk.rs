//! The metadata of many inodes in one call: `XFS_IOC_BULKSTAT`, and `BTRFS_IOC_TREE_SEARCH_V2` for the inode items of a
//! subvolume ([`btrfs`]).
//!
//! The kernel refuses both with `EPERM` to a process without `CAP_SYS_ADMIN` in the first user namespace. Neither looks
//! up a name: the caller joins inode numbers to names. Sources: fs/xfs/libxfs/xfs_fs.h and fs/xfs/xfs_itable.c.

pub mod btrfs;

use crate::stat::{Fields, Timestamp};
use crate::{BorrowedFd, Result};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};

/// Room for the arguments and the results of a call.
pub struct Room(Vec<u8>);

impl Room {
    /// 256 KiB: some 1,000 inodes. More make no difference, because the kernel works through 64 inodes of XFS or one leaf of btrfs
    /// at a time.
    #[must_use]
    pub fn new() -> Self {
        Room(vec![0; 256 * 1024])
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::new()
    }
}

/// An `ioctl` that reads its arguments from a room and writes its results there.
struct Fill<'r> {
    opcode: Opcode,
    room: &'r mut [u8],
}

// SAFETY: the pointer is that of the room, which is borrowed exclusively for the call. No call writes more bytes than its number
// or its arguments say, which the functions derive from the size of the room. The kernel demands no alignment.
unsafe impl Ioctl for Fill<'_> {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.room.as_mut_ptr().cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> Result<()> {
        Ok(())
    }
}

/// An inode of a bulk call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inode {
    /// Its metadata, as `statx` returns it.
    pub fields: Fields,
    /// Whether `statx` may return something else: it is a device, has flags that `statx` returns as attributes, or has blocks that
    /// this call does not count. Ask `statx` about such an inode.
    pub is_odd: bool,
    /// Whether it has blocks that this call does not count.
    pub has_more_blocks: bool,
}

/// `struct xfs_bulk_ireq`.
const XFS_HEADER: usize = 64;
/// `struct xfs_bulkstat`.
const XFS_RECORD: usize = 192;
/// `XFS_IOC_BULKSTAT`.
const BULKSTAT: Opcode = opcode::read::<[u8; XFS_HEADER]>(b'X', 127);
/// `XFS_BULK_IREQ_AGNO`: only this allocation group.
const AGNO: u32 = 1;
/// `FS_XFLAG_REALTIME`, `_IMMUTABLE`, `_APPEND`, `_NODUMP`, `_DAX`: other blocks, and attributes of `statx`.
const XFS_ODD: u64 = 0x1 | 0x8 | 0x10 | 0x80 | 0x8000;

/// The next inodes of an XFS allocation group, from number `from` on (0: the first), in the order of numbers. Returns the number to
/// continue at; none at the end of the group. One `ioctl`.
///
/// The size of a file is that on the disk: data that is not written yet does not count, unlike in the answer of `statx`.
///
/// Errors: `EINVAL` if there is no such group, and on an idmapped mount; `EPERM` without `CAP_SYS_ADMIN`; `ENOTTY` elsewhere than
/// on XFS, and before Linux 5.3.
pub fn xfs_group(
    fs: BorrowedFd<'_>,
    group: u32,
    from: u64,
    room: &mut Room,
    mut each: impl FnMut(&Inode),
) -> Result<Option<u64>> {
    let most = (room.0.len() - XFS_HEADER) / XFS_RECORD;
    room.0[..XFS_HEADER].fill(0);
    put(&mut room.0, 0, from);
    put32(&mut room.0, 8, AGNO);
    put32(&mut room.0, 12, most as u32);
    put32(&mut room.0, 20, group);
    // SAFETY: the kernel writes the header and at most `most` records, for which the room suffices.
    unsafe { ioctl(fs, Fill { opcode: BULKSTAT, room: &mut room.0 })? };
    let (header, records) = room.0.split_at(XFS_HEADER);
    let found = (get32(header, 16) as usize).min(most);
    records.chunks_exact(XFS_RECORD).take(found).for_each(|record| each(&xfs_inode(record)));
    Ok((found > 0).then(|| get(header, 0)))
}

fn xfs_inode(record: &[u8]) -> Inode {
    let time = |sec, nsec| Timestamp { sec: get(record, sec) as i64, nsec: get32(record, nsec) };
    let (blocks, mode) = (get(record, 16), get16(record, 132));
    let fields = Fields {
        ino: get(record, 0),
        size: get(record, 8),
        blocks: blocks * u64::from(get32(record, 96)) / 512,
        mode,
        nlink: get32(record, 112),
        uid: get32(record, 68),
        gid: get32(record, 72),
        atime: time(32, 80),
        mtime: time(40, 84),
        ctime: time(48, 88),
        btime: time(56, 92),
        ..Fields::default()
    };
    // The blocks of attributes are not counted if the data needs none.
    let has_more_blocks = blocks == 0 && get32(record, 120) > 0;
    let is_odd = get(record, 24) & XFS_ODD != 0 || has_more_blocks || is_device(mode);
    Inode { fields, is_odd, has_more_blocks }
}

/// Writes data that waits in memory to the file system of `fd`, so that bulk calls see it: one `syncfs`. It may take as long as the
/// disk needs.
pub fn sync(fd: BorrowedFd<'_>) -> Result<()> {
    rustix::fs::syncfs(fd)
}

/// Block and character devices have a number that a bulk call does not return as `statx` does.
fn is_device(mode: u16) -> bool {
    matches!(mode >> 12, 2 | 6)
}

fn put(room: &mut [u8], at: usize, value: u64) {
    room[at..at + 8].copy_from_slice(&value.to_ne_bytes());
}

fn put32(room: &mut [u8], at: usize, value: u32) {
    room[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record[at..].first_chunk().copied().unwrap_or([0; N])
}

fn get(record: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes(record, at))
}

fn get32(record: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes(record, at))
}

fn get16(record: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(bytes(record, at))
}
