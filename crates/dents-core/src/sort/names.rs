//! The order of names, eight bytes at a time.
//!
//! The first eight bytes of every name become a number. These numbers are sorted in an array that holds nothing else.
//! Runs of equal numbers are then sorted by the next eight bytes, and so on. Comparisons never follow a pointer to a
//! name. Names with a common prefix (`IMG_2024…`) cost one more pass instead of a cache miss for each comparison:
//! 100,000 names with ten common bytes take 12 ms instead of 26.
//!
//! In a locale the bytes are those of collation keys: first those of the first level, which decides between most names,
//! then those of the other levels for names equal there.

use super::buckets;
use crate::batch::Batch;
use crate::team::Team;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Makes keys whose bytewise order is an order of names.
pub trait Collate: Send {
    /// Appends the first level of a name's key.
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>);

    /// Appends the other levels of a name's key.
    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>);

    /// Another object that makes the same keys, for another thread.
    fn fork(&self) -> Box<dyn Collate + '_>;
}

/// The part of a key.
#[derive(Clone, Copy)]
enum Level {
    First,
    Rest,
}

impl Level {
    fn make(self, collate: &mut dyn Collate, name: &[u8], key: &mut Vec<u8>) {
        match self {
            Level::First => collate.first(name, key),
            Level::Rest => collate.rest(name, key),
        }
    }
}

/// Sorts some positions of the batch by the text that `text` returns for each. Stable: positions with equal texts or
/// keys keep their order, even if reversed.
pub(super) fn sort<'b>(
    batch: &'b Batch,
    order: &mut [u32],
    reverse: bool,
    collate: Option<&mut (dyn Collate + '_)>,
    team: &Team<'_>,
    text: fn(&'b [u8]) -> &'b [u8],
) {
    let text = |index: u32| text(batch.entry(index as usize).name());
    match collate {
        None => by_text(order, reverse, team, &text),
        Some(collate) => {
            by_keys(order, reverse, team, &text, collate, Level::First);
            for run in equal_runs(order, &text, collate) {
                by_keys(&mut order[run], reverse, team, &text, collate, Level::Rest);
            }
        }
    }
}

/// Sorts by the bytes of the texts.
fn by_text<'b>(order: &mut [u32], reverse: bool, team: &Team<'_>, text: &(impl Fn(u32) -> &'b [u8] + Sync)) {
    let old = OldOrder::new(order);
    Sorter { text: &|position: u32| text(old.get(position)), reverse }.arrange(order, &old, team);
}

/// The order before a sort. In reading order, the usual case, each position is its own index, and the four bytes for
/// each entry are saved.
struct OldOrder(Option<Vec<u32>>);

impl OldOrder {
    fn new(order: &[u32]) -> OldOrder {
        let as_read = order.iter().zip(0..).all(|(index, position)| *index == position);
        OldOrder((!as_read).then(|| order.to_vec()))
    }

    #[inline]
    fn get(&self, position: u32) -> u32 {
        self.0.as_ref().map_or(position, |old| old[position as usize])
    }

    fn arrange(&self, order: &mut [u32], positions: impl Iterator<Item = u32>) {
        for (slot, position) in order.iter_mut().zip(positions) {
            *slot = self.get(position);
        }
    }
}

/// The keys of consecutive texts.
#[derive(Default)]
struct Keys {
    arena: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn get(&self, nth: usize) -> &[u8] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.arena[start..self.ends[nth]]
    }
}

/// Keys that one thread makes at a time.
const KEYS: usize = 8192;

