//! Writes rows: with bars on a terminal, elsewhere as lines in the form of du(1), or as one JSON object.

use super::args::{Args, What};
use super::row::Row;
use crate::output::{
    Column, Completion, Csv, Destination, Head, Named, Paint, Screen, Table, bar, percent, write_json,
};
use crate::rows::{Cell, RowWriter, Type};
use dents_render::human::SizeFormat;
use dents_render::width::width;
use serde::Serialize;
use std::io::{self, Write};

/// The width of the columns other than bar and path, with the blanks between columns.
const OTHERS: usize = 20;
/// The width of a bar: fewer columns show no difference, more add nothing.
const BAR: std::ops::RangeInclusive<usize> = 8..=40;

pub(super) fn draw(
    args: &Args,
    rows: &[Row],
    total: u128,
    completion: &Completion<'_>,
    destination: Destination<'_>,
) -> io::Result<()> {
    let out = match destination {
        Destination::Rows(writer) => return write_rows(args, rows, writer),
        Destination::Text(out) => out,
    };
    let screen = Screen::stdout();
    if args.json {
        json(args, rows, total, completion, out)
    } else if args.csv {
        write_rows(args, rows, &mut Csv::new(out))
    } else if screen.is_terminal() && !args.null {
        bars(args, rows, total, &screen, out)
    } else {
        lines(args, rows, total, out)
    }
}

/// SIZE, a tab, the unchanged path.
fn lines(args: &Args, rows: &[Row], total: u128, out: &mut dyn Write) -> io::Result<()> {
    let units = args.units(SizeFormat::KIBI);
    let end = if args.null { b"\0" } else { b"\n" };
    let mut line = Vec::new();
    let totals = args.total.then_some((total, &b"total"[..]));
    for (bytes, path) in rows.iter().map(|row| (row.bytes, &*row.path)).chain(totals) {
        line.clear();
        line.extend_from_slice(units.sum(bytes).as_bytes());
        line.push(b'\t');
        line.extend_from_slice(path);
        line.extend_from_slice(end);
        out.write_all(&line)?;
    }
    Ok(())
}

/// Size, share, bar, path.
fn bars(args: &Args, rows: &[Row], total: u128, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let units = args.units(SizeFormat::HUMAN);
    let names: Vec<Vec<u8>> = rows.iter().map(|row| screen.name(&row.path)).collect();
    let longest = names.iter().map(|name| width(name, screen.charset)).max().unwrap_or(0);
    let room = screen.columns.unwrap_or(0).saturating_sub(OTHERS + longest);
    let columns = room.clamp(*BAR.start(), *BAR.end());
    let mut table = Table::new(vec![
        Column::right("").painted(Paint::Size),
        Column::right(""),
        Column::left("").painted(Paint::Bar),
        Column::left(""),
    ]);
    for (row, name) in rows.iter().zip(names) {
        table.row(vec![
            units.sum(row.bytes).as_bytes().to_vec(),
            percent(row.bytes, total).into_bytes(),
            bar(row.bytes, total, columns, screen.charset.is_utf8()).into_bytes(),
            name,
        ]);
    }
    if args.total {
        let blank = vec![b' '; columns];
        table.row(vec![
            units.sum(total).as_bytes().to_vec(),
            percent(total, total).into(),
            blank,
            b"total".into(),
        ]);
    }
    table.draw(screen, out)
}

/// For each row: bytes or inodes, depth and path.
fn write_rows(args: &Args, rows: &[Row], writer: &mut dyn RowWriter) -> io::Result<()> {
    writer.titles(&[(args.what().word(), Type::Number), ("depth", Type::Number), ("path", Type::Text)])?;
    for Row { path, depth, bytes, .. } in rows {
        writer.row(&[Cell::Number(*bytes as i128), Cell::Number((*depth).into()), Cell::Text(path)])?;
    }
    Ok(())
}

impl What {
    /// The name of the figure.
    fn word(self) -> &'static str {
        if self == What::Inodes { "inodes" } else { "bytes" }
    }
}

/// `{"dents":"du", …, "apparent":false, "total":BYTES, "entries":[{"path":…, "depth":N, "bytes":N}, …]}`, the largest
/// first. With `--inodes` the figures are numbers of inodes, called `inodes` instead of `bytes`.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    /// Whether the figures are apparent sizes instead of allocated space.
    apparent: bool,
    total: u128,
    entries: Vec<RowObject<'a>>,
}

#[derive(Serialize)]
struct RowObject<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inodes: Option<u128>,
}

fn json(
    args: &Args,
    rows: &[Row],
    total: u128,
    completion: &Completion<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let head = Head::new("du", completion);
    let inodes = args.what() == What::Inodes;
    let entries = rows.iter().map(|row| RowObject {
        name: Named::new(&row.path),
        depth: row.depth,
        bytes: (!inodes).then_some(row.bytes),
        inodes: inodes.then_some(row.bytes),
    });
    let object = Object { head, apparent: args.what() == What::Apparent, total, entries: entries.collect() };
    write_json(&object, out)
}
