//! `dents scan`: lists a tree.
//!
//! ```text
//! Args ─► Filter, Output ─► needs ─► walk ─► Scan (a worker's) ─► Filter::wants ─► Emit ─► Out or Sink
//! ```
//!
//! Filters and output declare their needs; paths alone need no `statx`.

mod format;
mod journal;
pub(crate) mod out;
mod output;
mod paths;
pub(crate) mod rows;
mod statistics;

use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::kinds::Kinds;
use crate::filter::{self, Depths, Filter};
use crate::interrupt::{self, Hold};
use crate::message;
use crate::owners::SharedOwners;
use crate::progress::Progress;
use crate::report::Diagnostics;
use crate::source::{Below, File, Gathered, Job, Opened, Source, Special, Way};
use crate::walk::Walk;
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{End, Place, Step, Tally};
use dents_sink::Extent;
use dents_sink::journal::Journal;
use dents_sink::read::Columns;
use format::Printer;
use out::{FirstError, Out};
use output::{Output, Target};
use paths::Paths;
use rows::Rows;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// List a tree
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    /// Only directories
    #[arg(short = 'd', long, conflicts_with = "files", help_heading = "Which entries")]
    directories: bool,
    /// Only entries that are not directories
    #[arg(short = 'f', long, help_heading = "Which entries")]
    files: bool,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
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
    let made_ready = || Ok::<_, String>((args.filter()?, args.output.target()?));
    let (filter, target) = match made_ready() {
        Ok(ready) => ready,
        Err(error) => return message::wrong(&error),
    };
    let first_error = FirstError::default();
    let done = match (target, args.output.journal.as_deref()) {
        (Target::Text(path), _) => text(args, &filter, path, &first_error),
        (Target::Rows(format, path), None) => rows(args, &filter, format, path, &first_error),
        (Target::Rows(format, path), Some(dir)) => {
            journal::scan(args, &filter, (format, path), dir, &first_error).map(Ok)
        }
    };
    match (first_error.into_result(), done) {
        (Ok(()), Ok(Ok(done))) => status(&done, args.output.path()),
        // The scan file cannot be read, which was reported.
        (Ok(()), Ok(Err(code))) => code,
        (Err(error), _) | (_, Err(error)) => cannot_write(&error),
    }
}

impl Args {
    fn filter(&self) -> Result<Filter<'_>, String> {
        let only = match (self.directories, self.files) {
            (true, _) => Some((Kinds::DIRECTORIES, "--directories")),
            (_, true) => Some((Kinds::OTHERS, "--files")),
            _ => None,
        };
        Filter::new(&self.filter, self.depths, only)
    }
}

/// Lines of text.
fn text(args: &Args, filter: &Filter<'_>, path: &Path, first_error: &FirstError) -> io::Result<Finished> {
    let opened = match args.source.file().map(File::open).transpose() {
        Ok(opened) => opened,
        Err(code) => return Ok(Err(code)),
    };
    let out = Out::create(path, first_error)?;
    let owners = SharedOwners::default();
    let output = &args.output;
    let printer = |format| Printer::new(format, &out, &owners);
    let paths = || Paths::new(&out, output.end_of_line(), output.is_seen() && !output.null);
    let done = match &output.printf {
        Some(format) => {
            gather(args, filter, first_error, (format.needs(), format.wants_extra()), opened, || {
                printer(format)
            })
        }
        None if output.quiet => {
            gather(args, filter, first_error, (Needs::empty(), false), opened, || Nothing)
        }
        None => gather(args, filter, first_error, (Needs::empty(), false), opened, paths),
    };
    let mut done = match done {
        Ok(done) => done,
        Err(code) => return Ok(Err(code)),
    };
    let _hold = hold(path);
    done.renamed = out.commit(done.extent())?;
    Ok(Ok(done))
}

/// A file of rows.
fn rows(
    args: &Args,
    filter: &Filter<'_>,
    format: dents_sink::Format,
    path: &Path,
    first_error: &FirstError,
) -> io::Result<Finished> {
    let opened = match args.source.file().map(File::open).transpose() {
        Ok(opened) => opened,
        Err(code) => return Ok(Err(code)),
    };
    let begun = opened.as_ref().and_then(|opened| opened.span().begun);
    let sink =
        dents_sink::create(path, format, &args.output.about(begun.unwrap_or_else(dents_sink::time::now)))?;
    let (owners, operands) = (SharedOwners::default(), args.walk.paths());
    let make = || Rows::new(sink.part(), first_error, &owners, &operands);
    let mut done = match gather(args, filter, first_error, (rows::NEEDS, true), opened, make) {
        Ok(done) => done,
        Err(code) => return Ok(Err(code)),
    };
    if !first_error.is_set() {
        let _hold = hold(path);
        done.renamed = sink.finish(done.extent())?;
    }
    Ok(Ok(done))
}

/// The entries of the tree, or of the scan file.
fn gather<C: Consumer<State = ()>>(
    args: &Args,
    filter: &Filter<'_>,
    first_error: &FirstError,
    needs: (Needs, bool),
    opened: Option<Opened<'_>>,
    make: impl Fn() -> C + Sync,
) -> Finished {
    match opened {
        None => Ok(walk(args, filter, first_error, needs, None, make)),
        Some(opened) => read(args, filter, first_error, needs.0, opened, make),
    }
}

