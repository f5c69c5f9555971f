//! The rows of both sides, joined by path.
//!
//! Entries that are in both scans are compared here. Two kinds of entries go to [`Files`], which looks at all names of their files:
//! entries that are in one scan only, because they may have moved, and files with several links, because these are counted under one
//! of their names.

use super::changes::Changes;
use super::files::{Class, Files};
use super::gather::Side;
use super::growth::Taken;
use super::lists::{Found, List};
use super::roots::{RootedPath, Roots, path_of};
use super::{Known, is_linked};
use crate::sorter::Sorted;
use dents_sink::Row;
use dents_sink::coding::{Bytes, whole};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;

/// The join of two sides.
pub(super) struct Join<'j, 's> {
    roots: Roots,
    /// Directories that one of the scans could not read: root, and hash of the path.
    unread: HashSet<(u32, u64)>,
    hasher: &'j RandomState,
    files: Files,
    known: &'j mut Known<'s>,
    path: Vec<u8>,
}

/// The entries of one side that have the same path below their roots: one for each root.
#[derive(Default)]
struct Group {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Group {
    /// Takes the records with this key.
    fn take(&mut self, rows: &mut Sorted, key: &[u8]) -> io::Result<()> {
        self.bytes.clear();
        self.ends.clear();
        while let Some((_, body)) = rows.head().filter(|(head, _)| *head == key) {
            self.bytes.extend_from_slice(body);
            self.ends.push(self.bytes.len());
            rows.advance()?;
        }
        Ok(())
    }

    /// For each entry the pair of roots and the row. If several entries have the same root, only the first.
    fn rows(&self, roots: &Roots, scan: usize) -> io::Result<Vec<(u32, Row<'_>)>> {
        let mut rows: Vec<(u32, Row<'_>)> = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for end in &self.ends {
            let mut bytes = Bytes(&self.bytes[start..*end]);
            let root = bytes.small().ok_or_else(damaged)?;
            let row = whole(&mut bytes).ok_or_else(damaged)?;
            let root = roots.of(scan, root);
            if rows.iter().all(|(known, _)| *known != root) {
                rows.push((root, row));
            }
            start = *end;
        }
        Ok(rows)
    }
}

/// A record that this program wrote cannot be decoded.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed by another program; try again")
}

impl<'j, 's> Join<'j, 's> {
    /// Compares all entries. Returns the files that are left to be compared by inode number.
    pub(super) fn run(
        [mut old, mut new]: [Side; 2],
        hasher: &'j RandomState,
        known: &'j mut Known<'s>,
    ) -> io::Result<Files> {
        let roots = Roots::pair(&old.roots, &new.roots);
        let sides = [(0, &old.unread), (1, &new.unread)];
        let unread = sides.into_iter().flat_map(|(scan, unread)| {
            let roots = &roots;
            unread.iter().map(move |(root, hash)| (roots.of(scan, *root), *hash))
        });
        let unread = unread.collect();
        let mut join = Join { roots, unread, hasher, files: Files::new(), known, path: Vec::new() };
        let mut key = Vec::new();
        let mut groups = [Group::default(), Group::default()];
        loop {
            let heads = [&old.rows, &new.rows].map(|rows| rows.head().map(|(key, _)| key));
            let Some(first) = heads.into_iter().flatten().min() else { break };
            join.known.go_on()?;
            key.clear();
            key.extend_from_slice(first);
            groups[0].take(&mut old.rows, &key)?;
            groups[1].take(&mut new.rows, &key)?;
            join.groups(&key, &groups)?;
        }
        Ok(join.files)
    }

