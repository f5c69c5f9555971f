//! A scan as it was ordered: the walk or the scan file, and the output.

use super::args::Args;
use super::done::{Done, cannot_write, status};
use super::far::{self, CountsFar};
use super::format::Printer;
use super::paths::Paths;
use super::rows::{self, Rows};
use super::statistics;
use super::text_output::{FirstError, TextOutput};
use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::Filter;
use crate::output::Diagnostics;
use crate::owners::SharedOwners;
use crate::session::{Session, Status};
use crate::source::{self, Below, Gathered, Job, Opened, Special, Way};
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{End, Place, Step};
use dents_sink::journal::Journal;
use dents_sink::read::{Columns, Span};
use dents_sink::time::Unit;
use dents_sink::{Extent, Sink};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// A scan, as it was ordered.
pub(super) struct Task<'t> {
    pub(super) args: &'t Args,
    pub(super) filter: Filter<'t>,
    pub(super) session: &'t Session,
    pub(super) first_error: FirstError,
}

/// The result, or the exit status of a scan file that cannot be read.
pub(super) type Finished = Result<Done, Status>;

impl Task<'_> {
    /// The scan file, if there is one.
    pub(super) fn opened(&self) -> Result<Option<Opened<'_>>, Status> {
        self.args.source.file().map(|file| file.open(self.session)).transpose()
    }

    /// Lines of text.
    pub(super) fn text(&self, path: &Path) -> io::Result<Finished> {
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
    pub(super) fn file(&self, format: dents_sink::Format, path: &Path) -> io::Result<Finished> {
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
    pub(super) fn rows(&self, columns: Columns, opened: Option<Opened<'_>>, sink: &dyn Sink) -> Finished {
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
    pub(super) fn walk<C: Consumer<State = ()>>(
        &self,
        needs: (Needs, bool),
        journal: Option<&Journal>,
        make: impl Fn() -> C + Sync,
    ) -> Done {
        self.walk_from(needs, Special { journal, ..Special::default() }, make)
    }

    /// The same, from elsewhere.
    pub(super) fn walk_from<C: Consumer<State = ()>>(
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
    pub(super) fn end(self, done: io::Result<Finished>) -> Status {
        match (self.first_error.into_result(), done) {
            (Ok(()), Ok(Ok(done))) => status(&done, self.args.output.path(), self.session),
            // The scan file cannot be read, which was reported.
            (Ok(()), Ok(Err(status))) => status,
            (Err(error), _) | (_, Err(error)) => cannot_write(&error, self.session),
        }
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
