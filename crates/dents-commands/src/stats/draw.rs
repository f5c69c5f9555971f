//! The output: tables, or one JSON object.

use super::args::Args;
use super::key::{By, Key};
use super::sums::{Row, Sum, Tally, Value};
use crate::output::{Column, Completion, Csv, Destination, Head, Paint, Screen, Table, percent, write_json};
use crate::rows::{Cell, RowWriter, Type};
use dents_render::human::SizeFormat;
use dents_render::record::text::exact;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};

/// The rows that are shown, a row for the others, and a row for all.
struct Shown<'t> {
    by: &'t By,
    rows: Vec<&'t Row>,
    others: Option<Sum>,
    total: Sum,
}

fn shown<'t>(args: &Args, tally: &'t Tally, number: usize) -> Shown<'t> {
    let by = &tally.by;
    let mut rows: Vec<&Row> = tally.rows.iter().collect();
    match by.second {
        None if by.first.is_ordered() => rows.sort_unstable_by_key(|row| row.first.order),
        _ => rows.sort_unstable_by_key(|row| {
            let second = row.second.as_ref().map(|second| (second.order, &second.name, second.id));
            let first = (row.first.order, &row.first.name, row.first.id);
            (Reverse(weight(args, &row.sum)), Reverse(row.sum.entries), first, second)
        }),
    }
    let add = |rows: &[&Row]| {
        let mut sum = Sum::default();
        rows.iter().for_each(|row| sum += row.sum);
        sum
    };
    let total = add(&rows);
    // `(others)` never replaces a single row.
    let most = if rows.len() == number.saturating_add(1) { rows.len() } else { number.min(rows.len()) };
    let rest = rows.split_off(most);
    let others = (!rest.is_empty()).then(|| add(&rest));
    Shown { by, rows, others, total }
}

/// The figure from which order and share are computed.
fn weight(args: &Args, sum: &Sum) -> u128 {
    if args.apparent_size { sum.size } else { sum.allocated }
}

pub(super) fn draw(
    args: &Args,
    tables: &[Tally],
    completion: &Completion<'_>,
    destination: Destination<'_>,
) -> io::Result<()> {
    let out = match destination {
        Destination::Rows(writer) => return rows(args, tables, writer),
        Destination::Text(out) => out,
    };
    if args.json {
        return json(args, tables, completion, out);
    }
    if args.csv {
        return rows(args, tables, &mut Csv::new(out));
    }
    let screen = Screen::stdout();
    for (nth, tally) in tables.iter().enumerate() {
        if nth > 0 {
            out.write_all(b"\n")?;
        }
        table(args, &shown(args, tally, args.number), &screen).draw(&screen, out)?;
    }
    Ok(())
}

fn table(args: &Args, shown: &Shown<'_>, screen: &Screen) -> Table {
    let units = args.units.format(SizeFormat::HUMAN);
    let mut columns = vec![
        Column::right(if shown.by.counts_files() { "FILES" } else { "ENTRIES" }),
        Column::right("SIZE"),
        Column::right("ALLOCATED").painted(Paint::Size),
        Column::right("SHARE"),
    ];
    columns.extend(shown.by.keys().map(|key| Column::left(key.title())));
    let mut table = Table::new(columns);
    let mut row = |sum: &Sum, names: Vec<Vec<u8>>| {
        let mut cells = vec![
            screen.count(sum.entries),
            units.sum(sum.size).as_bytes().to_vec(),
            units.sum(sum.allocated).as_bytes().to_vec(),
            percent(weight(args, sum), weight(args, &shown.total)).into_bytes(),
        ];
        cells.extend(names);
        table.row(cells);
    };
    let name = |key: Key, value: &Value| match key.is_ordered() {
        true => value.name.clone(),
        false if value.name.is_empty() => b"(none)".to_vec(),
        false => screen.name(&value.name),
    };
    // A row for several values has an empty cell for the second key.
    let word = |word: &str| {
        let blank = shown.by.second.map(|_| Vec::new());
        std::iter::once(word.as_bytes().to_vec()).chain(blank).collect::<Vec<_>>()
    };
    for one in &shown.rows {
        let values = std::iter::once(&one.first).chain(&one.second);
        row(&one.sum, shown.by.keys().zip(values).map(|(key, value)| name(key, value)).collect());
    }
    if let Some(others) = &shown.others {
        row(others, word("(others)"));
    }
    row(&shown.total, word("(all)"));
    table
}

