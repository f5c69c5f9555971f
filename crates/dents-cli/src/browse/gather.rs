//! The consumer of a walk or of a scan file: puts the entries into the tree, a batch at a time.

use super::tree::{Fresh, Id, Known, Tree};
use dents_commands::consumer::Consumer;
use dents_commands::entry::{self, Found};
use dents_commands::overlap::Overlap;
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{Failure, Place, Step};
use dents_sink::Row;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A worker adds its entries when it has this many, so that no thread waits long for the lock of the tree.
const FULL: usize = 1024;

/// The facts that the browser shows.
pub(super) fn needs() -> NeedsByKind {
    let needs =
        [Needs::INODE, Needs::NLINK, Needs::SIZE, Needs::BLOCKS, Needs::UID, Needs::MODE, Needs::MTIME];
    NeedsByKind::all(needs.into_iter().fold(Needs::TYPE, |all, need| all | need))
}

/// The tree, which the workers fill and the terminal shows.
pub(super) struct Shared(Mutex<Tree>);

impl Shared {
    pub(super) fn new() -> Shared {
        Shared::of(Tree::new())
    }

    pub(super) fn of(tree: Tree) -> Shared {
        Shared(Mutex::new(tree))
    }

    /// To read sums. No thread keeps it longer than a batch or a frame takes.
    pub(super) fn lock(&self) -> MutexGuard<'_, Tree> {
        let mut tree = self.lock_to_add();
        tree.settle();
        tree
    }

    /// To add entries: sums of directories far above are not correct yet.
    fn lock_to_add(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of the walk's operands in the tree.
#[derive(Clone, Debug)]
pub(super) enum Root {
    /// At the top, each under its path.
    Operands,
    /// One operand is a directory that was known before: its directory, and its name there.
    Again(Id, Vec<u8>),
}

impl Root {
    /// The directory of an operand in the tree, and its name there.
    fn place<'n>(&'n self, path: &'n [u8]) -> (Id, &'n [u8]) {
        match self {
            Root::Operands => (Id::TOP, path),
            Root::Again(above, name) => (*above, name),
        }
    }
}

/// One worker.
pub(super) struct Worker<'s> {
    shared: &'s Shared,
    overlap: &'s Overlap,
    root: &'s Root,
    /// Entries that are not in the tree yet, and their directory.
    at: Id,
    waiting: Vec<(Kind, Option<Known>, Range<usize>)>,
    names: Vec<u8>,
}

impl<'s> Worker<'s> {
    pub(super) fn new(shared: &'s Shared, overlap: &'s Overlap, root: &'s Root) -> Worker<'s> {
        Worker { shared, overlap, root, at: Id::TOP, waiting: Vec::new(), names: Vec::new() }
    }

    fn give(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let Worker { waiting, names, .. } = self;
        let all = waiting.iter().map(|(kind, facts, name)| Fresh {
            name: &names[name.clone()],
            kind: *kind,
            facts: *facts,
        });
        self.shared.lock_to_add().add(self.at, all);
        self.waiting.clear();
        self.names.clear();
    }

    /// The directory with this path, whose entries have this depth.
    fn at_depth(&self, path: &[u8], depth: u32) -> Id {
        let operand = entry::operand(path, depth);
        self.place(path, operand)
    }

    fn place(&self, path: &[u8], operand: usize) -> Id {
        let (operand, below) = path.split_at(operand.min(path.len()));
        let mut tree = self.shared.lock_to_add();
        let (above, name) = self.root.place(operand);
        let first = tree.directory(above, name);
        let names = below.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.fold(first, |above, name| tree.directory(above, name))
    }
}

impl Consumer for Worker<'_> {
    /// The directory.
    type State = Id;

    fn opened(&mut self, place: &Place<'_>, state: &mut Id) -> Step {
        *state = match (place.depth, *state) {
            (0 | 1, _) => self.place(place.path, place.path.len()),
            (depth, Id::TOP) => self.at_depth(place.path, depth),
            (_, above) => {
                let name = Row::name_in(entry::above(place.path), place.path).unwrap_or(place.path);
                self.shared.lock_to_add().directory(above, name)
            }
        };
        Step::Enter
    }

    fn recorded(&mut self, path: &[u8], _depth: u32, operand: usize) -> Id {
        if path.is_empty() { Id::TOP } else { self.place(path, operand) }
    }

    fn entry(&mut self, found: &Found<'_>, state: &Id) -> Step {
        let facts = found.facts();
        if let Some(facts) = facts.filter(|_| found.kind == Kind::Dir && found.is_live())
            && !self.overlap.is_new(facts.inode())
        {
            return Step::Skip;
        }
        let (at, name) = if found.depth == 0 { self.root.place(found.name) } else { (*state, found.name) };
        if self.at != at || self.waiting.len() >= FULL {
            self.give();
            self.at = at;
        }
        let begin = self.names.len();
        self.names.extend_from_slice(name);
        let known = facts.map(|facts| self.known(&facts));
        self.waiting.push((found.kind, known, begin..self.names.len()));
        Step::Enter
    }

    fn end(&mut self, _place: Option<&Place<'_>>) {
        self.give();
    }

    fn failed(&mut self, failure: &Failure<'_>) {
        self.give();
        let id = self.at_depth(failure.path, failure.depth);
        self.shared.lock_to_add().fail(id);
    }

    fn failed_row(&mut self, row: &Row<'_>) {
        self.give();
        let mut path = Vec::new();
        dents_core::path::push(row.parent, row.name, &mut path);
        let id = self.at_depth(&path, row.depth + 1);
        self.shared.lock_to_add().fail(id);
    }

    fn finish(&mut self) {
        self.give();
    }

    fn takes_faults(&self) -> bool {
        true
    }
}

impl Worker<'_> {
    fn known(&self, facts: &Facts<'_>) -> Known {
        let Facts { nlink, size, allocated, uid, mode, .. } = *facts;
        let inode = facts.inode();
        let mtime = facts.time(Needs::MTIME).map_or(i64::MIN, |mtime| mtime.sec);
        Known { inode, nlink: self.overlap.names(inode, nlink), size, allocated, mtime, uid, mode }
    }
}
