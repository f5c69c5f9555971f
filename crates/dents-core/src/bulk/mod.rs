//! Metadata in bulk: a walk reads names and types, and joins them by inode number to metadata that one pass over the whole file
//! system has read.
//!
//! ```text
//! pass:  syncfs ─► inodes of each allocation group (any worker) ─► Table
//! walk:  open ─► names ─► fstat of the directory: unchanged since before the pass? ─► Table, else statx
//! ```
//!
//! A `statx` of a cached inode costs 1.5 µs, most of it for the name; an inode of a pass 0.7 µs. On a disk without cached data the pass
//! reads in the order of the disk. It needs `CAP_SYS_ADMIN`, on XFS and btrfs ([`dents_sys::bulk`]).
//!
//! **Why a joined row is true.** Names have no generation number, so inode 7 of a name might be another file than inode 7 of the pass. But
//! a directory that has not changed since before the pass (its `ctime`, by `fstat` after its names were read) held its entries all the
//! time, and a file that a directory holds is neither removed nor is its number used again. So the metadata belongs to the name, and was true
//! during the pass. The walk requests all other metadata by `statx`, as it does without a pass:
//!
//! - entries of a directory that changed since, or that is on another file system or subvolume;
//! - inodes that the pass did not return, or for which it returns less than `statx` (devices, flags, blocks of attributes alone);
//! - regular files that changed after the pass began: their data may not be on the disk yet, and a pass returns the size there;
//! - names that occur as the last component of a mount point: a file may be mounted over the entry;
//! - directories of btrfs: an entry may be a subvolume.
//!
//! If the clock is set back during the walk, the whole table is discarded, because then a `ctime` proves nothing.
//!
//! **Sums without names.** If only the sums of all files are wanted, and the walk would find all files of an XFS and no others, the pass
//! suffices ([`Usage`]).
//!
//! **Memory.** 8 to 56 bytes for each inode, as the needs require (`table.rs`). The pass ends when the table has 1 GiB: 134 million inodes for
//! `du`, 19 million for all facts. For the others, the walk calls `statx`.

pub mod changed;
mod source;
mod table;

use crate::batch::{Dent, Names};
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::needs::{Kind, NeedsByKind};
use alloc::vec::Vec;
use core::ops::AddAssign;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use dents_engine::crew::Workers;
pub use dents_sys::bulk::btrfs::Subvolume;
use dents_sys::bulk::{self, Inode, Room};
use dents_sys::stat::{self, Fields, Mask, Statx};
use dents_sys::statfs::FsType;
use dents_sys::{BorrowedFd, Errno, Timestamp, clock, file};
use table::{Hint, Layout, Run, Table};

/// The most memory of a table.
const MOST_BYTES: usize = 1 << 30;

/// The kernel stamps files with a clock that may be one tick (10 ms at most) behind.
const TICK_NS: u32 = 20_000_000;

/// Whether metadata is read in bulk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Never.
    #[default]
    Never,
    /// If the walk begins at the root of a file system that can do it, and the tree is not small.
    Auto,
    /// Wherever it is possible, also for a small part of the file system.
    Always,
}

/// Whether metadata was read in bulk, and why not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It was not wanted.
    #[default]
    NotWanted,
    /// The walk begins elsewhere than at the root of a file system, or at several places.
    NotRoot,
    /// The tree is small.
    Small,
    /// The needs, a limit of requests or the following of links exclude it.
    NeedsStatx,
    /// The file system has no such call.
    FileSystem,
    /// A mount is idmapped: `statx` returns other owners there. Or the list of mounts cannot be read.
    Mounts,
    /// The number of workers was given, so nothing was measured.
    Threads,
    /// Much data waits to be written, and a pass must wait for that.
    Dirty,
    /// The file system belongs to a user that this user namespace does not have, so the process has no rights to it.
    Namespace,
    /// The kernel refused.
    Refused(Errno),
    /// Metadata of this many inodes was read.
    Read(u64),
    /// This many inodes were added up, and no names were read.
    Summed(u64),
}

/// The sums of all files that have a name, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Files of any type, directories too.
    pub inodes: u64,
    /// Allocated blocks of 512 bytes, of files of any type.
    pub blocks: u128,
    /// [Sizes](Kind::has_length) of regular files and symbolic links, in bytes.
    pub bytes: u128,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.inodes += other.inodes;
        self.blocks += other.blocks;
        self.bytes += other.bytes;
    }
}

impl Usage {
    fn add(&mut self, fields: &Fields) {
        let has_length = Kind::from_mode(fields.mode).has_length();
        let bytes = if has_length { fields.size.into() } else { 0 };
        *self += Usage { inodes: 1, blocks: fields.blocks.into(), bytes };
    }
}

/// The metadata of a file system.
pub(crate) struct Bulk {
    table: Table,
    /// The directory where the walk began: device, block size and attributes are the same for all files.
    root: Statx,
    /// A moment before the pass began.
    since: Timestamp,
    mount_points: MountPoints,
    /// Whether a subdirectory may be a file system of its own without being a mount point.
    has_subvolumes: bool,
    /// The sums of all inodes; `None` if an inode is missing in them, or counts less than with `statx`.
    usage: Option<Usage>,
    void: AtomicBool,
}

