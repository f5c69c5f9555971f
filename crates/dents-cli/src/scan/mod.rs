//! `dents scan`: lists a tree.
//!
//! ```text
//! Args ─► Filter, Output ─► needs ─► walk ─► Scan (a worker's) ─► Filter::wants ─► Emit ─► Out or Sink
//! ```
//!
//! Filters and output declare their needs; paths alone need no `statx`.

mod emit;
mod filter;
mod format;
mod journal;
mod origin;
mod out;
mod output;
mod paths;
mod rows;
mod statistics;
mod visitor;

use crate::interrupt::{self, Hold};
use crate::message;
use crate::owners::SharedOwners;
use crate::progress::Progress;
use crate::walk::Walk;
use dents_core::needs::Needs;
use dents_core::read::{Filter as Names, Hidden};
use dents_core::tree::{End, Outcome, Tally};
use dents_sink::Extent;
use dents_sink::journal::Journal;
use emit::{Emit, Nothing};
use filter::Filter;
use format::{Format, Printer};
use out::{FirstError, Out};
use output::{Output, Target};
use paths::Paths;
use rows::Rows;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use visitor::{Plan, Scan};

/// List a tree
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    output: Output,
}

fn after_help() -> String {
    format!("{}\n\n{EXAMPLES}", format::HELP)
}

const EXAMPLES: &str = "\
Examples:
  dents scan                               all paths below the current directory
  dents scan -0 -f -g '\\.core$' / | xargs -0 rm
  dents scan --type f --size +1G --older 365d /home
  dents scan --printf '%s %T+ %p\\n' /var    sizes, times and paths
  dents scan -o scratch.parquet /scratch   all metadata of all entries, for DuckDB and other programs
  dents scan --journal /var/tmp/j -o scratch.parquet /scratch   the same; resumes after it was killed
  dents scan -qs /scratch                  only statistics

Complete scans: a scan is complete if every PATH could be opened and the walk reached its end; a directory below a PATH that \
cannot be read has a row with the error. Only a complete scan replaces FILE. Any other leaves FILE unchanged and writes \
FILE.partial, or resumes from its journal when it is run again.

Exit status: 0; 1 if something could not be read or written, or the scan is not complete; 2 for a wrong command line; 128 \
and the number of the signal that stopped it, 130 for Ctrl-C.";

pub(crate) fn run(args: &Args) -> ExitCode {
    let made_ready = || Ok::<_, String>((Filter::new(&args.filter)?, args.output.target()?));
    let (filter, target) = match made_ready() {
        Ok(ready) => ready,
        Err(error) => return wrong(&error),
    };
    let first_error = FirstError::default();
    let done = match (target, args.output.journal.as_deref()) {
        (Target::Text(path), _) => text(args, filter, path, &first_error),
        (Target::Rows(format, path), None) => rows(args, filter, format, path, &first_error),
        (Target::Rows(format, path), Some(dir)) => {
            journal::scan(args, filter, (format, path), dir, &first_error)
        }
    };
    match (first_error.into_result(), done) {
        (Ok(()), Ok(done)) => status(&done, args.output.path()),
        (Err(error), _) | (_, Err(error)) => cannot_write(&error),
    }
}

/// Lines of text.
fn text(args: &Args, filter: Filter<'_>, path: &Path, first_error: &FirstError) -> io::Result<Done> {
    let out = Out::create(path, first_error)?;
    let owners = SharedOwners::default();
    let output = &args.output;
    let printf = output.printf.as_deref();
    let needs = printf.map_or(Needs::empty(), Format::needs);
    let extra = printf.is_some_and(Format::wants_extra);
    let mut done = walk(args, filter, first_error, (needs, extra), None, &|| match printf {
        Some(format) => Box::new(Printer::new(format, &out, &owners)),
        None if output.quiet => Box::new(Nothing),
        None => Box::new(Paths::new(&out, output.end_of_line(), output.is_seen() && !output.null)),
    });
    let _hold = hold(path);
    done.renamed = out.commit(done.extent())?;
    Ok(done)
}

/// A file of rows.
fn rows(
    args: &Args,
    filter: Filter<'_>,
    format: dents_sink::Format,
    path: &Path,
    first_error: &FirstError,
) -> io::Result<Done> {
    let sink = dents_sink::create(path, format, &args.output.about(dents_sink::time::now()))?;
    let (owners, operands) = (SharedOwners::default(), args.walk.paths());
    let mut done = walk(args, filter, first_error, (rows::NEEDS, true), None, &|| {
        Box::new(Rows::new(sink.part(), first_error, &owners, &operands))
    });
    if !first_error.is_set() {
        let _hold = hold(path);
        done.renamed = sink.finish(done.extent())?;
    }
    Ok(done)
}

