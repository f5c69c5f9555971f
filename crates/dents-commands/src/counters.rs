//! The numbers of directories and entries that a walk has found so far, and a path of it.

use dents_core::batch::Batch;
use dents_core::tree::Place;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The counters that workers update. A worker never waits for a reader.
#[derive(Default)]
pub struct Counters {
    directories: AtomicU64,
    entries: AtomicU64,
    wants_path: AtomicBool,
    path: Mutex<Vec<u8>>,
}

impl Counters {
    /// Counts a batch: three atomic operations.
    pub(crate) fn saw(&self, place: &Place<'_>, batch: &Batch) {
        self.directories.fetch_add(u64::from(place.piece.index == 0 && place.depth > 0), Relaxed);
        self.entries.fetch_add(batch.len() as u64, Relaxed);
        if self.wants_path.load(Relaxed) && self.wants_path.swap(false, Relaxed) {
            // A path is valid at any time, also after a panic.
            let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
            path.clear();
            path.extend_from_slice(place.path);
        }
    }

    /// Directories and entries.
    pub fn seen(&self) -> [u64; 2] {
        [&self.directories, &self.entries].map(|count| count.load(Relaxed))
    }

    /// The directory that a worker read after the last call, or one before. The next batch brings a new one.
    pub fn path(&self) -> Vec<u8> {
        self.wants_path.store(true, Relaxed);
        self.path.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
