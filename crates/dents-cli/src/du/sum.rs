//! Adding up, on all workers at once.
//!
//! What a directory holds is added to its [`Node`] once for each batch. A file with several links is set aside until all
//! its names were seen, or to the end of the operand: then it counts for the first of the nodes that hold one of its
//! links, in the order of paths, whatever worker met it first.

use super::rules::Rules;
use super::tree::{self, Row};
use crate::inode::{Inode, path_order, target};
use crate::report::Meanwhile;
use dents::Threads;
use dents_core::batch::{Batch, Entry};
use dents_core::lock::Mutex;
use dents_core::mounts::Mounts;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use dents_core::tree::{End, Failure, Options, Place, Step, Visitor};
use dents_sys::Errno;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::sync::OnceLock;

/// Something that is shown: a directory down to the depth that is wanted, with all below that depth in it, or a file.
struct Node {
    path: Box<[u8]>,
    depth: u32,
    is_file: bool,
    /// A file's only when it was counted there.
    is_shown: bool,
    bytes: u128,
}

impl Node {
    fn into_row(self) -> Option<Row> {
        self.is_shown.then_some(Row { path: self.path, depth: self.depth, bytes: self.bytes })
    }
}

/// The nodes of one operand.
#[derive(Default)]
struct Nodes(Mutex<Vec<Node>>);

impl Nodes {
    fn add(&self, node: u32, bytes: u128) {
        if let Some(node) = self.0.lock().get_mut(node as usize) {
            node.bytes += bytes;
            node.is_shown = true;
        }
    }

    fn push(&self, node: Node) -> u32 {
        push(&mut self.0.lock(), node)
    }

    /// Where a file counts: where `old` says, or for the name that is met now, if that comes first. `file` is the path and
    /// depth of that name if it would be shown itself, and `dir` the node that it is below.
    fn first(&self, old: Option<Linked>, file: Option<(&[u8], u32)>, dir: u32, bytes: u64) -> Linked {
        let mut nodes = self.0.lock();
        let path = file.map_or_else(|| &*nodes[dir as usize].path, |(path, _)| path);
        let old = match old {
            Some(old) if path_order(&nodes[old.node as usize].path, path) != Ordering::Greater => return old,
            old => old.map(|old| old.node),
        };
        let Some((path, depth)) = file else { return Linked { node: dir, bytes } };
        let new = Node { path: path.into(), depth, is_file: true, is_shown: false, bytes: 0 };
        let node = match old.filter(|old| nodes[*old as usize].is_file) {
            Some(old) => {
                nodes[old as usize] = new;
                old
            }
            None => push(&mut nodes, new),
        };
        Linked { node, bytes }
    }
}

fn push(nodes: &mut Vec<Node>, node: Node) -> u32 {
    nodes.push(node);
    nodes.len() as u32 - 1
}

/// No node: above the operand, or counted in an earlier operand.
const NONE: u32 = u32::MAX;

/// A file with several links.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
struct Linked {
    /// The first that holds one of them.
    node: u32,
    bytes: u64,
}

/// What was counted so far, over all operands.
pub(super) struct Sums<'r> {
    rules: &'r Rules,
    meanwhile: &'r Meanwhile,
    rows: Vec<Row>,
    links: HardLinks<3, Linked>,
}

impl<'r> Sums<'r> {
    pub(super) fn new(rules: &'r Rules, meanwhile: &'r Meanwhile) -> Sums<'r> {
        let links = HardLinks::keeping(Mounts::default().overlap());
        Sums { rules, meanwhile, rows: Vec::new(), links }
    }

    /// Walks an operand. One that was counted as part of an earlier one leaves no row.
    pub(super) fn operand(&mut self, path: &CStr, options: &Options<'_>) -> End {
        let (border, nodes) = (OnceLock::new(), Nodes::default());
        let outcome = dents_core::tree::walk(&[path], options, &Threads, |_| Summer {
            sums: self,
            border: &border,
            nodes: &nodes,
            rows: Vec::new(),
            again: Vec::new(),
            path: Vec::new(),
        });
        let end = outcome.end;
        let mut rows: Vec<Row> = outcome.visitors.into_iter().flat_map(|one| one.rows).collect();
        // A later operand may hold more of their names, which count no more.
        for link in self.links.values_mut() {
            nodes.add(link.node, link.bytes.into());
            link.node = NONE;
        }
        rows.extend(nodes.0.into_inner().into_iter().filter_map(Node::into_row));
        tree::add_up(&mut rows);
        self.rows.append(&mut rows);
        end
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

/// What one worker finds in one operand.
struct Summer<'s> {
    sums: &'s Sums<'s>,
    /// The device of the operand.
    border: &'s OnceLock<(u32, u32)>,
    nodes: &'s Nodes,
    /// Files that are shown, and what directories that are shown take themselves.
    rows: Vec<Row>,
    /// Directories in the batch seen last that were counted before.
    again: Vec<usize>,
    path: Vec<u8>,
}

