//! `statx`: the metadata of a file, field by field.
//!
//! On a network file system the mask decides the cost: a field that is not requested may save a request to the
//! server. The kernel may return more fields than were requested, or fewer; [`Statx::mask`] says which.
//!
//! Linux has `statx` since 4.11, and older container profiles refuse it. From the first refusal on, `newfstatat` is
//! called instead: it returns all fields but the times of birth and the mount.
use crate::{BorrowedFd, Errno, Result, syscall};
use bitflags::bitflags;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};
#[cfg(not(feature = "libc"))]
use rustix::fd::AsRawFd;
use rustix::fs::{AtFlags, StatxFlags, StatxTimestamp};

bitflags! {
    /// The fields of [`Statx`] to request (`STATX_*`).
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
        /// Last change of the contents. To request it makes an NFS client flush data that it has not written yet.
        const MTIME = StatxFlags::MTIME.bits();
        /// Last change of the inode. On NFS it costs the same flush as `MTIME`.
        const CTIME = StatxFlags::CTIME.bits();
        /// Inode number.
        const INO = StatxFlags::INO.bits();
        /// Size; on Lustre a request to the storage servers.
        const SIZE = StatxFlags::SIZE.bits();
        /// Blocks allocated; on Lustre a request to the storage servers.
        const BLOCKS = StatxFlags::BLOCKS.bits();
        /// Time of birth. Check [`Statx::mask`]: not every file system keeps it.
        const BTIME = StatxFlags::BTIME.bits();
        /// Mount identity, since Linux 5.8.
        const MNT_ID = StatxFlags::MNT_ID.bits();
        /// Mount identity that is never reused, since Linux 6.8. `statmount` takes it.
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
        /// `AT_STATX_DONT_SYNC`: values that the client has cached are good enough.
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
    /// The bits that this crate knows. With other bits a later kernel might write fields for which [`Statx`] has no
    /// room.
    pub(crate) fn known_bits(self) -> u32 {
        self.bits() & Mask::all().bits()
    }
}

/// A point in time: seconds since 1970-01-01 UTC (negative before that), plus 0 to 999,999,999 nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds.
    pub sec: i64,
    /// Nanoseconds, added to the seconds, also if these are negative.
    pub nsec: u32,
}

impl From<StatxTimestamp> for Timestamp {
    #[inline]
    fn from(stamp: StatxTimestamp) -> Self {
        Timestamp { sec: stamp.tv_sec, nsec: stamp.tv_nsec }
    }
}

/// `struct statx`, 256 bytes. A field that [`mask`](Self::mask) does not name is zero or has a value that means
/// nothing.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Statx(rustix::fs::Statx);

// The structure that the kernel writes (include/uapi/linux/stat.h).
const _: () = assert!(size_of::<Statx>() == 256 && align_of::<Statx>() == align_of::<u64>());

/// The facts of a [`Statx`] that was not returned by `statx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of statx")]
pub struct Fields {
    pub mask: Mask,
    pub ino: u64,
    pub size: u64,
    /// In units of 512 bytes.
    pub blocks: u64,
    pub mode: u16,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    pub atime: Timestamp,
    pub mtime: Timestamp,
    pub ctime: Timestamp,
    pub btime: Timestamp,
}

impl Statx {
    /// Replaces the facts about a file. What belongs to its file system (device, block size, supported attributes) stays; no attribute
    /// and no device number is set.
    #[inline]
    pub fn set(&mut self, fields: &Fields) {
        let stamp = |to: &mut StatxTimestamp, time: Timestamp| {
            to.tv_sec = time.sec;
            to.tv_nsec = time.nsec;
        };
        let statx = &mut self.0;
        statx.stx_mask = fields.mask.bits();
        statx.stx_ino = fields.ino;
        statx.stx_size = fields.size;
        statx.stx_blocks = fields.blocks;
        statx.stx_mode = fields.mode;
        statx.stx_nlink = fields.nlink;
        statx.stx_uid = fields.uid;
        statx.stx_gid = fields.gid;
        stamp(&mut statx.stx_atime, fields.atime);
        stamp(&mut statx.stx_mtime, fields.mtime);
        stamp(&mut statx.stx_ctime, fields.ctime);
        stamp(&mut statx.stx_btime, fields.btime);
        (statx.stx_rdev_major, statx.stx_rdev_minor) = (0, 0);
        statx.stx_attributes = rustix::fs::StatxAttributes::empty();
    }

