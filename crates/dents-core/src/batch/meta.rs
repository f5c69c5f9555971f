//! A slot: the metadata of one entry.

use super::{Asked, Time};
#[cfg(doc)]
use crate::needs::Needs;
use dents_sys::Errno;
use dents_sys::stat::{Mask, Statx, Timestamp};

/// One slot of metadata, 64 bytes. The plan's needs tell which fields are filled.
#[derive(Clone, Copy, Default)]
pub struct Meta {
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) sec: i64,
    pub(crate) nsec: u32,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Device files: the device number as the kernel packs it (12 bits major, 20 bits minor). Symbolic links: where the
    /// text begins in the links of `texts`. With [`Bits::EXTRA`]: the index of the [`Extra`] in `texts`, and the extra
    /// holds this field.
    pub(crate) rdev_or_link: u32,
    pub(crate) mode: u16,
    pub(crate) target_mode: u16,
    pub(crate) link_len: u16,
    /// In a faulty slot the error number; else the index of the context in `texts`, counted from 1, or zero for none.
    pub(crate) errno_or_context: u16,
    /// The index of the texts that hold the link and the context.
    pub(crate) texts: u16,
    pub(crate) bits: Bits,
}

const _: () = assert!(size_of::<Meta>() == 64);

bitflags::bitflags! {
    /// Which fields of a slot are filled.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Bits: u16 {
        /// `statx` answered.
        const STAT = 1 << 0;
        /// The link's text was read.
        const LINK = 1 << 1;
        /// The target was requested.
        const TARGET = 1 << 2;
        const CONTEXT = 1 << 3;
        const ACL = 1 << 4;
        const CAPABILITY = 1 << 5;
        /// Two bits of `Asked`: which request failed.
        const FAULT_LOW = 1 << 6;
        const FAULT_HIGH = 1 << 7;
        /// There is an [`Extra`].
        const EXTRA = 1 << 8;
        /// The mark was not requested: [`Needs::NEAR_MARK`].
        const UNMARKED = 1 << 9;
    }
}

impl Meta {
    pub(crate) fn set_fault(&mut self, asked: Asked, errno: Errno) {
        self.bits |= Bits::from_bits_retain((asked as u16) << 6);
        self.errno_or_context = errno.raw_os_error() as u16;
    }

    pub(crate) fn errno(&self) -> Errno {
        Errno::from_raw_os_error(i32::from(self.errno_or_context))
    }

    pub(crate) fn is_faulty(&self) -> bool {
        self.bits.intersects(Bits::FAULT_LOW | Bits::FAULT_HIGH)
    }

    pub(super) fn fault(&self) -> Option<(Asked, Errno)> {
        let asked = match self.bits.bits() >> 6 & 3 {
            1 => Asked::Stat,
            2 => Asked::Link,
            3 => Asked::Xattr,
            _ => return None,
        };
        Some((asked, self.errno()))
    }
}

/// Metadata that a slot has no room for: [`Needs::EXTRA`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Last access.
    pub atime: Time,
    /// Birth; [`Time::UNKNOWN`] where the file system keeps none.
    pub btime: Time,
    /// Last change of the inode.
    pub ctime: Time,
    /// Last change of the contents.
    pub mtime: Time,
    /// Device number of the file system that holds the file. At a mount point it differs from that of the directory.
    pub dev: (u32, u32),
    /// Preferred size of a read or write, in bytes.
    pub blksize: u32,
    /// `STATX_ATTR_*` that are set. A mount point has [`Extra::MOUNT_ROOT`].
    pub attributes: u64,
    /// `STATX_ATTR_*` that the file system supports; the others are unknown.
    pub attributes_mask: u64,
    /// The value of [`Meta::rdev_or_link`] for an entry with an extra.
    pub(crate) rdev_or_link: u32,
    /// Where the list of extended attributes is in the links of the texts: start and length in bytes.
    pub(crate) xattrs: (u32, u32),
}

impl Extra {
    /// `STATX_ATTR_MOUNT_ROOT`: something is mounted there.
    pub const MOUNT_ROOT: u64 = 0x2000;
}

impl Default for Extra {
    fn default() -> Self {
        let time = Time::default();
        Extra {
            atime: time,
            btime: Time::UNKNOWN,
            ctime: time,
            mtime: time,
            dev: (0, 0),
            blksize: 0,
            attributes: 0,
            attributes_mask: 0,
            rdev_or_link: 0,
            xattrs: (0, 0),
        }
    }
}

impl From<&Statx> for Extra {
    fn from(statx: &Statx) -> Self {
        let time = |stamp: Timestamp| Time { sec: stamp.sec, nsec: stamp.nsec };
        let born = statx.mask().contains(Mask::BTIME);
        Extra {
            atime: time(statx.atime()),
            btime: if born { time(statx.btime()) } else { Time::UNKNOWN },
            ctime: time(statx.ctime()),
            mtime: time(statx.mtime()),
            dev: statx.dev(),
            blksize: statx.blksize(),
            attributes: statx.attributes(),
            attributes_mask: statx.attributes_mask(),
            ..Extra::default()
        }
    }
}
