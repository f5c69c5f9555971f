//! The view: a long format with columns of one's choice, colours in them and a line above, which GNU does not have.
//!
//! In place of [`crate::Format::Long`]'s own drawing where the style has a [`View`]. It goes the same way: one pass finds
//! how wide the columns are, a second one writes them, both by the same code (`cells`), and what is large is drawn in
//! pieces. A `Table` takes entries of any number of batches, so that a tree has the same columns from top to bottom.
//!
//! ```text
//! Style::view ─► declare ─► … Batch, Notes ─► Table: measure ─► head ─► row (cells, theme, name) ─► Sink
//! ```

mod age;
mod cells;
mod column;
mod flags;
mod table;
mod theme;

pub use column::Column;
pub use theme::{BadTheme, Paint, Theme};

pub(crate) use table::{Beside, Table};

use crate::Sink;
use crate::consumer::{Consumer, Declare};
use crate::format::{Rows, in_pieces};
use crate::name::Painter;
use crate::note::Note;
use crate::renderer::Renderer;
use crate::style::Style;
use alloc::vec::Vec;
use core::ops::Range;
use dents_core::mounts::Mounted;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::owners::Owners;
use dents_core::team::Team;

/// What the view shows, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// From left to right.
    pub columns: Vec<Column>,
    /// Whether a line above says what they are.
    pub header: bool,
    /// Times as ages, in place of [`Style::time_style`].
    pub relative: bool,
    /// A group only where it is called otherwise than the owner.
    pub smart_group: bool,
    /// What is mounted on an entry, behind its name. Whoever asks for it must tell: [`Renderer::set_mounted`].
    pub mounts: bool,
    /// Extended attributes below each entry.
    pub xattrs: bool,
    /// The colours of the columns. Without [`Style::colors`] there are none.
    pub theme: Theme,
    /// Who asks, if that is known: shown in a colour of its own.
    pub me: Option<u32>,
}

impl View {
    /// Whether some column shows names of users, or has to know them.
    #[must_use]
    pub fn shows_users(&self) -> bool {
        let has = |column| self.columns.contains(&column);
        has(Column::User) || (self.smart_group && has(Column::Group))
    }

    /// Whether some column shows names of groups.
    #[must_use]
    pub fn shows_groups(&self) -> bool {
        self.columns.contains(&Column::Group)
    }

    /// Whether some column shows a time.
    #[must_use]
    pub fn shows_times(&self) -> bool {
        self.columns.iter().any(|column| column.time().is_some())
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn declare(&self, style: &Style, to: &mut Declare<'_>) {
        let mut all = NeedsByKind::default();
        for column in &self.columns {
            // The slot's own time costs no extra.
            all |= match column.time() {
                Some(time) if time == style.time => NeedsByKind::all(time),
                _ => column.needs(),
            };
        }
        if self.shows_users() {
            all |= Column::User.needs();
        }
        to(Consumer::View, all);
        if self.mounts {
            to(Consumer::Mounts, NeedsByKind::all(Needs::EXTRA));
        }
        if self.xattrs {
            to(Consumer::Xattrs, Column::Xattrs.needs());
        }
    }
}

/// What is known of entries from elsewhere, by their positions in the batch.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere<'r> {
    notes: &'r [Note],
    mounted: &'r [(u32, Mounted)],
}

impl<'r> Elsewhere<'r> {
    /// What was told of the batch at hand.
    pub(crate) fn told(renderer: &'r Renderer<'_>) -> Elsewhere<'r> {
        Elsewhere { notes: &renderer.notes, mounted: &renderer.mounted }
    }

    pub(crate) fn of(&self, index: usize) -> Beside<'r> {
        let mounted = self.mounted.binary_search_by_key(&index, |(at, _)| *at as usize);
        Beside {
            note: self.notes.get(index).copied().unwrap_or_default(),
            mounted: mounted.ok().map(|at| &self.mounted[at].1),
            ..Beside::default()
        }
    }
}

/// Draws a directory, or the operands.
#[cold]
#[inline(never)]
pub(crate) fn render(
    renderer: &mut Renderer<'_>,
    view: &View,
    rows: Rows<'_>,
    owners: &Owners,
    team: &Team<'_>,
    out: &mut impl Sink,
) {
    if rows.order.is_empty() {
        return;
    }
    let mut table = Table::new(renderer.style, view, owners, renderer.zone, renderer.now);
    let elsewhere = Elsewhere { notes: &renderer.notes, mounted: &renderer.mounted };
    let painter = &mut renderer.painter;
    measure(&mut table, rows, elsewhere, painter, team);
    if view.header {
        table.head(painter, out.buffer());
    }
    let drawn = in_pieces(rows, painter, team, out, &|rows, painter, out| {
        draw(rows, &mut table.fork(), elsewhere, painter, out);
    });
    if !drawn {
        draw(rows, &mut table, elsewhere, painter, out);
    }
}

fn draw(
    rows: Rows<'_>,
    table: &mut Table<'_>,
    elsewhere: Elsewhere<'_>,
    painter: &mut Painter<'_>,
    out: &mut impl Sink,
) {
    for entry in rows.shown() {
        table.row(&entry, &elsewhere.of(entry.index()), painter, out.buffer());
        out.checkpoint();
    }
}

/// Entries measured at a time by one thread.
const MEASURED: usize = 8192;

pub(crate) fn measure(
    table: &mut Table<'_>,
    rows: Rows<'_>,
    elsewhere: Elsewhere<'_>,
    painter: &Painter<'_>,
    team: &Team<'_>,
) {
    let measure = |places: Range<usize>, table: &mut Table<'_>, painter: &mut Painter<'_>| {
        for entry in rows.measured_at(places) {
            table.measure(&entry, &elsewhere.of(entry.index()), painter);
        }
    };
    let count = rows.measured_count();
    let mut plain = painter.without_color();
    if team.threads() == 1 || count < 2 * MEASURED {
        return measure(0..count, table, &mut plain);
    }
    let part = |start| (start..count.min(start + MEASURED), table.fork(), plain.clone());
    let mut parts: Vec<_> = (0..count).step_by(MEASURED).map(part).collect();
    team.each(&mut parts, &|(places, table, painter)| measure(places.clone(), table, painter));
    parts.iter().for_each(|(_, part, _)| table.join(part));
}

#[cfg(test)]
mod tests;
