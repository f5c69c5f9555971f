//! Files with several links: each counts once.
//!
//! Owner, age and size belong to the file, and count when its first name is found. Depth and extension depend on the name. They
//! count when all names were found, or at the end: those of the name with the least depth; if several names have that depth, those of
//! the name whose extension comes first. So the figures do not depend on the workers, and no path is kept.

use super::key::By;
use dents_core::facts::Facts;
use dents_core::lock::Mutex;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use std::collections::HashMap;

/// A file with names that were not found yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Linked {
    /// The number of the stored values of its first name.
    name: u32,
    pub(crate) size: u64,
    pub(crate) allocated: u64,
}

/// The same in 15 bytes: six for the size, five for the blocks of 512 bytes, four for the name.
#[derive(Clone, Copy, Default)]
struct Packed {
    name: [u8; 4],
    /// [`LARGE`] for a file whose figures do not fit: then `blocks` is their position in a list.
    size: [u8; 6],
    blocks: [u8; 5],
}

const LARGE: [u8; 6] = [u8::MAX; 6];
const BLOCK: u64 = 512;

/// The lowest bytes of a number; `None` if the others are not zero.
fn low<const N: usize>(number: u64) -> Option<[u8; N]> {
    let (low, high) = number
        .to_le_bytes()
        .split_first_chunk()
        .map(|(low, high)| (*low, high.iter().all(|byte| *byte == 0)))?;
    high.then_some(low)
}

fn number<const N: usize>(low: [u8; N]) -> u64 {
    low.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Files with several links, shared by all workers. Values of names are stored once and referred to by number.
pub(crate) struct Links {
    files: HardLinks<3, Packed>,
    /// Sizes and allocated bytes that do not fit into a [`Packed`]: of sparse files of over 256 TiB, or of a damaged file system.
    large: Mutex<Vec<(u64, u64)>>,
    names: Mutex<NameTable>,
    /// Whether a table needs the values of names.
    are_wanted: bool,
}

impl Links {
    /// Makes the value for these tables. `keeps`: see [`HardLinks::keeping`].
    pub(crate) fn new(tables: &[By], keeps: bool) -> Links {
        let are_wanted = tables.iter().any(By::is_by_name);
        Links {
            files: HardLinks::keeping(keeps),
            large: Mutex::default(),
            names: Mutex::default(),
            are_wanted,
        }
    }

    /// Whether a table needs the values of names.
    pub(crate) fn are_wanted(&self) -> bool {
        self.are_wanted
    }

    /// Adds one of `names` names of a file, with the values of the name. The "first" name of a file is the one with the least values. Returns whether
    /// this is the first name that was found, and after the last one the file, to be counted by name.
    pub(crate) fn see(
        &self,
        kind: Kind,
        facts: &Facts<'_>,
        names: u32,
        values: Option<&[u8]>,
    ) -> (bool, Option<Linked>) {
        let size = if kind.has_length() { facts.size } else { 0 };
        let name = values.map_or(0, |values| self.names.lock().number(values));
        let mut is_first = false;
        let last = self.files.see(facts.inode().key(), names, |old| match old {
            None => {
                is_first = true;
                self.pack(name, size, facts.allocated)
            }
            Some(old) => Packed { name: self.first(u32::from_le_bytes(old.name), name).to_le_bytes(), ..old },
        });
        (is_first, last.map(|last| self.unpack(last)))
    }

    fn pack(&self, name: u32, size: u64, allocated: u64) -> Packed {
        let name = name.to_le_bytes();
        let blocks = low(allocated / BLOCK).filter(|_| allocated.is_multiple_of(BLOCK));
        if let (Some(size), Some(blocks)) = (low(size).filter(|size| *size != LARGE), blocks) {
            return Packed { name, size, blocks };
        }
        let mut large = self.large.lock();
        large.push((size, allocated));
        Packed { name, size: LARGE, blocks: low(large.len() as u64 - 1).unwrap_or_default() }
    }

    fn unpack(&self, packed: Packed) -> Linked {
        packed.unpack(&self.large.lock())
    }

    fn first(&self, a: u32, b: u32) -> u32 {
        if a == b { a } else { self.names.lock().first(a, b) }
    }

    /// Passes the values of the first name of a file to `show`.
    pub(crate) fn with_values(&self, linked: Linked, show: impl FnOnce(&[u8])) {
        if self.are_wanted {
            show(&self.names.lock().texts[linked.name as usize]);
        }
    }

    /// Counts the files with names that were not found, each by the values of its first name. If names may be found twice, these are all
    /// files with several links, so this makes no list of them, which would double the memory.
    pub(crate) fn count_rest(&mut self, mut count: impl FnMut(Linked, &[u8])) {
        let Links { files, large, names, are_wanted } = self;
        if !*are_wanted {
            return;
        }
        let (large, names) = (large.get_mut(), names.get_mut());
        for packed in files.values_mut() {
            let linked = packed.unpack(large);
            count(linked, &names.texts[linked.name as usize]);
        }
    }
}

impl Packed {
    fn unpack(self, large: &[(u64, u64)]) -> Linked {
        let name = u32::from_le_bytes(self.name);
        if self.size == LARGE {
            let (size, allocated) = large[number(self.blocks) as usize];
            return Linked { name, size, allocated };
        }
        Linked { name, size: number(self.size), allocated: number(self.blocks) * BLOCK }
    }
}

/// Values of names by number.
#[derive(Default)]
struct NameTable {
    numbers: HashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
}

impl NameTable {
    fn number(&mut self, values: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(values) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(values.into());
        self.numbers.insert(values.into(), number);
        number
    }

    fn first(&self, a: u32, b: u32) -> u32 {
        if self.texts[a as usize] <= self.texts[b as usize] { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back() {
        let links = Links::new(&[], false);
        for (size, allocated) in [
            (0, 0),
            (1, 512),
            (1 << 47, 1 << 48),
            ((1 << 48) - 1, 512),
            (u64::MAX, 0),
            (5, 511),
            (7, u64::MAX),
            (8, 1 << 60),
        ] {
            let Linked { name, size: found, allocated: blocks } =
                links.unpack(links.pack(9, size, allocated));
            assert_eq!((name, found, blocks), (9, size, allocated));
        }
        assert_eq!(size_of::<Packed>(), 15);
    }
}
