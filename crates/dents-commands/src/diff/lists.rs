//! The four lists of differences, each sorted by path. Entries are counted when they are found, and kept if they will be shown.

use super::changes::Changes;
use super::growth::{Growth, Side, Taken};
use super::join::damaged;
use super::roots::{RootedPath, path_of, push_key, shown};
use crate::sorter::Sorted;
use crate::sorter::Sorter;
use dents_core::needs::Kind;
use dents_sink::Row;
use dents_sink::coding::{Bytes, put_bytes, put_number};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;

/// A list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    New = 0,
    Deleted = 1,
    Changed = 2,
    Moved = 3,
}

impl List {
    pub(crate) const ALL: [List; 4] = [List::New, List::Deleted, List::Changed, List::Moved];

    pub(crate) fn word(self) -> &'static str {
        ["new", "deleted", "changed", "moved"][self as usize]
    }
}

/// A difference that was found: the rows, and their parts in the sums of their scans.
pub(crate) struct Found<'f> {
    pub(crate) list: List,
    pub(crate) at: RootedPath<'f>,
    pub(crate) old: Option<Side<'f>>,
    pub(crate) new: Option<Side<'f>>,
}

impl Found<'_> {
    fn taken(&self) -> [Taken; 2] {
        [self.old, self.new].map(|side| side.map(|(_, taken)| taken).unwrap_or_default())
    }
}

/// The lists while entries are added.
pub(crate) struct Lists {
    /// Whether entries are kept, and not only counted.
    are_kept: bool,
    /// By list and path.
    records: Sorter,
    /// The sums of each list; `entries` is the number of its entries.
    pub(crate) counts: [Growth; 4],
    /// Directories that moved, each as a hash of its old and its new path.
    directories: HashSet<u64>,
    hasher: RandomState,
}

/// The first byte of a body. The record of an entry is sorted before the records that complete it.
const ENTRY: u8 = 0;
const MORE: u8 = 1;

/// Flags: which values follow.
const OLD_SIZE: u8 = 1;
const NEW_SIZE: u8 = 2;
const OLD_PATH: u8 = 4;

impl Lists {
    pub(crate) fn new(are_kept: bool) -> Lists {
        Lists {
            are_kept,
            records: Sorter::new(),
            counts: [Growth::default(); 4],
            directories: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// Adds an entry; `from` is the old path of an entry that moved.
    pub(crate) fn add(&mut self, found: &Found<'_>, changes: Changes, from: Option<&[u8]>) -> io::Result<()> {
        self.counts[found.list as usize].entries += 1;
        let Some((key, mut body)) = self.begin(found, ENTRY) else { return Ok(()) };
        let [old, new] = [found.old, found.new].map(|side| side.map(|(row, _)| row));
        let size = |row: Option<&Row<'_>>| {
            let row = row.filter(|row| row.kind.has_length());
            row.and_then(|row| row.facts).map(|facts| facts.size)
        };
        let (sizes, kind) = ([size(old), size(new)], new.or(old).map_or(Kind::Unknown, |row| row.kind));
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        body.push(
            flag(OLD_SIZE, sizes[0].is_some())
                | flag(NEW_SIZE, sizes[1].is_some())
                | flag(OLD_PATH, from.is_some()),
        );
        body.push(kind as u8);
        put_number(&mut body, u64::from(changes.0));
        sizes.into_iter().flatten().for_each(|size| put_number(&mut body, size));
        if let Some(from) = from {
            put_bytes(&mut body, from);
            if kind == Kind::Dir {
                self.directories.insert(self.hasher.hash_one((from, found.at.path)));
            }
        }
        self.records.push(&key, &body)
    }

    /// Completes an entry with the part of its file in the sums of one of the scans, which was not known before.
    pub(crate) fn complete(&mut self, found: &Found<'_>) -> io::Result<()> {
        match self.begin(found, MORE) {
            Some((key, body)) if found.taken() != [Taken::default(); 2] => self.records.push(&key, &body),
            _ => Ok(()),
        }
    }

    /// Adds the bytes of the files to the sums. Returns the key and the beginning of the record, if entries are kept.
    fn begin(&mut self, found: &Found<'_>, first: u8) -> Option<(Vec<u8>, Vec<u8>)> {
        let [old, new] = found.taken();
        self.counts[found.list as usize] += old.until(new);
        if !self.are_kept {
            return None;
        }
        let mut key = vec![found.list as u8];
        push_key(found.at.path, &mut key);
        let mut body = vec![first];
        for number in [old.bytes, old.allocated, new.bytes, new.allocated] {
            put_number(&mut body, number);
        }
        Some((key, body))
    }

    /// The complete lists.
    pub(crate) fn finish(self) -> io::Result<Listed> {
        let records = self.records.finish()?;
        Ok(Listed { counts: self.counts, records, directories: self.directories, hasher: self.hasher })
    }
}

/// An entry of a list.
pub(crate) struct Difference {
    pub(crate) list: List,
    /// The new path; for a deleted entry, its old path.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) old_size: Option<u64>,
    pub(crate) new_size: Option<u64>,
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) changes: Changes,
    /// Its part in the sums.
    pub(crate) growth: Growth,
}

