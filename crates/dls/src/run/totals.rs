//! `--total-size`: the sizes of directories with everything below them, by a walk of its own.
//!
//! All walks of a run share one time limit. Threads of this process make the requests: if one of them is stuck in the
//! kernel, the listing waits for it, even beyond the limit.

use super::directory::{Directory, Origin};
use super::printer::Printer;
use super::session::Session;
use crate::timing::Phase;
use alloc::ffi::CString;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_core::sort::Key;
use dents_core::tree::Options;
use dents_core::tree::total::{Totals, totals};
use dents_render::Note;
use dents_sys::clock;

/// The walks for totals. Needs directories; gives the total of each.
pub(super) struct TotalSizes<'l> {
    session: &'l Session<'l>,
    /// The time limit; `None` until the first is computed.
    until_ns: Option<u64>,
}

impl<'l> TotalSizes<'l> {
    pub(super) fn new(session: &'l Session<'l>) -> TotalSizes<'l> {
        TotalSizes { session, until_ns: None }
    }

    /// The totals of the directories in a batch, which has entries of a directory or operands. `.` and `..` are left
    /// out, because they would contain all others. Operands that are listed as directories get a total only if the
    /// order needs it.
    #[cold]
    #[inline(never)]
    pub(super) fn notes(
        &mut self,
        batch: &Batch,
        parent: Option<Directory<'_>>,
        printer: &mut Printer<'_, '_>,
    ) -> Vec<Note> {
        let path = |name: &[u8]| parent.map_or_else(|| name.to_vec(), |parent| join(parent.name(), name));
        let dot = |name: &[u8]| parent.is_some() && matches!(name, b"." | b"..");
        let mut notes = alloc::vec![Note::default(); batch.len()];
        let places = batch.iter().filter(|entry| entry.kind() == Kind::Dir && !dot(entry.name()));
        let mut places: Vec<_> = places.map(|entry| (entry.index(), path(entry.name()))).collect();
        let are_shown = parent.is_some() || self.session.plan.directory;
        if !are_shown && (places.len() < 2 || self.session.plan.order.key != Key::Size) {
            places.clear();
        }
        if places.is_empty() {
            return notes;
        }
        let Some(totals) = self.totals(places.iter().map(|(_, path)| &path[..]), 0) else { return notes };
        // A directory that the walk did not reach has the total 0, marked as incomplete.
        for (index, path) in &places {
            notes[*index].total = Some(totals.get(path).unwrap_or_default());
        }
        totals.failures.iter().for_each(|failed| printer.closed(failed, Origin::Below));
        notes
    }

    /// Computes the totals of directories, and of their subdirectories to this depth.
    #[cold]
    #[inline(never)]
    pub(super) fn totals<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p [u8]>,
        levels: u32,
    ) -> Option<Totals> {
        let budget_ns = self.session.plan.total_ns?;
        let mut paths: Vec<CString> = paths.filter_map(|path| CString::new(path).ok()).collect();
        paths.sort_unstable();
        paths.dedup();
        self.session.timing.enter(Phase::Stat);
        let now = clock::monotonic_ns();
        let until_ns = *self.until_ns.get_or_insert_with(|| now.saturating_add(budget_ns));
        let watch = self.session.threads.watching();
        let workers = self.session.walkers();
        let mounts_loop = self.session.mounts.any_loop();
        let options =
            Options { deadline_ns: Some(until_ns), workers, watch, mounts_loop, ..Options::default() };
        Some(totals(paths, levels, &options, self.session.system.workers))
    }
}

/// The size to sort by.
pub(super) fn size(own: u64, note: &Note) -> u128 {
    note.total.map_or(own.into(), |total| total.bytes)
}
