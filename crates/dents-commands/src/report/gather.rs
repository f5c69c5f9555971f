//! Collects what the page shows, one value for each worker.
//!
//! The tables are those of `dents stats` and `dents top`. For the treemap each worker adds up the entries of a directory and passes on a
//! record for it; a file with several links is a record by inode number, and counts in the first of its directories, as for `dents du`.

use super::sum::{Figures, Sum};
use super::tree::{self, Tree};
use crate::consumer::Consumer;
use crate::entry::Found;
use crate::overlap::Overlap;
use crate::sorter::Sorter;
use crate::stats::{Now, Summer};
use crate::top::{By, Finder};
use dents_core::facts::Facts;
use dents_core::needs::Kind;
use dents_core::tree::Step;
use dents_sink::coding::{Bytes, put_bytes, put_number};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A worker passes its records on when they have this many bytes.
const FULL: usize = 64 << 10;

/// The records that all workers have collected so far.
pub(super) struct Records {
    now: Now,
    sorters: Mutex<Sorters>,
}

struct Sorters {
    /// A record for a directory, or a part of it, by its path.
    directories: Sorter,
    /// A record for each name of a file with several links, by inode number and directory.
    names: Sorter,
    /// The sum of the records of directories.
    whole: Figures,
    error: Option<io::Error>,
}

/// The length of device and inode number in the key of a name.
const INODE: usize = 16;

impl Records {
    pub(super) fn new(now: Now) -> Records {
        let sorters = Sorters {
            directories: Sorter::new(),
            names: Sorter::new(),
            whole: Figures::default(),
            error: None,
        };
        Records { now, sorters: Mutex::new(sorters) }
    }

    fn sorters(&self) -> MutexGuard<'_, Sorters> {
        self.sorters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a temporary file failed, so that the work is in vain.
    pub(super) fn have_failed(&self) -> bool {
        self.sorters().error.is_some()
    }

    /// The tree of directories, after all workers have finished.
    pub(super) fn into_tree(self, limits: tree::Limits) -> io::Result<Tree> {
        let sorters = self.sorters.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Sorters { mut directories, names, mut whole, error } = sorters;
        error.map_or(Ok(()), Err)?;
        let mut names = names.finish()?;
        let mut last: Option<[u8; INODE]> = None;
        while let Some((key, body)) = names.head() {
            let (inode, directory) = key.split_first_chunk().ok_or_else(tree::damaged)?;
            if last.as_ref() != Some(inode) {
                last = Some(*inode);
                directories.push(directory, body)?;
                let mut body = Bytes(body);
                let figures = body.number().and_then(|_| Sum::take(&mut body)).map(|sum| sum.figures);
                whole.add(&figures.ok_or_else(tree::damaged)?);
            }
            names.advance()?;
        }
        Tree::new(directories.finish()?, whole, limits)
    }
}

/// One worker.
pub(super) struct Worker<'r> {
    pub(super) summer: Summer<'r>,
    pub(super) largest: Finder,
    pub(super) oldest: Finder,
    taker: Taker<'r>,
    overlap: &'r Overlap,
}

impl<'r> Worker<'r> {
    pub(super) fn new(
        summer: Summer<'r>,
        most: usize,
        overlap: &'r Overlap,
        records: &'r Records,
    ) -> Worker<'r> {
        let [largest, oldest] = [By::Allocated, By::Oldest].map(|by| Finder::new(by, most));
        Worker { summer, largest, oldest, taker: Taker::new(records), overlap }
    }
}

impl Consumer for Worker<'_> {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, state: &()) -> Step {
        if self.summer.entry(found, state) == Step::Skip {
            return Step::Skip;
        }
        self.largest.entry(found, state);
        self.oldest.entry(found, state);
        if let Some(facts) = found.facts() {
            let names = self.overlap.names(facts.inode(), facts.nlink);
            self.taker.take(found, &facts, names);
        }
        Step::Enter
    }

    fn passed_over(&mut self, found: &Found<'_>) -> Step {
        self.summer.passed_over(found)
    }

    fn finish(&mut self) {
        self.taker.hand_over();
    }
}

/// Makes the records of one worker.
struct Taker<'r> {
    records: &'r Records,
    /// The directory of the last entry, as a key, the length of its operand, and the sum of the entries in it so far.
    key: Vec<u8>,
    operand: usize,
    sum: Sum,
    parent: Vec<u8>,
    /// Records that were not passed on yet: key and body of each.
    directories: Vec<u8>,
    names: Vec<u8>,
    /// The sum of the records of directories that were not passed on yet.
    whole: Figures,
    body: Vec<u8>,
}

