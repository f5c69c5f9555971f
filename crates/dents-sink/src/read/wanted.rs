//! The part of a scan file that a program reads: some columns, of some rows.

use crate::details::Details;
use crate::row::{Facts, Row};
use bitflags::bitflags;
use dents_core::batch::Time;
use std::io;
use std::ops::Range;

bitflags! {
    /// A set of columns. Every row has its type, its depth, its fault, and whether it has facts. All other fields must be wanted: a field
    /// whose column is not wanted has a neutral value (empty, 0, `None`, false, the beginning of 1970) and must not be used.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Columns: u32 {
        /// The path of the directory.
        const PARENT = 1 << 0;
        /// The name.
        const NAME = 1 << 1;
        /// Device and inode number.
        const INODE = 1 << 2;
        /// Type and permission bits.
        const MODE = 1 << 3;
        /// Hard links.
        const NLINK = 1 << 4;
        /// Owner.
        const UID = 1 << 5;
        /// Group.
        const GID = 1 << 6;
        /// The owner's name.
        const USER = 1 << 7;
        /// The group's name.
        const GROUP = 1 << 8;
        /// Bytes.
        const SIZE = 1 << 9;
        /// Bytes that are allocated.
        const ALLOCATED = 1 << 10;
        /// Last access.
        const ATIME = 1 << 11;
        /// Birth.
        const BTIME = 1 << 12;
        /// Last change of the inode.
        const CTIME = 1 << 13;
        /// Last change of the contents.
        const MTIME = 1 << 14;
        /// Where a symbolic link leads.
        const TARGET = 1 << 15;
        /// Whether the values may be out of date.
        const LAZY = 1 << 16;
        /// [`Detail::Project`](crate::Detail::Project). The columns of the other details follow.
        const PROJECT = 1 << 17;
        /// Inode flags.
        const FLAGS = 1 << 18;
        /// The existing ACLs.
        const ACL = 1 << 19;
        /// The names of extended attributes.
        const XATTRS = 1 << 20;
        /// The type of the file system.
        const FILESYSTEM = 1 << 21;
        /// Lustre's number of stripes.
        const STRIPES = 1 << 22;
        /// Lustre's pool.
        const POOL = 1 << 23;
        /// Lustre's state in hierarchical storage.
        const HSM = 1 << 24;

        /// Parent and name.
        const PATH = Self::PARENT.bits() | Self::NAME.bits();
        /// All four times.
        const TIMES = Self::ATIME.bits() | Self::BTIME.bits() | Self::CTIME.bits() | Self::MTIME.bits();
        /// All columns that a scan has only on request.
        const DETAILS = 0xff * Self::PROJECT.bits();
        /// All columns that every scan has.
        const USUAL = Self::PROJECT.bits() - 1;
    }
}

impl Columns {
    /// The row with neutral values in the columns that are not in this set. If the set has a detail, the row keeps all details.
    #[must_use]
    pub fn of<'a>(self, row: &Row<'a>) -> Row<'a> {
        let has = |column| self.contains(column);
        Row {
            parent: if has(Columns::PARENT) { row.parent } else { b"" },
            name: if has(Columns::NAME) { row.name } else { b"" },
            facts: row.facts.map(|facts| self.of_facts(&facts)),
            target: row.target.filter(|_| has(Columns::TARGET)),
            details: if self.intersects(Columns::DETAILS) { row.details } else { Details::default() },
            ..*row
        }
    }

    pub(crate) fn of_facts<'a>(self, facts: &Facts<'a>) -> Facts<'a> {
        let has = |column| self.contains(column);
        let wide = |column, value| if has(column) { value } else { 0_u64 };
        let narrow = |column, value| if has(column) { value } else { 0_u32 };
        let time = |column, value| if has(column) { value } else { Time::default() };
        Facts {
            dev: if has(Columns::INODE) { facts.dev } else { (0, 0) },
            ino: wide(Columns::INODE, facts.ino),
            mode: if has(Columns::MODE) { facts.mode } else { 0 },
            nlink: narrow(Columns::NLINK, facts.nlink),
            uid: narrow(Columns::UID, facts.uid),
            gid: narrow(Columns::GID, facts.gid),
            user: facts.user.filter(|_| has(Columns::USER)),
            group: facts.group.filter(|_| has(Columns::GROUP)),
            size: wide(Columns::SIZE, facts.size),
            allocated: wide(Columns::ALLOCATED, facts.allocated),
            atime: time(Columns::ATIME, facts.atime),
            btime: facts.btime.filter(|_| has(Columns::BTIME)),
            ctime: time(Columns::CTIME, facts.ctime),
            mtime: time(Columns::MTIME, facts.mtime),
            lazy: has(Columns::LAZY) && facts.lazy,
            unknown: facts.unknown & self,
        }
    }
}

/// The columns and rows that a program wants from a scan file.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The columns it uses.
    pub columns: Columns,
    /// The wanted paths: only rows at or below one of them are read; all rows, if there are none. Slashes at the end of a path are ignored:
    /// `/usr/` is `/usr`, and `//` is `/`. Otherwise paths are compared byte for byte with those of the rows, which begin with the roots
    /// of the scan as the user gave them. An empty path matches only itself.
    pub below: &'a [Vec<u8>],
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        Wanted { columns: Columns::all(), below: &[] }
    }
}

