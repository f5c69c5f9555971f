//! The stage between stat and sort: the facts that `statx` does not have. Later stages make no system call.

use super::Listing;
use super::directory::Directory;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;
use dents_render::{Frame, FrameKind, Note, Places, Zone};
use dents_sys::clock;

/// The notes of a batch. A part is empty if no option needs it.
#[derive(Default)]
pub(super) struct Notes<'l> {
    /// Totals and git states, by position.
    pub(super) entries: Vec<Note>,
    /// The positions of the entries that git does not ignore, ascending; `None` for all entries.
    pub(super) kept: Option<Vec<u32>>,
    /// The absolute paths of the entries, for hyperlinks.
    pub(super) places: Option<Arc<Places>>,
    /// The mounts on them.
    pub(super) mounted: Vec<(u32, Mounted)>,
    /// The current time, if times are shown, read after the last `statx`.
    pub(super) now: Time,
    /// The zone of the times.
    pub(super) zone: Option<&'l Arc<Zone>>,
}

impl Notes<'_> {
    /// A frame with these notes.
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
    /// The notes of a directory's entries. `place` is the absolute path of the directory.
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

    /// The notes of the operands. Those that are directories need notes only for the order.
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

    /// Adds the mounts and the current time.
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
