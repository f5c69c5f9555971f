//! An entry from a tree or from a scan file, in one form for filters and commands.

use dents_core::batch::{self, Entry};
use dents_core::facts::Facts;
use dents_core::needs::Kind;
use dents_core::path;
use dents_core::tree::Place;
use dents_sink::{Asked, Details, Row};
use dents_sys::{BorrowedFd, CWD};
use std::ffi::{CStr, CString};

/// An entry that was found.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The path of its directory; empty for operands.
    pub parent: &'a [u8],
    /// Its name; an operand's is the whole path.
    pub name: &'a [u8],
    /// 0 for operands.
    pub depth: u32,
    /// The length of the operand, with which the path begins.
    pub operand: usize,
    /// Its type, as far as it is known.
    pub kind: Kind,
    /// With `-x` and a scan file: whether the entry is a directory on another file system, which is not entered.
    pub is_mount_point: bool,
    /// Its details: those of a row, or those that were requested.
    pub(crate) details: Details<'a>,
    pub(crate) origin: Origin<'a>,
}

/// The source of an entry.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// A walk.
    Live(&'a Place<'a>, &'a Entry<'a>),
    /// A scan file.
    Row(&'a Row<'a>),
}

/// Calls `act` with the directory and the name by which an entry is reached: its own directory, or, where that is no longer open, the whole
/// path.
pub(crate) fn reach<R>(
    place: &Place<'_>,
    entry: &Entry<'_>,
    act: impl FnOnce(BorrowedFd<'_>, &CStr) -> R,
) -> R {
    if let Some(dir) = place.dir {
        return act(dir, entry.c_name());
    }
    let mut path = Vec::new();
    place.join(entry.name(), &mut path);
    act(CWD, &CString::new(path).unwrap_or_default())
}

impl<'a> Found<'a> {
    /// An entry from a walk. `operand` is the length of the operand above the directory.
    pub(crate) fn live(place: &'a Place<'a>, entry: &'a Entry<'a>, operand: usize) -> Found<'a> {
        let (name, depth) = (entry.name(), place.depth);
        // The operand of an operand is the operand itself.
        let operand = if depth == 0 { name.len() } else { operand };
        let origin = Origin::Live(place, entry);
        let (parent, kind, details) = (place.path, entry.kind(), Details::default());
        Found { parent, name, depth, operand, kind, is_mount_point: false, details, origin }
    }

    /// An entry from a row. `operand` is the length of the operand above its directory.
    pub(crate) fn row(row: &'a Row<'a>, operand: usize) -> Found<'a> {
        let Row { parent, name, depth, kind, details, .. } = *row;
        let operand = if depth == 0 { name.len() } else { operand };
        let origin = Origin::Row(row);
        Found { parent, name, depth, operand, kind, is_mount_point: false, details, origin }
    }

    /// The position in the directory, in the order of reading; `None` for a row.
    pub(crate) fn position(&self) -> Option<u64> {
        match self.origin {
            Origin::Live(place, entry) => Some(place.position(entry)),
            Origin::Row(_) => None,
        }
    }

    /// The metadata; `None` if it was not requested, or if the request failed. A walk returns device and times only with
    /// [`Options::extra`](dents_core::tree::Options::extra).
    #[inline]
    pub fn facts(&self) -> Option<Facts<'a>> {
        match self.origin {
            Origin::Live(_, entry) => entry.is_known().then(|| Facts::of(entry, entry.needs())),
            Origin::Row(row) => row.facts,
        }
    }

    /// Whether it has metadata.
    pub(crate) fn has_facts(&self) -> bool {
        match self.origin {
            Origin::Live(_, entry) => entry.is_known(),
            Origin::Row(row) => row.facts.is_some(),
        }
    }

    /// Whether it was found by a walk.
    pub fn is_live(&self) -> bool {
        matches!(self.origin, Origin::Live(..))
    }

    /// Whether its `statx` failed.
    pub(crate) fn has_failed(&self) -> bool {
        match self.origin {
            Origin::Live(_, entry) => entry.fault().is_some_and(|(asked, _)| asked == batch::Asked::Stat),
            Origin::Row(row) => row.fault.is_some_and(|fault| fault.asked == Asked::Stat),
        }
    }

    /// The text of a symbolic link.
    pub(crate) fn link(&self) -> Option<&'a [u8]> {
        match self.origin {
            Origin::Live(_, entry) => entry.link(),
            Origin::Row(row) => row.target,
        }
    }

    /// Writes its path into `path`, replacing its contents.
    pub(crate) fn path(&self, path: &mut Vec<u8>) {
        path.clear();
        path::push(self.parent, self.name, path);
    }

    /// The part of a path after the operand and its slash. The path is that of this entry or of a directory above it.
    pub(crate) fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let below = path.get(self.operand..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }
}

/// The length of the operand in the path of a directory whose entries have this depth.
pub fn operand(directory: &[u8], depth: u32) -> usize {
    let mut path = directory;
    for _ in 1..depth {
        let upper = above(path);
        if upper.len() == path.len() {
            // The paths of the file are not read, so they are empty.
            break;
        }
        path = upper;
    }
    path.len()
}

/// The path of the directory at this depth above another, whose operand has this length: from the operand downwards, because a path may be long.
pub(crate) fn down_to(path: &[u8], operand: usize, depth: u32) -> &[u8] {
    let mut end = operand.min(path.len());
    for _ in 0..depth {
        let start = end + path::separator(&path[..end]).len();
        let rest = path.get(start..).unwrap_or_default();
        end = rest.iter().position(|byte| *byte == b'/').map_or(path.len(), |slash| start + slash);
    }
    &path[..end]
}

/// The path of the directory that holds another.
pub fn above(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => &path[..slash],
        None => path,
    }
}
