//! What a directory's link count says about its subdirectories, and for how long that holds.

use dents_sys::stat::{self, Mask};
use dents_sys::statfs::FsType;
use dents_sys::{BorrowedFd, Result, Timestamp};

/// Whether a directory of this file system has one link for each subdirectory beside its own two, or one link
/// altogether where it does not count (and then [`Snapshot::subdirectories`] says nothing).
///
/// Only those file systems are named whose code says so; any other is asked entry by entry.
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
/// Not overlayfs (a merged directory has 1, another its layer's count, which whiteouts are part of), not NFS and its like
/// (what the server counts is the server's affair, and its clock too), not FUSE (anything goes).
#[must_use]
pub fn counts_subdirectories(fs: FsType) -> bool {
    [FsType::EXT, FsType::XFS, FsType::TMPFS, FsType::RAMFS, FsType::F2FS].contains(&fs)
}

/// What changes when entries come and go: number of links, size, and the two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    nlink: u32,
    size: u64,
    mtime: Timestamp,
    ctime: Timestamp,
}

impl Snapshot {
    /// Looks at an open directory: one `statx`.
    ///
    /// # Errors
    /// What `statx` gives.
    pub fn take(directory: BorrowedFd<'_>) -> Result<Snapshot> {
        let statx = stat::fstat(directory, Mask::NLINK | Mask::SIZE | Mask::MTIME | Mask::CTIME)?;
        let (mtime, ctime) = (statx.mtime(), statx.ctime());
        Ok(Snapshot { nlink: statx.nlink(), size: statx.size(), mtime, ctime })
    }

    /// Number of subdirectories, if the link count tells: it does from 2 on.
    #[must_use]
    pub fn subdirectories(&self) -> Option<u32> {
        self.nlink.checked_sub(2)
    }

    /// Whether the directory changed so shortly before `now`, the moment it was looked at, that another change might
    /// leave the same times behind: in this second, the one before (the clock may have turned meanwhile, and times are
    /// those of a coarser clock), or in the future. Some file systems keep whole seconds. The ctime counts too, since
    /// any owner may set an mtime back.
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
