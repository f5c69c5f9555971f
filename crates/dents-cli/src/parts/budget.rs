//! The budget of a task: when it is used up, the walk leaves all directories over that it has not opened.

use crate::scan::text_output::FirstError;
use dents_sink::parts::Attempt;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Shared by all workers.
pub(crate) struct Budget<'b> {
    attempt: &'b Attempt<'b>,
    first_error: &'b FirstError,
    /// Entries found so far.
    met: AtomicU64,
    entries: u64,
    end: Option<Instant>,
    has_begun: AtomicBool,
}

impl<'b> Budget<'b> {
    pub(crate) fn new(
        attempt: &'b Attempt<'b>,
        first_error: &'b FirstError,
        entries: u64,
        end: Option<Instant>,
    ) -> Self {
        let (met, has_begun) = (AtomicU64::new(0), AtomicBool::new(false));
        Budget { attempt, first_error, met, entries, end, has_begun }
    }

    /// Counts the entries of a batch.
    pub(crate) fn met(&self, entries: usize) {
        self.met.fetch_add(entries as u64, Relaxed);
    }

    /// Whether this directory is left over, which is then written to the list. The first one never is: each task makes progress.
    pub(crate) fn leaves(&self, parent: &[u8], name: &CStr, depth: u32) -> bool {
        if !self.has_begun.swap(true, Relaxed) || !self.is_used() {
            return false;
        }
        if let Err(error) = self.attempt.leave(parent, name, depth) {
            self.first_error.note(error);
        }
        true
    }

    fn is_used(&self) -> bool {
        self.met.load(Relaxed) >= self.entries || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
