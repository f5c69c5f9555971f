//! Draws the view, in place of [`crate::Format::Long`], if the style has a [`View`].
//!
//! One pass measures the columns, a second one writes them, both by the same code (`cells`). Large listings are drawn
//! in pieces. A `Table` takes entries of any number of batches, so that a tree has the same columns from top to
//! bottom.
//!
//! ```text
//! Style::view ─► declare ─► … Frame ─► Table: measure ─► head ─► row (cells, theme, name) ─► Sink
//! ```

mod age;
mod cells;
mod flags;
mod rows;

pub use flags::letters as inode_flags;
pub(crate) use rows::{Beside, Table};

use crate::frame::{Frame, Rows};
use crate::name::Painter;
use crate::note::Note;
use crate::parallel::in_pieces;
use crate::sink::Sink;
use crate::view::View;
use alloc::vec::Vec;
use core::ops::Range;
use dents_core::mounts::Mounted;
use dents_core::team::Team;

/// Facts about entries beside their metadata, by position in the batch.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere<'r> {
    notes: &'r [Note],
    mounted: &'r [(u32, Mounted)],
}

impl<'r> Elsewhere<'r> {
    pub(crate) fn of_frame(frame: &Frame<'r>) -> Elsewhere<'r> {
        Elsewhere { notes: frame.notes, mounted: frame.mounted }
    }

    pub(crate) fn of(&self, index: usize) -> Beside<'r> {
        let mounted = self.mounted.binary_search_by_key(&index, |(at, _)| *at as usize);
        Beside {
            note: self.notes.get(index).copied().unwrap_or_default(),
            mounted: mounted.ok().map(|at| &self.mounted[at].1),
            ..Beside::default()
        }
    }
}

/// Draws a directory, or the operands.
#[cold]
#[inline(never)]
pub(crate) fn render(
    painter: &mut Painter<'_>,
    view: &View,
    (frame, rows): (&Frame<'_>, Rows<'_>),
    team: &Team<'_>,
    out: &mut impl Sink,
) {
    if rows.order.is_empty() {
        return;
    }
    let mut table = Table::new(painter.style(), view, frame);
    let elsewhere = Elsewhere::of_frame(frame);
    measure(&mut table, rows, elsewhere, painter, team);
    if view.header {
        table.head(painter, out.buffer());
    }
    let drawn = in_pieces(rows, painter, team, out, &|rows, painter, out| {
        draw(rows, &mut table.fork(), elsewhere, painter, out);
    });
    if !drawn {
        draw(rows, &mut table, elsewhere, painter, out);
    }
}

fn draw(
    rows: Rows<'_>,
    table: &mut Table<'_>,
    elsewhere: Elsewhere<'_>,
    painter: &mut Painter<'_>,
    out: &mut impl Sink,
) {
    for entry in rows.shown() {
        table.row(&entry, &elsewhere.of(entry.index()), painter, out.buffer());
        out.checkpoint();
    }
}

/// Entries measured at a time by one thread.
const MEASURED: usize = 8192;

pub(crate) fn measure(
    table: &mut Table<'_>,
    rows: Rows<'_>,
    elsewhere: Elsewhere<'_>,
    painter: &Painter<'_>,
    team: &Team<'_>,
) {
    let measure = |places: Range<usize>, table: &mut Table<'_>, painter: &mut Painter<'_>| {
        for entry in rows.measured_at(places) {
            table.measure(&entry, &elsewhere.of(entry.index()), painter);
        }
    };
    let count = rows.measured_count();
    let mut plain = painter.without_color();
    if team.threads() == 1 || count < 2 * MEASURED {
        return measure(0..count, table, &mut plain);
    }
    let part = |start| (start..count.min(start + MEASURED), table.fork(), plain.clone());
    let mut parts: Vec<_> = (0..count).step_by(MEASURED).map(part).collect();
    team.each(&mut parts, &|(places, table, painter)| measure(places.clone(), table, painter));
    parts.iter().for_each(|(_, part, _)| table.join(part));
}

#[cfg(test)]
mod tests;
