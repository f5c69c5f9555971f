//! From a plan to a listing: first operands, then directories; each is read, stat'ed, sorted and rendered.
//!
//! `stages.rs` has one value for each stage; its function `whole` takes a directory through them. This file decides
//! which directory is next, and whether it is listed whole, streamed, or only its first entries (`--top`).

mod batch_notes;
mod directory;
mod failures;
mod git;
mod mounts;
mod notes;
mod open_directory;
mod owners;
mod paths;
mod printer;
mod read;
mod root;
mod rules;
mod select;
mod session;
mod sort;
mod stages;
mod stream;
mod timeout;
mod top;
mod totals;
mod tree;
mod turns;
mod unanswered;

use crate::explain;
use crate::output::Output;
use crate::status::Status;
use crate::timing::Phase;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::{Asked, Batch};
use dents_core::deadline::Board;
use dents_core::needs::Kind;
use dents_core::prefetch::{Ahead, Prefetch, Start, Wanted, Worker};
use dents_core::sort::{Collate, Key};
use dents_core::stat::Dereference;
use dents_render::FrameKind;
use directory::{Directory, Origin};
use open_directory::{NotOpen, OpenDirectory};
pub(crate) use session::Session;
use stages::Stages;
use turns::{Task, Turns};

/// Lists the operands, or the current directory if there are none.
pub(crate) fn run(mut session: Session<'_>, operands: &[&CStr], out: &mut Output<'_>) -> Status {
    if session.plan.timing || session.plan.explain.is_some() {
        out.time_with(dents_sys::clock::monotonic_ns);
    }
    session.start(out);
    let (stages, turns) = (Stages::new(&session, out), Turns::default());
    Listing { session: &session, stages, turns, headers: false }.run(operands)
}

/// The directories still to be listed, and the stages that list them.
struct Listing<'l, 'o> {
    session: &'l Session<'l>,
    stages: Stages<'l, 'o>,
    turns: Turns,
    /// Whether directories have a header from now on.
    headers: bool,
}

impl Listing<'_, '_> {
    fn run(mut self, operands: &[&CStr]) -> Status {
        let names = if operands.is_empty() { &[c"."][..] } else { operands };
        let plan = self.session.plan;
        self.turns.read_ahead(self.session, names.len());
        let printed = if let Some(tree) = &plan.tree {
            self.stages.trees(names, tree)
        } else if !plan.directory
            && let [path] = names
            && let Some(source) = self.open_alone(path)
        {
            if !operands.is_empty() {
                self.stages.tell_nowhere(path.to_bytes(), Origin::Operand);
            }
            self.headers = plan.recursive;
            self.list(source, Directory::operand(path));
            true
        } else {
            self.operands(names)
        };
        let alone = operands.len() <= 1 && self.turns.len() == 1 && !printed;
        self.headers = plan.recursive || !alone;
        self.take_turns(None);
        self.stages.read.leave_root();
        self.finish()
    }

    /// Writes the end of the document, and what `--timing` and `--explain` report.
    fn finish(&mut self) -> Status {
        let Stages { session, read, notes, printer, .. } = &mut self.stages;
        printer.tell_not_reached();
        let status = printer.finish();
        if session.plan.timing {
            session.timing.report(session.plan.lazy, printer.out);
        }
        if let (Some(explain), Some(counter), Some(seen)) =
            (&session.plan.explain, &session.counter, &read.seen)
        {
            if let Some(counts) = session.deadline().and_then(|deadline| deadline.counts()) {
                counter.add(&counts);
            }
            let text = explain::after(session.plan, explain, &counter.counts(), seen, &session.timing);
            printer.out.message(explain::visible(text.as_bytes()).as_bytes());
            if let Some(git) = &notes.git {
                git.explain(printer);
            }
        }
        status
    }

    /// The only operand, if it is a directory that can be read. To open it shows that as well as a `statx`, and is
    /// needed anyway. [`Self::operands`] handles every other operand, and its errors.
    fn open_alone(&mut self, path: &CStr) -> Option<OpenDirectory> {
        self.session.timing.enter(Phase::Read);
        let follow = self.session.plan.dereference != Dereference::Never;
        self.stages.read.open(path, follow, None, &mut self.stages.printer).ok()
    }

    /// Stats the operands, shows those that are not directories, and keeps the directories for later. Returns whether
    /// some were shown.
    fn operands(&mut self, names: &[&CStr]) -> bool {
        let batch = self.stages.operands(names);
        let Stages { session, owners, notes, sort, printer, .. } = &mut self.stages;
        owners::learn(owners, &batch, session);
        let (directories, entries) = divide_operands(&batch, session.plan.directory);
        notes.begin_operands(&batch, &entries, &directories);
        let notes = notes.of_operands(&batch, &entries, printer);
        let order = sort.sort(&batch, &notes, printer);
        let in_order = |some: &[u32]| -> Vec<u32> {
            order.iter().copied().filter(|index| some.binary_search(index).is_ok()).collect()
        };
        let path = |index: &u32| batch.entry(*index as usize).c_name().into();
        self.turns.push_operands(in_order(&directories).iter().map(path));
        if entries.is_empty() {
            return false;
        }
        printer.draw(&batch, &in_order(&entries), FrameKind::Operands, None, (&notes, owners));
        if !self.turns.is_empty() {
            printer.gap();
        }
        true
    }

