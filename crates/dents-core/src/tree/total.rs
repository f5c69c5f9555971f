//! What directories come to with all that is below them: bytes and blocks, each file once however many links it has.
//!
//! Every directory's total is its own: it does not depend on which others are asked about. A file that has links in two
//! subdirectories counts once in each of them and once in the directory above; so what counts more than once is taken back
//! where the links' ways up meet.
//!
//! Sums have 128 bits: what two files of 8 EiB come to does not fit into 64.
//!
//! **What it costs**: a walk that stats all entries, one `statx` more for each directory with a total of its own. While
//! names of a file with several links are still to come, 20 bytes ([`HardLinks`]) for each directory with a total of its
//! own that one of its names is in or below.

use super::hardlinks::{HardLinks, UNKNOWN_NLINK, file_key};
use super::held::Failed;
use super::{Beginning, End, Failure, Follow, Options, Place, Problem, Step, Visitor, walk_on};
use crate::batch::{Batch, Entry};
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::{Filter, Hidden};
use crate::stat::Workers;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use dents_sys::stat::{self, Mask};

/// What a directory comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Sizes of regular files and symbolic links, in bytes. Of other types, directories among them, a size says nothing
    /// that one could add (GNU du counts so since 9.2).
    pub bytes: u128,
    /// Allocated blocks of 512 bytes, of everything.
    pub blocks: u128,
    /// Whether nothing is missing.
    pub whole: bool,
}

/// The totals of directories.
pub struct Totals {
    /// By path, in the order of bytes.
    sums: Vec<(Box<[u8]>, Sum)>,
    /// Directories that could not be opened or read, by path.
    pub failures: Vec<Failed>,
    /// Why the walk ended.
    pub end: End,
}

impl Totals {
    /// The total of the directory at a path, as it was given or as it is reached from there.
    #[must_use]
    pub fn get(&self, path: &[u8]) -> Option<Sum> {
        let found = self.sums.binary_search_by(|(other, _)| (**other).cmp(path));
        found.ok().map(|at| self.sums[at].1)
    }
}

/// Adds up each of these directories, and those so many levels below them. A symbolic link among `paths` stands for the
/// directory it leads to; none below is followed. File systems mounted below count.
///
/// Of `options` the threads, the deadline and where to begin matter.
#[must_use]
pub fn totals(paths: Vec<CString>, levels: u32, options: &Options<'_>, workers: &dyn Workers) -> Totals {
    let beginnings: Vec<_> =
        paths.into_iter().map(|name| Beginning { parent: Vec::new(), name, depth: 1 }).collect();
    let needs = Needs::TYPE | Needs::SIZE | Needs::BLOCKS | Needs::NLINK | Needs::INODE;
    let options = Options {
        needs: NeedsByKind::all(needs),
        extra: true,
        filter: Filter { hidden: Hidden::AlmostAll, ..Filter::default() },
        follow: Follow::Operands,
        ..*options
    };
    let shared = Shared::default();
    let make = |_| Adder::new(levels, &shared);
    let outcome = walk_on(&[], &beginnings, &options, workers, make);
    let (mut nodes, mut parts, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for mut one in outcome.visitors {
        nodes.append(&mut one.nodes);
        parts.append(&mut one.parts);
        failures.append(&mut one.failures);
    }
    nodes.sort_unstable_by_key(|node| node.number);
    failures.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    Totals { sums: roll_up(nodes, &parts), failures, end: outcome.end }
}

/// A directory with a total of its own.
struct Node {
    number: u32,
    /// The one above, or [`NONE`].
    above: u32,
    path: Box<[u8]>,
}

/// No node.
const NONE: u32 = u32::MAX;

/// What a node's own level holds, to be added. Negative numbers take back.
#[derive(Clone, Copy, Default)]
struct Part {
    node: u32,
    bytes: i128,
    blocks: i128,
    /// Directories and pieces that are still to come.
    open: i64,
}

impl Part {
    fn add(&mut self, other: &Part) {
        self.bytes += other.bytes;
        self.blocks += other.blocks;
        self.open += other.open;
    }
}

/// What all workers share.
#[derive(Default)]
struct Shared {
    /// Of each node the one above, or [`NONE`].
    above: Mutex<Vec<u32>>,
    /// Files with several links, by inode and node: each with all nodes that count it.
    links: HardLinks<4, ()>,
    /// Whether names may be met more often than link counts say; none as long as no file has several links.
    repeats: Mutex<Option<bool>>,
}

impl Shared {
    fn begin(&self, above: u32) -> u32 {
        let mut all = self.above.lock();
        all.push(above);
        all.len() as u32 - 1
    }

    fn above(&self, node: u32) -> u32 {
        self.above.lock().get(node as usize).copied().unwrap_or(NONE)
    }

    /// Counts one of the links of a file, in `node` and all above it. Returns the lowest of these that counted another
    /// one before, or [`NONE`]: there, and thereby in all above it, this one is too much.
    ///
    /// Each link goes up until it meets another, so of those that meet at a node one alone goes on, whatever the workers
    /// do at the same time.
    fn link(&self, inode: [u32; 3], nlink: u32, node: u32) -> u32 {
        let [a, b, c] = inode;
        let nlink = if self.repeats() { UNKNOWN_NLINK } else { nlink };
        let mut at = node;
        while at != NONE {
            let mut again = false;
            let last = self.links.see([a, b, c, at], nlink, |old| again = old.is_some()).is_some();
            if last {
                // All its names are in or below this node: it will not be met above it either.
                self.forget_above(inode, at);
            }
            if again {
                return at;
            }
            at = self.above(at);
        }
        NONE
    }

    /// Reads the list of mounts, the first time; several workers may at once.
    fn repeats(&self) -> bool {
        let known = *self.repeats.lock();
        known.unwrap_or_else(|| {
            let overlap = Mounts::default().overlap();
            *self.repeats.lock() = Some(overlap);
            overlap
        })
    }

    fn forget_above(&self, [a, b, c]: [u32; 3], node: u32) {
        let mut at = self.above(node);
        while at != NONE {
            self.links.forget(&[a, b, c, at]);
            at = self.above(at);
        }
    }
}

/// Each node with all below it, by path.
fn roll_up(nodes: Vec<Node>, parts: &[Part]) -> Vec<(Box<[u8]>, Sum)> {
    let mut sums = alloc::vec![Part::default(); nodes.len()];
    for part in parts {
        if let Some(sum) = sums.get_mut(part.node as usize) {
            sum.add(part);
        }
    }
    // What is below was opened later, and so has a greater number.
    for node in nodes.iter().rev() {
        let sum = sums[node.number as usize];
        if let Some(above) = sums.get_mut(node.above as usize) {
            above.add(&sum);
        }
    }
    let sum = |part: &Part| Sum {
        bytes: u128::try_from(part.bytes).unwrap_or(0),
        blocks: u128::try_from(part.blocks).unwrap_or(0),
        whole: part.open == 0,
    };
    let mut all: Vec<_> =
        nodes.into_iter().map(|node| (node.path, sum(&sums[node.number as usize]))).collect();
    all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The order of paths in which a directory comes right before all that is in it: by bytes, a slash before all others.
#[must_use]
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(at) => rank(&a[at]).cmp(&rank(&b[at])),
        None => a.len().cmp(&b.len()),
    }
}

