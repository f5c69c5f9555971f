//! A batch: entries of one directory, passed from stage to stage.
//!
//! One arena holds the bytes of all names, each with its NUL, as the kernel takes them. Each entry has 16 bytes outside the
//! arena, and 64 bytes of metadata (one cache line), but only if more than names and types is needed. Nothing is allocated
//! per entry. `read` appends entries, `stat` fills metadata, `sort` makes a permutation, and renderers read through
//! [`Entry`].

mod absorb;
#[cfg(test)]
mod accessors;
mod meta;
mod metas;
mod texts;

use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_sys::cache;
use dents_sys::{Errno, Result};
pub(crate) use meta::Bits;
pub use meta::{Asked, Extra, Meta, Time};
pub(crate) use metas::Metas;
pub(crate) use texts::{Texts, xattr_list};

/// Offset (40 bits), length (20 bits) and `d_type` (4 bits) of a name in 8 bytes. An arena has at most 1 TiB, a name 1
/// MiB (the kernel's limit for an argument of a process is 128 KiB, for a name 255 bytes).
#[derive(Clone, Copy)]
struct Name(u64);

impl Name {
    const LEN_BITS: u32 = 20;
    const MAX_LEN: usize = (1 << Self::LEN_BITS) - 1;

    fn new(offset: usize, len: usize, kind: Kind) -> Self {
        debug_assert!(len <= Self::MAX_LEN && (offset as u64) < 1 << 40);
        Name((offset as u64) << 24 | (len as u64) << 4 | kind as u64)
    }

    fn offset(self) -> usize {
        (self.0 >> 24) as usize
    }

    fn len(self) -> usize {
        (self.0 >> 4) as usize & Self::MAX_LEN
    }

    fn kind(self) -> Kind {
        Kind::from_d_type(self.0 as u8 & 0xf)
    }
}

/// A part of an arena: the names of some entries.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where the part begins in the arena.
    pub(crate) from: usize,
}

/// One entry as `readdir` returned it.
#[derive(Clone, Copy)]
pub struct Dent {
    name: Name,
    ino: u64,
}

const _: () = assert!(size_of::<Dent>() == 16);

impl Dent {
    /// The type from `d_type`.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.name.kind()
    }

    /// The inode number of `readdir`.
    pub(crate) fn ino(&self) -> u64 {
        self.ino
    }

    /// The name as a C string.
    ///
    /// # Panics
    /// If the name is not among these.
    #[must_use]
    pub(crate) fn c_name<'a>(&self, names: Names<'a>) -> &'a CStr {
        let start = self.name.offset() - names.from;
        CStr::from_bytes_with_nul(&names.bytes[start..=start + self.name.len()])
            .expect("the arena ends each name with its only NUL")
    }

    /// The start of the name in the arena, and the position after its NUL.
    pub(crate) fn span(&self) -> (usize, usize) {
        (self.name.offset(), self.name.offset() + self.name.len() + 1)
    }
}

/// The target of a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The target was not requested, or the entry is not a symbolic link.
    Unasked,
    /// `statx` of the target failed.
    Missing,
    /// The `st_mode` of the target.
    Mode(u16),
}

/// The mark after the permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Neither an ACL nor a security context.
    None,
    /// A security context and no ACL: `.`.
    Context,
    /// An ACL, or other access rules beyond the permission bits: `+`.
    Acl,
    /// The file was gone, or no longer to be seen, when its mark was requested: `?`.
    Unknown,
}

impl Mark {
    /// Whether a mark is unknown after this error, which GNU ls does not report.
    #[must_use]
    pub fn is_gone(errno: Errno) -> bool {
        matches!(errno, Errno::NOENT | Errno::ACCESS)
    }

    /// The character after the permission bits.
    #[must_use]
    pub fn letter(self) -> u8 {
        match self {
            Mark::None => b' ',
            Mark::Context => b'.',
            Mark::Acl => b'+',
            Mark::Unknown => b'?',
        }
    }
}

