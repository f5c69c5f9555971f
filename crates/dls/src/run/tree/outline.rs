//! From a hierarchy in memory to the lines of a tree, without system calls.

use super::notes::TreeNotes;
use crate::plan::TreePlan;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use dents_core::tree::hierarchy::Index;
use dents_render::tree::{Line, What};

/// The entries of a directory, and the number of those that have their lines.
struct Frame<'k> {
    entries: &'k [u32],
    next: usize,
}

/// A line for each entry, depth first. If several links lead to one directory, its entries are below the first link.
pub(super) fn outline(index: &Index<'_>, known: &TreeNotes, tree: &TreePlan) -> Vec<Line> {
    let (mut lines, mut shown) = (Vec::new(), BTreeSet::new());
    let frame = |number: u64| {
        let entries = known.directories.get(&number).map(Vec::as_slice).unwrap_or_default();
        Frame { entries, next: 0 }
    };
    let mut stack = Vec::from([frame(0)]);
    loop {
        let levels = stack.len() as u32;
        let Some(Frame { entries, next }) = stack.last_mut() else { return lines };
        // The operands are on a level of their own, which is always shown.
        let depth = levels - 1;
        let left = entries.len() - *next;
        let Some(place) = entries.get(*next).filter(|_| depth == 0 || *next < tree.limit) else {
            if left > 0 {
                lines.push(Line { what: What::More(left as u32), depth, last: true });
            }
            stack.pop();
            continue;
        };
        *next += 1;
        lines.push(Line { what: What::Entry(*place), depth, last: left == 1 });
        let Some(number) = index.directory(*place).filter(|_| depth < tree.depth) else { continue };
        if shown.insert(number) {
            stack.push(frame(number));
        } else if !index.entries(number).is_empty() {
            lines.push(Line { what: What::Above, depth: depth + 1, last: true });
        }
    }
}
