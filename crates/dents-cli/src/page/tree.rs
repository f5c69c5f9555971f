//! The directories of the treemap: exact sums, in bounded memory.
//!
//! Records come in the order of their paths, so a stack has the directories above the present one, and a directory that ends has its whole
//! sum. The sum of all records is known before: a directory whose largest share is below a threshold is left out. If more directories remain
//! than fit into the page, the threshold rises, and those below it are left out too. A directory has at least the share of each
//! directory in it, so with a directory all above it remain. What was left out is the difference between the sum of a directory and
//! those of its entries and of the directories in it that remain.

use super::json::written_length;
use super::sum::{Figures, Sum};
use crate::sorter::Sorted;
use dents_sink::coding::Bytes;
use std::cmp::{Ordering, Reverse};
use std::io;

/// How much of the page the treemap may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) directories: usize,
    /// Bytes of their names, as they are written.
    pub(super) names: usize,
}

/// A directory that remains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// 0 for a root.
    pub(super) depth: usize,
    pub(super) name: Box<[u8]>,
    pub(super) all: Figures,
    /// What is directly in it, without directories.
    pub(super) own: Figures,
    /// The number of directories in it, at any depth.
    pub(super) directories: u64,
    pub(super) newest: Option<i64>,
    pub(super) age: Option<usize>,
    pub(super) user: Option<u32>,
}

/// The directories, each before those in it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The sum of all, and the number of directories.
    pub(super) whole: Figures,
    pub(super) directories: u64,
    pub(super) roots: u64,
}

/// A directory on the stack.
struct Frame {
    /// The length of its key.
    end: usize,
    name: Box<[u8]>,
    sum: Sum,
    own: Figures,
    directories: u64,
}

/// Directories that have ended, each after those in it.
struct Kept {
    limits: Limits,
    whole: Figures,
    nodes: Vec<Node>,
    /// Bytes of their names, as they are written.
    names: usize,
    /// Only directories with a greater rank remain.
    threshold: Option<Rank>,
}

/// The share of a directory; of equal ones that with the least depth is the greatest, so a directory is never greater than one above it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Rank(f64, Reverse<usize>);

impl Tree {
    /// Adds up the records, whose sum is `whole`.
    pub(super) fn new(mut records: Sorted, whole: Figures, limits: Limits) -> io::Result<Tree> {
        let kept = Kept { limits, whole, nodes: Vec::new(), names: 0, threshold: None };
        let mut walk = Walk { stack: Vec::new(), key: Vec::new(), roots: 0, directories: 0, kept };
        while let Some((key, body)) = records.head() {
            let mut body = Bytes(body);
            let operand = body.small().filter(|operand| *operand <= key.len()).ok_or_else(damaged)?;
            let sum = Sum::take(&mut body).ok_or_else(damaged)?;
            walk.see(key, operand, &sum);
            records.advance()?;
        }
        Ok(walk.finish())
    }
}

/// The pass through the records.
struct Walk {
    stack: Vec<Frame>,
    /// The last key, which begins with those of the stack.
    key: Vec<u8>,
    roots: u64,
    directories: u64,
    kept: Kept,
}

impl Walk {
    fn see(&mut self, key: &[u8], operand: usize, sum: &Sum) {
        while self.stack.last().is_some_and(|top| !is_above(&self.key[..top.end], key)) {
            self.leave();
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        let mut end = match self.stack.last() {
            Some(top) => top.end,
            None => {
                let name = if operand == 0 { (*b"/").into() } else { path_of(&key[..operand]) };
                self.stack.push(Frame::new(operand, name));
                operand
            }
        };
        while end < key.len() {
            let begin = end + 1;
            end = key[begin..].iter().position(|byte| *byte == 0).map_or(key.len(), |at| begin + at);
            self.stack.push(Frame::new(end, key[begin..end].into()));
        }
        if let Some(top) = self.stack.last_mut() {
            top.sum.add(sum);
            top.own.add(&sum.figures);
        }
    }

    /// The directory on the top has ended.
    fn leave(&mut self) {
        let Some(Frame { name, sum, own, directories, .. }) = self.stack.pop() else { return };
        match self.stack.last_mut() {
            Some(above) => {
                above.sum.add(&sum);
                above.directories += directories + 1;
            }
            None => {
                self.roots += 1;
                self.directories += directories + 1;
            }
        }
        let (age, user) = (sum.age(), sum.user());
        let (depth, all, newest) = (self.stack.len(), sum.figures, sum.newest);
        self.kept.add(Node { depth, name, all, own, directories, newest, age, user });
    }

    fn finish(mut self) -> Tree {
        while !self.stack.is_empty() {
            self.leave();
        }
        self.kept.shrink();
        let Kept { mut nodes, whole, .. } = self.kept;
        nodes.reverse();
        Tree { nodes, whole, directories: self.directories, roots: self.roots }
    }
}

impl Frame {
    fn new(end: usize, name: Box<[u8]>) -> Frame {
        Frame { end, name, sum: Sum::default(), own: Figures::default(), directories: 0 }
    }
}

impl Kept {
    fn rank(&self, node: &Node) -> Rank {
        Rank(node.all.share(&self.whole), Reverse(node.depth))
    }

    fn add(&mut self, node: Node) {
        if self.threshold.is_some_and(|threshold| self.rank(&node) <= threshold) {
            return;
        }
        self.names += written_length(&node.name);
        self.nodes.push(node);
        if self.nodes.len() > 2 * self.limits.directories || self.names > 2 * self.limits.names {
            self.shrink();
        }
    }

    /// Raises the threshold so that the rest is within the limits.
    fn shrink(&mut self) {
        if self.nodes.len() <= self.limits.directories && self.names <= self.limits.names {
            return;
        }
        let ranked = |node: &Node| (self.rank(node), written_length(&node.name));
        let mut ranks: Vec<(Rank, usize)> = self.nodes.iter().map(ranked).collect();
        ranks.sort_unstable_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
        let mut names = 0;
        let first_left_out = ranks.iter().enumerate().find(|(nth, (_, length))| {
            names += length;
            *nth >= self.limits.directories || names > self.limits.names
        });
        let Some((_, (threshold, _))) = first_left_out else { return };
        let (nodes, threshold) = (std::mem::take(&mut self.nodes), *threshold);
        self.nodes = nodes.into_iter().filter(|node| self.rank(node) > threshold).collect();
        self.names = self.nodes.iter().map(|node| written_length(&node.name)).sum();
        self.threshold = Some(threshold);
    }
}

/// Whether the directory of a key is that of another key, or above it.
fn is_above(key: &[u8], other: &[u8]) -> bool {
    other.strip_prefix(key).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == 0))
}

/// Appends a path as a key: without slashes at its end, with NUL for a slash, so that keys compare as bytes and a directory comes directly
/// before its contents. A name has no NUL.
pub(super) fn push_key(path: &[u8], key: &mut Vec<u8>) {
    key.extend(path[..key_length(path)].iter().map(|byte| if *byte == b'/' { 0 } else { *byte }));
}

/// The length of the key of a path.
pub(super) fn key_length(path: &[u8]) -> usize {
    path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1)
}

fn path_of(key: &[u8]) -> Box<[u8]> {
    key.iter().map(|byte| if *byte == 0 { b'/' } else { *byte }).collect()
}

/// Records of our own that cannot be read: the temporary file was changed.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file of the report is damaged")
}
