//! Groups entries by the files that they lead to: counts files with several links once, and finds entries that moved.
//!
//! **Which name counts.** In each scan, the bytes of a file with several links count under the first of its names that is in both
//! scans; if no name is in both, under the first of its names. So a name that is added to a file, or removed, changes no sum.
//!
//! **Which entries moved.** The paths of a file that only the old scan has, in order, are paired with those that only the new scan
//! has. Paths without a partner are deleted or new. If a directory moved, each of its entries moved too.

use super::changes::{Changes, is_same_file};
use super::growth::{Side, Taken};
use super::join::damaged;
use super::lists::{Found, List};
use super::roots::{RootedPath, path_of, push_key};
use super::{Known, is_linked};
use crate::inode::path_order;
use crate::sorter::Sorted;
use crate::sorter::Sorter;
use dents_sink::Row;
use dents_sink::coding::{Bytes, put_number, put_whole, whole};
use std::io;

/// The state of a name in the two scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Class {
    /// In both scans, and leads to the same file.
    Both = 0,
    /// In the old scan alone.
    Deleted = 1,
    /// In the old scan. In the new scan the name leads to another file, and is reported as changed.
    Old = 2,
    /// In the new scan alone.
    Created = 3,
    /// In the new scan. In the old scan the name leads to another file.
    New = 4,
}

impl Class {
    const ALL: [Class; 5] = [Class::Both, Class::Deleted, Class::Old, Class::Created, Class::New];
}

/// Names, sorted by the inode numbers of their files.
pub(super) struct Files(Sorter);

/// The length of the part of a key before the class.
const INODE: usize = 16;

impl Files {
    pub(super) fn new() -> Files {
        Files(Sorter::new())
    }

    /// Adds a name with the rows of the old and the new scan.
    pub(super) fn push(
        &mut self,
        class: Class,
        at: RootedPath<'_>,
        changes: Changes,
        rows: [Option<&Row<'_>>; 2],
    ) -> io::Result<()> {
        let Some(facts) = rows.iter().flatten().find_map(|row| row.facts) else { return Ok(()) };
        let (mut key, mut body) = (Vec::with_capacity(128), Vec::with_capacity(64));
        key.extend(facts.dev.0.to_be_bytes());
        key.extend(facts.dev.1.to_be_bytes());
        key.extend(facts.ino.to_be_bytes());
        key.push(class as u8);
        push_key(at.path, &mut key);
        put_number(&mut body, u64::from(changes.0));
        put_number(&mut body, at.root as u64);
        rows.into_iter().flatten().for_each(|row| put_whole(&mut body, row));
        self.0.push(&key, &body)
    }

    /// Counts all files, and finds the entries that moved.
    pub(super) fn count(self, known: &mut Known<'_>) -> io::Result<()> {
        let mut names = self.0.finish()?;
        let mut records = Vec::new();
        while take_file(&mut names, &mut records)? {
            known.go_on()?;
            let names: Option<Vec<Name<'_>>> = records.iter().map(Name::of).collect();
            File::new(&names.ok_or_else(damaged)?).count(known)?;
        }
        Ok(())
    }
}

/// The records of the next file; false if there is none.
fn take_file(names: &mut Sorted, records: &mut Vec<(Vec<u8>, Vec<u8>)>) -> io::Result<bool> {
    records.clear();
    while let Some((key, body)) = names.head() {
        if records.first().is_some_and(|(first, _)| first[..INODE] != key[..INODE]) {
            break;
        }
        records.push((key.to_vec(), body.to_vec()));
        names.advance()?;
    }
    Ok(!records.is_empty())
}

/// A name of a file.
struct Name<'r> {
    class: Class,
    path: Vec<u8>,
    root: usize,
    changes: Changes,
    old: Option<Row<'r>>,
    new: Option<Row<'r>>,
}

impl<'r> Name<'r> {
    fn of((key, body): &'r (Vec<u8>, Vec<u8>)) -> Option<Name<'r>> {
        let class = Class::ALL.into_iter().find(|class| *class as u8 == key[INODE])?;
        let mut bytes = Bytes(body);
        let changes = Changes(bytes.small()?);
        let root = bytes.small()?;
        let old = if class <= Class::Old { Some(whole(&mut bytes)?) } else { None };
        let new =
            if class == Class::Both || class >= Class::Created { Some(whole(&mut bytes)?) } else { None };
        Some(Name { class, path: path_of(&key[INODE + 1..]), root, changes, old, new })
    }

    fn at(&self) -> RootedPath<'_> {
        RootedPath { path: &self.path, root: self.root }
    }
}

