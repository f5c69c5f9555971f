//! Files with several names, each remembered until all its names were seen.
//!
//! A file has `st_nlink` names. The first name adds the file with a value, each further name may change the value, and
//! the last one removes the file. Files left at the end have names elsewhere.
//!
//! **Cost**: for each file its key, two bytes and the value, in tables that are 79 to 88 % full. There is no
//! allocation per file. There are 64 tables, each with its own lock: workers rarely meet, and while one table grows the
//! others stay as they are.
//!
//! **Limits**: a link count may be wrong, or change during the walk. The greatest count seen applies. So a file that
//! gains names is remembered longer, and a file that loses a seen name is remembered until the end. Only a file that is
//! renamed during the walk, so that one name is seen twice, may be removed too early and counted again.

use crate::lock::Mutex;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A power of two.
const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// A file with this many names is never removed: names are counted in eight bits.
const MANY: u8 = u8::MAX;

/// The link count for a file whose number of names is unknown.
pub const UNKNOWN_NLINK: u32 = u32::MAX;

/// The key of a file. Linux device numbers have 12 and 20 bits (`include/linux/kdev_t.h`), so the key is exact.
#[must_use]
pub fn file_key(dev: (u32, u32), ino: u64) -> [u32; 3] {
    [ino as u32, (ino >> 32) as u32, (dev.0 << 20) ^ dev.1]
}

/// Files with a key of `N` words and a value. A value that is aligned to one byte wastes no memory.
pub struct HardLinks<const N: usize, V> {
    shards: Box<[Mutex<Table<N, V>>]>,
    /// A name may be seen more than once, so no file is removed.
    keeps: bool,
}

impl<const N: usize, V: Copy + Default> HardLinks<N, V> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        let table = || Mutex::new(Table { slots: Vec::new(), used: 0 });
        HardLinks { shards: core::iter::repeat_with(table).take(SHARDS).collect(), keeps: false }
    }

    /// An empty table. With `keeps` no file is removed: if a name may be seen more than once, the link count does not
    /// tell how many names follow.
    #[must_use]
    pub fn keeping(keeps: bool) -> Self {
        HardLinks { keeps, ..HardLinks::new() }
    }

    /// Adds a name of a file that has `nlink` names. `keep` gets the value of earlier names, if any, and returns the
    /// new value; it must not block. Returns the value after the last name.
    pub fn see(&self, key: [u32; N], nlink: u32, keep: impl FnOnce(Option<V>) -> V) -> Option<V> {
        let nlink = if self.keeps && nlink > 1 { UNKNOWN_NLINK } else { nlink };
        self.table(&key).lock().see(key, nlink, keep)
    }

    /// Removes a file.
    pub fn forget(&self, key: &[u32; N]) {
        let mut table = self.table(key).lock();
        if let Ok(at) = table.find(key) {
            table.remove(at);
        }
    }

    /// The values of all remembered files, in arbitrary order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let slots = self.shards.iter_mut().flat_map(|table| &mut table.get_mut().slots);
        slots.filter(|slot| slot.is_used()).map(|slot| &mut slot.value)
    }

    /// Allocated bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let slots: usize = self.shards.iter().map(|table| table.lock().slots.capacity()).sum();
        slots * size_of::<Slot<N, V>>() + SHARDS * size_of::<Mutex<Table<N, V>>>()
    }

    fn table(&self, key: &[u32; N]) -> &Mutex<Table<N, V>> {
        &self.shards[(hash(key) >> (u64::BITS - SHARD_BITS)) as usize]
    }
}

impl<const N: usize, V: Copy + Default> Default for HardLinks<N, V> {
    fn default() -> Self {
        HardLinks::new()
    }
}

#[derive(Clone, Copy)]
struct Slot<const N: usize, V> {
    /// The bytes of the words, which need no alignment.
    key: [[u8; 4]; N],
    /// The greatest link count seen; 0 for an empty slot.
    names: u8,
    seen: u8,
    value: V,
}

impl<const N: usize, V> Slot<N, V> {
    fn is_used(&self) -> bool {
        self.names != 0
    }

    fn key(&self) -> [u32; N] {
        self.key.map(u32::from_ne_bytes)
    }
}

/// Linear probing. Slots are in the order of their hashes, so a table may have any size.
struct Table<const N: usize, V> {
    slots: Vec<Slot<N, V>>,
    used: usize,
}

impl<const N: usize, V: Copy + Default> Table<N, V> {
    fn see(&mut self, key: [u32; N], nlink: u32, keep: impl FnOnce(Option<V>) -> V) -> Option<V> {
        let names = u8::try_from(nlink).unwrap_or(MANY);
        let Ok(at) = self.find(&key) else {
            let value = keep(None);
            if names < 2 {
                return Some(value);
            }
            self.insert(Slot { key: key.map(u32::to_ne_bytes), names, seen: 1, value });
            return None;
        };
        let slot = &mut self.slots[at];
        slot.value = keep(Some(slot.value));
        slot.names = slot.names.max(names);
        slot.seen = slot.seen.saturating_add(1);
        if slot.seen < slot.names || slot.names == MANY {
            return None;
        }
        let value = slot.value;
        self.remove(at);
        Some(value)
    }

