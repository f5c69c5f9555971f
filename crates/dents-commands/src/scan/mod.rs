//! `dents scan`: lists a tree.
//!
//! ```text
//! Args ─► Filter, Output ─► needs ─► walk ─► Scan (a worker's) ─► Filter::wants ─► Emit ─► TextOutput or Sink
//! ```
//!
//! Filters and output declare their needs; paths alone need no `statx`.

mod far;
mod format;
mod journal;
mod output;
mod part;
pub(crate) mod parts;
mod paths;
pub(crate) mod rows;
mod statistics;
pub(crate) mod text_output;

use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::kinds::Kinds;
use crate::filter::{self, Depths, Filter};
use crate::message;
use crate::output::Diagnostics;
use crate::owners::SharedOwners;
use crate::session::{Session, Status};
use crate::source::{self, Below, Gathered, Job, Opened, Source, Special, Way};
use crate::walk::Walk;
use clap::ArgMatches;
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{End, Place, Step, Tally};
use dents_sink::journal::Journal;
use dents_sink::read::{Columns, Span};
use dents_sink::time::Unit;
use dents_sink::{Extent, Sink};
use far::CountsFar;
use format::Printer;
use output::{Output, Target};
use paths::Paths;
use rows::Rows;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use text_output::{FirstError, TextOutput};

/// List a tree
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
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
    #[command(flatten)]
    part: part::Part,
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

/// A scan, as it was ordered.
struct Task<'t> {
    args: &'t Args,
    filter: Filter<'t>,
    session: &'t Session,
    first_error: FirstError,
}

impl Args {
    /// Whether the output goes to a file.
    pub(crate) fn writes_file(&self) -> bool {
        self.output.path() != Path::new("-") || self.is_task()
    }

    /// What is wrong with options that the parser accepts, if the rows go to another program.
    pub(crate) fn check_rows(&self) -> Result<(), String> {
        let about_files = self.output.about_files();
        about_files.map_or(Ok(()), |option| Err(format!("{option} is for output to a file")))
    }

    /// Whether this is a task of a scan in parts.
    pub(crate) fn is_task(&self) -> bool {
        self.part.is_given()
    }

    /// The PATHs as they were given.
    pub(crate) fn paths(&self) -> &[OsString] {
        self.walk.given()
    }

    fn filter(&self) -> Filter<'_> {
        let only = match (self.directories, self.files) {
            (true, _) => Some((Kinds::DIRECTORIES, "--directories")),
            (_, true) => Some((Kinds::OTHERS, "--files")),
            _ => None,
        };
        Filter::new(&self.filter, self.depths, only)
    }
}

