//! The visitor of a scan, one for each worker: applies the filter to each batch and gives the output what passes.

use super::emit::Emit;
use super::filter::Filter;
use super::origin::Origin;
use super::out::FirstError;
use crate::inode::{Inode, target};
use crate::progress::Counters;
use crate::{interrupt, message};
use dents::gitignore;
use dents_core::batch::{Asked, Batch, Entry};
use dents_core::needs::Kind;
use dents_core::tree::{Failure, Place, Problem, Step, Visitor};
use dents_sys::Errno;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What all workers share.
pub(crate) struct Plan<'p> {
    pub(crate) filter: Filter<'p>,
    /// The first error of the output.
    pub(crate) first_error: &'p FirstError,
    pub(crate) progress: Option<&'p Counters>,
    /// Whether types are counted.
    pub(crate) counts: bool,
    /// Whether entries are what links lead to.
    pub(crate) follows: bool,
    /// Set if a PATH could not be opened, or not read to its end.
    pub(crate) root_failed: AtomicBool,
}

impl Plan<'_> {
    fn must_stop(&self) -> bool {
        self.first_error.is_set() || interrupt::flag().load(Relaxed)
    }
}

/// One worker's visitor.
pub(crate) struct Scan<'p> {
    plan: &'p Plan<'p>,
    emit: Box<dyn Emit + 'p>,
    /// Which entries of the batch passed the tests of names and types, once these were made.
    selected: Vec<bool>,
    has_selected: bool,
    scratch: Vec<u8>,
    met: Met,
}

/// What one worker counted.
#[derive(Default)]
pub(crate) struct Met {
    /// Entries by type.
    pub(crate) kinds: [u64; 16],
    /// Links in a circle of links (`ELOOP`).
    pub(crate) circles: u64,
}

impl<'p> Scan<'p> {
    pub(crate) fn new(plan: &'p Plan<'p>, emit: Box<dyn Emit + 'p>) -> Self {
        let (selected, scratch) = (Vec::new(), Vec::new());
        Scan { plan, emit, selected, has_selected: false, scratch, met: Met::default() }
    }

    /// Flushes the output. Returns the counts.
    pub(crate) fn finish(mut self) -> Met {
        self.emit.finish();
        self.met
    }

    fn look(&mut self, place: &Place<'_>, origin: &Origin, batch: &Batch) {
        let wants_none = self.plan.filter.wants_none(place);
        let has_selected = core::mem::take(&mut self.has_selected);
        for entry in batch.iter() {
            if entry.fault().is_some() && !self.goes_on(place, &entry) {
                continue;
            }
            if self.plan.follows && self.is_loop(place, &entry) && !self.emit.takes_faults() {
                continue;
            }
            // A PATH is its own operand.
            let own = Origin { operand: entry.name().len(), rules: None };
            let origin = if place.depth == 0 { &own } else { origin };
            let is_selected = if has_selected {
                self.selected[entry.index()]
            } else {
                self.plan.filter.may_want(place, origin, &entry, self.plan.follows, &mut self.scratch)
            };
            let wanted = !wants_none
                && is_selected
                && self.plan.filter.wants(place, origin, &entry, &mut self.scratch);
            // A root that failed makes the scan incomplete, so it is given whatever the filter says.
            if wanted || (is_failed_root(place, &entry) && self.emit.takes_faults()) {
                self.emit.entry(place, origin, &entry);
            }
        }
    }

    /// Whether an entry is a link in a circle of links, which is reported here, or a link to a directory above, which the walk
    /// reports. Costs one `statx` for each link, except links to files that were stat'ed.
    fn is_loop(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        let leads = match entry.kind() {
            Kind::Link => true,
            Kind::Dir => entry.d_kind() != Kind::Dir && place.depth > 0,
            _ => false,
        };
        if !leads {
            return false;
        }
        match target(place, entry) {
            Ok(Inode { dev, ino }) => place.is_within(dev, ino),
            Err(Errno::LOOP) => {
                self.met.circles += 1;
                place.join(entry.name(), &mut self.scratch);
                message::cannot_access(&self.scratch, Errno::LOOP);
                true
            }
            Err(_) => false,
        }
    }

