//! The notes of a tree: git states and absolute paths of the entries that will be shown, in the order of the lines.

use super::super::directory::Origin;
use super::super::notes::NoteStage;
use super::super::printer::Printer;
use super::super::select::of_shown_types;
use super::super::session::Session;
use super::super::totals::size;
use crate::plan::TreePlan;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use dents_core::batch::Entry;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_core::sort::{Order, is_directory};
use dents_core::tree::hierarchy::Index;
use dents_core::tree::total::Totals;
use dents_render::Note;

/// The notes of a tree.
#[derive(Default)]
pub(super) struct TreeNotes {
    /// By position of the entry; empty if no entry has any.
    pub(super) entries: Vec<Note>,
    /// The absolute paths of entries, for hyperlinks.
    pub(super) others: Vec<(u32, Option<Vec<u8>>)>,
    /// Directories whose errors have been reported.
    pub(super) told: BTreeSet<Box<[u8]>>,
    /// The entries of each shown directory, by its number, in the order of their lines; number 0 has the operands.
    /// Entries that git ignores are left out if the plan demands that.
    pub(super) directories: BTreeMap<u64, Vec<u32>>,
}

/// A directory whose entries are being visited.
struct Frame {
    number: u64,
    next: usize,
    /// Empty for the directory of the operands.
    path: Vec<u8>,
    /// Its absolute path, if hyperlinks need it.
    place: Vec<u8>,
}

/// Visits a hierarchy depth first, and reports errors on the way. `totals`: those of its directories, if they are shown.
pub(super) fn tree_notes<'l, 'o>(
    session: &Session<'_>,
    tree: &TreePlan,
    index: &Index<'_>,
    totals: Option<&Totals>,
    (stage, printer): (&mut NoteStage<'l>, &mut Printer<'l, 'o>),
) -> TreeNotes {
    let mut known = TreeNotes::default();
    if totals.is_some() || stage.git.is_some() {
        known.entries = alloc::vec![Note::default(); index.batch().len()];
    }
    let mut visit = Visit { session, tree, index, totals, stage, printer, known };
    let mut stack = Vec::from([visit.frame((0, Vec::new(), Vec::new()))]);
    while let Some(frame) = stack.last_mut() {
        let most = if frame.number == 0 { usize::MAX } else { tree.limit };
        let next = visit.known.directories[&frame.number].iter().take(most).nth(frame.next).copied();
        frame.next += 1;
        let Some(place) = next else {
            stack.pop();
            continue;
        };
        let depth = stack.len() - 1;
        if let Some(below) = visit.entry(place, &stack[depth], depth) {
            stack.push(visit.frame(below));
        }
    }
    visit.known
}

/// A visit of all shown entries.
struct Visit<'v, 'l, 'o> {
    session: &'v Session<'v>,
    tree: &'v TreePlan,
    index: &'v Index<'v>,
    totals: Option<&'v Totals>,
    stage: &'v mut NoteStage<'l>,
    printer: &'v mut Printer<'l, 'o>,
    known: TreeNotes,
}

impl Visit<'_, '_, '_> {
    /// Adds the notes of an entry. Returns the directory that it is, if its entries are to be shown.
    fn entry(&mut self, place: u32, above: &Frame, depth: usize) -> Option<(u64, Vec<u8>, Vec<u8>)> {
        let (index, plan) = (self.index, self.session.plan);
        let entry = index.batch().entry(place as usize);
        if depth > 0
            && let Some((asked, errno)) = entry.fault()
        {
            self.printer.fault(&entry, asked, errno, Some(&above.path));
        }
        let number = index.directory(place);
        if number.is_none() && plan.style.names.hyperlink.is_none() {
            return None;
        }
        let path = if depth == 0 { entry.name().to_vec() } else { join(&above.path, entry.name()) };
        let mut real = Vec::new();
        if plan.style.names.hyperlink.is_some() {
            let moves = depth == 0 || matches!(entry.d_kind(), Kind::Link | Kind::Unknown);
            real = if moves { self.stage.paths.canonical(&path) } else { join(&above.place, entry.name()) };
            self.known.others.push((place, Some(real.clone())));
        }
        // A directory may have been read at a smaller depth than the one at which it is shown.
        let number = number.filter(|_| (depth as u32) < self.tree.depth)?;
        if self.known.directories.contains_key(&number) {
            return None;
        }
        let origin = if depth == 0 { Origin::Operand } else { Origin::Below };
        self.stage.begin_directory(&path, origin);
        for failed in index.failures(number) {
            self.printer.closed(failed, origin);
            self.known.told.insert(failed.path.clone());
        }
        Some((number, path, real))
    }

    /// The entries of a directory, in the order of their lines.
    fn frame(&mut self, (number, path, place): (u64, Vec<u8>, Vec<u8>)) -> Frame {
        let (index, plan) = (self.index, self.session.plan);
        let mut entries: Vec<u32> = index.entries(number).collect();
        if number > 0
            && let Some(some) = of_shown_types(plan, index.batch(), &entries)
        {
            entries = some;
        }
        if let Some(totals) = self.totals {
            let entry = |place: u32| index.batch().entry(place as usize);
            for entry in entries.iter().map(|place| entry(*place)).filter(|entry| entry.kind() == Kind::Dir) {
                let path = if number == 0 { entry.name().to_vec() } else { join(&path, entry.name()) };
                self.known.entries[entry.index()].total = Some(totals.get(&path).unwrap_or_default());
            }
            if plan.sorts_by_totals() {
                sort_frame(&plan.order, &mut entries, entry, &self.known.entries);
                if number == 0 {
                    entries.sort_by_key(|place| index.directory(*place).is_some());
                }
            }
        }
        if let Some(git) = &mut self.stage.git {
            let directory = (number > 0).then_some(&path[..]);
            let tools = (&mut self.stage.paths, &mut *self.printer);
            git.note(index.batch(), directory, &mut entries, &mut self.known.entries, tools);
        }
        self.known.directories.insert(number, entries);
        Frame { number, next: 0, path, place }
    }
}

/// Sorts by size, the largest first; entries of one size keep their order.
fn sort_frame<'e>(order: &Order, entries: &mut [u32], entry: impl Fn(u32) -> Entry<'e>, notes: &[Note]) {
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
