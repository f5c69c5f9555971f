//! Messages and progress during a walk: errors at once, and on a terminal the line of progress.

use crate::message;
use crate::session::{Progress, Session};
use dents_core::batch::{Batch, Entry};
use dents_core::tree::{Failure, Place};
use dents_sink::Extent;
use dents_sys::Errno;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Shared by all workers.
pub struct Diagnostics<'s> {
    session: &'s Session,
    progress: Option<Box<dyn Progress>>,
    errors: AtomicU64,
    /// Set if a scan file is not complete. The value says whether `--partial` was given.
    partial: OnceLock<bool>,
    /// The scan files without a checksum, which were named.
    unchecked: Mutex<Vec<OsString>>,
}

impl<'s> Diagnostics<'s> {
    /// Begins to show progress. Commands that use this write their result at the end, so the line of progress disturbs no output.
    pub fn begin(session: &'s Session) -> Diagnostics<'s> {
        Diagnostics::with(session, false, true)
    }

    /// The same, with the arguments of [`Host::progress`](crate::session::Host::progress).
    pub(crate) fn with(session: &'s Session, asked: bool, output_is_elsewhere: bool) -> Diagnostics<'s> {
        let progress = session.progress(asked, output_is_elsewhere);
        let (errors, partial, unchecked) = (AtomicU64::new(0), OnceLock::new(), Mutex::default());
        Diagnostics { session, progress, errors, partial, unchecked }
    }

    /// The run to which this belongs.
    pub(crate) fn session(&self) -> &'s Session {
        self.session
    }

    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// If a scan file is not complete, whether `--partial` was given. `None` if it is complete, or if no file was read.
    pub fn may_be_partial(&self) -> Option<bool> {
        self.partial.get().copied()
    }

    /// Counts a batch, and reports its entries for which `statx` failed.
    pub(crate) fn saw(&self, place: &Place<'_>, batch: &Batch) {
        if let Some(counters) =
            self.progress.as_ref().map(|shown| shown.counters()).or(self.session.counters())
        {
            counters.saw(place, batch);
        }
        if batch.has_faults() {
            for entry in batch.iter() {
                if let Some((_, errno)) = entry.fault() {
                    self.cannot_access(place, &entry, errno);
                }
            }
        }
    }

    /// Reports an entry for which `statx` failed.
    pub(crate) fn cannot_access(&self, place: &Place<'_>, entry: &Entry<'_>, errno: Errno) {
        let mut path = Vec::new();
        place.join(entry.name(), &mut path);
        self.errors.fetch_add(1, Relaxed);
        self.session.cannot_access(&path, errno);
    }

    /// Reports a directory that could not be opened and that the walk does not enter.
    pub(crate) fn cannot_open(&self, path: &[u8], errno: Errno) {
        self.errors.fetch_add(1, Relaxed);
        self.session.cannot_open(path, errno);
    }

    /// Reports a directory that could not be opened or read to its end.
    pub(crate) fn failed(&self, failure: &Failure<'_>) {
        self.errors.fetch_add(1, Relaxed);
        self.session.complain(failure);
    }

    /// Reports a PATH that a scan does not have.
    pub(crate) fn not_in_scan(&self, path: &[u8], file: &[u8]) {
        self.errors.fetch_add(1, Relaxed);
        self.session.not_in_scan(path, file);
    }

    /// Reports the number of entries and directories that a scan could not read, from its file.
    pub(crate) fn unread(&self, file: &OsStr, count: u64) {
        self.errors.fetch_add(count, Relaxed);
        let questions = message::counted(count, "request was", "requests were");
        self.session.of(file, &format!("{questions} not answered when it was written"));
    }

    /// Reports the number of entries of a scan file that are no longer the same.
    pub(crate) fn changed(&self, file: &OsStr, count: u64) {
        let entries = message::counted(count, "entry changed", "entries changed");
        self.session.of(file, &format!("{entries} since the scan or gone: left out"));
    }

    /// Warns once that a scan file has no checksum of its rows.
    pub(crate) fn unchecked(&self, file: &OsStr) {
        let mut warned = self.unchecked.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.iter().any(|one| one == file) {
            warned.push(file.to_owned());
            self.session.of(file, "of an earlier version, without a checksum: damage may go unnoticed");
        }
    }

    /// Reports a scan file that does not record a complete scan.
    pub(crate) fn partial(&self, file: &OsStr, extent: Option<Extent>, may_be: bool) {
        let _ = self.partial.set(may_be);
        if may_be {
            return;
        }
        let problem = match extent {
            Some(_) => "not complete: the scan was stopped, or could not open every PATH",
            None => "does not say whether the scan is complete: cut off, filtered, or of an earlier version",
        };
        self.session.of(file, &format!("{problem}; --partial takes it as it is"));
    }
}
