//! Passes the rows of a scan file to a consumer, like the entries of a tree.
//!
//! Rows may come in any order. So each row decides anew whether its directory is entered (`--exclude`, `-x`), by the path of the
//! directory. The result for the last directory is kept, because the rows of a directory usually come together.

use super::directory_facts::DirectoryFacts;
use super::job::{Below, Job, Way};
use super::root::Root;
use super::verify::Verifier;
use crate::consumer::Consumer;
use crate::entry::{self, Found};
use crate::filter::Filter;
use crate::output::Diagnostics;
use dents_core::needs::Kind;
use dents_core::path::separator;
use dents_sink::read::Take;
use dents_sink::{Asked, Row};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// State that all workers share.
pub(super) struct Plan<'p> {
    filter: &'p Filter<'p>,
    directory_facts: &'p DirectoryFacts,
    diagnostics: &'p Diagnostics<'p>,
    /// The PATHs that were given; none for the operands of the scan.
    roots: Vec<Root>,
    way: &'p Way<'p>,
    may_be_partial: bool,
    verifier: Option<Verifier>,
    /// The number of requests of the scan that failed.
    unread: AtomicU64,
}

impl<'p> Plan<'p> {
    pub(super) fn new(
        job: &Job<'p>,
        directory_facts: &'p DirectoryFacts,
        way: &'p Way<'p>,
        may_be_partial: bool,
    ) -> Plan<'p> {
        let (filter, diagnostics) = (job.filter, job.diagnostics);
        let (roots, unread) = (Root::all(job.walk), AtomicU64::new(0));
        let verifier = job.source.verify.then(Verifier::default);
        Plan { filter, directory_facts, diagnostics, roots, way, may_be_partial, verifier, unread }
    }

    /// Whether an entry below the PATH at this position counts under it.
    fn gives(&self, nth: usize, path: &[u8]) -> bool {
        let holds = |root: &Root| root.below(path).is_some();
        let length = |nth: usize| self.roots[nth].path.len();
        let mut others =
            self.roots.iter().enumerate().filter(|(_, root)| holds(root)).map(|(other, _)| other);
        let is_same = |other: usize| length(other) == length(nth) && other < nth;
        match self.way.below {
            Below::Every => true,
            Below::Nearest => !others.any(|other| length(other) > length(nth) || is_same(other)),
            Below::Farthest => !others.any(|other| length(other) < length(nth) || is_same(other)),
            Below::Only(only) => only == nth,
            Below::First(first) => first == nth && !self.roots[..nth].iter().any(holds),
        }
    }

    /// The PATHs whose entries are read.
    pub(super) fn paths(&self) -> Vec<Vec<u8>> {
        self.read().iter().map(|root| root.path.clone()).collect()
    }

    fn read(&self) -> &[Root] {
        match self.way.below {
            Below::Only(nth) | Below::First(nth) => self.roots.get(nth..=nth).unwrap_or_default(),
            _ => &self.roots,
        }
    }

    /// Reports the PATHs that the scan does not have.
    pub(super) fn report(&self, file: &OsStr) {
        for root in self.read().iter().filter(|root| !root.was_met.load(Relaxed)) {
            self.diagnostics.not_in_scan(&root.name, file.as_bytes());
        }
        if let Some(changed) = self.verifier.as_ref().map(Verifier::left_out).filter(|changed| *changed > 0) {
            self.diagnostics.changed(file, changed);
        }
        let unread = self.unread.load(Relaxed);
        if unread > 0 {
            self.diagnostics.unread(file, unread);
        }
    }
}

/// The rows of one worker.
pub(super) struct Rows<'p, C: Consumer> {
    plan: &'p Plan<'p>,
    consumer: &'p mut C,
    last: Option<Directory<C::State>>,
    scratch: Vec<u8>,
    path: Vec<u8>,
}

impl<C: Consumer> Take for Rows<'_, C> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        if self.plan.diagnostics.session().is_stopped() || (self.plan.way.must_stop)() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.take(row);
        Ok(())
    }
}

/// The directory of the last row.
struct Directory<S> {
    path: Vec<u8>,
    /// The length of the operand.
    operand: usize,
    /// Whether the directory is not entered.
    is_pruned: bool,
    state: S,
}

impl<S> Directory<S> {
    /// Whether the directory of a row is below the same operand. Slashes are counted many at a time, while
    /// [`entry::operand`] looks for one after the other.
    fn shares_operand(&self, row: &Row<'_>) -> bool {
        let Some(operand) = self.path.get(..self.operand).filter(|operand| !operand.is_empty()) else {
            return false;
        };
        let Some(below) = row.parent.strip_prefix(operand) else { return false };
        let slash = separator(operand);
        let slashes = below.iter().filter(|byte| **byte == b'/').count();
        let names = if below.is_empty() { 0 } else { slashes + 1 - slash.len() };
        (below.is_empty() || below.starts_with(slash)) && names + 1 == row.depth as usize
    }
}

