//! What kind of file system a directory is on.
use crate::{BorrowedFd, Result};

/// The magic number of a file system (`f_type`, 32 bits). Sources: include/uapi/linux/magic.h, and for those that
/// live outside of it the file systems' own headers.
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
    /// Mounted when looked at.
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
    /// Layers over another.
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
    /// A program of some user answers: sshfs, s3fs, …
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

/// The file system that `fd` is on: one `fstatfs`. Asks no server on NFS's behalf that the mount did not ask
/// already, yet a dead one may keep it waiting.
pub fn fstatfs(fd: BorrowedFd<'_>) -> Result<FsType> {
    // 32 bits everywhere; where a word is no wider the sign would spread.
    Ok(FsType(u64::from(rustix::fs::fstatfs(fd)?.f_type as u32)))
}
