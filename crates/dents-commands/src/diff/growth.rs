//! Sums of differences: by directory, by user, and in all.

use super::roots::RootedPath;
use dents_core::needs::Kind;
use dents_sink::Row;
use dents_sink::read::Columns;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;

/// A difference: the figures of the new scan minus those of the old scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Growth {
    pub(crate) bytes: i128,
    pub(crate) allocated: i128,
    pub(crate) entries: i64,
}

impl AddAssign for Growth {
    fn add_assign(&mut self, other: Growth) {
        self.bytes += other.bytes;
        self.allocated += other.allocated;
        self.entries += other.entries;
    }
}

/// The part of an entry in the sums of its scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Of regular files and links; 0 for others, as `du --apparent-size` counts.
    pub(crate) bytes: u64,
    pub(crate) allocated: u64,
}

impl Taken {
    /// The part of this entry; 0 if its file is counted under another name.
    pub(crate) fn by(row: &Row<'_>, is_counted: bool) -> Taken {
        match row.facts.filter(|_| is_counted) {
            None => Taken::default(),
            Some(facts) => Taken {
                bytes: if row.kind.has_length() { facts.size } else { 0 },
                allocated: facts.allocated,
            },
        }
    }

    pub(crate) fn until(self, new: Taken) -> Growth {
        let less = |new: u64, old: u64| i128::from(new) - i128::from(old);
        Growth {
            bytes: less(new.bytes, self.bytes),
            allocated: less(new.allocated, self.allocated),
            entries: 0,
        }
    }
}

/// An entry of one of the scans, and its part in the sums.
pub(crate) type Side<'s> = (&'s Row<'s>, Taken);

/// A directory, with all that is below it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub(crate) depth: u32,
    pub(crate) growth: Growth,
}

/// All sums.
#[derive(Default)]
pub(crate) struct Sums {
    /// Directories down to this depth have a sum.
    depth: u32,
    pub(crate) directories: HashMap<Box<[u8]>, Node>,
    pub(crate) users: HashMap<u32, Growth>,
    pub(crate) total: Growth,
}

impl Sums {
    pub(crate) fn new(depth: u32) -> Sums {
        Sums { depth, ..Sums::default() }
    }

    /// Adds an entry that is in both scans at the same place.
    pub(super) fn stayed(&mut self, at: RootedPath<'_>, old: Side<'_>, new: Side<'_>) {
        let owner = |row: &Row<'_>| (row.kind == Kind::Dir, row.facts.map(|facts| facts.uid));
        if old.1 != new.1 || owner(old.0) != owner(new.0) {
            self.alone(at, Some(old), Some(new));
        }
    }

    /// Subtracts an entry of the old scan, and adds one of the new scan.
    pub(super) fn alone(&mut self, at: RootedPath<'_>, old: Option<Side<'_>>, new: Option<Side<'_>>) {
        // What went from a user that is not known to one that is has not grown.
        let knows_user = |(row, _): &Side<'_>| row.facts.is_none_or(|facts| facts.knows(Columns::UID));
        let of_user = old.iter().chain(&new).all(knows_user);
        if let Some((row, taken)) = old {
            self.add(at, row, of_user, Growth { entries: -1, ..taken.until(Taken::default()) });
        }
        if let Some((row, taken)) = new {
            self.add(at, row, of_user, Growth { entries: 1, ..Taken::default().until(taken) });
        }
    }

    fn add(&mut self, at: RootedPath<'_>, row: &Row<'_>, of_user: bool, growth: Growth) {
        self.total += growth;
        if let Some(facts) = row.facts.filter(|_| of_user) {
            *self.users.entry(facts.uid).or_default() += growth;
        }
        // A directory counts in its own sum, as in that of du(1).
        let most = self.depth as usize + 1;
        for (depth, path) in at.directories(row.kind == Kind::Dir).take(most) {
            match self.directories.get_mut(path) {
                Some(node) => node.growth += growth,
                None => {
                    self.directories.insert(path.into(), Node { depth, growth });
                }
            }
        }
    }
}
