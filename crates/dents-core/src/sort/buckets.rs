//! Sorting on several threads: what is small goes to the front buckets, and each bucket is sorted by itself.
//!
//! The borders between buckets come from a sample. Equal keys share a bucket, so that whatever decides between them
//! stays one thread's business; where nearly all keys are equal there is but one bucket, and one thread.

use crate::team::Team;
use alloc::vec::Vec;

/// A key and its place.
pub(super) type Keyed<K> = (K, u32);

/// From here on several threads sort: 20,000 names take one thread a millisecond.
const WORTH_SHARING: usize = 16_384;

/// Buckets for each thread, so that uneven ones even out.
const PER_THREAD: usize = 4;

/// Keys sampled for each bucket: buckets then differ by some 30 %.
const SAMPLES: usize = 32;

/// The places `0..count`, in buckets that follow each other, each sorted by `sort`.
pub(super) fn sorted<K: Ord + Copy + Send>(
    team: &Team<'_>,
    count: usize,
    key: impl Fn(u32) -> K,
    sort: &(dyn Fn(&mut Vec<Keyed<K>>) + Sync),
) -> Vec<Vec<Keyed<K>>> {
    let places = 0..count as u32;
    if team.threads() == 1 || count < WORTH_SHARING {
        let mut all = places.map(|place| (key(place), place)).collect();
        sort(&mut all);
        return Vec::from([all]);
    }
    let parts = team.threads() * PER_THREAD;
    let borders = borders(parts, count, &key);
    let room = count / parts * 9 / 8;
    let mut buckets: Vec<Vec<Keyed<K>>> = (0..=borders.len()).map(|_| Vec::with_capacity(room)).collect();
    for place in places {
        let key = key(place);
        buckets[borders.partition_point(|border| *border <= key)].push((key, place));
    }
    team.each(&mut buckets, sort);
    buckets
}

/// Ascending, each once: bucket n ends before border n.
fn borders<K: Ord + Copy>(parts: usize, count: usize, key: impl Fn(u32) -> K) -> Vec<K> {
    let samples = parts * SAMPLES;
    let mut sample: Vec<K> = (0..samples).map(|n| key((n * count / samples) as u32)).collect();
    sample.sort_unstable();
    let mut borders: Vec<K> = (1..parts).map(|part| sample[part * SAMPLES]).collect();
    borders.dedup();
    borders
}
