//! Rows of a view: every column as wide as its widest cell, or its header.

use super::cells::{Cell, Cells};
use crate::color::Key;
use crate::frame::Frame;
use crate::name::Painter;
use crate::note::Note;
use crate::number::{push_number, push_spaces};
use crate::style::Style;
use crate::time::{Clock, TimeStyle, Zone};
use crate::view::{Brush, Column, Paint, View};
use crate::width::width;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Entry, Time};
use dents_core::mounts::Mounted;
use dents_locale::Charset;

/// The parts of an entry's line that are not from its metadata.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'b> {
    /// The note of the entry.
    pub(crate) note: Note,
    /// What is mounted there.
    pub(crate) mounted: Option<&'b Mounted>,
    /// The text before the name: the lines of a tree. Coloured as [`Paint::Branch`].
    pub(crate) branch: &'b [u8],
    /// The same for further lines of the entry, with the same width.
    pub(crate) below: &'b [u8],
    /// The width of either in columns.
    pub(crate) branch_width: usize,
}

/// The columns of a table: first every entry is measured, then the rows are written.
pub(crate) struct Table<'s> {
    style: &'s Style,
    view: &'s View,
    zone: Option<&'s Arc<Zone>>,
    fields: Vec<Field>,
    cells: Cells<'s>,
    brush: Option<Brush>,
    /// The text of the current cell.
    text: Vec<u8>,
}

/// A column of the table.
struct Field {
    column: Column,
    width: usize,
    /// Whether all cells have the width of the column, so that they need not be measured.
    steady: bool,
    /// Writes the times of the column, if it shows times and not ages. Each column has its own clock, because
    /// neighbouring entries often have the same minute in one column, but not in different ones.
    clock: Option<Clock>,
}

impl Field {
    fn new(column: Column, style: &Style, view: &View, zone: Option<&Arc<Zone>>, now: Time) -> Field {
        let clock = (column.time().is_some() && !view.relative).then(|| style.clock(now, zone));
        // A format that the user sets may write full names of months.
        let steady = !matches!(style.long.time_style, TimeStyle::Custom { .. });
        let header = if view.header { column.header().len() } else { 0 };
        let width = clock.as_ref().filter(|_| steady).map_or(0, Clock::width);
        Field { column, width: width.max(header), steady: steady && clock.is_some(), clock }
    }
}

impl<'s> Table<'s> {
    pub(crate) fn new(style: &'s Style, view: &'s View, frame: &Frame<'s>) -> Table<'s> {
        let Frame { owners, now, zone, .. } = *frame;
        let field = |column: &Column| Field::new(*column, style, view, zone, now);
        let brush = style.names.colors.as_ref().map(|colors| {
            let [left, right] = [Key::Left, Key::Right].map(|key| colors.get(key).unwrap_or_default());
            Brush::new(&view.theme, left, right)
        });
        Table {
            style,
            view,
            zone,
            fields: view.columns.iter().map(field).collect(),
            cells: Cells::new(style, view, owners, now),
            brush,
            text: Vec::new(),
        }
    }

    /// A copy with the same widths, for another thread.
    pub(crate) fn fork(&self) -> Table<'s> {
        let (style, view, zone, now) = (self.style, self.view, self.zone, self.cells.now());
        let field =
            |from: &Field| Field { width: from.width, ..Field::new(from.column, style, view, zone, now) };
        Table {
            style,
            view,
            zone,
            fields: self.fields.iter().map(field).collect(),
            cells: self.cells.clone(),
            brush: self.brush.clone(),
            text: Vec::new(),
        }
    }

    /// Makes the columns wide enough for an entry. The painter must be one without colour; it is used only if a
    /// column follows the names.
    pub(crate) fn measure(&mut self, entry: &Entry<'_>, beside: &Beside<'_>, painter: &mut Painter<'_>) {
        let Table { fields, cells, text, style, view, .. } = self;
        let last = fields.len().saturating_sub(1);
        for (nth, field) in fields.iter_mut().enumerate() {
            // No column follows the last one, so it need not be aligned. A mode is measured for its mark.
            let free = nth == last && field.column != Column::Mode && !is_right(view, field.column);
            if field.steady || free {
                continue;
            }
            let needed = match field.column {
                Column::Name => {
                    text.clear();
                    beside.branch_width + name_width(entry, beside, painter, style.locale.charset, text)
                }
                column => cells.measure(column, entry, &beside.note, field.clock.as_mut(), text),
            };
            field.width = field.width.max(needed);
        }
    }

    /// Joins the measurements of a fork.
    pub(crate) fn join(&mut self, fork: &Table<'_>) {
        self.cells.join(&fork.cells);
        for (mine, theirs) in self.fields.iter_mut().zip(&fork.fields) {
            mine.width = mine.width.max(theirs.width);
            if mine.column == Column::Size {
                mine.width = mine.width.max(self.cells.device_width());
            }
        }
    }

    /// The line above the columns.
    pub(crate) fn head(&self, painter: &mut Painter<'_>, out: &mut Vec<u8>) {
        painter.begin_line(out);
        for (nth, field) in self.fields.iter().enumerate() {
            let (word, last) = (field.column.header(), nth + 1 == self.fields.len());
            let padding = field.width.saturating_sub(word.len());
            let before = if is_right(self.view, field.column) { padding } else { 0 };
            push_spaces(out, before);
            self.painted(Paint::Header, out, |out| out.extend_from_slice(word));
            if !last {
                push_spaces(out, padding - before + 1);
            }
        }
        out.push(self.style.eol);
    }

