//! `--tree`: everything below the operands, read on all threads, then rendered from top to bottom.
//!
//! ```text
//! operands ─► walk (or, with -L or a deadline, InTurn) ─► Hierarchy ─► owners ─► totals ─► notes ─► outline ─► draw
//! ```
//!
//! The whole tree is in memory before its first line is rendered, because the widths of columns depend on all lines.
//! Errors are reported before it, in the order of the tree, whichever thread met them first.

mod in_turn;
mod notes;
mod outline;
mod walk;

use super::batch_notes::Notes;
use super::directory::Origin;
use super::owners;
use super::stages::Stages;
use crate::plan::TreePlan;
use crate::status::Status;
use crate::timing::Phase;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use dents_core::batch::Asked;
use dents_core::needs::Kind;
use dents_core::tree::hierarchy::Hierarchy;
use dents_render::Places;
use in_turn::InTurn;
use notes::tree_notes;
use outline::outline;
use walk::walk;

impl Stages<'_, '_> {
    /// Shows the trees of all operands. Returns whether there was something to show.
    #[cold]
    #[inline(never)]
    pub(super) fn trees(&mut self, names: &[&CStr], tree: &TreePlan) -> bool {
        let batch = self.operands(names);
        let Stages { session, read, owners, notes, sort, printer } = self;
        let plan = session.plan;
        session.timing.enter(Phase::Sort);
        let mut order = sort.by(&plan.order, &batch, printer);
        order.retain(|index| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _))));
        notes.begin_operands(&batch, &order, &[]);
        let is_root = |index: &u32| !plan.directory && batch.entry(*index as usize).kind() == Kind::Dir;
        // As in a listing, operands that are not directories come first.
        order.sort_by_key(is_root);
        let roots: Vec<u32> = order.iter().copied().filter(is_root).collect();
        let paths: Vec<&CStr> = roots.iter().map(|index| batch.entry(*index as usize).c_name()).collect();
        // The walk reads and stats at the same time.
        session.timing.enter(Phase::Stat);
        let mut hierarchy = if session.timeout.is_some() || plan.follows_entries() {
            InTurn::new(session, tree, (read, sort, printer)).collect(&paths)
        } else {
            walk(session, tree, &paths, printer)
        };
        read.count_entries(&hierarchy.batch);
        let numbered: Vec<(u32, u64)> = roots.iter().copied().zip(1..).collect();
        hierarchy.add(0, &batch, &order, &numbered);
        if hierarchy.batch.is_full() {
            let what = "only a part of the tree is shown: it has more than 4 billion entries";
            printer.message().text(what).send(printer.out);
            printer.raise(Status::Minor);
        }
        owners::learn(owners, &hierarchy.batch, session);
        self.show(hierarchy, tree, &paths)
    }

    /// Computes totals, gets the notes, and renders.
    fn show(&mut self, mut hierarchy: Hierarchy, tree: &TreePlan, roots: &[&CStr]) -> bool {
        let Stages { session, owners, notes, printer, .. } = self;
        let index = hierarchy.index();
        let totals = notes.totals.totals(roots.iter().map(|path| path.to_bytes()), tree.depth);
        session.timing.enter(Phase::Sort);
        let mut known = tree_notes(session, tree, &index, totals.as_ref(), (notes, printer));
        for failed in totals.iter().flat_map(|totals| &totals.failures) {
            if !known.told.contains(&failed.path) {
                printer.closed(failed, Origin::Below);
            }
        }
        let mut others = mem::take(&mut known.others);
        others.sort_unstable();
        let places = Some(Arc::new(Places { directory: Vec::new(), others }));
        let mut all = Notes { entries: mem::take(&mut known.entries), places, ..Notes::default() };
        notes.finish(index.batch(), &mut all);
        let lines = outline(&index, &known, tree);
        printer.draw_tree(index.batch(), &lines, &all, owners);
        !lines.is_empty()
    }
}
