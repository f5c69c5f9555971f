//! Roots that are not directories: another root may contain them.
//!
//! A name is identified by its directory and its last component, not by its inode, which other names may have.

use crate::entry::{Found, Origin};
use crate::inode::Inode;
use crate::overlap;
use dents_core::needs::Kind;
use dents_core::tree::Follow;
use std::collections::HashSet;
use std::ffi::{CStr, CString};

/// The names that were counted as roots.
#[derive(Default)]
pub(super) struct Roots {
    /// Their directories and last components.
    names: HashSet<(Inode, Box<[u8]>)>,
    /// Their inode numbers: a cheap first test.
    numbers: HashSet<u64>,
    /// The roots that repeat the name of an earlier root, by their position.
    again: Vec<usize>,
}

impl Roots {
    /// Costs, if there are several roots, two `statx` for each root that is not a directory, and one for each directory.
    pub(super) fn new(paths: &[CString], follow: Follow) -> Roots {
        let mut roots = Roots::default();
        if paths.len() > 1 {
            paths.iter().enumerate().for_each(|(nth, path)| roots.learn(nth, path, follow));
        }
        roots
    }

    fn learn(&mut self, nth: usize, path: &CStr, follow: Follow) {
        let Some((inode, _)) = overlap::root(path, follow).filter(|(_, kind)| *kind != Kind::Dir) else {
            return;
        };
        let path = path.to_bytes();
        let (parent, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..=slash], &path[slash + 1..]),
            None => (&b"."[..], path),
        };
        let parent = CString::new(parent).ok().and_then(|parent| overlap::root(&parent, Follow::Operands));
        let Some((parent, _)) = parent else { return };
        self.numbers.insert(inode.ino);
        if !self.names.insert((parent, name.into())) {
            self.again.push(nth);
        }
    }

    /// Whether there are no such roots.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether an entry that is not a directory was counted as a root. One `statx` if it has the inode number of a root, by
    /// `readdir`.
    pub(super) fn hold(&self, found: &Found<'_>) -> bool {
        let Origin::Live(place, entry) = found.origin else { return false };
        if place.depth == 0 {
            return self.again.contains(&entry.index());
        }
        self.numbers.contains(&entry.d_ino())
            && overlap::directory(place.dir)
                .is_some_and(|dir| self.names.contains(&(dir, entry.name().into())))
    }
}