const TITLES: [(&str, Type); 8] = [
    ("by", Type::Word),
    ("name", Type::Text),
    ("id", Type::Number),
    ("name2", Type::Text),
    ("id2", Type::Number),
    ("entries", Type::Number),
    ("size", Type::Number),
    ("allocated", Type::Number),
];

/// For each row of each table: the table, the values of its one or two keys with the numbers of owners, and the sums.
fn rows(args: &Args, tables: &[Tally], writer: &mut dyn RowWriter) -> io::Result<()> {
    writer.titles(&TITLES)?;
    for tally in tables {
        let word = tally.by.word();
        for row in shown(args, tally, usize::MAX).rows {
            let (first, second) = (Some(&row.first), row.second.as_ref());
            let Sum { entries, size, allocated } = row.sum;
            let [entries, size, allocated] =
                [i128::from(entries), size as i128, allocated as i128].map(Cell::Number);
            let (name2, id2) = (name(second), id(second));
            writer.row(&[Cell::Word(&word), name(first), id(first), name2, id2, entries, size, allocated])?;
        }
    }
    Ok(())
}

fn name(value: Option<&Value>) -> Cell<'_> {
    value.map_or(Cell::Null, |value| Cell::Text(&value.name))
}

fn id(value: Option<&Value>) -> Cell<'static> {
    value.and_then(|value| value.id).map_or(Cell::Null, |id| Cell::Number(id.into()))
}

/// `{"dents":"stats", …, "tables":[{"by":"user", "rows":[{"name":"root", "id":0, "entries":N, "size":N, "allocated":N}, …],
/// "others":{"entries":N, …}, "total":{…}}, …]}`. `name` is empty for files without extension. If the name is not UTF-8,
/// `name_bytes` replaces it, in Base64. Only users and groups have an `id`. `others` is null if nothing is left out. A row of a table
/// by two keys has `"keys":[{"name":…, "id":…}, {"name":…}]` instead of `name` and `id`.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    tables: Vec<TableObject<'a>>,
}

#[derive(Serialize)]
struct TableObject<'a> {
    by: String,
    rows: Vec<RowObject<'a>>,
    others: Option<Sum>,
    total: Sum,
}

#[derive(Serialize)]
struct RowObject<'a> {
    #[serde(flatten)]
    value: Option<ValueObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<[ValueObject<'a>; 2]>,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Serialize)]
struct ValueObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

impl<'a> ValueObject<'a> {
    fn new(value: &'a Value) -> ValueObject<'a> {
        let (name, name_bytes) = exact(&value.name);
        ValueObject { name, name_bytes, id: value.id }
    }
}

impl<'a> RowObject<'a> {
    fn new(row: &'a Row) -> RowObject<'a> {
        let first = ValueObject::new(&row.first);
        match &row.second {
            None => RowObject { value: Some(first), keys: None, sum: row.sum },
            Some(second) => {
                RowObject { value: None, keys: Some([first, ValueObject::new(second)]), sum: row.sum }
            }
        }
    }
}

fn json(args: &Args, tables: &[Tally], completion: &Completion<'_>, out: &mut dyn Write) -> io::Result<()> {
    let shown: Vec<Shown<'_>> = tables.iter().map(|tally| shown(args, tally, args.number)).collect();
    let tables = shown.iter().map(|Shown { by, rows, others, total }| TableObject {
        by: by.word(),
        rows: rows.iter().copied().map(RowObject::new).collect(),
        others: *others,
        total: *total,
    });
    let head = Head::new("stats", completion);
    write_json(&Object { head, tables: tables.collect() }, out)
}
