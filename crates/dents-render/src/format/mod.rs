//! The arrangements of entries, each with what it needs to know of them.

pub(crate) mod columns;
pub(crate) mod commas;
mod frills;
pub(crate) mod lines;
pub(crate) mod long;

use crate::renderer::Piece;
use dents::batch::{Batch, Entry};

/// The rows of one piece of a listing.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'b> {
    pub(crate) batch: &'b Batch,
    /// Those that are drawn, in this order.
    pub(crate) order: &'b [u32],
    /// Those that columns are made wide enough for.
    pub(crate) measured: &'b [u32],
    pub(crate) piece: Piece,
}

impl<'b> Rows<'b> {
    pub(crate) fn shown(self) -> impl Iterator<Item = Entry<'b>> + Clone {
        self.order.iter().map(move |index| self.batch.entry(*index as usize))
    }

    pub(crate) fn measured(self) -> impl Iterator<Item = Entry<'b>> + Clone {
        self.measured.iter().map(move |index| self.batch.entry(*index as usize))
    }

    /// Whether more of the directory may follow, so that nothing can be aligned.
    pub(crate) fn is_chunk(self) -> bool {
        matches!(self.piece, Piece::Chunk { .. })
    }
}

#[cfg(test)]
mod tests;
