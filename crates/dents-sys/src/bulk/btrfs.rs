//! The items of a btrfs subvolume: inodes and names by number, and those that changed since a generation.
//!
//! A subvolume is a tree of items, sorted by inode number, type and offset. Each transaction has a number, the generation. It writes
//! changed blocks elsewhere, so a block and all blocks above it have at least the generation of the last change in them: a search for later
//! generations skips what did not change. Sources: include/uapi/linux/btrfs.h and btrfs_tree.h, fs/btrfs/ioctl.c.

use super::{Fill, Inode, Room, get, get16, get32, is_device, put, put32};
use crate::stat::{Fields, Timestamp};
use crate::{BorrowedFd, Errno, Result};
use alloc::vec;
use core::ops::Range;
use rustix::ioctl::{Opcode, ioctl, opcode};

/// `struct btrfs_ioctl_search_args_v2`.
const HEADER: usize = 112;
/// `struct btrfs_ioctl_search_header`.
const ITEM_HEADER: usize = 32;
/// `BTRFS_IOC_TREE_SEARCH_V2`.
const TREE_SEARCH: Opcode = opcode::read_write::<[u8; HEADER]>(0x94, 17);
/// The most items of a call: no limit beside the room.
const ANY_ITEMS: u32 = u32::MAX;

/// The room for one more item, however large: an item fits into a block, which has 64 KiB at most (`BTRFS_MAX_METADATA_BLOCKSIZE`).
const LARGEST: usize = 65536 + ITEM_HEADER;

/// `BTRFS_INODE_ITEM_KEY`.
const INODE_ITEM_KEY: u32 = 1;
/// `struct btrfs_inode_item`.
const INODE_ITEM: usize = 160;
/// `BTRFS_INODE_REF_KEY`: names of an inode in the directory that is the offset of the key.
const INODE_REF_KEY: u32 = 12;
/// `struct btrfs_inode_ref`, without the name behind it.
const INODE_REF: usize = 10;
/// `BTRFS_INODE_EXTREF_KEY`: names for which there is no room in the items above.
const INODE_EXTREF_KEY: u32 = 13;
/// `struct btrfs_inode_extref`, without the name behind it.
const INODE_EXTREF: usize = 18;
/// `BTRFS_INODE_IMMUTABLE`, `_APPEND`, `_NODUMP`, `_COMPRESS`, and all flags of the upper half: attributes of `statx`.
const ODD: u64 = 0x40 | 0x80 | 0x100 | 0x800 | 0xffff_ffff_0000_0000;

/// `BTRFS_FIRST_FREE_OBJECTID`: the number of the root directory of each subvolume.
pub const FIRST: u64 = 256;
/// `BTRFS_LAST_FREE_OBJECTID`, and one more.
pub const END: u64 = u64::MAX - 254;

/// `struct btrfs_ioctl_get_subvol_info_args`.
const SUBVOL_INFO: usize = 504;
/// `BTRFS_IOC_GET_SUBVOL_INFO`.
const GET_SUBVOL_INFO: Opcode = opcode::read::<[u8; SUBVOL_INFO]>(0x94, 60);
/// `struct btrfs_ioctl_get_subvol_rootref_args`.
const SUBVOL_ROOTREF: usize = 4096;
/// `BTRFS_IOC_GET_SUBVOL_ROOTREF`.
const GET_SUBVOL_ROOTREF: Opcode = opcode::read_write::<[u8; SUBVOL_ROOTREF]>(0x94, 61);

/// A subvolume at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subvolume {
    /// Its identity; a snapshot has another. Zeros in the first subvolume of a file system that was made before btrfs-progs 4.16.
    pub uuid: [u8; 16],
    /// The last transaction that is on the disk and changed it. Every later change has a higher generation.
    pub generation: u64,
}

/// The subvolume of a file: one `ioctl`, for any user. `ENOTTY` elsewhere than on btrfs, and before Linux 4.18.
pub fn subvolume(file: BorrowedFd<'_>) -> Result<Subvolume> {
    let mut info = vec![0; SUBVOL_INFO];
    // SAFETY: the kernel writes as many bytes as the number of the call says.
    unsafe { ioctl(file, Fill { opcode: GET_SUBVOL_INFO, room: &mut info })? };
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&info[296..312]);
    Ok(Subvolume { uuid, generation: get(&info, 280) })
}

