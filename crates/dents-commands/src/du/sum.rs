//! Adds up entries, with a value for each worker.
//!
//! The entries of a directory are added to its node ([`tree::sums`]). A file with several links is counted when all its names were
//! found, or at the end of the operand. It counts in the first of the nodes that hold one of its names, in the order in which du(1) finds
//! them: depth first, as directories are read. Rows of a scan file have no such order: there it is that of their paths. So the figures do
//! not depend on which worker finds the file first.

use super::row::{self, Row};
use super::rules::Rules;
use crate::consumer::Consumer;
use crate::entry::{self, Found, Origin, above};
use crate::inode::{Inode, target};
use crate::output::Diagnostics;
use crate::session::Status;
use crate::source::{Below, File, Gathered, Job, Special, Way};
use dents_core::facts::Facts;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use dents_core::tree::sums::{Adder, At, Node};
use dents_core::tree::{self, End, Failure, Place, Step};
use dents_sink::read::Columns;
use dents_sys::Errno;
use std::collections::HashMap;
use std::ffi::CString;
use std::ops::AddAssign;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The values that are added to a node.
#[derive(Clone, Copy, Default)]
struct Counted {
    bytes: u128,
    /// A directory is shown; with filters, only if an entry in it was counted. A file with several links is shown in the node where it was counted.
    is_shown: bool,
    is_directory: bool,
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
#[repr(Rust, packed)]
struct Linked {
    /// The first node that holds one of its names; none if the file was counted in an earlier operand.
    node: At,
    /// The position of the name in the node, if that is its directory.
    nth: u64,
    bytes: u64,
}

impl Linked {
    /// A copy: fields of a packed value cannot be borrowed.
    fn at(self) -> At {
        self.node
    }

    fn name(self) -> (At, u64) {
        (self.node, self.nth)
    }

    fn count(self, nodes: &Nodes) {
        let Linked { node, bytes, .. } = self;
        nodes.add(node, Counted { bytes: bytes.into(), is_shown: true, is_directory: false });
    }
}

/// The rows of all operands, and the files with several links.
pub(super) struct Sums<'r> {
    rules: &'r Rules,
    rows: Vec<Row>,
    links: HardLinks<3, Linked>,
}

