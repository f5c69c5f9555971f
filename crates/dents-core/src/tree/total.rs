//! The totals of directories with all that is below them: bytes and blocks, each file once, however many links it
//! has.
//!
//! The total of a directory does not depend on the other directories of the request. A file with links in two
//! subdirectories counts once in each of them, and once in the directory above. So the second count is subtracted at
//! the lowest directory that is above both links.
//!
//! Sums have 128 bits: the sum of two files of 8 EiB does not fit into 64.
//!
//! **What it costs**: a walk that stats all entries, and one more `statx` for each directory with a total of its own.
//! Until all names of a file with several links were found, the file takes 18 bytes ([`HardLinks`]) for each directory that
//! has a total of its own and is above one of these names.

use super::hardlinks::{HardLinks, UNKNOWN_NLINK, file_key};
use super::hierarchy::Failed;
use super::sums::{Adder, At, Node, Sums, path_order};
use super::{End, Failure, Follow, Options, Outcome, Place, Problem, StartPoint, Step, Visitor, walk_on};
use crate::batch::{Batch, Entry, Extra};
use crate::lock::Mutex;
use crate::mounts::Mounts;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::{Filter, Hidden};
use crate::stat::Workers;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ops::AddAssign;
use dents_sys::stat::{self, Mask};

/// The total of an entry and all that is below it. Hard links count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// [Sizes](Kind::has_length) of regular files and symbolic links, in bytes.
    pub bytes: u128,
    /// Allocated blocks of 512 bytes, of everything.
    pub blocks: u128,
    /// Whether the total is complete: everything could be read, in time.
    pub whole: bool,
}

impl Total {
    /// The total of a file that is not a directory: its own size. The getters must not be called for an entry that
    /// could not be stat'ed.
    #[must_use]
    pub fn of_file(entry: &Entry<'_>) -> Option<Total> {
        let is_file = entry.kind() != Kind::Dir;
        is_file.then(|| Total { bytes: entry.size().into(), blocks: entry.blocks().into(), whole: true })
    }

    /// The needs of [`Total::of_file`]. A separate walk adds up directories.
    #[must_use]
    pub fn needs() -> NeedsByKind {
        let files = Kind::KNOWN.into_iter().filter(|kind| *kind != Kind::Dir);
        let needs = files.map(|kind| NeedsByKind::of(kind, Needs::SIZE | Needs::BLOCKS));
        needs.fold(NeedsByKind::all(Needs::TYPE), |all, one| all | one)
    }
}

/// The totals of directories.
pub struct Totals {
    /// By path, in the order of bytes.
    sums: Vec<(Box<[u8]>, Total)>,
    /// Directories that could not be opened or read, by path.
    pub failures: Vec<Failed>,
    /// Why the walk ended.
    pub end: End,
}

impl Totals {
    /// The total of the directory at a path: an operand as it was given, or the path of a directory below it.
    #[must_use]
    pub fn get(&self, path: &[u8]) -> Option<Total> {
        let found = self.sums.binary_search_by(|(other, _)| (**other).cmp(path));
        found.ok().map(|at| self.sums[at].1)
    }
}

/// Adds up each of these directories, and the directories up to `levels` below them. A symbolic link among `paths` is
/// followed, links below are not. File systems mounted below count; a directory that is mounted below itself counts once, without a
/// failure, as in `du`, if `options` say that there may be one.
///
/// It ignores the needs, the filter and the treatment of links in `options`.
#[must_use]
pub fn totals(paths: Vec<CString>, levels: u32, options: &Options<'_>, workers: &dyn Workers) -> Totals {
    let start_points: Vec<_> =
        paths.into_iter().map(|name| StartPoint { parent: Vec::new(), name, depth: 1 }).collect();
    let needs = Needs::TYPE | Needs::SIZE | Needs::BLOCKS | Needs::NLINK | Needs::INODE;
    let options = Options {
        needs: NeedsByKind::all(needs),
        extra: true,
        filter: Filter { hidden: Hidden::AlmostAll, ..Filter::default() },
        follow: Follow::Operands,
        ..options.clone()
    };
    let shared = Shared::default();
    let make = |_| Worker {
        levels,
        shared: &shared,
        adder: Adder::new(&shared.sums),
        failures: Vec::new(),
        last: At::NONE,
    };
    let Outcome { visitors, end, .. } = walk_on(&[], &start_points, &options, workers, make);
    let mut failures: Vec<Failed> = visitors.into_iter().flat_map(|one| one.failures).collect();
    failures.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    let mut sums: Vec<_> =
        shared.sums.roll_up().into_iter().map(|node| (node.path, node.sum.into())).collect();
    sums.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Totals { sums, failures, end }
}