/// The subvolumes in the subvolume of a file: the number of each, which `readdir` returns for its directory, and the number of the
/// directory that holds it. One `ioctl` for each 255, for any user.
pub fn subvolumes_in(file: BorrowedFd<'_>, mut each: impl FnMut(u64, u64)) -> Result<()> {
    let mut refs = vec![0; SUBVOL_ROOTREF];
    let mut from = 0;
    loop {
        put(&mut refs, 0, from);
        // SAFETY: the kernel writes as many bytes as the number of the call says.
        let filled = unsafe { ioctl(file, Fill { opcode: GET_SUBVOL_ROOTREF, room: &mut refs }) };
        // OVERFLOW: there are more.
        if !matches!(filled, Ok(()) | Err(Errno::OVERFLOW)) {
            return filled;
        }
        let count = usize::from(refs[SUBVOL_ROOTREF - 8]);
        for one in refs[8..].chunks_exact(16).take(count) {
            each(get(one, 0), get(one, 8));
        }
        if filled.is_ok() {
            return Ok(());
        }
        from = get(&refs, 8 + (count.max(1) - 1) * 16) + 1;
    }
}

/// The next inodes with numbers in `range`, in the order of numbers. Returns the number to continue at; none if there are no more in the
/// range. One `ioctl`, which also copies the names and extents that lie between the inodes.
///
/// The kernel shows what the last commit of a transaction has written, and much, but not all, of what came later.
///
/// Errors: `EPERM` without `CAP_SYS_ADMIN`; `ENOTTY` elsewhere than on btrfs.
pub fn inodes(
    dir: BorrowedFd<'_>,
    range: Range<u64>,
    block: u32,
    room: &mut Room,
    mut each: impl FnMut(&Inode),
) -> Result<Option<u64>> {
    if range.is_empty() {
        return Ok(None);
    }
    let keys = [(range.start, 0), (range.end - 1, u32::MAX)];
    search(dir, keys, 0, room, |item| {
        if let Some(body) = item.inode() {
            each(&inode(item.ino, body, block));
        }
    })
}

/// An item that [`changed`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// An inode. Its names follow, or some of them.
    Inode {
        /// Its number.
        ino: u64,
        /// The generation of the last change.
        generation: u64,
        /// The number of its names.
        nlink: u32,
        /// The time of the last change, other than of the time of the last access.
        ctime: Timestamp,
    },
    /// A name of an inode.
    Name {
        /// The number of the inode.
        ino: u64,
        /// The directory that holds the name.
        parent: u64,
    },
}

/// The next inodes, with numbers from `from` on, that changed after this generation, and others that lie in the same blocks. Returns the
/// number to continue at. One `ioctl`; its cost is proportional to the number of blocks that changed.
///
/// Errors: those of [`inodes`].
pub fn changed(
    dir: BorrowedFd<'_>,
    after: u64,
    from: u64,
    room: &mut Room,
    mut each: impl FnMut(Changed),
) -> Result<Option<u64>> {
    search(dir, [(from, 0), (END - 1, u32::MAX)], after.saturating_add(1), room, |item| {
        if let Some(body) = item.inode() {
            let (generation, nlink) = (u64::from_le(get(body, 8)), u32::from_le(get32(body, 40)));
            each(Changed::Inode { ino: item.ino, generation, nlink, ctime: time(body, 124) });
        }
        item.parents(|parent| each(Changed::Name { ino: item.ino, parent }));
    })
}

/// The directories that hold the names of an inode, one for each name. One `ioctl`, or several if it has thousands of names.
///
/// Errors: those of [`inodes`].
pub fn parents(dir: BorrowedFd<'_>, ino: u64, room: &mut Room, mut each: impl FnMut(u64)) -> Result<()> {
    let mut from = (INODE_REF_KEY, 0);
    loop {
        let mut last = None;
        let keys = [(ino, from.0), (ino, INODE_EXTREF_KEY)];
        let is_whole = search_from(dir, keys, from.1, 0, room, |item| {
            item.parents(&mut each);
            last = Some((item.kind, item.offset));
        })?;
        match last.filter(|_| !is_whole) {
            Some((kind, offset)) if offset < u64::MAX => from = (kind, offset + 1),
            _ => return Ok(()),
        }
    }
}

struct Item<'r> {
    ino: u64,
    kind: u32,
    offset: u64,
    body: &'r [u8],
}

