//! Walks by entries.

use crate::batch::{Exclusions, error_of};
use crate::entry::{Block, join};
use crate::filter::State;
use crate::ordered::Ordered;
use crate::outbox::{Outbox, Outboxes, lock};
use crate::threads::Threads;
use crate::{Entry, Error, Step, Walk};
use dents_core::batch as core;
use dents_core::needs::Kind;
use dents_core::tree::{self, Failure, Place, Visitor};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// The capacity of the channel in messages: some megabytes at most.
const MOST_MESSAGES: usize = 32;

/// Walks by entries that may have threads of their own at a time, where the number of threads is left to the library. An unread walk
/// holds its threads, some descriptors and up to two megabytes.
const PERMITS: usize = 16;

/// The permits that walks hold.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The permit of one walk to have threads.
struct Permit;

impl Permit {
    /// `None` if all are held. A walk never waits for a permit, because an unread walk may hold one for ever.
    fn take() -> Option<Permit> {
        let one_more = |held| (held < PERMITS).then_some(held + 1);
        HELD.try_update(Relaxed, Relaxed, one_more).ok().map(|_| Permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Relaxed);
    }
}

/// The entries of a [`Walk`].
///
/// Dropping it ends the walk. The drop waits until the request in flight of each thread is answered.
pub struct IntoIter(Source);

enum Source {
    /// A parallel walk on its own threads.
    Threads(Stream),
    /// A sorted walk, or a walk on the calling thread.
    Ordered(Box<Ordered>),
}

/// Entries in the order in which the threads find them.
struct Stream {
    messages: Option<Receiver<Vec<Part>>>,
    message: std::vec::IntoIter<Part>,
    now: Arc<Block>,
    next: usize,
    cancel: crate::Cancel,
    skips: Arc<Skips>,
    walk: Option<JoinHandle<()>>,
    /// None if the caller set the number of threads, and from the end of the walk on.
    permit: Option<Permit>,
}

/// Directories whose contents are not wanted any more.
#[derive(Default)]
struct Skips {
    are_any: AtomicBool,
    paths: Mutex<HashSet<Vec<u8>>>,
}

impl Skips {
    fn add(&self, path: Vec<u8>) {
        lock(&self.paths).insert(path);
        self.are_any.store(true, Relaxed);
    }

    /// Whether this directory, or one above it, is skipped: a look-up for each level. A root may end with a slash.
    fn cover(&self, directory: &[u8]) -> bool {
        self.are_any.load(Relaxed) && {
            let paths = lock(&self.paths);
            let ends = (0..directory.len()).filter(|at| directory[*at] == b'/').flat_map(|at| [at, at + 1]);
            ends.chain([directory.len()]).any(|end| paths.contains(&directory[..end]))
        }
    }
}

enum Part {
    Block(Box<Block>),
    Failed(Box<Error>),
}

impl IntoIter {
    pub(crate) fn new(walk: Walk) -> IntoIter {
        let permit = if walk.threads.is_none() { Permit::take() } else { None };
        if walk.is_ordered() || walk.threads.map_or(permit.is_none(), |threads| threads == 1) {
            return IntoIter(Source::Ordered(Box::new(Ordered::new(walk))));
        }
        let (sender, messages) = sync_channel(MOST_MESSAGES);
        let own = crate::Cancel::default();
        let (cancel, fallback, skips) = (own.clone(), walk.clone(), Arc::<Skips>::default());
        let search = {
            let skips = Arc::clone(&skips);
            move || search(&walk, &own, &skips, &sender)
        };
        match Builder::new().name("dents".to_owned()).spawn(search) {
            Ok(thread) => IntoIter(Source::Threads(Stream {
                messages: Some(messages),
                message: Vec::new().into_iter(),
                now: Arc::default(),
                next: 0,
                cancel,
                skips,
                walk: Some(thread),
                permit,
            })),
            // No thread could be started: walk on the calling thread.
            Err(_) => IntoIter(Source::Ordered(Box::new(Ordered::new(fallback)))),
        }
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
                Some(Part::Block(block)) if self.skips.cover(&block.path) => {}
                Some(Part::Block(block)) => (self.now, self.next) = (Arc::from(block), 0),
                Some(Part::Failed(error)) => return Some(Err(*error)),
                None => match self.messages.as_ref()?.recv() {
                    Ok(message) => self.message = message.into_iter(),
                    Err(_) => {
                        self.messages = None;
                        self.join();
                        self.permit = None;
                        return None;
                    }
                },
            }
        }
    }

    fn skip_current_dir(&mut self) {
        let Some(last) = self.next.checked_sub(1) else { return };
        let entry = self.now.batch.entry(last);
        if entry.kind() == Kind::Dir {
            self.skips.add(join(&self.now.path, entry.name()));
        } else if self.now.depth > 0 {
            self.skips.add(self.now.path.clone());
            self.next = self.now.batch.len();
        }
    }

    /// Propagates a panic of a walk thread, such as a filter's.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.walk.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.cancel.cancel();
        // Threads that wait for room in the channel see that the receiver is gone.
        self.messages = None;
        self.join();
    }
}

