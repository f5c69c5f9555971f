//! The stage `notes` of a tree: git and the places of entries, for those that will be shown, in the order in which they will be.

use super::super::Listing;
use super::super::directory::Origin;
use super::super::totals::size;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use dents_core::batch::Entry;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_core::sort::is_directory;
use dents_core::tree::held::Index;
use dents_core::tree::total::Totals;
use dents_render::Note;

/// What was found out about a tree.
#[derive(Default)]
pub(super) struct Known {
    /// By the position of an entry; empty if nothing is known of any.
    pub(super) entries: Vec<Note>,
    /// Where entries are, if hyperlinks lead there.
    pub(super) others: Vec<(u32, Option<Vec<u8>>)>,
    /// Directories about which something was told.
    pub(super) told: BTreeSet<Box<[u8]>>,
    /// The entries of each directory that is shown, by its number, in the order of their lines; of zero the operands. What git ignores
    /// is left out, if that is wanted.
    pub(super) directories: BTreeMap<u64, Vec<u32>>,
}

/// A directory whose entries are being asked about.
struct Frame {
    number: u64,
    next: usize,
    /// Empty above the operands.
    path: Vec<u8>,
    /// Where it really is, if hyperlinks lead there.
    place: Vec<u8>,
}

impl Listing<'_, '_, '_> {
    /// Goes through the hierarchy depth first, and tells what is wrong on the way.
    pub(super) fn tree_notes(&mut self, index: &Index<'_>, totals: Option<&Totals>) -> Known {
        let mut known = Known::default();
        if totals.is_some() || self.git.is_some() {
            known.entries = alloc::vec![Note::default(); index.batch().len()];
        }
        let limit = self.plan.hierarchy.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut stack = Vec::from([self.frame(index, (0, Vec::new(), Vec::new()), totals, &mut known)]);
        while let Some(frame) = stack.last_mut() {
            let most = if frame.number == 0 { usize::MAX } else { limit };
            let next = known.directories[&frame.number].iter().take(most).nth(frame.next).copied();
            frame.next += 1;
            let Some(place) = next else {
                stack.pop();
                continue;
            };
            let depth = stack.len() - 1;
            if let Some(below) = self.visit(index, place, &stack[depth], depth, &mut known) {
                let frame = self.frame(index, below, totals, &mut known);
                stack.push(frame);
            }
        }
        known
    }

    /// What is to be said of an entry, where it is; and the directory that it is, if its entries are to be shown.
    fn visit(
        &mut self,
        index: &Index<'_>,
        place: u32,
        above: &Frame,
        depth: usize,
        known: &mut Known,
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
            known.others.push((place, Some(real.clone())));
        }
        // A directory may have been read nearer to the operand than it is shown.
        let number = number.filter(|_| (depth as u32) < self.plan.hierarchy.tree.unwrap_or(u32::MAX))?;
        if known.directories.contains_key(&number) {
            return None;
        }
        let origin = if depth == 0 { Origin::Operand } else { Origin::Below };
        if self.git.is_some() {
            self.ask_git_of_directory(&path, origin);
        }
        for failed in index.failures(number) {
            self.closed(failed, origin);
            known.told.insert(failed.path.clone());
        }
        Some((number, path, real))
    }

    /// The entries of a directory, in the order of their lines.
    fn frame(
        &mut self,
        index: &Index<'_>,
        (number, path, place): (u64, Vec<u8>, Vec<u8>),
        totals: Option<&Totals>,
        known: &mut Known,
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
                known.entries[entry.index()].total = Some(totals.get(&path).unwrap_or_default());
            }
            if self.sorts_by_totals() {
                self.sort_frame(&mut entries, entry, &known.entries);
                if number == 0 {
                    entries.sort_by_key(|place| index.directory(*place).is_some());
                }
            }
        }
        if self.git.is_some() {
            let directory = (number > 0).then_some(&path[..]);
            self.note_git_of_frame(index.batch(), directory, &mut entries, &mut known.entries);
        }
        known.directories.insert(number, entries);
        Frame { number, next: 0, path, place }
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
