//! A hierarchy held in memory as one [`Batch`], for renderers that must know all of it before the first line.
//!
//! ```text
//! walk ─► Collector, one a worker: sorts a directory, copies it behind the others ─► Hierarchy: one batch, a span for each directory
//! ```
//!
//! The entries of one directory are consecutive and in order. Beside the walk itself this costs a copy of each entry's
//! 16 bytes, name and slot, and 4 bytes more.

use super::{Failure, Options, Place, Problem, StartPoint, Step, Tally, Visitor, walk_on};
use crate::batch::{Batch, Entry};
use crate::stat::Workers;
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_sys::Errno;

/// Returns the positions of a directory's entries in order.
pub type Sorter<'s> = Box<dyn FnMut(&Batch) -> Vec<u32> + Send + 's>;

/// How a hierarchy is collected.
pub struct HierarchyOptions<'h> {
    /// Makes a sorter for each worker.
    pub sorter: &'h (dyn Fn() -> Sorter<'h> + Sync),
    /// In each directory, only subdirectories among this many first entries need be entered: the others are not shown.
    pub cap: Option<usize>,
}

/// A directory that could not be opened or read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its path.
    pub path: Box<[u8]>,
    /// What failed.
    pub problem: Problem,
    /// The kernel's error.
    pub errno: Errno,
}

/// A hierarchy: entries of many directories, those of each directory together and in order.
#[derive(Default)]
pub struct Hierarchy {
    /// All entries.
    pub batch: Batch,
    /// The entries of each directory: its number, the first position, the count.
    spans: Vec<(u64, u32, u32)>,
    /// Which entries are directories: position and number.
    children: Vec<(u32, u64)>,
    failures: Vec<(u64, Failed)>,
    /// Numbers of directories that are stored under another number.
    aliases: Vec<(u64, u64)>,
}

impl Hierarchy {
    /// An empty hierarchy.
    #[must_use]
    pub fn new(batch: Batch) -> Hierarchy {
        Hierarchy { batch, ..Hierarchy::default() }
    }

    /// Adds the entries of the directory with this number, in `order`. `children` are the directories among them:
    /// positions in `batch`, and their numbers. Entries without room are left out: see [`Batch::is_full`].
    pub fn add(&mut self, number: u64, batch: &Batch, order: &[u32], children: &[(u32, u64)]) {
        if !self.batch.has_room_for(order.len()) {
            return;
        }
        let first = self.batch.len() as u32;
        self.spans.push((number, first, order.len() as u32));
        self.batch.absorb(batch, order);
        if !children.is_empty() {
            let positions = inverse(order, batch.len());
            let hierarchy = children.iter().filter(|(index, _)| positions[*index as usize] != u32::MAX);
            self.children
                .extend(hierarchy.map(|(index, number)| (first + positions[*index as usize], *number)));
        }
    }

    /// Records the failure of a directory.
    pub fn fail(&mut self, number: u64, failed: Failed) {
        self.failures.push((number, failed));
    }

    /// Records that this directory is the same as another one, which is stored as `as_number`.
    pub fn same(&mut self, number: u64, as_number: u64) {
        self.aliases.push((number, as_number));
    }

    /// Appends another hierarchy. Their numbers must be distinct.
    fn append(&mut self, mut other: Hierarchy) {
        if self.batch.is_empty() && self.spans.is_empty() {
            other.failures.append(&mut self.failures);
            *self = other;
            return;
        }
        self.failures.append(&mut other.failures);
        if !self.batch.has_room_for(other.batch.len()) {
            return;
        }
        let base = self.batch.len() as u32;
        let all: Vec<u32> = (0..other.batch.len() as u32).collect();
        self.batch.absorb(&other.batch, &all);
        self.spans.extend(other.spans.iter().map(|(number, first, count)| (*number, first + base, *count)));
        self.children.extend(other.children.iter().map(|(position, number)| (position + base, *number)));
        self.aliases.append(&mut other.aliases);
    }

    /// Sorts the tables for lookups.
    #[must_use]
    pub fn index(&mut self) -> Index<'_> {
        self.spans.sort_unstable();
        self.children.sort_unstable();
        self.aliases.sort_unstable();
        self.failures.sort_by_key(|(number, _)| *number);
        Index { hierarchy: self }
    }
}

