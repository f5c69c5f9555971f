//! The parts of a file system that workers read: allocation groups of XFS, ranges of inode numbers of a btrfs subvolume.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use dents_sys::bulk::btrfs::{self, END};
use dents_sys::bulk::{self, Inode, Room};
use dents_sys::stat::Statx;
use dents_sys::statfs::FsType;
use dents_sys::{BorrowedFd, Errno, Result};

/// Inode numbers of a part of a btrfs subvolume.
const RANGE: u64 = 1 << 13;

pub(super) struct Source<'d> {
    dir: BorrowedFd<'d>,
    is_xfs: bool,
    block: u32,
    /// The next part.
    next: AtomicU64,
    /// The first part that does not exist.
    end: AtomicU64,
}

impl<'d> Source<'d> {
    /// `None` if the file system has no bulk call.
    pub(super) fn of(dir: BorrowedFd<'d>, fs: FsType, root: &Statx) -> Option<Self> {
        let (is_xfs, end) = match fs {
            FsType::XFS => (true, u64::from(u32::MAX)),
            FsType::BTRFS => (false, END / RANGE + 1),
            _ => return None,
        };
        Some(Source { dir, is_xfs, block: root.blksize(), next: AtomicU64::new(0), end: AtomicU64::new(end) })
    }

    /// Finds out whether the kernel permits it: one `ioctl`.
    pub(super) fn try_once(&self) -> Result<()> {
        self.step(0, 0, &mut Room::new(), |_| ()).map(drop)
    }

    /// The next part for a worker.
    pub(super) fn claim(&self) -> Option<u64> {
        let part = self.next.fetch_add(1, Relaxed);
        (part < self.end.load(Relaxed)).then_some(part)
    }

    /// Reads a part, until `each` returns false.
    pub(super) fn read(
        &self,
        part: u64,
        room: &mut Room,
        mut each: impl FnMut(&Inode) -> bool,
    ) -> Result<()> {
        let (mut from, mut goes_on) = (0, true);
        while goes_on {
            let next = self.step(part, from, room, |inode| goes_on = goes_on && each(inode));
            match next {
                Ok(Some(next)) => from = next,
                Ok(None) => break,
                // There is no such group.
                Err(Errno::INVAL) if self.is_xfs && part > 0 && from == 0 => {
                    self.end.fetch_min(part, Relaxed);
                    break;
                }
                Err(errno) => return Err(errno),
            }
        }
        if !self.is_xfs && from == 0 {
            self.skip_gap(part, room)?;
        }
        Ok(())
    }

    fn step(&self, part: u64, from: u64, room: &mut Room, each: impl FnMut(&Inode)) -> Result<Option<u64>> {
        if self.is_xfs {
            return bulk::xfs_group(self.dir, part as u32, from, room, each);
        }
        let begin = part * RANGE;
        let range = from.max(begin)..(begin + RANGE).min(END);
        btrfs::inodes(self.dir, range, self.block, room, each)
    }

    /// After an empty range: continues at the range of the next inode, or ends.
    fn skip_gap(&self, part: u64, room: &mut Room) -> Result<()> {
        let mut first = None;
        let rest = (part + 1) * RANGE..END;
        btrfs::inodes(self.dir, rest, self.block, room, |inode| {
            first = first.or(Some(inode.fields.ino));
        })?;
        match first {
            Some(ino) => self.next.fetch_max(ino / RANGE, Relaxed),
            None => self.end.fetch_min(part + 1, Relaxed),
        };
        Ok(())
    }
}
