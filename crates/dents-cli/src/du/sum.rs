//! The visitor that adds up, one for each worker.
//!
//! The entries of a directory are added to its node ([`tree::sums`]). A file with several links is counted when all its
//! names were met, or at the end of the operand: in the node that holds one of its names and whose path comes first. So the figures
//! do not depend on which worker met it first.

use super::row::{self, Row};
use super::rules::Rules;
use crate::inode::{Inode, target};
use crate::report::Diagnostics;
use dents::Threads;
use dents_core::batch::{Batch, Entry};
use dents_core::mounts::Mounts;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use dents_core::tree::sums::{Adder, At, Node};
use dents_core::tree::{self, End, Failure, Options, Outcome, Place, Step, Visitor};
use dents_sys::Errno;
use std::ffi::CStr;
use std::ops::AddAssign;
use std::sync::OnceLock;

/// What is added to a node.
#[derive(Clone, Copy, Default)]
struct Counted {
    bytes: u128,
    /// A directory is always shown, a file with several links only where it was counted.
    is_shown: bool,
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        self.bytes += other.bytes;
        self.is_shown |= other.is_shown;
    }
}

/// The nodes of one operand: directories down to the depth that is shown, and files with several links that are shown.
type Nodes = tree::sums::Sums<Counted>;

/// A file with several links.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
struct Linked {
    /// The first node that holds one of its names; none if the file was counted in an earlier operand.
    node: At,
    bytes: u64,
}

impl Linked {
    fn count(self, nodes: &Nodes) {
        let Linked { node, bytes } = self;
        nodes.add(node, Counted { bytes: bytes.into(), is_shown: true });
    }
}

/// The rows of all operands that were walked, and the files with several links.
pub(super) struct Sums<'r> {
    rules: &'r Rules,
    diagnostics: &'r Diagnostics,
    rows: Vec<Row>,
    links: HardLinks<3, Linked>,
}

impl<'r> Sums<'r> {
    pub(super) fn new(rules: &'r Rules, diagnostics: &'r Diagnostics) -> Sums<'r> {
        let links = HardLinks::keeping(Mounts::default().overlap());
        Sums { rules, diagnostics, rows: Vec::new(), links }
    }

    /// Walks an operand. An operand that was counted as part of an earlier one has no row.
    pub(super) fn operand(&mut self, path: &CStr, options: &Options<'_>) -> End {
        let (border, nodes) = (OnceLock::new(), Nodes::default());
        let Outcome { visitors, end, .. } = tree::walk(&[path], options, &Threads, |_| Summer {
            sums: self,
            border: &border,
            adder: Adder::new(&nodes),
            rows: Vec::new(),
            again: Vec::new(),
            path: Vec::new(),
        });
        let mut rows: Vec<Row> = visitors.into_iter().flat_map(|one| one.rows).collect();
        // A later operand may hold more of their names; these do not count again.
        for link in self.links.values_mut() {
            link.count(&nodes);
            link.node = At::NONE;
        }
        let nodes = nodes.roll_up().into_iter().filter(|node| node.sum.is_shown);
        rows.extend(nodes.map(|node| Row { path: node.path, depth: node.depth, bytes: node.sum.bytes }));
        row::merge(&mut rows);
        self.rows.append(&mut rows);
        end
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

/// One worker's visitor, for one operand.
struct Summer<'s> {
    sums: &'s Sums<'s>,
    /// The device of the operand.
    border: &'s OnceLock<(u32, u32)>,
    adder: Adder<'s, Counted>,
    /// Files that are shown; directories that are shown, each with its own blocks.
    rows: Vec<Row>,
    /// Directories in the last batch that were counted before.
    again: Vec<usize>,
    path: Vec<u8>,
}