/// The names of one file.
struct File<'n, 'r> {
    names: &'n [Name<'r>],
    /// For each scan, the index of the name under which a file with several links counts.
    counted: [Option<usize>; 2],
}

impl<'n, 'r> File<'n, 'r> {
    fn new(names: &'n [Name<'r>]) -> Self {
        let counted = [counted(names, |name| name.old.as_ref()), counted(names, |name| name.new.as_ref())];
        File { names, counted }
    }

    /// The rows of a name.
    fn sides(&self, at: usize) -> [Option<Side<'n>>; 2] {
        let name = &self.names[at];
        let side = |scan: usize, row: &'n Option<Row<'r>>| {
            let row = row.as_ref()?;
            Some((row, Taken::by(row, !is_linked(row) || self.counted[scan] == Some(at))))
        };
        [side(0, &name.old), side(1, &name.new)]
    }

    fn of(&self, class: Class) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(move |at| self.names[*at].class == class)
    }

    /// Counts the names, and finds those that moved.
    fn count(&self, known: &mut Known<'_>) -> io::Result<()> {
        for at in 0..self.names.len() {
            if matches!(self.names[at].class, Class::Both | Class::Old | Class::New) {
                self.stayed(at, known)?;
            }
        }
        let (mut deleted, mut created) = (self.of(Class::Deleted), self.of(Class::Created));
        loop {
            match (deleted.next(), created.next()) {
                (None, None) => return Ok(()),
                (Some(from), Some(to)) if self.is_same(from, to) => self.moved(from, to, known)?,
                (from, to) => {
                    from.map_or(Ok(()), |at| self.alone(List::Deleted, at, known))?;
                    to.map_or(Ok(()), |at| self.alone(List::New, at, known))?;
                }
            }
        }
    }

    /// A name whose path is in both scans.
    fn stayed(&self, at: usize, known: &mut Known<'_>) -> io::Result<()> {
        let name = &self.names[at];
        let [old, new] = self.sides(at);
        let found = Found { list: List::Changed, at: name.at(), old, new };
        if let (Some(old), Some(new)) = (old, new) {
            known.sums.stayed(name.at(), old, new);
            return if name.changes.is_empty() {
                Ok(())
            } else {
                known.lists.add(&found, name.changes, None)
            };
        }
        known.sums.alone(name.at(), old, new);
        if name.changes.is_empty() { Ok(()) } else { known.lists.complete(&found) }
    }

    fn is_same(&self, from: usize, to: usize) -> bool {
        let rows = self.names[from].old.as_ref().zip(self.names[to].new.as_ref());
        rows.is_some_and(|(old, new)| is_same_file(old, new))
    }

    fn moved(&self, from: usize, to: usize, known: &mut Known<'_>) -> io::Result<()> {
        let ([old, _], [_, new]) = (self.sides(from), self.sides(to));
        let (from, at) = (self.names[from].at(), self.names[to].at());
        known.sums.alone(from, old, None);
        known.sums.alone(at, None, new);
        let changes = old.zip(new).map(|(old, new)| Changes::of(old.0, new.0)).unwrap_or_default();
        known.lists.add(&Found { list: List::Moved, at, old, new }, changes, Some(from.path))
    }

    /// A name that is in one scan only.
    fn alone(&self, list: List, at: usize, known: &mut Known<'_>) -> io::Result<()> {
        let ([old, new], at) = (self.sides(at), self.names[at].at());
        known.sums.alone(at, old, new);
        known.lists.add(&Found { list, at, old, new }, Changes::default(), None)
    }
}

/// The name under which a file with several links counts in one scan, chosen among its names there: a name that is in both scans, else
/// the first path.
fn counted<'n, 'r>(names: &'n [Name<'r>], row: fn(&'n Name<'r>) -> Option<&'n Row<'r>>) -> Option<usize> {
    let linked = (0..names.len()).filter(|at| row(&names[*at]).is_some_and(is_linked));
    linked.min_by(|a, b| {
        let [a, b] = [a, b].map(|at| &names[*at]);
        let rank = |name: &Name<'_>| name.class != Class::Both;
        rank(a).cmp(&rank(b)).then_with(|| path_order(&a.path, &b.path))
    })
}
