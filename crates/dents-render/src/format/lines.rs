//! `-1`: one name a line.

use super::Rows;
use super::frills::Frills;
use crate::Sink;
use crate::renderer::Renderer;
use crate::style::Style;
use dents::needs::NeedsByKind;

pub(crate) fn needs(style: &Style) -> NeedsByKind {
    style.frills_needs()
}

pub(crate) fn render(renderer: &mut Renderer<'_>, rows: Rows<'_>, out: &mut impl Sink) {
    let Renderer { style, painter, .. } = renderer;
    let frills = if rows.is_chunk() { Frills::unaligned(style) } else { Frills::aligned(style, rows) };
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
