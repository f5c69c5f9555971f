//! The words and numbers for types, requests, attributes and devices.

use crate::note::Change;
use dents_core::batch::Asked;
pub use dents_core::facts::device;
use dents_core::needs::Kind;

/// Types in the order of counts, each with its word, and its singular and plural in a sentence.
pub(crate) const KINDS: [(Kind, &str, &str, &str); 9] = [
    (Kind::Reg, "file", "file", "files"),
    (Kind::Dir, "directory", "directory", "directories"),
    (Kind::Link, "link", "link", "links"),
    (Kind::Fifo, "fifo", "fifo", "fifos"),
    (Kind::Sock, "socket", "socket", "sockets"),
    (Kind::Char, "char", "character device", "character devices"),
    (Kind::Block, "block", "block device", "block devices"),
    (Kind::Whiteout, "whiteout", "whiteout", "whiteouts"),
    (Kind::Unknown, "unknown", "of unknown type", "of unknown type"),
];

/// The word of a type: `file`, `directory`, `link`, `fifo`, `socket`, `char`, `block`, `whiteout`, `unknown`.
#[must_use]
pub fn of_kind(kind: Kind) -> &'static str {
    KINDS.iter().find(|row| row.0 == kind).map_or("unknown", |row| row.1)
}

/// The type with this word.
#[must_use]
pub fn kind(word: &[u8]) -> Option<Kind> {
    KINDS.iter().find(|row| row.1.as_bytes() == word).map(|row| row.0)
}

/// The word of a request.
#[must_use]
pub(crate) fn of_asked(asked: Asked) -> &'static str {
    match asked {
        Asked::Stat => "stat",
        Asked::Link => "link",
        Asked::Xattr => "xattr",
    }
}

/// `STATX_ATTR_*` (include/uapi/linux/stat.h), by the kernel's names.
const ATTRIBUTES: [(u64, &str); 10] = [
    (0x4, "compressed"),
    (0x10, "immutable"),
    (0x20, "append"),
    (0x40, "nodump"),
    (0x800, "encrypted"),
    (0x1000, "automount"),
    (0x2000, "mount_root"),
    (0x10_0000, "verity"),
    (0x20_0000, "dax"),
    (0x40_0000, "write_atomic"),
];

/// The words of the attributes that are set.
pub(crate) fn attributes(set: u64) -> impl Iterator<Item = &'static str> {
    ATTRIBUTES.iter().filter(move |row| set & row.0 != 0).map(|row| row.1)
}

/// The word of a difference in git.
pub(crate) fn change(change: Change) -> &'static str {
    match change {
        Change::None => "none",
        Change::Ignored => "ignored",
        Change::New => "new",
        Change::Typechange => "typechange",
        Change::Renamed => "renamed",
        Change::Modified => "modified",
        Change::Deleted => "deleted",
        Change::Conflicted => "conflicted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_type_has_a_word_that_leads_back() {
        for one in Kind::KNOWN.into_iter().chain([Kind::Unknown]) {
            assert_eq!(kind(of_kind(one).as_bytes()), Some(one));
        }
        assert_eq!(kind(b"files"), None);
    }

    #[test]
    fn attributes_are_those_set() {
        assert_eq!(attributes(0x2010).collect::<Vec<_>>(), ["immutable", "mount_root"]);
        assert_eq!(attributes(1 << 63).count(), 0);
    }

    #[test]
    fn a_device_is_numbered_as_stat_does() {
        assert_eq!(device((8, 1)), 0x801);
        assert_eq!(device((0xfff, 0xfffff)), 0xffff_ffff);
    }
}