impl Bulk {
    /// The sums of all files below `dir`, the root of a mount, if the pass has them. One `readlink`, and the list of mounts.
    pub(crate) fn usage(&self, dir: BorrowedFd<'_>) -> Option<Usage> {
        // The kernel returns the inodes of one btrfs subvolume.
        let is_whole = || !self.has_subvolumes && Mounts::default().show_whole(dir);
        self.usage.filter(|_| is_whole() && clock::realtime() >= self.since)
    }

    /// Whether the entries that were just read from this directory may be joined. One `statx`, and the clock.
    pub(crate) fn covers(&self, dir: BorrowedFd<'_>) -> bool {
        let Ok(statx) = stat::fstat(dir, Mask::CTIME) else { return false };
        if clock::realtime() < self.since {
            self.void.store(true, Relaxed);
        }
        let is_here = statx.dev() == self.root.dev();
        is_here && statx.ctime() < self.since && !self.void.load(Relaxed)
    }

    /// The metadata of an entry, as `statx` would return it. `None` if `statx` must be asked.
    pub(crate) fn answer<'j>(
        &self,
        dent: &Dent,
        names: Names<'_>,
        joining: &'j mut Joining,
    ) -> Option<&'j Statx> {
        let (kind, name) = (dent.kind(), dent.c_name(names).to_bytes());
        if matches!(kind, Kind::Dir | Kind::Unknown) && self.has_subvolumes || self.mount_points.have(name) {
            return None;
        }
        let fields = self.table.get(dent.ino(), &mut joining.hint)?;
        let found = Kind::from_mode(fields.mode);
        if kind != Kind::Unknown && kind != found {
            return None;
        }
        joining.answer.set(&fields);
        Some(&joining.answer)
    }

    /// For the entries of a directory.
    pub(crate) fn joining(&self) -> Joining {
        Joining { hint: Hint::default(), answer: self.root }
    }
}

/// What a worker keeps from one entry to the next.
pub(crate) struct Joining {
    hint: Hint,
    /// What belongs to the file system stays the same.
    answer: Statx,
}

/// The last components of all mount points.
struct MountPoints {
    names: Vec<Vec<u8>>,
    /// A bit for each name, by its length and its last byte. Most names of a tree have none of these bits.
    bits: u64,
}

impl MountPoints {
    fn new(names: Vec<Vec<u8>>) -> Self {
        let bits = names.iter().fold(0, |bits, name| bits | MountPoints::bit(name));
        MountPoints { names, bits }
    }

    fn bit(name: &[u8]) -> u64 {
        let last = name.last().copied().unwrap_or_default();
        1 << ((name.len() * 7 + usize::from(last)) % 64)
    }

    fn have(&self, name: &[u8]) -> bool {
        self.bits & MountPoints::bit(name) != 0 && self.names.iter().any(|point| point == name)
    }
}

/// The memory of a table.
struct Memory {
    left: AtomicUsize,
}