/// The most entries that an order can number. With names of 255 bytes their arena is smaller than [`Name`] can address.
const MOST_ENTRIES: usize = if cfg!(test) { 1 << 20 } else { u32::MAX as usize };

/// Entries of one directory (all of them, or a chunk of a stream), or the operands of a command.
#[derive(Clone, Default)]
pub struct Batch {
    pub(crate) arena: Vec<u8>,
    pub(crate) dents: Vec<Dent>,
    pub(crate) metas: Metas,
    pub(crate) slots: Slots,
    pub(crate) texts: Vec<Texts>,
    pub(crate) declared: NeedsByKind,
    pub(crate) faulty: bool,
    /// Whether entries were left out because there was no room.
    full: bool,
    /// Whether an entry without a slot has the inode number of `readdir`.
    pub(crate) trusts_d_ino: bool,
}

/// Where the slot of an entry is.
#[derive(Clone, Default)]
pub(crate) enum Slots {
    /// There are no slots.
    #[default]
    None,
    /// At the entry's position.
    Dense,
    /// Few entries have slots (the directories of a coloured listing): at this position, or [`NO_SLOT`].
    Sparse(Vec<u32>),
}

const NO_SLOT: u32 = u32::MAX;

impl Batch {
    /// An empty batch; `declared` is the set of fields that may be read.
    #[must_use]
    pub fn new(declared: NeedsByKind) -> Self {
        Batch { declared, ..Batch::default() }
    }