/// A change of the sum of a node. Negative numbers subtract.
#[derive(Clone, Copy, Default)]
struct Change {
    bytes: i128,
    blocks: i128,
    /// Directories and pieces that are not finished.
    open: i64,
}

impl AddAssign for Change {
    fn add_assign(&mut self, other: Change) {
        self.bytes += other.bytes;
        self.blocks += other.blocks;
        self.open += other.open;
    }
}

impl From<Change> for Total {
    fn from(change: Change) -> Total {
        Total {
            bytes: u128::try_from(change.bytes).unwrap_or(0),
            blocks: u128::try_from(change.blocks).unwrap_or(0),
            whole: change.open == 0,
        }
    }
}

/// State that all workers share.
#[derive(Default)]
struct Shared {
    sums: Sums<Change>,
    /// Files with several links, by inode and node: each with all nodes that count it.
    links: HardLinks<4, ()>,
    /// Whether names may be found more often than link counts say. `None` as long as no file has several links.
    repeats: Mutex<Option<bool>>,
}

impl Shared {
    /// Counts one of the links of a file, in `node` and all nodes above it. Returns the lowest of these that has
    /// counted another link of the file before, or [`At::NONE`]. In that node, and so in all above it, this link must
    /// be subtracted.
    ///
    /// Each link goes up until it finds a node that has counted another link. So of the links that meet at a node
    /// only one goes on, in any interleaving of workers.
    fn link(&self, inode: [u32; 3], nlink: u32, node: At) -> At {
        let nlink = if self.repeats() { UNKNOWN_NLINK } else { nlink };
        let mut at = node;
        while at != At::NONE {
            let mut again = false;
            let last = self.links.see(key(inode, at), nlink, |old| again = old.is_some()).is_some();
            if last {
                // All its names are in or below this node, so it will not be found above it.
                self.forget_above(inode, at);
            }
            if again {
                return at;
            }
            at = self.sums.above(at);
        }
        At::NONE
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

    fn forget_above(&self, inode: [u32; 3], node: At) {
        let mut at = self.sums.above(node);
        while at != At::NONE {
            self.links.forget(&key(inode, at));
            at = self.sums.above(at);
        }
    }
}

fn key([a, b, c]: [u32; 3], node: At) -> [u32; 4] {
    [a, b, c, node.number()]
}

/// One worker of the walk.
struct Worker<'s> {
    levels: u32,
    shared: &'s Shared,
    adder: Adder<'s, Change>,
    failures: Vec<Failed>,
    /// The node of the last batch.
    last: At,
}

impl Worker<'_> {
    fn node(&mut self, path: &[u8], depth: u32, above: At, sum: Change) -> At {
        self.shared.sums.push(Node { path: path.into(), depth, above, nth: 0, sum })
    }

    /// Adds to the number of unfinished directories and pieces of a node.
    fn wait(&mut self, at: At, open: i64) {
        self.adder.add(at, Change { open, ..Change::default() });
    }

    /// Adds an entry to the part of its directory.
    fn entry(&mut self, entry: &Entry<'_>, shown_below: bool, at: At, change: &mut Change) {
        if !entry.is_known() {
            change.open += 1;
            return;
        }
        let kind = entry.kind();
        if kind == Kind::Dir && shown_below {
            // The directory has a node of its own, which counts it.
            return;
        }
        let bytes = if kind.has_length() { i128::from(entry.size()) } else { 0 };
        let blocks = i128::from(entry.blocks());
        change.bytes += bytes;
        change.blocks += blocks;
        if kind != Kind::Dir
            && entry.nlink() > 1
            && let Some(extra) = entry.extra()
        {
            let inode = file_key(extra.dev, entry.ino());
            let again = self.shared.link(inode, entry.nlink(), at);
            if again != At::NONE {
                self.adder.add(again, Change { bytes: -bytes, blocks: -blocks, open: 0 });
            }
        }
    }
}

/// Whether an entry is a directory above it, which is mounted there.
fn is_loop(place: &Place<'_>, entry: &Entry<'_>) -> bool {
    let is = |extra: &Extra| place.is_within(extra.dev, entry.ino());
    entry.is_known() && entry.kind() == Kind::Dir && entry.extra().is_some_and(is)
}

