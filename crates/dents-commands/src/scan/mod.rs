//! `dents scan`: lists a tree.
//!
//! ```text
//! Args ─► Filter, Output ─► needs ─► walk ─► Scan (a worker's) ─► Filter::wants ─► Emit ─► TextOutput or Sink
//! ```
//!
//! Filters and output declare their needs; paths alone need no `statx`.

pub(crate) mod args;
mod done;
mod far;
mod format;
mod journal;
mod output;
mod part;
pub(crate) mod parts;
mod paths;
pub(crate) mod rows;
mod statistics;
mod task;
pub(crate) mod text_output;

pub(crate) use args::Args;

use crate::session::{Session, Status};
use clap::ArgMatches;
use dents_sink::Sink;
use dents_sink::read::Columns;
use output::Target;
use task::Task;
use text_output::FirstError;

pub(crate) fn run(args: &Args, matches: &ArgMatches, session: &Session) -> Status {
    if args.part.is_given() {
        return part::run(args, matches, session);
    }
    let made_ready = || Ok::<_, String>((args.filter(), args.output.target()?));
    let (filter, target) = match made_ready() {
        Ok(ready) => ready,
        Err(error) => return session.wrong(&error),
    };
    if matches!(target, Target::Rows(dents_sink::Format::Ncdu, _)) && args.paths().len() > 1 {
        return session.wrong("a file of ncdu has one root: name one PATH, or choose another --format");
    }
    let task = Task { args, filter, session, first_error: FirstError::default() };
    let done = match (target, args.output.journal.as_deref()) {
        (Target::Text(path), _) => task.text(path),
        (Target::Rows(format, path), None) => task.file(format, path),
        (Target::Rows(format, path), Some(dir)) => {
            journal::scan(&task, (format, path), dir, &journal::words(matches)).map(Ok)
        }
    };
    task.end(done)
}

/// The rows of a scan, given to `sink`, with these columns alone. An error has the exit status of a scan that gave no result.
pub(crate) fn give(
    args: &Args,
    session: &Session,
    columns: Columns,
    sink: &dyn Sink,
) -> Result<Status, Status> {
    let filter = args.filter();
    let task = Task { args, filter, session, first_error: FirstError::default() };
    let done = task.opened().and_then(|opened| task.rows(columns, opened, sink));
    let is_whole = done.is_ok() && !task.first_error.is_set() && !session.is_stopped();
    let status = task.end(Ok(done));
    if is_whole { Ok(status) } else { Err(status) }
}
