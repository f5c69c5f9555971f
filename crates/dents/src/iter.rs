//! Walks by entries.

use crate::batch::{Sieve, error_of};
use crate::entry::Block;
use crate::filter::State;
use crate::ordered::Ordered;
use crate::threads::Threads;
use crate::{Entry, Error, Step, Walk};
use dents_core::batch as core;
use dents_core::tree::{self, Failure, Place, Visitor};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Loads that wait for the caller: some megabytes at most.
const AHEAD: usize = 32;

/// A thread hands over what it found once there are so many entries, or once this time has passed: to wake the caller for each
/// small directory took half as long as the walk.
const LOAD: usize = 512;
const LOAD_TIME: Duration = Duration::from_millis(1);

/// The entries of a [`Walk`].
///
/// Dropping it ends the walk: it waits until each thread's request in flight is answered.
pub struct IntoIter(Source);

enum Source {
    /// On threads of its own.
    Threads(Stream),
    /// In an order, or on the calling thread.
    Ordered(Box<Ordered>),
}

/// What threads find, in the order in which they find it.
struct Stream {
    loads: Option<Receiver<Vec<Found>>>,
    load: std::vec::IntoIter<Found>,
    now: Arc<Block>,
    next: usize,
    cancel: crate::Cancel,
    walk: Option<JoinHandle<()>>,
}

enum Found {
    Block(Box<Block>),
    Failed(Box<Error>),
}

impl IntoIter {
    pub(crate) fn new(walk: Walk) -> IntoIter {
        if walk.is_ordered() || walk.threads == Some(1) {
            return IntoIter(Source::Ordered(Box::new(Ordered::new(walk))));
        }
        let (sender, loads) = sync_channel(AHEAD);
        let own = crate::Cancel::default();
        let (cancel, kept_walk) = (own.clone(), walk.clone());
        match Builder::new().name("dents".to_owned()).spawn(move || search(&walk, &own, &sender)) {
            Ok(thread) => IntoIter(Source::Threads(Stream {
                loads: Some(loads),
                load: Vec::new().into_iter(),
                now: Arc::default(),
                next: 0,
                cancel,
                walk: Some(thread),
            })),
            // No thread can be started: the calling one does it.
            Err(_) => IntoIter(Source::Ordered(Box::new(Ordered::new(kept_walk)))),
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
            match self.load.next() {
                Some(Found::Block(block)) => (self.now, self.next) = (Arc::from(block), 0),
                Some(Found::Failed(error)) => return Some(Err(*error)),
                None => match self.loads.as_ref()?.recv() {
                    Ok(load) => self.load = load.into_iter(),
                    Err(_) => {
                        self.loads = None;
                        self.join();
                        return None;
                    }
                },
            }
        }
    }

    /// Passes on a panic of the walk's threads: a filter's, say.
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
        // Threads that wait for room see that the caller takes no more.
        self.loads = None;
        self.join();
    }
}

fn search(walk: &Walk, own: &crate::Cancel, sender: &SyncSender<Vec<Found>>) {
    let roots = walk.c_roots();
    let roots: Vec<&CStr> = roots.iter().map(CString::as_c_str).collect();
    let make = |_| {
        let (sender, load, since) = (sender.clone(), Vec::new(), Instant::now());
        Sender { sieve: Sieve::new(walk), own, sender, load, entries: 0, since }
    };
    tree::walk(&roots, &walk.options(), &Threads, make);
}

struct Sender<'w> {
    sieve: Sieve<'w>,
    own: &'w crate::Cancel,
    sender: SyncSender<Vec<Found>>,
    /// What was found and not handed over: so many entries, since then.
    load: Vec<Found>,
    entries: usize,
    since: Instant,
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl Sender<'_> {
    fn send(&mut self, found: Found, entries: usize) -> Step {
        self.load.push(found);
        self.entries += entries;
        let is_due = self.entries >= LOAD || self.since.elapsed() >= LOAD_TIME;
        if self.own.is_cancelled() || is_due && !self.hand_over() { Step::Stop } else { Step::Enter }
    }

    /// False if the caller takes no more.
    fn hand_over(&mut self) -> bool {
        let load = std::mem::take(&mut self.load);
        (self.entries, self.since) = (0, Instant::now());
        load.is_empty() || self.sender.send(load).is_ok()
    }
}

impl Visitor for Sender<'_> {
    type State = State;

    fn opened(&mut self, place: &Place<'_>, state: &mut State) -> Step {
        self.sieve.opened(place, state)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &core::Batch, state: &State) -> Step {
        if !self.sieve.take(place, batch, state) || batch.is_empty() {
            return if self.own.is_cancelled() { Step::Stop } else { Step::Enter };
        }
        let (path, depth) = (place.path.to_vec(), place.depth as usize);
        let Sieve { walk, kept } = &self.sieve;
        let block = Block { path, depth, follow: walk.follow, batch: batch.clone(), kept: kept.clone() };
        let entries = block.batch.len();
        self.send(Found::Block(Box::new(block)), entries)
    }

    fn descend(&mut self, _: &Place<'_>, entry: &core::Entry<'_>, _: &State) -> Step {
        self.sieve.descend(entry)
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.send(Found::Failed(Box::new(error_of(failure))), 1)
    }
}
