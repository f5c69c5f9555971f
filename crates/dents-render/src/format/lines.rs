//! `-1`: one name on each line.

use super::prefix::Prefix;
use crate::frame::Rows;
use crate::name::Painter;
use crate::parallel::in_pieces;
use crate::sink::Sink;
use crate::style::Style;
use dents_core::team::Team;

pub(crate) fn render(painter: &mut Painter<'_>, rows: Rows<'_>, team: &Team<'_>, out: &mut impl Sink) {
    let style = painter.style();
    let prefix = if rows.is_chunk() { Prefix::unaligned(style) } else { Prefix::aligned(style, rows) };
    if !in_pieces(rows, painter, team, out, &|rows, painter, out| draw(style, &prefix, rows, painter, out)) {
        draw(style, &prefix, rows, painter, out);
    }
}

fn draw(style: &Style, prefix: &Prefix, rows: Rows<'_>, painter: &mut Painter<'_>, out: &mut impl Sink) {
    if prefix.is_empty() && painter.is_bare() {
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
        prefix.write(style, &entry, buffer);
        painter.name(&entry, 0, buffer);
        buffer.extend(painter.indicator(&entry));
        buffer.push(style.eol);
        out.checkpoint();
    }
}
