//! A frame is the unit of drawing: a batch, its order, and all known facts about its entries.
//!
//! The bytes of a frame depend on the frame, on the style and on its position in the document. No other state is set
//! before, and none is left for the next frame.

use crate::hyperlink::Places;
use crate::note::Note;
use crate::time::Zone;
use alloc::sync::Arc;
use core::ops::Range;
use dents_core::batch::{Batch, Entry, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;

/// The part of a listing that a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The operands that are not listed as directories. Never preceded by a total.
    Operands,
    /// All entries of a directory, preceded by the total if the style has one.
    Directory,
    /// Some entries of a directory, more of which may follow. There is no total, and nothing is aligned across
    /// chunks. (GNU does not align the output that it streams, `-U1`, either.)
    Chunk {
        /// Whether this is the last one. It may be empty.
        last: bool,
    },
}

/// The unit of drawing: the entries of a directory or of a chunk of it, or operands.
#[derive(Clone, Copy)]
pub struct Frame<'f> {
    /// The entries. The batch must have been filled for [`crate::Style::needs`] at least.
    pub batch: &'f Batch,
    /// The entries to draw, in this order. It has no entry twice.
    pub order: &'f [u32],
    /// What the entries are: operands, a directory, or a chunk of one.
    pub kind: FrameKind,
    /// The names of users and groups, for the long format and for rows that have them.
    pub owners: &'f Owners,
    /// The path of the directory as the user named it, for rows; `None` for operands.
    pub directory: Option<&'f [u8]>,
    /// Facts about entries beside their metadata, by position in the batch. Entries beyond the end have none.
    pub notes: &'f [Note],
    /// Entries that are mount points: position in the batch, ascending, and the mount. Shown if
    /// [`crate::View::mounts`] is set.
    pub mounted: &'f [(u32, Mounted)],
    /// The paths of the entries, for hyperlinks.
    pub places: Option<&'f Arc<Places>>,
    /// The present, for the six-month rule and for ages. Read the clock after the last `statx`: otherwise a file that
    /// was changed during the run would have a time in the future.
    pub now: Time,
    /// The zone in which times are shown; `None` for UTC.
    pub zone: Option<&'f Arc<Zone>>,
}

impl<'f> Frame<'f> {
    /// A frame of entries without facts beside their metadata.
    #[must_use]
    pub fn new(batch: &'f Batch, order: &'f [u32], kind: FrameKind, owners: &'f Owners) -> Frame<'f> {
        Frame {
            batch,
            order,
            kind,
            owners,
            directory: None,
            notes: &[],
            mounted: &[],
            places: None,
            now: Time::default(),
            zone: None,
        }
    }
}

/// The rows of a frame, or of a piece of one.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'b> {
    pub(crate) batch: &'b Batch,
    /// Those that are drawn, in this order.
    pub(crate) order: &'b [u32],
    /// The entries that determine the widths of columns; `None` for all of the batch.
    pub(crate) measured: Option<&'b [u32]>,
    pub(crate) kind: FrameKind,
}

impl<'b> Rows<'b> {
    pub(crate) fn shown(self) -> impl Iterator<Item = Entry<'b>> + Clone {
        self.batch.entries(self.order)
    }

    /// These entries, in any order; those of a whole batch in the order of memory.
    pub(crate) fn measured(self) -> impl Iterator<Item = Entry<'b>> + Clone {
        self.measured_at(0..self.measured_count())
    }

    /// The same, some of them.
    pub(crate) fn measured_at(self, places: Range<usize>) -> impl Iterator<Item = Entry<'b>> + Clone {
        places.map(move |place| {
            self.batch.entry(self.measured.map_or(place, |measured| measured[place] as usize))
        })
    }

    pub(crate) fn measured_count(self) -> usize {
        self.measured.map_or(self.batch.len(), <[u32]>::len)
    }

    /// The same rows, only these drawn.
    pub(crate) fn only(self, order: &'b [u32]) -> Rows<'b> {
        Rows { order, ..self }
    }

    /// Whether more of the directory may follow, so that nothing can be aligned.
    pub(crate) fn is_chunk(self) -> bool {
        matches!(self.kind, FrameKind::Chunk { .. })
    }
}
