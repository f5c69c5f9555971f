//! `--total-size`: the sizes of directories with everything below them, by a walk of its own.
//!
//! All walks of a run share one time limit. Threads of this process make the requests: if one of them is stuck in the
//! kernel, the listing waits for it, even beyond the limit.

use super::Listing;
use super::directory::{Directory, Origin};
use crate::timing::Phase;
use alloc::ffi::CString;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_core::sort::{Collate, Key};
use dents_core::stat::Mode;
use dents_core::tree::hierarchy::Failed;
use dents_core::tree::total::{Totals, totals};
use dents_core::tree::{Options, Problem};
use dents_render::Note;
use dents_sys::clock;

impl Listing<'_, '_, '_> {
    /// The order of entries by size; the size of a directory is its total.
    #[cold]
    #[inline(never)]
    pub(super) fn sort_by_totals(&mut self, batch: &Batch, notes: &[Note]) -> Vec<u32> {
        let sizes: Vec<u128> = batch.iter().map(|entry| size(entry.size(), &notes[entry.index()])).collect();
        let team = self.team(batch);
        let collate = self.collate.as_deref_mut().map(|rules| rules as &mut dyn Collate);
        self.plan.order.sort_by_size(batch, collate, &team, &sizes)
    }

    /// The totals of the directories in a batch, which has entries of a directory or operands. `.` and `..` are left
    /// out, because they would contain all others. Operands that are listed as directories get a total only if the
    /// order needs it.
    #[cold]
    #[inline(never)]
    pub(super) fn total_notes(&mut self, batch: &Batch, parent: Option<Directory<'_>>) -> Vec<Note> {
        let path = |name: &[u8]| parent.map_or_else(|| name.to_vec(), |parent| join(parent.name(), name));
        let dot = |name: &[u8]| parent.is_some() && matches!(name, b"." | b"..");
        let mut notes = alloc::vec![Note::default(); batch.len()];
        let places = batch.iter().filter(|entry| entry.kind() == Kind::Dir && !dot(entry.name()));
        let mut places: Vec<_> = places.map(|entry| (entry.index(), path(entry.name()))).collect();
        let are_shown = parent.is_some() || self.plan.directory;
        if !are_shown && (places.len() < 2 || self.plan.order.key != Key::Size) {
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
        totals.failures.iter().for_each(|failed| self.closed(failed, Origin::Below));
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
        let budget_ns = self.plan.hierarchy.total_ns?;
        let mut paths: Vec<CString> = paths.filter_map(|path| CString::new(path).ok()).collect();
        paths.sort_unstable();
        paths.dedup();
        self.timing.enter(Phase::Stat);
        let now = clock::monotonic_ns();
        let until_ns = *self.totals_until_ns.get_or_insert_with(|| now.saturating_add(budget_ns));
        let watch = self.resources.threads.watching();
        let workers = self.walkers();
        let options = Options { deadline_ns: Some(until_ns), workers, watch, ..Options::default() };
        Some(totals(paths, levels, &options, self.system.workers))
    }

    /// The number of threads of a walk; `None` for the default.
    pub(super) fn walkers(&self) -> Option<usize> {
        if self.plan.mode == Mode::Classic { Some(1) } else { self.plan.threads }
    }

    /// Reports a directory that could not be opened, or not be read to its end.
    pub(super) fn closed(&mut self, failed: &Failed, origin: Origin) {
        match failed.problem {
            Problem::Open => self.cannot("cannot open directory %s", &failed.path, failed.errno, origin),
            Problem::Read => self.cannot("reading directory %s", &failed.path, failed.errno, origin),
            Problem::Loop => self.already_listed(&failed.path),
        }
    }
}

/// The size to sort by.
pub(super) fn size(own: u64, note: &Note) -> u128 {
    note.total.map_or(own.into(), |total| total.bytes)
}
