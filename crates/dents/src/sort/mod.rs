//! Sorting: from a batch to a permutation of it. The batch itself never moves.
//!
//! Every order is total: equal keys fall back to the name, equal names to the order of reading, so an
//! unstable sort gives the result of GNU's stable one.

mod names;
mod version;

use crate::batch::{Batch, Entry, Target};
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

pub use version::compare as compare_versions;

/// What to sort by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// As read.
    None,
    /// By name.
    #[default]
    Name,
    /// By what follows the last dot.
    Extension,
    /// Largest first.
    Size,
    /// Newest first, by the time that was declared.
    Time,
    /// By name, with runs of digits compared as numbers.
    Version,
}

/// An order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What to sort by.
    pub key: Key,
    /// The other way round.
    pub reverse: bool,
    /// Directories, and links to directories, before everything else, whatever `reverse` says.
    pub directories_first: bool,
}

impl Order {
    /// What must be known to sort so. `time` is the time that [`Key::Time`] means.
    #[must_use]
    pub fn needs(&self, time: Needs) -> NeedsByKind {
        let mut needs = match self.key {
            Key::Size => NeedsByKind::all(Needs::SIZE),
            Key::Time => NeedsByKind::all(time),
            Key::None | Key::Name | Key::Extension | Key::Version => NeedsByKind::default(),
        };
        if self.directories_first && self.key != Key::None {
            needs |= NeedsByKind::all(Needs::TYPE) | NeedsByKind::of(Kind::Link, Needs::TARGET);
        }
        needs
    }

    /// The positions of the batch's entries in this order.
    #[must_use]
    pub fn sort(&self, batch: &Batch) -> Vec<u32> {
        let mut order = match self.key {
            Key::None => return (0..batch.len() as u32).collect(),
            Key::Name => names::sorted(batch, self.reverse),
            Key::Time => self.by_key(batch, |entry| Reverse(entry.time())),
            Key::Size => self.by_key(batch, |entry| Reverse(entry.size())),
            Key::Extension => self.by_name_function(batch, |a, b| extension(a).cmp(extension(b))),
            Key::Version => self.by_name_function(batch, version::compare),
        };
        if self.directories_first {
            order.sort_by_key(|index| !is_directory(&batch.entry(*index as usize)));
        }
        order
    }

    /// Keys are fetched once, not at each comparison; entries of one key are sorted by name afterwards.
    fn by_key<K: Ord + Copy>(&self, batch: &Batch, key: impl Fn(Entry<'_>) -> K) -> Vec<u32> {
        let mut keyed: Vec<(K, u32)> =
            batch.iter().zip(0..).map(|(entry, index)| (key(entry), index)).collect();
        keyed.sort_unstable_by(|a, b| turned(a.0.cmp(&b.0), self.reverse));
        let mut order: Vec<u32> = keyed.iter().map(|(_, index)| *index).collect();
        let mut rest = &mut order[..];
        for run in keyed.chunk_by(|a, b| a.0 == b.0) {
            let (ties, others) = rest.split_at_mut(run.len());
            if ties.len() > 1 {
                // Equal names must meet in the order of reading.
                ties.sort_unstable();
                names::sort(batch, ties, self.reverse);
            }
            rest = others;
        }
        order
    }

    fn by_name_function(&self, batch: &Batch, compare: impl Fn(&[u8], &[u8]) -> Ordering) -> Vec<u32> {
        let mut named: Vec<(&[u8], u32)> =
            batch.iter().zip(0..).map(|(entry, index)| (entry.name(), index)).collect();
        named.sort_unstable_by(|a, b| {
            let order = compare(a.0, b.0).then_with(|| a.0.cmp(b.0));
            turned(order, self.reverse).then(a.1.cmp(&b.1))
        });
        named.into_iter().map(|(_, index)| index).collect()
    }
}

fn turned(order: Ordering, reverse: bool) -> Ordering {
    if reverse { order.reverse() } else { order }
}

fn extension(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(&[], |dot| &name[dot..])
}

fn is_directory(entry: &Entry<'_>) -> bool {
    match entry.kind() {
        Kind::Dir => true,
        Kind::Link => matches!(entry.target(), Target::Mode(mode) if Kind::from_mode(mode) == Kind::Dir),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::ffi::CString;
    use std::prelude::v1::*;

    fn batch(names: &[&str]) -> Batch {
        let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE | Needs::TARGET));
        for name in names {
            let kind = if name.ends_with('/') { Kind::Dir } else { Kind::Reg };
            batch.push(&CString::new(name.trim_end_matches('/')).expect("no NUL"), kind, 0);
        }
        batch
    }

    fn sorted(order: Order, names: &[&str]) -> Vec<String> {
        let batch = batch(names);
        let order = order.sort(&batch);
        order.iter().map(|i| String::from_utf8_lossy(batch.entry(*i as usize).name()).into_owned()).collect()
    }

    #[test]
    fn names_by_bytes() {
        let order = Order::default();
        assert_eq!(
            sorted(order, &["b", "a", "ab", "B", "abcdefghi", "abcdefgh", "abcdefghj", "é"]),
            ["B", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b", "é"]
        );
        assert_eq!(sorted(order, &["x10", "x9", "x"]), ["x", "x10", "x9"]);
        assert_eq!(sorted(Order { reverse: true, ..order }, &["a", "c", "b"]), ["c", "b", "a"]);
    }

    #[test]
    fn equal_names_keep_the_order_of_reading_even_reversed() {
        for reverse in [false, true] {
            let batch = batch(&["same", "same", "same"]);
            assert_eq!(Order { reverse, ..Order::default() }.sort(&batch), [0, 1, 2]);
        }
    }

    #[test]
    fn extensions_then_names() {
        let order = Order { key: Key::Extension, ..Order::default() };
        assert_eq!(
            sorted(order, &["b.c", "a.d", "z", "a.c", ".c", "y"]),
            ["y", "z", ".c", "a.c", "b.c", "a.d"]
        );
    }

    #[test]
    fn directories_first_whatever_the_direction() {
        let order = Order { directories_first: true, reverse: true, ..Order::default() };
        assert_eq!(sorted(order, &["a", "b/", "c", "d/"]), ["d", "b", "c", "a"]);
    }

    #[test]
    fn against_a_plain_sort() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..200 {
            let common = "p".repeat(random() % 12);
            let names: Vec<String> = (0..random() % 60)
                .map(|_| {
                    let tail: String = (0..random() % 11).map(|_| ['a', 'b', 'é'][random() % 3]).collect();
                    format!("{common}x{tail}")
                })
                .collect();
            let refs: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut plain = names.clone();
            plain.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
            assert_eq!(sorted(Order::default(), &refs), plain);
        }
    }
}
