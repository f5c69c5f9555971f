//! Which file an entry is, whatever its name: to count one with several names once.

use dents::batch::Entry;
use std::cmp::Ordering;

/// A file, by its device and inode number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Inode {
    pub(crate) dev: (u32, u32),
    pub(crate) ino: u64,
}

impl Inode {
    /// Of an entry that `statx` answered for, in a batch with the `Extra` column and
    /// [`Needs::INODE`](dents::needs::Needs::INODE).
    ///
    /// The device is the entry's own, not its directory's: a file can be a mount point, and each layer of an overlay may
    /// have its device.
    pub(crate) fn of(entry: &Entry<'_>) -> Option<Inode> {
        entry.extra().map(|extra| Inode { dev: extra.dev, ino: entry.ino() })
    }
}

/// The order of paths in which a directory comes right before all that is in it: by bytes, a slash before all others.
pub(crate) fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    let differ = a.iter().zip(b).position(|(a, b)| a != b);
    match differ {
        Some(at) => rank(&a[at]).cmp(&rank(&b[at])),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_right_before_what_is_in_them() {
        let mut paths = ["a.b", "a/b", "a", "a b", "a/b/c", "a/a", "b", "a\x01"];
        paths.sort_by(|a, b| path_order(a.as_bytes(), b.as_bytes()));
        assert_eq!(paths, ["a", "a/a", "a/b", "a/b/c", "a\x01", "a b", "a.b", "b"]);
    }
}
