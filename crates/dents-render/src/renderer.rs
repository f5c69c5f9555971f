//! Turns frames into lines.

use crate::dired::{Dired, INDENT};
use crate::format::{columns, commas, lines, long, tree};
use crate::frame::{Frame, FrameKind, Rows};
use crate::name::Painter;
use crate::quote::Quoter;
use crate::record::{self, State};
use crate::sink::Sink;
use crate::style::{Format, Style};
use crate::table;
use crate::time::Clock;
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::batch::{Asked, Batch};
use dents_core::team::Team;

/// Renders frames in one style, one after the other, as parts of one document.
pub struct Renderer<'s> {
    style: &'s Style,
    painter: Painter<'s>,
    document: Document,
    // The following fields are memory that is reused, and cached results. They do not affect the bytes.
    layout: columns::Layout,
    /// Made for the first long listing. On the heap: two kilobytes that other listings need not move.
    clock: Option<Box<Clock>>,
    header_quoter: Option<Quoter>,
}

/// The state that a document passes from one frame to the next, because GNU's formats and those for programs need it.
/// (The painter has one more: whether anything was coloured yet.)
struct Document {
    /// Whether there was a header: a blank line precedes all but the first.
    headed: bool,
    /// With `-m`, the line that the next chunk of the directory continues.
    line: commas::State,
    /// With `-D`, the positions of the names.
    dired: Option<Dired>,
    /// For programs, or if entries are counted: the state of separators and of sums.
    rows: Option<Box<State>>,
}

