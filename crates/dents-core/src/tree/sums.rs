//! Sums of directories: each directory with a sum of its own has a node, to which all entries below it are added.
//!
//! Workers add each entry to the nearest node above it ([`Adder`]). A worker takes the lock of the table once for as
//! long as it stays below one node. When the walk has ended, [`Sums::roll_up`] adds every node to the node above it.
//!
//! The type of the sum is a parameter: [`total`](super::total) adds bytes, blocks and whether something is missing,
//! `dents du` the figures that it shows.

use crate::lock::Mutex;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::AddAssign;

/// Something with a sum of its own: a directory, or a file that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<V> {
    /// Its path.
    pub path: Box<[u8]>,
    /// 0 for operands.
    pub depth: u32,
    /// The node above it.
    pub above: At,
    /// Its position in the directory above it, for [`Sums::read_order`].
    pub nth: u64,
    /// Its sum.
    pub sum: V,
}

/// A node of a [`Sums`], or none (above the operands). In a walk it is the state that a directory passes to its
/// subdirectories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(u32);

impl At {
    /// No node. What is added to it is ignored.
    pub const NONE: At = At(u32::MAX);

    /// Its index in the table. In the table of a [`HardLinks`](super::hardlinks::HardLinks) it is a part of the key.
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

impl Default for At {
    fn default() -> At {
        At::NONE
    }
}

/// The nodes of one walk, shared by its workers.
pub struct Sums<V>(Mutex<Vec<Node<V>>>);

impl<V> Default for Sums<V> {
    fn default() -> Self {
        Sums(Mutex::new(Vec::new()))
    }
}

impl<V: Copy + AddAssign> Sums<V> {
    /// Adds a node. The node above it must have been added before.
    pub fn push(&self, node: Node<V>) -> At {
        let mut nodes = self.0.lock();
        nodes.push(node);
        At(nodes.len() as u32 - 1)
    }

    /// Adds to a node.
    pub fn add(&self, at: At, value: V) {
        if let Some(node) = self.0.lock().get_mut(at.0 as usize) {
            node.sum += value;
        }
    }

    /// The node above one.
    #[must_use]
    pub fn above(&self, at: At) -> At {
        self.0.lock().get(at.0 as usize).map_or(At::NONE, |node| node.above)
    }

    /// The order of a node's path and another path, as [`path_order`] has it.
    #[must_use]
    pub fn order(&self, at: At, path: &[u8]) -> Ordering {
        self.0.lock().get(at.0 as usize).map_or(Ordering::Greater, |node| path_order(&node.path, path))
    }

    /// Which of two names a walk finds first that goes depth first in reading order, as fts(3) does without a comparison. A name is
    /// the node of its directory and its position there; a node that is a file has position 0.
    ///
    /// A directory below the last one with a node has no position, but then both names have the same node or are ordered by the
    /// positions of nodes.
    #[must_use]
    pub fn read_order(&self, mut a: (At, u64), mut b: (At, u64)) -> Ordering {
        let nodes = self.0.lock();
        while a.0 != b.0 {
            let node = |(at, _): (At, u64)| nodes.get(at.0 as usize);
            let (Some(one), Some(other)) = (node(a), node(b)) else {
                return node(a).is_none().cmp(&node(b).is_none());
            };
            let levels = one.depth.cmp(&other.depth);
            if levels.is_ge() {
                a = (one.above, one.nth);
            }
            if levels.is_le() {
                b = (other.above, other.nth);
            }
        }
        a.1.cmp(&b.1)
    }

    /// The one of two nodes whose path comes first.
    #[must_use]
    pub fn first(&self, a: At, b: At) -> At {
        let nodes = self.0.lock();
        let path = |at: At| nodes.get(at.0 as usize).map_or(&b""[..], |node| &node.path);
        if a == b || path_order(path(a), path(b)) != Ordering::Greater { a } else { b }
    }

