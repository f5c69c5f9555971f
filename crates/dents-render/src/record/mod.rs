//! Output for programs: a listing as JSON, NDJSON or CSV.
//!
//! It is a format like the others, with two differences. Values are exact: sizes in bytes, times in UTC, unknown
//! values as null. And a run is one document, with text before the first entry and after the last; a `State` is kept
//! in between. docs/OUTPUT.md describes the formats to users.
//!
//! ```text
//! Batch ─► row (a Writer: one field after the other) ─► text, time, words ─► Sink
//!      └─► tally (--count, --summary)
//! ```
//!
//! Fields and words are those of `dents scan`: a row has the same meaning in both programs. Items that both use are
//! public.

mod cells;
mod count;
mod document;
mod errno;
mod row;
mod schema;
mod tally;
pub mod text;
pub mod time;
pub mod words;

pub use crate::field::{Field, Record, Syntax};
pub use cells::Cells;
pub use errno::errno_name;
pub use schema::VERSION;

pub(crate) use count::count;
pub(crate) use document::State;

use crate::consumer::{Consumer, Declare};
use crate::frame::{Frame, Rows};
use crate::name::Painter;
use crate::parallel::in_pieces;
use crate::sink::Sink;
use crate::style::{Format, Style};
use alloc::vec::Vec;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::team::Team;
use row::Writer;

/// Declares the needs of the formats of this module and of the summary.
#[cold]
#[inline(never)]
pub(crate) fn declare(style: &Style, to: &mut Declare<'_>) {
    if let (Some(record), Format::Record) = (&style.record, style.format) {
        let needs = record.fields.iter().fold(NeedsByKind::default(), |all, field| all | field.needs());
        let mark = if record.fields.contains(&Field::Acl) { style.long.mark } else { Needs::empty() };
        to(Consumer::Record, needs | NeedsByKind::all(mark));
    }
    if style.format == Format::Count {
        to(Consumer::Count, NeedsByKind::all(Needs::TYPE));
    }
    if style.summary {
        to(Consumer::Summary, NeedsByKind::all(Needs::TYPE));
    }
}

/// Rows of a frame.
#[cold]
#[inline(never)]
pub(crate) fn render(
    painter: &mut Painter<'_>,
    state: &mut State,
    (frame, rows): (&Frame<'_>, Rows<'_>),
    team: &Team<'_>,
    out: &mut impl Sink,
) {
    let style = painter.style();
    let Some(record) = &style.record else { return };
    state.begin(style, out.buffer());
    let writer = |first: bool| Writer::new(record, first, frame);
    // Commas separate the rows of a document, so the first row of all is drawn by itself.
    let (first, rest) = rows.order.split_at(usize::from(state.first && !rows.order.is_empty()));
    draw(rows.only(first), &mut writer(true), out);
    let rest = rows.only(rest);
    let piece = |rows: Rows<'_>, _: &mut Painter<'_>, out: &mut Vec<u8>| draw(rows, &mut writer(false), out);
    if !in_pieces(rest, painter, team, out, &piece) {
        draw(rest, &mut writer(false), out);
    }
    state.first &= rows.order.is_empty();
}

fn draw(rows: Rows<'_>, writer: &mut Writer<'_>, out: &mut impl Sink) {
    for entry in rows.shown() {
        writer.write(&entry, out.buffer());
        out.checkpoint();
    }
}

#[cfg(test)]
mod tests;
