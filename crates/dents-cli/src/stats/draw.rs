//! The output: tables, or one JSON object.

use super::sums::{Row, Sum, Tally};
use super::{Args, Key};
use crate::report::{Column, Completion, Head, Paint, Screen, Table, percent, write_json};
use dents_render::human::SizeFormat;
use dents_render::record::text::exact;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};

impl Key {
    /// The word of the command line, and the title of a column.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Key::User => ("user", "USER"),
            Key::Group => ("group", "GROUP"),
            Key::Extension => ("extension", "EXTENSION"),
            Key::Age => ("age", "CHANGED"),
            Key::Size => ("size", "SIZE OF FILES"),
            Key::Depth => ("depth", "DEPTH"),
        }
    }

    fn counts(self) -> &'static str {
        if matches!(self, Key::Extension | Key::Age | Key::Size) { "FILES" } else { "ENTRIES" }
    }

    /// Whether the rows have an order of their own.
    fn is_ordered(self) -> bool {
        matches!(self, Key::Age | Key::Size | Key::Depth)
    }
}

/// The rows that are shown, the rest as one, and all.
struct Shown<'t> {
    key: Key,
    rows: Vec<&'t Row>,
    others: Option<Sum>,
    total: Sum,
}

fn shown<'t>(args: &Args, tally: &'t Tally) -> Shown<'t> {
    let key = tally.key;
    let mut rows: Vec<&Row> = tally.rows.iter().collect();
    if !key.is_ordered() {
        rows.sort_unstable_by_key(|row| {
            (Reverse(weight(args, &row.sum)), Reverse(row.sum.entries), &row.name, row.id)
        });
    }
    let add = |rows: &[&Row]| {
        let mut sum = Sum::default();
        rows.iter().for_each(|row| sum += row.sum);
        sum
    };
    let total = add(&rows);
    // `(others)` never stands for a single row.
    let most = if rows.len() == args.number + 1 { rows.len() } else { args.number.min(rows.len()) };
    let rest = rows.split_off(most);
    let others = (!rest.is_empty()).then(|| add(&rest));
    Shown { key, rows, others, total }
}

/// The figure that order and share are computed from.
fn weight(args: &Args, sum: &Sum) -> u128 {
    if args.apparent_size { sum.size } else { sum.allocated }
}

pub(super) fn draw(
    args: &Args,
    tables: &[Tally],
    completion: &Completion,
    out: &mut dyn Write,
) -> io::Result<()> {
    if args.json {
        return json(args, tables, completion, out);
    }
    let screen = Screen::stdout();
    for (nth, tally) in tables.iter().enumerate() {
        if nth > 0 {
            out.write_all(b"\n")?;
        }
        table(args, &shown(args, tally), &screen).draw(&screen, out)?;
    }
    Ok(())
}

fn table(args: &Args, shown: &Shown<'_>, screen: &Screen) -> Table {
    let units = args.units.format(SizeFormat::HUMAN);
    let mut table = Table::new(vec![
        Column::right(shown.key.counts()),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::right("SHARE"),
        Column::left(shown.key.words().1),
    ]);
    let mut row = |sum: &Sum, name: Vec<u8>| {
        table.row(vec![
            screen.count(sum.entries),
            units.sum(sum.size).as_bytes().to_vec(),
            units.sum(sum.allocated).as_bytes().to_vec(),
            percent(weight(args, sum), weight(args, &shown.total)).into_bytes(),
            name,
        ]);
    };
    for one in &shown.rows {
        let name = match shown.key.is_ordered() {
            true => one.name.clone(),
            false if one.name.is_empty() => b"(none)".to_vec(),
            false => screen.name(&one.name),
        };
        row(&one.sum, name);
    }
    if let Some(others) = &shown.others {
        row(others, b"(others)".to_vec());
    }
    row(&shown.total, b"(all)".to_vec());
    table
}

/// `{"dents":"stats", …, "tables":[{"by":"user", "rows":[{"name":"root", "id":0, "entries":N, "size":N, "allocated":N}, …],
/// "others":{"entries":N, …}, "total":{…}}, …]}`. `name` is empty for files without extension; `name_bytes`, in Base64,
/// stands in its place where it is not UTF-8. `id` is there for users and groups, `others` is null if nothing is left out.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    tables: Vec<TableObject<'a>>,
}

#[derive(Serialize)]
struct TableObject<'a> {
    by: &'static str,
    rows: Vec<RowObject<'a>>,
    others: Option<Sum>,
    total: Sum,
}

#[derive(Serialize)]
struct RowObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(flatten)]
    sum: Sum,
}

impl<'a> RowObject<'a> {
    fn new(row: &'a Row) -> RowObject<'a> {
        let (name, name_bytes) = exact(&row.name);
        RowObject { name, name_bytes, id: row.id, sum: row.sum }
    }
}

fn json(args: &Args, tables: &[Tally], completion: &Completion, out: &mut dyn Write) -> io::Result<()> {
    let shown: Vec<Shown<'_>> = tables.iter().map(|tally| shown(args, tally)).collect();
    let tables = shown.iter().map(|Shown { key, rows, others, total }| TableObject {
        by: key.words().0,
        rows: rows.iter().copied().map(RowObject::new).collect(),
        others: *others,
        total: *total,
    });
    let head = Head::new("stats", completion);
    write_json(&Object { head, tables: tables.collect() }, out)
}
