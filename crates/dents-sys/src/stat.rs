//! `statx`: what is known of a file, asked field by field.
//!
//! On a network file system the mask is the price: a field not asked for is a request not sent. The kernel may
//! answer more than was asked, or less; [`Statx::mask`] tells what came.
use crate::{BorrowedFd, Errno, Result, syscall};
use bitflags::bitflags;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};
use rustix::fd::AsRawFd;
use rustix::fs::{AtFlags, StatxFlags, StatxTimestamp};

bitflags! {
    /// The fields of [`Statx`] to ask for (`STATX_*`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Mask: u32 {
        /// The type in `mode`.
        const TYPE = StatxFlags::TYPE.bits();
        /// The permissions in `mode`.
        const MODE = StatxFlags::MODE.bits();
        /// Number of hard links.
        const NLINK = StatxFlags::NLINK.bits();
        /// Owner.
        const UID = StatxFlags::UID.bits();
        /// Group.
        const GID = StatxFlags::GID.bits();
        /// Last access.
        const ATIME = StatxFlags::ATIME.bits();
        /// Last change of the contents; asking makes an NFS client flush what it has not written yet.
        const MTIME = StatxFlags::MTIME.bits();
        /// Last change of the inode; costs the same on NFS.
        const CTIME = StatxFlags::CTIME.bits();
        /// Inode number.
        const INO = StatxFlags::INO.bits();
        /// Size; on Lustre a question to the storage servers.
        const SIZE = StatxFlags::SIZE.bits();
        /// Blocks allocated; on Lustre a question to the storage servers.
        const BLOCKS = StatxFlags::BLOCKS.bits();
        /// Birth; check [`Statx::mask`], not every file system keeps it.
        const BTIME = StatxFlags::BTIME.bits();
        /// Mount identity, since Linux 5.8.
        const MNT_ID = StatxFlags::MNT_ID.bits();
        /// Mount identity that is never used again, since Linux 6.8: what `statmount` wants.
        const MNT_ID_UNIQUE = 0x4000;
    }
}

bitflags! {
    /// How to look a file up.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u32 {
        /// `AT_SYMLINK_NOFOLLOW`: the link itself.
        const NOFOLLOW = AtFlags::SYMLINK_NOFOLLOW.bits();
        /// `AT_NO_AUTOMOUNT`: mount nothing for the last component.
        const NO_AUTOMOUNT = AtFlags::NO_AUTOMOUNT.bits();
        /// `AT_STATX_DONT_SYNC`: what the client remembers will do.
        const DONT_SYNC = AtFlags::STATX_DONT_SYNC.bits();
        /// `AT_EMPTY_PATH`: with an empty path, the descriptor's own file, which may have been opened with `O_PATH`.
        const EMPTY_PATH = AtFlags::EMPTY_PATH.bits();
    }
}

impl Flags {
    pub(crate) fn at_flags(self) -> AtFlags {
        AtFlags::from_bits_retain(self.bits() & Flags::all().bits())
    }
}

impl Mask {
    /// The bits this crate knows. Others may ask a later kernel to write what [`Statx`] has no room for.
    pub(crate) fn known_bits(self) -> u32 {
        self.bits() & Mask::all().bits()
    }
}

/// A moment: seconds since 1970-01-01 UTC, before it if negative, and nanoseconds (0 to 999,999,999) after that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds.
    pub sec: i64,
    /// Nanoseconds, always forward.
    pub nsec: u32,
}

impl From<StatxTimestamp> for Timestamp {
    #[inline]
    fn from(stamp: StatxTimestamp) -> Self {
        Timestamp { sec: stamp.tv_sec, nsec: stamp.tv_nsec }
    }
}

/// `struct statx`, 256 bytes. A field that [`mask`](Self::mask) does not name holds a made-up value or zero.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Statx(rustix::fs::Statx);

// What the kernel writes (include/uapi/linux/stat.h).
const _: () = assert!(size_of::<Statx>() == 256 && align_of::<Statx>() == align_of::<u64>());

impl Statx {
    /// All zero: a buffer for [`statx_into`].
    #[inline]
    pub const fn zeroed() -> Self {
        // SAFETY: every field is an integer, or made of integers, for which zero is a value.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    /// The fields that hold what the file system said.
    #[inline]
    pub fn mask(&self) -> Mask {
        Mask::from_bits_truncate(self.0.stx_mask)
    }

    /// Type and permissions, as `st_mode`.
    #[inline]
    pub fn mode(&self) -> u32 {
        u32::from(self.0.stx_mode)
    }

    /// Number of hard links.
    #[inline]
    pub fn nlink(&self) -> u32 {
        self.0.stx_nlink
    }

    /// Owner.
    #[inline]
    pub fn uid(&self) -> u32 {
        self.0.stx_uid
    }

    /// Group.
    #[inline]
    pub fn gid(&self) -> u32 {
        self.0.stx_gid
    }

    /// Inode number.
    #[inline]
    pub fn ino(&self) -> u64 {
        self.0.stx_ino
    }

    /// Size in bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        self.0.stx_size
    }

