//! Sorting: makes a permutation of a batch. The batch itself does not change.
//!
//! Every order is total: equal keys are ordered by name, equal names by reading order. So an unstable sort gives the
//! same result as GNU's stable one.

mod buckets;
mod names;
mod natural;
mod version;

use crate::batch::{Batch, Entry, Target};
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::team::Team;
use alloc::vec::Vec;
use core::cmp::Reverse;

pub use names::Collate;
pub use version::compare as compare_versions;

/// The sort key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Reading order.
    None,
    /// By name.
    #[default]
    Name,
    /// By the text after the last dot.
    Extension,
    /// Largest first.
    Size,
    /// Newest first, by the declared time.
    Time,
    /// By name, with runs of digits compared as numbers.
    Version,
    /// By name, with runs of digits compared as numbers and letters without case.
    Natural,
    /// By inode number, lowest first.
    Inode,
    /// Directories, regular files, symbolic links, all others.
    Type,
    /// By the width of names on the screen, narrowest first. The caller knows the widths, see [`Order::sort_by_width`].
    Width,
}

/// An order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What to sort by.
    pub key: Key,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// Directories, and links to directories, before all others, even if reversed.
    pub directories_first: bool,
}

impl Order {
    /// The facts that this order needs. `time` is the time for [`Key::Time`].
    #[must_use]
    pub fn needs(&self, time: Needs) -> NeedsByKind {
        let mut needs = match self.key {
            Key::Size => NeedsByKind::all(Needs::SIZE),
            Key::Time => NeedsByKind::all(time),
            Key::Inode => NeedsByKind::all(Needs::INODE),
            Key::Type => NeedsByKind::all(Needs::TYPE),
            Key::None | Key::Name | Key::Extension | Key::Version | Key::Natural | Key::Width => {
                NeedsByKind::default()
            }
        };
        if self.directories_first {
            needs |= NeedsByKind::all(Needs::TYPE);
        }
        if self.directories_first && self.key != Key::None {
            needs |= NeedsByKind::of(Kind::Link, Needs::TARGET);
        }
        needs
    }