impl Item<'_> {
    /// The body, if this is an inode.
    fn inode(&self) -> Option<&[u8]> {
        (self.kind == INODE_ITEM_KEY && self.body.len() >= INODE_ITEM).then_some(self.body)
    }

    /// If these are names, the directory of each.
    fn parents(&self, mut each: impl FnMut(u64)) {
        let head = match self.kind {
            INODE_REF_KEY => INODE_REF,
            INODE_EXTREF_KEY => INODE_EXTREF,
            _ => return,
        };
        let mut rest = self.body;
        while rest.len() >= head {
            each(if self.kind == INODE_REF_KEY { self.offset } else { u64::from_le(get(rest, 0)) });
            let name = usize::from(u16::from_le(get16(rest, head - 2)));
            rest = rest.get(head + name..).unwrap_or_default();
        }
    }
}

/// Inode number and type.
type Key = (u64, u32);

/// The items between two keys, in blocks of this generation or later. Returns the inode number behind that of the last one; none if there
/// are no items.
fn search(
    dir: BorrowedFd<'_>,
    keys: [Key; 2],
    generation: u64,
    room: &mut Room,
    mut each: impl FnMut(&Item<'_>),
) -> Result<Option<u64>> {
    let mut last = None;
    search_from(dir, keys, 0, generation, room, |item| {
        last = Some(item.ino);
        each(item);
    })?;
    Ok(last.map(|ino| ino + 1))
}

/// The same, with an offset behind the first key. Returns true if these are surely all items.
fn search_from(
    dir: BorrowedFd<'_>,
    [first, last]: [Key; 2],
    offset: u64,
    generation: u64,
    room: &mut Room,
    mut each: impl FnMut(&Item<'_>),
) -> Result<bool> {
    let room = &mut room.0[..];
    room[..HEADER].fill(0);
    put(room, 8, first.0);
    put(room, 16, last.0);
    put(room, 24, offset);
    put(room, 32, u64::MAX);
    put(room, 40, generation);
    put(room, 48, u64::MAX);
    put32(room, 56, first.1);
    put32(room, 60, last.1);
    put32(room, 64, ANY_ITEMS);
    let size = room.len() - HEADER;
    put(room, 104, size as u64);
    // SAFETY: the kernel writes the header and at most `size` bytes behind it.
    unsafe { ioctl(dir, Fill { opcode: TREE_SEARCH, room })? };
    let (header, mut items) = room.split_at(HEADER);
    for _ in 0..get32(header, 64) {
        let (head, rest) = items.split_at_checked(ITEM_HEADER).ok_or(Errno::IO)?;
        let (body, rest) = rest.split_at_checked(get32(head, 28) as usize).ok_or(Errno::IO)?;
        each(&Item { ino: get(head, 8), kind: get32(head, 24), offset: get(head, 16), body });
        items = rest;
    }
    Ok(items.len() > LARGEST)
}

/// Fields of an item are little-endian on every machine.
fn inode(ino: u64, item: &[u8], block: u32) -> Inode {
    let long = |at| u64::from_le(get(item, at));
    let word = |at| u32::from_le(get32(item, at));
    let time = |at| time(item, at);
    let mode = word(52) as u16;
    let fields = Fields {
        ino,
        size: long(16),
        blocks: long(24).next_multiple_of(u64::from(block.max(512))) / 512,
        mode,
        nlink: word(40),
        uid: word(44),
        gid: word(48),
        atime: time(112),
        ctime: time(124),
        mtime: time(136),
        btime: time(148),
        ..Fields::default()
    };
    Inode { fields, is_odd: long(64) & ODD != 0 || is_device(mode), has_more_blocks: false }
}

/// `struct btrfs_timespec`.
fn time(item: &[u8], at: usize) -> Timestamp {
    Timestamp { sec: u64::from_le(get(item, at)) as i64, nsec: u32::from_le(get32(item, at + 8)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn names_of_an_inode() {
        let name =
            |text: &str, head: &[u8]| [head, &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        let of = |kind, body: &[u8]| {
            let mut parents = Vec::new();
            Item { ino: 300, kind, offset: 257, body }.parents(|parent| parents.push(parent));
            parents
        };
        let (index, far) = (2_u64.to_le_bytes(), [999_u64.to_le_bytes(), 3_u64.to_le_bytes()].concat());
        let two = [name("a", &index), name("long name", &index)].concat();
        assert_eq!(of(INODE_REF_KEY, &two), [257, 257]);
        assert_eq!(of(INODE_EXTREF_KEY, &name("b", &far)), [999]);
        assert_eq!(of(INODE_ITEM_KEY, &two), []);
        // A name that is cut off ends the list.
        assert_eq!(of(INODE_REF_KEY, &two[..two.len() - 3]), [257, 257]);
        assert_eq!(of(INODE_REF_KEY, &two[..5]), []);
    }
}
