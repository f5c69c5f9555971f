//! What turns batches into lines.

use crate::Sink;
use crate::dired::Dired;
use crate::format::{Rows, columns, commas, lines, long, tree};
use crate::hyperlink::Places;
use crate::name::Painter;
use crate::note::Note;
use crate::quote::Quoter;
use crate::record::{self, State};
use crate::style::{Format, Style};
use crate::time::{Clock, Zone};
use crate::view;
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::batch::{Asked, Batch, Time};
use dents_core::mounts::Mounted;
use dents_core::owners::Owners;
use dents_core::team::Team;

/// What lines begin with under `-D`.
pub(crate) const INDENT: &[u8] = b"  ";

/// What a batch is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The operands that are not listed as directories. Never preceded by a total.
    Operands,
    /// All entries of a directory, preceded by the total if the style has one.
    Directory,
    /// Some entries of a directory, more of which may follow: no total, and nothing is aligned across chunks.
    /// What GNU streams (`-U1`) it does not align either.
    Chunk {
        /// Whether this is the last one. It may be empty.
        last: bool,
    },
}

/// Renders batches in one style, and remembers what the next batch must know: whether this is the first
/// directory, and whether anything has been coloured yet.
pub struct Renderer<'s> {
    pub(crate) style: &'s Style,
    pub(crate) painter: Painter<'s>,
    /// Made for the first long listing.
    pub(crate) clock: Option<Clock<'s>>,
    pub(crate) now: Time,
    pub(crate) zone: &'s Zone,
    pub(crate) layout: columns::Layout,
    pub(crate) commas: commas::State,
    /// With `-D`.
    pub(crate) dired: Option<Dired>,
    /// Of the entries of the next batch, by their position; empty if there are none.
    pub(crate) notes: Vec<Note>,
    /// What is mounted on entries of the next batch, by their position.
    pub(crate) mounted: Vec<(u32, Mounted)>,
    header_quoter: Option<Quoter>,
    first: bool,
    /// For programs, or where something is counted.
    pub(crate) state: Option<Box<State>>,
}

