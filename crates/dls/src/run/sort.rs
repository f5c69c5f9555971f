//! The stage before render: the order of entries, without system calls.

use super::batch_notes::Notes;
use super::printer::Printer;
use super::rules::Rules;
use super::session::Session;
use super::totals::size;
use crate::timing::Phase;
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::sort::{Collate, Key, Order};

/// Needs a batch and its notes; gives a permutation.
pub(super) struct SortStage<'l> {
    session: &'l Session<'l>,
    /// The order of names in the user's locale; `None` for the order of bytes. Its buffers are reused.
    pub(super) rules: Option<Box<Rules>>,
}

impl<'l> SortStage<'l> {
    pub(super) fn new(session: &'l Session<'l>) -> SortStage<'l> {
        SortStage { session, rules: session.collate.and_then(Rules::new) }
    }

    /// The order of a directory's entries; `known` if a worker has sorted them already. Entries that git ignores are left
    /// out if the plan demands that.
    pub(super) fn order(
        &mut self,
        known: Option<Vec<u32>>,
        batch: &Batch,
        notes: &Notes<'_>,
        printer: &mut Printer<'_, '_>,
    ) -> Vec<u32> {
        let known = known.filter(|_| self.session.plan.total_ns.is_none());
        let mut order = known.unwrap_or_else(|| self.sort(batch, notes, printer));
        if let Some(kept) = &notes.kept {
            order.retain(|index| kept.binary_search(index).is_ok());
        }
        order
    }

    /// The order of entries, from the batch and the notes. The printer measures widths, if they determine the order.
    pub(super) fn sort(
        &mut self,
        batch: &Batch,
        notes: &Notes<'_>,
        printer: &mut Printer<'_, '_>,
    ) -> Vec<u32> {
        self.session.timing.enter(Phase::Sort);
        if self.session.plan.sorts_by_totals() {
            return self.by_totals(batch, notes);
        }
        self.by(&self.session.plan.order, batch, printer)
    }

    /// The order without totals.
    pub(super) fn by(&mut self, order: &Order, batch: &Batch, printer: &mut Printer<'_, '_>) -> Vec<u32> {
        let team = self.session.team(batch);
        let collate = self.rules.as_deref_mut().map(|rules| rules as &mut dyn Collate);
        match order.key {
            Key::Width => order.sort_by_width(batch, collate, &team, &printer.widths(batch)),
            _ => order.sort(batch, collate, &team),
        }
    }

    /// By size, where the size of a directory is its total.
    #[cold]
    #[inline(never)]
    fn by_totals(&mut self, batch: &Batch, notes: &Notes<'_>) -> Vec<u32> {
        let size = |index: usize, own: u64| size(own, &notes.entries[index]);
        let sizes: Vec<u128> = batch.iter().map(|entry| size(entry.index(), entry.size())).collect();
        let team = self.session.team(batch);
        let collate = self.rules.as_deref_mut().map(|rules| rules as &mut dyn Collate);
        self.session.plan.order.sort_by_size(batch, collate, &team, &sizes)
    }
}
