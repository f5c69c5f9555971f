//! The output: a table on a terminal, lines elsewhere, or one JSON object.

use super::args::{Args, By};
use super::find;
use super::heap::Ranked;
use crate::output::{Column, Completion, Csv, Destination, Head, Named, Paint, Screen, Table, write_json};
use crate::rows::{Cell, RowWriter, Type};
use dents_core::batch::Time;
use dents_render::human::SizeFormat;
use dents_sink::time;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::io::{self, Write};

pub(super) fn draw(
    args: &Args,
    best: &[Ranked],
    completion: &Completion<'_>,
    destination: Destination<'_>,
) -> io::Result<()> {
    let out = match destination {
        Destination::Rows(writer) => return rows(args, best, writer),
        Destination::Text(out) => out,
    };
    let screen = Screen::stdout();
    if args.json {
        json(args, best, completion, out)
    } else if args.csv {
        rows(args, best, &mut Csv::new(out))
    } else if screen.is_terminal() && !args.null {
        table(args, best, &screen, out)
    } else {
        lines(args, best, out)
    }
}

fn table(args: &Args, best: &[Ranked], screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(vec![Column::right("").painted(Paint::Size), Column::left("")]);
    let units = args.units.format(SizeFormat::HUMAN);
    let zone = TimeZone::system();
    for one in best {
        let value = match args.by {
            By::Size | By::Allocated => units.bytes(number(one)).as_bytes().to_vec(),
            By::Entries => screen.count(number(one)),
            By::Oldest | By::Newest | By::Atime => {
                local(find::time_of(args.by, one.score), &zone).into_bytes()
            }
        };
        table.row(vec![value, screen.name(&one.path)]);
    }
    table.draw(screen, out)
}

/// VALUE, a tab, the unchanged path.
fn lines(args: &Args, best: &[Ranked], out: &mut dyn Write) -> io::Result<()> {
    let units = args.units.format(SizeFormat::BYTES);
    let end = if args.null { b"\0" } else { b"\n" };
    for one in best {
        match args.by {
            By::Size | By::Allocated => out.write_all(units.bytes(number(one)).as_bytes())?,
            By::Entries => write!(out, "{}", number(one))?,
            By::Oldest | By::Newest | By::Atime => {
                out.write_all(time::text(find::time_of(args.by, one.score)).as_bytes())?
            }
        }
        out.write_all(b"\t")?;
        out.write_all(&one.path)?;
        out.write_all(end)?;
    }
    Ok(())
}

fn number(one: &Ranked) -> u64 {
    u64::try_from(one.score).unwrap_or(u64::MAX)
}

/// A time to the minute, in the zone of the machine; beyond the year 9999 as `@SECONDS`.
fn local(time: Time, zone: &TimeZone) -> String {
    match Timestamp::from_second(time.sec) {
        Ok(stamp) => stamp.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => format!("@{}", time.sec),
    }
}

/// `{"dents":"top", …, "by":"size", "entries":[{"path":…, "size":N}, …]}`, the best first. If `by` is `size`, `allocated` or `entries`, the
/// value is a number with that name. For `oldest` and `newest` it is `mtime`, for `atime` it is `atime`, in RFC 3339 and UTC.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    by: &'static str,
    entries: Vec<RowObject<'a>>,
}

#[derive(Serialize)]
struct RowObject<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    #[serde(flatten)]
    value: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Value {
    Size(u64),
    Allocated(u64),
    Entries(u64),
    Mtime(String),
    Atime(String),
}

/// A row for each entry: the value, under its name in JSON, and the path.
fn rows(args: &Args, best: &[Ranked], writer: &mut dyn RowWriter) -> io::Result<()> {
    let title = match args.by {
        By::Oldest | By::Newest => ("mtime", Type::Time),
        By::Atime => ("atime", Type::Time),
        by => (word(by), Type::Number),
    };
    writer.titles(&[title, ("path", Type::Text)])?;
    for one in best {
        let value = match title {
            (_, Type::Time) => Cell::Time(find::time_of(args.by, one.score)),
            _ => Cell::Number(one.score),
        };
        writer.row(&[value, Cell::Text(&one.path)])?;
    }
    Ok(())
}

/// The word of the command line.
fn word(by: By) -> &'static str {
    match by {
        By::Size => "size",
        By::Allocated => "allocated",
        By::Oldest => "oldest",
        By::Newest => "newest",
        By::Atime => "atime",
        By::Entries => "entries",
    }
}

fn json(args: &Args, best: &[Ranked], completion: &Completion<'_>, out: &mut dyn Write) -> io::Result<()> {
    let value = |one: &Ranked| match args.by {
        By::Size => Value::Size(number(one)),
        By::Allocated => Value::Allocated(number(one)),
        By::Entries => Value::Entries(number(one)),
        By::Atime => Value::Atime(time::text(find::time_of(args.by, one.score))),
        By::Oldest | By::Newest => Value::Mtime(time::text(find::time_of(args.by, one.score))),
    };
    let entries = best.iter().map(|one| RowObject { name: Named::new(&one.path), value: value(one) });
    let object = Object { head: Head::new("top", completion), by: word(args.by), entries: entries.collect() };
    write_json(&object, out)
}
