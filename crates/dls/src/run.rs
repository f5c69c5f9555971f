//! From a plan to a listing: first operands, then directories; each is read, stat'ed, sorted and rendered.

mod directory;
mod failures;
mod git;
mod locate;
mod mounts;
mod notes;
mod rules;
mod session;
mod source;
mod stream;
mod timeout;
mod top;
mod totals;
mod tree;
mod turns;

use crate::explain::{self, Seen};
use crate::message::Message;
use crate::output::Output;
use crate::plan::Plan;
use crate::status::Status;
use crate::system::System;
use crate::timing::{Phase, Timing};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::{Asked, Batch};
use dents_core::needs::{Kind, Kinds};
use dents_core::owners::{Getent, Owners};
use dents_core::read::Reader;
use dents_core::sort::{Collate, Key, Order};
use dents_core::stat::{self, Asking, Dereference, Mode, Report, Resources};
use dents_core::team::Team;
use dents_render::{Frame, FrameKind, Renderer};
use dents_sys::clock;
use directory::{Directory, Origin};
use notes::Notes;
use rules::Rules;
pub(crate) use session::Session;
use source::Source;
use timeout::Timeout;
use turns::Turns;

/// The state of a listing.
pub(crate) struct Listing<'l, 'a, 'o> {
    system: &'l System<'l>,
    plan: &'l Plan<'a>,
    session: &'l Session,
    out: &'l mut Output<'o>,
    renderer: Renderer<'l>,
    owners: Owners,
    resources: Resources<'l>,
    collate: Option<Box<Rules>>,
    turns: Turns,
    spare: Vec<u8>,
    status: Status,
    timing: Timing,
    /// The listed entries, counted for `--explain`.
    seen: Option<Box<Seen>>,
    told_refusal: bool,
    /// The deadline, and the agent that makes requests until then.
    timeout: Option<Timeout>,
    printed: bool,
    /// Whether directories have a header from now on.
    headers: bool,
    /// The requests to git, for `--git` and `--gitignore`.
    git: Option<Box<git::Asked<'l>>>,
    /// The current directory, for hyperlinks; `None` until it is needed.
    cwd: Option<dents_sys::Result<Vec<u8>>>,
    /// The time limit of totals; `None` until the first is computed.
    totals_until_ns: Option<u64>,
}

/// The number of entries from which several threads sort and render.
const LARGE: usize = 16_384;

impl<'l, 'a, 'o> Listing<'l, 'a, 'o> {
    /// Opens and reads nothing.
    pub(crate) fn new(
        system: &'l System<'l>,
        plan: &'l Plan<'a>,
        session: &'l Session,
        out: &'l mut Output<'o>,
    ) -> Self {
        let mut timing = Timing::off(out.progress());
        if plan.timing || plan.explain.is_some() {
            timing = Timing::on(clock::monotonic_ns, out.progress());
            timing.lazy = plan.lazy;
            out.time_with(clock::monotonic_ns);
        }
        Session::read_ahead(plan, system);
        Listing {
            system,
            plan,
            session,
            out,
            renderer: Renderer::new(&plan.style),
            owners: Owners::default(),
            resources: Resources {
                mode: plan.mode,
                threads: &session.threads,
                workers: system.workers,
                mounts: Some(&session.mounts),
                rings: Some(system.rings),
                lazy: plan.lazy,
                counter: session.counter.as_deref(),
            },
            collate: session.collate.and_then(Rules::new),
            turns: Turns::default(),
            spare: Vec::new(),
            status: Status::Ok,
            timing,
            seen: plan.explain.as_ref().map(|_| Box::default()),
            told_refusal: false,
            timeout: None,
            printed: false,
            headers: false,
            git: plan.git.is_some().then(|| Self::git(system, plan)).flatten(),
            cwd: None,
            totals_until_ns: None,
        }
    }

