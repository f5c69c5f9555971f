//! The visitor of a walk, one for each worker: applies the filter to each batch, and passes the matching entries to the consumer.

use super::job::Budget;
use crate::consumer::Consumer;
use crate::entry::{self, Found};
use crate::filter::{Filter, IgnoreRules, Viewer};
use crate::inode::{Inode, target};
use crate::output::Diagnostics;
use crate::overlap;
use dents::gitignore;
use dents_core::batch::{Asked, Batch, Entry, Mark};
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{Failure, Place, Problem, Step, Visitor};
use dents_sink::Own;
use dents_sys::{AsFd, Errno, dir};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// State that all workers share.
pub(crate) struct Plan<'p> {
    pub(crate) filter: &'p Filter<'p>,
    pub(crate) diagnostics: &'p Diagnostics<'p>,
    /// The needs of the command for entries that do not pass.
    pub(crate) must: NeedsByKind,
    /// Whether links are followed, so that an entry is the target of a link.
    pub(crate) follows: bool,
    /// Whether a mount may lead to a directory above, which then does not count again.
    pub(crate) mounts_loop: bool,
    /// Whether links to a directory above, and links in a circle, are left out, and loops of mounts reported.
    pub(crate) leaves_out_loops: bool,
    /// Whether types are counted.
    pub(crate) counts: bool,
    /// What the command itself gives or takes away below its PATHs: it is left out, as it was not there before, or is not afterwards.
    pub(crate) own: Vec<Own>,
    /// Leaves directories over.
    pub(crate) budget: Option<&'p dyn Budget>,
    /// Whether the walk must end.
    pub(crate) must_stop: &'p (dyn Fn() -> bool + Sync),
    /// Set if a PATH could not be opened, or not read to its end.
    pub(crate) root_failed: AtomicBool,
}

impl Plan<'_> {
    /// Whether a directory of a tree has no entries: opens and reads it. A directory that cannot be read counts as not empty. The walk reports
    /// it when it enters it; one at the largest depth, which it does not enter, is reported here.
    fn is_empty(&self, place: &Place<'_>, entry: &Entry<'_>, faults: &mut u64) -> bool {
        let has_entries = has_entries(place, entry);
        if let Err(errno) = has_entries
            && place.depth >= self.filter.max_depth()
        {
            *faults += 1;
            let mut path = Vec::new();
            place.join(entry.name(), &mut path);
            self.diagnostics.cannot_open(&path, errno);
        }
        has_entries == Ok(false)
    }
}

/// Whether a directory has entries. Below its own directory it may be at any depth; a link is followed, where the walk takes it for a directory.
fn has_entries(place: &Place<'_>, entry: &Entry<'_>) -> Result<bool, Errno> {
    let open = if entry.d_kind() == Kind::Dir { dir::open_nofollow } else { dir::open };
    let (dir, mut buffer) = (entry::reach(place, entry, open)?, [0; 1024]);
    loop {
        let length = dir::getdents64(dir.as_fd(), &mut buffer)?;
        if length == 0 {
            return Ok(false);
        }
        if dir::Dirents::new(&buffer[..length]).any(|entry| ![c".", c".."].contains(&entry.name)) {
            return Ok(true);
        }
    }
}

/// One worker's visitor.
pub(crate) struct Live<'p, C> {
    plan: &'p Plan<'p>,
    pub(crate) consumer: C,
    /// Which entries of the batch passed the tests of names and types, once these were made.
    selected: Vec<bool>,
    has_selected: bool,
    /// Which entries of the batch are stat'ed, if more than those are.
    asked: Vec<bool>,
    /// Entries of the batch that are the command's own.
    own: Vec<usize>,
    /// Directories of the batch that are not entered.
    skipped: Vec<usize>,
    scratch: Vec<u8>,
    /// Entries by type, if they are counted.
    pub(crate) kinds: [u64; 16],
    /// Faults that the walk does not know: links in a circle of links (`ELOOP`), directories that may be empty and could not be read.
    pub(crate) faults: u64,
}

/// The state of a directory in the walk.
#[derive(Clone, Default)]
pub(crate) struct State<S> {
    /// The length of the operand, with which all paths below it begin.
    operand: usize,
    rules: IgnoreRules,
    of_consumer: S,
}

impl Plan<'_> {
    /// Whether entries may be left out because they lead to a directory above.
    fn leaves_out(&self) -> bool {
        self.mounts_loop || (self.leaves_out_loops && self.follows)
    }
}

impl<'p, C: Consumer> Live<'p, C> {
    pub(crate) fn new(plan: &'p Plan<'p>, consumer: C) -> Self {
        Live {
            plan,
            consumer,
            selected: Vec::new(),
            has_selected: false,
            asked: Vec::new(),
            own: Vec::new(),
            skipped: Vec::new(),
            scratch: Vec::new(),
            kinds: [0; 16],
            faults: 0,
        }
    }