impl<'r> Taker<'r> {
    fn new(records: &'r Records) -> Taker<'r> {
        Taker {
            records,
            key: Vec::new(),
            operand: 0,
            sum: Sum::default(),
            parent: Vec::new(),
            directories: Vec::new(),
            names: Vec::new(),
            whole: Figures::default(),
            body: Vec::new(),
        }
    }

    /// Takes an entry, one of whose `names` this is.
    fn take(&mut self, found: &Found<'_>, facts: &Facts<'_>, names: u32) {
        if found.kind != Kind::Dir && names > 1 {
            return self.take_name(found, facts);
        }
        if found.kind != Kind::Dir && found.depth > 0 {
            self.find(found);
            return self.sum.see(found.kind, facts, self.records.now);
        }
        // A directory counts in its own sum, as in that of du(1). An operand that is a file has a place of its own, too.
        let mut sum = Sum::default();
        sum.see(found.kind, facts, self.records.now);
        let (mut path, mut key) = (Vec::with_capacity(128), Vec::with_capacity(128));
        found.path(&mut path);
        tree::push_key(&path, &mut key);
        self.put(&key, operand_in(found, &path), &sum);
    }

    /// A name of a file with several links: a record by inode number, and by the directory where the file would count.
    fn take_name(&mut self, found: &Found<'_>, facts: &Facts<'_>) {
        let mut key = Vec::with_capacity(128);
        key.extend(facts.dev.0.to_be_bytes());
        key.extend(facts.dev.1.to_be_bytes());
        key.extend(facts.ino.to_be_bytes());
        let place = if found.depth == 0 { found.name } else { found.parent };
        tree::push_key(place, &mut key);
        let mut sum = Sum::default();
        sum.see(found.kind, facts, self.records.now);
        self.body.clear();
        put_number(&mut self.body, operand_in(found, place) as u64);
        sum.put(&mut self.body);
        put_bytes(&mut self.names, &key);
        put_bytes(&mut self.names, &self.body);
        self.pass_on();
    }

    /// Makes the directory of an entry the present one.
    fn find(&mut self, found: &Found<'_>) {
        if !self.sum.is_empty() && self.parent == found.parent {
            return;
        }
        self.end();
        self.parent.clear();
        self.parent.extend_from_slice(found.parent);
        self.key.clear();
        tree::push_key(found.parent, &mut self.key);
        self.operand = operand_in(found, found.parent);
    }

    /// Makes the record of the present directory.
    fn end(&mut self) {
        if !self.sum.is_empty() {
            let sum = std::mem::take(&mut self.sum);
            let key = std::mem::take(&mut self.key);
            self.put(&key, self.operand, &sum);
            self.key = key;
        }
    }

    fn put(&mut self, key: &[u8], operand: usize, sum: &Sum) {
        self.whole.add(&sum.figures);
        self.body.clear();
        put_number(&mut self.body, operand as u64);
        sum.put(&mut self.body);
        put_bytes(&mut self.directories, key);
        put_bytes(&mut self.directories, &self.body);
        self.pass_on();
    }

    fn pass_on(&mut self) {
        if self.directories.len() + self.names.len() >= FULL {
            self.give();
        }
    }

    fn hand_over(&mut self) {
        self.end();
        self.give();
    }

    fn give(&mut self) {
        let mut sorters = self.records.sorters();
        let Sorters { directories, names, whole, error } = &mut *sorters;
        whole.add(&std::mem::take(&mut self.whole));
        let given = give(&self.directories, directories).and_then(|()| give(&self.names, names));
        if let Err(new) = given {
            error.get_or_insert(new);
        }
        self.directories.clear();
        self.names.clear();
    }
}

/// The length of the key of the operand, with which a path begins.
fn operand_in(found: &Found<'_>, path: &[u8]) -> usize {
    tree::key_length(&path[..found.operand.min(path.len())])
}

fn give(records: &[u8], sorter: &mut Sorter) -> io::Result<()> {
    let mut bytes = Bytes(records);
    while !bytes.0.is_empty() {
        let (key, body) = (bytes.bytes(), bytes.bytes());
        let (Some(key), Some(body)) = (key, body) else { return Err(tree::damaged()) };
        sorter.push(key, body)?;
    }
    Ok(())
}