    /// Lists the operands, or the current directory if there are none.
    pub(crate) fn run(mut self, operands: &[&CStr]) -> Status {
        let names = if operands.is_empty() { &[c"."][..] } else { operands };
        self.set_timeout();
        self.turns.read_ahead(self.plan, &self.resources, names.len());
        if self.plan.hierarchy.tree.is_some() {
            self.trees(names);
        } else if !self.plan.directory
            && let [path] = names
            && let Some(source) = self.open_alone(path)
        {
            if !operands.is_empty() {
                self.tell_nowhere(path.to_bytes(), Origin::Operand);
            }
            self.headers = self.plan.recursive;
            self.list(source, Directory::operand(path));
        } else {
            self.operands(names);
        }
        let alone = operands.len() <= 1 && self.turns.len() == 1 && !self.printed;
        self.headers = self.plan.recursive || !alone;
        self.take_turns(None);
        self.leave_root();
        self.finish()
    }

    /// Writes the end of the document, and what `--timing` and `--explain` report.
    fn finish(&mut self) -> Status {
        self.tell_not_reached();
        self.renderer.finish(self.out);
        self.out.flush();
        if self.plan.timing {
            self.timing.report(self.out);
        }
        if let (Some(explain), Some(counter), Some(seen)) =
            (&self.plan.explain, &self.session.counter, &self.seen)
        {
            if let Some(counts) = self.timeout.as_ref().and_then(|timeout| timeout.deadline.counts()) {
                counter.add(&counts);
            }
            let text = explain::after(self.plan, explain, &counter.counts(), seen, &mut self.timing);
            self.out.message(explain::visible(text.as_bytes()).as_bytes());
            self.explain_git();
        }
        self.status
    }

    /// The only operand, if it is a directory that can be read. To open it shows that as well as a `statx`, and is
    /// needed anyway. [`Self::operands`] handles every other operand, and its errors.
    fn open_alone(&mut self, path: &CStr) -> Option<Source> {
        self.timing.enter(Phase::Read);
        let follow = self.plan.dereference != Dereference::Never;
        self.open(path, follow, None).ok()
    }

    /// The operands, stat'ed as the plan demands. Errors are reported.
    fn known_operands(&mut self, names: &[&CStr]) -> Batch {
        self.timing.enter(Phase::Stat);
        let (batch, report) = self.ask_operands(names);
        self.take_report(&report);
        if let Some(seen) = &mut self.seen {
            seen.operands += names.len() as u64;
            seen.operand_stats += report.tally.stats;
            // With a deadline the lister itself makes no request that may never be answered.
            if self.plan.timeout_ns.is_none() {
                names.iter().for_each(|name| seen.operand(name));
            }
        }
        self.operand_faults(&batch);
        batch
    }

    /// Stats the operands, shows those that are not directories, and keeps the directories for later.
    fn operands(&mut self, names: &[&CStr]) {
        let batch = self.known_operands(names);
        self.learn_owners(&batch);
        let (directories, entries) = self.divide_operands(&batch);
        if self.git.is_some() {
            self.ask_git_of_operands(&batch, &entries, &directories);
        }
        let notes = self.notes_of_operands(&batch, &entries);
        let order = self.sort(&batch, &notes);
        let in_order = |some: &[u32]| -> Vec<u32> {
            order.iter().copied().filter(|index| some.binary_search(index).is_ok()).collect()
        };
        let path = |index: &u32| batch.entry(*index as usize).c_name().into();
        self.turns.push_operands(in_order(&directories).iter().map(path));
        if !entries.is_empty() {
            self.draw(&batch, &in_order(&entries), FrameKind::Operands, None, &notes);
            if !self.turns.is_empty() {
                self.renderer.gap(self.out);
            }
            self.printed = true;
        }
    }

