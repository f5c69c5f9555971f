//! A walk by entries: its tree, which threads of a pool walk in turns, and what they send to the caller.

use crate::batch::{Exclusions, error_of};
use crate::entry::{Block, join};
use crate::feed::{Feed, Queue, Taken};
use crate::filter::State;
use crate::outbox::{Outbox, Outboxes, lock};
use crate::pool::Pool;
use crate::{Error, Step, Walk};
use dents_core::batch as core;
use dents_core::tree::{Failure, Left, Pausable, Place, Visitor};
use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A walk leaves its threads to others after this time, if others wait.
pub(crate) const TURN: Duration = Duration::from_millis(5);

/// A caller may be late because the threads of its walk use all processors. So a thread without room sleeps so often and so long before it
/// parks the walk: at most two milliseconds. A parked walk costs more: no thread continues before the last one has left, which may be in a
/// large directory. On two free cores, walks of 60,000 entries with sizes took 3 % longer
/// than with threads of their own, and take 1 to 2 % longer with this. Where other processes use the cores, it does not help.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_micros(100);

/// What a directory without entries weighs beside them, in entries.
const BLOCK: usize = 8;

pub(crate) enum Part {
    Block(Box<Block>),
    Failed(Box<Error>),
}

impl Part {
    fn weight(&self) -> usize {
        match self {
            Part::Block(block) => BLOCK + block.batch.len(),
            Part::Failed(_) => BLOCK,
        }
    }
}

/// Directories whose contents are not wanted any more.
#[derive(Default)]
pub(crate) struct Skips {
    are_any: AtomicBool,
    paths: Mutex<HashSet<Vec<u8>>>,
}

impl Skips {
    pub(crate) fn add(&self, path: Vec<u8>) {
        lock(&self.paths).insert(path);
        self.are_any.store(true, Relaxed);
    }

    /// Whether this directory, or one above it, is skipped: a look-up for each level. A root may end with a slash.
    pub(crate) fn cover(&self, directory: &[u8]) -> bool {
        self.are_any.load(Relaxed) && {
            let paths = lock(&self.paths);
            let ends = (0..directory.len()).filter(|at| directory[*at] == b'/').flat_map(|at| [at, at + 1]);
            ends.chain([directory.len()]).any(|end| paths.contains(&directory[..end]))
        }
    }
}

type Boxes = Outboxes<Part, Box<dyn Fn(Vec<Part>) -> bool + Send + Sync>>;

pub(crate) struct Search {
    walk: Walk,
    pool: Pool,
    tree: Pausable<Opened>,
    feed: Arc<Feed<Vec<Part>>>,
    boxes: Boxes,
    pub(crate) skips: Skips,
    /// Of a filter of the walk.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// The walk in the queue of its pool.
struct Queued<'s>(&'s Arc<Search>);

impl Queue for Queued<'_> {
    fn submit(&self) -> bool {
        self.0.pool.submit(self.0, self.0.walk.threads)
    }

    fn withdraw(&self) -> bool {
        self.0.pool.withdraw(self.0)
    }
}

impl Search {
    pub(crate) fn start(walk: Walk) -> Arc<Search> {
        let pool = walk.pool.clone().unwrap_or_else(Pool::shared);
        let mut options = walk.options();
        options.workers = pool.workers(options.workers);
        let feed = Arc::new(Feed::new());
        let receiver = Arc::clone(&feed);
        let send = move |message: Vec<Part>| receiver.push(message.iter().map(Part::weight).sum(), message);
        let search = Arc::new(Search {
            pool,
            tree: Pausable::new(walk.c_roots(), options),
            feed,
            boxes: Outboxes::new(Box::new(send)),
            skips: Skips::default(),
            panic: Mutex::default(),
            walk,
        });
        search.feed.start(&Queued(&search));
        search
    }

    /// The next message; `None` at the end. Propagates a panic of a thread, such as a filter's.
    pub(crate) fn next(self: &Arc<Search>) -> Option<Vec<Part>> {
        loop {
            match self.feed.take(&Queued(self)) {
                Taken::Message(message) => return Some(message),
                Taken::Turn => self.lead(),
                Taken::End => {
                    self.propagate();
                    return None;
                }
            }
        }
    }