    fn look(&mut self, place: &Place<'_>, batch: &Batch, state: &State<C::State>) {
        let filter = self.plan.filter;
        let wants_none = filter.wants_none(place.depth);
        let has_selected = core::mem::take(&mut self.has_selected);
        for entry in batch.iter() {
            if self.own.binary_search(&entry.index()).is_ok() {
                continue;
            }
            if !self.is_given(place, &entry) {
                continue;
            }
            if self.is_repeated(place, &entry) {
                self.skipped.push(entry.index());
                continue;
            }
            let found = Found::live(place, &entry, state.operand);
            let is_selected = match has_selected {
                true => self.selected[entry.index()],
                false => filter.may_want(&found, &state.rules, self.plan.follows, &mut self.scratch),
            };
            let plan = self.plan;
            let faults = &mut self.faults;
            let is_empty = |_: &Found<'_>| plan.is_empty(place, &entry, faults);
            let wanted =
                !wants_none && is_selected && filter.wants(&found, &state.rules, is_empty, &mut self.scratch);
            // A root that failed makes the scan incomplete, so the consumer gets it even if the filter excludes it.
            let step = if wanted || (is_failed_root(place, &entry) && self.consumer.takes_faults()) {
                self.consumer.entry(&found, &state.of_consumer)
            } else if found.kind == Kind::Dir {
                self.consumer.passed_over(&found)
            } else {
                Step::Enter
            };
            if step == Step::Skip {
                self.skipped.push(entry.index());
            }
        }
    }

    /// Finds the command's own entries by their names. If there are such names, one `statx` of the directory decides.
    fn find_own(&mut self, place: &Place<'_>, batch: &Batch) {
        self.own.clear();
        if self.plan.own.is_empty() || place.depth == 0 {
            return;
        }
        let has = |name: &[u8], own: &Own| own.names.iter().any(|one| one == name);
        let mut here = None;
        for entry in batch.iter() {
            let mut named = self.plan.own.iter().filter(|own| has(entry.name(), own)).peekable();
            if named.peek().is_none() {
                continue;
            }
            let here = here.get_or_insert_with(|| {
                overlap::directory(place.dir).or_else(|| overlap::of_path(place.path))
            });
            if here.is_some_and(|Inode { dev, ino }| named.any(|own| own.directory == (dev, ino))) {
                self.own.push(entry.index());
            }
        }
    }

    /// Whether the consumer gets an entry. Like `find`, most consumers do not get entries that could not be stat'ed.
    fn is_given(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        if is_failed_root(place, entry) {
            self.plan.root_failed.store(true, Relaxed);
        }
        let takes_faults = self.consumer.takes_faults();
        if entry.fault().is_some() && !entry.is_known() && !takes_faults {
            return false;
        }
        // Circles are reported, even if the consumer does not take faults.
        let is_loop = self.plan.leaves_out_loops && self.plan.leaves_out() && self.is_loop(place, entry);
        !is_loop || takes_faults
    }

    /// Whether an entry is a directory above, mounted here, where such an entry is not reported: it does not count again, as in du(1).
    fn is_repeated(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        let may_be = self.plan.mounts_loop && !self.plan.leaves_out_loops && entry.kind() == Kind::Dir;
        may_be && self.is_loop(place, entry)
    }

    /// Whether an entry is a link in a circle of links, which is reported here, or a link or a mount that leads to a directory above,
    /// which the walk reports. Costs one `statx` for each link, except links to files that were stat'ed, and for each directory if
    /// mounts may be loops.
    fn is_loop(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        let leads = match entry.kind() {
            Kind::Link => self.plan.follows,
            Kind::Dir => place.depth > 0 && (self.plan.mounts_loop || entry.d_kind() != Kind::Dir),
            _ => false,
        };
        if !leads {
            return false;
        }
        match target(place, entry) {
            Ok(Inode { dev, ino }) => place.is_within(dev, ino),
            Err(Errno::LOOP) => {
                self.faults += 1;
                place.join(entry.name(), &mut self.scratch);
                self.plan.diagnostics.session().cannot_access(&self.scratch, Errno::LOOP);
                true
            }
            Err(_) => false,
        }
    }
}

/// Whether a user sees the entries of a directory that he sees.
fn opens(viewer: &Viewer, directory: &Entry<'_>) -> bool {
    directory.is_known() && {
        let facts = Facts::of(directory, Needs::MODE | Needs::UID | Needs::GID);
        viewer.opens(&facts, matches!(directory.mark(), Mark::Acl | Mark::Unknown))
    }
}