/// Sorts by keys that are made and dropped here.
fn by_keys<'b>(
    order: &mut [u32],
    reverse: bool,
    team: &Team<'_>,
    text: &(impl Fn(u32) -> &'b [u8] + Sync),
    collate: &mut (dyn Collate + '_),
    level: Level,
) {
    let old = OldOrder::new(order);
    let fill = |collate: &mut dyn Collate, keys: &mut Keys, part: &[u32]| {
        for index in part {
            level.make(collate, text(*index), &mut keys.arena);
            keys.ends.push(keys.arena.len());
        }
    };
    let mut keys: Vec<Keys> = Vec::new();
    if order.len() <= KEYS {
        keys.push(Keys::default());
        fill(collate, &mut keys[0], order);
    } else {
        let mut parts: Vec<_> =
            order.chunks(KEYS).map(|part| (collate.fork(), Keys::default(), part)).collect();
        team.each(&mut parts, &|(collate, keys, part)| fill(&mut **collate, keys, part));
        keys.extend(parts.into_iter().map(|(_, keys, _)| keys));
    }
    let key = |position: u32| keys[position as usize / KEYS].get(position as usize % KEYS);
    Sorter { text: &key, reverse }.arrange(order, &old, team);
}

/// The ranges of names that are equal at the first level.
fn equal_runs<'b>(
    order: &[u32],
    text: &impl Fn(u32) -> &'b [u8],
    collate: &mut (dyn Collate + '_),
) -> Vec<Range<usize>> {
    let (mut last, mut key) = (Vec::new(), Vec::new());
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (position, index) in order.iter().enumerate() {
        key.clear();
        collate.first(text(*index), &mut key);
        match runs.last_mut() {
            Some(run) if last == key => run.end = position + 1,
            _ => runs.push(position..position + 1),
        }
        core::mem::swap(&mut last, &mut key);
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// Up to this many are sorted on the stack, in 1 KiB: most directories are that small.
const FEW: usize = 64;

struct Sorter<'f, F> {
    text: &'f F,
    reverse: bool,
}

impl<'b, F: Fn(u32) -> &'b [u8] + Sync> Sorter<'_, F> {
    /// Rearranges the `old` order into that of the texts.
    fn arrange(&self, order: &mut [u32], old: &OldOrder, team: &Team<'_>) {
        let count = order.len();
        let from = self.common(count);
        let key = |position| self.key(position, from);
        if count <= FEW {
            let mut few = [(0, 0); FEW];
            let keyed = &mut few[..count];
            keyed.iter_mut().zip(0..).for_each(|(keyed, position)| *keyed = (key(position), position));
            self.sort_keyed(keyed, from);
            return old.arrange(order, keyed.iter().map(|(_, position)| *position));
        }
        let sort = |keyed: &mut Vec<Keyed>| self.sort_keyed(keyed, from);
        let buckets = buckets::sorted(team, count, key, &sort);
        old.arrange(order, buckets.into_iter().flatten().map(|(_, position)| position));
    }

    /// The length of the common prefix of all texts. It need not be compared.
    fn common(&self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let first = (self.text)(0);
        let alike = |common: usize, position: u32| {
            let both = first[..common].iter().zip((self.text)(position));
            both.take_while(|(a, b)| a == b).count()
        };
        (1..count as u32)
            .fold(first.len(), |common, position| if common == 0 { 0 } else { alike(common, position) })
    }

    /// Sorts texts that are equal up to `from`. Recurses once for each eight bytes of a text.
    fn sort(&self, keyed: &mut [Keyed], from: usize) {
        for (key, position) in keyed.iter_mut() {
            *key = self.key(*position, from);
        }
        self.sort_keyed(keyed, from);
    }

    /// The same with keys already made.
    fn sort_keyed(&self, keyed: &mut [Keyed], from: usize) {
        keyed.sort_unstable();
        for run in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            if run.len() > 1 && (self.text)(run[0].1).len() >= from + 8 {
                self.sort(run, from + 8);
            }
        }
    }

    /// The next eight bytes, padded with NULs. No name contains a NUL; it separates the levels of a key, and all keys
    /// have the same number of levels. So a text sorts before its extensions, and is equal only to itself.
    fn key(&self, position: u32, from: usize) -> u64 {
        let rest = (self.text)(position).get(from..).unwrap_or_default();
        let mut bytes = [0; 8];
        match rest.first_chunk::<8>() {
            Some(eight) => bytes = *eight,
            None => bytes[..rest.len()].copy_from_slice(rest),
        }
        let key = u64::from_be_bytes(bytes);
        if self.reverse { !key } else { key }
    }
}

/// Eight bytes of a text, and the position of its entry.
type Keyed = buckets::Keyed<u64>;
