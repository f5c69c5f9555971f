//! What the stage notes gives, and later stages read: the facts that `statx` does not have.

use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;
use dents_render::{Frame, FrameKind, Note, Places, Zone};

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
