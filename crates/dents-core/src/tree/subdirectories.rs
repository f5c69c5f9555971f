//! Subdirectories that wait to be opened. Those of one directory, or of a piece of it, are one group of tasks.

use super::ancestors::{Ancestors, Device};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_engine::order::steal::Group;

/// Properties of a directory beside its path.
#[derive(Clone, Default)]
pub(super) struct About<S> {
    pub(super) id: u64,
    pub(super) parent: u64,
    /// The depth of its entries.
    pub(super) depth: u32,
    /// Its position in the parent.
    pub(super) nth: u64,
    pub(super) state: S,
    /// The directory and its ancestors; only where loops are found.
    pub(super) ancestors: Option<Arc<Ancestors>>,
    /// The device, if the walk must stay on it.
    pub(super) device: Option<Device>,
}

/// The names of the subdirectories of one directory, and the properties they share.
pub(super) struct Subdirectories<S> {
    /// The path of their parent; empty for operands.
    pub(super) path: Box<[u8]>,
    /// The properties of the parent.
    pub(super) about: About<S>,
    /// Whether some may be symbolic links.
    pub(super) follow: bool,
    first_id: u64,
    names: Box<[u8]>,
    starts: Box<[u32]>,
    /// The positions in the parent.
    positions: Box<[u64]>,
}

/// Marks the start of a name that may be a link to something other than a directory.
const MAY_BE_LINK: u32 = 1 << 31;

impl<S: Clone> Subdirectories<S> {
    pub(super) fn name(&self, index: usize) -> &CStr {
        let start = (self.starts[index] & !MAY_BE_LINK) as usize;
        CStr::from_bytes_until_nul(&self.names[start..]).unwrap_or_default()
    }

    /// Whether this may be a link to something other than a directory: opening it may then fail without a failure.
    pub(super) fn may_be_link(&self, index: usize) -> bool {
        self.starts[index] & MAY_BE_LINK != 0
    }

    /// The properties of a subdirectory before it is opened.
    pub(super) fn about(&self, index: usize) -> About<S> {
        let About { id: parent, depth, ref state, device, .. } = self.about;
        let id = self.first_id + index as u64;
        let nth = self.positions[index];
        About { id, parent, depth: depth + 1, nth, state: state.clone(), ancestors: None, device }
    }
}

/// Collects subdirectories, in memory that is reused.
#[derive(Default)]
pub(super) struct Gathering {
    names: Vec<u8>,
    starts: Vec<u32>,
    pub(super) inos: Vec<u64>,
    positions: Vec<u64>,
}

impl Gathering {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.starts.clear();
        self.inos.clear();
        self.positions.clear();
    }

    /// A piece has at most some thousand names of at most 255 bytes; operands fit on a command line. So 31 bits
    /// suffice; names beyond are left out.
    pub(super) fn push(&mut self, name: &CStr, may_be_link: bool, ino: u64, position: u64) {
        let start = self.names.len() as u32;
        if self.names.len() < MAY_BE_LINK as usize {
            self.starts.push(if may_be_link { start | MAY_BE_LINK } else { start });
            self.names.extend_from_slice(name.to_bytes_with_nul());
            self.inos.push(ino);
            self.positions.push(position);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn group<S>(
        &self,
        path: &[u8],
        about: About<S>,
        follow: bool,
        first_id: u64,
    ) -> Arc<Group<Subdirectories<S>>> {
        let (names, starts) = (self.names.as_slice().into(), self.starts.as_slice().into());
        let (path, positions) = (path.into(), self.positions.as_slice().into());
        Group::new(Subdirectories { path, about, follow, first_id, names, starts, positions }, self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_by_position() {
        let mut gathering = Gathering::default();
        gathering.push(c"a", false, 1, 5);
        gathering.push(c"longer", true, 2, 9);
        let above = About { id: 3, parent: 2, depth: 4, device: Some((1, 2)), ..About::<u8>::default() };
        let group = gathering.group(b"dir", above, false, 7);
        assert_eq!((gathering.len(), group.unclaimed()), (2, 2));
        let all = &group.common;
        assert_eq!((all.name(0), all.may_be_link(0), all.about(0).id, all.about(0).nth), (c"a", false, 7, 5));
        assert_eq!((all.name(1), all.may_be_link(1), all.about(1).id), (c"longer", true, 8));
        let About { parent, depth, nth, device, .. } = all.about(1);
        assert_eq!((parent, depth, nth, device), (3, 5, 9, Some((1, 2))));
        gathering.clear();
        assert_eq!((gathering.len(), gathering.inos.len()), (0, 0));
    }
}
