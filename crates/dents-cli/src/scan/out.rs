//! Where the text of a scan goes: standard output or a file, written to by all workers, each with whole lines of its own.

use dents_sink::{Extent, Output};
use dents_sys::clock;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines are written when a worker has so many bytes of them: two writes fill a pipe, and the next worker waits no longer
/// for the lock than it takes to copy them.
const FULL: usize = 128 * 1024;
/// Or when the first of them has waited so long: who looks on sees something, who reads a pipe has something to do.
const STALE_NS: u64 = 100_000_000;

/// What went wrong with the output, on whatever worker.
#[derive(Default)]
pub(crate) struct FirstError {
    failed: AtomicBool,
    error: Mutex<Option<io::Error>>,
}

impl FirstError {
    /// Whether there is any: nothing written from then on arrives.
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

/// One output. What is written is in no buffer of its own.
pub(crate) struct Out<'t> {
    file: Mutex<Output>,
    first_error: &'t FirstError,
}

impl<'t> Out<'t> {
    /// Writes to a file; `-` is standard output.
    pub(crate) fn create(path: &Path, first_error: &'t FirstError) -> io::Result<Self> {
        Ok(Out { file: Mutex::new(Output::create(path)?), first_error })
    }

    /// All was written that ever will be: the file appears. Gives the path where it did.
    pub(crate) fn commit(self, extent: Extent) -> io::Result<Option<PathBuf>> {
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.first_error.is_set() { Ok(None) } else { file.commit(extent) }
    }

    /// Writes all of it, in one piece as others see it.
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

/// The lines of one worker on their way to an [`Out`].
pub(crate) struct Lines<'o> {
    out: &'o Out<'o>,
    pub(crate) bytes: Vec<u8>,
    /// When the first of them was there.
    since: u64,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(out: &'o Out<'o>) -> Self {
        Lines { out, bytes: Vec::with_capacity(FULL + FULL / 2), since: 0 }
    }

    /// To be called where a line has ended, once for a batch or oftener: writes if it is time. A look at the clock, 50 ns.
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

    /// Writes what is there.
    pub(crate) fn flush(&mut self) {
        if !self.bytes.is_empty() {
            self.out.write(&self.bytes);
            self.bytes.clear();
        }
        self.since = 0;
    }
}
