//! `-1`: one name a line.

use super::frills::Frills;
use crate::Sink;
use crate::renderer::{Piece, Renderer};
use crate::style::Style;
use dents::batch::Batch;
use dents::needs::NeedsByKind;

pub(crate) fn needs(style: &Style) -> NeedsByKind {
    style.frills_needs()
}

pub(crate) fn render(
    renderer: &mut Renderer<'_>,
    batch: &Batch,
    order: &[u32],
    piece: Piece,
    out: &mut impl Sink,
) {
    let Renderer { style, painter, .. } = renderer;
    let entries = order.iter().map(|index| batch.entry(*index as usize));
    let frills = match piece {
        Piece::Chunk { .. } => Frills::unaligned(style),
        _ => Frills::aligned(style, batch, order),
    };
    if frills.is_empty() && painter.is_bare() {
        for entry in entries {
            let buffer = out.buffer();
            painter.bare(entry.name(), buffer);
            buffer.push(style.eol);
            out.checkpoint();
        }
        return;
    }
    for entry in entries {
        let buffer = out.buffer();
        painter.begin_line(buffer);
        frills.write(style, &entry, buffer);
        painter.name(&entry, 0, buffer);
        buffer.extend(painter.indicator(&entry));
        buffer.push(style.eol);
        out.checkpoint();
    }
}
