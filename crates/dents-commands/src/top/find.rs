//! Finds the best files and directories.

use super::By;
use super::heap::Best;
use crate::consumer::Consumer;
use crate::entry::Found;
use crate::inode::Inode;
use crate::overlap::{self, Overlap};
use dents_core::batch::{Batch, Time};
use dents_core::needs::Kind;
use dents_core::tree::{Place, Step};
use std::collections::HashMap;

/// Finds files.
pub(crate) struct Finder {
    by: By,
    pub(crate) best: Best,
    path: Vec<u8>,
}

impl Finder {
    pub(crate) fn new(by: By, most: usize) -> Finder {
        Finder { by, best: Best::new(most), path: Vec::new() }
    }

    fn look(&mut self, found: &Found<'_>) {
        let Some(facts) = found.facts() else { return };
        if facts.lacks(self.by.needs()) {
            return;
        }
        let score = match self.by {
            By::Size => i128::from(facts.size),
            By::Allocated => i128::from(facts.allocated),
            By::Newest => nanoseconds(facts.mtime),
            By::Oldest => -nanoseconds(facts.mtime),
            By::Atime => -nanoseconds(facts.atime),
            By::Entries => return,
        };
        if self.best.wants(score) {
            found.path(&mut self.path);
            self.best.offer(score, &self.path, Some(facts.inode()));
        }
    }
}

impl Consumer for Finder {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        if found.kind == Kind::Reg {
            self.look(found);
        }
        Step::Enter
    }
}

/// Nanoseconds since the epoch.
fn nanoseconds(time: Time) -> i128 {
    i128::from(time.sec) * 1_000_000_000 + i128::from(time.nsec)
}

/// The time that belongs to a score of `oldest`, `newest` or `atime`.
pub(crate) fn time_of(by: By, score: i128) -> Time {
    let nanoseconds = if matches!(by, By::Oldest | By::Atime) { -score } else { score };
    let sec = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    Time { sec, nsec: nanoseconds.rem_euclid(1_000_000_000) as u32 }
}

/// Finds the fullest directories of a tree.
pub(crate) struct Fullest<'t> {
    best: Best,
    overlap: &'t Overlap,
    /// Entries of the batch that passed.
    entries: u64,
    /// Directories that come in pieces, possibly to several workers. A piece has thousands of entries, so there are few such directories.
    pieces: HashMap<u64, Pieces>,
}

/// A directory with some pieces that were counted.
struct Pieces {
    path: Box<[u8]>,
    inode: Option<Inode>,
    entries: u64,
}

impl<'t> Fullest<'t> {
    pub(crate) fn new(most: usize, overlap: &'t Overlap) -> Fullest<'t> {
        Fullest { best: Best::new(most), overlap, entries: 0, pieces: HashMap::new() }
    }

    pub(crate) fn merge(&mut self, other: Fullest<'_>) {
        self.best.merge(other.best);
        for (id, pieces) in other.pieces {
            match self.pieces.get_mut(&id) {
                Some(known) => known.entries += pieces.entries,
                None => drop(self.pieces.insert(id, pieces)),
            }
        }
    }

    /// Adds the directories in pieces, after the walk.
    pub(crate) fn finish_all(mut self) -> Best {
        for Pieces { path, inode, entries } in self.pieces.into_values() {
            self.best.offer(i128::from(entries), &path, inode);
        }
        self.best
    }

    /// The identity of a directory, if the walk may find it twice: one `statx`.
    fn inode(&self, place: &Place<'_>) -> Option<Inode> {
        if self.overlap.has_directories() { overlap::directory(place.dir) } else { None }
    }
}

impl Consumer for Fullest<'_> {
    type State = ();

    fn entry(&mut self, _: &Found<'_>, (): &()) -> Step {
        self.entries += 1;
        Step::Enter
    }

    fn all(&mut self, _: &Place<'_>, batch: &Batch) -> bool {
        self.entries += batch.len() as u64;
        true
    }

    fn end(&mut self, place: Option<&Place<'_>>) {
        let entries = std::mem::take(&mut self.entries);
        let Some(place) = place.filter(|place| place.depth > 0) else { return };
        let score = i128::from(entries);
        if place.piece.index > 0 || !place.piece.last {
            let inode = self.inode(place);
            let new = || Pieces { path: place.path.into(), inode, entries: 0 };
            self.pieces.entry(place.id).or_insert_with(new).entries += entries;
        } else if entries > 0 && self.best.wants(score) {
            self.best.offer(score, place.path, self.inode(place));
        }
    }

    /// An entry counts also where its `statx` failed: it is there.
    fn takes_faults(&self) -> bool {
        true
    }
}

/// Counts the entries of each directory of a scan file.
#[derive(Default)]
pub(crate) struct Counter(HashMap<Box<[u8]>, u64>);

impl Counter {
    pub(crate) fn best(counters: Vec<Counter>, most: usize) -> Best {
        let mut all = HashMap::new();
        for (path, count) in counters.into_iter().flat_map(|counter| counter.0) {
            *all.entry(path).or_default() += count;
        }
        let mut best = Best::new(most);
        all.into_iter().for_each(|(path, count): (Box<[u8]>, u64)| best.offer(count.into(), &path, None));
        best
    }
}

impl Consumer for Counter {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        match self.0.get_mut(found.parent) {
            _ if found.depth == 0 => {}
            Some(count) => *count += 1,
            None => {
                self.0.insert(found.parent.into(), 1);
            }
        }
        Step::Enter
    }

    /// An entry counts also where its `statx` failed: it is there.
    fn takes_faults(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for (sec, nsec) in [(0, 0), (-1, 999_999_999), (i64::MIN, 1), (i64::MAX, 999_999_999)] {
            let time = Time { sec, nsec };
            assert_eq!(time_of(By::Newest, nanoseconds(time)), time);
            assert_eq!(time_of(By::Oldest, -nanoseconds(time)), time);
        }
    }
}