/// The new position of each entry of a batch; `u32::MAX` for entries left out.
fn inverse(order: &[u32], len: usize) -> Vec<u32> {
    let mut positions = alloc::vec![u32::MAX; len];
    for (position, index) in order.iter().enumerate() {
        positions[*index as usize] = position as u32;
    }
    positions
}

/// A hierarchy with lookups.
pub struct Index<'h> {
    hierarchy: &'h Hierarchy,
}

impl<'h> Index<'h> {
    /// All entries.
    #[must_use]
    pub fn batch(&self) -> &'h Batch {
        &self.hierarchy.batch
    }

    /// The positions of a directory's entries; empty if it was not read.
    #[must_use]
    pub fn entries(&self, number: u64) -> core::ops::Range<u32> {
        let found = self.hierarchy.spans.binary_search_by_key(&number, |(number, ..)| *number);
        found.map_or(0..0, |at| {
            self.hierarchy.spans[at].1..self.hierarchy.spans[at].1 + self.hierarchy.spans[at].2
        })
    }

    /// The number of the directory at this position, if it was to be entered. Several entries may be the same
    /// directory.
    #[must_use]
    pub fn directory(&self, position: u32) -> Option<u64> {
        let found = self.hierarchy.children.binary_search_by_key(&position, |(position, _)| *position);
        let number = found.ok().map(|at| self.hierarchy.children[at].1)?;
        let same = self.hierarchy.aliases.binary_search_by_key(&number, |(number, _)| *number);
        Some(same.map_or(number, |at| self.hierarchy.aliases[at].1))
    }

    /// The failures of a directory.
    pub fn failures(&self, number: u64) -> impl Iterator<Item = &'h Failed> + use<'h> {
        let from = self.hierarchy.failures.partition_point(|(other, _)| *other < number);
        self.hierarchy.failures[from..]
            .iter()
            .take_while(move |(other, _)| *other == number)
            .map(|(_, failed)| failed)
    }
}

/// Walks a hierarchy and collects it in memory. The directories in `start_points` get numbers from 1 on; all must have the same parent
/// and depth.
pub fn collect(
    start_points: &[StartPoint],
    options: &Options<'_>,
    workers: &dyn Workers,
    how: &HierarchyOptions<'_>,
) -> (Hierarchy, Tally) {
    let make = |_| Collector {
        hierarchy: Hierarchy::new(Batch::new(options.needs)),
        sort: (how.sorter)(),
        cap: how.cap.unwrap_or(usize::MAX),
        pieces: Vec::new(),
        positions: Vec::new(),
        from: 0,
        entered: Vec::new(),
    };
    let outcome = walk_on(&[], start_points, options, workers, make);
    let mut hierarchy = Hierarchy::new(Batch::new(options.needs));
    let (mut pieces, mut sort) = (Vec::new(), None);
    for mut one in outcome.visitors {
        pieces.append(&mut one.pieces);
        hierarchy.append(one.hierarchy);
        sort.get_or_insert(one.sort);
    }
    if let Some(sort) = &mut sort {
        join(pieces, &mut hierarchy, sort);
    }
    (hierarchy, outcome.tally)
}

/// A piece of a directory that was read in several.
struct DirectoryPiece {
    number: u64,
    index: u32,
    batch: Batch,
    children: Vec<(u32, u64)>,
}

/// Merges the pieces of directories, and sorts them.
fn join(mut pieces: Vec<DirectoryPiece>, hierarchy: &mut Hierarchy, sort: &mut Sorter<'_>) {
    pieces.sort_unstable_by_key(|piece| (piece.number, piece.index));
    for pieces in pieces.chunk_by(|a, b| a.number == b.number) {
        let mut whole = Batch::new(*hierarchy.batch.declared());
        let mut children = Vec::new();
        for piece in pieces {
            let base = whole.len() as u32;
            let all: Vec<u32> = (0..piece.batch.len() as u32).collect();
            whole.absorb(&piece.batch, &all);
            children.extend(piece.children.iter().map(|(index, number)| (base + index, *number)));
        }
        let order = sort(&whole);
        hierarchy.add(pieces[0].number, &whole, &order, &children);
    }
}

