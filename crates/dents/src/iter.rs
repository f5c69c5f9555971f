//! Walks by entries.

use crate::batch::{Exclusions, error_of};
use crate::entry::{Block, join};
use crate::filter::State;
use crate::ordered::Ordered;
use crate::threads::Threads;
use crate::{Entry, Error, Step, Walk};
use dents_core::batch as core;
use dents_core::needs::Kind;
use dents_core::tree::{self, Failure, Place, Visitor};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The capacity of the channel in messages: some megabytes at most.
const MOST_MESSAGES: usize = 32;

/// A thread sends its entries when it has this many, or when this time has passed. An earlier version woke the caller for
/// each small directory, which took half of the walk's time.
const MESSAGE_ENTRIES: usize = 512;
const MESSAGE_TIME: Duration = Duration::from_millis(1);

/// Walks by entries that may have threads of their own at a time, where the number of threads is left to the library. An unread one holds
/// its threads, some descriptors and up to two megabytes.
const WITH_THREADS: usize = 16;

static NOW_WITH_THREADS: AtomicUsize = AtomicUsize::new(0);

/// The right of one walk to threads of its own.
struct Seat;

impl Seat {
    /// `None` if all are taken. Nothing waits for one: it may be held by a walk that nobody reads.
    fn take() -> Option<Seat> {
        let one_more = |taken| (taken < WITH_THREADS).then_some(taken + 1);
        NOW_WITH_THREADS.try_update(Relaxed, Relaxed, one_more).ok().map(|_| Seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        NOW_WITH_THREADS.fetch_sub(1, Relaxed);
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
    seat: Option<Seat>,
}

/// Directories whose contents are not wanted any more.
#[derive(Default)]
struct Skips {
    are_any: AtomicBool,
    paths: Mutex<Vec<Vec<u8>>>,
}

impl Skips {
    fn add(&self, path: Vec<u8>) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        self.are_any.store(true, Relaxed);
    }

    /// Whether this directory, or one above it, is skipped.
    fn cover(&self, directory: &[u8]) -> bool {
        self.are_any.load(Relaxed) && {
            let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
            let is_below =
                |rest: &[u8], path: &[u8]| rest.is_empty() || path.ends_with(b"/") || rest[0] == b'/';
            paths
                .iter()
                .any(|path| directory.strip_prefix(&path[..]).is_some_and(|rest| is_below(rest, path)))
        }
    }
}

enum Part {
    Block(Box<Block>),
    Failed(Box<Error>),
}

impl IntoIter {
    pub(crate) fn new(walk: Walk) -> IntoIter {
        let seat = if walk.threads.is_none() { Seat::take() } else { None };
        if walk.is_ordered() || walk.threads.map_or(seat.is_none(), |threads| threads == 1) {
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
                seat,
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
                        self.seat = None;
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
    let make = |_| {
        let (sender, message, since) = (sender.clone(), Vec::new(), Instant::now());
        Sender { exclusions: Exclusions::new(walk), own, skips, sender, message, entries: 0, since }
    };
    let end = tree::walk(&roots, &walk.options(), &Threads, make).end;
    let errors = walk.invalid_roots().chain(walk.error_of_end(end));
    // The receiver may be gone.
    let _ = sender.send(errors.map(|error| Part::Failed(Box::new(error))).collect());
}

struct Sender<'w> {
    exclusions: Exclusions<'w>,
    own: &'w crate::Cancel,
    skips: &'w Skips,
    sender: SyncSender<Vec<Part>>,
    /// Blocks and errors that were not sent yet; the number of their entries; the time of the last message.
    message: Vec<Part>,
    entries: usize,
    since: Instant,
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        self.send_message();
    }
}

impl Sender<'_> {
    fn send(&mut self, part: Part, entries: usize) -> Step {
        self.message.push(part);
        self.entries += entries;
        let is_due = self.entries >= MESSAGE_ENTRIES || self.since.elapsed() >= MESSAGE_TIME;
        if self.own.is_cancelled() || is_due && !self.send_message() { Step::Stop } else { Step::Enter }
    }

    /// Returns false if the receiver is gone.
    fn send_message(&mut self) -> bool {
        let message = std::mem::take(&mut self.message);
        (self.entries, self.since) = (0, Instant::now());
        message.is_empty() || self.sender.send(message).is_ok()
    }
}

impl Visitor for Sender<'_> {
    type State = State;

    fn opened(&mut self, place: &Place<'_>, state: &mut State) -> Step {
        self.exclusions.opened(place, state)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &core::Batch, state: &State) -> Step {
        if !self.exclusions.take(place, batch, state) || batch.is_empty() {
            return if self.own.is_cancelled() { Step::Stop } else { Step::Enter };
        }
        let (path, depth) = (place.path.to_vec(), place.depth as usize);
        let Exclusions { walk, kept } = &self.exclusions;
        let block = Block { path, depth, follow: walk.follow, batch: batch.clone(), kept: kept.clone() };
        let entries = block.batch.len();
        self.send(Part::Block(Box::new(block)), entries)
    }

    fn descend(&mut self, place: &Place<'_>, entry: &core::Entry<'_>, _: &State) -> Step {
        let is_skipped =
            self.skips.are_any.load(Relaxed) && self.skips.cover(&join(place.path, entry.name()));
        if is_skipped { Step::Skip } else { self.exclusions.descend(entry) }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.send(Part::Failed(Box::new(error_of(failure))), 1)
    }
}