impl<'s> Renderer<'s> {
    /// A renderer that has rendered nothing yet.
    #[must_use]
    pub fn new(style: &'s Style) -> Renderer<'s> {
        Renderer {
            style,
            painter: Painter::new(style),
            document: Document {
                headed: false,
                line: commas::State::default(),
                dired: style.long.dired.then(Dired::default),
                rows: State::new(style),
            },
            layout: columns::Layout::default(),
            clock: None,
            header_quoter: None,
        }
    }

    /// Records something that could not be listed, and why. A document for programs has it at its end.
    pub fn fail(&mut self, path: &[u8], errno: i32, message: &'static str) {
        if let Some(rows) = &mut self.document.rows {
            rows.fail(path, errno, message);
        }
    }

    /// The blank line between the operands and the first directory.
    pub fn gap(&mut self, out: &mut impl Sink) {
        if self.style.record.is_none() {
            out.buffer().push(b'\n');
        }
    }

    /// The line with a directory's name before its entries, and before all but the first such line a blank line.
    /// `place` is the path of the directory for a hyperlink.
    pub fn header(&mut self, name: &[u8], place: Option<&[u8]>, out: &mut impl Sink) {
        if self.style.record.is_some() {
            return;
        }
        if core::mem::replace(&mut self.document.headed, true) {
            out.buffer().push(b'\n');
        }
        self.indent(out);
        let start = self.document.dired.as_ref().map(|dired| dired.offset(out));
        let style = self.style;
        let buffer = out.buffer();
        let linked = self.painter.begin_directory(place, buffer);
        let before = buffer.len();
        self.header_quoter.get_or_insert_with(|| style.header_quoter()).write(name, buffer);
        let len = buffer.len() - before;
        if linked {
            self.painter.end_link(buffer);
        }
        buffer.extend_from_slice(b":\n");
        if let (Some(dired), Some(start)) = (&mut self.document.dired, start) {
            dired.directory(start, len);
        }
        out.checkpoint();
    }

    /// With `-D`, all lines except blank ones are indented.
    fn indent(&self, out: &mut impl Sink) {
        if self.document.dired.is_some() {
            out.buffer().extend_from_slice(INDENT);
        }
    }

    /// The entries of a frame. Large ones are drawn by all of the `team`, a piece each.
    ///
    /// # Panics
    /// If the order holds an index that the batch does not have.
    pub fn frame(&mut self, frame: &Frame<'_>, team: &Team<'_>, out: &mut impl Sink) {
        let Frame { batch, order, kind, places, .. } = *frame;
        // The columns of operands are as wide as all operands need that could be stat'ed, with directories, although
        // these are listed later.
        let known = |index: &u32| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _)));
        let operands: Vec<u32> = match kind {
            FrameKind::Operands => (0..batch.len() as u32).filter(known).collect(),
            FrameKind::Directory | FrameKind::Chunk { .. } => Vec::new(),
        };
        let measured = match kind {
            FrameKind::Operands => Some(&operands[..]),
            // An order has no entry twice. So if it is as long as the batch, it has all entries.
            _ => (order.len() < batch.len()).then_some(order),
        };
        let rows = Rows { batch, order, measured, kind };
        if let Some(state) = &mut self.document.rows {
            state.sum(batch, order, kind == FrameKind::Operands);
        }
        if kind == FrameKind::Directory && self.style.shows_total() {
            self.total(rows, out);
        }
        self.painter.begin(rows, places);
        self.rows(frame, rows, team, out);
    }

    fn rows(&mut self, frame: &Frame<'_>, rows: Rows<'_>, team: &Team<'_>, out: &mut impl Sink) {
        let Renderer { style, painter, document, layout, clock, .. } = self;
        match (style.format, &mut document.rows) {
            (Format::Long, _) => match &style.long.view {
                None => long::render(painter, clock, &mut document.dired, (frame, rows), team, out),
                Some(view) => table::render(painter, view, (frame, rows), team, out),
            },
            (Format::Lines, _) => lines::render(painter, rows, team, out),
            (Format::Columns | Format::Across, _) if style.screen.width != 0 => {
                columns::render(painter, layout, rows, out);
            }
            (Format::Columns | Format::Across, _) => {
                commas::render(painter, &mut document.line, rows, b' ', out);
            }
            (Format::Commas, _) => commas::render(painter, &mut document.line, rows, b',', out),
            (Format::Record, Some(state)) => record::render(painter, state, (frame, rows), team, out),
            (Format::Count, Some(state)) => record::count(style, state, (frame, rows), out),
            (Format::Record | Format::Count, None) => {}
        }
    }

    /// A hierarchy: entries of a batch, on the lines of a tree, which replace the order of the frame.
    ///
    /// # Panics
    /// If a line has an entry that the batch does not have.
    pub fn tree(&mut self, frame: &Frame<'_>, lines: &[tree::Line], team: &Team<'_>, out: &mut impl Sink) {
        if let Some(state) = &mut self.document.rows {
            state.sum(frame.batch, &tree::below(frame.batch, lines), false);
        }
        match &self.style.long.view {
            Some(view) if self.style.format == Format::Long => {
                tree::render_view(&mut self.painter, view, frame, lines, team, out);
            }
            _ => tree::render(&mut self.painter, frame, lines, out),
        }
    }

    /// The width of the name of each entry in columns, in reading order, for sorting. The parts before and after a
    /// name do not count.
    #[must_use]
    pub fn widths(&mut self, batch: &Batch) -> Vec<isize> {
        self.painter.begin(Rows { batch, order: &[], measured: None, kind: FrameKind::Directory }, None);
        batch.iter().map(|entry| self.painter.width(entry.name())).collect()
    }

    /// The end of the document: resets for a terminal with unusual colour sequences, sums, failures, and the lines of
    /// `-D`.
    pub fn finish(&mut self, out: &mut impl Sink) {
        self.painter.finish(out.buffer());
        if self.document.rows.as_ref().is_some_and(|state| state.sums()) {
            self.indent(out);
        }
        if let Some(state) = &mut self.document.rows {
            state.finish(self.style, out.buffer());
        }
        // The last lines are for Emacs.
        if let Some(dired) = &self.document.dired {
            dired.write(self.style.names.quoting, out.buffer());
        }
        out.checkpoint();
    }

    fn total(&self, rows: Rows<'_>, out: &mut impl Sink) {
        let total: u128 = rows.measured().map(|entry| u128::from(entry.blocks())).sum();
        let unit = self.style.prefix.block_size;
        let text = match u64::try_from(total) {
            Ok(blocks) => unit.blocks(blocks),
            Err(_) => unit.sum(total.saturating_mul(512)),
        };
        self.indent(out);
        let buffer = out.buffer();
        buffer.extend_from_slice(self.style.prefix.total);
        buffer.push(b' ');
        buffer.extend_from_slice(text.as_bytes());
        buffer.push(self.style.eol);
    }
}
