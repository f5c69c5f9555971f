//! The feed of a walk under loom: in every interleaving the caller gets all messages in order, waits for no thread that is not there, and
//! leaves no thread at work behind. Each broken variant is detected.
#![allow(missing_docs, reason = "tests")]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    use std::cell::Cell;
    pub(crate) use std::sync::{Arc, PoisonError};

    // Loom runs all threads of a model on one system thread.
    std::thread_local!(pub(crate) static FAULT: Cell<&'static str> = const { Cell::new("") });

    pub(crate) fn broken(fault: &str) -> bool {
        FAULT.get() == fault
    }
}
// The model has no caller that is late: `may_get_room` is called between two tasks, in `search.rs`.
#[allow(dead_code)]
#[path = "../src/feed.rs"]
mod feed;

use feed::{Feed, LEAST, Queue, Taken};
use loom::thread;
use sync::{Arc, AtomicBool, Condvar, Mutex, Relaxed};

const MESSAGES: usize = 3;

/// A walk that finds messages, each of which takes all the room, and its pool of one thread.
struct Walk {
    feed: Feed<usize>,
    found: Mutex<usize>,
    at_work: AtomicBool,
    queued: Mutex<Queued>,
    changed: Condvar,
    /// Whether the pool promises its thread.
    promises: bool,
}

#[derive(Default)]
struct Queued {
    is_queued: bool,
    is_closed: bool,
}

impl Queue for Walk {
    fn submit(&self) -> bool {
        self.queued.lock().unwrap().is_queued = true;
        self.changed.notify_all();
        self.promises
    }

    fn withdraw(&self) -> bool {
        std::mem::take(&mut self.queued.lock().unwrap().is_queued)
    }
}

impl Walk {
    fn new(promises: bool) -> Arc<Walk> {
        let walk = Walk {
            feed: Feed::new(),
            found: Mutex::new(0),
            at_work: AtomicBool::new(false),
            queued: Mutex::new(Queued::default()),
            changed: Condvar::new(),
            promises,
        };
        walk.feed.start(&walk);
        Arc::new(walk)
    }

    fn turn(&self) {
        self.at_work.store(true, Relaxed);
        let mut is_over = false;
        while !is_over {
            let mut found = self.found.lock().unwrap();
            is_over = *found == MESSAGES || !self.feed.push(LEAST, *found);
            *found += 1;
            if !is_over && self.feed.is_full() {
                break;
            }
        }
        self.at_work.store(false, Relaxed);
        if is_over { self.feed.end() } else { self.feed.pause(self) }
    }

    /// The thread of the pool, until the pool is closed.
    fn start(walk: &Arc<Walk>) -> thread::JoinHandle<()> {
        let walk = Arc::clone(walk);
        thread::spawn(move || {
            loop {
                let mut queued = walk.queued.lock().unwrap();
                while !queued.is_queued && !queued.is_closed {
                    queued = walk.changed.wait(queued).unwrap();
                }
                if !std::mem::take(&mut queued.is_queued) {
                    return;
                }
                drop(queued);
                if walk.feed.begin() {
                    walk.turn();
                }
            }
        })
    }

    fn close(&self, thread: Option<thread::JoinHandle<()>>) {
        self.queued.lock().unwrap().is_closed = true;
        self.changed.notify_all();
        thread.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Takes up to so many messages.
    fn take(&self, most: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        while taken.len() < most {
            match self.feed.take(self) {
                Taken::Message(message) => taken.push(message),
                Taken::Turn => self.turn(),
                Taken::End => break,
            }
        }
        taken
    }
}

fn explore(fault: &'static str, model: impl Fn() + Sync + Send + 'static) {
    sync::FAULT.set(fault);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Everything is taken, with a thread that the pool promises, or that comes without a promise, or that never comes.
fn taken(fault: &'static str, promises: bool, has_thread: bool) {
    explore(fault, move || {
        let walk = Walk::new(promises);
        let thread = has_thread.then(|| Walk::start(&walk));
        assert_eq!(walk.take(usize::MAX), [0, 1, 2]);
        walk.close(thread);
    });
}

#[test]
fn a_caller_gets_all_from_a_thread() {
    taken("", true, true);
}

#[test]
fn a_caller_gets_all_whether_a_thread_comes_or_not() {
    taken("", false, true);
    taken("", false, false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_thread_that_parks_a_walk_whose_caller_waits_is_noticed() {
    taken("a pause without a look", true, true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_caller_that_waits_without_a_promise_is_noticed() {
    taken("a walk waits for another", false, false);
}

/// The caller leaves after one message, or before.
fn abandoned(fault: &'static str, after: usize) {
    explore(fault, move || {
        let walk = Walk::new(true);
        let thread = Walk::start(&walk);
        walk.take(after);
        walk.feed.abandon(&*walk);
        assert!(!walk.at_work.load(Relaxed), "a thread is at work");
        walk.close(Some(thread));
    });
}

#[test]
fn a_caller_leaves_no_thread_at_work() {
    abandoned("", 0);
    abandoned("", 1);
}

#[test]
#[should_panic(expected = "a thread is at work")]
fn a_caller_that_does_not_wait_for_the_thread_is_noticed() {
    abandoned("a walk goes on without its caller", 1);
}