impl Task<'_> {
    /// The scan file, if there is one.
    fn opened(&self) -> Result<Option<Opened<'_>>, Status> {
        self.args.source.file().map(|file| file.open(self.session)).transpose()
    }

    /// Lines of text.
    fn text(&self, path: &Path) -> io::Result<Finished> {
        let opened = match self.opened() {
            Ok(opened) => opened,
            Err(status) => return Ok(Err(status)),
        };
        let out = TextOutput::create(path, &self.first_error)?;
        self.session.leave_out(out.own());
        let owners = SharedOwners::default();
        let output = &self.args.output;
        let printer = |format| Printer::new(format, &out, &owners);
        let paths = || Paths::new(&out, output.end_of_line(), output.is_seen() && !output.null);
        let done = match &output.printf {
            Some(format) => self.gather((format.needs(), format.wants_extra()), opened, || printer(format)),
            None if output.quiet => self.gather((Needs::empty(), false), opened, || Nothing),
            None => self.gather((Needs::empty(), false), opened, paths),
        };
        let mut done = match done {
            Ok(done) => done,
            Err(status) => return Ok(Err(status)),
        };
        let _hold = self.session.hold_for(path);
        done.renamed = out.commit(done.extent())?;
        Ok(Ok(done))
    }

    /// A file of rows.
    fn file(&self, format: dents_sink::Format, path: &Path) -> io::Result<Finished> {
        let mut opened = match self.opened() {
            Ok(opened) => opened,
            Err(status) => return Ok(Err(status)),
        };
        let Span { begun, ended } = opened.as_ref().map(Opened::span).unwrap_or_default();
        // A file keeps the details that it has.
        let own = || opened.as_mut().map(Opened::details).unwrap_or_default();
        let details = self.args.output.details().unwrap_or_else(own);
        // Generations are those of a moment before the start, so that they miss no change after it.
        let subvolumes = match &opened {
            Some(opened) => opened.subvolumes(),
            None => source::subvolumes(&self.args.walk.paths()),
        };
        let span = (begun.unwrap_or_else(dents_sink::time::now), ended);
        let about = self.args.output.about(span, &subvolumes, details);
        let (sink, far) = (dents_sink::create(path, format, &about)?, AtomicU64::new(0));
        let sink = match about.timestamps {
            Unit::Nanos => Box::new(CountsFar { sink, far: &far }),
            Unit::Micros => sink,
        };
        self.session.leave_out(sink.own());
        let mut done = match self.rows(Columns::USUAL | details, opened, &*sink) {
            Ok(done) => done,
            Err(status) => return Ok(Err(status)),
        };
        if !self.first_error.is_set() {
            let _hold = self.session.hold_for(path);
            done.renamed = sink.finish(done.extent())?;
            far::said(far.load(Relaxed)).iter().for_each(|line| self.session.say(line.as_bytes()));
        }
        Ok(Ok(done))
    }

    /// Rows with these columns.
    fn rows(&self, columns: Columns, opened: Option<Opened<'_>>, sink: &dyn Sink) -> Finished {
        let (owners, operands) = (SharedOwners::default(), self.args.walk.paths());
        let make = || Rows::new(sink.part(), &self.first_error, &owners, &operands).with(columns);
        match opened {
            None => Ok(self.walk((rows::needs(columns), true), None, make)),
            Some(opened) => self.read(rows::needs(columns), columns | Columns::PATH, opened, make),
        }
    }

    /// The entries of the tree, or of the scan file. `needs` are those of the output, for entries that pass, and whether it reads the
    /// column called extra.
    fn gather<C: Consumer<State = ()>>(
        &self,
        needs: (Needs, bool),
        opened: Option<Opened<'_>>,
        make: impl Fn() -> C + Sync,
    ) -> Finished {
        match opened {
            None => Ok(self.walk(needs, None, make)),
            Some(opened) => {
                let columns = Columns::PATH | Columns::USER | Columns::GROUP;
                self.read(needs.0, columns, opened, make)
            }
        }
    }

    fn diagnostics(&self) -> Diagnostics<'_> {
        let output = &self.args.output;
        Diagnostics::with(self.session, output.progress, !output.is_seen())
    }

    /// Walks, with an output for each worker, and flushes these at the end.
    fn walk<C: Consumer<State = ()>>(
        &self,
        needs: (Needs, bool),
        journal: Option<&Journal>,
        make: impl Fn() -> C + Sync,
    ) -> Done {
        self.walk_from(needs, Special { journal, ..Special::default() }, make)
    }

    /// The same, from elsewhere.
    fn walk_from<C: Consumer<State = ()>>(
        &self,
        (needs, extra): (Needs, bool),
        start: Special<'_>,
        make: impl Fn() -> C + Sync,
    ) -> Done {
        let (started, diagnostics) = (Instant::now(), self.diagnostics());
        let output = &self.args.output;
        let special = Special {
            extra,
            workers: output.sync.then_some(1),
            counts: output.statistics,
            leaves_out_loops: true,
            must_stop: &|| self.first_error.is_set() || self.session.is_stopped(),
            ..start
        };
        let gathered = self.job(&diagnostics, needs).walk(&special, make);
        drop(diagnostics);
        let Gathered { end, tally, kinds, root_failed, .. } = gathered;
        let done = Done { end, tally, kinds, root_failed, renamed: None, from_file: false };
        self.statistics(&done, started);
        done
    }

    /// Reads a scan file. What it could not read counts as a fault, as in the walk that wrote it.
    fn read<C: Consumer<State = ()>>(
        &self,
        needs: Needs,
        columns: Columns,
        opened: Opened<'_>,
        make: impl Fn() -> C + Sync,
    ) -> Finished {
        let (started, diagnostics) = (Instant::now(), self.diagnostics());
        let must_stop = || self.first_error.is_set();
        let way = Way { columns, below: Below::Every, in_order: true, must_stop: &must_stop };
        let gathered = self.job(&diagnostics, needs).read(opened, &way, make)?;
        let (faults, may_be_partial) = (diagnostics.errors(), diagnostics.may_be_partial());
        drop(diagnostics);
        let Gathered { end, mut tally, kinds, extent, .. } = gathered;
        tally.faults = faults + u64::from(may_be_partial == Some(false));
        let root_failed = end == End::Complete && extent != Some(Extent::Complete);
        let done = Done { end, tally, kinds, root_failed, renamed: None, from_file: true };
        self.statistics(&done, started);
        Ok(done)
    }

    fn job<'j>(&'j self, diagnostics: &'j Diagnostics<'j>, needs: Needs) -> Job<'j> {
        let (walk, source, filter) = (&self.args.walk, &self.args.source, &self.filter);
        let (needs, must) = (NeedsByKind::all(needs), NeedsByKind::default());
        Job { walk, source, filter, diagnostics, needs, must }
    }

    fn statistics(&self, done: &Done, started: Instant) {
        if self.args.output.statistics {
            let lines = statistics::lines(done, started.elapsed());
            lines.iter().for_each(|line| self.session.say(line.as_bytes()));
        }
    }

    /// The exit status.
    fn end(self, done: io::Result<Finished>) -> Status {
        match (self.first_error.into_result(), done) {
            (Ok(()), Ok(Ok(done))) => status(&done, self.args.output.path(), self.session),
            // The scan file cannot be read, which was reported.
            (Ok(()), Ok(Err(status))) => status,
            (Err(error), _) | (_, Err(error)) => cannot_write(&error, self.session),
        }
    }
}

