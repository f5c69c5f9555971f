//! `-m`: names one after the other, separated by commas, on lines as long as the screen is wide. Columns on a screen
//! without limit are drawn in the same way, without commas.

use super::prefix::Prefix;
use crate::frame::{FrameKind, Rows};
use crate::name::Painter;
use crate::sink::Sink;

/// The state at the end of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    column: usize,
    /// Whether a name was written since the last end of a line.
    begun: bool,
}

/// Whether a name of `len` columns, and the comma after it, still fit. Both numbers may be negative if a width is not
/// known. They wrap around as GNU's `size_t` does, which decides where such a line is broken.
fn fits(column: usize, len: usize, screen: usize) -> bool {
    let end = column.wrapping_add(len).wrapping_add(2);
    end < screen && column <= usize::MAX.wrapping_sub(len).wrapping_sub(2)
}

pub(crate) fn render(
    painter: &mut Painter<'_>,
    state: &mut State,
    rows: Rows<'_>,
    separator: u8,
    out: &mut impl Sink,
) {
    let style = painter.style();
    // Inode numbers stay aligned even if the names are not in columns.
    let unaligned = separator == b',' || rows.is_chunk();
    let prefix = if unaligned { Prefix::unaligned(style) } else { Prefix::aligned(style, rows) };
    for entry in rows.shown() {
        let mut len = 0;
        if style.screen.width != 0 {
            let indicator = usize::from(painter.indicator(&entry).is_some());
            let around = prefix.width(style, &entry) + indicator;
            len = around.wrapping_add_signed(painter.width(entry.name()));
        }
        let buffer = out.buffer();
        if state.begun {
            let fits = style.screen.width == 0 || fits(state.column, len, style.screen.width);
            state.column = if fits { state.column + 2 } else { 0 };
            buffer.extend_from_slice(&[separator, if fits { b' ' } else { style.eol }]);
        }
        state.begun = true;
        painter.begin_line(buffer);
        prefix.write(style, &entry, buffer);
        painter.name(&entry, state.column, buffer);
        buffer.extend(painter.indicator(&entry));
        state.column = state.column.wrapping_add(len);
        out.checkpoint();
    }
    if rows.kind != (FrameKind::Chunk { last: false }) {
        if state.begun {
            out.buffer().push(style.eol);
            out.checkpoint();
        }
        *state = State::default();
    }
}