    /// The nodes, each with the sums of all nodes below it, in the order in which they were pushed.
    #[must_use]
    pub fn roll_up(self) -> Vec<Node<V>> {
        let mut nodes = self.0.into_inner();
        // A node was pushed after the node above it, so its index is greater.
        for at in (0..nodes.len()).rev() {
            let Node { above, sum, .. } = nodes[at];
            if let Some(above) = nodes.get_mut(above.0 as usize) {
                above.sum += sum;
            }
        }
        nodes
    }
}

/// Adds to nodes for one worker. It collects values for the same node, and adds them to the table before the next
/// node and when it is dropped.
pub struct Adder<'s, V: Copy + Default + AddAssign> {
    sums: &'s Sums<V>,
    at: At,
    value: V,
}

impl<'s, V: Copy + Default + AddAssign> Adder<'s, V> {
    /// An adder for these nodes.
    #[must_use]
    pub fn new(sums: &'s Sums<V>) -> Self {
        Adder { sums, at: At::NONE, value: V::default() }
    }

    /// The nodes.
    #[must_use]
    pub fn sums(&self) -> &'s Sums<V> {
        self.sums
    }

    /// Adds to a node.
    pub fn add(&mut self, at: At, value: V) {
        if at != self.at {
            self.flush();
            self.at = at;
        }
        self.value += value;
    }

    fn flush(&mut self) {
        if self.at != At::NONE {
            self.sums.add(self.at, self.value);
        }
        self.value = V::default();
    }
}

impl<V: Copy + Default + AddAssign> Drop for Adder<'_, V> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The order of paths in which a directory comes directly before its contents: by bytes, with a slash before all
/// other bytes.
#[must_use]
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(at) => rank(&a[at]).cmp(&rank(&b[at])),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(sums: &Sums<u128>, path: &str, above: At) -> At {
        sums.push(Node { path: path.as_bytes().into(), depth: 0, above, nth: 0, sum: 0 })
    }

    #[test]
    fn sums_go_up_to_all_directories_above() {
        let sums = Sums::default();
        let a = push(&sums, "a", At::NONE);
        let b = push(&sums, "a/b", a);
        let c = push(&sums, "a/b/c", b);
        let d = push(&sums, "d", At::NONE);
        let mut adder = Adder::new(&sums);
        let most = u128::from(u64::MAX);
        for (at, value) in [(a, 1), (b, 10), (b, most), (c, 100), (At::NONE, 7), (d, 1000), (c, most)] {
            adder.add(at, value);
        }
        drop(adder);
        let found: Vec<u128> = sums.roll_up().iter().map(|node| node.sum).collect();
        assert_eq!(found, [111 + 2 * most, 110 + 2 * most, 100 + most, 1000]);
    }

    #[test]
    fn nodes_have_the_order_of_their_paths() {
        let sums = Sums::default();
        let [deep, top] = [push(&sums, "a/b", At::NONE), push(&sums, "a", At::NONE)];
        assert_eq!([sums.first(deep, top), sums.first(top, deep), sums.first(deep, deep)], [top, top, deep]);
        assert_eq!([sums.order(top, b"a"), sums.order(deep, b"a")], [Ordering::Equal, Ordering::Greater]);
    }

    #[test]
    fn reading_order_is_depth_first() {
        let sums = Sums::default();
        let node = |depth, above, nth| sums.push(Node { path: Box::default(), depth, above, nth, sum: 0 });
        let root = node(0, At::NONE, 0);
        let (late, early) = (node(1, root, 7), node(1, root, 3));
        let deep = node(2, late, 1);
        let file = node(2, early, 4);
        // The names in the order in which a walk finds them.
        let names = [
            (root, 2),
            (early, 0),
            (file, 0),
            (early, 9),
            (root, 5),
            (late, 0),
            (deep, 8),
            (late, 2),
            (root, 8),
            (At::NONE, 0),
        ];
        for (i, a) in names.into_iter().enumerate() {
            for (j, b) in names.into_iter().enumerate() {
                assert_eq!(sums.read_order(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn directories_come_right_before_what_is_in_them() {
        let mut paths = ["a.b", "a/b", "a", "a b", "a/b/c", "a/a", "b", "a\x01"];
        paths.sort_by(|a, b| path_order(a.as_bytes(), b.as_bytes()));
        assert_eq!(paths, ["a", "a/a", "a/b", "a/b/c", "a\x01", "a b", "a.b", "b"]);
    }
}
