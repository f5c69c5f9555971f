//! `--journal DIR`: rows go to a journal first, and into the output at the end; a scan that was killed resumes from its journal.

use super::rows::{self, Rows};
use super::{Done, Task};
use crate::consumer::Consumer;
use crate::entry::Found;
use crate::owners::SharedOwners;
use crate::source;
use clap::ArgMatches;
use clap::parser::ValueSource;
use dents_core::batch::{Batch, Time};
use dents_core::tree::{End, Failure, Place, Step};
use dents_sink::journal::{Journal, Options, Scan, Writer};
use dents_sink::read::Columns;
use dents_sink::{Own, Part, Row, time};

use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

/// Options that do not change which rows there are.
const OTHERS: [&str; 16] = [
    "paths",
    "journal",
    "file",
    "format",
    "timestamps",
    "index",
    "statistics",
    "progress",
    "sync",
    "threads",
    "rate",
    "timeout",
    "bulk",
    "quiet",
    "null",
    "printf",
];

/// The same as `Task::file`, by way of a journal.
pub(super) fn scan(
    task: &Task<'_>,
    (format, path): (dents_sink::Format, &Path),
    dir: &Path,
    options: &str,
) -> io::Result<Done> {
    let Task { args, session, first_error, .. } = task;
    let own = dents_sink::check(path, format)?;
    let (owners, operands) = (SharedOwners::default(), args.walk.paths());
    let paths: Vec<&CStr> = operands.iter().map(CString::as_c_str).collect();
    let subvolumes = source::subvolumes(&operands);
    let scan = Scan { options, paths: &paths, subvolumes: &subvolumes };
    let journal = Journal::open(dir, &scan, Options::default())?;
    session.leave_out(own.into_iter().chain(Own::at(dir)));
    if journal.resumed() {
        let (directories, age) = (journal.directories(), age(journal.started()));
        let noun = if directories == 1 { "directory" } else { "directories" };
        let told = format!("resuming after {directories} {noun}; the journal is {age} old");
        session.say(told.as_bytes());
    }
    let details = args.output.details().unwrap_or_default();
    let columns = Columns::USUAL | details;
    let make = || Journaled {
        rows: Rows::new(journal.writer(), first_error, &owners, &operands).with(columns),
        task,
    };
    let mut done = task.walk((rows::needs(columns), true), Some(&journal), make);
    if done.end != End::Complete || first_error.is_set() {
        session.say(format!("{}: run the same command again to resume", dir.display()).as_bytes());
        return Ok(done);
    }
    let _hold = session.hold_for(path);
    let about = args.output.about((journal.started(), None), journal.subvolumes(), details);
    let sink = dents_sink::create(path, format, &about)?;
    let mut part = Counting { part: sink.part(), faults: 0, root_failed: false };
    journal.replay(&mut part)?;
    part.flush()?;
    // Earlier runs may have had faults too.
    done.tally.faults = done.tally.faults.max(part.faults);
    done.root_failed |= part.root_failed;
    drop(part);
    // Also if a PATH could not be opened: the journal has nothing more to resume.
    done.renamed = sink.finish(done.extent())?;
    journal.finish()?;
    Ok(done)
}

/// The time that has passed, in its two largest units; `0s` if the clock was set back.
fn age(since: Time) -> String {
    let seconds = u64::try_from(time::now().sec.saturating_sub(since.sec)).unwrap_or(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, ..) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// The options that decide which rows there are, as they were given; quoted, so that different command lines give different texts.
pub(super) fn words(matches: &ArgMatches) -> String {
    let Some(matches) = matches.subcommand_matches("scan") else { return String::new() };
    let mut words = Vec::new();
    for id in matches.ids().map(clap::Id::as_str).filter(|id| !OTHERS.contains(id)) {
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let values = matches.try_get_raw(id).ok().flatten();
        words.push(format!("{id}={:?}", values.into_iter().flatten().collect::<Vec<_>>()));
    }
    words.sort_unstable();
    words.join(" ")
}

/// Writes one worker's rows to the journal.
struct Journaled<'j> {
    rows: Rows<'j, Writer<'j>>,
    task: &'j Task<'j>,
}

impl Journaled<'_> {
    fn note(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.task.first_error.note(error);
        }
    }
}

impl Consumer for Journaled<'_> {
    type State = ();

    fn directory(&mut self, place: &Place<'_>) {
        let result = self.rows.part.directory(place);
        self.note(result);
    }

    fn enters(&mut self, name: &[u8]) -> bool {
        self.rows.part.enters(name)
    }

    fn begin(&mut self, place: &Place<'_>, batch: &Batch) {
        self.rows.begin(place, batch);
    }

    fn entry(&mut self, found: &Found<'_>, state: &()) -> Step {
        self.rows.entry(found, state)
    }

    fn failed(&mut self, failure: &Failure<'_>) {
        let result = self.rows.part.failed(failure);
        self.note(result);
        self.rows.failed(failure);
    }

    /// A worker that was stopped in the middle of a directory must not flush: that would mark the directory as complete.
    fn requests(&mut self) -> u64 {
        self.rows.requests()
    }

    fn finish(&mut self) {
        if !self.task.first_error.is_set() && !self.task.session.is_stopped() {
            self.rows.finish();
        }
    }

    fn takes_faults(&self) -> bool {
        true
    }
}

/// Counts rows with faults on their way from the journal into the output: the faults of earlier runs too decide about the exit
/// status, and whether the scan is complete.
struct Counting<'s> {
    part: Box<dyn Part + 's>,
    faults: u64,
    root_failed: bool,
}

impl Part for Counting<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.faults += u64::from(row.fault.is_some());
        self.root_failed |= row.is_failed_root();
        self.part.row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}
