//! Large frames, drawn in pieces by several threads.

use crate::frame::Rows;
use crate::name::Painter;
use crate::sink::Sink;
use alloc::vec::Vec;
use dents_core::team::Team;

/// Lines drawn at a time by one thread: half a megabyte of `-l`, a millisecond's work.
const PIECE: usize = 8192;

/// Pieces drawn for each thread before all of them are written: some megabytes of memory.
const ROUND: usize = 4;

/// Draws rows piece by piece on all threads of the team, if there are enough rows. Returns false if there are not;
/// then the caller must draw them.
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
    // A page of a buffer takes memory only when it is written to.
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