    /// The index of a key, or of the empty slot where it belongs.
    fn find(&self, key: &[u32; N]) -> Result<usize, usize> {
        if self.slots.is_empty() {
            return Err(0);
        }
        let mut at = self.home(key);
        while self.slots[at].is_used() {
            if self.slots[at].key() == *key {
                return Ok(at);
            }
            at = self.after(at);
        }
        Err(at)
    }

    fn insert(&mut self, slot: Slot<N, V>) {
        if (self.used + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
        if let Err(at) = self.find(&slot.key()) {
            self.slots[at] = slot;
            self.used += 1;
        }
    }

    /// Grows by a tenth: doubling would leave half of the memory empty.
    fn grow(&mut self) {
        let size = self.slots.len() + (self.slots.len() / 10).max(16);
        let empty = Slot { key: [[0; 4]; N], names: 0, seen: 0, value: V::default() };
        let old = core::mem::replace(&mut self.slots, alloc::vec![empty; size]);
        for slot in old.into_iter().filter(Slot::is_used) {
            if let Err(at) = self.find(&slot.key()) {
                self.slots[at] = slot;
            }
        }
    }

    /// Empties a slot, and moves back the slots behind it that were displaced.
    fn remove(&mut self, mut hole: usize) {
        let size = self.slots.len();
        let mut at = hole;
        loop {
            at = self.after(at);
            if !self.slots[at].is_used() {
                break;
            }
            let way_from = |from: usize| (at + size - from) % size;
            if way_from(self.home(&self.slots[at].key())) >= way_from(hole) {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
        }
        self.slots[hole].names = 0;
        self.used -= 1;
    }

    fn home(&self, key: &[u32; N]) -> usize {
        let low = hash(key) & u64::from(u32::MAX);
        ((low * self.slots.len() as u64) >> 32) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }
}

/// Inode numbers are often consecutive, so each bit must affect all others.
fn hash<const N: usize>(key: &[u32; N]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(ODD).rotate_left(29);
    let hash = key.iter().fold(ODD, mix);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(ODD);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// As large as what `dents stats` keeps.
    type Fifteen = [u8; 15];

    #[test]
    fn a_million_files_take_little_and_are_forgotten() {
        const FILES: u64 = 1_000_000;
        let links = HardLinks::<3, Fifteen>::new();
        let met = |ino| links.see(file_key((8, 1), ino), 2, |old| old.unwrap_or_default()).is_some();
        // The worst order: all first names before all second names.
        assert!(!(0..FILES).any(met));
        assert!(links.bytes() < 37_500_000, "{}", links.bytes());
        assert!((0..FILES).all(met));
        let mut links = links;
        assert_eq!(links.values_mut().count(), 0);
    }

    #[test]
    fn names_one_after_the_other_take_nothing() {
        let links = HardLinks::<3, ()>::new();
        for ino in 0..1_000_000 {
            let met = || links.see(file_key((8, 1), ino), 2, |_| ()).is_some();
            assert_eq!([met(), met()], [false, true]);
        }
        assert!(links.bytes() < 64 * 1024, "{}", links.bytes());
    }

    /// Random names, compared with a map.
    #[test]
    fn a_table_agrees_with_a_map() {
        let links = HardLinks::<4, u32>::new();
        let mut map = HashMap::new();
        let mut state = 7u64;
        for step in 0..300_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (state >> 40) % 5000;
            let nlink = (number % 7) as u32;
            let [a, b, c] = file_key((259, 3), number);
            let last = links.see([a, b, c, nlink], nlink, |old| {
                assert_eq!(old, map.get(&number).map(|(_, value)| *value));
                step
            });
            let seen = map.get(&number).map_or(0, |(seen, _)| *seen) + 1;
            assert_eq!(last, (seen >= nlink).then_some(step), "{number}");
            if seen >= nlink {
                map.remove(&number)
            } else {
                map.insert(number, (seen, step))
            };
        }
        let mut links = links;
        assert_eq!(links.values_mut().count(), map.len());
        for number in map.keys() {
            let [a, b, c] = file_key((259, 3), *number);
            links.forget(&[a, b, c, (number % 7) as u32]);
        }
        assert_eq!(links.values_mut().count(), 0);
    }

    #[test]
    fn link_counts_that_change_or_are_wrong() {
        let links = HardLinks::<3, u32>::new();
        let met = |ino, nlink| links.see(file_key((0, 50), ino), nlink, |old| old.unwrap_or(0) + 1);
        // The file gains a name.
        assert_eq!([met(1, 2), met(1, 3), met(1, 3)], [None, None, Some(3)]);
        // One of three names is removed after it was seen: the greatest count applies.
        assert_eq!([met(2, 3), met(2, 2), met(2, 2)], [None, None, Some(3)]);
        // A count of 0 is invalid.
        assert_eq!([met(3, 0), met(3, 1)], [Some(1), Some(1)]);
        // Many names, or an unknown number of names.
        for nlink in [u32::from(u8::MAX), 1 << 20, UNKNOWN_NLINK] {
            assert!((0..70_000).all(|_| met(4, nlink).is_none()));
        }
    }

    #[test]
    fn device_numbers_stay_apart() {
        let keys =
            [(8, 1), (8, 2), (0, 1), (4095, 1), (8, 0xf_ffff), (4095, 0xf_ffff)].map(|dev| file_key(dev, 5));
        assert!(keys.iter().enumerate().all(|(nth, key)| !keys[..nth].contains(key)));
        assert_ne!(file_key((8, 1), 5), file_key((8, 1), 5 | 1 << 40));
    }
}