/// The result, or the exit status of a scan file that cannot be read.
type Finished = Result<Done, Status>;

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
fn status(done: &Done, file: &Path, session: &Session) -> Status {
    let (why, status) = match done.end {
        End::Complete if !done.root_failed && done.tally.faults == 0 => return Status::SUCCESS,
        End::Complete if !done.root_failed => return Status::FAILURE,
        // That the scan file is partial was reported, or accepted.
        End::Complete if done.from_file && done.renamed.is_none() => {
            return if done.tally.faults == 0 { Status::SUCCESS } else { Status::FAILURE };
        }
        End::Complete if done.from_file => ("the scan is not complete", Status::FAILURE),
        End::Complete => ("not every PATH could be opened", Status::FAILURE),
        End::Deadline => ("timed out", Status::FAILURE),
        End::Cancelled | End::Stopped => ("interrupted", session.stopped().unwrap_or(Status::FAILURE)),
    };
    match &done.renamed {
        Some(partial) => {
            let [partial, file] = [partial, file].map(|path| message::quoted(path.as_os_str().as_bytes()));
            let found = [why.as_bytes(), b": the incomplete result is in ", &partial].concat();
            session.say(&[&found[..], b", and ", &file, b" is unchanged"].concat());
        }
        // The PATH was reported already, and nothing else is missing.
        None if done.end == End::Complete => {}
        None => session.say(format!("{why}: the output is incomplete").as_bytes()),
    }
    status
}

/// Reports an error of the output. A closed pipe is no error.
fn cannot_write(error: &io::Error, session: &Session) -> Status {
    if error.kind() == ErrorKind::BrokenPipe {
        return session.closed_pipe();
    }
    session.say(message::plain(error).as_bytes());
    Status::FAILURE
}
