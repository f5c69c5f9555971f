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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorter::Sorter;
    use crate::stats::Now;
    use dents_core::facts::Facts;
    use dents_core::needs::Kind;
    use dents_sink::coding::put_number;

    /// A tree from paths of directories, each with a file of this size. The root is `r`, or the first part of each path.
    fn tree(files: &[(String, u64)], limits: Limits) -> Tree {
        let (mut sorter, mut whole) = (Sorter::new(), Figures::default());
        // The order of records has no meaning.
        for step in 0..files.len() {
            let (path, size) = &files[(step * 7919) % files.len()];
            let (mut key, mut body, mut sum) = (Vec::new(), Vec::new(), Sum::default());
            push_key(path.as_bytes(), &mut key);
            sum.see(Kind::Reg, &Facts { size: *size, allocated: *size, ..Facts::default() }, Now::live());
            put_number(&mut body, path.find('/').unwrap_or(path.len()) as u64);
            sum.put(&mut body);
            sorter.push(&key, &body).unwrap();
            whole.add(&sum.figures);
        }
        Tree::new(sorter.finish().unwrap(), whole, limits).unwrap()
    }

    fn files() -> Vec<(String, u64)> {
        let path = |n: u64| format!("r/a{}/b{}/c{}", n % 3, n % 17, n % 101);
        (0..1009).map(|n| (path(n), n * n % 9973)).collect()
    }

    /// The paths of the nodes with their sums, by the depths of nodes that come in order.
    fn sums(tree: &Tree) -> Vec<(String, Figures)> {
        let mut above: Vec<String> = Vec::new();
        let path = |node: &Node| {
            assert!(node.depth <= above.len(), "the directory above {node:?} is there");
            above.truncate(node.depth);
            above.push(String::from_utf8(node.name.to_vec()).unwrap());
            (above.join("/"), node.all)
        };
        tree.nodes.iter().map(path).collect()
    }

    fn in_directory(files: &[(String, u64)], path: &str) -> Figures {
        let is_in =
            |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let mut figures = Figures::default();
        for (_, size) in files.iter().filter(|(file, _)| is_in(file)) {
            figures.add(&Figures { entries: 1, bytes: (*size).into(), allocated: (*size).into() });
        }
        figures
    }

    #[test]
    fn what_remains_has_exact_sums_and_the_largest_shares() {
        let files = files();
        let whole = in_directory(&files, "r");
        let all = tree(&files, Limits { directories: 100_000, names: 1 << 30 });
        let mut shares: Vec<f64> = sums(&all).iter().map(|(_, figures)| figures.share(&whole)).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        for limit in [1, 2, 10, 50, 300, 2000] {
            let some = tree(&files, Limits { directories: limit, names: 1 << 30 });
            assert!(
                some.nodes.len() <= limit && some.nodes.len() + 60 > limit.min(all.nodes.len()),
                "{limit}"
            );
            assert_eq!((some.directories, some.roots, some.whole), (all.nodes.len() as u64, 1, whole));
            for (path, figures) in sums(&some) {
                assert_eq!(figures, in_directory(&files, &path), "{limit} {path}");
                assert!(figures.share(&whole) >= shares[some.nodes.len() - 1], "{limit} {path}");
            }
        }
    }

    #[test]
    fn names_have_a_limit_too() {
        let some = tree(&files(), Limits { directories: 100_000, names: 100 });
        let length: usize = some.nodes.iter().map(|node| written_length(&node.name)).sum();
        assert!(length <= 100 && some.nodes.len() > 10, "{length} {}", some.nodes.len());
    }

    #[test]
    fn a_chain_of_equal_directories_is_cut_from_below() {
        let path = (0..500).map(|n| n.to_string()).collect::<Vec<_>>().join("/");
        let some = tree(&[(path, 1)], Limits { directories: 7, names: 1 << 20 });
        let names: Vec<&[u8]> = some.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, [b"0", b"1", b"2", b"3", b"4", b"5", b"6"]);
        assert_eq!((some.nodes[0].directories, some.directories), (499, 500));
    }

    #[test]
    fn keys_of_paths() {
        for (path, key) in
            [("/", ""), ("/a", "\0a"), ("a/b/", "a\0b"), ("a//", "a"), (".", "."), ("a//b", "a\0\0b")]
        {
            let mut found = Vec::new();
            push_key(path.as_bytes(), &mut found);
            assert_eq!(
                (String::from_utf8(found).unwrap().as_str(), key_length(path.as_bytes())),
                (key, key.len())
            );
        }
        assert!(is_above(b"", b"\0a") && is_above(b"a", b"a\0b") && is_above(b"a", b"a"));
        assert!(!is_above(b"", b"a") && !is_above(b"a", b"ab") && !is_above(b"a\0b", b"a"));
    }
}
