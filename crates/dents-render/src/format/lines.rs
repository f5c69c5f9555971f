//! `-1`: one name a line.

use super::frills::Frills;
use super::{Rows, in_pieces};
use crate::Sink;
use crate::name::Painter;
use crate::renderer::Renderer;
use crate::style::Style;
use dents_core::team::Team;

pub(crate) fn render(renderer: &mut Renderer<'_>, rows: Rows<'_>, team: &Team<'_>, out: &mut impl Sink) {
    let Renderer { style, painter, .. } = renderer;
    let style: &Style = style;
    let frills = if rows.is_chunk() { Frills::unaligned(style) } else { Frills::aligned(style, rows) };
    if !in_pieces(rows, painter, team, out, &|rows, painter, out| draw(style, &frills, rows, painter, out)) {
        draw(style, &frills, rows, painter, out);
    }
}

fn draw(style: &Style, frills: &Frills, rows: Rows<'_>, painter: &mut Painter<'_>, out: &mut impl Sink) {
    if frills.is_empty() && painter.is_bare() {
        for entry in rows.shown() {
            let buffer = out.buffer();
            painter.bare(entry.name(), buffer);
            buffer.push(style.eol);
            out.checkpoint();
        }
        return;
    }
    for entry in rows.shown() {
        let buffer = out.buffer();
        painter.begin_line(buffer);
        frills.write(style, &entry, buffer);
        painter.name(&entry, 0, buffer);
        buffer.extend(painter.indicator(&entry));
        buffer.push(style.eol);
        out.checkpoint();
    }
}
