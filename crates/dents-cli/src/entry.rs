//! An entry from a tree or from a scan file, in one form for filters and commands.

use crate::inode::{Inode, allocated};
use dents_core::batch::{self, Entry, Time};
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use dents_core::tree::Place;
use dents_sink::{Asked, Row};

/// An entry that was found.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The path of the directory it is in; empty for operands.
    pub(crate) parent: &'a [u8],
    pub(crate) name: &'a [u8],
    /// 0 for operands.
    pub(crate) depth: u32,
    /// The length of the operand, with which the path begins.
    pub(crate) operand: usize,
    pub(crate) kind: Kind,
    /// With `-x`, of a scan file: whether it begins another file system, and is not entered.
    pub(crate) is_mount_point: bool,
    pub(crate) origin: Origin<'a>,
}

/// Where an entry was found.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// By a walk.
    Live(&'a Place<'a>, &'a Entry<'a>),
    /// In a scan file.
    Row(&'a Row<'a>),
}

/// The metadata of an entry; 0 where it was not needed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) inode: Inode,
    pub(crate) mode: u16,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u64,
    /// Bytes that are allocated.
    pub(crate) allocated: u64,
    pub(crate) atime: Time,
    /// [`Time::UNKNOWN`] where the file system keeps none.
    pub(crate) btime: Time,
    pub(crate) ctime: Time,
    pub(crate) mtime: Time,
}

impl Facts {
    /// One of the times: [`Needs::ATIME`], [`Needs::BTIME`], [`Needs::CTIME`], else the modification.
    pub(crate) fn time(&self, which: Needs) -> Time {
        match which {
            Needs::ATIME => self.atime,
            Needs::BTIME => self.btime,
            Needs::CTIME => self.ctime,
            _ => self.mtime,
        }
    }
}

impl<'a> Found<'a> {
    /// From a walk; `operand` is the length of the operand that the directory is below.
    pub(crate) fn live(place: &'a Place<'a>, entry: &'a Entry<'a>, operand: usize) -> Found<'a> {
        let (name, depth) = (entry.name(), place.depth);
        // An operand is its own.
        let operand = if depth == 0 { name.len() } else { operand };
        let origin = Origin::Live(place, entry);
        Found { parent: place.path, name, depth, operand, kind: entry.kind(), is_mount_point: false, origin }
    }

    /// From a row of an entry; `operand` is the length of the operand that its directory is below.
    pub(crate) fn row(row: &'a Row<'a>, operand: usize) -> Found<'a> {
        let Row { parent, name, depth, kind, .. } = *row;
        let operand = if depth == 0 { name.len() } else { operand };
        Found { parent, name, depth, operand, kind, is_mount_point: false, origin: Origin::Row(row) }
    }

    /// The metadata, unless it was not requested, or the request failed. Of a walk, only with
    /// [`Options::extra`](dents_core::tree::Options::extra) are device and times known.
    pub(crate) fn facts(&self) -> Option<Facts> {
        match self.origin {
            Origin::Live(_, entry) => entry.is_known().then(|| facts(entry)),
            Origin::Row(row) => row.facts.map(|facts| Facts {
                inode: Inode { dev: facts.dev, ino: facts.ino },
                mode: facts.mode,
                nlink: facts.nlink,
                uid: facts.uid,
                gid: facts.gid,
                size: facts.size,
                allocated: facts.allocated,
                atime: facts.atime,
                btime: facts.btime.unwrap_or(Time::UNKNOWN),
                ctime: facts.ctime,
                mtime: facts.mtime,
            }),
        }
    }

    /// The names of owner and group, if a scan file has them.
    pub(crate) fn owners(&self) -> [Option<&'a [u8]>; 2] {
        match self.origin {
            Origin::Live(..) => [None; 2],
            Origin::Row(row) => row.facts.map_or([None; 2], |facts| [facts.user, facts.group]),
        }
    }

    /// Whether it was found by a walk.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.origin, Origin::Live(..))
    }

    /// Whether its `statx` failed.
    pub(crate) fn has_failed(&self) -> bool {
        match self.origin {
            Origin::Live(_, entry) => entry.fault().is_some_and(|(asked, _)| asked == batch::Asked::Stat),
            Origin::Row(row) => row.fault.is_some_and(|fault| fault.asked == Asked::Stat),
        }
    }

    /// Where a symbolic link leads.
    pub(crate) fn link(&self) -> Option<&'a [u8]> {
        match self.origin {
            Origin::Live(_, entry) => entry.link(),
            Origin::Row(row) => row.target,
        }
    }

    /// Its path, written over what is in `path`.
    pub(crate) fn path(&self, path: &mut Vec<u8>) {
        path.clear();
        path::push(self.parent, self.name, path);
    }

    /// The part of a path of this entry, or of a directory above it, that follows the operand and its slash.
    pub(crate) fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let below = path.get(self.operand..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }
}

fn facts(entry: &Entry<'_>) -> Facts {
    let needs = entry.needs();
    let has = |need| needs.contains(need);
    let extra = entry.extra().copied().unwrap_or_default();
    Facts {
        inode: Inode { dev: extra.dev, ino: if has(Needs::INODE) { entry.ino() } else { 0 } },
        mode: if has(Needs::MODE) { entry.mode() } else { 0 },
        nlink: if has(Needs::NLINK) { entry.nlink() } else { 0 },
        uid: if has(Needs::UID) { entry.uid() } else { 0 },
        gid: if has(Needs::GID) { entry.gid() } else { 0 },
        size: if has(Needs::SIZE) { entry.size() } else { 0 },
        allocated: if has(Needs::BLOCKS) { allocated(entry) } else { 0 },
        atime: extra.atime,
        btime: extra.btime,
        ctime: extra.ctime,
        mtime: extra.mtime,
    }
}

/// The length of the operand that a directory is below, by the depth of the directory's entries.
pub(crate) fn operand(directory: &[u8], depth: u32) -> usize {
    (1..depth).fold(directory, |path, _| above(path)).len()
}

/// The path of the directory that holds another.
pub(crate) fn above(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => &path[..slash],
        None => path,
    }
}
