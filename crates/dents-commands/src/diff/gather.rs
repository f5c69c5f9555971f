//! Collects the rows of one side, a scan file or a tree, and sorts them by their paths.

use super::changes::in_microseconds;
use super::roots::{push_key, split, trimmed};
use crate::sorter::Sorted;
use crate::sorter::Sorter;
use crate::stats::owners::Names;
use dents_sink::coding::{Bytes, put_bytes, put_number, put_whole};
use dents_sink::{Asked, Facts, Part, Row};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A worker passes its records on when they have this many bytes.
const FULL: usize = 64 << 10;

/// One side, ready to be compared.
pub(super) struct Side {
    /// A record for each entry. Key: a hash of the parent's path, so that entries of a directory stay together, and the path below the
    /// root. Body: the number of the root, and the row without its path.
    pub(super) rows: Sorted,
    pub(super) roots: Vec<Vec<u8>>,
    /// The directories whose contents are not known: root, and hash of the path.
    pub(super) unread: Vec<(u32, u64)>,
}

/// The rows that workers have collected so far.
pub(super) struct Gather<'h> {
    hasher: &'h RandomState,
    gathered: Mutex<Gathered>,
}

struct Gathered {
    rows: Sorter,
    roots: HashMap<Vec<u8>, u32>,
    unread: Vec<(u32, u64)>,
    users: Names,
}

impl<'h> Gather<'h> {
    pub(super) fn new(hasher: &'h RandomState) -> Self {
        let gathered = Gathered {
            rows: Sorter::new(),
            roots: HashMap::new(),
            unread: Vec::new(),
            users: Names::default(),
        };
        Gather { hasher, gathered: Mutex::new(gathered) }
    }

    /// The value that receives the rows of one worker.
    pub(super) fn taker(&self) -> Taker<'_> {
        Taker { gather: self, records: Vec::new(), at: At::default(), user: None, key: Vec::new() }
    }

    /// The side, and the names of its users, after all takers were flushed.
    pub(super) fn finish(self) -> io::Result<(Side, Names)> {
        let gathered = self.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Gathered { rows, roots, unread, users } = gathered;
        let mut numbered: Vec<(Vec<u8>, u32)> = roots.into_iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| *number);
        let roots = numbered.into_iter().map(|(root, _)| root).collect();
        Ok((Side { rows: rows.finish()?, roots, unread }, users))
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the rows of one worker.
pub(super) struct Taker<'g> {
    gather: &'g Gather<'g>,
    /// Records that were not passed on yet, each after the lengths of its key and body.
    records: Vec<u8>,
    at: At,
    /// The user of the last row.
    user: Option<u32>,
    key: Vec<u8>,
}

/// The directory of the last row.
#[derive(Default)]
struct At {
    parent: Vec<u8>,
    depth: u32,
    root: u32,
    /// The path below the root.
    below: Vec<u8>,
    hash: u64,
}

impl Taker<'_> {
    fn take(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.find(row);
        self.key.clear();
        if row.depth > 0 {
            self.key.extend_from_slice(&self.at.hash.to_be_bytes());
            push_key(&self.at.below, &mut self.key);
            if !self.at.below.is_empty() {
                self.key.push(0);
            }
            push_key(row.name, &mut self.key);
        }
        if row.fault.is_some() {
            self.note_fault(row);
        }
        // A directory that could not be read has two rows; one of them is its entry.
        if row.fault.is_some_and(|fault| fault.is_of_directory()) {
            return Ok(());
        }
        if let Some(facts) = row.facts.filter(|facts| self.user != Some(facts.uid)) {
            self.user = Some(facts.uid);
            self.gather.gathered().users.learn(facts.uid, facts.user, facts.gid, None);
        }
        let mut body = Vec::with_capacity(64);
        put_number(&mut body, u64::from(self.at.root));
        put_whole(&mut body, &compared(row));
        put_bytes(&mut self.records, &self.key);
        put_bytes(&mut self.records, &body);
        if self.records.len() >= FULL { self.hand_over() } else { Ok(()) }
    }

    /// Finds the root and the directory of a row: usually those of the last row.
    fn find(&mut self, row: &Row<'_>) {
        let at = &mut self.at;
        if row.depth > 0 && at.depth == row.depth && at.parent == row.parent {
            return;
        }
        let (root, below) = match row.depth {
            0 => (trimmed(row.name), &b""[..]),
            depth => split(row.parent, depth),
        };
        at.depth = row.depth;
        at.parent.clear();
        at.parent.extend_from_slice(row.parent);
        at.below.clear();
        at.below.extend_from_slice(below);
        at.hash = self.gather.hasher.hash_one(below);
        let roots = &mut self.gather.gathered().roots;
        at.root = roots.get(root).copied().unwrap_or(roots.len() as u32);
        if at.root as usize == roots.len() {
            roots.insert(root.to_vec(), at.root);
        }
    }

    fn note_fault(&self, row: &Row<'_>) {
        if row.fault.is_some_and(|fault| fault.is_of_directory() || fault.asked == Asked::Stat) {
            let below = self.key.get(8..).unwrap_or_default();
            self.gather.gathered().unread.push((self.at.root, self.gather.hasher.hash_one(below)));
        }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let mut gathered = self.gather.gathered();
        let mut records = Bytes(&self.records);
        while let (Some(key), Some(body)) = (records.bytes(), records.bytes()) {
            gathered.rows.push(key, body)?;
        }
        drop(gathered);
        self.records.clear();
        Ok(())
    }
}

impl Part for Taker<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.take(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_over()
    }
}

/// The row without its path, its names of owners and the times that are not compared. A time that equals another takes no bytes, so it sets the
/// times that are not compared to the modification time.
fn compared<'a>(row: &Row<'a>) -> Row<'a> {
    let facts = row.facts.map(|facts| {
        let mtime = in_microseconds(facts.mtime);
        let btime = facts.btime.map(in_microseconds);
        Facts { user: None, group: None, atime: mtime, ctime: mtime, mtime, btime, lazy: false, ..facts }
    });
    Row { parent: b"", name: b"", depth: 0, facts, fault: None, ..*row }
}