impl Visitor for Worker<'_> {
    /// The node to which entries are added.
    type State = At;

    fn opened(&mut self, place: &Place<'_>, state: &mut At) -> Step {
        let level = place.depth.saturating_sub(1);
        if level <= self.levels {
            let own = place.dir.and_then(|dir| stat::fstat(dir, Mask::BLOCKS).ok());
            // The directory is not finished. Its own node now counts that, instead of the node above.
            self.wait(*state, -1);
            let sum = Change { bytes: 0, blocks: own.map_or(0, |own| own.blocks().into()), open: 1 };
            *state = self.node(place.path, level, *state, sum);
        }
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &At) -> Step {
        // This piece is finished: -1. The last piece shows the number of pieces, and that the directory was read to its end.
        let told = if place.piece.last { i64::from(place.piece.index + 1) - 1 } else { 0 };
        let mut change = Change { open: told - 1, ..Change::default() };
        let shown_below = place.depth <= self.levels;
        let counted = batch.iter().filter(|entry| !is_loop(place, entry));
        counted.for_each(|entry| self.entry(&entry, shown_below, *state, &mut change));
        self.adder.add(*state, change);
        self.last = *state;
        Step::Enter
    }

    fn descend(&mut self, place: &Place<'_>, entry: &Entry<'_>, _: &At) -> Step {
        if is_loop(place, entry) {
            if place.depth <= self.levels {
                let mut path = Vec::new();
                place.join(entry.name(), &mut path);
                // Nothing is below it that was not counted.
                self.node(&path, place.depth, At::NONE, Change::default());
            }
            return Step::Skip;
        }
        self.wait(self.last, 1);
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let Failure { path, problem, errno, .. } = *failure;
        let level = failure.depth.saturating_sub(1);
        if problem == Problem::Read {
            // This worker has just received the last piece of the directory, which counted it as finished.
            self.wait(self.last, 1);
        } else if level <= self.levels {
            self.node(path, level, At::NONE, Change { open: 1, ..Change::default() });
        }
        self.failures.push(Failed { path: path.into(), problem, errno });
        Step::Enter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes `a`, `b`, `a/y`, `a/x` and `a/x/deep`.
    fn shared() -> (Shared, [At; 5]) {
        let shared = Shared { repeats: Mutex::new(Some(false)), ..Shared::default() };
        let node = |path: &str, above| {
            let (path, depth) = (path.as_bytes().into(), 0);
            shared.sums.push(Node { path, depth, above, nth: 0, sum: Change::default() })
        };
        let [a, b] = [node("a", At::NONE), node("b", At::NONE)];
        let [y, x] = [node("a/y", a), node("a/x", a)];
        let deep = node("a/x/deep", x);
        (shared, [a, b, y, x, deep])
    }

    fn sums(shared: Shared) -> Vec<Total> {
        shared.sums.roll_up().iter().map(|node| node.sum.into()).collect()
    }

    #[test]
    fn links_count_once_in_each_directory() {
        // The nodes of a file's names, in any order, and the number of its names elsewhere.
        for (order, elsewhere) in [([4, 1, 2, 4, 3], 0), ([1, 2, 3, 4, 4], 1), ([3, 4, 4, 2, 1], 0)] {
            let (mut shared, nodes) = shared();
            for at in order.map(|nth: usize| nodes[nth]) {
                shared.sums.add(at, Change { bytes: 100, blocks: 8, open: 0 });
                let again = shared.link(file_key((0, 1), 5), 5 + elsewhere, at);
                shared.sums.add(again, Change { bytes: -100, blocks: -8, open: 0 });
            }
            assert!(shared.links.values_mut().count() <= 5);
            assert_eq!(sums(shared), [Total { bytes: 100, blocks: 8, whole: true }; 5], "{order:?}");
        }
    }

    #[test]
    fn a_file_with_all_names_below_one_directory_is_forgotten() {
        let (mut shared, [_, _, _, x, deep]) = shared();
        let mut link =
            |ino, node| (shared.link(file_key((0, 1), ino), 2, node), shared.links.values_mut().count());
        assert_eq!([link(5, deep), link(5, deep)], [(At::NONE, 3), (deep, 0)]);
        assert_eq!([link(6, deep), link(6, x)], [(At::NONE, 3), (x, 1)]);
    }

    #[test]
    fn sums_do_not_overflow() {
        let (shared, [.., deep]) = shared();
        let change = Change { bytes: 7 << 60, blocks: i128::from(u64::MAX), open: 0 };
        [change; 3].into_iter().for_each(|change| shared.sums.add(deep, change));
        let expected = Total { bytes: 21 << 60, blocks: 3 * u128::from(u64::MAX), whole: true };
        assert_eq!(sums(shared)[0], expected);
    }

    #[test]
    fn what_is_missing_below_is_missing_above() {
        let (shared, [_, b, _, x, _]) = shared();
        shared.sums.add(x, Change { open: 1, bytes: 7, blocks: 1 });
        shared.sums.add(b, Change { open: 0, bytes: 1, blocks: 0 });
        let whole = |bytes, blocks, whole| Total { bytes, blocks, whole };
        let [a, b, y, x, _] = sums(shared)[..] else { panic!("five nodes") };
        assert_eq!([a, b], [whole(7, 1, false), whole(1, 0, true)]);
        assert!(y.whole && !x.whole);
    }
}
