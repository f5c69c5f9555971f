//! Sorting on several threads: keys are distributed into ascending buckets, and each bucket is sorted by itself.
//!
//! A sample determines the borders between buckets. Equal keys share a bucket, so that one thread applies the
//! tie-breakers. If nearly all keys are equal, there is a single bucket and a single thread.

use crate::team::Team;
use alloc::vec::Vec;

/// A key and the position of its entry.
pub(super) type Keyed<K> = (K, u32);

/// Number of keys from which several threads sort: one thread sorts 20,000 names in a millisecond.
const WORTH_SHARING: usize = 16_384;

/// Buckets for each thread, so that differences in size even out.
const PER_THREAD: usize = 4;

/// Sampled keys for each bucket: the sizes of buckets then differ by some 30 %.
const SAMPLES: usize = 32;

/// The positions `0..count` in ascending buckets, each sorted by `sort`.
pub(super) fn sorted<K: Ord + Copy + Send>(
    team: &Team<'_>,
    count: usize,
    key: impl Fn(u32) -> K,
    sort: &(dyn Fn(&mut Vec<Keyed<K>>) + Sync),
) -> Vec<Vec<Keyed<K>>> {
    let positions = 0..count as u32;
    if team.threads() == 1 || count < WORTH_SHARING {
        let mut all = positions.map(|position| (key(position), position)).collect();
        sort(&mut all);
        return Vec::from([all]);
    }
    let parts = team.threads() * PER_THREAD;
    let borders = borders(parts, count, &key);
    let room = count / parts * 9 / 8;
    let mut buckets: Vec<Vec<Keyed<K>>> = (0..=borders.len()).map(|_| Vec::with_capacity(room)).collect();
    for position in positions {
        let key = key(position);
        buckets[borders.partition_point(|border| *border <= key)].push((key, position));
    }
    team.each(&mut buckets, sort);
    buckets
}

/// The borders, ascending and distinct: bucket n ends before border n.
fn borders<K: Ord + Copy>(parts: usize, count: usize, key: impl Fn(u32) -> K) -> Vec<K> {
    let samples = parts * SAMPLES;
    let mut sample: Vec<K> = (0..samples).map(|n| key((n * count / samples) as u32)).collect();
    sample.sort_unstable();
    let mut borders: Vec<K> = (1..parts).map(|part| sample[part * SAMPLES]).collect();
    borders.dedup();
    borders
}
