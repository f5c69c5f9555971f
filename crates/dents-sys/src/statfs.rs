//! The type of the file system that a directory is on.
use crate::stat::{self, Flags, Mask};
use crate::syscall::{self, STATMOUNT};
use crate::{BorrowedFd, Errno, Result};
use core::ffi::CStr;
use core::mem::MaybeUninit;

/// The magic number of a file system (`f_type`, 32 bits). Sources: include/uapi/linux/magic.h; for file systems that
/// are not there, their own headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FsType(pub u64);

macro_rules! magic {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        impl FsType {
            $($(#[$doc])* pub const $name: FsType = FsType($value);)*
        }
    };
}

magic! {
    /// Processes.
    PROC = 0x9fa0;
    /// Kernel objects.
    SYSFS = 0x6265_6572;
    /// Control groups, version 2.
    CGROUP2 = 0x6367_7270;
    /// Pseudo-terminals.
    DEVPTS = 0x1cd1;
    /// Memory; /dev has the same.
    TMPFS = 0x0102_1994;
    /// Memory without limits.
    RAMFS = 0x8584_58f6;
    /// Mounts a file system when a path in it is used.
    AUTOFS = 0x0187;
    /// ext2, ext3 and ext4.
    EXT = 0xef53;
    /// XFS; may lack d_type.
    XFS = 0x5846_5342;
    /// Btrfs; its directories have one link each.
    BTRFS = 0x9123_683e;
    /// bcachefs.
    BCACHEFS = 0xca45_1a4e;
    /// F2FS.
    F2FS = 0xf2f5_2010;
    /// ZFS on Linux.
    ZFS = 0x2fc1_2fc1;
    /// Layers over another file system.
    OVERLAY = 0x794c_7630;
    /// SquashFS.
    SQUASHFS = 0x7371_7368;
    /// EROFS.
    EROFS = 0xe0f5_e1e2;
    /// CD-ROM.
    ISOFS = 0x9660;
    /// FAT.
    MSDOS = 0x4d44;
    /// exFAT.
    EXFAT = 0x2011_bab0;
    /// NTFS in the kernel.
    NTFS3 = 0x7366_746e;
    /// NFS, any version.
    NFS = 0x6969;
    /// A user's program serves it: sshfs, s3fs, …
    FUSE = 0x6573_5546;
    /// SMB 1, the old client.
    SMB = 0x517b;
    /// SMB 1, today's client.
    CIFS = 0xff53_4d42;
    /// SMB 2 and 3.
    SMB2 = 0xfe53_4d42;
    /// AFS in the kernel.
    AFS = 0x6b41_4653;
    /// OpenAFS.
    OPENAFS = 0x5346_414f;
    /// Coda.
    CODA = 0x7375_7245;
    /// Plan 9's, between virtual machines and their hosts.
    V9FS = 0x0102_1997;
    /// CephFS.
    CEPH = 0x00c3_6400;
    /// Lustre.
    LUSTRE = 0x0bd0_0bd0;
    /// IBM's GPFS, Spectrum Scale.
    GPFS = 0x4750_4653;
    /// BeeGFS.
    BEEGFS = 0x1983_0326;
    /// PanFS.
    PANFS = 0xaad7_aaea;
    /// OCFS2, shared disks.
    OCFS2 = 0x7461_636f;
    /// GFS2, shared disks.
    GFS2 = 0x0116_1970;
}

/// The file system that `fd` is on: one `fstatfs`. On NFS, FUSE and the like this is a request to the server, and
/// waits for a dead server. [`of_mount`] makes no such request.
pub fn fstatfs(fd: BorrowedFd<'_>) -> Result<FsType> {
    Ok(narrow(rustix::fs::fstatfs(fd)?.f_type as u32))
}

/// The file system that a path leads to: one `statfs`, which may wait as [`fstatfs`] does. It opens nothing.
pub fn statfs(path: &CStr) -> Result<FsType> {
    Ok(narrow(rustix::fs::statfs(path)?.f_type as u32))
}

/// Like [`fstatfs`], but without a request to a server: `statx` returns the number of the mount from the kernel's own
/// data, and `statmount` the type of its file system. Before Linux 6.8, and where a filter refuses these calls, it
/// calls `fstatfs`.
pub fn of_mount(fd: BorrowedFd<'_>) -> Result<FsType> {
    let flags = Flags::EMPTY_PATH | Flags::DONT_SYNC;
    let statx = stat::statx(fd, c"", flags, Mask::MNT_ID_UNIQUE)?;
    if !statx.mask().contains(Mask::MNT_ID_UNIQUE) {
        return fstatfs(fd);
    }
    statmount(statx.mnt_id()).or_else(|_| fstatfs(fd))
}

/// The number has 32 bits everywhere. Where a word has no more, the conversion would extend its sign.
fn narrow(magic: u32) -> FsType {
    FsType(u64::from(magic))
}

/// `struct mnt_id_req` of include/uapi/linux/mount.h, in its first version.
#[repr(C)]
struct MntIdReq {
    size: u32,
    spare: u32,
    mnt_id: u64,
    param: u64,
}

/// The beginning of `struct statmount`, and room for the rest. It has 512 bytes in all; text follows only if it was
/// requested.
#[repr(C)]
struct StatMount {
    size: u32,
    mnt_opts: u32,
    mask: u64,
    sb_dev: [u32; 2],
    sb_magic: u64,
    rest: [u64; 60],
}

const STATMOUNT_SB_BASIC: u64 = 1;

fn statmount(mnt_id: u64) -> Result<FsType> {
    let request =
        MntIdReq { size: size_of::<MntIdReq>() as u32, spare: 0, mnt_id, param: STATMOUNT_SB_BASIC };
    let mut answer = MaybeUninit::<StatMount>::zeroed();
    // SAFETY: the kernel reads one request of the size that the request names. It writes at most the size of the
    // answer to the answer, which is borrowed exclusively. Every field is an integer, so any bytes are a valid value.
    let answer = unsafe {
        let (request, buffer) = (&raw const request as usize, answer.as_mut_ptr() as usize);
        syscall::syscall(STATMOUNT, [request, buffer, size_of::<StatMount>(), 0, 0, 0])?;
        answer.assume_init()
    };
    if answer.mask & STATMOUNT_SB_BASIC == 0 {
        return Err(Errno::NOSYS);
    }
    Ok(FsType(answer.sb_magic))
}