/// Whether an entry is a PATH that cannot be stat'ed.
fn is_failed_root(place: &Place<'_>, entry: &Entry<'_>) -> bool {
    place.depth == 0 && entry.fault().is_some_and(|(asked, _)| asked == Asked::Stat)
}

impl<C: Consumer> Visitor for Live<'_, C> {
    type State = State<C::State>;

    fn leaves(&mut self, parent: &[u8], name: &CStr, depth: u32) -> bool {
        self.plan.budget.is_some_and(|budget| budget.leaves(parent, name, depth))
    }

    fn opened(&mut self, place: &Place<'_>, state: &mut Self::State) -> Step {
        if (self.plan.must_stop)() {
            return Step::Stop;
        }
        if state.operand == 0 {
            // A resumed walk has no state of the parent.
            state.operand = entry::operand(place.path, place.depth);
        }
        if self.plan.filter.reads_ignore_files() {
            let complain =
                &mut |path: &[u8], why: &str| self.plan.diagnostics.session().about("cannot use", path, why);
            // In `opened` the directory is always open.
            state.rules = place.dir.and_then(|dir| {
                gitignore::enter(place.path, place.depth == 1, dir, state.rules.as_ref(), complain)
            });
        }
        self.consumer.opened(place, &mut state.of_consumer)
    }

    fn select(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Option<&[bool]> {
        let Plan { filter, follows, must, .. } = self.plan;
        let none = filter.wants_none(place.depth);
        self.has_selected = filter.selects() || none;
        if self.has_selected {
            let scratch = &mut self.scratch;
            let wants = |entry: Entry<'_>| {
                let found = Found::live(place, &entry, state.operand);
                !none && filter.may_want(&found, &state.rules, *follows, scratch)
            };
            self.selected.clear();
            self.selected.extend(batch.iter().map(wants));
        }
        if !self.has_selected || !must.asks_any() {
            return self.has_selected.then_some(&self.selected[..]);
        }
        let kinds = batch.iter().map(|entry| entry.kind());
        self.asked.clear();
        self.asked
            .extend(self.selected.iter().zip(kinds).map(|(selected, kind)| *selected || must.asks(kind)));
        Some(&self.asked)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Step {
        self.plan.diagnostics.saw(place, batch);
        if let Some(budget) = self.plan.budget {
            budget.met(batch.len());
        }
        if self.plan.counts {
            batch.iter().for_each(|entry| self.kinds[entry.kind() as usize] += 1);
        }
        self.skipped.clear();
        self.find_own(place, batch);
        self.consumer.directory(place);
        let filter = self.plan.filter;
        let wants_some = !filter.wants_none(place.depth) || self.plan.mounts_loop;
        if wants_some || batch.has_faults() || self.plan.must.asks_any() {
            self.consumer.begin(place, batch);
            // Each PATH is an operand of its own, and links may lead anywhere, so these entries are tested one by one.
            let is_plain =
                place.depth > 0 && self.own.is_empty() && !self.plan.leaves_out() && !batch.has_faults();
            if !(is_plain && filter.wants_all(place.depth) && self.consumer.all(place, batch)) {
                self.look(place, batch, state);
            }
            self.consumer.end(Some(place));
        }
        if (self.plan.must_stop)() { Step::Stop } else { Step::Enter }
    }

    fn requests(&mut self) -> u64 {
        self.consumer.requests()
    }

    fn descend(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &Self::State) -> Step {
        if entry.fault().is_some_and(|(asked, _)| asked == Asked::Stat) {
            // The error was reported before. A file that cannot be stat'ed cannot be opened.
            return Step::Skip;
        }
        // The entries come in the order of their indices.
        if [&self.skipped, &self.own].into_iter().any(|indices| indices.binary_search(&entry.index()).is_ok())
        {
            return Step::Skip;
        }
        if self.plan.filter.viewer().is_some_and(|viewer| !opens(viewer, entry)) {
            return Step::Skip;
        }
        let prunes = self.plan.filter.can_prune() && {
            let found = Found::live(place, entry, state.operand);
            self.plan.filter.prunes(&found, &state.rules, &mut self.scratch)
        };
        if prunes || !self.consumer.enters(entry.name()) { Step::Skip } else { Step::Enter }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.plan.diagnostics.failed(failure);
        if let Some(budget) = self.plan.budget {
            if budget.leaves_failed(failure) {
                return Step::Enter;
            }
            if budget.gives_up(failure) {
                return Step::Stop;
            }
        }
        if failure.depth == 1 && failure.problem != Problem::Loop {
            self.plan.root_failed.store(true, Relaxed);
        }
        self.consumer.failed(failure);
        Step::Enter
    }
}
