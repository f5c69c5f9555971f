//! The order of names, eight bytes at a time.
//!
//! The first eight bytes of every name become one number and are sorted as such, in an array that holds nothing
//! else; runs of equal numbers then take the next eight bytes, and so on. Comparisons never follow a pointer to
//! a name, and names that begin alike (`IMG_2024…`) cost one more pass instead of a cache miss a comparison:
//! 100,000 names with ten bytes in common take 12 ms instead of 26.
//!
//! In a locale, the bytes are not those of the names but of their collation keys: those of the first level, which
//! decides between most names, and for names that are equal there those of the others.

use crate::batch::Batch;
use alloc::vec::Vec;
use core::ops::Range;

/// Keys whose order by bytes is the locale's order of the names.
pub trait Collate {
    /// Appends the first level of a name's key.
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>);

    /// Appends what follows the first level.
    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>);
}

/// Sorts some positions of the batch by the text that `text` makes of each name. Stable: those with equal texts, or
/// equal keys, stay in the order given, reversed or not.
pub(super) fn sort<'b>(
    batch: &'b Batch,
    order: &mut [u32],
    reverse: bool,
    collate: Option<&mut (dyn Collate + '_)>,
    text: fn(&'b [u8]) -> &'b [u8],
) {
    let text = |index: u32| text(batch.entry(index as usize).name());
    match collate {
        None => by_text(order, reverse, &text),
        Some(collate) => {
            by_keys(order, reverse, &text, &mut |name, key| collate.first(name, key));
            for run in equal_runs(order, &text, collate) {
                by_keys(&mut order[run], reverse, &text, &mut |name, key| collate.rest(name, key));
            }
        }
    }
}

/// Sorts by the bytes of the texts.
fn by_text<'b>(order: &mut [u32], reverse: bool, text: &impl Fn(u32) -> &'b [u8]) {
    let old = order.to_vec();
    let places = Sorter { text: &|place| text(old[place as usize]), reverse }.sorted(old.len());
    for (slot, place) in order.iter_mut().zip(places) {
        *slot = old[place as usize];
    }
}

/// Sorts by keys that are made here and forgotten.
fn by_keys<'b>(
    order: &mut [u32],
    reverse: bool,
    text: &impl Fn(u32) -> &'b [u8],
    make: &mut dyn FnMut(&[u8], &mut Vec<u8>),
) {
    let mut arena = Vec::new();
    let ends: Vec<usize> = order
        .iter()
        .map(|index| {
            make(text(*index), &mut arena);
            arena.len()
        })
        .collect();
    let key = |place: u32| {
        let place = place as usize;
        let start = place.checked_sub(1).map_or(0, |before| ends[before]);
        &arena[start..ends[place]]
    };
    let places = Sorter { text: &key, reverse }.sorted(order.len());
    let old = order.to_vec();
    for (slot, place) in order.iter_mut().zip(places) {
        *slot = old[place as usize];
    }
}

/// The stretches of names that are equal at the first level.
fn equal_runs<'b>(
    order: &[u32],
    text: &impl Fn(u32) -> &'b [u8],
    collate: &mut (dyn Collate + '_),
) -> Vec<Range<usize>> {
    let (mut last, mut key) = (Vec::new(), Vec::new());
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (place, index) in order.iter().enumerate() {
        key.clear();
        collate.first(text(*index), &mut key);
        match runs.last_mut() {
            Some(run) if last == key => run.end = place + 1,
            _ => runs.push(place..place + 1),
        }
        core::mem::swap(&mut last, &mut key);
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// Eight bytes of a text, and its place.
type Keyed = (u64, u32);

struct Sorter<'f, F> {
    text: &'f F,
    reverse: bool,
}

impl<'b, F: Fn(u32) -> &'b [u8]> Sorter<'_, F> {
    /// The places `0..count` in the order of their texts.
    fn sorted(&self, count: usize) -> impl Iterator<Item = u32> + use<'b, F> {
        let mut keyed: Vec<Keyed> = (0..count as u32).map(|place| (0, place)).collect();
        self.sort(&mut keyed, 0);
        keyed.into_iter().map(|(_, place)| place)
    }

    /// Sorts texts that are equal up to `from`. Recurs once per eight bytes of a text.
    fn sort(&self, keyed: &mut [Keyed], from: usize) {
        for (key, place) in keyed.iter_mut() {
            *key = self.key(*place, from);
        }
        keyed.sort_unstable();
        for run in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            if run.len() > 1 && (self.text)(run[0].1).len() >= from + 8 {
                self.sort(run, from + 8);
            }
        }
    }

    /// The next eight bytes, padded with NULs: no name has one, and of a key's levels, which a NUL sets apart, every
    /// name has as many. So a text sorts before those it begins, and one that has ended meets only its equals.
    fn key(&self, place: u32, from: usize) -> u64 {
        let rest = (self.text)(place).get(from..).unwrap_or_default();
        let mut bytes = [0; 8];
        match rest.first_chunk::<8>() {
            Some(eight) => bytes = *eight,
            None => bytes[..rest.len()].copy_from_slice(rest),
        }
        let key = u64::from_be_bytes(bytes);
        if self.reverse { !key } else { key }
    }
}
