//! The part of a scan file that a program reads: some columns, of some rows.

use crate::row::Row;
pub use dents_core::facts::Columns;
use std::io;
use std::ops::Range;

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
            give(&row.only(self.columns))
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