    /// Ends the walk; waits for the requests in flight.
    pub(crate) fn abandon(self: &Arc<Search>) {
        self.feed.abandon(&Queued(self));
        self.tree.end();
        if !thread::panicking() {
            self.propagate();
        }
    }

    fn propagate(&self) {
        let panic = lock(&self.panic).take();
        if let Some(panic) = panic {
            std::panic::resume_unwind(panic);
        }
    }

    /// On a thread of the pool: a turn.
    pub(crate) fn begin(self: &Arc<Search>) {
        if self.feed.begin() {
            self.lead();
        }
    }

    fn lead(self: &Arc<Search>) {
        let call = |helpers| self.pool.call_helpers(self, helpers);
        self.turn(|| self.tree.lead(&|number| self.sender(number), &call));
    }

    /// On a thread of the pool: a part in the turn that is going on.
    pub(crate) fn help(self: &Arc<Search>) {
        self.turn(|| self.tree.help(&|number| self.sender(number)));
    }

    fn turn(self: &Arc<Search>, work: impl FnOnce() -> Left) {
        let left = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            lock(&self.panic).get_or_insert(panic);
            self.tree.leave_in_panic()
        });
        match left {
            Left::Others => {}
            Left::Paused => self.feed.pause(&Queued(self)),
            Left::Ended(end) => {
                let errors = self.walk.invalid_roots().chain(self.walk.error_of_end(end));
                let errors: Vec<_> = errors.map(|error| Part::Failed(Box::new(error))).collect();
                self.feed.push(errors.len(), errors);
                self.feed.end();
            }
        }
    }

    fn sender(&self, number: usize) -> Sender<'_> {
        let (exclusions, outbox) = (Exclusions::new(&self.walk), self.boxes.of(number));
        Sender { search: self, exclusions, number, outbox, began: Instant::now() }
    }
}

/// The state of a directory, and the number of the thread that opened it: in its outbox, if not yet sent, are the entries of the
/// directories above. Roots are passed by the first thread.
#[derive(Clone, Default)]
struct Opened {
    state: State,
    by: usize,
}

/// A thread in a turn of a walk.
struct Sender<'s> {
    search: &'s Search,
    exclusions: Exclusions<'s>,
    number: usize,
    outbox: Arc<Mutex<Outbox<Part>>>,
    began: Instant,
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        self.search.boxes.send(&mut lock(&self.outbox));
    }
}

impl Sender<'_> {
    /// A directory comes before its contents: what the thread that has its entry has not sent yet is sent before what this one finds.
    fn send_above(&self, by: usize) {
        if by != self.number {
            self.search.boxes.send_of(by);
        }
    }

    fn send(&mut self, part: Part, entries: usize, at_once: bool) -> Step {
        let mut outbox = lock(&self.outbox);
        let is_due = outbox.add(part, entries) || at_once;
        if is_due && !self.search.boxes.send(&mut outbox) { Step::Stop } else { Step::Enter }
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
            return Step::Enter;
        }
        self.send_above(opened.by);
        let (path, depth) = (place.path.to_vec(), place.depth as usize);
        let Exclusions { walk, kept } = &self.exclusions;
        let block = Block { path, depth, follow: walk.follow, batch: batch.clone(), kept: kept.clone() };
        let entries = block.batch.len();
        // A part of a large directory, or what another turn continues, may come from a thread that did not open the directory: its
        // subdirectories do not know this thread.
        let at_once = place.piece.index > 0 || !place.piece.last || opened.by != self.number;
        self.send(Part::Block(Box::new(block)), entries, at_once)
    }

    fn descend(&mut self, place: &Place<'_>, entry: &core::Entry<'_>, _: &Opened) -> Step {
        let skips = &self.search.skips;
        let is_skipped = skips.are_any.load(Relaxed) && skips.cover(&join(place.path, entry.name()));
        if is_skipped { Step::Skip } else { self.exclusions.descend(entry) }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.send(Part::Failed(Box::new(error_of(failure))), 1, false)
    }

    fn pauses(&mut self) -> bool {
        let Search { feed, pool, .. } = self.search;
        if pool.is_wanted() && self.began.elapsed() >= TURN {
            return true;
        }
        let mut looks = 0;
        while feed.is_full() {
            if looks == LOOKS || pool.is_wanted() || !feed.may_get_room() {
                return true;
            }
            thread::sleep(LOOK);
            looks += 1;
        }
        false
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