    fn painted(&self, paint: Paint, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let colored = self.brush.as_ref().filter(|brush| brush.begin(paint, out));
        write(out);
        colored.into_iter().for_each(|brush| brush.end(out));
    }

    /// The line of an entry, and the lines about it below.
    pub(crate) fn row(
        &mut self,
        entry: &Entry<'_>,
        beside: &Beside<'_>,
        painter: &mut Painter<'_>,
        out: &mut Vec<u8>,
    ) {
        painter.begin_line(out);
        let (mut at, mut name_at) = (0, 0);
        for nth in 0..self.fields.len() {
            let (column, field_width) = (self.fields[nth].column, self.fields[nth].width);
            let last = nth + 1 == self.fields.len();
            if column == Column::Name {
                name_at = at;
                self.name(entry, beside, at, painter, out);
                if !last {
                    self.text.clear();
                    let mut plain = painter.without_color();
                    let charset = self.style.locale.charset;
                    let drawn = name_width(entry, beside, &mut plain, charset, &mut self.text);
                    push_spaces(out, field_width.saturating_sub(beside.branch_width + drawn));
                }
            } else {
                self.cell(nth, entry, beside, last, out);
            }
            at += field_width + 1;
            if !last {
                out.push(b' ');
            }
        }
        out.push(self.style.eol);
        if self.view.xattrs {
            self.xattrs(entry, beside, name_at, painter, out);
        }
    }

    /// A line about no entry: something in the column of names.
    pub(crate) fn remark(&self, branch: &[u8], text: &[u8], painter: &mut Painter<'_>, out: &mut Vec<u8>) {
        painter.begin_line(out);
        let before = self.fields.iter().take_while(|field| field.column != Column::Name);
        push_spaces(out, before.map(|field| field.width + 1).sum());
        self.painted(Paint::Branch, out, |out| out.extend_from_slice(branch));
        out.extend_from_slice(text);
        out.push(self.style.eol);
    }

    /// A cell with its padding.
    #[inline]
    fn cell(&mut self, nth: usize, entry: &Entry<'_>, beside: &Beside<'_>, last: bool, out: &mut Vec<u8>) {
        let Table { fields, cells, brush, text, view, .. } = self;
        let field = &mut fields[nth];
        text.clear();
        let Cell { width, paint, right } =
            cells.write(field.column, entry, &beside.note, field.clock.as_mut(), brush.as_ref(), text);
        let right = right || is_right(view, field.column);
        let padding = field.width.saturating_sub(width);
        if right {
            push_spaces(out, padding);
        }
        match (brush, paint) {
            (Some(brush), Some(paint)) if brush.begin(paint, out) => {
                out.extend_from_slice(text);
                brush.end(out);
            }
            _ => out.extend_from_slice(text),
        }
        if !right && !last {
            push_spaces(out, padding);
        }
    }

    /// The branch, the name, its target, and the mount.
    fn name(
        &self,
        entry: &Entry<'_>,
        beside: &Beside<'_>,
        at: usize,
        painter: &mut Painter<'_>,
        out: &mut Vec<u8>,
    ) {
        if !beside.branch.is_empty() {
            self.painted(Paint::Branch, out, |out| out.extend_from_slice(beside.branch));
        }
        painter.name_and_target(entry, at + beside.branch_width, out);
        if let Some(mounted) = beside.mounted {
            out.push(b' ');
            self.painted(Paint::Mount, out, |out| write_mounted(painter, mounted, out));
        }
    }

    /// A line for each extended attribute, indented below the name.
    #[cold]
    fn xattrs(
        &self,
        entry: &Entry<'_>,
        beside: &Beside<'_>,
        at: usize,
        painter: &mut Painter<'_>,
        out: &mut Vec<u8>,
    ) {
        for (name, size) in entry.xattr_list() {
            painter.begin_line(out);
            push_spaces(out, at);
            if !beside.below.is_empty() {
                self.painted(Paint::Branch, out, |out| out.extend_from_slice(beside.below));
            }
            push_spaces(out, 2);
            self.painted(Paint::Xattrs, out, |out| {
                painter.bare(name, out);
                out.push(b' ');
                match size {
                    Some(size) => push_number(out, size.into(), 0),
                    None => out.push(b'?'),
                }
            });
            out.push(self.style.eol);
        }
    }
}

/// Whether a column is right-aligned: numbers are, and ages too.
fn is_right(view: &View, column: Column) -> bool {
    column.is_number() || (view.relative && column.time().is_some())
}

fn write_mounted(painter: &Painter<'_>, mounted: &Mounted, out: &mut Vec<u8>) {
    out.push(b'[');
    painter.bare(&mounted.fs_type, out);
    out.push(b' ');
    painter.bare(&mounted.source, out);
    out.push(b']');
}

/// The width of the name column without the branch, in columns; `text` is a buffer for measuring.
fn name_width(
    entry: &Entry<'_>,
    beside: &Beside<'_>,
    plain: &mut Painter<'_>,
    charset: Charset,
    text: &mut Vec<u8>,
) -> usize {
    plain.name_and_target(entry, 0, text);
    if let Some(mounted) = beside.mounted {
        text.push(b' ');
        write_mounted(plain, mounted, text);
    }
    width(text, charset)
}