impl Memory {
    /// Takes memory of a run. False if not so much is left.
    fn take(&self, bytes: usize) -> bool {
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Whether so much data waits to be written, to any file system, that to read in bulk might not pay off: `openat`, `read`, `close`.
pub(crate) fn much_is_dirty() -> bool {
    /// 64 MiB: an SSD writes it in a tenth of a second, a rotating disk in one.
    const MUCH_KIB: u64 = 64 << 10;
    let kib = || {
        let info = file::read_pieces(c"/proc/meminfo").ok()?;
        let info = core::str::from_utf8(&info).ok()?;
        let value = info.lines().find_map(|line| line.strip_prefix("Dirty:"))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    kib().is_none_or(|kib| kib > MUCH_KIB)
}

/// The fields that a table needs.
pub(crate) fn mask(needs: &NeedsByKind) -> Mask {
    Kind::KNOWN.into_iter().fold(Mask::empty(), |mask, kind| mask | needs.mask(kind))
}

/// Reads the metadata of the file system of `dir`, with this many workers.
pub(crate) fn read(
    dir: BorrowedFd<'_>,
    fs: FsType,
    mask: Mask,
    (workers, count): (&dyn Workers, usize),
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Bulk, Outcome> {
    let refused = Outcome::Refused;
    let root = stat::fstat(dir, Mask::all()).map_err(refused)?;
    let since = a_tick_before(clock::realtime());
    let source = source::Source::of(dir, fs, &root).ok_or(Outcome::FileSystem)?;
    source.try_once().map_err(refused)?;
    bulk::sync(dir).map_err(refused)?;
    let layout = Layout::of(mask);
    let (runs, failed) = (Mutex::new(Vec::new()), Mutex::new(None));
    let memory = Memory { left: AtomicUsize::new(MOST_BYTES) };
    let usage = Mutex::new(Some(Usage::default()));
    workers.run(count, &|_| {
        let mut room = Room::new();
        let (mut has_memory, mut sums) = (true, Some(Usage::default()));
        while let Some(part) = source.claim().filter(|_| has_memory) {
            let mut run = Run::new(layout);
            let read = source.read(part, &mut room, |inode| {
                sums = sums.filter(|_| adds_up(inode, since, mask));
                sums.iter_mut().filter(|_| inode.fields.nlink > 0).for_each(|sums| sums.add(&inode.fields));
                if is_kept(inode, since) {
                    if run.is_full(inode.fields.ino) {
                        has_memory = memory.take(run.bytes());
                        runs.lock().push(core::mem::replace(&mut run, Run::large(layout)));
                    }
                    run.push(&inode.fields);
                }
                let goes_on = has_memory && !stopped();
                sums = sums.filter(|_| goes_on);
                goes_on
            });
            has_memory &= memory.take(run.bytes());
            runs.lock().push(run);
            if let Err(errno) = read {
                *failed.lock() = Some(errno);
                break;
            }
        }
        let mut usage = usage.lock();
        *usage = usage.zip(sums.filter(|_| has_memory)).map(|(mut usage, sums)| {
            usage += sums;
            usage
        });
    });
    if let Some(errno) = failed.into_inner() {
        return Err(refused(errno));
    }
    let table = Table::new(layout, runs.into_inner(), root.mask());
    let mounts = Mounts::default();
    let mount_points = mounts.names().filter(|_| !mounts.any_idmapped()).ok_or(Outcome::Mounts)?;
    let mount_points = MountPoints::new(mount_points);
    let has_subvolumes = fs == FsType::BTRFS;
    let (usage, void) = (usage.into_inner(), AtomicBool::new(false));
    Ok(Bulk { table, root, since, mount_points, has_subvolumes, usage, void })
}

/// Whether the needed metadata of an inode counts as `statx` would return it, if it has a name.
fn adds_up(inode: &Inode, since: Timestamp, mask: Mask) -> bool {
    let differs = mask.contains(Mask::BLOCKS) && inode.has_more_blocks
        || mask.contains(Mask::SIZE) && may_be_dirty(&inode.fields, since);
    !differs || inode.fields.nlink == 0
}

/// Whether the metadata of an inode is what `statx` returns.
fn is_kept(inode: &Inode, since: Timestamp) -> bool {
    !inode.is_odd && !may_be_dirty(&inode.fields, since)
}

/// Whether the size of a file on the disk may be older than that in memory.
fn may_be_dirty(fields: &Fields, since: Timestamp) -> bool {
    Kind::from_mode(fields.mode) == Kind::Reg && fields.ctime >= since
}

/// A moment such that a file that changes after `now` has this time or a later one: one tick of the kernel's clock earlier.
#[must_use]
pub fn a_tick_before(now: Timestamp) -> Timestamp {
    match now.nsec.checked_sub(TICK_NS) {
        Some(nsec) => Timestamp { nsec, ..now },
        None => Timestamp { sec: now.sec - 1, nsec: now.nsec + 1_000_000_000 - TICK_NS },
    }
}

impl Bulk {
    /// Number of inodes in the table.
    pub(crate) fn inodes(&self) -> u64 {
        self.table.inodes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn memory_ends() {
        let memory = Memory { left: AtomicUsize::new(100) };
        assert_eq!([60, 41, 40, 1].map(|bytes| memory.take(bytes)), [true, false, true, false]);
    }

    #[test]
    fn what_counts_less_than_with_statx_does_not_add_up() {
        let since = Timestamp { sec: 100, nsec: 0 };
        let new = Fields { mode: 0o100_644, nlink: 1, ctime: since, ..Fields::default() };
        let inode = |fields, has_more_blocks| Inode { fields, is_odd: true, has_more_blocks };
        let adds_up =
            |inode: Inode| [Mask::BLOCKS, Mask::SIZE, Mask::NLINK].map(|mask| adds_up(&inode, since, mask));
        assert_eq!(adds_up(inode(new, false)), [true, false, true]);
        assert_eq!(adds_up(inode(Fields { ctime: Timestamp::default(), ..new }, true)), [false, true, true]);
        assert_eq!(adds_up(inode(Fields { mode: 0o040_755, ..new }, false)), [true; 3], "a directory");
        assert_eq!(adds_up(inode(Fields { nlink: 0, ..new }, true)), [true; 3], "it has no name");
    }

    #[test]
    fn mount_points_are_known_by_their_names() {
        let names: Vec<Vec<u8>> = vec![b"proc".to_vec(), b"a b".to_vec(), b"x".to_vec()];
        let points = MountPoints::new(names.clone());
        assert!(names.iter().all(|name| points.have(name)));
        let others = [&b"prod"[..], b"", b"proc ", b"xx", b"a c"];
        assert!(others.iter().all(|name| !points.have(name)));
        let all: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte; 3]).collect();
        let points = MountPoints::new(all.clone());
        assert!(all.iter().all(|name| points.have(name)) && !points.have(b"proc"));
    }
}
