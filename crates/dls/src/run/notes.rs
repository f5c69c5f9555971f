//! The stage between stat and sort: all that a drawing must know of entries and no `statx` tells. What stands right of it asks
//! nothing.

use super::Listing;
use super::directory::Directory;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;
use dents_render::{Frame, FrameKind, Note, Places, Zone};
use dents_sys::clock;

/// What was found out about the entries of a batch. Each part is empty where no option asks for it.
#[derive(Default)]
pub(super) struct Notes<'l> {
    /// Totals, and what git says, by position.
    pub(super) entries: Vec<Note>,
    /// The positions that are left after git has said what it ignores, ascending; none for all.
    pub(super) kept: Option<Vec<u32>>,
    /// Where the entries are, for hyperlinks.
    pub(super) places: Option<Arc<Places>>,
    /// What is mounted on them.
    pub(super) mounted: Vec<(u32, Mounted)>,
    /// The present, where times are shown. It was read after the last `statx`.
    pub(super) now: Time,
    /// Their zone.
    pub(super) zone: Option<&'l Arc<Zone>>,
}

impl Notes<'_> {
    /// A frame with all of that in it.
    pub(super) fn frame<'f>(
        &'f self,
        batch: &'f Batch,
        order: &'f [u32],
        kind: FrameKind,
        owners: &'f Owners,
    ) -> Frame<'f> {
        let Notes { entries, places, mounted, now, zone, .. } = self;
        let frame = Frame::new(batch, order, kind, owners);
        Frame { notes: entries, places: places.as_ref(), mounted, now: *now, zone: *zone, ..frame }
    }
}

impl<'l> Listing<'l, '_, '_> {
    /// What must be known of a directory's entries. `place` is where the directory is.
    pub(super) fn notes(
        &mut self,
        batch: &Batch,
        directory: Directory<'_>,
        place: Option<&[u8]>,
    ) -> Notes<'l> {
        let mut notes = Notes::default();
        if self.plan.hierarchy.total_ns.is_some() {
            notes.entries = self.total_notes(batch, Some(directory));
        }
        if self.git.is_some() {
            self.note_git(batch, Some(directory), &mut notes);
        }
        if self.plan.style.hyperlink.is_some() {
            notes.places = self.locate(batch, place, directory);
        }
        self.finish_notes(batch, &mut notes);
        notes
    }

    /// What must be known of the operands. Beyond their order only if some are shown as entries.
    pub(super) fn notes_of_operands(&mut self, batch: &Batch, entries: &[u32]) -> Notes<'l> {
        let mut notes = Notes::default();
        if self.plan.hierarchy.total_ns.is_some() {
            notes.entries = self.total_notes(batch, None);
        }
        if entries.is_empty() {
            return notes;
        }
        if self.git.is_some() {
            self.note_git(batch, None, &mut notes);
        }
        if self.plan.style.hyperlink.is_some() {
            notes.places = Some(Arc::new(self.locate_operands(batch)));
        }
        self.finish_notes(batch, &mut notes);
        notes
    }

    /// What is mounted on entries, and the present.
    pub(super) fn finish_notes(&mut self, batch: &Batch, notes: &mut Notes<'l>) {
        if self.plan.style.view.as_ref().is_some_and(|view| view.mounts) {
            notes.mounted = self.mounted(batch);
        }
        if self.plan.shows_times {
            let now = clock::realtime();
            notes.now = Time { sec: now.sec, nsec: now.nsec };
        }
        if self.plan.shows_dates() {
            notes.zone = Some(self.session.zone(self.plan, self.system));
        }
    }
}