impl<'r> Sums<'r> {
    /// `keeps`: see [`HardLinks::keeping`].
    pub(super) fn new(rules: &'r Rules, keeps: bool) -> Sums<'r> {
        Sums { rules, rows: Vec::new(), links: HardLinks::keeping(keeps) }
    }

    /// Walks an operand. An operand that was counted as part of an earlier one has no row. `sum_suffices` for the only operand, if nothing
    /// below it is shown.
    pub(super) fn operand(
        &mut self,
        job: &Job<'_>,
        path: &CString,
        workers: Option<usize>,
        sum_suffices: bool,
    ) -> End {
        let (border, nodes) = (OnceLock::new(), Nodes::default());
        let (places, waiting) = (Mutex::default(), Mutex::default());
        let paths = [path.clone()];
        let special =
            Special { paths: Some(&paths), workers, usage_suffices: sum_suffices, ..Special::default() };
        let make = || Summer::new(self, job.diagnostics, &border, &nodes, (&places, &waiting));
        let Gathered { consumers, end, usage, .. } = job.walk(&special, make);
        let rows = consumers.into_iter().flat_map(Summer::into_rows).collect();
        match usage {
            Some(usage) => self.rows.push(self.rules.row(path, usage)),
            None => self.add(rows, nodes),
        }
        end
    }

    /// Reads a scan file, or one PATH of it. Entries below an earlier PATH are left out, unless each link counts. Rows do not show whether the roots of the
    /// scan overlap, so files with several links are remembered to the end.
    pub(super) fn read(&mut self, job: &Job<'_>, file: File<'_>, path: Option<usize>) -> Result<End, Status> {
        let (border, nodes) = (OnceLock::new(), Nodes::default());
        let (places, waiting) = (Mutex::default(), Mutex::default());
        let make = || Summer::new(self, job.diagnostics, &border, &nodes, (&places, &waiting));
        let below = match path {
            Some(nth) if self.rules.count_links => Below::Only(nth),
            Some(nth) => Below::First(nth),
            None => Below::Every,
        };
        let way = Way { below, ..Way::once(Columns::PATH) };
        let Gathered { consumers, end, .. } = job.read(file.open(job.diagnostics.session())?, &way, make)?;
        let rows = consumers.into_iter().flat_map(Summer::into_rows).collect();
        self.add(rows, nodes);
        Ok(end)
    }

    fn add(&mut self, mut rows: Vec<Row>, nodes: Nodes) {
        // A later operand may have more names of these files, which do not count again.
        for link in self.links.values_mut() {
            link.count(&nodes);
            link.node = At::NONE;
        }
        let nodes = nodes.roll_up().into_iter().filter(|node| node.sum.is_shown);
        rows.extend(nodes.map(|node| Row {
            path: node.path,
            depth: node.depth,
            bytes: node.sum.bytes,
            is_directory: node.sum.is_directory,
        }));
        row::merge(&mut rows);
        self.rows.append(&mut rows);
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

/// The nodes of the directories of a scan file, by path.
type Places = Mutex<HashMap<Box<[u8]>, At>>;

/// Directories that wait until they are opened, by path, where links are followed: several paths may lead to a directory, and it counts
/// under the first of them that is opened.
type Waiting = Mutex<HashMap<Box<[u8]>, Waits>>;

/// A directory that waits.
struct Waits {
    inode: Inode,
    /// What to add to which node, and the depth; nothing if the directory does not pass the filter.
    counts: Option<(u64, At, u32)>,
    is_shown: bool,
}

/// One worker's sums, for one operand of a tree or for a scan file.
struct Summer<'s> {
    sums: &'s Sums<'s>,
    diagnostics: &'s Diagnostics<'s>,
    /// The device of the operand.
    border: &'s OnceLock<(u32, u32)>,
    adder: Adder<'s, Counted>,
    places: &'s Places,
    waiting: &'s Waiting,
    /// Files that are shown; directories that are shown, each with its own blocks.
    rows: Vec<Row>,
    path: Vec<u8>,
}

impl<'s> Summer<'s> {
    fn new(
        sums: &'s Sums<'s>,
        diagnostics: &'s Diagnostics<'s>,
        border: &'s OnceLock<(u32, u32)>,
        nodes: &'s Nodes,
        (places, waiting): (&'s Places, &'s Waiting),
    ) -> Summer<'s> {
        let adder = Adder::new(nodes);
        Summer { sums, diagnostics, border, adder, places, waiting, rows: Vec::new(), path: Vec::new() }
    }

    fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

impl Consumer for Summer<'_> {
    /// The node to which entries are added.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        if self.counted_before(place.path) {
            return Step::Skip;
        }
        let depth = place.depth.saturating_sub(1);
        if depth <= self.sums.rules.nodes_to() {
            *state = self.node(place.path, depth, *state, place.nth);
        }
        Step::Enter
    }

    fn recorded(&mut self, path: &[u8], depth: u32, operand: usize) -> At {
        // An operand is in no directory.
        if path.is_empty() { At::NONE } else { self.place(path, depth, operand) }
    }

    fn entry(&mut self, found: &Found<'_>, at: &At) -> Step {
        let rules = self.sums.rules;
        if !self.is_there(found) {
            return Step::Enter;
        }
        let facts = found.facts().unwrap_or_default();
        let (kind, bytes) = (found.kind, rules.bytes(found.kind, &facts));
        if rules.identifies(kind) {
            match self.step(found, &facts) {
                None => return Step::Enter,
                Some(Step::Enter) => {}
                Some(step) => return step,
            }
            let names = rules.names(&facts);
            if kind != Kind::Dir && names > 1 {
                self.add_link(found, &facts, names, bytes, *at);
                return Step::Enter;
            }
            if kind == Kind::Dir && rules.overlap.is_by_links() {
                self.wait(found, facts.inode(), Some((bytes, *at, found.depth)));
                return Step::Enter;
            }
        }
        if self.is_shown(found) {
            found.path(&mut self.path);
            let is_operand_of_file = found.depth == 0 && !found.is_live();
            let path = if is_operand_of_file { without_slashes(&self.path) } else { &self.path };
            let (path, is_directory) = (path.into(), kind == Kind::Dir);
            self.rows.push(Row { path, depth: found.depth, bytes: bytes.into(), is_directory });
        }
        self.adder.add(*at, Counted { bytes: bytes.into(), is_shown: true, is_directory: false });
        Step::Enter
    }

    fn passed_over(&mut self, found: &Found<'_>) -> Step {
        let Some(facts) = found.facts().filter(|_| self.sums.rules.identifies(Kind::Dir)) else {
            return Step::Enter;
        };
        let step = self.step(found, &facts);
        if step == Some(Step::Enter) && self.sums.rules.overlap.is_by_links() {
            self.wait(found, facts.inode(), None);
        }
        step.unwrap_or(Step::Enter)
    }

    /// A directory that cannot be opened counts.
    fn failed(&mut self, failure: &Failure<'_>) {
        self.counted_before(failure.path);
    }
}