/// What one worker adds up.
struct Adder<'s> {
    levels: u32,
    shared: &'s Shared,
    nodes: Vec<Node>,
    parts: Vec<Part>,
    failures: Vec<Failed>,
    /// Of the batch given last: its node, and subdirectories that are entered.
    node: u32,
    entered: i64,
}

/// The node that something is added to.
#[derive(Clone, Copy)]
struct At(u32);

impl Default for At {
    fn default() -> At {
        At(NONE)
    }
}

impl<'s> Adder<'s> {
    fn new(levels: u32, shared: &'s Shared) -> Adder<'s> {
        Adder {
            levels,
            shared,
            nodes: Vec::new(),
            parts: Vec::new(),
            failures: Vec::new(),
            node: NONE,
            entered: 0,
        }
    }

    fn begin(&mut self, path: &[u8], above: u32) -> u32 {
        let number = self.shared.begin(above);
        self.nodes.push(Node { number, above, path: path.into() });
        number
    }

    /// A worker stays long at one node, so most parts end up in one.
    fn add(&mut self, part: Part) {
        match self.parts.last_mut().filter(|last| last.node == part.node) {
            Some(last) => last.add(&part),
            None => self.parts.push(part),
        }
    }

    /// What an entry adds to the part of its directory.
    fn entry(&mut self, entry: &Entry<'_>, shown_below: bool, part: &mut Part) {
        if !entry.is_known() {
            part.open += 1;
            return;
        }
        let kind = entry.kind();
        if kind == Kind::Dir && shown_below {
            // It has a node of its own, which counts it.
            return;
        }
        let bytes = if matches!(kind, Kind::Reg | Kind::Link) { i128::from(entry.size()) } else { 0 };
        let blocks = i128::from(entry.blocks());
        part.bytes += bytes;
        part.blocks += blocks;
        if kind != Kind::Dir
            && entry.nlink() > 1
            && let Some(extra) = entry.extra()
        {
            let inode = file_key(extra.dev, entry.ino());
            let node = self.shared.link(inode, entry.nlink(), part.node);
            if node != NONE {
                self.add(Part { node, bytes: -bytes, blocks: -blocks, open: 0 });
            }
        }
    }
}

impl Visitor for Adder<'_> {
    /// Where to add.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        let level = place.depth.saturating_sub(1);
        if level <= self.levels {
            let node = self.begin(place.path, state.0);
            let own = place.dir.and_then(|dir| stat::fstat(dir, Mask::BLOCKS).ok());
            // That it comes to its end is from now on waited for here, not above.
            self.add(Part { node: state.0, open: -1, ..Part::default() });
            self.add(Part { node, bytes: 0, blocks: own.map_or(0, |own| own.blocks().into()), open: 1 });
            *state = At(node);
        }
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &At) -> Step {
        // A piece has come. How many were to come the last one knows, and that the directory has ended.
        let told = if place.piece.last { i64::from(place.piece.index + 1) - 1 } else { 0 };
        let mut part = Part { node: state.0, open: told - 1, ..Part::default() };
        let shown_below = place.depth <= self.levels;
        batch.iter().for_each(|entry| self.entry(&entry, shown_below, &mut part));
        self.add(part);
        (self.node, self.entered) = (state.0, 0);
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, _: &Entry<'_>, _: &At) -> Step {
        self.add(Part { node: self.node, open: 1, ..Part::default() });
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let Failure { path, problem, errno, .. } = *failure;
        let level = failure.depth.saturating_sub(1);
        if problem == Problem::Read {
            // Its last piece came right before, to this worker.
            self.add(Part { node: self.node, open: 1, ..Part::default() });
        } else if level <= self.levels {
            let node = self.begin(path, NONE);
            self.add(Part { node, open: 1, ..Part::default() });
        }
        self.failures.push(Failed { path: path.into(), problem, errno });
        Step::Enter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(paths: &[&str]) -> Vec<Node> {
        let above = |path: &str| {
            let parent = path.rsplit_once('/').map(|(parent, _)| parent);
            paths.iter().position(|other| Some(*other) == parent).map_or(NONE, |at| at as u32)
        };
        let node = |(number, path): (usize, &&str)| Node {
            number: number as u32,
            above: above(path),
            path: path.as_bytes().into(),
        };
        paths.iter().enumerate().map(node).collect()
    }

    #[test]
    fn links_count_once_in_each_directory() {
        // Names in these nodes, in any order; how many there are elsewhere.
        for (order, elsewhere) in [([4, 1, 2, 4, 3], 0), ([1, 2, 3, 4, 4], 1), ([3, 4, 4, 2, 1], 0)] {
            let nodes = nodes(&["a", "b", "a/y", "a/x", "a/x/deep"]);
            let mut shared = Shared { repeats: Mutex::new(Some(false)), ..Shared::default() };
            nodes.iter().for_each(|node| assert_eq!(shared.begin(node.above), node.number));
            let mut parts = Vec::new();
            for node in order {
                parts.push(Part { node, bytes: 100, blocks: 8, open: 0 });
                let node = shared.link(file_key((0, 1), 5), 5 + elsewhere, node);
                if node != NONE {
                    parts.push(Part { node, bytes: -100, blocks: -8, open: 0 });
                }
            }
            for (path, sum) in roll_up(nodes, &parts) {
                assert_eq!(sum, Sum { bytes: 100, blocks: 8, whole: true }, "{path:?}");
            }
            assert!(shared.links.values_mut().count() <= 5);
        }
    }

    #[test]
    fn a_file_with_all_names_below_one_directory_is_forgotten() {
        let nodes = nodes(&["a", "a/x", "a/x/deep"]);
        let mut shared = Shared { repeats: Mutex::new(Some(false)), ..Shared::default() };
        nodes.iter().for_each(|node| assert_eq!(shared.begin(node.above), node.number));
        let mut link =
            |ino, node| (shared.link(file_key((0, 1), ino), 2, node), shared.links.values_mut().count());
        assert_eq!([link(5, 2), link(5, 2)], [(NONE, 3), (2, 0)]);
        assert_eq!([link(6, 2), link(6, 1)], [(NONE, 3), (1, 1)]);
    }

    #[test]
    fn sums_do_not_overflow() {
        let seven_eib = 7i128 << 60;
        let part = Part { node: 1, bytes: seven_eib, blocks: i128::from(u64::MAX), open: 0 };
        let sums = roll_up(nodes(&["a", "a/x"]), &[part; 3]);
        let expected = Sum { bytes: 21 << 60, blocks: 3 * u128::from(u64::MAX), whole: true };
        assert!(sums.iter().all(|(_, sum)| *sum == expected), "{sums:?}");
    }

    #[test]
    fn what_is_missing_below_is_missing_above() {
        let parts =
            [Part { node: 3, open: 1, bytes: 7, blocks: 1 }, Part { node: 1, open: 0, bytes: 1, blocks: 0 }];
        let sums = roll_up(nodes(&["a", "b", "a/y", "a/x"]), &parts);
        let sum = |path: &str| sums.iter().find(|(other, _)| **other == *path.as_bytes()).unwrap().1;
        assert_eq!(sum("a"), Sum { bytes: 7, blocks: 1, whole: false });
        assert_eq!(sum("b"), Sum { bytes: 1, blocks: 0, whole: true });
        assert!(sum("a/y").whole && !sum("a/x").whole);
    }

    #[test]
    fn directories_come_right_before_what_is_in_them() {
        let mut paths = ["a.b", "a/b", "a", "a b", "a/b/c", "a/a", "b", "a\x01"];
        paths.sort_by(|a, b| path_order(a.as_bytes(), b.as_bytes()));
        assert_eq!(paths, ["a", "a/a", "a/b", "a/b/c", "a\x01", "a b", "a.b", "b"]);
    }
}