    /// Space allocated, in units of 512 bytes whatever the file system's block.
    #[inline]
    pub fn blocks(&self) -> u64 {
        self.0.stx_blocks
    }

    /// Preferred size of a read or write, in bytes.
    #[inline]
    pub fn blksize(&self) -> u32 {
        self.0.stx_blksize
    }

    /// Last access.
    #[inline]
    pub fn atime(&self) -> Timestamp {
        self.0.stx_atime.into()
    }

    /// Birth.
    #[inline]
    pub fn btime(&self) -> Timestamp {
        self.0.stx_btime.into()
    }

    /// Last change of the inode.
    #[inline]
    pub fn ctime(&self) -> Timestamp {
        self.0.stx_ctime.into()
    }

    /// Last change of the contents.
    #[inline]
    pub fn mtime(&self) -> Timestamp {
        self.0.stx_mtime.into()
    }

    /// Major and minor number of the device that this file is.
    #[inline]
    pub fn rdev(&self) -> (u32, u32) {
        (self.0.stx_rdev_major, self.0.stx_rdev_minor)
    }

    /// Major and minor number of the device that holds the file.
    #[inline]
    pub fn dev(&self) -> (u32, u32) {
        (self.0.stx_dev_major, self.0.stx_dev_minor)
    }

    /// `STATX_ATTR_*`, those the file system keeps.
    #[inline]
    pub fn attributes(&self) -> u64 {
        self.0.stx_attributes.bits() & self.0.stx_attributes_mask.bits()
    }

    /// Which of `STATX_ATTR_*` the file system keeps.
    #[inline]
    pub fn attributes_mask(&self) -> u64 {
        self.0.stx_attributes_mask.bits()
    }

    /// The mount it was found on, as in /proc/self/mountinfo; valid with [`Mask::MNT_ID`] or
    /// [`Mask::MNT_ID_UNIQUE`], whichever was asked for.
    #[inline]
    pub fn mnt_id(&self) -> u64 {
        self.0.stx_mnt_id
    }
}

/// Asks about `path` relative to `dir`: one `statx`.
///
/// Errors are the kernel's: `ENOENT`, `EACCES`, `ELOOP`, `ENAMETOOLONG`, `ENOTDIR`, …
#[inline]
pub fn statx(dir: BorrowedFd<'_>, path: &CStr, flags: Flags, mask: Mask) -> Result<Statx> {
    let mut buf = MaybeUninit::uninit();
    ask(dir, path, flags.at_flags(), mask, &mut buf)?;
    // SAFETY: the call succeeded, so the kernel copied a whole `struct statx` (fs/stat.c, `cp_statx`).
    Ok(unsafe { buf.assume_init() })
}

/// The same as [`statx`] into a buffer of the caller's, which saves copying 256 bytes. On an error `buf` is as
/// it was.
#[inline]
pub fn statx_into(buf: &mut Statx, dir: BorrowedFd<'_>, path: &CStr, flags: Flags, mask: Mask) -> Result<()> {
    // SAFETY: `MaybeUninit<Statx>` has the layout of `Statx`, and `ask` only ever writes whole values to it.
    let buf = unsafe { &mut *core::ptr::from_mut(buf).cast() };
    ask(dir, path, flags.at_flags(), mask, buf)
}

/// Asks about an open file: one `statx` with `AT_EMPTY_PATH`. [`CWD`](crate::CWD) is the current directory.
#[inline]
pub fn fstat(fd: BorrowedFd<'_>, mask: Mask) -> Result<Statx> {
    let mut buf = MaybeUninit::uninit();
    ask(fd, c"", AtFlags::EMPTY_PATH, mask, &mut buf)?;
    // SAFETY: as in `statx`.
    Ok(unsafe { buf.assume_init() })
}

/// Whether the kernel takes [`Flags::DONT_SYNC`]. Every Linux with `statx` does; something that stands in for one may
/// answer `EINVAL`. One `statx` of `dir` out of memory, the first time.
#[must_use]
pub fn takes_dont_sync(dir: BorrowedFd<'_>) -> bool {
    /// 0 as long as nobody asked, 1 for yes, 2 for no. Relaxed: at worst two threads ask.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if KNOWN.load(Ordering::Relaxed) == 0 {
        let answer = statx(dir, c"", Flags::EMPTY_PATH | Flags::DONT_SYNC, Mask::TYPE);
        KNOWN.store(if matches!(answer, Err(Errno::INVAL)) { 2 } else { 1 }, Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == 1
}

#[inline]
fn ask(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: Mask,
    buf: &mut MaybeUninit<Statx>,
) -> Result<()> {
    let mask = mask.known_bits();
    // SAFETY: `path` ends in NUL; the kernel writes one `struct statx` to `buf`, which has room for it and is
    // ours alone; unknown mask bits, which might ask for more, are off.
    unsafe {
        let args = [
            dir.as_raw_fd() as usize,
            path.as_ptr() as usize,
            flags.bits() as usize,
            mask as usize,
            buf.as_mut_ptr() as usize,
            0,
        ];
        syscall::syscall(syscall::nr::STATX, args)?;
    }
    Ok(())
}