    /// Removes the entries and keeps the memory.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.dents.clear();
        self.metas.clear();
        self.slots = Slots::None;
        self.texts.clear();
        self.faulty = false;
        self.full = false;
        self.trusts_d_ino = false;
    }

    /// Whether there is room for this many more entries. If not, the caller must leave out them and all later ones.
    pub(crate) fn has_room_for(&mut self, more: usize) -> bool {
        self.full |= self.dents.len() + more > MOST_ENTRIES;
        !self.full
    }

    /// Whether entries were left out, because there are more than 4 billion.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Fails if entries were left out.
    ///
    /// # Errors
    /// `EOVERFLOW` if they were.
    pub(crate) fn whole(&self) -> Result<()> {
        if self.full { Err(Errno::OVERFLOW) } else { Ok(()) }
    }

    /// Appends an entry. Ignores a name longer than 1 MiB, because no kernel interface returns or takes one. Ignores
    /// entries beyond the limit too: see [`Batch::is_full`].
    pub fn push(&mut self, name: &CStr, kind: Kind, ino: u64) {
        let bytes = name.to_bytes_with_nul();
        let len = bytes.len() - 1;
        if len <= Name::MAX_LEN && self.has_room_for(1) {
            self.dents.push(Dent { name: Name::new(self.arena.len(), len, kind), ino });
            self.arena.extend_from_slice(bytes);
        }
    }

    /// Reserves room for the entries of this many bytes of `getdents64`: 24 or more each, 19 of them before the name.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        let records = bytes.div_ceil(32);
        self.dents.reserve(records);
        self.arena.reserve(bytes - records.min(bytes / 19) * 19);
    }

    /// Moves the entries from `at` on into another batch. No metadata may have been requested. Their names are copied.
    pub(crate) fn split_off(&mut self, at: usize) -> Batch {
        debug_assert!(self.metas.len() == 0, "nothing was asked yet");
        let mut tail = Batch::new(self.declared);
        for dent in self.dents.drain(at.min(self.dents.len())..) {
            let start = dent.name.offset();
            let name = Name::new(tail.arena.len(), dent.name.len(), dent.kind());
            tail.arena.extend_from_slice(&self.arena[start..=start + dent.name.len()]);
            tail.dents.push(Dent { name, ino: dent.ino });
        }
        tail
    }

    /// Removes the entries from `len` on. No metadata may have been requested.
    pub(crate) fn truncate(&mut self, len: usize) {
        debug_assert!(self.metas.len() == 0, "nothing was asked yet");
        if let Some(dent) = self.dents.get(len) {
            self.arena.truncate(dent.span().0);
            self.dents.truncate(len);
        }
    }

    /// Sorts the entries by inode number. No metadata may have been requested.
    pub(crate) fn sort_by_inode(&mut self) {
        debug_assert!(self.metas.len() == 0, "nothing was asked yet");
        self.dents.sort_unstable_by_key(|dent| dent.ino);
    }

    /// Gives all entries the same fault: their directory cannot be searched.
    pub(crate) fn fail_all(&mut self, errno: Errno) {
        let mut metas = alloc::vec![Meta::default(); self.dents.len()];
        metas.iter_mut().for_each(|meta| meta.set_fault(Asked::Stat, errno));
        self.metas.clear();
        self.metas.append(metas);
        self.slots = Slots::Dense;
        self.faulty = !self.is_empty();
    }

    /// Sets the type of an entry, as if `readdir` had returned it.
    pub(crate) fn set_kind(&mut self, index: usize, kind: Kind) {
        let name = &mut self.dents[index].name;
        *name = Name::new(name.offset(), name.len(), kind);
    }

    /// Clears the types and inode numbers of `readdir`.
    pub(crate) fn forget_types(&mut self) {
        for dent in &mut self.dents {
            dent.name = Name::new(dent.name.offset(), dent.name.len(), Kind::Unknown);
            dent.ino = 0;
        }
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dents.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dents.is_empty()
    }

    /// The entry at this position, in reading order.
    ///
    /// # Panics
    /// If `index` is not below [`Batch::len`].
    #[must_use]
    pub fn entry(&self, index: usize) -> Entry<'_> {
        let meta = match &self.slots {
            Slots::None => None,
            Slots::Dense => self.metas.get(index),
            Slots::Sparse(slots) => self.metas.get(slots[index] as usize),
        };
        Entry { batch: self, dent: self.dents[index], meta, index }
    }

    /// All entries in reading order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// The entries at these positions, in this order. If it is not the reading order, each entry needs three cache lines
    /// at random addresses, so those of later entries are prefetched, which halves the time at a million files.
    ///
    /// # Panics
    /// If a position is not below [`Batch::len`].
    pub fn entries<'a>(&'a self, order: &'a [u32]) -> impl Iterator<Item = Entry<'a>> + Clone {
        /// Far enough ahead for two dependent prefetches to finish.
        const AHEAD: usize = 16;
        order.iter().enumerate().map(move |(at, index)| {
            if let Some(later) = order.get(at + AHEAD) {
                self.fetch_dent(*later as usize);
            }
            if let Some(later) = order.get(at + AHEAD / 2) {
                self.fetch_rest(*later as usize);
            }
            self.entry(*index as usize)
        })
    }

    #[inline]
    fn fetch_dent(&self, index: usize) {
        if let Some(dent) = self.dents.get(index) {
            cache::fetch(dent);
        }
    }

    #[inline]
    fn fetch_rest(&self, index: usize) {
        if let Some(name) = self.dents.get(index).and_then(|dent| self.arena.get(dent.name.offset())) {
            cache::fetch(name);
        }
        if let (Slots::Dense, Some(meta)) = (&self.slots, self.metas.get(index)) {
            cache::fetch(meta);
        }
    }

    fn extra(&self, meta: &Meta) -> Option<&Extra> {
        if !meta.bits.contains(Bits::EXTRA) {
            return None;
        }
        self.texts.get(usize::from(meta.texts))?.extras.get(meta.rdev_or_link as usize)
    }

    fn rdev_or_link(&self, meta: &Meta) -> u32 {
        self.extra(meta).map_or(meta.rdev_or_link, |extra| extra.rdev_or_link)
    }

    /// Whether a request about some entry failed.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        self.faulty
    }

    /// The needs this batch was filled for.
    #[must_use]
    pub fn declared(&self) -> &NeedsByKind {
        &self.declared
    }

    /// Moves the entries of another batch behind those of this one. No metadata of them may have been requested.
    pub(crate) fn append_names(&mut self, other: &mut Batch) {
        if !self.has_room_for(other.len()) {
            return other.clear();
        }
        let base = (self.arena.len() as u64) << 24;
        let moved = |dent: &Dent| Dent { name: Name(dent.name.0 + base), ino: dent.ino };
        self.dents.extend(other.dents.iter().map(moved));
        self.arena.append(&mut other.arena);
        other.dents.clear();
    }

    /// Copies the names of another batch behind those of this one.
    pub(crate) fn append_copy(&mut self, other: &Batch) {
        if !self.has_room_for(other.len()) {
            return;
        }
        let base = (self.arena.len() as u64) << 24;
        let moved = |dent: &Dent| Dent { name: Name(dent.name.0 + base), ino: dent.ino };
        self.dents.extend(other.dents.iter().map(moved));
        self.arena.extend_from_slice(&other.arena);
    }

    /// Creates slots for the entries that `asks` selects. Returns these entries in the order of their slots, unless
    /// they are all entries.
    ///
    /// With slots for less than half of the entries, the slots are sparse: 4 bytes for each entry instead of 64.
    pub(crate) fn place_slots(&mut self, asks: impl Fn(Kind, &[u8]) -> bool) -> Option<Vec<Dent>> {
        let arena = &self.arena;
        let asks = |dent: &Dent| {
            let start = dent.name.offset();
            asks(dent.kind(), &arena[start..start + dent.name.len()])
        };
        let asked = self.dents.iter().filter(|dent| asks(dent)).count();
        self.metas.clear();
        if asked == 0 {
            self.slots = Slots::None;
            return Some(Vec::new());
        }
        if asked * 2 > self.len() {
            self.slots = Slots::Dense;
            return None;
        }
        let (slots, todo) = sparse(&self.dents, |_, dent| asks(dent));
        self.slots = Slots::Sparse(slots);
        Some(todo)
    }

    /// Creates slots for the entries at the positions that `asks` selects, and for no others, even if they are most.
    pub(crate) fn place_slots_of(&mut self, asks: impl Fn(usize, Kind) -> bool) -> Vec<Dent> {
        self.metas.clear();
        let (slots, todo) = sparse(&self.dents, |index, dent| asks(index, dent.kind()));
        self.slots = Slots::Sparse(slots);
        todo
    }
}