fn search(walk: &Walk, own: &crate::Cancel, skips: &Skips, sender: &SyncSender<Vec<Part>>) {
    let roots = walk.c_roots();
    let roots: Vec<&CStr> = roots.iter().map(CString::as_c_str).collect();
    let send = |message| sender.send(message).is_ok();
    let boxes: Boxes<'_> = Outboxes::new(&send);
    let make = |number| Sender {
        exclusions: Exclusions::new(walk),
        own,
        skips,
        number,
        outbox: boxes.of(number),
        boxes: &boxes,
    };
    let end = tree::walk(&roots, &walk.options(), &Threads, make).end;
    let errors = walk.invalid_roots().chain(walk.error_of_end(end));
    // The receiver may be gone.
    let _ = sender.send(errors.map(|error| Part::Failed(Box::new(error))).collect());
}

/// The state of a directory, and the number of the thread that opened it: in its outbox, if not yet sent, are the entries of the
/// directories above. Roots are passed by the first thread.
#[derive(Clone, Default)]
struct Opened {
    state: State,
    by: usize,
}

type Boxes<'s> = Outboxes<Part, &'s (dyn Fn(Vec<Part>) -> bool + Sync)>;

struct Sender<'w> {
    exclusions: Exclusions<'w>,
    own: &'w crate::Cancel,
    skips: &'w Skips,
    number: usize,
    outbox: Arc<Mutex<Outbox<Part>>>,
    boxes: &'w Boxes<'w>,
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        self.boxes.send(&mut lock(&self.outbox));
    }
}

impl Sender<'_> {
    /// A directory comes before its contents: what the thread that has its entry has not sent yet is sent before what this one finds.
    fn send_above(&self, by: usize) {
        if by != self.number {
            self.boxes.send_of(by);
        }
    }

    fn send(&mut self, part: Part, entries: usize, at_once: bool) -> Step {
        let mut outbox = lock(&self.outbox);
        let is_due = outbox.add(part, entries) || at_once;
        if self.own.is_cancelled() || is_due && !self.boxes.send(&mut outbox) {
            Step::Stop
        } else {
            Step::Enter
        }
    }
}

impl Visitor for Sender<'_> {
    type State = Opened;

    fn opened(&mut self, place: &Place<'_>, opened: &mut Opened) -> Step {
        self.send_above(opened.by);
        opened.by = self.number;
        self.exclusions.opened(place, &mut opened.state)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &core::Batch, opened: &Opened) -> Step {
        if !self.exclusions.take(place, batch, &opened.state) || batch.is_empty() {
            return if self.own.is_cancelled() { Step::Stop } else { Step::Enter };
        }
        self.send_above(opened.by);
        let (path, depth) = (place.path.to_vec(), place.depth as usize);
        let Exclusions { walk, kept } = &self.exclusions;
        let block = Block { path, depth, follow: walk.follow, batch: batch.clone(), kept: kept.clone() };
        let entries = block.batch.len();
        // A part of a large directory may come from a thread that did not open it: its subdirectories do not know that thread.
        let is_part = place.piece.index > 0 || !place.piece.last;
        self.send(Part::Block(Box::new(block)), entries, is_part)
    }

    fn descend(&mut self, place: &Place<'_>, entry: &core::Entry<'_>, _: &Opened) -> Step {
        let is_skipped =
            self.skips.are_any.load(Relaxed) && self.skips.cover(&join(place.path, entry.name()));
        if is_skipped { Step::Skip } else { self.exclusions.descend(entry) }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.send(Part::Failed(Box::new(error_of(failure))), 1, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_covers_what_is_below_and_nothing_that_begins_alike() {
        let skips = Skips::default();
        assert!(!skips.cover(b"t/a"));
        ["t/a", "r/", "/x"].iter().for_each(|path| skips.add(path.as_bytes().to_vec()));
        for path in ["t/a", "t/a/b/c", "r/", "r/a", "/x", "/x/y"] {
            assert!(skips.cover(path.as_bytes()), "{path}");
        }
        for path in ["t", "t/ab", "t/b/t/a", "r", "x", "/xy", "/", ""] {
            assert!(!skips.cover(path.as_bytes()), "{path}");
        }
    }
}
