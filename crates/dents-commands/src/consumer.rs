//! The part of a command that receives the entries that pass the filters: one value for each worker.

use crate::entry::Found;
use dents_core::batch::Batch;
use dents_core::tree::{Failure, Place, Step};
use dents_sink::Row;

/// Receives the entries of one worker, from a tree or from a scan file.
pub trait Consumer: Send {
    /// The state that a directory keeps for its entries and passes to its subdirectories.
    type State: Clone + Default + Send + Sync;

    /// An entry that passes. [`Step::Skip`]: if it is a directory of a tree, it is not entered.
    fn entry(&mut self, found: &Found<'_>, state: &Self::State) -> Step;

    /// A directory of a tree that does not pass. It is entered, unless this returns [`Step::Skip`].
    fn passed_over(&mut self, found: &Found<'_>) -> Step {
        let _ = found;
        Step::Enter
    }

    /// A directory of a tree was opened; `state` is that of its parent, and becomes its own.
    fn opened(&mut self, place: &Place<'_>, state: &mut Self::State) -> Step {
        let _ = (place, state);
        Step::Enter
    }

    /// The state of a directory of a scan file, by its path, its depth and the length of its operand. Rows of a directory may come in any
    /// order, and before the row of the directory itself.
    fn recorded(&mut self, path: &[u8], depth: u32, operand: usize) -> Self::State {
        let _ = (path, depth, operand);
        Self::State::default()
    }

    /// A batch of a tree begins. Called even if none of its entries passes.
    fn directory(&mut self, place: &Place<'_>) {
        let _ = place;
    }

    /// A batch of a tree begins, and some of its entries may follow.
    fn begin(&mut self, place: &Place<'_>, batch: &Batch) {
        let _ = (place, batch);
    }

    /// All entries of the batch pass. Returns false if the consumer wants them one by one.
    fn all(&mut self, place: &Place<'_>, batch: &Batch) -> bool {
        let _ = (place, batch);
        false
    }

    /// The batch or the rows of a directory end: a good time to write.
    fn end(&mut self, place: Option<&Place<'_>>) {
        let _ = place;
    }

    /// Returns whether the walk may enter this subdirectory of the batch.
    fn enters(&mut self, name: &[u8]) -> bool {
        let _ = name;
        true
    }

    /// The number of requests that the consumer itself has made since the last call.
    fn requests(&mut self) -> u64 {
        0
    }

    /// A directory of a tree could not be entered, or not read to its end. The error was reported before.
    fn failed(&mut self, failure: &Failure<'_>) {
        let _ = failure;
    }

    /// The row of a directory that could not be entered, or not read to its end.
    fn failed_row(&mut self, row: &Row<'_>) {
        let _ = row;
    }

    /// The work has ended.
    fn finish(&mut self) {}

    /// Whether the consumer receives entries that could not be stat'ed, too.
    fn takes_faults(&self) -> bool {
        false
    }
}