impl Visitor for Summer<'_> {
    /// The node that entries are added to.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        let depth = place.depth.saturating_sub(1);
        if depth <= self.sums.rules.depth {
            let sum = Counted { bytes: 0, is_shown: true };
            *state = self.adder.sums().push(Node { path: place.path.into(), depth, above: *state, sum });
        }
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &At) -> Step {
        self.sums.diagnostics.saw(place, batch);
        self.again.clear();
        let bytes = batch.iter().map(|entry| u128::from(self.entry(place, &entry, *state))).sum();
        self.adder.add(*state, Counted { bytes, is_shown: true });
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, _: &At) -> Step {
        // The entries come in the order of their indices.
        if self.again.binary_search(&entry.index()).is_ok() { Step::Skip } else { Step::Enter }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.sums.diagnostics.failed(failure);
        Step::Enter
    }
}

impl Summer<'_> {
    /// The bytes that an entry adds to its directory: 0 if the entry has several names, which are counted later.
    fn entry(&mut self, place: &Place<'_>, entry: &Entry<'_>, at: At) -> u64 {
        let rules = self.sums.rules;
        if !self.is_there(place, entry) {
            return 0;
        }
        let (kind, bytes) = (entry.kind(), rules.bytes(entry));
        if let Some(inode) = self.inode(entry) {
            if place.depth == 0 {
                let _ = self.border.set(inode.dev);
            } else if rules.one_file_system && self.border.get() != Some(&inode.dev) {
                return 0;
            }
            if kind == Kind::Dir {
                if !rules.overlap.is_new(inode) {
                    self.again.push(entry.index());
                    return 0;
                }
            } else {
                let names = rules.names(entry, inode);
                if names > 1 {
                    self.add_link(place, entry, (inode, names), bytes, at);
                    return 0;
                }
            }
        }
        if self.is_shown(place, kind) {
            place.join(entry.name(), &mut self.path);
            let path = self.path.as_slice().into();
            self.rows.push(Row { path, depth: place.depth, bytes: bytes.into() });
        }
        bytes
    }

    /// Whether there is something to count. Failed `statx` calls were reported before; links that lead nowhere are reported here.
    fn is_there(&self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        if self.sums.rules.follows() && entry.kind() == Kind::Link {
            self.sums.diagnostics.cannot_access(
                place,
                entry,
                target(place, entry).err().unwrap_or(Errno::NOENT),
            );
            return false;
        }
        // It was not asked: no need for it was declared, or the time was up.
        let unknown = !entry.is_known() && self.sums.rules.identifies(entry.kind());
        !unknown && entry.fault().is_none()
    }

    /// The file's identity, if that must be known.
    fn inode(&self, entry: &Entry<'_>) -> Option<Inode> {
        if self.sums.rules.identifies(entry.kind()) { Inode::of(entry) } else { None }
    }

    fn is_shown(&self, place: &Place<'_>, kind: Kind) -> bool {
        let rules = self.sums.rules;
        place.depth == 0 || (place.depth <= rules.depth && (rules.all || kind == Kind::Dir))
    }

    /// Takes one of `names` names of a file.
    fn add_link(
        &mut self,
        place: &Place<'_>,
        entry: &Entry<'_>,
        (inode, names): (Inode, u32),
        bytes: u64,
        at: At,
    ) {
        let nodes = self.adder.sums();
        let is_shown = self.is_shown(place, entry.kind());
        if is_shown {
            place.join(entry.name(), &mut self.path);
        }
        // A shown file has a node of its own; a new one is made only if this name comes before all names met before.
        let file = || {
            let (path, depth) = (self.path.as_slice().into(), place.depth);
            nodes.push(Node { path, depth, above: at, sum: Counted::default() })
        };
        let last = self.sums.links.see(inode.key(), names, |old| match old {
            Some(old) if old.node == At::NONE => old,
            Some(old) if is_shown && nodes.order(old.node, &self.path).is_le() => old,
            _ if is_shown => Linked { node: file(), bytes },
            Some(old) => Linked { node: nodes.first(old.node, at), ..old },
            None => Linked { node: at, bytes },
        });
        if let Some(linked) = last {
            linked.count(nodes);
        }
    }
}
