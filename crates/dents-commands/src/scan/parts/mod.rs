//! `dents parts`: a scan in parts, by many processes on one or many machines that share a directory. The tasks themselves are
//! `dents scan --part` (`scan/part.rs`); the directory is described in `dents_sink::parts`.

pub(crate) mod budget;
pub(crate) mod plan;
mod status;
pub(crate) mod words;

use crate::message::counted;
use crate::output::{Completion, Csv, Destination, Diagnostics, Head, write_json};
use crate::rows::{Cell, RowWriter, Type};
use crate::session::{Session, Status};
use crate::{number, scan, time};
use clap::{ArgMatches, Subcommand};
use dents_core::tree::End;
use dents_sink::Extent;
use dents_sink::parts::{Claim, Parts};
use plan::{failed, plan};
use serde::Serialize;
use status::Shown;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Scan a tree in parts: many processes, also on many machines, that share a directory
///
/// Start a scan, then on each machine claim tasks and run them, until nothing waits and all tasks are committed. See docs/CLUSTER.md.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// In place of the help of `dents scan`, which [`scan::Args`] would bring along.
const START_EXAMPLE: &str = "\
Example:
  dents parts start -x -- /shared/scan /scratch";

#[derive(Subcommand)]
enum Command {
    /// Make the directory of a scan, with its options and roots
    ///
    /// The options are those of dents scan that decide which rows a scan has. If DIR has the same scan already, nothing changes; another scan is refused.
    #[command(override_usage = "dents parts start [OPTIONS] -- DIR ROOT...", after_help = START_EXAMPLE)]
    Start(Box<scan::Args>),
    /// Show all tasks
    Status {
        #[command(flatten)]
        dir: Dir,
        #[command(flatten)]
        shown: Shown,
    },
    /// Make a task from waiting directories
    ///
    /// Prints the ID of the task, the number of its directories, and how many directories still wait. If no directory waits, it prints nothing, and
    /// the exit status is 1; with --again, only after all tasks are committed. If it fails, the status is 2.
    Claim {
        #[command(flatten)]
        dir: Dir,
        /// Take this many directories [default: a sixteenth of those that wait, at most 8192]
        #[arg(long, value_name = "N", value_parser = number::positive::<NonZeroU64>)]
        directories: Option<NonZeroU64>,
        /// If no directory waits, sleep until one does, or print the ID of a task again that was claimed this long ago and is not committed: 30m
        #[arg(long, value_name = "DURATION", value_parser = time::duration)]
        again: Option<Duration>,
        #[command(flatten)]
        shown: Shown,
    },
    /// Write the manifest, so that --from DIR reads the scan
    Merge {
        #[command(flatten)]
        dir: Dir,
        /// Write all rows to one file too
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Check that all tasks are committed, nothing waits, and all rows can be read, each once
    Verify {
        #[command(flatten)]
        dir: Dir,
    },
}

#[derive(clap::Args)]
#[group(skip)]
struct Dir {
    /// The directory of the scan
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn run(args: &Args, matches: &ArgMatches, session: &Session) -> Status {
    let done = match &args.command {
        Command::Start(scan) => start(scan, matches, session),
        Command::Status { dir, shown } => status::run(&dir.dir, shown, session),
        Command::Claim { dir, directories, again, shown } => {
            return claim_or_fail(&dir.dir, (directories.map(NonZeroU64::get), *again), shown, session);
        }
        Command::Merge { dir, file } => merge(&dir.dir, file.as_deref(), session),
        Command::Verify { dir } => verify(&dir.dir, session),
    };
    done.unwrap_or_else(|error| failed(&error, session))
}

impl Args {
    /// Whether the result is a file.
    pub(crate) fn writes_file(&self) -> bool {
        matches!(self.command, Command::Start(_) | Command::Merge { .. } | Command::Verify { .. })
    }
}

fn start(scan: &scan::Args, matches: &ArgMatches, session: &Session) -> io::Result<Status> {
    let matches = matches.subcommand_matches("parts").and_then(|parts| parts.subcommand_matches("start"));
    let ([dir, roots @ ..], Some(matches)) = (scan.paths(), matches) else {
        return Ok(session.wrong("name a directory, and the roots: dents parts start -- DIR ROOT..."));
    };
    if roots.is_empty() {
        return Ok(session.wrong("name at least one root: dents parts start -- DIR ROOT..."));
    }
    if scan.is_task() {
        return Ok(session.wrong("--part and --task are for dents scan"));
    }
    Parts::start(Path::new(dir), plan(matches, roots)?)?;
    Ok(Status::SUCCESS)
}

#[derive(Serialize)]
struct Claimed<'c> {
    #[serde(flatten)]
    head: Head,
    task: &'c str,
    directories: u64,
    waiting: u64,
}

/// Between two looks whether there is a task: the first time, and at most.
const NAPS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A task: a new one, or one again. `None` if there is none, or if the command is stopped.
fn next(
    parts: &Parts,
    directories: Option<u64>,
    again: Option<Duration>,
    session: &Session,
) -> io::Result<Option<Claim>> {
    let (mut open, [mut nap, longest]) = (None, NAPS);
    loop {
        let claim = parts.claim(directories)?;
        let (None, Some(age)) = (&claim, again) else { return Ok(claim) };
        let tasks = parts.open_tasks(open.take())?;
        if tasks.is_empty() {
            // The last one may have left directories over, since.
            return parts.claim(directories);
        }
        let claim = parts.give_again(&tasks, age)?;
        if claim.is_some() || session.is_stopped() {
            return Ok(claim);
        }
        open = Some(tasks);
        std::thread::sleep(nap);
        nap = (nap * 2).min(longest);
    }
}

/// For loops in scripts: status 1 says that there is no task, and nothing else does.
fn claim_or_fail(
    dir: &Path,
    how: (Option<u64>, Option<Duration>),
    shown: &Shown,
    session: &Session,
) -> Status {
    match claim(dir, how, shown, session) {
        Ok((Status::FAILURE, true)) => Status::WRONG,
        Ok((status, _)) => status,
        Err(error) => {
            failed(&error, session);
            Status::WRONG
        }
    }
}

/// The status, and whether there is a task.
fn claim(
    dir: &Path,
    (directories, again): (Option<u64>, Option<Duration>),
    shown: &Shown,
    session: &Session,
) -> io::Result<(Status, bool)> {
    let claim = next(&Parts::open(dir)?, directories, again, session)?;
    let completion = Completion::new(End::Complete, Diagnostics::begin(session));
    let status = completion.finish(|destination| match (destination, &claim) {
        (Destination::Rows(writer), _) => claim_row(claim.as_ref(), writer),
        (Destination::Text(out), _) if shown.csv => claim_row(claim.as_ref(), &mut Csv::new(out)),
        (Destination::Text(_), None) => Ok(()),
        (Destination::Text(out), Some(Claim { id, directories, waiting })) if shown.json => {
            let head = Head::new("parts", &completion);
            write_json(&Claimed { head, task: id, directories: *directories, waiting: *waiting }, out)
        }
        (Destination::Text(out), Some(Claim { id, directories, waiting })) => {
            writeln!(out, "{id} {directories} {waiting}")
        }
    });
    let none = session.stopped().unwrap_or(Status::FAILURE);
    match (&claim, status) {
        (None, Status::SUCCESS) => Ok((none, false)),
        (_, status) => Ok((status, true)),
    }
}

fn claim_row(claim: Option<&Claim>, writer: &mut dyn RowWriter) -> io::Result<()> {
    writer.titles(&[("task", Type::Text), ("directories", Type::Number), ("waiting", Type::Number)])?;
    claim.map_or(Ok(()), |Claim { id, directories, waiting }| {
        let numbers = [*directories, *waiting].map(|number| Cell::Number(number.into()));
        writer.row(&[Cell::Text(id.as_bytes()), numbers[0], numbers[1]])
    })
}

fn merge(dir: &Path, file: Option<&Path>, session: &Session) -> io::Result<Status> {
    let manifest = Parts::open(dir)?.merge()?;
    if manifest.extent == Extent::Partial {
        session.say(b"the scan is not complete: dents parts verify tells why");
    }
    let status = if manifest.extent == Extent::Partial { Status::FAILURE } else { Status::SUCCESS };
    let Some(file) = file else { return Ok(status) };
    let with = |option: &str, path: &Path| {
        let mut word = OsString::from(option);
        word.push(path);
        word
    };
    let parsed = words::parse([with("--from=", dir), with("--output=", file)]);
    let (args, matches) = parsed.map_err(|text| io::Error::new(ErrorKind::InvalidInput, text))?;
    let written = scan::run(&args, &matches, session);
    Ok(if written == Status::SUCCESS { status } else { written })
}

fn verify(dir: &Path, session: &Session) -> io::Result<Status> {
    let verdict = Parts::open(dir)?.verify()?;
    let mut problems = verdict.problems.clone();
    if verdict.open > 0 {
        problems.push(format!("not committed: {}", counted(verdict.open, "task", "tasks")));
    }
    if verdict.waiting > 0 {
        problems.push(format!("not claimed: {}", counted(verdict.waiting, "directory", "directories")));
    }
    if verdict.unread > 0 {
        let unread = counted(verdict.unread, "directory", "directories");
        problems.push(format!("not opened or not read to the end: {unread}; their rows have the error"));
    }
    if verdict.partial > 0 {
        problems.push("not every root could be read".to_owned());
    }
    problems.iter().for_each(|problem| session.say(problem.as_bytes()));
    if !problems.is_empty() {
        return Ok(Status::FAILURE);
    }
    let (tasks, rows) = (counted(verdict.tasks, "task", "tasks"), counted(verdict.rows, "row", "rows"));
    let completion = Completion::new(End::Complete, Diagnostics::begin(session));
    Ok(completion.finish(|destination| match destination {
        Destination::Text(out) => writeln!(out, "complete: {tasks}, {rows}"),
        Destination::Rows(_) => Ok(()),
    }))
}
