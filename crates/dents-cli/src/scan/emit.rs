//! The output of one worker: paths, lines of a format, rows, or nothing.

use super::origin::Origin;
use dents_core::batch::{Batch, Entry};
use dents_core::tree::{Failure, Place};

/// Receives the entries of one worker that pass the filter. Errors are kept in [`FirstError`](super::out::FirstError), which ends the walk.
pub(crate) trait Emit: Send {
    /// A batch begins, whether or not one of its entries passes.
    fn directory(&mut self, place: &Place<'_>) {
        let _ = place;
    }

    /// The walk is about to enter a subdirectory of the batch: whether it shall.
    fn enters(&mut self, name: &[u8]) -> bool {
        let _ = name;
        true
    }

    /// A batch begins, and some of its entries may follow.
    fn begin(&mut self, place: &Place<'_>, batch: &Batch) {
        let _ = (place, batch);
    }

    /// An entry of the batch.
    fn entry(&mut self, place: &Place<'_>, origin: &Origin, entry: &Entry<'_>);

    /// All entries of the batch.
    fn all(&mut self, place: &Place<'_>, origin: &Origin, batch: &Batch) {
        for entry in batch.iter() {
            self.entry(place, origin, &entry);
        }
    }

    /// A directory could not be entered, or not read to its end.
    fn failed(&mut self, failure: &Failure<'_>) {
        let _ = failure;
    }

    /// The batch ends: a good time to write.
    fn end(&mut self) {}

    /// The walk has ended.
    fn finish(&mut self) {}

    /// Whether entries that could not be stat'ed are given too.
    fn takes_faults(&self) -> bool {
        false
    }
}

/// `-q`: no output.
pub(crate) struct Nothing;

impl Emit for Nothing {
    fn entry(&mut self, _: &Place<'_>, _: &Origin, _: &Entry<'_>) {}

    fn all(&mut self, _: &Place<'_>, _: &Origin, _: &Batch) {}
}