impl<'s> Renderer<'s> {
    /// A renderer that has rendered nothing yet.
    #[must_use]
    pub fn new(style: &'s Style) -> Renderer<'s> {
        Renderer {
            style,
            painter: Painter::new(style),
            clock: None,
            now: style.now,
            zone: &style.zone,
            layout: columns::Layout::default(),
            commas: commas::State::default(),
            dired: style.dired.then(Dired::default),
            notes: Vec::new(),
            mounted: Vec::new(),
            header_quoter: None,
            first: true,
            state: State::new(style),
        }
    }

    /// Moves the present on. Call it with a time read after the last `statx` of the next batch; see
    /// [`Style::now`].
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Shows times in another zone than the style's, for whoever learns of it late. Call it before the first entries.
    pub fn set_zone(&mut self, zone: &'s Zone) {
        self.zone = zone;
    }

    /// Where the next header's directory, or the next batch's entries, are: what hyperlinks lead to.
    pub fn set_places(&mut self, places: Places) {
        self.painter.set_places(places);
    }

    /// What is known of the entries of the next batch beside their metadata, by their position in it; nothing for those
    /// beyond the end.
    pub fn set_notes(&mut self, notes: Vec<Note>) {
        self.notes = notes;
    }

    /// The directory whose entries come next, as it was named: rows for programs say so, where others have a header.
    pub fn set_directory(&mut self, path: &[u8]) {
        if let Some(state) = &mut self.state {
            state.set_directory(path);
        }
    }

    /// Something could not be listed, and why: a document says so at its end.
    pub fn fail(&mut self, path: &[u8], errno: i32, message: &'static str) {
        if let Some(state) = &mut self.state {
            state.fail(path, errno, message);
        }
    }

    /// What is mounted on entries of the next batch: position in it, ascending, and what. Shown where [`view::View::mounts`] is set.
    pub fn set_mounted(&mut self, mounted: Vec<(u32, Mounted)>) {
        self.mounted = mounted;
    }

    /// Gives back what was brought last, for whoever has more to add.
    pub fn take_notes(&mut self) -> Vec<Note> {
        core::mem::take(&mut self.notes)
    }

    /// The blank line between the operands and the first directory.
    pub fn gap(&mut self, out: &mut impl Sink) {
        if self.style.record.is_none() {
            out.buffer().push(b'\n');
        }
    }

    /// The line with a directory's name before its entries; before all but the first such line, a blank one.
    pub fn header(&mut self, name: &[u8], out: &mut impl Sink) {
        if self.style.record.is_some() {
            return;
        }
        if !core::mem::take(&mut self.first) {
            out.buffer().push(b'\n');
        }
        self.indent(out);
        let start = self.dired.as_ref().map(|dired| dired.offset(out));
        let style = self.style;
        let buffer = out.buffer();
        let linked = self.painter.begin_directory(buffer);
        let before = buffer.len();
        self.header_quoter.get_or_insert_with(|| style.header_quoter()).write(name, buffer);
        let len = buffer.len() - before;
        if linked {
            self.painter.end_link(buffer);
        }
        buffer.extend_from_slice(b":\n");
        if let (Some(dired), Some(start)) = (&mut self.dired, start) {
            dired.directory(start, len);
        }
        out.checkpoint();
    }

    /// With `-D`, all lines but blank ones are set in.
    fn indent(&self, out: &mut impl Sink) {
        if self.dired.is_some() {
            out.buffer().extend_from_slice(INDENT);
        }
    }

    /// Entries of a batch, in the order given by their indices. The batch must have been filled for
    /// [`Style::needs`] at least; owners are asked only in the long format. Large listings are drawn by all of the
    /// `team`, a piece each.
    ///
    /// # Panics
    /// If `order` holds an index that the batch does not have.
    pub fn entries(
        &mut self,
        batch: &Batch,
        order: &[u32],
        owners: &Owners,
        piece: Piece,
        team: &Team<'_>,
        out: &mut impl Sink,
    ) {
        // Columns of operands are as wide as all operands that could be had need them, directories too, though
        // those are listed further down.
        let known = |index: &u32| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _)));
        let operands: Vec<u32> = match piece {
            Piece::Operands => (0..batch.len() as u32).filter(known).collect(),
            Piece::Directory | Piece::Chunk { .. } => Vec::new(),
        };
        let measured = match piece {
            Piece::Operands => Some(&operands[..]),
            // An order names no entry twice: as many are all.
            _ => (order.len() < batch.len()).then_some(order),
        };
        let rows = Rows { batch, order, measured, piece };
        if let Some(state) = &mut self.state {
            state.sum(batch, order, piece == Piece::Operands);
        }
        if piece == Piece::Directory && self.style.shows_total() {
            self.total(rows, out);
        }
        self.painter.begin(rows);
        match self.style.format {
            Format::Long => match &self.style.view {
                None => long::render(self, rows, owners, team, out),
                Some(view) => view::render(self, view, rows, owners, team, out),
            },
            Format::Lines => lines::render(self, rows, team, out),
            Format::Columns | Format::Across if self.style.width != 0 => columns::render(self, rows, out),
            Format::Columns | Format::Across => commas::render(self, rows, b' ', out),
            Format::Commas => commas::render(self, rows, b',', out),
            Format::Record => record::render(self, rows, owners, team, out),
            Format::Count => record::count(self, rows, out),
        }
    }

    /// A hierarchy: entries of a batch, on the lines of a tree. The batch must have been filled for [`Style::needs`].
    ///
    /// # Panics
    /// If a line has an entry that the batch does not have.
    pub fn tree(
        &mut self,
        batch: &Batch,
        lines: &[tree::Line],
        owners: &Owners,
        team: &Team<'_>,
        out: &mut impl Sink,
    ) {
        if let Some(state) = &mut self.state {
            state.sum(batch, &tree::below(batch, lines), false);
        }
        match &self.style.view {
            Some(view) if self.style.format == Format::Long => {
                tree::render_view(self, view, batch, lines, (owners, team), out);
            }
            _ => tree::render(self, batch, lines, out),
        }
    }

    /// The columns that the name of each entry takes, as read: to sort by. What stands before a name and behind it
    /// does not count.
    #[must_use]
    pub fn widths(&mut self, batch: &Batch) -> Vec<isize> {
        self.painter.begin(Rows { batch, order: &[], measured: None, piece: Piece::Directory });
        batch.iter().map(|entry| self.painter.width(entry.name())).collect()
    }

    /// The end of the run: what a terminal with unusual colour sequences must be told.
    pub fn finish(&mut self, out: &mut impl Sink) {
        self.painter.finish(out.buffer());
        if self.state.as_ref().is_some_and(|state| state.sums()) {
            self.indent(out);
        }
        if let Some(state) = &mut self.state {
            state.finish(self.style, out.buffer());
        }
        // The last lines are Emacs's.
        if let Some(dired) = &self.dired {
            dired.write(self.style.quoting, out.buffer());
        }
        out.checkpoint();
    }

    fn total(&self, rows: Rows<'_>, out: &mut impl Sink) {
        let total: u128 = rows.measured().map(|entry| u128::from(entry.blocks())).sum();
        let unit = self.style.block_size;
        let text = match u64::try_from(total) {
            Ok(blocks) => unit.blocks(blocks),
            Err(_) => unit.sum(total.saturating_mul(512)),
        };
        self.indent(out);
        let buffer = out.buffer();
        buffer.extend_from_slice(self.style.total);
        buffer.push(b' ');
        buffer.extend_from_slice(text.as_bytes());
        buffer.push(self.style.eol);
    }
}
