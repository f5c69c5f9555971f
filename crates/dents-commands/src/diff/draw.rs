//! Tables of text: the largest entries that differ, the growth of directories, the number of differences, the growth of users.

use super::growth::{Growth, Node};
use super::largest::{Weighed, largest, of_all};
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
/// Lines of a screen beside the entries and the other tables: the titles, the number of others, the prompt of the shell.
const AROUND: usize = 3;

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
    if args.summary {
        return counts(args, &outcome, &screen, out);
    }
    let sums = sums(args, &outcome, &screen)?;
    if outcome.listed.is_different() {
        let lines = sums.iter().filter(|byte| **byte == b'\n').count();
        let room = screen.lines().map_or(0, |all| all.saturating_sub(lines + AROUND));
        entries(args, &mut outcome.listed, args.top.unwrap_or(room.max(TOP)), &screen, out)?;
    } else {
        out.write_all(b"no difference\n")?;
    }
    out.write_all(&sums)
}

/// The tables below the entries, each after a blank line. A table without rows is left out.
fn sums(args: &Args, outcome: &Outcome, screen: &Screen) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    grown(args, &directories(args, outcome), "DIRECTORY", screen, &mut out)?;
    if outcome.listed.is_different() || outcome.unknown > 0 || outcome.sums.total != Growth::default() {
        out.push(b'\n');
        counts(args, outcome, screen, &mut out)?;
    }
    grown(args, &users(args, outcome), "USER", screen, &mut out)?;
    Ok(out)
}

/// The largest entries that differ. Those that moved along with a directory are left out.
fn entries(
    args: &Args,
    listed: &mut Listed,
    most: usize,
    screen: &Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut lists, mut number) = ([(); 4].map(|()| Vec::new()), 0);
    for list in List::ALL {
        let (all, of_list) = largest(listed, list, args.by, most, |listed, one| !listed.moved_along(one))?;
        lists[list as usize] = all;
        number += of_list;
    }
    let shown = of_all(lists, most);
    let others = number - shown.len() as u64;
    if !shown.is_empty() {
        listing(args, &shown, screen, out)?;
    }
    match others {
        0 => Ok(()),
        _ => writeln!(
            out,
            "({}; -n shows more, --names all)",
            message::counted(others, "other entry", "other entries")
        ),
    }
}

fn listing(args: &Args, shown: &[Weighed], screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::left("DIFFERENCE"),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::left("ENTRY"),
    ]);
    for Weighed { more: difference, .. } in shown {
        let mut row = cells(args, &difference.growth, entry(difference, screen));
        row[0] = difference.list.word().into();
        table.row(row);
    }
    table.draw(screen, out)
}

/// `a`; `a -> b` for an entry that moved; `a  (mode uid)` for one that has changed. A name with blanks or parentheses is in quotes.
fn entry(difference: &Difference, screen: &Screen) -> Vec<u8> {
    let Difference { path, old_path, changes, .. } = difference;
    let mut text = Vec::new();
    if let Some(old) = old_path {
        text.extend_from_slice(&screen.name(old));
        text.extend_from_slice(b" -> ");
    }
    text.extend_from_slice(&screen.name(path));
    if !changes.is_empty() {
        let words: Vec<&str> = changes.words().collect();
        text.extend_from_slice(format!("  ({})", words.join(" ")).as_bytes());
    }
    text
}

/// A table of growth, and the number of rows that are left out; nothing if nothing has grown.
fn grown(
    args: &Args,
    rows: &[Grown],
    title: &'static str,
    screen: &Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let top = args.top.unwrap_or(TOP);
    if rows.is_empty() || top == 0 {
        return Ok(());
    }
    let mut table = Table::new(vec![
        Column::right("ENTRIES"),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::left(title),
    ]);
    out.write_all(b"\n")?;
    for row in rows.iter().take(top) {
        table.row(cells(args, &row.growth, screen.name(&row.name)));
    }
    table.draw(screen, out)?;
    match rows.len().saturating_sub(top) as u64 {
        0 => Ok(()),
        others => {
            let others = message::counted(others, "other", "others");
            writeln!(out, "({others}; -n shows more)")
        }
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
