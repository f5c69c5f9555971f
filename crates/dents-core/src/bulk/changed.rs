//! The inodes of a btrfs subvolume that changed since a generation, found without a walk. A walk of these alone then reads the directories
//! that lead to them, and calls `statx` for these entries.
//!
//! ```text
//! syncfs ─► blocks of later generations: inodes, names ─► directories above ─► Changed ─► walk: other entries are passed over
//! ```
//!
//! The cost is proportional to the number of blocks that changed, and the walk reads whole directories: those that changed, and those
//! above what changed.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use dents_sys::bulk::btrfs::{self, FIRST, Subvolume};
use dents_sys::bulk::{self, Room};
use dents_sys::{BorrowedFd, Result, Timestamp};

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The numbers of the inodes that changed, and of all directories above them. 40 bytes for each.
    numbers: BTreeSet<u64>,
    inodes: u64,
}

impl Changed {
    /// Finds what changed in the subvolume of a file after this generation, and at this time (`ctime`) or later. Memory is proportional to
    /// what changed. Directories that hold a subvolume count too, as the subvolume may have changed; nothing in it is found.
    ///
    /// The generation of an inode rises with each change; its time does not when it is only read, as a walk reads all directories.
    /// Requests: `syncfs`, because the kernel shows what a transaction has written; one `ioctl` for each 256 KiB of blocks that changed,
    /// and one for each directory above.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`; `ENOTTY` elsewhere than on btrfs.
    pub fn find(file: BorrowedFd<'_>, generation: u64, since: Timestamp) -> Result<Changed> {
        let mut room = Room::new();
        bulk::sync(file)?;
        let mut found = Finding::default();
        btrfs::subvolumes_in(file, |number, dir| found.holds(number, dir))?;
        let mut from = Some(FIRST);
        while let Some(next) = from {
            from = btrfs::changed(file, generation, next, &mut room, |item| {
                found.see(item, (generation, since))
            })?;
        }
        found.end();
        let Finding { mut numbers, mut above, inodes, .. } = found;
        while let Some(ino) = above.pop() {
            btrfs::parents(file, ino, &mut room, |parent| {
                if numbers.insert(parent) {
                    above.push(parent);
                }
            })?;
        }
        Ok(Changed { numbers, inodes })
    }

    /// The number of inodes that changed, without the directories above.
    #[must_use]
    pub fn inodes(&self) -> u64 {
        self.inodes
    }

    /// Adds what changed in another subvolume, whose inodes may have the same numbers: a walk then passes over fewer entries.
    pub fn add(&mut self, other: Changed) {
        self.numbers.extend(other.numbers);
        self.inodes += other.inodes;
    }

    /// Whether an inode changed or is a directory above one that did.
    pub(crate) fn leads_to(&self, ino: u64) -> bool {
        self.numbers.contains(&ino)
    }
}

/// A search that has not ended.
#[derive(Default)]
struct Finding {
    numbers: BTreeSet<u64>,
    inodes: u64,
    /// Inodes whose directories must be searched.
    above: Vec<u64>,
    /// The inode of the last item, if it changed, and the number of its names that were not seen.
    last: Option<(u64, u32)>,
}

impl Finding {
    /// A directory has an entry that is a subvolume.
    fn holds(&mut self, number: u64, dir: u64) {
        self.numbers.extend([number, dir]);
        self.above.push(dir);
    }

    fn see(&mut self, item: btrfs::Changed, (after, since): (u64, Timestamp)) {
        match item {
            btrfs::Changed::Inode { ino, generation, nlink, ctime } => {
                self.end();
                if generation > after && ctime >= since {
                    self.numbers.insert(ino);
                    self.inodes += 1;
                    self.last = Some((ino, nlink));
                }
            }
            btrfs::Changed::Name { ino, parent } => {
                let Some((_, missing)) = self.last.as_mut().filter(|(last, _)| *last == ino) else { return };
                *missing = missing.saturating_sub(1);
                if self.numbers.insert(parent) {
                    self.above.push(parent);
                }
            }
        }
    }

    /// Ends the last inode. Its names may lie in a block that did not change.
    fn end(&mut self) {
        if let Some((ino, 1..)) = self.last.take() {
            self.above.push(ino);
        }
    }
}

/// The subvolume of a file at this moment: one `ioctl`, for any user. None elsewhere than on btrfs.
#[must_use]
pub fn subvolume(file: BorrowedFd<'_>) -> Option<Subvolume> {
    btrfs::subvolume(file).ok().filter(|subvolume| subvolume.uuid != [0; 16])
}

/// Whether subvolumes lie in the subvolume of a file: one `ioctl` for each 255.
#[must_use]
pub fn has_subvolumes(file: BorrowedFd<'_>) -> bool {
    let mut any = false;
    btrfs::subvolumes_in(file, |_, _| any = true).is_ok() && any
}

#[cfg(test)]
mod tests {
    use super::*;
    use btrfs::Changed::{Inode, Name};

    #[test]
    fn inodes_that_changed_and_names_that_are_missing() {
        let mut found = Finding::default();
        let since = Timestamp { sec: 100, nsec: 7 };
        let inode = |ino, generation, nlink| Inode { ino, generation, nlink, ctime: since };
        for item in [
            inode(300, 9, 2),
            Name { ino: 300, parent: 257 },
            Name { ino: 300, parent: 258 },
            inode(301, 8, 1),
            Name { ino: 301, parent: 259 },
            inode(302, 10, 2),
            Name { ino: 302, parent: 257 },
            // The rest of an inode in a block that did not change.
            Name { ino: 303, parent: 260 },
            // Removed, but open.
            inode(304, 10, 0),
            // Only read.
            Inode { ino: 305, generation: 10, nlink: 1, ctime: Timestamp { sec: 100, nsec: 6 } },
            Name { ino: 305, parent: 261 },
        ] {
            found.see(item, (8, since));
        }
        found.end();
        found.holds(271, 270);
        assert_eq!(found.numbers.into_iter().collect::<Vec<_>>(), [257, 258, 270, 271, 300, 302, 304]);
        assert_eq!((found.inodes, found.above), (3, [257, 258, 302, 270].to_vec()));
    }
}
