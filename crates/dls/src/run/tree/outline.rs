//! From a hierarchy in memory to the lines of a tree, and what must be told about it.

use super::super::Listing;
use super::super::directory::Origin;
use super::super::totals::size;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;
use dents_core::batch::Entry;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_core::sort::is_directory;
use dents_core::tree::held::Index;
use dents_core::tree::total::Totals;
use dents_render::Note;
use dents_render::tree::{Line, What};

/// What is to be drawn.
#[derive(Default)]
pub(super) struct Outline {
    pub(super) lines: Vec<Line>,
    /// By the position of an entry; empty if nothing is known of any.
    pub(super) notes: Vec<Note>,
    /// Where entries are, if hyperlinks lead there.
    pub(super) others: Vec<(u32, Option<Vec<u8>>)>,
    /// Directories about which something was told.
    pub(super) told: BTreeSet<Box<[u8]>>,
    /// Where links are followed, directories whose entries are shown.
    shown: BTreeSet<u64>,
}

/// A directory whose entries are being put on lines.
struct Frame {
    entries: Vec<u32>,
    next: usize,
    /// Empty above the operands.
    path: Vec<u8>,
    /// Where it really is, if hyperlinks lead there.
    place: Vec<u8>,
}

impl Listing<'_, '_, '_> {
    /// Goes through the hierarchy depth first, and tells what is wrong on the way.
    pub(super) fn outline(&mut self, index: &Index<'_>, totals: Option<&Totals>) -> Outline {
        let mut outline = Outline::default();
        if totals.is_some() || self.git.is_some() {
            outline.notes = alloc::vec![Note::default(); index.batch().len()];
        }
        let limit = self.plan.hierarchy.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut stack = Vec::from([self.frame(index, 0, Vec::new(), Vec::new(), totals, &mut outline)]);
        loop {
            let depth = stack.len() - 1;
            let Some(frame) = stack.last_mut() else { break };
            let shown = if depth == 0 { usize::MAX } else { limit };
            let left = frame.entries.len() - frame.next;
            if left == 0 || frame.next == shown {
                if left > 0 {
                    outline.lines.push(Line {
                        what: What::More(left as u32),
                        depth: depth as u32,
                        last: true,
                    });
                }
                stack.pop();
                if stack.is_empty() {
                    break;
                }
                continue;
            }
            let place = frame.entries[frame.next];
            frame.next += 1;
            outline.lines.push(Line { what: What::Entry(place), depth: depth as u32, last: left == 1 });
            let below = self.visit(index, place, &stack[depth], depth, &mut outline);
            if let Some((number, path, real)) = below {
                let frame = self.frame(index, number, path, real, totals, &mut outline);
                stack.push(frame);
            }
        }
        outline
    }

    /// What is to be said of an entry, where it is; and the directory that it is, if its entries are to be shown.
    fn visit(
        &mut self,
        index: &Index<'_>,
        place: u32,
        above: &Frame,
        depth: usize,
        outline: &mut Outline,
    ) -> Option<(u64, Vec<u8>, Vec<u8>)> {
        let entry = index.batch().entry(place as usize);
        if depth > 0
            && let Some((asked, errno)) = entry.fault()
        {
            self.fault(&entry, asked, errno, Some(&above.path));
        }
        let number = index.directory(place);
        if number.is_none() && self.plan.style.hyperlink.is_none() {
            return None;
        }
        let path = if depth == 0 { entry.name().to_vec() } else { join(&above.path, entry.name()) };
        let mut real = Vec::new();
        if self.plan.style.hyperlink.is_some() {
            let moves = depth == 0 || matches!(entry.d_kind(), Kind::Link | Kind::Unknown);
            real = if moves { self.canonical(&path) } else { join(&above.place, entry.name()) };
            outline.others.push((place, Some(real.clone())));
        }
        // A directory may have been read nearer to the operand than it is shown.
        let number = number.filter(|_| (depth as u32) < self.plan.hierarchy.tree.unwrap_or(u32::MAX))?;
        if self.plan.follows_entries() && !outline.shown.insert(number) {
            if !index.entries(number).is_empty() {
                outline.lines.push(Line { what: What::Above, depth: depth as u32 + 1, last: true });
            }
            return None;
        }
        let origin = if depth == 0 { Origin::Operand } else { Origin::Below };
        if self.git.is_some() {
            self.ask_git_of_directory(&path, origin);
        }
        for failed in index.failures(number) {
            self.closed(failed, origin);
            outline.told.insert(failed.path.clone());
        }
        Some((number, path, real))
    }

    /// The entries of a directory, in the order of their lines.
    fn frame(
        &mut self,
        index: &Index<'_>,
        number: u64,
        path: Vec<u8>,
        place: Vec<u8>,
        totals: Option<&Totals>,
        outline: &mut Outline,
    ) -> Frame {
        let mut entries: Vec<u32> = index.entries(number).collect();
        if number > 0
            && let Some(some) = self.of_shown_types(index.batch(), &entries)
        {
            entries = some;
        }
        if let Some(totals) = totals {
            let entry = |place: u32| index.batch().entry(place as usize);
            for entry in entries.iter().map(|place| entry(*place)).filter(|entry| entry.kind() == Kind::Dir) {
                let path = if number == 0 { entry.name().to_vec() } else { join(&path, entry.name()) };
                outline.notes[entry.index()].total = Some(totals.get(&path).unwrap_or_default());
            }
            if self.sorts_by_totals() {
                self.sort_frame(&mut entries, entry, &outline.notes);
                if number == 0 {
                    entries.sort_by_key(|place| index.directory(*place).is_some());
                }
            }
        }
        if self.git.is_some() {
            let directory = (number > 0).then_some(&path[..]);
            self.note_git_of_frame(index.batch(), directory, &mut entries, &mut outline.notes);
        }
        Frame { entries, next: 0, path, place }
    }

    /// Largest first; those of one size stay in the order of their names.
    fn sort_frame<'e>(&self, entries: &mut [u32], entry: impl Fn(u32) -> Entry<'e>, notes: &[Note]) {
        let order = &self.plan.order;
        let size = |place: &u32| size(entry(*place).size(), &notes[*place as usize]);
        if order.reverse {
            entries.sort_by_key(size);
        } else {
            entries.sort_by_key(|place| Reverse(size(place)));
        }
        if order.directories_first {
            entries.sort_by_key(|place| !is_directory(&entry(*place)));
        }
    }
}
