//! The jobs of a pool and its threads: a queue, and threads that are started at need and end when they have had nothing to do.
//!
//! ```text
//! submit ─► queue ─► thread: next, run, next … ─► ends after a time without a job
//!             └────► withdraw: the caller does it
//! ```
//!
//! A job is *promised* if a thread is free for it: an idle thread, or a new one, that none of the jobs before it needs. Jobs are taken in
//! order, so a promise is kept whatever the other threads do. A job without a promise may wait as long as the jobs that run, perhaps
//! for ever; its owner may withdraw it.
//!
//! `tests/pool.rs` executes this file under loom, with loom's `sync`.

use super::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, PoisonError, Relaxed, broken};
use std::collections::VecDeque;

pub(crate) struct Jobs<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    /// Jobs in the queue that no thread is free for, to look at without the lock. (A promised job is taken soon; for it nobody needs to make
    /// room.)
    waiting: AtomicUsize,
}

pub(crate) struct State<J> {
    queue: VecDeque<J>,
    threads: usize,
    /// Threads that take a job next; those that do not run yet are among them.
    idle: usize,
}

impl<J> Jobs<J> {
    pub(crate) fn new() -> Jobs<J> {
        let state = State { queue: VecDeque::new(), threads: 0, idle: 0 };
        Jobs { state: Mutex::new(state), changed: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a job waits for a thread. The answer may be outdated at once.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Queues a job. `start` starts a thread, which calls [`work`](Self::work), and returns whether it could; there are up to `most`
    /// threads. Returns whether the job is promised.
    pub(crate) fn submit(&self, job: J, most: usize, start: &dyn Fn() -> bool) -> bool {
        let mut state = self.lock();
        let is_promised = state.has_thread(most, start);
        self.queue(&mut state, job, is_promised);
        is_promised
    }

    /// Queues a job if it can be promised. Returns whether it was.
    pub(crate) fn offer(&self, job: J, most: usize, start: &dyn Fn() -> bool) -> bool {
        let mut state = self.lock();
        let is_promised = state.has_thread(most, start);
        if is_promised {
            self.queue(&mut state, job, is_promised);
        }
        is_promised
    }

    fn queue(&self, state: &mut State<J>, job: J, is_promised: bool) {
        state.queue.push_back(job);
        self.count(state);
        if is_promised {
            self.changed.notify_one();
        }
    }

    fn count(&self, state: &State<J>) {
        self.waiting.store(state.queue.len().saturating_sub(state.idle), Relaxed);
    }

    /// Removes a job from the queue. Returns whether it was there.
    pub(crate) fn withdraw(&self, is_it: impl Fn(&J) -> bool) -> bool {
        let mut state = self.lock();
        let Some(at) = state.queue.iter().position(is_it) else { return false };
        let job = state.queue.remove(at);
        self.count(&state);
        drop(state);
        job.is_some()
    }

    /// A thread of the pool: runs jobs. `wait` waits for a change, and returns true if a thread with nothing to do should end.
    pub(crate) fn work(
        &self,
        run: impl Fn(J),
        wait: impl for<'g> Fn(&Condvar, MutexGuard<'g, State<J>>) -> (MutexGuard<'g, State<J>>, bool),
    ) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                state.idle -= 1;
                drop(state);
                run(job);
                state = self.lock();
                state.idle += 1;
                self.count(&state);
                continue;
            }
            let (after, is_long) = wait(&self.changed, state);
            state = after;
            if is_long && (state.queue.is_empty() || broken("a thread ends without a look")) {
                (state.idle, state.threads) = (state.idle - 1, state.threads - 1);
                return;
            }
        }
    }
}

impl<J> State<J> {
    /// Whether a thread is free for one more job.
    fn has_thread(&mut self, most: usize, start: &dyn Fn() -> bool) -> bool {
        let before = if broken("a thread is promised twice") { 0 } else { self.queue.len() };
        while self.idle <= before && self.threads < most && start() {
            (self.idle, self.threads) = (self.idle + 1, self.threads + 1);
        }
        self.idle > before
    }
}
