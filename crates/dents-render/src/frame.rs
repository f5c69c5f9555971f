//! What is drawn at a time: a batch, its order, and all that was found out about its entries.
//!
//! The bytes of a frame follow from it, from the style and from the place in the document; nothing is set beforehand and
//! nothing is left for the next frame.

use crate::hyperlink::Places;
use crate::note::Note;
use crate::time::Zone;
use alloc::sync::Arc;
use core::ops::Range;
use dents_core::batch::{Batch, Entry, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;

/// What a frame is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The operands that are not listed as directories. Never preceded by a total.
    Operands,
    /// All entries of a directory, preceded by the total if the style has one.
    Directory,
    /// Some entries of a directory, more of which may follow: no total, and nothing is aligned across chunks.
    /// What GNU streams (`-U1`) it does not align either.
    Chunk {
        /// Whether this is the last one. It may be empty.
        last: bool,
    },
}

/// What is drawn at a time.
#[derive(Clone, Copy)]
pub struct Frame<'f> {
    /// The entries. The batch must have been filled for [`crate::Style::needs`] at least.
    pub batch: &'f Batch,
    /// Those that are drawn, in this order. No entry stands there twice.
    pub order: &'f [u32],
    /// What they are part of.
    pub kind: FrameKind,
    /// The names of users and groups, for the long format and for rows that have them.
    pub owners: &'f Owners,
    /// The directory as it was named, for rows; none for operands.
    pub directory: Option<&'f [u8]>,
    /// What is known of entries beside their metadata, by position in the batch; nothing of those beyond the end.
    pub notes: &'f [Note],
    /// What is mounted on entries: position in the batch, ascending, and what. Shown where [`crate::View::mounts`] is set.
    pub mounted: &'f [(u32, Mounted)],
    /// Where the entries are, for hyperlinks.
    pub places: Option<&'f Arc<Places>>,
    /// The time that the six-month rule and ages count from. Read the clock after the last `statx`: a file that was changed
    /// during the run must not look as if it came from the future.
    pub now: Time,
    /// The zone that times are shown in; none for UTC.
    pub zone: Option<&'f Arc<Zone>>,
}

impl<'f> Frame<'f> {
    /// Entries of which nothing is known beside their metadata.
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
    /// Those that columns are made wide enough for; `None` for all of the batch.
    pub(crate) measured: Option<&'b [u32]>,
    pub(crate) kind: FrameKind,
}

impl<'b> Rows<'b> {
    pub(crate) fn shown(self) -> impl Iterator<Item = Entry<'b>> + Clone {
        self.batch.entries(self.order)
    }

    /// In any order: all of a batch are visited as they stand in memory.
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
