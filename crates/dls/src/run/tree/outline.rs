//! From a hierarchy in memory to the lines of a tree. Nothing is asked here: all that a line needs was found out before.

use super::notes::Known;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use dents_core::tree::held::Index;
use dents_render::tree::{Line, What};

/// How much of a tree is shown.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Of so many levels below the operands.
    pub(super) depth: u32,
    /// So many entries of each directory.
    pub(super) limit: usize,
}

/// The entries of a directory, and how many of them have their lines.
struct Frame<'k> {
    entries: &'k [u32],
    next: usize,
}

/// A line for each entry, depth first. A directory that several links lead to has its entries below the first of them.
pub(super) fn outline(index: &Index<'_>, known: &Known, extent: Extent) -> Vec<Line> {
    let (mut lines, mut shown) = (Vec::new(), BTreeSet::new());
    let frame = |number: u64| {
        let entries = known.directories.get(&number).map(Vec::as_slice).unwrap_or_default();
        Frame { entries, next: 0 }
    };
    let mut stack = Vec::from([frame(0)]);
    loop {
        let levels = stack.len() as u32;
        let Some(Frame { entries, next }) = stack.last_mut() else { return lines };
        // All operands are shown.
        let depth = levels - 1;
        let left = entries.len() - *next;
        let Some(place) = entries.get(*next).filter(|_| depth == 0 || *next < extent.limit) else {
            if left > 0 {
                lines.push(Line { what: What::More(left as u32), depth, last: true });
            }
            stack.pop();
            continue;
        };
        *next += 1;
        lines.push(Line { what: What::Entry(*place), depth, last: left == 1 });
        let Some(number) = index.directory(*place).filter(|_| depth < extent.depth) else { continue };
        if shown.insert(number) {
            stack.push(frame(number));
        } else if !index.entries(number).is_empty() {
            lines.push(Line { what: What::Above, depth: depth + 1, last: true });
        }
    }
}
