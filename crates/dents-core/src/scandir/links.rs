//! Whether the link count of a directory tells the number of its subdirectories, and for how long.

use dents_sys::stat::{self, Mask};
use dents_sys::statfs::FsType;
use dents_sys::{BorrowedFd, Result, Timestamp};

/// Whether a directory of this file system has two links and one more for each subdirectory, or always a single link
/// (then [`Snapshot::subdirectories`] is `None`).
///
/// Only file systems whose code shows this are listed; on any other, each entry is stat'ed.
///
/// | file system | where | what |
/// |---|---|---|
/// | ext2, ext3, ext4 | fs/ext4/namei.c, `ext4_inc_count`; Documentation/filesystems/ext4, `i_links_count` | counts; with dir_nlink 1 from 65,000 links on, and for good |
/// | XFS | fs/xfs: creating a directory bumps the parent's link count | counts |
/// | tmpfs, devtmpfs | mm/shmem.c, `shmem_mkdir`: `inc_nlink(dir)` | counts |
/// | ramfs | fs/ramfs/inode.c, `ramfs_mkdir`: `inc_nlink(dir)` | counts |
/// | F2FS | fs/f2fs/dir.c, `f2fs_update_parent_metadata` | counts |
/// | btrfs | inode item, on-disk format: "nlink in directories is fixed at 1" | always 1 |
///
/// Not overlayfs (a merged directory has 1 link, any other has the count of its layer, which includes whiteouts), not
/// NFS and similar (the link count and the clock are the server's), not FUSE (no rules).
#[must_use]
pub fn counts_subdirectories(fs: FsType) -> bool {
    [FsType::EXT, FsType::XFS, FsType::TMPFS, FsType::RAMFS, FsType::F2FS].contains(&fs)
}

/// The facts that change when entries are added or removed: number of links, size, and two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    nlink: u32,
    size: u64,
    mtime: Timestamp,
    ctime: Timestamp,
}

impl Snapshot {
    /// Reads them for an open directory: one `statx`.
    ///
    /// # Errors
    /// The error of `statx`.
    pub fn take(directory: BorrowedFd<'_>) -> Result<Snapshot> {
        let statx = stat::fstat(directory, Mask::NLINK | Mask::SIZE | Mask::MTIME | Mask::CTIME)?;
        let (mtime, ctime) = (statx.mtime(), statx.ctime());
        Ok(Snapshot { nlink: statx.nlink(), size: statx.size(), mtime, ctime })
    }

    /// The number of subdirectories, if the link count tells it: from 2 on.
    #[must_use]
    pub fn subdirectories(&self) -> Option<u32> {
        self.nlink.checked_sub(2)
    }

    /// Whether the directory changed so shortly before `now`, the time of the snapshot, that another change might leave
    /// the same times: in this second, in the previous one (the second may have just ended, and file times use a
    /// coarser clock), or in the future. Some file systems keep whole seconds. The ctime counts too, since an owner may
    /// set an mtime back.
    #[must_use]
    pub fn is_recent(&self, now: Timestamp) -> bool {
        self.mtime.max(self.ctime).sec >= now.sec - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(nlink: u32, mtime: i64, ctime: i64) -> Snapshot {
        let at = |sec| Timestamp { sec, nsec: 0 };
        Snapshot { nlink, size: 4096, mtime: at(mtime), ctime: at(ctime) }
    }

    #[test]
    fn below_two_links_nothing_is_said() {
        let said = [0, 1, 2, 3, 65_000].map(|nlink| snapshot(nlink, 0, 0).subdirectories());
        assert_eq!(said, [None, None, Some(0), Some(1), Some(64_998)]);
    }

    #[test]
    fn this_second_and_the_one_before_are_recent() {
        let now = Timestamp { sec: 100, nsec: 5 };
        let recent = |mtime, ctime| snapshot(2, mtime, ctime).is_recent(now);
        assert!(recent(100, 0) && recent(99, 0) && recent(0, 100) && recent(200, 0));
        assert!(!recent(98, 98));
    }
}
