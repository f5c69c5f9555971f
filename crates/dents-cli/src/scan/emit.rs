//! What one worker makes of the entries that are wanted: paths, lines of a format, rows, or nothing.

use super::origin::Origin;
use dents_core::batch::{Batch, Entry};
use dents_core::tree::{Failure, Place};

/// One worker's way to the output. Errors are kept by the output, which ends the walk.
pub(crate) trait Emit: Send {
    /// A batch comes, whether or not an entry of it is wanted.
    fn directory(&mut self, place: &Place<'_>) {
        let _ = place;
    }

    /// A subdirectory of it is to be entered: whether the output has no objection.
    fn enters(&mut self, name: &[u8]) -> bool {
        let _ = name;
        true
    }

    /// A batch comes, of which some entries will be given.
    fn begin(&mut self, place: &Place<'_>, batch: &Batch) {
        let _ = (place, batch);
    }

    /// An entry of it.
    fn entry(&mut self, place: &Place<'_>, origin: &Origin, entry: &Entry<'_>);

    /// All entries of it.
    fn all(&mut self, place: &Place<'_>, origin: &Origin, batch: &Batch) {
        for entry in batch.iter() {
            self.entry(place, origin, &entry);
        }
    }

    /// A directory could not be entered, or not read to its end.
    fn failed(&mut self, failure: &Failure<'_>) {
        let _ = failure;
    }

    /// The batch ends: the moment to write.
    fn end(&mut self) {}

    /// Nothing more will come.
    fn finish(&mut self) {}

    /// Whether an entry that could not be stat'ed is given all the same.
    fn takes_faults(&self) -> bool {
        false
    }
}

/// `-q`: nothing is shown.
pub(crate) struct Nothing;

impl Emit for Nothing {
    fn entry(&mut self, _: &Place<'_>, _: &Origin, _: &Entry<'_>) {}

    fn all(&mut self, _: &Place<'_>, _: &Origin, _: &Batch) {}
}
