//! An entry from a tree or from a scan file, in one form for `top` and `stats`.

use crate::inode::{Inode, allocated};
use dents_core::batch::{Entry, Time};
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use dents_core::tree::Place;
use dents_sink::Row;

/// An entry.
pub(crate) struct AnyEntry<'a> {
    /// The path of the directory it is in; empty for operands.
    pub(crate) parent: &'a [u8],
    pub(crate) name: &'a [u8],
    /// 0 for operands.
    pub(crate) depth: u32,
    pub(crate) kind: Kind,
    pub(crate) facts: Option<Facts>,
    /// The names of owner and group, if a scan file has them.
    pub(crate) owners: [Option<&'a [u8]>; 2],
}

/// Its metadata; 0 where the command did not need it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) inode: Inode,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u64,
    /// Bytes that are allocated.
    pub(crate) allocated: u64,
    pub(crate) mtime: Time,
}

impl<'a> AnyEntry<'a> {
    /// From a walk for these needs, with the `Extra` column.
    pub(crate) fn live(place: &Place<'a>, entry: &Entry<'a>, needs: Needs) -> AnyEntry<'a> {
        let has = |need| needs.contains(need);
        let facts = Inode::of(entry).map(|inode| Facts {
            inode,
            nlink: entry.nlink(),
            uid: if has(Needs::UID) { entry.uid() } else { 0 },
            gid: if has(Needs::GID) { entry.gid() } else { 0 },
            size: if has(Needs::SIZE) { entry.size() } else { 0 },
            allocated: if has(Needs::BLOCKS) { allocated(entry) } else { 0 },
            mtime: if has(Needs::MTIME) { entry.time() } else { Time::default() },
        });
        let (parent, name, kind) = (place.path, entry.name(), entry.kind());
        AnyEntry { parent, name, depth: place.depth, kind, facts, owners: [None; 2] }
    }

    /// From a row of an entry.
    pub(crate) fn row(row: &Row<'a>) -> AnyEntry<'a> {
        let Row { parent, name, depth, kind, .. } = *row;
        let owners = row.facts.map_or([None; 2], |facts| [facts.user, facts.group]);
        let facts = row.facts.map(|facts| Facts {
            inode: Inode { dev: facts.dev, ino: facts.ino },
            nlink: facts.nlink,
            uid: facts.uid,
            gid: facts.gid,
            size: facts.size,
            allocated: facts.allocated,
            mtime: facts.mtime,
        });
        AnyEntry { parent, name, depth, kind, facts, owners }
    }

    /// Its path, written over what is in `path`.
    pub(crate) fn path(&self, path: &mut Vec<u8>) {
        path.clear();
        path::push(self.parent, self.name, path);
    }
}
