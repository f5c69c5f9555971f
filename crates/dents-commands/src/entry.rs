//! An entry from a tree or from a scan file, in one form for filters and commands.

use crate::inode::{Inode, allocated};
use dents_core::batch::{self, Entry, Time};
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use dents_core::tree::Place;
use dents_sink::read::Columns;
use dents_sink::{Asked, Detail, Row};
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

/// The metadata of an entry; 0 where it was not needed.
#[derive(Clone, Copy, Default)]
pub struct Facts {
    /// The file.
    pub inode: Inode,
    /// Type and permissions, as `st_mode`.
    pub mode: u16,
    /// The number of links.
    pub nlink: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Bytes in the file.
    pub size: u64,
    /// Bytes that are allocated.
    pub allocated: u64,
    /// The last access.
    pub atime: Time,
    /// The birth: [`Time::UNKNOWN`] where the file system keeps none. So are all times that a scan file does not know.
    pub btime: Time,
    /// The last change of the inode.
    pub ctime: Time,
    /// The last change of the contents.
    pub mtime: Time,
    /// `Facts::NO_PROJECT` if it is not known, for example in a walk that did not request it.
    pub project: u32,
    /// The facts that a scan file does not know, for example an export of ncdu. Of these, owners are [`Facts::NOBODY`].
    pub unknown: Needs,
}

impl Facts {
    /// No project has this number: the kernel calls it `INVALID_PROJID`.
    pub(crate) const NO_PROJECT: u32 = u32::MAX;
    /// The owner and the group where they are not known.
    pub const NOBODY: u32 = dents_sink::Facts::NOBODY;

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
        Found { parent: place.path, name, depth, operand, kind: entry.kind(), is_mount_point: false, origin }
    }

    /// An entry from a row. `operand` is the length of the operand above its directory.
    pub(crate) fn row(row: &'a Row<'a>, operand: usize) -> Found<'a> {
        let Row { parent, name, depth, kind, .. } = *row;
        let operand = if depth == 0 { name.len() } else { operand };
        Found { parent, name, depth, operand, kind, is_mount_point: false, origin: Origin::Row(row) }
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
    pub fn facts(&self) -> Option<Facts> {
        match self.origin {
            Origin::Live(_, entry) => entry.is_known().then(|| facts(entry)),
            Origin::Row(row) => row.facts.map(|facts| of_row(row, &facts)),
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

fn of_row(row: &Row<'_>, facts: &dents_sink::Facts<'_>) -> Facts {
    let time = |column, time| if facts.knows(column) { time } else { Time::UNKNOWN };
    Facts {
        inode: Inode { dev: facts.dev, ino: facts.ino },
        mode: facts.mode,
        nlink: facts.nlink,
        uid: facts.uid,
        gid: facts.gid,
        size: facts.size,
        allocated: facts.allocated,
        atime: time(Columns::ATIME, facts.atime),
        btime: facts.btime.unwrap_or(Time::UNKNOWN),
        ctime: time(Columns::CTIME, facts.ctime),
        mtime: time(Columns::MTIME, facts.mtime),
        project: row.details.number(Detail::Project).unwrap_or(Facts::NO_PROJECT),
        unknown: if facts.unknown.is_empty() { Needs::empty() } else { facts.unknown.needs() },
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
        project: Facts::NO_PROJECT,
        unknown: Needs::empty(),
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
