//! The arrangements of entries, each with what it needs to know of them.

pub(crate) mod columns;
pub(crate) mod commas;
mod frills;
pub(crate) mod lines;
pub(crate) mod long;
pub mod tree;

use crate::Sink;
use crate::name::Painter;
use crate::renderer::Piece;
use alloc::vec::Vec;
use core::ops::Range;
use dents_core::batch::{Batch, Entry};
use dents_core::team::Team;

/// The rows of one piece of a listing.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'b> {
    pub(crate) batch: &'b Batch,
    /// Those that are drawn, in this order.
    pub(crate) order: &'b [u32],
    /// Those that columns are made wide enough for; `None` for all of the batch.
    pub(crate) measured: Option<&'b [u32]>,
    pub(crate) piece: Piece,
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
        matches!(self.piece, Piece::Chunk { .. })
    }
}

/// The entries on lines of a tree.
fn in_order(lines: &[tree::Line]) -> Vec<u32> {
    let entry = |line: &tree::Line| match line.what {
        tree::What::Entry(place) => Some(place),
        tree::What::More(_) | tree::What::Above => None,
    };
    lines.iter().filter_map(entry).collect()
}

/// Lines drawn at a time by one thread: half a megabyte of `-l`, a millisecond's work.
const PIECE: usize = 8192;

/// Pieces drawn for each thread before all of them are written: the memory of it is some megabytes.
const ROUND: usize = 4;

/// Draws rows piece by piece, on all of the team, if there are enough of them. Returns whether it did: if not, they are
/// the caller's to draw.
pub(crate) fn in_pieces<'s>(
    rows: Rows<'_>,
    painter: &mut Painter<'s>,
    team: &Team<'_>,
    out: &mut impl Sink,
    draw: &(dyn Fn(Rows<'_>, &mut Painter<'s>, &mut Vec<u8>) + Sync),
) -> bool {
    if team.threads() == 1 || rows.order.len() < 2 * PIECE {
        return false;
    }
    let mut buffers = Vec::new();
    // Of what is not filled, nothing is touched.
    buffers.resize_with(team.threads() * ROUND, || Vec::with_capacity(PIECE * 64));
    for round in rows.order.chunks(PIECE * buffers.len()) {
        let part = |(order, buffer)| (rows.only(order), painter.fork(), buffer);
        let mut pieces: Vec<_> = round.chunks(PIECE).zip(&mut buffers).map(part).collect();
        team.each(&mut pieces, &|(rows, painter, buffer)| {
            buffer.clear();
            draw(*rows, painter, buffer);
        });
        for (_, fork, drawn) in &pieces {
            painter.join(fork, drawn).into_iter().for_each(|bytes| out.append(bytes));
        }
    }
    true
}

#[cfg(test)]
mod tests;
