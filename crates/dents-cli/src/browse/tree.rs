//! The entries that a browser knows: 64 bytes each, and the name.
//!
//! A directory has the sums of all that is below it. They are correct whenever a frame is drawn: a worker that adds entries
//! to a directory also adds their sum to all directories above it, once for each batch; to those far above, the next reader does. A file with several
//! links counts under one name ([`links`](super::links)).
//!
//! An entry that is removed stays in memory, apart from the tree: workers may still hold its number.

use super::links::Links;
use super::owners::{Owners, Pair, Pairs};
use dents_commands::inode::Inode;
use dents_core::needs::Kind;
use hashbrown::HashTable;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// The number of an entry. The default is the place above all operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(u32);

impl Id {
    /// The place above all operands.
    pub(super) const TOP: Id = Id(0);
    const NONE: Id = Id(u32::MAX);

    fn some(self) -> Option<Id> {
        (self != Id::NONE).then_some(self)
    }
}

bitflags::bitflags! {
    /// What is special about an entry.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Flags: u8 {
        /// It could not be stat'ed, opened or read to its end.
        const FAILED = 1;
        /// Something below it could not be read.
        const FAILED_BELOW = 2;
        /// Another name of this file counts in its place.
        const COUNTED_ELSEWHERE = 4;
        /// A name of a file with several links.
        const LINKED = 8;
        /// A directory that did not pass the filters, or whose row has not come yet: it has no metadata.
        const UNKNOWN = 16;
        /// It was removed from the tree.
        const REMOVED = 32;
        /// It is on another file system than its directory.
        const MOUNT = 64;
    }
}

/// An entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    above: Id,
    first: Id,
    next: Id,
    /// The number of entries below.
    pub(super) entries: u32,
    /// The position of the name: its chunk, and its place there.
    name: (u32, u32),
    /// Bytes in files; of a directory, the sum of all files below.
    pub(super) size: u64,
    /// Allocated bytes; of a directory, its own and those of all entries below.
    pub(super) allocated: u64,
    /// The last modification, in seconds; of a directory, the newest of itself and of all entries below.
    pub(super) mtime: i64,
    pub(super) ino: u64,
    pub(super) owners: Pair,
    pub(super) mode: u16,
    pub(super) kind: Kind,
    pub(super) flags: Flags,
}

const _: () = assert!(size_of::<Node>() == 64);

impl Node {
    pub(super) fn is_dir(&self) -> bool {
        self.kind == Kind::Dir
    }

    pub(super) fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// What it adds to the directories above.
    fn sum(&self) -> Sum {
        let own = u32::from(!self.has(Flags::UNKNOWN));
        let Node { entries, size, allocated, mtime, .. } = *self;
        let sum = Sum { entries: entries.saturating_add(own), size, allocated, mtime };
        if self.has(Flags::COUNTED_ELSEWHERE) {
            Sum { size: 0, allocated: 0, entries: 0, mtime }
        } else {
            sum
        }
    }
}

/// What entries add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    entries: u32,
    size: u64,
    allocated: u64,
    mtime: i64,
}

impl Sum {
    const NONE: Sum = Sum { entries: 0, size: 0, allocated: 0, mtime: i64::MIN };

    fn add(&mut self, other: Sum) {
        self.entries = self.entries.saturating_add(other.entries);
        self.size = self.size.saturating_add(other.size);
        self.allocated = self.allocated.saturating_add(other.allocated);
        self.mtime = self.mtime.max(other.mtime);
    }
}

/// What is known of a new entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh<'n> {
    pub(super) name: &'n [u8],
    pub(super) kind: Kind,
    /// `None` if it could not be stat'ed.
    pub(super) facts: Option<Known>,
}

/// The metadata of a new entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) inode: Inode,
    pub(super) nlink: u32,
    pub(super) size: u64,
    pub(super) allocated: u64,
    pub(super) mtime: i64,
    pub(super) owners: Owners,
    pub(super) mode: u16,
}

/// Entries in a chunk: chunks never move, so growth copies nothing and wastes little.
const CHUNK: usize = 1 << 12;
/// A sum is added to so many directories above an entry at once. Further ones wait, or a deep tree would take time by the square of its
/// depth.
const NEAR: usize = 64;
/// Bytes of names in a chunk, unless one name is longer.
const NAMES: usize = 1 << 20;

/// All entries.
pub(super) struct Tree {
    nodes: Vec<Vec<Node>>,
    names: Vec<Vec<u8>>,
    /// Directories, by directory and name.
    directories: HashTable<Id>,
    hasher: RandomState,
    /// The devices of operands, and of entries on other file systems than their directories.
    devices: HashMap<Id, (u32, u32)>,
    /// The first device, and whether there are others.
    device: Option<(u32, u32)>,
    has_devices: bool,
    /// Sums that directories far above do not have yet ([`Tree::settle`]): those for a directory, and all above it.
    pending: BTreeMap<Id, Sum>,
    owners: Pairs,
    pub(super) links: Links,
    /// Changes with each change of the tree.
    pub(super) version: u64,
}

