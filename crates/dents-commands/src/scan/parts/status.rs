//! `dents parts status`: a row for each task.

use crate::message::counted;
use crate::output::{Column, Completion, Csv, Destination, Diagnostics, Head, Screen, Table, write_json};
use crate::rows::{Cell, RowWriter, Type};
use crate::session::{Session, Status};
use dents_core::tree::End;
use dents_render::quantity::grouped;
use dents_sink::parts::{Done, Parts, Task};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Shown {
    /// One JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,
    /// A table as CSV, with a line of titles
    #[arg(long)]
    pub(super) csv: bool,
}

#[derive(Serialize)]
struct Object<'o> {
    #[serde(flatten)]
    head: Head,
    waiting: u64,
    tasks: Vec<Row<'o>>,
}

#[derive(Serialize)]
struct Row<'r> {
    task: &'r str,
    state: &'static str,
    entries: Option<u64>,
    directories: u64,
    left: Option<u64>,
}

pub(super) fn run(dir: &Path, shown: &Shown, session: &Session) -> io::Result<Status> {
    let parts = Parts::open(dir)?;
    let mut tasks = Vec::new();
    parts.tasks(&mut |task| {
        tasks.push(task);
        Ok(())
    })?;
    let waiting = parts.waiting()?;
    let completion = Completion::new(End::Complete, Diagnostics::begin(session));
    Ok(completion.finish(|destination| match destination {
        Destination::Rows(writer) => rows(&tasks, writer),
        Destination::Text(out) if shown.csv => rows(&tasks, &mut Csv::new(out)),
        Destination::Text(out) if shown.json => {
            let head = Head::new("parts", &completion);
            write_json(&Object { head, waiting, tasks: tasks.iter().map(row).collect() }, out)
        }
        Destination::Text(out) => table(&tasks, waiting, &Screen::stdout(), out),
    }))
}

fn row(task: &Task) -> Row<'_> {
    let done = |number: fn(&Done) -> u64| task.committed.as_ref().map(number);
    let state = if task.committed.is_some() { "committed" } else { "claimed" };
    let (entries, left) = (done(|done| done.entries), done(|done| done.left));
    Row { task: &task.id, state, entries, directories: task.directories, left }
}

fn rows(tasks: &[Task], writer: &mut dyn RowWriter) -> io::Result<()> {
    let numbers = ["entries", "directories", "left"].map(|title| (title, Type::Number));
    let [entries, directories, left] = numbers;
    writer.titles(&[("task", Type::Text), ("state", Type::Word), entries, directories, left])?;
    let number = |number: Option<u64>| number.map_or(Cell::Null, |number| Cell::Number(number.into()));
    for Row { task, state, entries, directories, left } in tasks.iter().map(row) {
        let numbers = [entries, Some(directories), left].map(number);
        writer.row(&[Cell::Text(task.as_bytes()), Cell::Word(state), numbers[0], numbers[1], numbers[2]])?;
    }
    Ok(())
}

fn table(tasks: &[Task], waiting: u64, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let numbers = ["entries", "directories", "left"].map(Column::right);
    let mut columns = vec![Column::left("task"), Column::left("state")];
    columns.extend(numbers);
    let mut table = Table::new(columns);
    let number = |number: Option<u64>| number.map_or_else(String::new, grouped).into_bytes();
    for Row { task, state, entries, directories, left } in tasks.iter().map(row) {
        let [entries, directories, left] = [entries, Some(directories), left].map(number);
        table.row(vec![task.into(), state.into(), entries, directories, left]);
    }
    table.draw(screen, out)?;
    let committed = tasks.iter().filter(|task| task.committed.is_some()).count() as u64;
    let verb = if waiting == 1 { "waits" } else { "wait" };
    let waiting = counted(waiting, "directory", "directories");
    writeln!(
        out,
        "{} of {} committed; {waiting} {verb}",
        grouped(committed),
        counted(tasks.len() as u64, "task", "tasks")
    )
}
