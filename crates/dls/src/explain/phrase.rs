//! How numbers, times and lists are written.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs};
use dents_render::invisible::must_escape;
use dents_render::quantity::grouped;

/// Text that cannot control a terminal: control characters, and those that are not visible or change the direction
/// of writing, are replaced by their number.
pub(crate) fn visible(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    let text = String::from_utf8_lossy(text);
    for (at, character) in text.char_indices() {
        let is_hidden = must_escape(text.as_bytes(), at, character.len_utf8());
        if is_hidden || (character.is_control() && character != '\n') {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `1 entry`, `12,345 entries`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Three digits and a unit: `0.04 ms`, `4.71 ms`, `112 ms`, `12.4 s`.
pub(super) fn duration(ns: u64) -> String {
    let us = ns / 1_000;
    match us {
        0..10_000 => format!("{}.{:02} ms", us / 1_000, us % 1_000 / 10),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        1_000_000..10_000_000 => format!("{}.{:02} s", us / 1_000_000, us % 1_000_000 / 10_000),
        10_000_000..100_000_000 => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
        _ => format!("{} s", grouped(us / 1_000_000)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(mut parts: Vec<String>, and: &str) -> String {
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() { last } else { format!("{} {and} {last}", parts.join(", ")) }
}

const KINDS: [(Kind, &str, &str); 9] = [
    (Kind::Fifo, "FIFO", "FIFOs"),
    (Kind::Char, "character device", "character devices"),
    (Kind::Dir, "directory", "directories"),
    (Kind::Block, "block device", "block devices"),
    (Kind::Reg, "regular file", "regular files"),
    (Kind::Link, "symbolic link", "symbolic links"),
    (Kind::Sock, "socket", "sockets"),
    (Kind::Whiteout, "whiteout", "whiteouts"),
    (Kind::Unknown, "entry of unknown type", "entries of unknown type"),
];

fn names(kind: Kind) -> (&'static str, &'static str) {
    KINDS.iter().find(|row| row.0 == kind).map_or(("entry", "entries"), |row| (row.1, row.2))
}

/// `9,998 regular files`.
pub(super) fn entries(kind: Kind, count: u64) -> String {
    let (one, many) = names(kind);
    counted(count, one, many)
}

/// `regular file`.
pub(super) fn kind(kind: Kind) -> &'static str {
    names(kind).0
}

const FACTS: [(Needs, &str); 20] = [
    (Needs::INODE, "inode number"),
    (Needs::MODE, "mode"),
    (Needs::NLINK, "link count"),
    (Needs::UID, "owner"),
    (Needs::GID, "group"),
    (Needs::RDEV, "device number"),
    (Needs::SIZE, "size"),
    (Needs::BLOCKS, "blocks"),
    (Needs::ATIME, "access time"),
    (Needs::BTIME, "time of birth"),
    (Needs::CTIME, "change time"),
    (Needs::MTIME, "modification time"),
    (Needs::LINK, "text"),
    (Needs::TARGET, "target"),
    (Needs::MARK, "mark of an ACL"),
    (Needs::NEAR_MARK, "mark of an ACL"),
    (Needs::CAPABILITY, "capability"),
    (Needs::CONTEXT, "security context"),
    (Needs::EXTRA, "times, device and flags"),
    (Needs::XATTR_LIST, "extended attributes"),
];

/// `mode, size and owner`.
pub(super) fn facts(needs: Needs) -> String {
    let facts = FACTS.iter().filter(|row| needs.contains(row.0));
    list(facts.map(|row| row.1.to_string()).collect(), "and")
}