/// The slot of each entry, and the entries that have one.
fn sparse(dents: &[Dent], asks: impl Fn(usize, &Dent) -> bool) -> (Vec<u32>, Vec<Dent>) {
    let (mut slots, mut todo) = (Vec::with_capacity(dents.len()), Vec::new());
    for (index, dent) in dents.iter().enumerate() {
        if asks(index, dent) {
            slots.push(todo.len() as u32);
            todo.push(*dent);
        } else {
            slots.push(NO_SLOT);
        }
    }
    (slots, todo)
}

/// One entry of a batch.
///
/// The getters for metadata return zero if the `statx` of the entry failed ([`Entry::is_known`] tells). They panic in
/// debug builds if the field was not declared in the batch's needs.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    batch: &'a Batch,
    dent: Dent,
    meta: Option<&'a Meta>,
    index: usize,
}

impl<'a> Entry<'a> {
    /// The position in the batch.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name: any bytes except NUL; `/` only in operands.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        let start = self.dent.name.offset();
        &self.batch.arena[start..start + self.dent.name.len()]
    }

    /// The name as a C string.
    #[must_use]
    pub fn c_name(&self) -> &'a CStr {
        self.dent.c_name(Names { bytes: &self.batch.arena, from: 0 })
    }

    /// The type: from the mode if there is one, else from `d_type`.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.meta {
            Some(meta) if meta.bits.contains(Bits::STAT) => Kind::from_mode(meta.mode),
            _ => self.dent.kind(),
        }
    }

    /// The type as `readdir` returned it: a symbolic link stays a link.
    #[must_use]
    pub fn d_kind(&self) -> Kind {
        self.dent.kind()
    }

    /// Whether `statx` succeeded for this entry.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.meta.is_some_and(|meta| meta.bits.contains(Bits::STAT))
    }

    /// Whether [`Entry::ino`] is the file's inode number: from `statx`, or from `readdir` where it can be trusted.
    #[must_use]
    pub fn knows_ino(&self) -> bool {
        self.is_known() || (self.batch.trusts_d_ino && self.fault().is_none())
    }

    /// Whether these fields were declared, so that they may be read.
    #[must_use]
    pub fn declares(&self, needs: Needs) -> bool {
        self.batch.declared.any().contains(needs)
    }

    /// The needs that were declared for entries of its type: the fields that may be read.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.batch.declared.get(self.kind())
    }

    /// The request that failed, and its error.
    #[must_use]
    pub fn fault(&self) -> Option<(Asked, Errno)> {
        self.meta.and_then(Meta::fault)
    }

    /// Inode number from `statx`; from `readdir` without a `statx`.
    #[must_use]
    pub fn ino(&self) -> u64 {
        self.declared(Needs::INODE);
        self.known().map_or(self.dent.ino, |meta| meta.ino)
    }

    /// Inode number from `readdir`: the order for `statx` on some file systems.
    #[must_use]
    pub fn d_ino(&self) -> u64 {
        self.dent.ino
    }

    /// Type and permission bits; zero if unknown.
    #[must_use]
    pub fn mode(&self) -> u16 {
        self.declared(Needs::MODE);
        self.known().map_or(0, |meta| meta.mode)
    }

    /// Number of hard links.
    #[must_use]
    pub fn nlink(&self) -> u32 {
        self.declared(Needs::NLINK);
        self.known().map_or(0, |meta| meta.nlink)
    }

    /// Owner.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.declared(Needs::UID);
        self.known().map_or(0, |meta| meta.uid)
    }

    /// Group.
    #[must_use]
    pub fn gid(&self) -> u32 {
        self.declared(Needs::GID);
        self.known().map_or(0, |meta| meta.gid)
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.declared(Needs::SIZE);
        self.known().map_or(0, |meta| meta.size)
    }

    /// Allocated blocks of 512 bytes.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.declared(Needs::BLOCKS);
        self.known().map_or(0, |meta| meta.blocks)
    }

    /// Major and minor number of a device file.
    #[must_use]
    pub fn rdev(&self) -> (u32, u32) {
        self.declared(Needs::RDEV);
        self.known().map_or((0, 0), |meta| {
            let rdev = self.batch.rdev_or_link(meta);
            (rdev >> 20, rdev & 0xf_ffff)
        })
    }

    /// The declared time; [`Time::UNKNOWN`] if it is the birth and the file system does not keep it.
    #[must_use]
    pub fn time(&self) -> Time {
        debug_assert!(self.batch.declared.any().intersects(Needs::TIMES), "no time was declared");
        self.known().map_or(Time::default(), |meta| Time { sec: meta.sec, nsec: meta.nsec })
    }

    /// The text of a symbolic link; `None` for other types and if it could not be read.
    #[must_use]
    pub fn link(&self) -> Option<&'a [u8]> {
        self.declared(Needs::LINK);
        let meta = self.meta.filter(|meta| meta.bits.contains(Bits::LINK))?;
        let start = self.batch.rdev_or_link(meta) as usize;
        let links = &self.batch.texts[usize::from(meta.texts)].links;
        Some(&links[start..start + usize::from(meta.link_len)])
    }

    /// The security context; `None` if there is none or it could not be read.
    #[must_use]
    pub fn context(&self) -> Option<&'a [u8]> {
        self.declared(Needs::CONTEXT);
        let meta = self.meta.filter(|meta| !meta.is_faulty())?;
        let nth = usize::from(meta.errno_or_context).checked_sub(1)?;
        self.batch.texts[usize::from(meta.texts)].contexts.get(nth).map(Vec::as_slice)
    }

    /// The target of a symbolic link.
    #[must_use]
    pub fn target(&self) -> Target {
        self.declared(Needs::TARGET);
        match self.meta {
            Some(meta) if meta.bits.contains(Bits::TARGET) => match meta.target_mode {
                0 => Target::Missing,
                mode => Target::Mode(mode),
            },
            _ => Target::Unasked,
        }
    }

    /// Whether the mark was requested: not always with [`Needs::NEAR_MARK`].
    #[must_use]
    pub fn knows_mark(&self) -> bool {
        let is_asked = self.needs().intersects(Needs::MARKS);
        is_asked && self.meta.is_some_and(|meta| !meta.bits.contains(Bits::UNMARKED))
    }

    /// The mark after the permission bits.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.declared(if self.needs().contains(Needs::NEAR_MARK) { Needs::NEAR_MARK } else { Needs::MARK });
        match self.meta {
            Some(meta) if meta.bits.contains(Bits::ACL) => Mark::Acl,
            Some(meta) if meta.bits.contains(Bits::CONTEXT) => Mark::Context,
            Some(meta) => match meta.fault() {
                Some((Asked::Xattr, errno)) if Mark::is_gone(errno) => Mark::Unknown,
                _ => Mark::None,
            },
            None => Mark::None,
        }
    }

    /// Whether the file has a capability.
    #[must_use]
    pub fn has_capability(&self) -> bool {
        self.declared(Needs::CAPABILITY);
        self.meta.is_some_and(|meta| meta.bits.contains(Bits::CAPABILITY))
    }

    /// All times, the device and the attributes, if the batch was filled with them and `statx` succeeded.
    #[must_use]
    pub fn extra(&self) -> Option<&'a Extra> {
        self.batch.extra(self.known()?)
    }

    /// The extended attributes in the kernel's order: names, and the sizes of their values in bytes. The size is `None`
    /// if the value could not be read.
    pub fn xattr_list(&self) -> impl Iterator<Item = (&'a [u8], Option<u32>)> + use<'a> {
        self.declared(Needs::XATTR_LIST);
        let list = self.known().and_then(|meta| {
            let (start, len) = self.batch.extra(meta)?.xattrs;
            let links = &self.batch.texts.get(usize::from(meta.texts))?.links;
            links.get(start as usize..start as usize + len as usize)
        });
        xattr_list::read(list.unwrap_or_default())
    }

    fn known(&self) -> Option<&'a Meta> {
        self.meta.filter(|meta| meta.bits.contains(Bits::STAT))
    }

    /// An undeclared field may be filled by chance, because another consumer declared it. So reading it panics.
    #[inline]
    fn declared(&self, needs: Needs) {
        debug_assert!(
            self.needs().contains(needs),
            "{needs:?} of a {:?} was read but not declared",
            self.kind()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn batch(needs: Needs) -> Batch {
        let mut batch = Batch::new(NeedsByKind::all(needs));
        batch.push(c"alpha", Kind::Reg, 7);
        batch.push(c"b", Kind::Dir, 8);
        batch
    }

    #[test]
    fn names_and_types_come_back() {
        let batch = batch(Needs::TYPE);
        let all: Vec<_> = batch.iter().map(|e| (e.name(), e.kind(), e.d_ino())).collect();
        assert_eq!(all, [(&b"alpha"[..], Kind::Reg, 7), (b"b", Kind::Dir, 8)]);
        assert_eq!(batch.entry(1).c_name(), c"b");
    }

    #[test]
    fn slots_are_sparse_where_few_ask() {
        let mut batch = Batch::new(NeedsByKind::of(Kind::Dir, Needs::MODE));
        for name in [c"a", c"b", c"c", c"d"] {
            batch.push(name, if name == c"c" { Kind::Dir } else { Kind::Reg }, 1);
        }
        let todo = batch.place_slots(|kind, _| kind == Kind::Dir).expect("sparse");
        assert_eq!(todo.len(), 1);
        batch.metas.append(vec![Meta { mode: 0o040_755, bits: Bits::STAT, ..Meta::default() }]);
        let known: Vec<_> = batch.iter().map(|entry| entry.is_known()).collect();
        assert_eq!(known, [false, false, true, false]);
        assert_eq!(batch.entry(2).mode(), 0o040_755);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "was read but not declared")]
    fn reading_an_undeclared_field_panics() {
        let _ = batch(Needs::TYPE).entry(0).size();
    }

    #[test]
    fn slots_are_appended_in_pieces_of_any_size() {
        for sizes in [&[64, 64, 10][..], &[1, 63, 64, 5], &[8, 56, 200, 64, 64, 1], &[3; 50], &[130, 1], &[]]
        {
            let mut metas = Metas::default();
            let mut expected = Vec::new();
            for size in sizes {
                let piece: Vec<Meta> = (0..*size)
                    .map(|i| Meta { size: (expected.len() + i) as u64, ..Meta::default() })
                    .collect();
                expected.extend(piece.iter().map(|meta| meta.size));
                metas.append(piece);
            }
            assert_eq!(metas.len(), expected.len(), "{sizes:?}");
            assert!((0..expected.len()).all(|i| metas.get(i).is_some_and(|meta| meta.size == i as u64)));
            assert!(metas.get(expected.len()).is_none());
        }
    }

    #[test]
    fn names_of_another_batch_are_moved() {
        let (mut all, mut more) = (batch(Needs::TYPE), batch(Needs::TYPE));
        more.push(c"c", Kind::Link, 9);
        all.append_names(&mut more);
        let names: Vec<_> = all.iter().map(|e| (e.name(), e.kind(), e.d_ino())).collect();
        assert_eq!(names[2..], [(&b"alpha"[..], Kind::Reg, 7), (b"b", Kind::Dir, 8), (b"c", Kind::Link, 9)]);
        assert!(more.is_empty() && more.arena.is_empty());
    }

    /// An entry or text without room never appears in place of another.
    #[test]
    fn entries_without_room_are_left_out() {
        let mut full = Batch::new(NeedsByKind::all(Needs::TYPE));
        (0..MOST_ENTRIES - 1).for_each(|_| full.push(c"x", Kind::Reg, 1));
        full.append_names(&mut batch(Needs::TYPE));
        full.absorb(&batch(Needs::TYPE), &[0, 1]);
        full.append_copy(&batch(Needs::TYPE));
        assert_eq!((full.len(), full.is_full()), (MOST_ENTRIES - 1, true));
        full.full = false;
        full.push(c"last", Kind::Reg, 2);
        assert_eq!(full.whole(), Ok(()));
        full.push(c"one too many", Kind::Reg, 3);
        assert_eq!((full.len(), full.whole()), (MOST_ENTRIES, Err(Errno::OVERFLOW)));
        assert_eq!(full.entry(MOST_ENTRIES - 1).name(), b"last");
        full.clear();
        assert_eq!(full.whole(), Ok(()));
    }

    #[test]
    fn a_fault_keeps_its_errno() {
        let mut batch = batch(Needs::SIZE);
        assert!(batch.place_slots(|_, _| true).is_none());
        let mut metas = vec![Meta::default(); 2];
        metas[0].set_fault(Asked::Stat, Errno::ACCESS);
        batch.metas.append(metas);
        assert_eq!(batch.entry(0).fault(), Some((Asked::Stat, Errno::ACCESS)));
        assert_eq!(batch.entry(1).fault(), None);
        assert!(!batch.entry(0).is_known());
        assert_eq!(batch.entry(0).size(), 0);
    }
}