/// Protects the completion of a file from the first signal. Not for standard output: a stalled reader could block that forever.
fn hold(path: &Path) -> Option<Hold> {
    (path != Path::new("-")).then(Hold::begin)
}

/// The result of a walk.
struct Done {
    end: End,
    tally: Tally,
    /// Entries by type, if they were counted.
    kinds: [u64; 16],
    /// A PATH could not be opened, or not read to its end.
    root_failed: bool,
    /// The final path of the output, if it was renamed.
    renamed: Option<PathBuf>,
}

impl Done {
    fn extent(&self) -> Extent {
        if self.end == End::Complete && !self.root_failed { Extent::Complete } else { Extent::Partial }
    }
}

/// Walks, with an output for each worker, and flushes these at the end. `needs` are those of the output, for entries that
/// pass; `extra` is whether it reads the column of that name.
fn walk<'p>(
    args: &Args,
    filter: Filter<'_>,
    first_error: &FirstError,
    (needs, extra): (Needs, bool),
    journal: Option<&Journal>,
    emit: &(dyn Fn() -> Box<dyn Emit + 'p> + Sync),
) -> Done {
    let started = Instant::now();
    let needs = filter.needs(needs, args.walk.follows());
    let mut options = args.walk.options(needs);
    options.max_depth = args.filter.max_depth;
    options.extra = extra || needs.any().intersects(Needs::TIMES);
    if filter.hides() {
        options.filter = Names { hidden: Hidden::Skip, ..Names::default() };
    }
    if args.output.sync {
        options.workers = Some(1);
    }
    if needs.any().is_empty() {
        // The visitor checks the same flag before each directory. Without a flag the walk may use link counts to find directories
        // where `readdir` gives no types.
        options.cancel = None;
    }
    let progress = Progress::start(args.output.progress, !args.output.is_seen());
    let counters = progress.as_ref().map(Progress::counters);
    let (counts, follows) = (args.output.statistics, args.walk.follows());
    let root_failed = AtomicBool::new(false);
    let plan = Plan { filter, first_error, progress: counters, counts, follows, root_failed };
    let Outcome { visitors, end, tally } = args.walk.walk_on(journal, &options, |_| Scan::new(&plan, emit()));
    let root_failed = plan.root_failed.load(Relaxed);
    let mut done = Done { end, tally, kinds: [0; 16], root_failed, renamed: None };
    for visitor in visitors {
        let met = visitor.finish();
        done.kinds.iter_mut().zip(met.kinds).for_each(|(all, some)| *all += some);
        done.tally.faults += met.circles;
    }
    drop(plan);
    drop(progress);
    if args.output.statistics {
        statistics::say(&done, started.elapsed());
    }
    done
}

/// The exit status of a walk whose output arrived. A signal that came after the end of the walk changed nothing.
fn status(done: &Done, file: &Path) -> ExitCode {
    let (why, status) = match done.end {
        End::Complete if !done.root_failed && done.tally.faults == 0 => return ExitCode::SUCCESS,
        End::Complete if !done.root_failed => return ExitCode::FAILURE,
        End::Complete => ("not every PATH could be opened", ExitCode::FAILURE),
        End::Deadline => ("timed out", ExitCode::FAILURE),
        End::Cancelled | End::Stopped => ("interrupted", interrupt::status().unwrap_or(ExitCode::FAILURE)),
    };
    match &done.renamed {
        Some(partial) => {
            let [partial, file] = [partial, file].map(|path| message::quoted(path.as_os_str().as_bytes()));
            let found = [why.as_bytes(), b": the incomplete result is in ", &partial].concat();
            message::say(&[&found[..], b", and ", &file, b" is unchanged"].concat());
        }
        // The PATH was reported already, and nothing else is missing.
        None if done.end == End::Complete => {}
        None => message::say(format!("{why}: the output is incomplete").as_bytes()),
    }
    status
}

/// Reports an error of the command line.
fn wrong(error: &str) -> ExitCode {
    message::say(error.as_bytes());
    ExitCode::from(2)
}

/// Reports an error of the output. A closed pipe is no error.
fn cannot_write(error: &io::Error) -> ExitCode {
    if error.kind() == ErrorKind::BrokenPipe {
        return interrupt::die_of_closed_pipe();
    }
    message::say(message::plain(error).as_bytes());
    ExitCode::FAILURE
}
