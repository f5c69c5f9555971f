//! The order of requests: likely directories first, and in the order of inodes on the disk.

use super::options::{Readdir, Tricks};
use crate::batch::{Batch, Entry};
use crate::needs::Kind;
use alloc::vec::Vec;

/// Names with this rank or a higher one are unlikely to be directories.
const UNLIKELY: u32 = u32::MAX - 1;
const NEVER: u32 = u32::MAX;

/// How unlikely it is that an entry is a directory; 0 for a known one. Where `readdir` returns no type, the name gives a
/// hint. Names that begin with a dot are few and often directories. A name without a dot has no suffix, as most files
/// have; the shorter it is, the likelier. Any other name is unlikely.
fn rank(entry: &Entry<'_>) -> u32 {
    match entry.d_kind() {
        Kind::Dir => 0,
        Kind::Unknown => match memchr::memchr(b'.', entry.name()) {
            Some(0) => 1,
            None => 1 + entry.name().len() as u32,
            Some(_) => UNLIKELY,
        },
        _ => NEVER,
    }
}

/// The order for these [`Readdir`] flags.
pub(super) fn listing(batch: &Batch, flags: Readdir) -> Vec<u32> {
    let by_inode = flags.contains(Readdir::STAT_ORDER);
    if flags.contains(Readdir::DIRS_FIRST) {
        sorted(batch, |entry| {
            let rank = rank(entry);
            // Likely directories are always in inode order.
            (rank, if by_inode || rank < UNLIKELY { entry.d_ino() } else { 0 })
        })
    } else if by_inode {
        sorted(batch, |entry| (0, entry.d_ino()))
    } else {
        (0..batch.len() as u32).collect()
    }
}

/// The entries of unknown type, in the order of their requests.
pub(super) fn questions(batch: &Batch, tricks: Tricks) -> Vec<u32> {
    let key = |entry: &Entry<'_>| {
        let rank = if tricks.contains(Tricks::LIKELY_FIRST) { rank(entry) } else { 0 };
        (rank, if tricks.contains(Tricks::INODE_ORDER) { entry.d_ino() } else { 0 })
    };
    let mut order = sorted(batch, key);
    order.retain(|index| batch.entry(*index as usize).d_kind() == Kind::Unknown);
    order
}

fn sorted(batch: &Batch, key: impl Fn(&Entry<'_>) -> (u32, u64)) -> Vec<u32> {
    let mut keys: Vec<(u32, u64, u32)> = batch
        .iter()
        .map(|entry| {
            let (rank, ino) = key(&entry);
            (rank, ino, entry.index() as u32)
        })
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(.., index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs::NeedsByKind;

    fn names(batch: &Batch, order: &[u32]) -> Vec<Vec<u8>> {
        order.iter().map(|index| batch.entry(*index as usize).name().to_vec()).collect()
    }

    #[test]
    fn directories_then_dots_then_short_names_then_the_rest() {
        let mut batch = Batch::new(NeedsByKind::default());
        let kinds = [
            (c"photo.jpeg", Kind::Unknown, 1),
            (c"file", Kind::Reg, 2),
            (c"lib64", Kind::Unknown, 9),
            (c"src", Kind::Unknown, 8),
            (c"bin", Kind::Unknown, 7),
            (c".git", Kind::Unknown, 6),
            (c"known", Kind::Dir, 5),
            (c"a.c", Kind::Unknown, 0),
        ];
        for (name, kind, ino) in kinds {
            batch.push(name, kind, ino);
        }
        let first = [&b"known"[..], b".git", b"bin", b"src", b"lib64"];
        let order = listing(&batch, Readdir::DIRS_FIRST);
        assert_eq!(names(&batch, &order)[..5], first);
        assert_eq!(names(&batch, &order)[5..], [&b"photo.jpeg"[..], b"a.c", b"file"]);
        let order = listing(&batch, Readdir::DIRS_FIRST | Readdir::STAT_ORDER);
        assert_eq!(names(&batch, &order)[5..], [&b"a.c"[..], b"photo.jpeg", b"file"]);
        let order = listing(&batch, Readdir::STAT_ORDER);
        assert_eq!(order, [7, 0, 1, 6, 5, 4, 3, 2]);
        assert_eq!(listing(&batch, Readdir::empty()), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(questions(&batch, Tricks::all()), [5, 4, 3, 2, 7, 0]);
        assert_eq!(questions(&batch, Tricks::empty()), [0, 2, 3, 4, 5, 7]);
    }
}
