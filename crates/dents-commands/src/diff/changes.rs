//! Which differences count as a change, and which entries are the same file under another name.
//!
//! | difference | is a change |
//! |---|---|
//! | type | yes; the other facts are not compared then |
//! | permissions, owner, group | yes |
//! | size | of regular files and links |
//! | modification time | except of directories: it changes with each entry that is made or removed, and that entry is reported |
//! | target | of links |
//! | allocated space | except of directories, and only if the device is the same: other file systems allocate in other ways |
//! | inode number, birth time | except of directories, and only if the device is the same: the name leads to another file |
//! | number of links, time of the last access, of the last change of the inode | no |
//!
//! Times are compared in microseconds, as Parquet files have them. A fact that one of the scans does not have is not compared.

use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_sink::read::Columns;
use dents_sink::{Facts, Row};
use std::ops::{BitOr, BitOrAssign};

/// A set of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes(pub(super) u16);

impl Changes {
    const TYPE: Changes = Changes(1 << 0);
    const SIZE: Changes = Changes(1 << 1);
    const ALLOCATED: Changes = Changes(1 << 2);
    const MTIME: Changes = Changes(1 << 3);
    const MODE: Changes = Changes(1 << 4);
    const UID: Changes = Changes(1 << 5);
    const GID: Changes = Changes(1 << 6);
    const TARGET: Changes = Changes(1 << 7);
    const INO: Changes = Changes(1 << 8);

    /// The words of the output: the names of the fields of a scan.
    const WORDS: [(Changes, &'static str); 9] = [
        (Changes::TYPE, "type"),
        (Changes::SIZE, "size"),
        (Changes::ALLOCATED, "allocated"),
        (Changes::MTIME, "mtime"),
        (Changes::MODE, "mode"),
        (Changes::UID, "uid"),
        (Changes::GID, "gid"),
        (Changes::TARGET, "target"),
        (Changes::INO, "ino"),
    ];

    /// The differences of two entries, in the old and in the new scan.
    pub(super) fn of(old: &Row<'_>, new: &Row<'_>) -> Changes {
        if old.kind != new.kind {
            return Changes::TYPE;
        }
        let (Some(a), Some(b)) = (&old.facts, &new.facts) else { return Changes::default() };
        let (is_directory, is_here) = (old.kind == Kind::Dir, a.dev == b.dev);
        let mut all = Changes::default();
        let mut note = |change: Changes, differs: bool| {
            if differs {
                all |= change;
            }
        };
        let known = |column| a.knows(column) && b.knows(column);
        note(Changes::MODE, known(Columns::MODE) && (a.mode ^ b.mode) & 0o7777 != 0);
        note(Changes::UID, known(Columns::UID) && a.uid != b.uid);
        note(Changes::GID, known(Columns::GID) && a.gid != b.gid);
        note(Changes::SIZE, old.kind.has_length() && a.size != b.size);
        note(Changes::MTIME, known(Columns::MTIME) && !is_directory && a.mtime != b.mtime);
        note(Changes::TARGET, old.target.zip(new.target).is_some_and(|(a, b)| a != b));
        note(Changes::ALLOCATED, !is_directory && is_here && a.allocated != b.allocated);
        note(Changes::INO, !is_directory && is_here && (differ_in_ino(a, b) || born_apart(a, b)));
        all
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        Changes::WORDS.into_iter().filter(move |(one, _)| self.0 & one.0 != 0).map(|(_, word)| word)
    }
}

impl BitOr for Changes {
    type Output = Changes;

    fn bitor(self, other: Changes) -> Changes {
        Changes(self.0 | other.0)
    }
}

impl BitOrAssign for Changes {
    fn bitor_assign(&mut self, other: Changes) {
        *self = *self | other;
    }
}

/// An export of ncdu has no times of the last access, and may have numbers that depend on the path instead of inode numbers. These have the
/// highest bit.
fn differ_in_ino(a: &Facts<'_>, b: &Facts<'_>) -> bool {
    let is_made_up = |facts: &Facts<'_>| !facts.knows(Columns::ATIME) && facts.ino >> 63 == 1;
    a.ino != b.ino && is_made_up(a) == is_made_up(b)
}

fn born_apart(a: &Facts<'_>, b: &Facts<'_>) -> bool {
    a.btime.zip(b.btime).is_some_and(|(a, b)| a != b)
}

/// Whether two entries with different paths are the same file: same type, device, inode number and birth time. Where a birth time is not
/// known, size and modification time must be the same.
pub(super) fn is_same_file(old: &Row<'_>, new: &Row<'_>) -> bool {
    let (Some(a), Some(b)) = (&old.facts, &new.facts) else { return false };
    let is_born_once = match a.btime.zip(b.btime) {
        Some((a, b)) => a == b,
        None => a.size == b.size && a.mtime == b.mtime,
    };
    old.kind == new.kind && (a.dev, a.ino) == (b.dev, b.ino) && is_born_once
}

/// A time in the precision in which times are compared.
pub(super) fn in_microseconds(time: Time) -> Time {
    Time { nsec: time.nsec / 1000 * 1000, ..time }
}