/// The lists, one after the other.
pub(crate) struct Listed {
    pub(crate) counts: [Growth; 4],
    records: Sorted,
    directories: HashSet<u64>,
    hasher: RandomState,
}

impl Listed {
    /// Whether the scans differ.
    pub(crate) fn is_different(&self) -> bool {
        self.counts.iter().any(|count| count.entries > 0)
    }

    /// The next entry of a list; `None` at its end.
    pub(crate) fn next(&mut self, list: List) -> io::Result<Option<Difference>> {
        let Some((key, body)) = self.records.head().filter(|(key, _)| key.first() == Some(&(list as u8)))
        else {
            return Ok(None);
        };
        let key = key.to_vec();
        let mut difference = decode(list, &key, body).ok_or_else(damaged)?;
        self.records.advance()?;
        while let Some((_, more)) = self.records.head().filter(|(next, _)| *next == key) {
            difference.growth += taken(&mut Bytes(&more[1..])).ok_or_else(damaged)?;
            self.records.advance()?;
        }
        Ok(Some(difference))
    }

    /// Whether an entry moved only because a directory above it did.
    pub(crate) fn moved_along(&self, moved: &Difference) -> bool {
        let Some(from) = &moved.old_path else { return false };
        let split = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/');
        let (Some(old), Some(new)) = (split(from), split(&moved.path)) else { return false };
        from[old..] == moved.path[new..]
            && self.directories.contains(&self.hasher.hash_one((&from[..old], &moved.path[..new])))
    }
}

fn decode(list: List, key: &[u8], body: &[u8]) -> Option<Difference> {
    let mut bytes = Bytes(body.strip_prefix(&[ENTRY])?);
    let growth = taken(&mut bytes)?;
    let flags = bytes.byte()?;
    let kind = Kind::from_d_type(bytes.byte()?);
    let changes = Changes(bytes.small()?);
    let old_size = if flags & OLD_SIZE != 0 { Some(bytes.number()?) } else { None };
    let new_size = if flags & NEW_SIZE != 0 { Some(bytes.number()?) } else { None };
    let old_path = if flags & OLD_PATH != 0 { Some(shown(bytes.bytes()?).to_vec()) } else { None };
    let path = shown(&path_of(&key[1..])).to_vec();
    Some(Difference { list, path, kind, old_size, new_size, old_path, changes, growth })
}

fn taken(bytes: &mut Bytes<'_>) -> Option<Growth> {
    let mut next = || Some(Taken { bytes: bytes.number()?, allocated: bytes.number()? });
    Some(next()?.until(next()?))
}