/// The node to add to.
#[derive(Clone, Copy)]
struct At(u32);

impl Default for At {
    fn default() -> At {
        At(NONE)
    }
}

impl Visitor for Summer<'_> {
    /// Where to add; [`NONE`] only above the operand.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        let depth = place.depth.saturating_sub(1);
        if depth <= self.sums.rules.depth {
            let path = place.path.into();
            let node = Node { path, depth, is_file: false, is_shown: true, bytes: 0 };
            *state = At(self.nodes.push(node));
        }
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &At) -> Step {
        self.sums.meanwhile.saw(place, batch);
        self.again.clear();
        let sum: u128 = batch.iter().map(|entry| u128::from(self.entry(place, &entry, *state))).sum();
        if sum > 0 {
            self.nodes.add(state.0, sum);
        }
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, _: &At) -> Step {
        // In the order in which they were put there.
        if self.again.binary_search(&entry.index()).is_ok() { Step::Skip } else { Step::Enter }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.sums.meanwhile.failed(failure);
        Step::Enter
    }
}

impl Summer<'_> {
    /// What an entry adds to the directory it is in: nothing if it has a row of its own or is set aside.
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
                if !rules.once.is_new(inode) {
                    self.again.push(entry.index());
                    return 0;
                }
            } else {
                let names = rules.names(entry, inode);
                if names > 1 {
                    self.set_aside(place, entry, (inode, names), bytes, at);
                    return 0;
                }
            }
        }
        if !self.is_shown(place, kind) {
            return bytes;
        }
        place.join(entry.name(), &mut self.path);
        let bytes = bytes.into();
        self.rows.push(Row { path: self.path.as_slice().into(), depth: place.depth, bytes });
        0
    }

    /// Whether there is something to count. Of what did not answer is told already, but for links that lead nowhere.
    fn is_there(&self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        if self.sums.rules.follows() && entry.kind() == Kind::Link {
            self.sums.meanwhile.cannot_access(
                place,
                entry,
                target(place, entry).err().unwrap_or(Errno::NOENT),
            );
            return false;
        }
        // Not asked for want of a question, or of time.
        let unknown = !entry.is_known() && self.sums.rules.identifies(entry.kind());
        !unknown && entry.fault().is_none()
    }

    /// Which file it is, if that matters.
    fn inode(&self, entry: &Entry<'_>) -> Option<Inode> {
        if self.sums.rules.identifies(entry.kind()) { Inode::of(entry) } else { None }
    }

    fn is_shown(&self, place: &Place<'_>, kind: Kind) -> bool {
        let rules = self.sums.rules;
        place.depth == 0 || (place.depth <= rules.depth && (rules.all || kind == Kind::Dir))
    }

    /// Counts one of so many names of a file.
    fn set_aside(
        &mut self,
        place: &Place<'_>,
        entry: &Entry<'_>,
        (inode, names): (Inode, u32),
        bytes: u64,
        at: At,
    ) {
        let mut file = None;
        if at.0 == NONE || self.is_shown(place, entry.kind()) {
            place.join(entry.name(), &mut self.path);
            file = Some((&*self.path, place.depth));
        }
        let last = self.sums.links.see(inode.key(), names, |old| match old {
            Some(old) if old.node == NONE => old,
            old => self.nodes.first(old, file, at.0, bytes),
        });
        if let Some(Linked { node, bytes }) = last {
            self.nodes.add(node, bytes.into());
        }
    }
}
