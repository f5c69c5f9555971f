//! What the threads of a walk have found and not sent yet, so that a directory is received before its contents.
//!
//! A thread sends many entries at once. Meanwhile another one may take over a subdirectory and be faster. So a thread that enters a
//! directory first sends what the thread with the entry of that directory has not sent ([`Outboxes::send_of`]), or waits until that is
//! sent. A thread holds the lock of one outbox at a time, and the receiver holds none, so nothing waits in a circle.
//!
//! `tests/outbox.rs` executes this file under loom, with loom's `sync`.

use super::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A message is due when it has this many entries, or when this time has passed since the last one. An earlier version woke the caller
/// for each small directory, which took half of the walk's time.
const MOST_ENTRIES: usize = 512;
const MOST_TIME: Duration = Duration::from_millis(1);

/// What a thread has not sent yet.
pub(crate) struct Outbox<P> {
    message: Vec<P>,
    /// The number of its entries, and the time of the last message.
    entries: usize,
    since: Instant,
}

impl<P> Outbox<P> {
    /// Adds a part with so many entries. Returns whether the message is due.
    pub(crate) fn add(&mut self, part: P, entries: usize) -> bool {
        self.message.push(part);
        self.entries += entries;
        self.entries >= MOST_ENTRIES || self.since.elapsed() >= MOST_TIME
    }

    /// Takes the message.
    pub(crate) fn take(&mut self) -> Vec<P> {
        (self.entries, self.since) = (0, Instant::now());
        std::mem::take(&mut self.message)
    }
}

type Shared<P> = Arc<Mutex<Outbox<P>>>;

/// The outboxes of all threads, by their numbers. `S` sends a message, and returns false if the receiver is gone.
pub(crate) struct Outboxes<P, S> {
    all: Mutex<Vec<(usize, Shared<P>)>>,
    send: S,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P, S: Fn(Vec<P>) -> bool> Outboxes<P, S> {
    pub(crate) fn new(send: S) -> Outboxes<P, S> {
        Outboxes { all: Mutex::new(Vec::new()), send }
    }

    /// The outbox of the thread with this number. In another turn of the walk another thread may have the number.
    pub(crate) fn of(&self, number: usize) -> Shared<P> {
        let mut all = lock(&self.all);
        if let Some((_, outbox)) = all.iter().find(|(one, _)| *one == number) {
            return Arc::clone(outbox);
        }
        let outbox = Outbox { message: Vec::new(), entries: 0, since: Instant::now() };
        let outbox = Arc::new(Mutex::new(outbox));
        all.push((number, Arc::clone(&outbox)));
        outbox
    }

    /// Sends what is in an outbox. Returns false if the receiver is gone. Its lock is held meanwhile: a thread that needs this sent
    /// before its own waits for that.
    pub(crate) fn send(&self, outbox: &mut Outbox<P>) -> bool {
        let message = outbox.take();
        message.is_empty() || (self.send)(message)
    }

    /// Sends what the thread with this number has not sent.
    pub(crate) fn send_of(&self, number: usize) {
        let found =
            lock(&self.all).iter().find(|(one, _)| *one == number).map(|(_, outbox)| Arc::clone(outbox));
        if let Some(outbox) = found {
            self.send(&mut lock(&outbox));
        }
    }
}
