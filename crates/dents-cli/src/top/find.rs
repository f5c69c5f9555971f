//! The visitors of `dents top`.

use super::By;
use super::heap::Best;
use crate::entry::AnyEntry;
use crate::inode::Inode;
use crate::overlap::{self, Overlap};
use crate::report::Diagnostics;
use dents_core::batch::{Batch, Time};
use dents_core::needs::{Kind, Needs};
use dents_core::tree::{Failure, Place, Step, Visitor};
use std::collections::HashMap;

/// Finds files.
pub(super) struct Finder<'t> {
    by: By,
    needs: Needs,
    pub(super) best: Best,
    diagnostics: &'t Diagnostics,
    path: Vec<u8>,
}

impl<'t> Finder<'t> {
    pub(super) fn new(by: By, most: usize, diagnostics: &'t Diagnostics) -> Finder<'t> {
        Finder { by, needs: by.needs(), best: Best::new(most), diagnostics, path: Vec::new() }
    }

    pub(super) fn look(&mut self, seen: &AnyEntry<'_>) {
        let Some(facts) = seen.facts.filter(|_| seen.kind == Kind::Reg) else { return };
        let score = match self.by {
            By::Size => i128::from(facts.size),
            By::Allocated => i128::from(facts.allocated),
            By::Newest => nanoseconds(facts.mtime),
            By::Oldest => -nanoseconds(facts.mtime),
            By::Entries => return,
        };
        if self.best.wants(score) {
            seen.path(&mut self.path);
            self.best.offer(score, &self.path, Some(facts.inode));
        }
    }
}

impl Visitor for Finder<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.diagnostics.saw(place, batch);
        // Of other types only the type is known.
        for entry in batch.iter().filter(|entry| entry.kind() == Kind::Reg) {
            self.look(&AnyEntry::live(place, &entry, self.needs));
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.diagnostics.failed(failure);
        Step::Enter
    }
}

/// Nanoseconds since the epoch.
fn nanoseconds(time: Time) -> i128 {
    i128::from(time.sec) * 1_000_000_000 + i128::from(time.nsec)
}

/// The time that a score of `oldest` or `newest` stands for.
pub(super) fn time_of(by: By, score: i128) -> Time {
    let nanoseconds = if by == By::Oldest { -score } else { score };
    let sec = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    Time { sec, nsec: nanoseconds.rem_euclid(1_000_000_000) as u32 }
}

/// Finds directories.
pub(super) struct Fullest<'t> {
    best: Best,
    diagnostics: &'t Diagnostics,
    overlap: &'t Overlap,
    /// Directories that come in pieces, perhaps to several workers. A piece has thousands of entries, so there are few of them.
    pieces: HashMap<u64, Pieces>,
}

/// A directory of which some pieces were seen.
struct Pieces {
    path: Box<[u8]>,
    inode: Option<Inode>,
    entries: u64,
}

impl<'t> Fullest<'t> {
    pub(super) fn new(most: usize, diagnostics: &'t Diagnostics, overlap: &'t Overlap) -> Fullest<'t> {
        Fullest { best: Best::new(most), diagnostics, overlap, pieces: HashMap::new() }
    }

    pub(super) fn merge(&mut self, other: Fullest<'_>) {
        self.best.merge(other.best);
        for (id, pieces) in other.pieces {
            match self.pieces.get_mut(&id) {
                Some(known) => known.entries += pieces.entries,
                None => drop(self.pieces.insert(id, pieces)),
            }
        }
    }

    /// Adds the directories in pieces, after the walk.
    pub(super) fn finish(mut self) -> Best {
        for Pieces { path, inode, entries } in self.pieces.into_values() {
            self.best.offer(i128::from(entries), &path, inode);
        }
        self.best
    }

    /// The identity of a directory, if it may be met twice: one `statx`.
    fn inode(&self, place: &Place<'_>) -> Option<Inode> {
        if self.overlap.has_directories() { overlap::directory(place.dir) } else { None }
    }
}

impl Visitor for Fullest<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.diagnostics.saw(place, batch);
        let count = batch.len() as u64;
        if place.depth == 0 || (count == 0 && place.piece.index == 0) {
            return Step::Enter;
        }
        let score = i128::from(count);
        if place.piece.index > 0 || !place.piece.last {
            let inode = self.inode(place);
            let new = || Pieces { path: place.path.into(), inode, entries: 0 };
            self.pieces.entry(place.id).or_insert_with(new).entries += count;
        } else if self.best.wants(score) {
            self.best.offer(score, place.path, self.inode(place));
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.diagnostics.failed(failure);
        Step::Enter
    }
}

/// Entries of each directory.
pub(super) type Counts = HashMap<Box<[u8]>, u64>;

/// Counts a row for the directory it is in.
pub(super) fn count(counts: &mut Counts, seen: &AnyEntry<'_>) {
    match counts.get_mut(seen.parent) {
        _ if seen.depth == 0 => {}
        Some(count) => *count += 1,
        None => {
            counts.insert(seen.parent.into(), 1);
        }
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
