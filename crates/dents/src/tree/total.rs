//! What directories come to with all that is below them: bytes and blocks, each file once however many links it has.
//!
//! Every directory's total is its own: it does not depend on which others are asked about. A file that has links in two
//! subdirectories counts once in each of them and once in the directory above; so what counts more than once is taken back
//! where the links' ways up meet.
//!
//! **What it costs**: a walk that stats all entries, one `statx` more for each directory with a total of its own, 48
//! bytes for each link of a file that has several.

use super::held::Failed;
use super::{Beginning, End, Failure, Follow, Options, Place, Problem, Step, Visitor, walk_on};
use crate::batch::{Batch, Entry};
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::{Filter, Hidden};
use crate::stat::Workers;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use dents_sys::stat::{self, Mask};

/// What a directory comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Sizes of regular files and symbolic links, in bytes. Of other types, directories among them, a size says nothing
    /// that one could add (GNU du counts so since 9.2).
    pub bytes: u64,
    /// Allocated blocks of 512 bytes, of everything.
    pub blocks: u64,
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
    let count = AtomicU32::new(0);
    let make = |_| Adder::new(levels, &count);
    let outcome = walk_on(&[], &beginnings, &options, workers, make);
    let (mut nodes, mut parts, mut links, mut failures) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for mut one in outcome.visitors {
        nodes.append(&mut one.nodes);
        parts.append(&mut one.parts);
        links.append(&mut one.links);
        failures.append(&mut one.failures);
    }
    nodes.sort_unstable_by_key(|node| node.number);
    take_back(&nodes, &mut links, &mut parts);
    failures.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    Totals { sums: roll_up(nodes, &parts), failures, end: outcome.end }
}

/// A directory with a total of its own.
struct Node {
    number: u32,
    /// The one above, or [`NONE`].
    above: u32,
    level: u32,
    path: Box<[u8]>,
}

/// No node.
const NONE: u32 = u32::MAX;

/// What a node's own level holds, to be added. Negative numbers take back.
#[derive(Clone, Copy, Default)]
struct Part {
    node: u32,
    bytes: i64,
    blocks: i64,
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

/// One of several links to a file.
struct Link {
    inode: ((u32, u32), u64),
    node: u32,
    bytes: i64,
    blocks: i64,
}

/// Of each file with several links, what is too much at the nodes that hold more than one of them: with links in the order
/// of a walk, two that follow one another meet at the lowest node above both.
fn take_back(nodes: &[Node], links: &mut [Link], parts: &mut Vec<Part>) {
    if links.is_empty() {
        return;
    }
    let mut order: Vec<&Node> = nodes.iter().collect();
    order.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    let mut ranks = alloc::vec![0u32; nodes.len()];
    order.iter().enumerate().for_each(|(rank, node)| ranks[node.number as usize] = rank as u32);
    links.sort_unstable_by_key(|link| (link.inode, ranks[link.node as usize]));
    for pair in links.windows(2).filter(|pair| pair[0].inode == pair[1].inode) {
        let node = meet(nodes, pair[0].node, pair[1].node);
        if node != NONE {
            parts.push(Part { node, bytes: -pair[1].bytes, blocks: -pair[1].blocks, open: 0 });
        }
    }
}

/// The lowest node above both.
fn meet(nodes: &[Node], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        let (Some(one), Some(other)) = (nodes.get(a as usize), nodes.get(b as usize)) else { return NONE };
        if one.level >= other.level {
            a = one.above;
        }
        if other.level >= one.level {
            b = other.above;
        }
    }
    a
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
        bytes: u64::try_from(part.bytes).unwrap_or(0),
        blocks: u64::try_from(part.blocks).unwrap_or(0),
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
struct Adder<'c> {
    levels: u32,
    count: &'c AtomicU32,
    nodes: Vec<Node>,
    parts: Vec<Part>,
    links: Vec<Link>,
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

impl<'c> Adder<'c> {
    fn new(levels: u32, count: &'c AtomicU32) -> Adder<'c> {
        Adder {
            levels,
            count,
            nodes: Vec::new(),
            parts: Vec::new(),
            links: Vec::new(),
            failures: Vec::new(),
            node: NONE,
            entered: 0,
        }
    }

    fn begin(&mut self, path: &[u8], level: u32, above: u32) -> u32 {
        let number = self.count.fetch_add(1, Relaxed);
        self.nodes.push(Node { number, above, level, path: path.into() });
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
        let bytes = if matches!(kind, Kind::Reg | Kind::Link) { entry.size() as i64 } else { 0 };
        let blocks = entry.blocks() as i64;
        part.bytes += bytes;
        part.blocks += blocks;
        if kind != Kind::Dir
            && entry.nlink() > 1
            && let Some(extra) = entry.extra()
        {
            self.links.push(Link { inode: (extra.dev, entry.ino()), node: part.node, bytes, blocks });
        }
    }
}

impl Visitor for Adder<'_> {
    /// Where to add.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        let level = place.depth.saturating_sub(1);
        if level <= self.levels {
            let node = self.begin(place.path, level, state.0);
            let own = place.dir.and_then(|dir| stat::fstat(dir, Mask::BLOCKS).ok());
            // That it comes to its end is from now on waited for here, not above.
            self.add(Part { node: state.0, open: -1, ..Part::default() });
            self.add(Part { node, bytes: 0, blocks: own.map_or(0, |own| own.blocks() as i64), open: 1 });
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
            let node = self.begin(path, level, NONE);
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
            level: path.matches('/').count() as u32,
            path: path.as_bytes().into(),
        };
        paths.iter().enumerate().map(node).collect()
    }

    #[test]
    fn links_count_once_in_each_directory() {
        let nodes = nodes(&["a", "b", "a/y", "a/x", "a/x/deep"]);
        let link = |node| Link { inode: ((0, 1), 5), node, bytes: 100, blocks: 8 };
        let mut links = Vec::from([link(4), link(1), link(2), link(4), link(3)]);
        let mut parts: Vec<Part> =
            links.iter().map(|l| Part { node: l.node, bytes: l.bytes, blocks: l.blocks, open: 0 }).collect();
        take_back(&nodes, &mut links, &mut parts);
        let sums = roll_up(nodes, &parts);
        assert_eq!(sums.len(), 5);
        for (path, sum) in sums {
            assert_eq!(sum, Sum { bytes: 100, blocks: 8, whole: true }, "{path:?}");
        }
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
