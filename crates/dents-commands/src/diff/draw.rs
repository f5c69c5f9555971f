//! Tables of text: the growth of directories, the number of differences, the entries that moved, the growth of users.

use super::growth::{Growth, Node};
use super::lists::{Difference, List, Listed};
use super::roots::shown;
use super::{Args, By, Outcome};
use crate::inode::path_order;
use crate::message;
use crate::output::{Column, Paint, Screen, Table};
use dents_render::human::SizeFormat;
use std::cmp::Reverse;
use std::io::{self, Write};

/// The number of rows of a table of text, unless the user sets another.
const TOP: usize = 10;

/// A row: a directory or a user.
pub(super) struct Grown {
    pub(super) name: Vec<u8>,
    /// The depth of a directory.
    pub(super) depth: u32,
    /// The number of a user.
    pub(super) id: u32,
    pub(super) growth: Growth,
}

/// The directories that grew or shrank, the largest change first.
pub(super) fn directories(args: &Args, outcome: &Outcome) -> Vec<Grown> {
    let row = |path: &[u8], node: &Node| Grown {
        name: shown(path).to_vec(),
        depth: node.depth,
        id: 0,
        growth: node.growth,
    };
    ordered(args, outcome.sums.directories.iter().map(|(path, node)| row(path, node)).collect())
}

/// The users, the same way.
pub(super) fn users(args: &Args, outcome: &Outcome) -> Vec<Grown> {
    let row = |(id, growth): (&u32, &Growth)| Grown {
        name: outcome.users.user(*id),
        depth: 0,
        id: *id,
        growth: *growth,
    };
    ordered(args, outcome.sums.users.iter().map(row).collect())
}

fn ordered(args: &Args, mut rows: Vec<Grown>) -> Vec<Grown> {
    let figure = |growth: &Growth| match args.by {
        By::Size => growth.bytes,
        By::Allocated => growth.allocated,
        By::Entries => i128::from(growth.entries),
    };
    rows.retain(|row| row.growth != Growth::default());
    rows.sort_unstable_by(|a, b| {
        let weight = |row: &Grown| (Reverse(figure(&row.growth).unsigned_abs()), row.depth);
        let names = || path_order(&a.name, &b.name).then(a.id.cmp(&b.id));
        weight(a).cmp(&weight(b)).then_with(names)
    });
    rows
}

pub(super) fn draw(args: &Args, mut outcome: Outcome, out: &mut dyn Write) -> io::Result<()> {
    let screen = Screen::stdout();
    let top = args.top.unwrap_or(TOP);
    if args.summary {
        return counts(args, &outcome, &screen, out);
    }
    if !outcome.listed.is_different() && outcome.sums.total == Growth::default() {
        return counts(args, &outcome, &screen, out);
    }
    grown(args, &directories(args, &outcome), "DIRECTORY", &screen, out)?;
    out.write_all(b"\n")?;
    counts(args, &outcome, &screen, out)?;
    moved(&mut outcome.listed, top, &screen, out)?;
    out.write_all(b"\n")?;
    grown(args, &users(args, &outcome), "USER", &screen, out)
}

/// A table of growth, and the number of rows that are left out.
fn grown(
    args: &Args,
    rows: &[Grown],
    title: &'static str,
    screen: &Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::right("ENTRIES"),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::left(title),
    ]);
    let top = args.top.unwrap_or(TOP);
    for row in rows.iter().take(top) {
        table.row(cells(args, &row.growth, screen.name(&row.name)));
    }
    table.draw(screen, out)?;
    left_out(rows.len().saturating_sub(top) as u64, out)
}

fn left_out(number: u64, out: &mut dyn Write) -> io::Result<()> {
    match number {
        0 => Ok(()),
        _ => writeln!(out, "({}; --top shows more)", message::counted(number, "other", "others")),
    }
}

/// The last cell is the name.
fn cells(args: &Args, growth: &Growth, name: Vec<u8>) -> Vec<Vec<u8>> {
    let units = args.units.format(SizeFormat::HUMAN);
    let size = |number: i128| {
        let sign = if number < 0 { "-" } else { "+" };
        let size = units.sum(number.unsigned_abs());
        if number == 0 { b"0".to_vec() } else { [sign.as_bytes(), size.as_bytes()].concat() }
    };
    let entries = match growth.entries {
        0 => "0".to_owned(),
        number => format!("{number:+}"),
    };
    vec![entries.into_bytes(), size(growth.bytes), size(growth.allocated), name]
}

/// The numbers of entries that are new, deleted, changed and moved.
fn counts(args: &Args, outcome: &Outcome, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::right("ENTRIES"),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::left("DIFFERENCE"),
    ]);
    for list in List::ALL {
        let count = outcome.listed.counts[list as usize];
        let mut row = cells(args, &count, list.word().into());
        row[0] = screen.count(count.entries.unsigned_abs());
        table.row(row);
    }
    if outcome.unknown > 0 {
        let mut row = cells(args, &Growth::default(), b"unknown".to_vec());
        row[0] = screen.count(outcome.unknown);
        table.row(row);
    }
    table.row(cells(args, &outcome.sums.total, b"(growth)".to_vec()));
    table.draw(screen, out)
}

/// The entries that moved, without those that moved along with a directory.
fn moved(listed: &mut Listed, top: usize, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(vec![Column::left("MOVED FROM"), Column::left("TO")]);
    let (mut shown, mut others) = (0, 0);
    while let Some(moved) = listed.next(List::Moved)? {
        if listed.moved_along(&moved) {
            continue;
        }
        if shown == top {
            others += 1;
            continue;
        }
        shown += 1;
        let Difference { path, old_path, .. } = &moved;
        table.row(vec![screen.name(old_path.as_deref().unwrap_or_default()), screen.name(path)]);
    }
    if shown > 0 {
        out.write_all(b"\n")?;
        table.draw(screen, out)?;
    }
    left_out(others, out)
}
