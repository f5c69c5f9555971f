//! The text output of a scan: standard output or a file. All workers write to it, each whole lines.

use dents_sink::{Extent, Output, Own};
use dents_sys::clock;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A worker writes when it has this many bytes of lines: two writes fill a pipe, and the next worker waits for the lock no
/// longer than the copy takes.
const FULL: usize = 128 * 1024;
/// A worker also writes when its first line is this old, so that a terminal or the reader of a pipe gets lines soon.
const STALE_NS: u64 = 100_000_000;

/// The first error of the output, of any worker.
#[derive(Default)]
pub(crate) struct FirstError {
    failed: AtomicBool,
    error: Mutex<Option<io::Error>>,
}

impl FirstError {
    /// Whether there was an error: then nothing more is written.
    pub(crate) fn is_set(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Keeps an error, if it is the first.
    pub(crate) fn note(&self, error: io::Error) {
        self.failed.store(true, Relaxed);
        unpoisoned(&self.error).get_or_insert(error);
    }

    /// The first error.
    pub(crate) fn into_result(self) -> io::Result<()> {
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// The output, unbuffered.
pub(crate) struct TextOutput<'t> {
    file: Mutex<Output>,
    first_error: &'t FirstError,
}

impl<'t> TextOutput<'t> {
    /// Writes to a file; `-` is standard output.
    pub(crate) fn create(path: &Path, first_error: &'t FirstError) -> io::Result<Self> {
        Ok(TextOutput { file: Mutex::new(Output::create(path)?), first_error })
    }

    /// Where it is written, if it is a file.
    pub(crate) fn own(&self) -> Option<Own> {
        unpoisoned(&self.file).own()
    }

    /// Completes the output: the file appears. Returns its path if it was renamed.
    pub(crate) fn commit(self, extent: Extent) -> io::Result<Option<PathBuf>> {
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.first_error.is_set() { Ok(None) } else { file.commit(extent) }
    }

    /// Writes all bytes under the lock, so that they stay together.
    fn write(&self, bytes: &[u8]) {
        if self.first_error.is_set() {
            return;
        }
        if let Err(error) = unpoisoned(&self.file).write_all(bytes) {
            self.first_error.note(error);
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines of one worker that were not written yet.
pub(crate) struct Lines<'o> {
    out: &'o TextOutput<'o>,
    pub(crate) bytes: Vec<u8>,
    /// The time of the first of them.
    since: u64,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(out: &'o TextOutput<'o>) -> Self {
        Lines { out, bytes: Vec::with_capacity(FULL + FULL / 2), since: 0 }
    }

    /// Writes if it is time. To be called after a whole line, at least once for each batch. Reads the clock: 50 ns.
    pub(crate) fn pause(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        if self.bytes.len() >= FULL {
            return self.flush();
        }
        let now = clock::monotonic_ns();
        match self.since {
            0 => self.since = now,
            since if now.saturating_sub(since) > STALE_NS => self.flush(),
            _ => {}
        }
    }

    /// Writes all lines.
    pub(crate) fn flush(&mut self) {
        if !self.bytes.is_empty() {
            self.out.write(&self.bytes);
            self.bytes.clear();
        }
        self.since = 0;
    }
}