/// Whether two paths are equal. If paths are not read, all are empty. An empty slice has no valid address, and `memcmp` of it by the
/// masked loads of AVX-512 takes 100 ns, so this function tests that first.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

impl<'p, C: Consumer> Rows<'p, C> {
    pub(super) fn new(plan: &'p Plan<'p>, consumer: &'p mut C) -> Self {
        Rows { plan, consumer, last: None, scratch: Vec::new(), path: Vec::new() }
    }

    fn take(&mut self, row: &Row<'_>) {
        if self.plan.roots.is_empty() {
            let operand = match &self.last {
                Some(last) if is_same(&last.path, row.parent) || last.shares_operand(row) => last.operand,
                _ => entry::operand(row.parent, row.depth),
            };
            return self.found(Found::row(row, operand), row);
        }
        self.path.clear();
        row.path(&mut self.path);
        let path = std::mem::take(&mut self.path);
        for (nth, root) in self.plan.roots.iter().enumerate() {
            let Some(below) = root.below(&path) else { continue };
            root.was_met.store(true, Relaxed);
            if !self.plan.gives(nth, &path) {
                continue;
            }
            let mut found = Found::row(row, root.path.len());
            if below.is_empty() {
                (found.parent, found.name, found.depth) = (b"", &root.name, 0);
                found.operand = root.name.len();
            } else {
                found.depth = 1 + below.iter().filter(|byte| **byte == b'/').count() as u32;
            }
            self.found(found, row);
        }
        self.path = path;
    }

    fn found(&mut self, mut found: Found<'_>, row: &Row<'_>) {
        let plan = self.plan;
        // A PATH, and an error: all other rows are tested with their directory.
        if (found.depth == 0 || row.fault.is_some())
            && row.depth > 0
            && plan.directory_facts.is_shut(row.parent)
        {
            return;
        }
        if found.depth > 0 && found.kind == Kind::Dir && plan.directory_facts.has_foreign() {
            self.scratch.clear();
            row.path(&mut self.scratch);
            found.is_mount_point = plan.directory_facts.is_foreign(&self.scratch);
        }
        // With --partial, a root that could not be opened counts as a reason why the file is partial, not as an error.
        if row.fault.is_some() && !(plan.may_be_partial && row.is_failed_root()) {
            plan.unread.fetch_add(1, Relaxed);
        }
        // A directory that could not be read has two rows; one of them is its entry.
        if row.fault.is_some_and(|fault| fault.is_of_directory()) {
            let row = Row { parent: found.parent, name: found.name, depth: found.depth, ..*row };
            return self.consumer.failed_row(&row);
        }
        let is_known = row.fault.is_none_or(|fault| fault.asked != Asked::Stat);
        if !is_known && !self.consumer.takes_faults() {
            return;
        }
        let mut directory = match self.last.take() {
            Some(last) if last.operand == found.operand && is_same(&last.path, found.parent) => last,
            _ => {
                self.consumer.end(None);
                self.directory(&found)
            }
        };
        if !directory.is_pruned {
            let Rows { scratch, consumer, .. } = self;
            let wanted = !plan.filter.wants_none(found.depth)
                && plan.filter.may_want(&found, &None, false, scratch)
                && plan.filter.wants(&found, &None, |_| plan.directory_facts.is_empty(row), scratch)
                && plan.verifier.as_ref().is_none_or(|verifier| verifier.holds(row, scratch));
            if wanted {
                consumer.entry(&found, &directory.state);
            } else if found.kind == Kind::Dir && !plan.filter.prunes(&found, &None, scratch) {
                consumer.passed_over(&found);
            }
        }
        if found.depth == 0 {
            // Each operand has a directory of its own, without other rows.
            directory.path.clear();
            directory.operand = usize::MAX;
        }
        self.last = Some(directory);
    }

    /// The directory of an entry.
    fn directory(&mut self, found: &Found<'_>) -> Directory<C::State> {
        let is_pruned =
            found.depth > 0 && (self.is_pruned(found) || self.plan.directory_facts.is_shut(found.parent));
        let state = match is_pruned {
            true => C::State::default(),
            false => self.consumer.recorded(found.parent, found.depth.saturating_sub(1), found.operand),
        };
        Directory { path: found.parent.to_vec(), operand: found.operand, is_pruned, state }
    }

    /// Whether the directory of an entry, or one above it, is not entered.
    fn is_pruned(&mut self, found: &Found<'_>) -> bool {
        let plan = self.plan;
        if !plan.filter.can_prune() && !plan.directory_facts.has_foreign() {
            return false;
        }
        let mut path = found.parent;
        for depth in (1..found.depth).rev() {
            if plan.directory_facts.is_foreign(path) {
                return true;
            }
            let parent = entry::above(path);
            let name = Row::name_in(parent, path).unwrap_or(path);
            let directory = Found { parent, name, depth, kind: Kind::Dir, ..*found };
            if plan.filter.can_prune() && plan.filter.prunes(&directory, &None, &mut self.scratch) {
                return true;
            }
            path = parent;
        }
        false
    }
}