impl Tree {
    pub(super) fn new() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            names: Vec::new(),
            directories: HashTable::new(),
            hasher: RandomState::new(),
            devices: HashMap::new(),
            device: None,
            has_devices: false,
            pending: BTreeMap::new(),
            owners: Pairs::default(),
            links: Links::default(),
            version: 0,
        };
        tree.push(Id::NONE, b"", Kind::Dir);
        tree
    }

    pub(super) fn owners(&self, node: &Node) -> Owners {
        self.owners.get(node.owners)
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    pub(super) fn set(&mut self, id: Id, flags: Flags, on: bool) {
        self.node_mut(id).flags.set(flags, on);
    }

    /// The name; of an operand, its path as it was given.
    pub(super) fn name(&self, id: Id) -> &[u8] {
        let (chunk, at) = self.node(id).name;
        let bytes = &self.names[chunk as usize][at as usize..];
        // The length: seven bits in each byte, the lowest first.
        let (mut length, mut shift) = (0_usize, 0);
        for (nth, byte) in bytes.iter().enumerate() {
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return &bytes[nth + 1..][..length];
            }
        }
        b""
    }

    /// The directory of an entry; `None` at the top, and for an entry that was removed.
    pub(super) fn above(&self, id: Id) -> Option<Id> {
        self.node(id).above.some()
    }

    /// The directories above an entry, the nearest first; the last is [`Id::TOP`].
    pub(super) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.above(id), |id| self.above(*id))
    }

    /// Whether an entry is still part of the tree.
    pub(super) fn is_attached(&self, id: Id) -> bool {
        id == Id::TOP || self.ancestors(id).last() == Some(Id::TOP)
    }

    /// The entries of a directory, the last that was added first.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.node(id).first.some(), |id| self.node(*id).next.some())
    }

    /// The number that the next entry will have: those that are known have lower ones.
    pub(super) fn limit(&self) -> Id {
        let full = self.nodes.len().saturating_sub(1) * CHUNK;
        Id((full + self.nodes.last().map_or(0, Vec::len)) as u32)
    }

    /// The first entry of a directory that has a lower number than `limit`.
    pub(super) fn first_before(&self, id: Id, limit: Id) -> Option<Id> {
        self.children(id).find(|id| *id < limit)
    }

    /// The next such entry of the same directory.
    pub(super) fn next_before(&self, id: Id, limit: Id) -> Option<Id> {
        let next = self.node(id).next.some();
        std::iter::successors(next, |id| self.node(*id).next.some()).find(|id| *id < limit)
    }

    /// The path of an entry.
    pub(super) fn path(&self, id: Id) -> Vec<u8> {
        let mut names: Vec<&[u8]> =
            self.ancestors(id).filter(|id| *id != Id::TOP).map(|id| self.name(id)).collect();
        names.reverse();
        names.push(self.name(id));
        let mut path = Vec::new();
        for name in names {
            dents_core::path::push(&std::mem::take(&mut path), name, &mut path);
        }
        path
    }

    /// The directory with this name; it is added if there is none.
    pub(super) fn directory(&mut self, above: Id, name: &[u8]) -> Id {
        if let Some(id) = self.find_directory(above, name) {
            return id;
        }
        let id = self.push(above, name, Kind::Dir);
        self.set(id, Flags::UNKNOWN, true);
        self.link_directory(above, id);
        self.version += 1;
        id
    }

    pub(super) fn find_directory(&self, above: Id, name: &[u8]) -> Option<Id> {
        let hash = self.hasher.hash_one((above, name));
        let is_same = |id: &Id| self.node(*id).above == above && self.name(*id) == name;
        self.directories.find(hash, is_same).copied()
    }

    fn link_directory(&mut self, above: Id, id: Id) {
        let hash = self.hasher.hash_one((above, self.name(id)));
        let mut directories = std::mem::take(&mut self.directories);
        directories
            .insert_unique(hash, id, |id| self.hasher.hash_one((self.node(*id).above, self.name(*id))));
        self.directories = directories;
    }

    /// Adds entries of a directory. Its sums, and those of all directories above, grow by what the entries add.
    pub(super) fn add<'n>(&mut self, above: Id, all: impl IntoIterator<Item = Fresh<'n>>) {
        let device = self.device(above);
        let mut sum = Sum::NONE;
        for fresh in all {
            sum.add(self.add_one(above, &fresh, device));
        }
        self.grow(above, sum);
        self.version += 1;
    }

    /// Adds an entry, and returns what it adds to its directory.
    fn add_one(&mut self, above: Id, fresh: &Fresh<'_>, device: Option<(u32, u32)>) -> Sum {
        let id = match fresh.kind {
            // It may be there already: opened before, or read from a file before its own row.
            Kind::Dir => self.directory(above, fresh.name),
            _ => self.push(above, fresh.name, fresh.kind),
        };
        let owners = self.owners.number(fresh.facts.map_or(Owners::UNKNOWN, |known| known.owners));
        let node = self.node_mut(id);
        node.flags.remove(Flags::UNKNOWN);
        let Some(known) = fresh.facts else {
            self.set(id, Flags::FAILED, true);
            self.failed_below(id);
            return Sum { entries: 1, ..Sum::NONE };
        };
        node.ino = known.inode.ino;
        (node.owners, node.mode) = (owners, known.mode);
        node.allocated = node.allocated.saturating_add(known.allocated);
        node.mtime = node.mtime.max(known.mtime);
        if fresh.kind.has_length() {
            node.size = known.size;
        }
        if device != Some(known.inode.dev) {
            node.flags.set(Flags::MOUNT, device.is_some());
            self.devices.insert(id, known.inode.dev);
            let first = *self.device.get_or_insert(known.inode.dev);
            self.has_devices |= first != known.inode.dev;
        }
        let mut own = Sum { entries: 1, size: 0, allocated: known.allocated, mtime: known.mtime };
        if fresh.kind != Kind::Dir {
            own = self.node(id).sum();
            if known.nlink > 1 && self.is_attached(above) {
                own = self.add_link(id, &known, own);
            }
        }
        own
    }

    /// Adds a name of a file with several links. Only the first name counts, in the order of their directories.
    fn add_link(&mut self, id: Id, known: &Known, own: Sum) -> Sum {
        let Known { inode, nlink, .. } = *known;
        self.set(id, Flags::LINKED, true);
        let Some(counted) = self.links.counted(inode) else {
            self.links.add(inode, nlink, id, true);
            return own;
        };
        let counts = self.order(id, counted).is_lt();
        self.links.add(inode, nlink, id, counts);
        if counts {
            self.count_elsewhere(counted);
            own
        } else {
            self.set(id, Flags::COUNTED_ELSEWHERE, true);
            self.node(id).sum()
        }
    }

    /// Takes a name out of the sums, because another name of the file counts from now on.
    fn count_elsewhere(&mut self, id: Id) {
        let sum = self.node(id).sum();
        self.set(id, Flags::COUNTED_ELSEWHERE, true);
        if let Some(above) = self.above(id) {
            self.shrink(above, sum);
        }
    }

    /// The order in which names count: by their directories, as `dents du` has it, then by name.
    fn order(&self, a: Id, b: Id) -> std::cmp::Ordering {
        let above = |id: Id| {
            let mut all: Vec<Id> = self.ancestors(id).collect();
            all.reverse();
            all
        };
        let (a_above, b_above) = (above(a), above(b));
        let pair = a_above.iter().zip(&b_above).find(|(a, b)| a != b);
        match pair {
            Some((a, b)) => self.name(*a).cmp(self.name(*b)),
            None => a_above.len().cmp(&b_above.len()).then_with(|| self.name(a).cmp(self.name(b))),
        }
    }

    /// Adds to a directory and to all above it: to [`NEAR`] of them at once, and to the others in [`Tree::settle`].
    fn grow(&mut self, from: Id, sum: Sum) {
        let mut at = Some(from);
        for _ in 0..NEAR {
            let Some(id) = at else { return };
            at = self.grow_one(id, sum);
        }
        if let Some(id) = at {
            self.pending.entry(id).or_insert(Sum::NONE).add(sum);
        }
    }

    /// Adds to one directory, and returns the directory above it.
    fn grow_one(&mut self, id: Id, sum: Sum) -> Option<Id> {
        let node = self.node_mut(id);
        node.entries = node.entries.saturating_add(sum.entries);
        node.size = node.size.saturating_add(sum.size);
        node.allocated = node.allocated.saturating_add(sum.allocated);
        node.mtime = node.mtime.max(sum.mtime);
        node.above.some()
    }

    /// Makes the sums of all directories correct, each with one addition: a directory has a lower number than those below it.
    pub(super) fn settle(&mut self) {
        while let Some((id, sum)) = self.pending.pop_last() {
            if let Some(above) = self.grow_one(id, sum) {
                self.pending.entry(above).or_insert(Sum::NONE).add(sum);
            }
        }
    }

    /// Takes from a directory and from all above it. Their newest time stays.
    fn shrink(&mut self, from: Id, sum: Sum) {
        self.settle();
        let mut at = Some(from);
        while let Some(id) = at {
            let node = self.node_mut(id);
            node.entries = node.entries.saturating_sub(sum.entries);
            node.size = node.size.saturating_sub(sum.size);
            node.allocated = node.allocated.saturating_sub(sum.allocated);
            at = node.above.some();
        }
    }

    /// Removes an entry and all below it: they no longer count, and no path leads to them.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(above) = self.above(id) else { return };
        self.settle();
        self.remove_links(id);
        let sum = self.node(id).sum();
        self.shrink(above, sum);
        self.unlink(above, id);
        let hash = self.hasher.hash_one((above, self.name(id)));
        if let Ok(found) = self.directories.find_entry(hash, |other| *other == id) {
            found.remove();
        }
        let node = self.node_mut(id);
        (node.above, node.next) = (Id::NONE, Id::NONE);
        node.flags.insert(Flags::REMOVED);
        self.version += 1;
    }

    /// Takes an entry out of the list of its directory.
    fn unlink(&mut self, above: Id, id: Id) {
        let next = self.node(id).next;
        let before = self.children(above).find(|other| self.node(*other).next == id);
        match before {
            Some(before) => self.node_mut(before).next = next,
            None => self.node_mut(above).first = next,
        }
    }

    /// For each file with several links below an entry: another of its names counts from now on, if there is one elsewhere.
    fn remove_links(&mut self, id: Id) {
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            if self.node(id).has(Flags::LINKED) {
                let counts = !self.node(id).has(Flags::COUNTED_ELSEWHERE);
                let others = self.links.names(id).skip(1).filter(|_| counts);
                let heir = others.min_by(|a, b| self.order(*a, *b));
                self.links.remove(id, heir);
                if let Some(heir) = heir {
                    self.count_elsewhere(id);
                    self.set(heir, Flags::COUNTED_ELSEWHERE, false);
                    let sum = self.node(heir).sum();
                    self.above(heir).into_iter().for_each(|above| self.grow(above, sum));
                }
            }
            waiting.extend(self.children(id));
        }
    }

    /// A directory could not be opened or read to its end.
    pub(super) fn fail(&mut self, id: Id) {
        self.set(id, Flags::FAILED, true);
        self.failed_below(id);
        self.version += 1;
    }

    fn failed_below(&mut self, id: Id) {
        let mut at = self.above(id);
        while let Some(id) = at {
            self.set(id, Flags::FAILED_BELOW, true);
            at = self.above(id);
        }
    }

    /// The device of an operand, or of an entry on another file system than its directory.
    pub(super) fn own_device(&self, id: Id) -> Option<(u32, u32)> {
        self.devices.get(&id).copied()
    }

    /// The device of the entries of a directory; `None` for operands.
    pub(super) fn device(&self, id: Id) -> Option<(u32, u32)> {
        if id == Id::TOP {
            return None;
        }
        // Most trees have one device. In a deep one, a look at all directories above each entry would take minutes.
        if !self.has_devices {
            return self.device;
        }
        let own = self.devices.get(&id);
        own.or_else(|| self.ancestors(id).find_map(|id| self.devices.get(&id))).copied()
    }

    fn push(&mut self, above: Id, name: &[u8], kind: Kind) -> Id {
        if self.nodes.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.nodes.push(Vec::with_capacity(CHUNK));
        }
        let name = self.push_name(name);
        let id = Id(((self.nodes.len() - 1) * CHUNK + self.nodes.last().map_or(0, Vec::len)) as u32);
        let next = match above.some() {
            Some(above) => std::mem::replace(&mut self.node_mut(above).first, id),
            None => Id::NONE,
        };
        let node = Node {
            above,
            first: Id::NONE,
            next,
            entries: 0,
            name,
            size: 0,
            allocated: 0,
            mtime: i64::MIN,
            ino: 0,
            owners: Pair::default(),
            mode: 0,
            kind,
            flags: Flags::empty(),
        };
        if let Some(chunk) = self.nodes.last_mut() {
            chunk.push(node);
        }
        id
    }

    fn push_name(&mut self, name: &[u8]) -> (u32, u32) {
        let most = name.len() + 10;
        if self.names.last().is_none_or(|chunk| chunk.capacity() - chunk.len() < most) {
            self.names.push(Vec::with_capacity(most.max(NAMES)));
        }
        let at = (self.names.len() - 1) as u32;
        let Some(chunk) = self.names.last_mut() else { return (at, 0) };
        let begin = chunk.len() as u32;
        let mut length = name.len();
        while length > 0x7f {
            chunk.push(length as u8 | 0x80);
            length >>= 7;
        }
        chunk.push(length as u8);
        chunk.extend_from_slice(name);
        (at, begin)
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(|chunk| chunk.capacity() * size_of::<Node>()).sum();
        let names: usize = self.names.iter().map(Vec::capacity).sum();
        nodes + names + self.directories.allocation_size() + self.links.bytes()
    }
}
