//! Walks by entries.

use crate::entry::{Block, join};
use crate::ordered::Ordered;
use crate::search::{Part, Search};
use crate::{Entry, Error, Walk};
use dents_core::needs::Kind;
use std::sync::Arc;

/// The entries of a [`Walk`].
///
/// Dropping it ends the walk. The drop waits until the request in flight of each thread is answered.
pub struct IntoIter(Source);

enum Source {
    /// A parallel walk on the threads of a pool.
    Threads(Stream),
    /// A sorted walk, or a walk on the calling thread.
    Ordered(Box<Ordered>),
}

/// Entries in the order in which the threads find them.
struct Stream {
    search: Arc<Search>,
    message: std::vec::IntoIter<Part>,
    now: Arc<Block>,
    next: usize,
}

impl IntoIter {
    pub(crate) fn new(walk: Walk) -> IntoIter {
        if walk.is_ordered() || walk.threads == Some(1) {
            return IntoIter(Source::Ordered(Box::new(Ordered::new(walk))));
        }
        let message = Vec::new().into_iter();
        IntoIter(Source::Threads(Stream {
            search: Search::start(walk),
            message,
            now: Arc::default(),
            next: 0,
        }))
    }

    /// Leaves out what is left of the current directory: of the directory that was yielded last; if the last entry was no directory,
    /// of the one that contains it. Nothing more from there, or from below, is yielded.
    ///
    /// Threads may have read some of it before; they enter no more directories there. To know beforehand what to leave out,
    /// [`filter_entry`](crate::Walk::filter_entry) costs less.
    ///
    /// ```
    /// let mut entries = dents::Walk::new(".").into_iter();
    /// while let Some(entry) = entries.next() {
    ///     if entry.is_ok_and(|entry| entry.file_type().is_dir() && entry.file_name() == "src") {
    ///         entries.skip_current_dir();
    ///     }
    /// }
    /// ```
    pub fn skip_current_dir(&mut self) {
        match &mut self.0 {
            Source::Threads(stream) => stream.skip_current_dir(),
            Source::Ordered(ordered) => ordered.skip_current_dir(),
        }
    }
}

impl Iterator for IntoIter {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Threads(stream) => stream.next(),
            Source::Ordered(ordered) => ordered.next(),
        }
    }
}

impl Stream {
    fn next(&mut self) -> Option<Result<Entry, Error>> {
        loop {
            while self.next < self.now.batch.len() {
                self.next += 1;
                if self.now.keeps(self.next - 1) {
                    return Some(self.now.give(self.next - 1));
                }
            }
            match self.message.next() {
                Some(Part::Block(block)) if self.search.skips.cover(&block.path) => {}
                Some(Part::Block(block)) => (self.now, self.next) = (Arc::from(block), 0),
                Some(Part::Failed(error)) => return Some(Err(*error)),
                None => self.message = self.search.next()?.into_iter(),
            }
        }
    }

    fn skip_current_dir(&mut self) {
        let Some(last) = self.next.checked_sub(1) else { return };
        let entry = self.now.batch.entry(last);
        if entry.kind() == Kind::Dir {
            self.search.skips.add(join(&self.now.path, entry.name()));
        } else if self.now.depth > 0 {
            self.search.skips.add(self.now.path.clone());
            self.next = self.now.batch.len();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.search.abandon();
    }
}
