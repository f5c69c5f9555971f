//! What a task leaves over: the directories that it has not opened when its budget is used up, and those that it could not open now. If a
//! directory fails after some of its entries were read, these are rows already: the whole task is given up, and done again.

use crate::scan::rows;
use crate::scan::text_output::FirstError;
use crate::source;
use dents_core::tree::{Failure, Problem, StartPoint};
use dents_sink::parts::Attempt;
use dents_sys::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// So often a directory is tried, by different tasks, before its error is a row.
const TRIES: u32 = 3;

/// Shared by all workers.
pub(crate) struct Budget<'b> {
    attempt: &'b Attempt<'b>,
    first_error: &'b FirstError,
    /// Entries found so far.
    met: AtomicU64,
    entries: u64,
    end: Option<Instant>,
    has_begun: AtomicBool,
    operands: &'b [CString],
    /// The directories of the task other than roots, and how often they could not be opened.
    own: HashMap<(&'b [u8], &'b [u8]), u32>,
    may_give_up: bool,
    gave_up: AtomicBool,
}

impl<'b> Budget<'b> {
    pub(crate) fn new(
        attempt: &'b Attempt<'b>,
        first_error: &'b FirstError,
        (entries, end): (u64, Option<Instant>),
        operands: &'b [CString],
        start_points: impl IntoIterator<Item = (&'b StartPoint, u32)>,
        may_give_up: bool,
    ) -> Self {
        let [has_begun, gave_up] = [const { AtomicBool::new(false) }; 2];
        let met = AtomicU64::new(0);
        let own = start_points.into_iter();
        let own = own.map(|(start, tries)| ((&start.parent[..], start.name.to_bytes()), tries)).collect();
        Budget { attempt, first_error, met, entries, end, has_begun, operands, own, may_give_up, gave_up }
    }

    /// Whether the task was given up.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up.load(Relaxed)
    }

    fn leave(&self, (parent, name): (&[u8], &CStr), depth: u32, tries: u32) -> bool {
        if let Err(error) = self.attempt.leave(parent, name, depth, tries) {
            self.first_error.note(error);
        }
        true
    }

    fn is_used(&self) -> bool {
        self.met.load(Relaxed) >= self.entries || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl source::Budget for Budget<'_> {
    /// Counts the entries of a batch.
    fn met(&self, entries: usize) {
        self.met.fetch_add(entries as u64, Relaxed);
    }

    /// Writes a directory that is left over to the list. The first one never is: each task makes progress.
    fn leaves(&self, parent: &[u8], name: &CStr, depth: u32) -> bool {
        if !self.has_begun.swap(true, Relaxed) || !self.is_used() {
            return false;
        }
        self.leave((parent, name), depth, self.own.get(&(parent, name.to_bytes())).copied().unwrap_or(0))
    }

    /// Whether a directory that could not be opened is left over: if it may be opened later, or by another machine, and was not tried too often.
    fn leaves_failed(&self, failure: &Failure<'_>) -> bool {
        let (parent, name) = rows::split(failure, self.operands);
        let own = self.own.get(&(parent, name)).copied();
        let tries = own.unwrap_or(0) + 1;
        let may_pass = failure.problem == Problem::Open && may_pass(failure.errno, own.is_some());
        let name = CString::new(name).ok().filter(|_| may_pass && tries < TRIES);
        name.is_some_and(|name| self.leave((parent, &name), failure.depth, tries))
    }

    /// Whether the task is given up, because a directory could not be read to its end and may be later, or by another machine.
    fn gives_up(&self, failure: &Failure<'_>) -> bool {
        let gives_up = self.may_give_up && failure.problem == Problem::Read && may_pass(failure.errno, false);
        self.gave_up.fetch_or(gives_up, Relaxed);
        gives_up
    }
}

/// Whether an error may be one of this machine or this moment. A directory that the task was given has been found by another one: if it is not
/// there, it has vanished, or something above it is not mounted here.
fn may_pass(errno: Errno, is_own: bool) -> bool {
    let of_servers =
        [Errno::STALE, Errno::IO, Errno::TIMEDOUT, Errno::NOTCONN, Errno::SHUTDOWN, Errno::HOSTDOWN];
    of_servers.contains(&errno) || (is_own && errno == Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_servers_may_pass() {
        assert!([Errno::STALE, Errno::IO, Errno::TIMEDOUT].into_iter().all(|errno| may_pass(errno, false)));
        assert!(may_pass(Errno::NOENT, true) && !may_pass(Errno::NOENT, false));
        assert!(!may_pass(Errno::ACCESS, true) && !may_pass(Errno::NOTDIR, true));
    }
}