/// The visitor of one worker.
struct Collector<'h> {
    hierarchy: Hierarchy,
    sort: Sorter<'h>,
    cap: usize,
    pieces: Vec<DirectoryPiece>,
    /// For the last batch: the new index of each entry (empty for a piece), and the position of the first.
    positions: Vec<u32>,
    from: u32,
    /// Directories of the last batch that are entered, in the order of the calls.
    entered: Vec<u32>,
}

impl Visitor for Collector<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.entered.clear();
        self.positions.clear();
        if place.piece.index == 0 && place.piece.last {
            self.from = self.hierarchy.batch.len() as u32;
            let order = (self.sort)(batch);
            self.positions = inverse(&order, batch.len());
            self.hierarchy.add(place.id, batch, &order, &[]);
        } else {
            let mut copy = Batch::new(*batch.declared());
            let all: Vec<u32> = (0..batch.len() as u32).collect();
            copy.absorb(batch, &all);
            let (number, index) = (place.id, place.piece.index);
            self.pieces.push(DirectoryPiece { number, index, batch: copy, children: Vec::new() });
        }
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, (): &()) -> Step {
        let index = entry.index() as u32;
        let position = if self.positions.is_empty() { index } else { self.positions[entry.index()] };
        // In a piece, it is not known yet which entries of the directory come first.
        if !self.positions.is_empty() && position as usize >= self.cap {
            return Step::Skip;
        }
        self.entered.push(position);
        Step::Enter
    }

    fn numbered(&mut self, first: u64) {
        let numbered = self.entered.iter().zip(first..);
        match self.pieces.last_mut().filter(|_| self.positions.is_empty()) {
            Some(piece) => piece.children.extend(numbered.map(|(index, number)| (*index, number))),
            None => self
                .hierarchy
                .children
                .extend(numbered.map(|(position, number)| (self.from + position, number))),
        }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let Failure { path, problem, errno, .. } = *failure;
        self.hierarchy.fail(failure.id, Failed { path: path.into(), problem, errno });
        Step::Enter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs::{Kind, Needs, NeedsByKind};

    fn names(batch: &Batch, positions: impl Iterator<Item = u32>) -> Vec<&[u8]> {
        positions.map(|position| batch.entry(position as usize).name()).collect()
    }

    #[test]
    fn pieces_in_any_order_become_one_directory() {
        let needs = NeedsByKind::all(Needs::TYPE);
        let copy = |index, entries: &[&core::ffi::CStr], children: &[(u32, u64)]| {
            let mut batch = Batch::new(needs);
            entries.iter().for_each(|name| batch.push(name, Kind::Dir, 0));
            DirectoryPiece { number: 7, index, batch, children: children.to_vec() }
        };
        let mut hierarchy = Hierarchy::new(Batch::new(needs));
        hierarchy.fail(9, Failed { path: b"x"[..].into(), problem: Problem::Open, errno: Errno::ACCESS });
        let mut other = Hierarchy::new(Batch::new(needs));
        other.add(1, &copy(0, &[c"top"], &[]).batch, &[0], &[(0, 7)]);
        hierarchy.append(other);
        let pieces = Vec::from([copy(1, &[c"b", c"d"], &[(1, 9)]), copy(0, &[c"c", c"a"], &[(0, 8)])]);
        let mut sort: Sorter<'_> = Box::new(|batch| {
            let mut all: Vec<u32> = (0..batch.len() as u32).collect();
            all.sort_by_key(|index| batch.entry(*index as usize).name());
            all
        });
        join(pieces, &mut hierarchy, &mut sort);
        let index = hierarchy.index();
        assert_eq!(names(index.batch(), index.entries(7)), [b"a", b"b", b"c", b"d"]);
        let below: Vec<_> = index.entries(7).map(|position| index.directory(position)).collect();
        assert_eq!(below, [None, None, Some(8), Some(9)]);
        assert_eq!(index.directory(index.entries(1).start), Some(7));
        assert_eq!(index.entries(8), 0..0);
        hierarchy.same(9, 8);
        let index = hierarchy.index();
        let below: Vec<_> = index.entries(7).map(|position| index.directory(position)).collect();
        assert_eq!(below, [None, None, Some(8), Some(8)], "two entries for one directory");
        assert_eq!(index.failures(9).count(), 1);
        assert_eq!(index.failures(8).count(), 0);
    }
}