    /// All zero: a buffer for [`statx_into`].
    #[inline]
    pub const fn zeroed() -> Self {
        // SAFETY: every field is an integer, or consists of integers, and zero is a valid integer.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    /// The fields that the file system has set.
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

    /// Space allocated, in units of 512 bytes, whatever the block size of the file system.
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

    /// For a device file, the major and minor number of the device.
    #[inline]
    pub fn rdev(&self) -> (u32, u32) {
        (self.0.stx_rdev_major, self.0.stx_rdev_minor)
    }

    /// Major and minor number of the device that holds the file.
    #[inline]
    pub fn dev(&self) -> (u32, u32) {
        (self.0.stx_dev_major, self.0.stx_dev_minor)
    }

    /// The `STATX_ATTR_*` that are set.
    #[inline]
    pub fn attributes(&self) -> u64 {
        self.0.stx_attributes.bits() & self.0.stx_attributes_mask.bits()
    }

    /// Which of `STATX_ATTR_*` the file system keeps.
    #[inline]
    pub fn attributes_mask(&self) -> u64 {
        self.0.stx_attributes_mask.bits()
    }

    /// The mount that the file is on, with the number that /proc/self/mountinfo has. Valid if [`Mask::MNT_ID`] was
    /// requested; with [`Mask::MNT_ID_UNIQUE`] it is the unique number instead.
    #[inline]
    pub fn mnt_id(&self) -> u64 {
        self.0.stx_mnt_id
    }
}

/// The metadata of `path` relative to `dir`: one `statx`. Where a filter refuses `statx`, the first call costs two
/// `statx` and a `newfstatat`, and each later one a `newfstatat`.
///
/// Errors are the kernel's: `ENOENT`, `EACCES`, `ELOOP`, `ENAMETOOLONG`, `ENOTDIR`, …
#[inline]
pub fn statx(dir: BorrowedFd<'_>, path: &CStr, flags: Flags, mask: Mask) -> Result<Statx> {
    let mut buf = MaybeUninit::uninit();
    ask(dir, path, flags.at_flags(), mask, &mut buf)?;
    // SAFETY: the call succeeded, so the kernel copied a whole `struct statx` (fs/stat.c, `cp_statx`).
    Ok(unsafe { buf.assume_init() })
}

/// Like [`statx`], into a buffer of the caller, which saves copying 256 bytes. On an error `buf` is unchanged.
#[inline]
pub fn statx_into(buf: &mut Statx, dir: BorrowedFd<'_>, path: &CStr, flags: Flags, mask: Mask) -> Result<()> {
    // SAFETY: `MaybeUninit<Statx>` has the layout of `Statx`, and `ask` writes only whole values to it.
    let buf = unsafe { &mut *core::ptr::from_mut(buf).cast() };
    ask(dir, path, flags.at_flags(), mask, buf)
}

/// The metadata of an open file: one `statx` with `AT_EMPTY_PATH`. [`CWD`](crate::CWD) is the current directory.
#[inline]
pub fn fstat(fd: BorrowedFd<'_>, mask: Mask) -> Result<Statx> {
    let mut buf = MaybeUninit::uninit();
    ask(fd, c"", AtFlags::EMPTY_PATH, mask, &mut buf)?;
    // SAFETY: as in `statx`.
    Ok(unsafe { buf.assume_init() })
}

/// Whether the kernel accepts [`Flags::DONT_SYNC`]. Every Linux with `statx` does; a program that emulates Linux may
/// return `EINVAL`. The first call makes one `statx` of `dir`, which the kernel answers from memory.
#[must_use]
pub fn takes_dont_sync(dir: BorrowedFd<'_>) -> bool {
    /// 0 until the first call, 1 for yes, 2 for no. Relaxed: at worst two threads make the call.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if KNOWN.load(Ordering::Relaxed) == 0 {
        let answer = statx(dir, c"", Flags::EMPTY_PATH | Flags::DONT_SYNC, Mask::TYPE);
        KNOWN.store(if matches!(answer, Err(Errno::INVAL)) { 2 } else { 1 }, Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == 1
}

/// Whether `statx` is refused: not known yet, no, yes. Relaxed: at worst two threads make the call.
static STATX: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const REFUSED: u8 = 2;

#[inline]
fn ask(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: Mask,
    buf: &mut MaybeUninit<Statx>,
) -> Result<()> {
    if STATX.load(Ordering::Relaxed) == REFUSED {
        return ask_stat(dir, path, flags, buf);
    }
    match ask_statx(dir, path, flags, mask, buf) {
        Err(errno @ (Errno::NOSYS | Errno::PERM)) => if_refused(errno, dir, path, flags, buf),
        answer => answer,
    }
}

/// The function of libc, which fakeroot and others replace.
#[cfg(feature = "libc")]
fn ask_statx(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: Mask,
    buf: &mut MaybeUninit<Statx>,
) -> Result<()> {
    let mask = StatxFlags::from_bits_retain(mask.known_bits());
    buf.write(Statx(rustix::fs::statx(dir, path, flags, mask)?));
    Ok(())
}

#[cfg(not(feature = "libc"))]
#[inline]
fn ask_statx(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: Mask,
    buf: &mut MaybeUninit<Statx>,
) -> Result<()> {
    let mask = mask.known_bits();
    // SAFETY: `path` ends with a NUL. The kernel writes one `struct statx` to `buf`, which has room for it and is
    // borrowed exclusively. Unknown mask bits, with which it might write more, are off.
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

/// If the kernel or a filter refused `statx` itself, calls `newfstatat`. A file system may return the same errno for
/// one file. So a `statx` without a path decides: a kernel that has the call returns `EFAULT`.
#[cold]
#[inline(never)]
fn if_refused(
    errno: Errno,
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    buf: &mut MaybeUninit<Statx>,
) -> Result<()> {
    if STATX.load(Ordering::Relaxed) == UNKNOWN {
        // SAFETY: all pointers are null, so the kernel neither reads a path nor writes a result.
        let answer = unsafe { syscall::syscall(syscall::nr::STATX, [0; 6]) };
        STATX.store(if answer == Err(Errno::FAULT) { THERE } else { REFUSED }, Ordering::Relaxed);
    }
    if STATX.load(Ordering::Relaxed) == REFUSED { ask_stat(dir, path, flags, buf) } else { Err(errno) }
}

/// One `newfstatat`, with its result in the form of `statx`.
#[cold]
#[inline(never)]
fn ask_stat(dir: BorrowedFd<'_>, path: &CStr, flags: AtFlags, buf: &mut MaybeUninit<Statx>) -> Result<()> {
    let known = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH;
    let stat = rustix::fs::statat(dir, path, flags & known)?;
    buf.write(Statx::from_stat(&stat));
    Ok(())
}

impl Statx {
    /// The types of the fields differ from one architecture to the next.
    #[allow(clippy::unnecessary_cast)]
    fn from_stat(stat: &rustix::fs::Stat) -> Statx {
        use rustix::fs::{major, minor};
        let mut statx = Statx::zeroed();
        let to = &mut statx.0;
        to.stx_mask = StatxFlags::BASIC_STATS.bits();
        to.stx_mode = stat.st_mode as u16;
        to.stx_nlink = stat.st_nlink as u32;
        (to.stx_uid, to.stx_gid) = (stat.st_uid, stat.st_gid);
        to.stx_ino = stat.st_ino as u64;
        (to.stx_size, to.stx_blocks) = (stat.st_size as u64, stat.st_blocks as u64);
        to.stx_blksize = stat.st_blksize as u32;
        (to.stx_dev_major, to.stx_dev_minor) = (major(stat.st_dev), minor(stat.st_dev));
        (to.stx_rdev_major, to.stx_rdev_minor) = (major(stat.st_rdev), minor(stat.st_rdev));
        (to.stx_atime.tv_sec, to.stx_atime.tv_nsec) = (stat.st_atime as i64, stat.st_atime_nsec as u32);
        (to.stx_mtime.tv_sec, to.stx_mtime.tv_nsec) = (stat.st_mtime as i64, stat.st_mtime_nsec as u32);
        (to.stx_ctime.tv_sec, to.stx_ctime.tv_nsec) = (stat.st_ctime as i64, stat.st_ctime_nsec as u32);
        statx
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CWD;

    /// Both calls must return the same, on any file system.
    #[test]
    fn the_old_call_tells_the_same() {
        let none = AtFlags::empty();
        let same = |path: &CStr, flags: AtFlags| {
            let mut both = [MaybeUninit::new(Statx::zeroed()); 2];
            let [new, old] = &mut both;
            assert_eq!(ask_statx(CWD, path, flags, Mask::all(), new), ask_stat(CWD, path, flags, old));
            // SAFETY: both began as zero.
            let [new, old] = both.map(|statx| unsafe { statx.assume_init() });
            let told = |statx: &Statx| {
                let times = [statx.mtime(), statx.ctime()];
                let sizes = (statx.size(), statx.blocks(), statx.blksize());
                let numbers =
                    (statx.ino(), statx.nlink(), statx.uid(), statx.gid(), statx.dev(), statx.rdev());
                (statx.mode(), numbers, sizes, times)
            };
            assert_eq!(told(&new), told(&old), "{path:?}");
            assert!(!old.mask().contains(Mask::BTIME) && old.attributes() == 0);
        };
        for path in [c"/usr", c"/dev/null", c"Cargo.toml", c"missing", c"/etc/passwd/x"] {
            same(path, none);
            same(path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT);
        }
        same(c"", AtFlags::EMPTY_PATH);
    }
}
