//! Adding up, on all workers at once.
//!
//! What a directory holds is added to its [`Node`] once for each batch, so workers meet there rarely. A file with several
//! links is set aside until the operand was walked: then it counts for the first of the nodes that hold one of its
//! links, in the order of paths, whoever met it first.

use super::rules::Rules;
use super::tree::{self, Row};
use crate::inode::{Inode, path_order, target};
use crate::report::Meanwhile;
use crate::walk::Threads;
use dents::batch::{Batch, Entry};
use dents::needs::Kind;
use dents::tree::{End, Failure, Options, Place, Step, Visitor};
use dents_sys::Errno;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::collections::hash_map::{Entry as Slot, HashMap};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Something that is shown: a directory down to the depth that is wanted, with all below that depth in it, or a file.
struct Node {
    path: Box<[u8]>,
    depth: u32,
    /// A file's are those of its link.
    is_file: bool,
    bytes: AtomicU64,
}

impl Node {
    fn into_row(self: Arc<Node>) -> Row {
        let bytes = self.bytes.load(Relaxed);
        let path = match Arc::try_unwrap(self) {
            Ok(node) => return Row { path: node.path, depth: node.depth, bytes },
            Err(node) => node,
        };
        Row { path: path.path.clone(), depth: path.depth, bytes }
    }
}

/// A file with several links.
struct Link {
    bytes: u64,
    /// The first that holds one of them.
    node: Arc<Node>,
}

type Links = HashMap<Inode, Link>;

/// What was counted so far, over all operands.
pub(super) struct Sums<'r> {
    rules: &'r Rules,
    meanwhile: &'r Meanwhile,
    rows: Vec<Row>,
    /// Files of earlier operands that a later one may hold.
    counted: HashSet<Inode>,
    directories: Mutex<HashSet<Inode>>,
}

impl<'r> Sums<'r> {
    pub(super) fn new(rules: &'r Rules, meanwhile: &'r Meanwhile) -> Sums<'r> {
        let (counted, directories) = (HashSet::new(), Mutex::default());
        Sums { rules, meanwhile, rows: Vec::new(), counted, directories }
    }

    /// Walks an operand. One that was counted as part of an earlier one leaves no row.
    pub(super) fn operand(&mut self, path: &CStr, options: &Options<'_>, is_last: bool) -> End {
        let border = OnceLock::new();
        let outcome = dents::tree::walk(&[path], options, &Threads, |_| Summer {
            sums: self,
            border: &border,
            rows: Vec::new(),
            nodes: Vec::new(),
            links: Links::new(),
            again: Vec::new(),
            path: Vec::new(),
        });
        let end = outcome.end;
        let (mut rows, mut nodes, mut links) = (Vec::new(), Vec::new(), Links::new());
        for mut one in outcome.visitors {
            rows.append(&mut one.rows);
            nodes.append(&mut one.nodes);
            one.links.into_iter().for_each(|(inode, link)| note(&mut links, inode, link));
        }
        for (inode, link) in links {
            link.node.bytes.fetch_add(link.bytes, Relaxed);
            if link.node.is_file {
                rows.push(link.node.into_row());
            }
            if !is_last {
                self.counted.insert(inode);
            }
        }
        rows.extend(nodes.into_iter().map(Node::into_row));
        tree::add_up(&mut rows);
        self.rows.append(&mut rows);
        end
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

/// Notes one of the links of a file: the one with the first node stays.
fn note(links: &mut Links, inode: Inode, link: Link) {
    match links.entry(inode) {
        Slot::Vacant(slot) => {
            slot.insert(link);
        }
        Slot::Occupied(mut slot) => {
            if path_order(&link.node.path, &slot.get().node.path) == Ordering::Less {
                slot.insert(link);
            }
        }
    }
}

/// What one worker finds in one operand.
struct Summer<'s> {
    sums: &'s Sums<'s>,
    /// The device of the operand.
    border: &'s OnceLock<(u32, u32)>,
    /// Files that are shown, and what directories that are shown take themselves.
    rows: Vec<Row>,
    nodes: Vec<Arc<Node>>,
    links: Links,
    /// Directories in the batch seen last that were counted before.
    again: Vec<usize>,
    path: Vec<u8>,
}

impl Visitor for Summer<'_> {
    /// Where to add; none only above the operand.
    type State = Option<Arc<Node>>;

    fn opened(&mut self, place: &Place<'_>, state: &mut Self::State) -> Step {
        let depth = place.depth.saturating_sub(1);
        if depth <= self.sums.rules.depth {
            let node = Node { path: place.path.into(), depth, is_file: false, bytes: AtomicU64::new(0) };
            let node = Arc::new(node);
            self.nodes.push(Arc::clone(&node));
            *state = Some(node);
        }
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Step {
        self.sums.meanwhile.saw(place, batch);
        self.again.clear();
        let sum = batch.iter().map(|entry| self.entry(place, &entry, state)).sum();
        if let Some(node) = state {
            node.bytes.fetch_add(sum, Relaxed);
        }
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, _: &Self::State) -> Step {
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
    fn entry(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &Option<Arc<Node>>) -> u64 {
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
                if rules.directories_once && !self.is_new(inode) {
                    self.again.push(entry.index());
                    return 0;
                }
            } else if rules.may_come_again(entry, inode) {
                self.set_aside(place, entry, inode, bytes, state);
                return 0;
            }
        }
        if !self.is_shown(place, kind) {
            return bytes;
        }
        place.join(entry.name(), &mut self.path);
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

    /// Whether a directory is met for the first time.
    fn is_new(&self, inode: Inode) -> bool {
        self.sums.directories.lock().unwrap_or_else(PoisonError::into_inner).insert(inode)
    }

    fn set_aside(
        &mut self,
        place: &Place<'_>,
        entry: &Entry<'_>,
        inode: Inode,
        bytes: u64,
        state: &Option<Arc<Node>>,
    ) {
        if self.sums.counted.contains(&inode) {
            return;
        }
        let node = match state {
            Some(node) if !self.is_shown(place, entry.kind()) => Arc::clone(node),
            _ => {
                place.join(entry.name(), &mut self.path);
                let (path, depth) = (self.path.as_slice().into(), place.depth);
                Arc::new(Node { path, depth, is_file: true, bytes: AtomicU64::new(0) })
            }
        };
        note(&mut self.links, inode, Link { bytes, node });
    }
}