/// Protects the completion of a file from the first signal. Not for standard output: a stalled reader could block that forever.
fn hold(path: &Path) -> Option<Hold> {
    (path != Path::new("-")).then(Hold::begin)
}

/// The result, or the exit status of a scan file that cannot be read.
type Finished = Result<Done, ExitCode>;

/// The result of a walk, or of reading a scan file.
struct Done {
    end: End,
    tally: Tally,
    /// Entries by type, if they were counted.
    kinds: [u64; 16],
    /// A PATH could not be opened, or not read to its end; or the scan file is partial.
    root_failed: bool,
    /// The final path of the output, if it was renamed.
    renamed: Option<PathBuf>,
    /// Whether the entries are those of a scan file.
    from_file: bool,
}

impl Done {
    fn extent(&self) -> Extent {
        if self.end == End::Complete && !self.root_failed { Extent::Complete } else { Extent::Partial }
    }
}

/// Walks, with an output for each worker, and flushes these at the end. `needs` are those of the output, for entries that
/// pass, and whether it reads the column called extra.
fn walk<C: Consumer<State = ()>>(
    args: &Args,
    filter: &Filter<'_>,
    first_error: &FirstError,
    (needs, extra): (Needs, bool),
    journal: Option<&Journal>,
    make: impl Fn() -> C + Sync,
) -> Done {
    let started = Instant::now();
    let diagnostics = Diagnostics::with(Progress::start(args.output.progress, !args.output.is_seen()));
    let special = Special {
        journal,
        extra,
        workers: args.output.sync.then_some(1),
        counts: args.output.statistics,
        leaves_out_loops: true,
        must_stop: &|| first_error.is_set() || interrupt::flag().load(Relaxed),
        ..Special::default()
    };
    let gathered = args.job(filter, &diagnostics, needs).walk(&special, make);
    drop(diagnostics);
    let Gathered { end, tally, kinds, root_failed, .. } = gathered;
    let done = Done { end, tally, kinds, root_failed, renamed: None, from_file: false };
    if args.output.statistics {
        statistics::say(&done, started.elapsed());
    }
    done
}

/// Reads a scan file. What it could not read counts as a fault, as in the walk that wrote it.
fn read<C: Consumer<State = ()>>(
    args: &Args,
    filter: &Filter<'_>,
    first_error: &FirstError,
    needs: Needs,
    opened: Opened<'_>,
    make: impl Fn() -> C + Sync,
) -> Finished {
    let started = Instant::now();
    let diagnostics = Diagnostics::with(Progress::start(args.output.progress, !args.output.is_seen()));
    let columns =
        if needs == rows::NEEDS { Columns::all() } else { Columns::PATH | Columns::USER | Columns::GROUP };
    let way = Way { columns, below: Below::Every, in_order: true, must_stop: &|| first_error.is_set() };
    let gathered = args.job(filter, &diagnostics, needs).read(opened, &way, make)?;
    let (faults, may_be_partial) = (diagnostics.errors(), diagnostics.may_be_partial());
    drop(diagnostics);
    let Gathered { end, mut tally, kinds, extent, .. } = gathered;
    tally.faults = faults + u64::from(may_be_partial == Some(false));
    let root_failed = end == End::Complete && extent != Some(Extent::Complete);
    let done = Done { end, tally, kinds, root_failed, renamed: None, from_file: true };
    if args.output.statistics {
        statistics::say(&done, started.elapsed());
    }
    Ok(done)
}

impl Args {
    fn job<'j>(&'j self, filter: &'j Filter<'_>, diagnostics: &'j Diagnostics, needs: Needs) -> Job<'j> {
        let (needs, must) = (NeedsByKind::all(needs), NeedsByKind::default());
        Job { walk: &self.walk, source: &self.source, filter, diagnostics, needs, must }
    }
}

/// `-q`: no output.
struct Nothing;

impl Consumer for Nothing {
    type State = ();

    fn entry(&mut self, _: &Found<'_>, (): &()) -> Step {
        Step::Enter
    }

    fn all(&mut self, _: &Place<'_>, _: &Batch) -> bool {
        true
    }
}

/// The exit status of a walk whose output arrived. A signal that came after the end of the walk changed nothing.
fn status(done: &Done, file: &Path) -> ExitCode {
    let (why, status) = match done.end {
        End::Complete if !done.root_failed && done.tally.faults == 0 => return ExitCode::SUCCESS,
        End::Complete if !done.root_failed => return ExitCode::FAILURE,
        // That the scan file is partial was reported, or accepted.
        End::Complete if done.from_file && done.renamed.is_none() => {
            return if done.tally.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        End::Complete if done.from_file => ("the scan is not complete", ExitCode::FAILURE),
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

/// Reports an error of the output. A closed pipe is no error.
fn cannot_write(error: &io::Error) -> ExitCode {
    if error.kind() == ErrorKind::BrokenPipe {
        return interrupt::die_of_closed_pipe();
    }
    message::say(message::plain(error).as_bytes());
    ExitCode::FAILURE
}
