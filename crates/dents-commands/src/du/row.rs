//! The rows that are shown.

use crate::inode::path_order;
use std::cmp::Ordering;

/// A line of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) path: Box<[u8]>,
    /// 0 for operands.
    pub(super) depth: u32,
    /// Bytes; with `--inodes`, entries.
    pub(super) bytes: u128,
    pub(super) is_directory: bool,
}

/// Merges rows of the same path: a directory has one for its own blocks and one for all entries below it.
pub(super) fn merge(rows: &mut Vec<Row>) {
    rows.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    rows.dedup_by(|later, row| {
        let same = later.path == row.path;
        row.bytes += if same { later.bytes } else { 0 };
        row.is_directory |= same && later.is_directory;
        same
    });
}

/// Subtracts from each directory the sums of its subdirectories. All rows must be there, in the order of [`path_order`].
pub(super) fn separate(rows: &mut [Row]) {
    // The directories above the row, and the row itself.
    let mut above: Vec<usize> = Vec::new();
    for at in 0..rows.len() {
        while above.last().is_some_and(|last| rows[*last].depth >= rows[at].depth) {
            above.pop();
        }
        if !rows[at].is_directory {
            continue;
        }
        if let Some(parent) = above.last() {
            let bytes = rows[at].bytes;
            rows[*parent].bytes = rows[*parent].bytes.saturating_sub(bytes);
        }
        above.push(at);
    }
}

/// The largest first. Equal rows are in the order of their paths, so a directory comes before its only entry.
pub(super) fn largest_first(a: &Row, b: &Row) -> Ordering {
    b.bytes.cmp(&a.bytes).then_with(|| path_order(&a.path, &b.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, depth: u32, bytes: u128) -> Row {
        Row { path: path.as_bytes().into(), depth, bytes, is_directory: !path.contains('.') }
    }

    #[test]
    fn rows_of_a_path_become_one() {
        let mut rows = vec![row("a/b", 1, 10), row("a", 0, 1), row("a/b.x", 1, 7), row("a/b", 1, 5)];
        merge(&mut rows);
        assert_eq!(rows, [row("a", 0, 1), row("a/b", 1, 15), row("a/b.x", 1, 7)]);
    }

    #[test]
    fn what_ties_keeps_its_directory_first() {
        let mut rows = [row("a/z", 1, 7), row("a", 0, 7), row("a/b", 1, 9), row("a/z/y", 2, 7)];
        rows.sort_unstable_by(largest_first);
        let paths: Vec<&[u8]> = rows.iter().map(|row| &*row.path).collect();
        assert_eq!(paths, [&b"a/b"[..], b"a", b"a/z", b"a/z/y"]);
    }

    #[test]
    fn what_subdirectories_have_is_taken_once() {
        let mut rows = [
            row("a", 0, 100),
            row("a/b", 1, 60),
            row("a/b/c", 2, 10),
            row("a/b/d", 2, 20),
            row("a/e.x", 1, 7),
        ];
        separate(&mut rows);
        assert_eq!(rows.map(|row| row.bytes), [40, 30, 10, 20, 7]);
    }
}
