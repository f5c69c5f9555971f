//! Starts a walk at directories below the operands, as if their parents had just been read: to resume an interrupted
//! walk, or to walk a part of a tree.

use super::ancestors::{Ancestors, Device};
use super::shared::Shared;
use super::subdirectories::{About, Gathering};
use super::worker::Worker;
use super::{Follow, open};
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, Result};

/// A directory to continue with. Its own row was written when its parent was read, and is not yielded again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartPoint {
    /// The path of its parent, beginning with the operand; empty for an operand.
    pub parent: Vec<u8>,
    /// Its name; for an operand, the whole path.
    pub name: CString,
    /// The depth of its entries, relative to the operand: 1 for an operand.
    pub depth: u32,
}

impl<S: Clone + Default + Send + Sync> Worker<S> {
    /// Puts the start points on the stack. Consecutive ones with the same parent form a group.
    ///
    /// The device to stay on and the ancestors, for finding loops, are found again from the path; the visitor's state
    /// is the default. Costs a few requests for each parent if one of the two is needed, else nothing.
    pub(super) fn push_start_points(&mut self, start_points: &[StartPoint], shared: &Shared<'_, S>) {
        let mut gathering = Gathering::default();
        let same =
            |one: &StartPoint, other: &StartPoint| (one.depth, &one.parent) == (other.depth, &other.parent);
        for group in start_points.chunk_by(same) {
            let (parent, depth) = (&group[0].parent, group[0].depth);
            let mut about = About { depth: depth.saturating_sub(1), ..About::default() };
            if depth > 1 {
                // On an error the check is skipped here; opening the directory fails if something is wrong.
                about.device = self.device(parent, depth, shared).unwrap_or_default();
                about.ancestors = self.ancestors(parent, depth, shared).unwrap_or_default();
            }
            gathering.clear();
            // It is no longer known whether this is a link to something else.
            let may_be_link = shared.options.follow == Follow::Always;
            group.iter().for_each(|one| gathering.push(&one.name, may_be_link, 0, 0));
            self.publish(&gathering, parent, about, None, shared);
        }
    }

    /// The device of the operand, if the walk must stay on it.
    fn device(&mut self, parent: &[u8], depth: u32, shared: &Shared<'_, S>) -> Result<Option<Device>> {
        if !shared.options.one_file_system {
            return Ok(None);
        }
        let operand = above(parent, depth - 2);
        let operand = open::for_lookup(shared.options.at, operand, &mut self.tally.requests)?;
        shared.border.found(operand.as_fd(), &mut self.tally.requests).map(Some)
    }

    /// The parent and its ancestors, if loops are found.
    fn ancestors(
        &mut self,
        parent: &[u8],
        depth: u32,
        shared: &Shared<'_, S>,
    ) -> Result<Option<Arc<Ancestors>>> {
        if !shared.finds_loops() {
            return Ok(None);
        }
        let mut ancestors = None;
        for levels in (0..=depth - 2).rev() {
            let place = open::for_lookup(shared.options.at, above(parent, levels), &mut self.tally.requests)?;
            self.tally.requests += 1;
            let statx = stat::fstat(place.as_fd(), Mask::INO)?;
            ancestors = Ancestors::child(ancestors.as_ref(), statx.dev(), statx.ino()).or(ancestors);
        }
        Ok(ancestors)
    }
}

/// The ancestor of `path`, this many levels up.
fn above(path: &[u8], levels: u32) -> &[u8] {
    let mut path = path;
    for _ in 0..levels {
        let Some(slash) = memchr::memrchr(b'/', path) else { break };
        path = if slash == 0 { b"/" } else { &path[..slash] };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_a_path_is_its_operand() {
        assert_eq!(above(b"a/b/c", 0), b"a/b/c");
        assert_eq!(above(b"a/b/c", 2), b"a");
        assert_eq!(above(b"/usr/share", 1), b"/usr");
        assert_eq!(above(b"/usr/share", 2), b"/");
        assert_eq!(above(b"../x", 1), b"..");
    }
}