    /// The positions of the batch's entries in this order. [`Key::Width`] sorts by name here.
    ///
    /// Names are compared bytewise, or with `collate` in the order of a locale (except for [`Key::Version`], which has
    /// its own order). All threads of `team` sort large batches.
    #[must_use]
    pub fn sort(&self, batch: &Batch, collate: Option<&mut (dyn Collate + '_)>, team: &Team<'_>) -> Vec<u32> {
        let mut order = Vec::new();
        self.sort_into(&mut order, batch, collate, team);
        order
    }

    /// Like [`sort`](Self::sort), reusing the memory of an old order.
    pub fn sort_into(
        &self,
        order: &mut Vec<u32>,
        batch: &Batch,
        collate: Option<&mut (dyn Collate + '_)>,
        team: &Team<'_>,
    ) {
        match self.key {
            Key::Time => self.by_key(order, batch, collate, team, |entry| Reverse(entry.time())),
            Key::Size => self.by_key(order, batch, collate, team, |entry| Reverse(entry.size())),
            Key::Inode => self.by_key(order, batch, collate, team, |entry| entry.ino()),
            Key::Type => self.by_key(order, batch, collate, team, |entry| rank(entry.kind())),
            _ => {
                order.clear();
                order.extend(0..batch.len() as u32);
                self.by_name(order, batch, collate, team);
            }
        }
        self.group(batch, order);
    }

    /// Sorts by [`Key::Width`]: `widths` are those of the entries in reading order.
    ///
    /// # Panics
    /// If there are fewer widths than entries.
    #[must_use]
    pub fn sort_by_width(
        &self,
        batch: &Batch,
        collate: Option<&mut (dyn Collate + '_)>,
        team: &Team<'_>,
        widths: &[isize],
    ) -> Vec<u32> {
        let mut order = Vec::new();
        self.by_key(&mut order, batch, collate, team, |entry| widths[entry.index()]);
        self.group(batch, &mut order);
        order
    }

    /// Sorts by [`Key::Size`] with the given sizes: the total sizes of directories are not in their slots.
    ///
    /// # Panics
    /// If there are fewer sizes than entries.
    #[must_use]
    pub fn sort_by_size(
        &self,
        batch: &Batch,
        collate: Option<&mut (dyn Collate + '_)>,
        team: &Team<'_>,
        sizes: &[u128],
    ) -> Vec<u32> {
        let mut order = Vec::new();
        self.by_key(&mut order, batch, collate, team, |entry| Reverse(sizes[entry.index()]));
        self.group(batch, &mut order);
        order
    }

    fn group(&self, batch: &Batch, order: &mut [u32]) {
        if self.directories_first && self.key != Key::None {
            order.sort_by_key(|index| !is_directory(&batch.entry(*index as usize)));
        }
    }

    /// Sorts by the name or a part of it.
    fn by_name(
        &self,
        order: &mut [u32],
        batch: &Batch,
        mut collate: Option<&mut (dyn Collate + '_)>,
        team: &Team<'_>,
    ) {
        let mut sort = |collate: Option<&mut (dyn Collate + '_)>, text: fn(&[u8]) -> &[u8]| {
            names::sort(batch, order, self.reverse, collate, team, text);
        };
        match self.key {
            Key::Name | Key::Width => sort(collate, |name| name),
            Key::Version => sort(Some(&mut version::Version), |name| name),
            Key::Natural => {
                let rules = collate.map(|rules| rules as &mut dyn Collate);
                sort(Some(&mut natural::Natural::new(rules)), |name| name);
            }
            Key::Extension => {
                sort(collate.as_deref_mut(), |name| name);
                sort(collate, extension);
            }
            Key::None | Key::Time | Key::Size | Key::Inode | Key::Type => {}
        }
    }

    /// Keys are fetched once, not at each comparison. Entries with equal keys are then sorted by name.
    fn by_key<K: Ord + Copy + Send>(
        &self,
        order: &mut Vec<u32>,
        batch: &Batch,
        mut collate: Option<&mut (dyn Collate + '_)>,
        team: &Team<'_>,
        key: impl Fn(Entry<'_>) -> K,
    ) {
        let sort = |keyed: &mut Vec<(K, u32)>| keyed.sort_unstable();
        order.clear();
        let mut buckets =
            buckets::sorted(team, batch.len(), |position| key(batch.entry(position as usize)), &sort);
        order.reserve(batch.len());
        if self.reverse {
            buckets.reverse();
        }
        for bucket in &mut buckets {
            // Reverses the order of runs of equal keys; within a run, the sort by name already reversed it.
            if self.reverse {
                bucket.reverse();
            }
            for run in bucket.chunk_by_mut(|a, b| a.0 == b.0) {
                let start = order.len();
                // Equal names must be in reading order.
                if self.reverse {
                    run.reverse();
                }
                order.extend(run.iter().map(|(_, index)| *index));
                if run.len() > 1 {
                    names::sort(
                        batch,
                        &mut order[start..],
                        self.reverse,
                        collate.as_deref_mut(),
                        team,
                        |name| name,
                    );
                }
            }
        }
    }
}

/// The rank of a type for [`Key::Type`].
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Dir => 0,
        Kind::Reg => 1,
        Kind::Link => 2,
        // In the order of their numbers, which is arbitrary.
        other => 3 + other as u8,
    }
}

fn extension(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(&[], |dot| &name[dot..])
}

/// Whether an entry is a directory, or a link whose target is known to be one.
#[must_use]
pub fn is_directory(entry: &Entry<'_>) -> bool {
    match entry.kind() {
        Kind::Dir => true,
        Kind::Link => matches!(entry.target(), Target::Mode(mode) if Kind::from_mode(mode) == Kind::Dir),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_threads::Std;
    use alloc::ffi::CString;
    use std::format;
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
        let order = order.sort(&batch, None, &Team::ALONE);
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
            assert_eq!(Order { reverse, ..Order::default() }.sort(&batch, None, &Team::ALONE), [0, 1, 2]);
        }
    }

    /// A locale that ignores dots and case at the first level; the second level is the name itself.
    struct Toy;

    impl Collate for Toy {
        fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
            key.extend(name.iter().filter(|byte| **byte != b'.').map(u8::to_ascii_lowercase));
            key.push(0);
        }

        fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
            key.extend(name.iter().map(|byte| if byte.is_ascii_uppercase() { 2 } else { 1 }));
            key.push(0);
        }

        fn fork(&self) -> Box<dyn Collate + '_> {
            Box::new(Toy)
        }
    }

    #[test]
    fn a_team_sorts_as_one_does() {
        let mut seed = 3_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for kind in 0..4 {
            let name = |i: usize, random: &mut dyn FnMut(usize) -> usize| match kind {
                0 => format!("IMG_2024_{:07}.JPG", random(90_000)),
                1 => format!("same_beginning_for_all_of_them_{}", random(9)),
                2 => format!("{i:07}"),
                _ => format!("{}v{}.tar", ["Abc", "abC", "a.b", "z"][random(4)], random(300)),
            };
            let names: Vec<String> = (0..17_000).map(|i| name(i, &mut random)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let batch = batch(&names);
            let key = [Key::Name, Key::Version, Key::Extension, Key::Natural][kind];
            let team = Team::new(&Std, 3);
            for reverse in [false, true] {
                let order = Order { key, reverse, directories_first: false };
                let sorted = |team: &Team<'_>| order.sort(&batch, None, team);
                assert!(sorted(&team) == sorted(&Team::ALONE), "{order:?} {kind}");
                let sorted = |team: &Team<'_>| order.sort(&batch, Some(&mut Toy), team);
                assert!(sorted(&team) == sorted(&Team::ALONE), "{order:?} {kind} in a locale");
                let widths: Vec<isize> = (0..batch.len()).map(|i| i as isize % 100).collect();
                let sorted = |team: &Team<'_>| order.sort_by_width(&batch, None, team, &widths);
                assert!(sorted(&team) == sorted(&Team::ALONE), "{order:?} {kind} by width");
            }
        }
    }

    #[test]
    fn a_locale_decides_level_by_level() {
        let names = ["b", "B.", "a.b", "AB", "ab", ".ab", "abcdefgh.i", "abcdefghI", "abcdefgh"];
        let batch = batch(&names);
        let sorted = |order: Order| {
            let order = order.sort(&batch, Some(&mut Toy), &Team::ALONE);
            order.iter().map(|i| str::from_utf8(batch.entry(*i as usize).name()).unwrap()).collect::<Vec<_>>()
        };
        // `a.b` and `.ab` have equal keys and stay in reading order.
        let expected = ["ab", "a.b", ".ab", "AB", "abcdefgh", "abcdefgh.i", "abcdefghI", "b", "B."];
        assert_eq!(sorted(Order::default()), expected);
        let reversed = ["B.", "b", "abcdefghI", "abcdefgh.i", "abcdefgh", "AB", "a.b", ".ab", "ab"];
        assert_eq!(sorted(Order { reverse: true, ..Order::default() }), reversed);
        let by_extension = sorted(Order { key: Key::Extension, ..Order::default() });
        assert_eq!(by_extension[..3], ["ab", "AB", "abcdefgh"]);
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
    fn by_number_and_by_type_then_names() {
        let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE | Needs::INODE));
        let entries = [
            (c"s", Kind::Sock, 1),
            (c"f", Kind::Reg, 9),
            (c"d", Kind::Dir, 3),
            (c"l", Kind::Link, 2),
            (c"a", Kind::Reg, 9),
        ];
        entries.iter().for_each(|(name, kind, inode)| batch.push(name, *kind, *inode));
        let sorted = |key, reverse| {
            let order = Order { key, reverse, directories_first: false }.sort(&batch, None, &Team::ALONE);
            order.iter().map(|i| char::from(batch.entry(*i as usize).name()[0])).collect::<String>()
        };
        assert_eq!((sorted(Key::Type, false), sorted(Key::Type, true)), ("dafls".into(), "slfad".into()));
        assert_eq!((sorted(Key::Inode, false), sorted(Key::Inode, true)), ("sldaf".into(), "fadls".into()));
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