    /// Reports a request that failed. Returns whether the entry is given to the output: `find` leaves out what it cannot stat.
    fn goes_on(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> bool {
        if let Some((_, errno)) = entry.fault() {
            place.join(entry.name(), &mut self.scratch);
            message::cannot_access(&self.scratch, errno);
        }
        if is_failed_root(place, entry) {
            self.plan.root_failed.store(true, Relaxed);
        }
        entry.is_known() || self.emit.takes_faults()
    }
}

/// Whether an entry is a PATH that cannot be stat'ed.
fn is_failed_root(place: &Place<'_>, entry: &Entry<'_>) -> bool {
    place.depth == 0 && entry.fault().is_some_and(|(asked, _)| asked == Asked::Stat)
}

/// The length of the operand that a directory is below: computed from the path where a resumed walk has no state of the parent.
fn operand(place: &Place<'_>) -> usize {
    (1..place.depth).fold(place.path, above).len()
}

fn above(path: &[u8], _: u32) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => &path[..slash],
        None => path,
    }
}

impl Visitor for Scan<'_> {
    type State = Origin;

    fn opened(&mut self, place: &Place<'_>, origin: &mut Origin) -> Step {
        if self.plan.must_stop() {
            return Step::Stop;
        }
        if origin.operand == 0 {
            origin.operand = operand(place);
        }
        if self.plan.filter.reads_ignore_files() {
            let complain = &mut |path: &[u8], why: &str| message::about("cannot use", path, why);
            // In `opened` the directory is always open.
            origin.rules = place.dir.and_then(|dir| {
                gitignore::enter(place.path, place.depth == 1, dir, origin.rules.as_ref(), complain)
            });
        }
        Step::Enter
    }

    fn select(&mut self, place: &Place<'_>, batch: &Batch, origin: &Origin) -> Option<&[bool]> {
        let Plan { filter, follows, .. } = self.plan;
        self.has_selected = filter.selects() || filter.wants_none(place);
        if self.has_selected {
            let none = filter.wants_none(place);
            let scratch = &mut self.scratch;
            let wants = |entry: Entry<'_>| !none && filter.may_want(place, origin, &entry, *follows, scratch);
            self.selected.clear();
            self.selected.extend(batch.iter().map(wants));
        }
        self.has_selected.then_some(&self.selected[..])
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, origin: &Origin) -> Step {
        if let Some(progress) = self.plan.progress {
            progress.saw(place, batch);
        }
        if self.plan.counts {
            batch.iter().for_each(|entry| self.met.kinds[entry.kind() as usize] += 1);
        }
        self.emit.directory(place);
        if !self.plan.filter.wants_none(place) || batch.has_faults() {
            self.emit.begin(place, batch);
            // PATHs have an origin each, so they are not given as a whole batch.
            if self.plan.filter.wants_all(place)
                && !batch.has_faults()
                && place.depth > 0
                && !self.plan.follows
            {
                self.emit.all(place, origin, batch);
            } else {
                self.look(place, origin, batch);
            }
            self.emit.end();
        }
        if self.plan.must_stop() { Step::Stop } else { Step::Enter }
    }

    fn descend(&mut self, place: &Place<'_>, entry: &Entry<'_>, origin: &Origin) -> Step {
        if entry.fault().is_some_and(|(asked, _)| asked == Asked::Stat) {
            // It was reported already; a file that cannot be stat'ed cannot be opened.
            return Step::Skip;
        }
        let prunes =
            self.plan.filter.can_prune() && self.plan.filter.prunes(place, origin, entry, &mut self.scratch);
        if prunes || !self.emit.enters(entry.name()) { Step::Skip } else { Step::Enter }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        message::complain(failure);
        if failure.depth == 1 && failure.problem != Problem::Loop {
            self.plan.root_failed.store(true, Relaxed);
        }
        self.emit.failed(failure);
        Step::Enter
    }
}