    /// Lists one directory: header and entries. With `-R` its subdirectories are kept for later.
    fn list(&mut self, source: OpenDirectory, directory: Directory<'_>) {
        let Listing { session, stages, turns, .. } = self;
        let plan = session.plan;
        let mut source = stages.read.with_buffer(source);
        if plan.recursive && !turns.enter(&source, directory, &mut stages.read, &mut stages.printer) {
            return;
        }
        stages.notes.begin_directory(directory.name(), directory.origin);
        let place = stages.notes.paths.place(directory.name());
        if self.headers {
            stages.header(directory, place.as_deref());
        }
        if plan.streams {
            stages.stream(&mut source, directory, place.as_deref());
        } else if let (Some(most), OpenDirectory::Reader(reader), false) =
            (plan.top, &mut source, plan.needs_whole_directories())
        {
            stages.top(most, reader, directory, place.as_deref());
        } else {
            let (batch, order) = stages.whole(&mut source, directory, place.as_deref());
            if plan.recursive {
                turns.descend(&batch, &order, directory.path, &mut source);
            }
            source.put_back(batch, order);
        }
        stages.read.close(&mut source, directory);
        if let Some(small) = stages.read.end(source) {
            turns.reuse(small);
        }
    }

    /// Lists all directories of the stack, and those that they add. Starts workers once there are enough directories.
    fn take_turns(&mut self, mut own: Option<&mut Worker<'_>>) {
        while !self.turns.is_empty() {
            let Stages { read, printer, .. } = &mut self.stages;
            if let Some((prefetch, start)) = self.turns.workers_to_start(read, self.session) {
                return self.take_turns_with(&prefetch, start);
            }
            match self.turns.next() {
                Some(Task::List { directory, origin, above }) => {
                    self.session.timing.enter(Phase::Read);
                    let ahead = self.turns.wait_for(&directory, own.as_deref_mut(), read, printer.out);
                    let directory = Directory { path: directory.payload(), origin };
                    self.directory(directory, above.as_ref(), ahead);
                }
                Some(Task::Leave) => self.turns.leave(),
                None => {}
            }
        }
    }

    fn take_turns_with(&mut self, prefetch: &Prefetch, start: Start) {
        let plan = self.session.plan;
        // Workers cannot sort by width, which the renderer measures, or by totals, which are computed later.
        let sorted = plan.order.key != Key::Width && plan.total_ns.is_none();
        let wanted = Wanted {
            filter: &plan.filter,
            needs: &plan.needs,
            follow: plan.follows_entries(),
            order: sorted.then_some(&plan.order),
            recursive: sorted && plan.recursive && !plan.hides_ignored(),
            identity: plan.recursive && self.turns.may_loop(&mut self.stages.read),
        };
        // Each worker has sorting rules of its own, because they reuse buffers.
        let rules = self.stages.sort.rules.clone();
        let rules = rules.as_deref().map(|rules| rules as &dyn Collate);
        let resources = self.session.resources();
        prefetch.run(start, wanted, &resources, rules, &mut |own| self.take_turns(Some(own)));
    }

    /// Lists one directory, if it can be opened.
    fn directory(&mut self, directory: Directory<'_>, above: Option<&Arc<Board>>, ahead: Option<Ahead>) {
        let Directory { path, origin } = directory;
        let Stages { read, printer, .. } = &mut self.stages;
        if origin == Origin::Operand {
            read.leave_root();
        }
        match read.source(path, above, ahead, printer) {
            Ok(source) => {
                read.let_out_before_mounts(path, &source, printer);
                self.list(source, directory);
            }
            Err(NotOpen::Failed(errno)) => {
                printer.cannot("cannot open directory %s", path.to_bytes(), errno, origin);
            }
            Err(NotOpen::Late { reached }) => printer.late(path.to_bytes(), origin, reached),
        }
    }
}

/// The operands that are listed as directories, and those that are shown as entries: their positions, ascending. One
/// that could not be stat'ed is in neither list. `-d`: no directory is listed.
fn divide_operands(batch: &Batch, as_entries: bool) -> (Vec<u32>, Vec<u32>) {
    let is_had = |index: &u32| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _)));
    let is_listed = |index: &u32| !as_entries && batch.entry(*index as usize).kind() == Kind::Dir;
    (0..batch.len() as u32).filter(is_had).partition(is_listed)
}