/// The same in the form that readers use.
pub(crate) struct Selection<'s> {
    pub(crate) columns: Columns,
    pub(crate) below: &'s Below,
}

impl Selection<'_> {
    /// For a reader that has read whole rows: passes on the wanted rows, with the wanted columns.
    pub(crate) fn filter(
        &self,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> impl FnMut(&Row<'_>) -> io::Result<()> {
        let mut path = Vec::new();
        move |row| {
            if !self.below.is_all() {
                path.clear();
                row.path(&mut path);
                if !self.below.has(&path) {
                    return Ok(());
                }
            }
            give(&self.columns.of(row))
        }
    }
}

/// The test of [`Wanted::below`].
pub(crate) struct Below {
    /// `None`: all paths.
    bases: Option<Vec<Base>>,
    /// Sorted ranges, without those that are inside others.
    ranges: Vec<Range<Vec<u8>>>,
}

/// One of the paths.
struct Base {
    /// The path without slashes at its end; for `/` it is empty.
    path: Vec<u8>,
    /// Whether the given path was empty, without a slash.
    was_empty: bool,
}

impl Base {
    fn of(path: &[u8]) -> Base {
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        Base { path: path[..end].to_vec(), was_empty: path.is_empty() }
    }

    fn has(&self, path: &[u8]) -> bool {
        // An empty slice has no valid address, and `memcmp` of it, by the masked loads of AVX-512, takes 100 ns.
        if self.path.is_empty() {
            return if self.was_empty { path.is_empty() } else { path.first() == Some(&b'/') };
        }
        matches!(path.strip_prefix(&self.path[..]), Some([] | [b'/', ..]))
    }

    /// The ranges of paths that [`Self::has`] accepts, in the order of bytes: the path itself, and those below it. There may be other paths
    /// between the two: `a`, `a-b`, `a/b`.
    fn ranges(&self) -> impl Iterator<Item = Range<Vec<u8>>> + use<> {
        let with = |byte: u8| [&self.path[..], &[byte]].concat();
        let itself = (self.was_empty || !self.path.is_empty()).then(|| self.path.clone()..with(0));
        let below = (!self.was_empty).then(|| with(b'/')..with(b'/' + 1));
        [itself, below].into_iter().flatten()
    }
}

impl Below {
    pub(crate) fn new(paths: &[Vec<u8>]) -> Below {
        let bases: Vec<Base> = paths.iter().map(|path| Base::of(path)).collect();
        let mut ranges: Vec<_> = bases.iter().flat_map(Base::ranges).collect();
        ranges.sort_by(|a, b| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
        // A range may be inside another, if both begin with the same bytes. No two ranges overlap in another way.
        ranges.dedup_by(|next, last| next.end <= last.end);
        Below { bases: (!bases.is_empty()).then_some(bases), ranges }
    }

    /// Whether all rows are wanted.
    pub(crate) fn is_all(&self) -> bool {
        self.bases.is_none()
    }

    /// Whether the row of this path is wanted.
    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.bases.as_ref().is_none_or(|bases| bases.iter().any(|base| base.has(path)))
    }

    /// The ranges of the wanted paths in the order of bytes, which have no path in common; none for all paths.
    pub(crate) fn ranges(&self) -> &[Range<Vec<u8>>] {
        &self.ranges
    }

    /// Whether a wanted path may be between these two, in the order of bytes.
    pub(crate) fn may_have(&self, least: &[u8], greatest: &[u8]) -> bool {
        self.is_all()
            || self.ranges.iter().any(|range| greatest >= &range.start[..] && least < &range.end[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(below: &[&str], path: &str) -> bool {
        let below: Vec<Vec<u8>> = below.iter().map(|path| path.as_bytes().to_vec()).collect();
        let below = Below::new(&below);
        let (path, has) = (path.as_bytes(), below.has(path.as_bytes()));
        let range = |range: &Range<Vec<u8>>| (&range.start[..]..&range.end[..]).contains(&path);
        assert_eq!(has, below.is_all() || below.ranges().iter().any(range), "{}", path.escape_ascii());
        assert_eq!(has, below.may_have(path, path), "{}", path.escape_ascii());
        has
    }

    #[test]
    fn a_path_has_itself_and_what_lies_below_it() {
        for base in ["a/b", "a/b/", "a/b//"] {
            for path in ["a/b", "a/b/", "a/b/c", "a/b/c/d", "a/b//"] {
                assert!(has(&[base], path), "{base} {path}");
            }
            for path in ["", "a", "a/", "a/b-", "a/b.c", "a/b!/c", "a/b0", "a/bc", "a/c", "/a/b", "/"] {
                assert!(!has(&[base], path), "{base} {path}");
            }
        }
    }

    #[test]
    fn the_root_has_every_absolute_path() {
        for base in ["/", "//"] {
            assert!(["/", "//", "/a", "/a/b"].into_iter().all(|path| has(&[base], path)));
            assert!(["", "a", "a/b", "."].into_iter().all(|path| !has(&[base], path)));
        }
    }

    #[test]
    fn one_of_several_is_enough_and_none_at_all_is_everything() {
        assert!(has(&["x", "a"], "a/b") && has(&["a", "x"], "a/b") && has(&[], "a/b") && has(&[], ""));
        assert!(has(&[""], "") && !has(&[""], "a") && !has(&[""], "/"));
    }
}
