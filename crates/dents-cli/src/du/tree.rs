//! From rows that hold what a directory itself takes to sums of all that is below.

use crate::inode::path_order;
use std::cmp::Ordering;

/// A line to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) path: Box<[u8]>,
    /// 0 for operands.
    pub(super) depth: u32,
    pub(super) bytes: u128,
}

/// Adds each row's bytes to those of the directories above it. Rows of the same path become one. All are of one operand,
/// which is among them, and so is every directory above a row.
pub(super) fn add_up(rows: &mut Vec<Row>) {
    rows.sort_unstable_by(|a, b| path_order(&a.path, &b.path));
    rows.dedup_by(|later, row| {
        let same = later.path == row.path;
        row.bytes += if same { later.bytes } else { 0 };
        same
    });
    // In this order each directory comes before what is in it. The way down to the row looked at, and what was found
    // below each directory on it.
    let mut way: Vec<usize> = Vec::new();
    for at in 0..rows.len() {
        while way.last().is_some_and(|above| rows[*above].depth >= rows[at].depth) {
            close(rows, &mut way);
        }
        way.push(at);
    }
    while !way.is_empty() {
        close(rows, &mut way);
    }
}

/// All below the last directory of the way was seen: its sum is part of the one above.
fn close(rows: &mut [Row], way: &mut Vec<usize>) {
    if let (Some(done), Some(above)) = (way.pop(), way.last()) {
        rows[*above].bytes += rows[done].bytes;
    }
}

/// The largest first; a directory before what is in it, where that is all there is.
pub(super) fn largest_first(a: &Row, b: &Row) -> Ordering {
    b.bytes.cmp(&a.bytes).then_with(|| path_order(&a.path, &b.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, depth: u32, bytes: u128) -> Row {
        Row { path: path.as_bytes().into(), depth, bytes }
    }

    #[test]
    fn sums_go_up_to_all_directories_above() {
        let mut rows = vec![
            row("a/b/c", 2, 100),
            row("a", 0, 1),
            row("a/b", 1, 10),
            row("a/d", 1, 1000),
            row("a/b.x", 1, 10_000),
            row("a/b", 1, 5),
        ];
        add_up(&mut rows);
        let sums: Vec<(&[u8], u128)> = rows.iter().map(|row| (&*row.path, row.bytes)).collect();
        let expected: [(&[u8], u128); 5] =
            [(b"a", 11_116), (b"a/b", 115), (b"a/b/c", 100), (b"a/b.x", 10_000), (b"a/d", 1000)];
        assert_eq!(sums, expected);
    }

    #[test]
    fn sums_do_not_overflow() {
        let most = u128::from(u64::MAX);
        let mut rows = vec![row("a", 0, most), row("a/b", 1, most), row("a/c", 1, most), row("a/c", 1, most)];
        add_up(&mut rows);
        assert_eq!(rows[0].bytes, 4 * most);
    }

    #[test]
    fn what_ties_keeps_its_directory_first() {
        let mut rows = [row("a/z", 1, 7), row("a", 0, 7), row("a/b", 1, 9), row("a/z/y", 2, 7)];
        rows.sort_unstable_by(largest_first);
        let paths: Vec<&[u8]> = rows.iter().map(|row| &*row.path).collect();
        assert_eq!(paths, [&b"a/b"[..], b"a", b"a/z", b"a/z/y"]);
    }
}