    fn groups(&mut self, key: &[u8], groups: &[Group; 2]) -> io::Result<()> {
        let [old, new] = [groups[0].rows(&self.roots, 0)?, groups[1].rows(&self.roots, 1)?];
        let find = |rows: &[(u32, Row<'_>)], root| rows.iter().position(|(one, _)| *one == root);
        for (root, row) in &old {
            let other = find(&new, *root).map(|at| &new[at].1);
            self.entry(key, *root, Some(row), other)?;
        }
        for (root, row) in new.iter().filter(|(root, _)| find(&old, *root).is_none()) {
            self.entry(key, *root, None, Some(row))?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        key: &[u8],
        root: u32,
        old: Option<&Row<'_>>,
        new: Option<&Row<'_>>,
    ) -> io::Result<()> {
        let below = key.get(8..).unwrap_or_default();
        if !self.unread.is_empty() && self.is_below_unread(root, below) {
            self.known.unknown += 1;
            return Ok(());
        }
        if let (Some(old), Some(new)) = (old, new)
            && is_the_same(old, new)
        {
            return Ok(());
        }
        let mut path = std::mem::take(&mut self.path);
        let at = RootedPath { root: self.roots.path(root, &path_of(below), &mut path), path: &path };
        let done = match (old, new) {
            (Some(old), Some(new)) => self.both(at, old, new),
            (Some(old), None) => self.alone(at, List::Deleted, old),
            (None, Some(new)) => self.alone(at, List::New, new),
            (None, None) => Ok(()),
        };
        self.path = path;
        done
    }

    /// Whether one of the directories above was not read.
    fn is_below_unread(&self, root: u32, below: &[u8]) -> bool {
        let slashes = below.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
        let root_itself = (!below.is_empty()).then_some(0);
        let mut above = root_itself.into_iter().chain(slashes);
        above.any(|end| self.unread.contains(&(root, self.hasher.hash_one(&below[..end]))))
    }

    /// An entry of both scans.
    fn both(&mut self, at: RootedPath<'_>, old: &Row<'_>, new: &Row<'_>) -> io::Result<()> {
        let (Some(was), Some(is)) = (&old.facts, &new.facts) else {
            self.known.unknown += 1;
            return Ok(());
        };
        let changes = Changes::of(old, new);
        let linked = [is_linked(old), is_linked(new)];
        if linked != [false, false] && (was.dev, was.ino) == (is.dev, is.ino) && old.kind == new.kind {
            return self.files.push(Class::Both, at, changes, [Some(old), Some(new)]);
        }
        // The name leads to another file now. A file with several links is counted together with its other names.
        let [lost, gained] =
            [(old, linked[0]), (new, linked[1])].map(|(row, linked)| Taken::by(row, !linked));
        if !changes.is_empty() {
            let found = Found { list: List::Changed, at, old: Some((old, lost)), new: Some((new, gained)) };
            self.known.lists.add(&found, changes, None)?;
        }
        if linked == [false, false] {
            self.known.sums.stayed(at, (old, lost), (new, gained));
            return Ok(());
        }
        for (row, is_linked, class) in [(old, linked[0], Class::Old), (new, linked[1], Class::New)] {
            let rows = [Some(row).filter(|_| class == Class::Old), Some(row).filter(|_| class == Class::New)];
            if is_linked {
                self.files.push(class, at, changes, rows)?;
            } else {
                let [old, new] = rows.map(|row| row.map(|row| (row, Taken::by(row, true))));
                self.known.sums.alone(at, old, new);
            }
        }
        Ok(())
    }

    /// An entry of one of the scans.
    fn alone(&mut self, at: RootedPath<'_>, list: List, row: &Row<'_>) -> io::Result<()> {
        let is_old = list == List::Deleted;
        let rows = if is_old { [Some(row), None] } else { [None, Some(row)] };
        if row.facts.is_some() {
            let class = if is_old { Class::Deleted } else { Class::Created };
            return self.files.push(class, at, Changes::default(), rows);
        }
        // Without metadata the same file cannot be found under another path.
        let [old, new] = rows.map(|row| row.map(|row| (row, Taken::default())));
        self.known.sums.alone(at, old, new);
        self.known.lists.add(&Found { list, at, old, new }, Changes::default(), None)
    }
}

/// The usual case: no fact that is compared or counted differs, and the file has no other name.
fn is_the_same(old: &Row<'_>, new: &Row<'_>) -> bool {
    old == new && old.facts.is_some() && !is_linked(old)
}
