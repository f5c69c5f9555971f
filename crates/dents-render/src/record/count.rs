//! `--count`: the counts of each directory, in place of its entries.

use super::document::State;
use super::schema::VERSION;
use super::tally::Tally;
use crate::field::Syntax;
use crate::frame::{Frame, FrameKind, Rows};
use crate::number::push_number;
use crate::sink::Sink;
use crate::style::Style;
use alloc::vec::Vec;

/// Counts entries, and after the last entry of the directory writes the counts.
#[cold]
#[inline(never)]
pub(crate) fn count(
    style: &Style,
    state: &mut State,
    (frame, rows): (&Frame<'_>, Rows<'_>),
    out: &mut impl Sink,
) {
    state.here.add(rows.batch, rows.shown(), rows.kind == FrameKind::Operands);
    if rows.kind == (FrameKind::Chunk { last: false }) {
        return;
    }
    let here = core::mem::take(&mut state.here);
    push_count(state, &here, frame.directory, style, out.buffer());
    out.checkpoint();
}

fn push_count(state: &mut State, here: &Tally, directory: Option<&[u8]>, style: &Style, out: &mut Vec<u8>) {
    let Some(record) = &style.record else { return here.push_lines(style.eol, out) };
    state.begin(style, out);
    let first = core::mem::replace(&mut state.first, false);
    match record.syntax {
        Syntax::Csv => here.push_csv(directory, out),
        Syntax::Json => {
            out.extend_from_slice(if first { b"\n{" } else { b",\n{" });
            here.push_json(directory, out);
            out.push(b'}');
        }
        Syntax::Ndjson => {
            out.extend_from_slice(b"{\"v\":");
            push_number(out, VERSION.into(), 0);
            out.push(b',');
            here.push_json(directory, out);
            out.extend_from_slice(b"}\n");
        }
    }
}
