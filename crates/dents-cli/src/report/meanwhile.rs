//! What is told while a walk goes on: what could not be read, at once, and on a terminal how far it is.

use crate::message;
use crate::progress::Progress;
use dents::batch::{Batch, Entry};
use dents::tree::{Failure, Place, Problem};
use dents_render::quote::quoteaf;
use dents_sink::Extent;
use dents_sys::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Shared by all workers.
pub(crate) struct Meanwhile {
    progress: Option<Progress>,
    errors: AtomicU64,
    /// Set if a scan file was read that is not of a complete scan: whether it may be.
    partial: OnceLock<bool>,
}

impl Meanwhile {
    /// The result comes at the end: nothing else is written while there is progress to be shown.
    pub(crate) fn begin() -> Meanwhile {
        Meanwhile {
            progress: Progress::start(false, true),
            errors: AtomicU64::new(0),
            partial: OnceLock::new(),
        }
    }

    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// Whether a scan file that was read may be partial; `None` if none was.
    pub(super) fn may_be_partial(&self) -> Option<bool> {
        self.partial.get().copied()
    }

    /// A batch has come: tells of what did not answer in it.
    pub(crate) fn saw(&self, place: &Place<'_>, batch: &Batch) {
        if let Some(progress) = &self.progress {
            progress.counters().saw(place, batch);
        }
        if batch.has_faults() {
            for entry in batch.iter() {
                if let Some((_, errno)) = entry.fault() {
                    self.cannot_access(place, &entry, errno);
                }
            }
        }
    }

    /// An entry that `statx` did not answer for.
    pub(crate) fn cannot_access(&self, place: &Place<'_>, entry: &Entry<'_>, errno: Errno) {
        let mut path = Vec::new();
        place.join(entry.name(), &mut path);
        self.tell("cannot access", &path, errno);
    }

    /// A directory that could not be opened or not be read to its end.
    pub(crate) fn failed(&self, failure: &Failure<'_>) {
        let problem = match failure.problem {
            Problem::Open => "cannot read directory",
            Problem::Read => "error reading directory",
            Problem::Loop => "not entered, for it is within itself:",
        };
        self.tell(problem, failure.path, failure.errno);
    }

    /// What a scan could not read, by the file that it wrote.
    pub(crate) fn unread(&self, file: &OsStr, count: u64) {
        self.errors.fetch_add(count, Relaxed);
        let mut line = quoteaf(file.as_bytes(), message::locale());
        let what = if count == 1 { "one question was" } else { "questions were" };
        let number = if count == 1 { String::new() } else { format!("{count} ") };
        line.extend_from_slice(format!(": {number}{what} not answered when it was written").as_bytes());
        message::say(&line);
    }

    /// A scan file was read that is not of a complete scan, or does not say so.
    pub(crate) fn partial(&self, file: &OsStr, extent: Option<Extent>, may_be: bool) {
        let _ = self.partial.set(may_be);
        if may_be {
            return;
        }
        let mut line = quoteaf(file.as_bytes(), message::locale());
        let problem = match extent {
            Some(_) => "not complete: the scan was stopped, or could not open every PATH",
            None => "does not say whether the scan is complete: cut off, filtered, or of an earlier version",
        };
        line.extend_from_slice(format!(": {problem}; --partial takes it as it is").as_bytes());
        message::say(&line);
    }

    /// In du's words.
    fn tell(&self, problem: &str, path: &[u8], errno: Errno) {
        self.errors.fetch_add(1, Relaxed);
        let mut line = format!("{problem} ").into_bytes();
        line.extend_from_slice(&quoteaf(path, message::locale()));
        line.extend_from_slice(format!(": {}", message::errno_text(errno.raw_os_error())).as_bytes());
        message::say(&line);
    }
}
