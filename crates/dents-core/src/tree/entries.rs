//! A walk on one thread, asked for batch after batch.

use super::shared::Shared;
use super::visitor::{Failure, Place, Step};
use super::worker::{Ready, Worker};
use super::{End, Options, Tally};
use crate::batch::Batch;
use alloc::vec::Vec;
use core::ffi::CStr;

/// The entries of a hierarchy: depth first, a directory's own before those of its subdirectories.
///
/// ```
/// use dents_core::tree::{Entries, Item, Options};
///
/// let options = Options::default();
/// let mut entries = Entries::new(&[c"/usr/share/doc"], &options);
/// let mut names = 0;
/// while let Some(item) = entries.next_item() {
///     match item {
///         Item::Entries(place, batch) => {
///             names += batch.len();
///             if place.depth == 2 {
///                 entries.skip_all();
///             }
///         }
///         Item::Failed(failure) => eprintln!("{}: {}", failure.path.escape_ascii(), failure.errno),
///     }
/// }
/// assert!(names > 0);
/// ```
pub struct Entries<'o> {
    shared: Shared<'o, ()>,
    worker: Worker<()>,
    /// Whether a batch was given whose subdirectories are not collected yet.
    given: bool,
    skip_all: bool,
    skip: Vec<usize>,
}

/// What comes next.
pub enum Item<'a> {
    /// Entries of a directory; all of them or a piece.
    Entries(Place<'a>, &'a Batch),
    /// A directory that could not be opened or read.
    Failed(Failure<'a>),
}

impl<'o> Entries<'o> {
    /// Stats the operands: one `statx` each.
    #[must_use]
    pub fn new(operands: &[&CStr], options: &'o Options<'o>) -> Self {
        let shared = Shared::new(options);
        let mut worker = Worker::new(0, &shared);
        worker.give_operands(operands, &shared);
        Entries { shared, worker, given: false, skip_all: false, skip: Vec::new() }
    }

    /// The next batch, or failure; nothing at the end, whatever its reason ([`Entries::end`]).
    pub fn next_item(&mut self) -> Option<Item<'_>> {
        if core::mem::take(&mut self.given) {
            let enters = !core::mem::take(&mut self.skip_all);
            let skip = &self.skip;
            self.worker.collect(&self.shared, enters, |_, entry, ()| {
                if skip.contains(&entry.index()) { Step::Skip } else { Step::Enter }
            });
            self.skip.clear();
        }
        match self.worker.prepare(&self.shared)? {
            Ready::Failed(failure) => Some(Item::Failed(self.worker.failure(failure))),
            Ready::Entries => {
                self.given = true;
                Some(Item::Entries(self.worker.place(&self.shared), self.worker.batch()))
            }
        }
    }

    /// Does not enter the directory that is the entry at this position of the batch given last.
    pub fn skip(&mut self, index: usize) {
        self.skip.push(index);
    }

    /// Enters none of the directories in the batch given last.
    pub fn skip_all(&mut self) {
        self.skip_all = true;
    }

    /// Why it ended.
    #[must_use]
    pub fn end(&self) -> End {
        self.shared.bounds.end()
    }

    /// What was done so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.worker.tally
    }
}