impl Summer<'_> {
    fn node(&self, path: &[u8], depth: u32, above: At, nth: u64) -> At {
        let is_shown = depth == 0 || !self.sums.rules.has_tests;
        let sum = Counted { bytes: 0, is_shown, is_directory: true };
        self.adder.sums().push(Node { path: path.into(), depth, above, nth, sum })
    }

    /// The node of a directory of a scan file: its own, or that of the last directory above it that has one.
    fn place(&mut self, path: &[u8], depth: u32, operand: usize) -> At {
        let depth = depth.min(self.sums.rules.nodes_to());
        let path = entry::down_to(path, operand, depth);
        let path = if depth == 0 { without_slashes(path) } else { path };
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // Makes nodes from the first known directory downwards.
        let mut unknown = Vec::new();
        let (mut at, mut path) = (At::NONE, path);
        for depth in (0..=depth).rev() {
            if let Some(known) = places.get(path) {
                at = *known;
                break;
            }
            unknown.push((path, depth));
            path = if depth == 1 { without_slashes(&path[..operand.min(path.len())]) } else { above(path) };
        }
        for (path, depth) in unknown.into_iter().rev() {
            at = self.node(path, depth, at, 0);
            places.insert(path.into(), at);
        }
        at
    }

    /// Whether a directory is entered. `None` for an entry on another file system, which is not counted.
    fn step(&self, found: &Found<'_>, facts: &Facts<'_>) -> Option<Step> {
        let rules = self.sums.rules;
        if found.depth == 0 {
            let _ = self.border.set(facts.dev);
        } else if rules.one_file_system && self.is_beyond(found, facts) {
            return None;
        }
        let is_within = match found.origin {
            Origin::Live(place, _) => place.is_within(facts.dev, facts.ino),
            Origin::Row(_) => false,
        };
        let is_again = || !rules.overlap.is_by_links() && !rules.overlap.is_new(facts.inode());
        let is_left_out = found.kind == Kind::Dir && (is_within || is_again());
        Some(if is_left_out { Step::Skip } else { Step::Enter })
    }

    /// Keeps a directory until it is opened.
    fn wait(&mut self, found: &Found<'_>, inode: Inode, counts: Option<(u64, At, u32)>) {
        found.path(&mut self.path);
        let waits = Waits { inode, counts, is_shown: self.is_shown(found) };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(self.path.as_slice().into(), waits);
    }

    /// Counts a directory that waited. Returns whether it was counted under another path instead.
    fn counted_before(&mut self, path: &[u8]) -> bool {
        if !self.sums.rules.overlap.is_by_links() {
            return false;
        }
        let waits = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        let Some(Waits { inode, counts, is_shown }) = waits else { return false };
        let is_new = self.sums.rules.overlap.is_new(inode);
        if let Some((bytes, at, depth)) = counts.filter(|_| is_new) {
            if is_shown {
                self.rows.push(Row { path: path.into(), depth, bytes: bytes.into(), is_directory: true });
            }
            self.adder.add(at, Counted { bytes: bytes.into(), is_shown: true, is_directory: false });
        }
        !is_new
    }

    /// Whether an entry lies on another file system than its operand.
    fn is_beyond(&self, found: &Found<'_>, facts: &Facts<'_>) -> bool {
        match found.origin {
            Origin::Live(..) => self.border.get() != Some(&facts.dev),
            Origin::Row(_) => found.is_mount_point,
        }
    }

    /// Whether the entry can be counted. Failed `statx` calls were reported before; dangling links are reported here.
    fn is_there(&self, found: &Found<'_>) -> bool {
        let rules = self.sums.rules;
        if let Origin::Live(place, entry) = found.origin
            && rules.follows()
            && found.kind == Kind::Link
        {
            let error = target(place, entry).err().unwrap_or(Errno::NOENT);
            self.diagnostics.cannot_access(place, entry, error);
            return false;
        }
        // No metadata was requested: no need was declared, or the time was over.
        let unknown = !found.has_facts() && rules.identifies(found.kind);
        !unknown && !found.has_failed()
    }

    fn is_shown(&self, found: &Found<'_>) -> bool {
        let rules = self.sums.rules;
        let is_directory = found.kind == Kind::Dir;
        let depth = if is_directory { rules.nodes_to() } else { rules.depth };
        found.depth == 0 || (found.depth <= depth && (rules.all || is_directory))
    }

    /// Takes one of `names` names of a file.
    fn add_link(&mut self, found: &Found<'_>, facts: &Facts<'_>, names: u32, bytes: u64, at: At) {
        let nodes = self.adder.sums();
        let is_shown = self.is_shown(found);
        if is_shown {
            found.path(&mut self.path);
        }
        let nth = found.position();
        // A file that is shown has a node of its own. A new node is made only if this name comes before all names found so far.
        let file = || {
            let (path, depth) = (self.path.as_slice().into(), found.depth);
            nodes.push(Node { path, depth, above: at, nth: nth.unwrap_or(0), sum: Counted::default() })
        };
        let is_before = |old: Linked| match nth {
            Some(nth) => nodes.read_order(old.name(), (at, nth)).is_le(),
            None if is_shown => nodes.order(old.at(), &self.path).is_le(),
            None => nodes.first(old.at(), at) == old.at(),
        };
        let last = self.sums.links.see(facts.inode().key(), names, |old| match old {
            Some(old) if old.at() == At::NONE || is_before(old) => old,
            _ if is_shown => Linked { node: file(), nth: 0, bytes },
            _ => Linked { node: at, nth: nth.unwrap_or(0), bytes },
        });
        if let Some(linked) = last {
            linked.count(nodes);
        }
    }
}

/// A path without the slashes at its end. In the rows of a scan file only the operand may have slashes at its end, not the paths below it.
fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(1, |last| last + 1);
    &path[..end.min(path.len())]
}
