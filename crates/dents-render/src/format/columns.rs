//! `-C` and `-x`: as many columns as the screen can hold, each as wide as its widest name and two spaces.

use super::prefix::Prefix;
use crate::frame::Rows;
use crate::name::Painter;
use crate::sink::Sink;
use crate::style::Format;
use alloc::vec::Vec;
use core::ops::Range;

/// The minimum width of a column: one letter and two spaces.
const NARROWEST: usize = 3;

/// Widths of entries and of columns. The memory is kept from one directory to the next.
#[derive(Default)]
pub(crate) struct Layout {
    /// The width of each entry in order, with everything around the name. Negative if the width of a name is not
    /// known.
    widths: Vec<isize>,
    /// The width of each column, with the two spaces after it.
    columns: Vec<usize>,
}

impl Layout {
    /// Finds the largest number of columns that fit into `screen`.
    fn choose(&mut self, screen: usize, across: bool) {
        let most = screen.div_ceil(NARROWEST).min(self.widths.len());
        for columns in (2..=most).rev() {
            if self.try_columns(columns, screen, across) {
                return;
            }
        }
        self.columns.clear();
        self.columns.push(NARROWEST);
    }

    /// Whether `count` columns fit. The line must be shorter than the screen, because a name that ends in the last
    /// column would wrap. Columns that all have the minimum width always fit.
    fn try_columns(&mut self, count: usize, screen: usize, across: bool) -> bool {
        self.columns.clear();
        self.columns.resize(count, NARROWEST);
        let mut line = count * NARROWEST;
        let rows = self.widths.len().div_ceil(count);
        // In the last column a negative width becomes larger than all others, and the line shorter, as with GNU's
        // `size_t`.
        let mut widen = |columns: &mut Vec<usize>, column: usize, width: isize| {
            let width = (width + if column + 1 == count { 0 } else { 2 }) as usize;
            if width > columns[column] {
                line = line.wrapping_add(width).wrapping_sub(columns[column]);
                columns[column] = width;
                return line < screen;
            }
            true
        };
        if across {
            let mut column = 0;
            for width in &self.widths {
                if !widen(&mut self.columns, column, *width) {
                    return false;
                }
                column = if column + 1 == count { 0 } else { column + 1 };
            }
            return true;
        }
        // The widest entry of a column decides. In the last column each width is tried in turn, because one may wrap
        // around.
        let (before, last) = self.widths.split_at(self.widths.len().min((count - 1) * rows));
        let widest = |column: &[isize]| column.iter().copied().max().unwrap_or(0);
        before.chunks(rows).enumerate().all(|(nth, column)| widen(&mut self.columns, nth, widest(column)))
            && last.iter().all(|width| widen(&mut self.columns, count - 1, *width))
    }

    /// The entries of a line: their range, and the distance from one to the next.
    fn line(&self, row: usize, across: bool) -> (Range<usize>, usize) {
        let (total, count) = (self.widths.len(), self.columns.len());
        if across {
            (row * count..total.min((row + 1) * count), 1)
        } else {
            (row..total, total.div_ceil(count))
        }
    }
}

pub(crate) fn render(painter: &mut Painter<'_>, layout: &mut Layout, rows: Rows<'_>, out: &mut impl Sink) {
    let Rows { batch, order, .. } = rows;
    let style = painter.style();
    let across = style.format == Format::Across;
    let prefix = Prefix::aligned(style, rows);
    layout.widths.clear();
    layout.widths.extend(rows.shown().map(|entry| {
        let indicator = usize::from(painter.indicator(&entry).is_some());
        (prefix.width(style, &entry) + indicator) as isize + painter.width(entry.name())
    }));
    layout.choose(style.screen.width, across);
    for row in 0..order.len().div_ceil(layout.columns.len()) {
        let buffer = out.buffer();
        let (range, step) = layout.line(row, across);
        let (mut column, mut end) = (0, 0);
        for (nth, place) in range.step_by(step).enumerate() {
            if nth > 0 {
                let next = column + layout.columns[nth - 1];
                indent(buffer, end, next, style.screen.tab_size);
                column = next;
            }
            let entry = batch.entry(order[place] as usize);
            painter.begin_line(buffer);
            prefix.write(style, &entry, buffer);
            painter.name(&entry, column, buffer);
            buffer.extend(painter.indicator(&entry));
            end = column.wrapping_add_signed(layout.widths[place]);
        }
        buffer.push(style.eol);
        out.checkpoint();
    }
}

/// Moves from one column of the screen to another: by tabs where a tab moves by more than one column.
fn indent(out: &mut Vec<u8>, mut from: usize, to: usize, tab: usize) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.push(b'\t');
            from += tab - from % tab;
        } else {
            out.push(b' ');
            from += 1;
        }
    }
}
