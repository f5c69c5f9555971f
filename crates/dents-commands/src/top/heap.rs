//! The best N of any number of files, in memory for N.

use crate::inode::{Inode, path_order};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

/// A file or directory with its score.
#[derive(Debug)]
pub(crate) struct Ranked<T = ()> {
    /// Greater is better.
    pub(crate) score: i128,
    pub(crate) path: Box<[u8]>,
    inode: Option<Inode>,
    /// What belongs to it. It has no part in the order.
    pub(crate) more: T,
}

/// The best first; equal ones in the order of their paths. So the worst is the greatest, which a heap returns first.
impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.cmp(&self.score).then_with(|| path_order(&self.path, &other.path))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

/// The best so far. The result does not depend on the order of offers.
pub(crate) struct Best<T = ()> {
    most: usize,
    heap: BinaryHeap<Ranked<T>>,
    /// The files in the heap. A file with several links is there once, under the first of its paths.
    files: HashSet<Inode>,
}

impl Best {
    /// Offers an entry. `inode` is set if the same file may be offered under another path.
    pub(crate) fn offer(&mut self, score: i128, path: &[u8], inode: Option<Inode>) {
        if self.wants(score) {
            self.take(Ranked { score, path: path.into(), inode, more: () });
        }
    }
}

impl<T> Best<T> {
    pub(crate) fn new(most: usize) -> Best<T> {
        Best { most, heap: BinaryHeap::new(), files: HashSet::new() }
    }

    /// Whether a file with this score may be among the best. If not, its path need not be made.
    pub(crate) fn wants(&self, score: i128) -> bool {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.most => score >= worst.score,
            _ => self.most > 0,
        }
    }

    /// Offers an entry with what belongs to it. It is offered under one path only.
    pub(crate) fn offer_with(&mut self, score: i128, path: &[u8], more: T) {
        if self.wants(score) {
            self.take(Ranked { score, path: path.into(), inode: None, more });
        }
    }

    fn take(&mut self, new: Ranked<T>) {
        if new.inode.is_some_and(|inode| self.files.contains(&inode)) {
            let is_same = |one: &Ranked<T>| one.inode == new.inode;
            if self.heap.iter().any(|one| is_same(one) && *one <= new) {
                return;
            }
            self.heap.retain(|one| !is_same(one));
        }
        self.files.extend(new.inode);
        self.heap.push(new);
        if self.heap.len() > self.most
            && let Some(worst) = self.heap.pop()
            && let Some(inode) = worst.inode
        {
            self.files.remove(&inode);
        }
    }

    /// Adds the best of another worker.
    pub(crate) fn merge(&mut self, other: Best<T>) {
        if self.most > 0 {
            other.heap.into_iter().for_each(|one| self.take(one));
        }
    }

    /// The best first.
    pub(crate) fn into_sorted(self) -> Vec<Ranked<T>> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(best: Best) -> Vec<String> {
        let text = |one: Ranked| String::from_utf8(one.path.into()).unwrap();
        best.into_sorted().into_iter().map(text).collect()
    }

    /// Distributes the offers to this many workers, in an order that a linear congruence shuffles.
    fn found(all: &[(i128, String, Option<Inode>)], most: usize, workers: usize, seed: usize) -> Vec<String> {
        let mut crew: Vec<Best> = (0..workers).map(|_| Best::new(most)).collect();
        for step in 0..all.len() {
            let (score, path, inode) = &all[(step * 7919 + seed) % all.len()];
            crew[(step / 3) % workers].offer(*score, path.as_bytes(), *inode);
        }
        let mut best = Best::new(most);
        crew.into_iter().for_each(|one| best.merge(one));
        paths(best)
    }

    #[test]
    fn the_best_are_found_in_any_order_by_any_number_of_workers() {
        let all: Vec<_> = (0..500).map(|n| (i128::from(n % 50), format!("p{n:03}"), None)).collect();
        let mut expected: Vec<_> = all.clone();
        expected.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for most in [0, 1, 7, 499, 600] {
            let expected: Vec<String> = expected.iter().take(most).map(|one| one.1.clone()).collect();
            for (workers, seed) in [(1, 0), (2, 17), (5, 333)] {
                assert_eq!(found(&all, most, workers, seed), expected, "{most} by {workers}");
            }
        }
    }

    #[test]
    fn a_file_is_there_once_with_its_first_path() {
        // Every file has three links, all with its size.
        let inode = |ino| Some(Inode { dev: (8, 1), ino });
        let all: Vec<_> =
            (0..300u64).map(|n| (i128::from(n % 100), format!("p{n:03}"), inode(n % 100))).collect();
        let expected: Vec<String> = (0..10).map(|n| format!("p{:03}", 99 - n)).collect();
        for (workers, seed) in [(1, 0), (3, 5), (4, 111)] {
            assert_eq!(found(&all, 10, workers, seed), expected);
        }
    }
}