    /// The operands that are listed as directories, and those that are shown as entries: their positions, ascending.
    /// One that could not be stat'ed is in neither list.
    fn divide_operands(&self, batch: &Batch) -> (Vec<u32>, Vec<u32>) {
        let is_had = |index: &u32| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _)));
        let is_listed =
            |index: &u32| !self.plan.directory && batch.entry(*index as usize).kind() == Kind::Dir;
        (0..batch.len() as u32).filter(is_had).partition(is_listed)
    }

    /// Lists one directory: header and entries. With `-R` its subdirectories are kept for later.
    fn list(&mut self, source: Source, directory: Directory<'_>) {
        let mut source = source.with_buffer(&mut self.spare);
        if self.plan.recursive && !self.enter(&source, directory) {
            return;
        }
        if self.git.is_some() {
            self.ask_git_of_directory(directory.name(), directory.origin);
        }
        let place = self.place(directory.name());
        if self.headers {
            self.header(directory, place.as_deref());
        }
        if self.plan.streams {
            self.stream(&mut source, directory, place.as_deref());
        } else if let (Some(most), Source::Reader(reader), false) =
            (self.plan.top, &mut source, self.must_be_whole())
        {
            self.top(most, reader, directory, place.as_deref());
        } else {
            self.whole(&mut source, directory, place.as_deref());
        }
        self.printed = true;
        self.close(&mut source, directory);
        match source {
            Source::Small(small) => self.turns.reuse(small),
            source => self.spare = source.into_buffer(self.system.rings).unwrap_or_default(),
        }
    }

    fn header(&mut self, directory: Directory<'_>, place: Option<&[u8]>) {
        self.timing.enter(Phase::Render);
        if self.plan.style.hyperlink.is_some() {
            self.tell_nowhere(directory.name(), directory.origin);
        }
        self.renderer.header(directory.name(), place, self.out);
        self.timing.enter(Phase::Read);
    }

    /// Whether the entries of a directory must be complete before some are left out: to enter subdirectories, to leave
    /// out the entries that git ignores, to sort by totals.
    fn must_be_whole(&self) -> bool {
        let only_some = self.plan.shown != Kinds::ALL;
        self.plan.recursive || self.git_hides() || self.plan.hierarchy.total_ns.is_some() || only_some
    }

    /// Lists a directory in one piece, for formats that need all entries before they show the first.
    fn whole(&mut self, source: &mut Source, directory: Directory<'_>, place: Option<&[u8]>) {
        let batch = self.read_and_stat(source, directory);
        self.learn_owners(&batch);
        if self.plan.top.is_none() {
            self.faults(&batch, Some(directory.name()));
        }
        let notes = self.notes(&batch, directory, place);
        let order = self.order(source, &batch, &notes);
        let shown = self.select(&batch, &order);
        if self.plan.top.is_some() {
            self.faults_of_top(&batch, &shown, directory.path);
        }
        self.draw(&batch, &shown, FrameKind::Directory, Some(directory), &notes);
        if self.plan.recursive {
            self.descend(&batch, &order, directory.path, source);
        }
        drop(shown);
        source.put_back(batch, order);
    }

    /// Reads and stats all entries, and closes the directory.
    fn read_and_stat(&mut self, source: &mut Source, directory: Directory<'_>) -> Batch {
        let (batch, report, ended) = self.take_all(source, directory.path);
        self.close(source, directory);
        if let Err(errno) = ended {
            self.cannot("reading directory %s", directory.name(), errno, directory.origin);
        }
        self.take_report(&report);
        self.count_entries(&batch);
        batch
    }

    /// The order of a directory's entries, unless a worker has sorted them already. Entries that git ignores are left
    /// out if the plan demands that.
    fn order(&mut self, source: &mut Source, batch: &Batch, notes: &Notes<'_>) -> Vec<u32> {
        let known = source.take_order().filter(|_| self.plan.hierarchy.total_ns.is_none());
        let mut order = known.unwrap_or_else(|| self.sort(batch, notes));
        if let Some(kept) = &notes.kept {
            order.retain(|index| kept.binary_search(index).is_ok());
        }
        order
    }

    /// The shown entries: those of the selected types, at most as many as `--top` allows.
    fn select<'v>(&self, batch: &Batch, order: &'v [u32]) -> Cow<'v, [u32]> {
        let most = self.plan.top.unwrap_or(usize::MAX);
        match self.of_shown_types(batch, order) {
            Some(mut some) => {
                some.truncate(most);
                Cow::Owned(some)
            }
            None => Cow::Borrowed(&order[..order.len().min(most)]),
        }
    }

    /// Renders entries.
    fn draw(
        &mut self,
        batch: &Batch,
        order: &[u32],
        kind: FrameKind,
        directory: Option<Directory<'_>>,
        notes: &Notes<'_>,
    ) {
        self.timing.enter(Phase::Render);
        let team = if kind == FrameKind::Directory { self.team(batch) } else { Team::ALONE };
        let frame = notes.frame(batch, order, kind, &self.owners);
        let frame = Frame { directory: directory.map(Directory::name), ..frame };
        self.renderer.frame(&frame, &team, self.out);
    }

    /// Selects the entries of the shown types. Others may have been read because they are directories to enter, or
    /// because their type was unknown.
    #[inline]
    fn of_shown_types(&self, batch: &Batch, order: &[u32]) -> Option<Vec<u32>> {
        let kinds = self.plan.shown;
        let is_shown = |index: &u32| kinds.contains(batch.entry(*index as usize).kind());
        (kinds != Kinds::ALL).then(|| order.iter().copied().filter(is_shown).collect())
    }

    /// Reads and stats all entries.
    #[inline]
    fn take_all(&mut self, source: &mut Source, path: &CStr) -> (Batch, Report, dents_sys::Result<()>) {
        match source {
            Source::Reader(reader) => self.fill_whole(reader),
            Source::Board(board) => self.take_whole(board, path),
            Source::Small(small) => (core::mem::take(&mut small.batch), small.report, small.ended),
            Source::Done(_) => (Batch::new(self.plan.needs), Report::default(), Ok(())),
        }
    }

    fn fill_whole(&mut self, reader: &mut Reader) -> (Batch, Report, dents_sys::Result<()>) {
        let mut batch = Batch::new(self.plan.needs);
        let (filter, resources) = (&self.plan.filter, self.resources);
        let asking =
            Asking { needs: &self.plan.needs, follow: self.plan.follows_entries(), resources: &resources };
        let progress = stat::read(&mut batch, reader, filter, &asking);
        self.timing.enter(Phase::Stat);
        let (report, ended) = stat::fill_read(progress, &mut batch, reader, filter, &asking);
        (batch, report, ended)
    }

    /// Counts entries for `--explain`.
    fn count_entries(&mut self, batch: &Batch) {
        if let Some(seen) = &mut self.seen {
            batch.iter().for_each(|entry| seen.entry(entry.kind(), entry.d_kind()));
        }
    }

    fn learn_owners(&mut self, batch: &Batch) {
        if !self.plan.names.is_empty() {
            self.timing.enter(Phase::Owners);
            self.owners.take_files(self.system.rings);
            let deadline = self.timeout.as_ref().map(|timeout| &timeout.deadline as &dyn Getent);
            self.owners.learn(batch, self.plan.names, deadline.unwrap_or(self.system.getent));
        }
    }

    /// The threads that sort and render a batch. For few entries the number of cores is not requested.
    fn team(&self, batch: &Batch) -> Team<'l> {
        if batch.len() < LARGE || self.plan.mode == Mode::Classic {
            return Team::ALONE;
        }
        Team::new(self.system.workers, self.resources.threads.count())
    }

    /// The order of entries: a permutation, from the batch and the notes, without system calls.
    fn sort(&mut self, batch: &Batch, notes: &Notes<'_>) -> Vec<u32> {
        self.timing.enter(Phase::Sort);
        if self.sorts_by_totals() {
            return self.sort_by_totals(batch, &notes.entries);
        }
        self.sort_by(&self.plan.order, batch)
    }

    fn sort_by(&mut self, order: &Order, batch: &Batch) -> Vec<u32> {
        let team = self.team(batch);
        let collate = self.collate.as_deref_mut().map(|rules| rules as &mut dyn Collate);
        match order.key {
            Key::Width => order.sort_by_width(batch, collate, &team, &self.renderer.widths(batch)),
            _ => order.sort(batch, collate, &team),
        }
    }

    fn take_report(&mut self, report: &Report) {
        self.timing.note(report);
        if let Some(errno) = report.refused
            && !core::mem::replace(&mut self.told_refusal, true)
        {
            Message::new(self.plan.program)
                .text("io_uring is not available, going on with threads")
                .errno(errno)
                .send(self.out);
        }
    }
}
