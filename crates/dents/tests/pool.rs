//! The jobs of a pool under loom: in every interleaving a promised job is run, whatever the other threads do. Each broken variant is
//! detected.
#![allow(missing_docs, dead_code, reason = "tests")]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    use std::cell::Cell;
    pub(crate) use std::sync::{Arc, PoisonError};

    // Loom runs all threads of a model on one system thread.
    std::thread_local!(pub(crate) static FAULT: Cell<&'static str> = const { Cell::new("") });

    pub(crate) fn broken(fault: &str) -> bool {
        FAULT.get() == fault
    }
}
#[path = "../src/jobs.rs"]
mod jobs;

use jobs::Jobs;
use loom::thread;
use sync::{Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Relaxed};

/// A pool of one thread; which jobs were run, as a sum.
struct Pool {
    jobs: Jobs<usize>,
    run: Mutex<usize>,
    changed: Condvar,
    handles: Mutex<Vec<thread::JoinHandle<()>>>,
    /// Whether the time of an idle thread has passed before it waits.
    is_late: AtomicUsize,
}

/// A job that waits until [`OTHER`] was run, one that ends all threads, and another one.
const WAITS: usize = 1;
const END: usize = 2;
const OTHER: usize = 4;

impl Pool {
    fn new(is_late: bool) -> Arc<Pool> {
        Arc::new(Pool {
            jobs: Jobs::new(),
            run: Mutex::new(0),
            changed: Condvar::new(),
            handles: Mutex::new(Vec::new()),
            is_late: AtomicUsize::new(usize::from(is_late)),
        })
    }

    fn run(&self, job: usize) {
        match job {
            WAITS => self.wait_for(OTHER),
            END => self.is_late.store(1, Relaxed),
            _ => {}
        }
        *self.run.lock().unwrap() += job;
        self.changed.notify_all();
    }

    fn wait_for(&self, job: usize) {
        let mut run = self.run.lock().unwrap();
        while *run & job == 0 {
            run = self.changed.wait(run).unwrap();
        }
    }

    /// The time of an idle thread always passes: at the moment of a change, or before.
    fn wait<'g, T>(&self, changed: &Condvar, state: MutexGuard<'g, T>) -> (MutexGuard<'g, T>, bool) {
        let state = if self.is_late.load(Relaxed) == 1 { state } else { changed.wait(state).unwrap() };
        (state, true)
    }

    fn submit(pool: &Arc<Pool>, job: usize) -> bool {
        pool.jobs.submit(job, 1, &|| {
            let own = Arc::clone(pool);
            let work = move || own.jobs.work(|job| own.run(job), |changed, state| own.wait(changed, state));
            pool.handles.lock().unwrap().push(thread::spawn(work));
            true
        })
    }

    fn join(&self) {
        let handles = std::mem::take(&mut *self.handles.lock().unwrap());
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}

fn explore(fault: &'static str, model: impl Fn() + Sync + Send + 'static) {
    sync::FAULT.set(fault);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// The second job comes when the thread may be about to end.
fn one_after_the_other(fault: &'static str, is_late: bool) {
    explore(fault, move || {
        let pool = Pool::new(is_late);
        assert!(Pool::submit(&pool, OTHER), "a thread is started");
        pool.wait_for(OTHER);
        // The thread is on its way back, or has ended.
        Pool::submit(&pool, END);
        pool.join();
        assert_eq!(*pool.run.lock().unwrap(), OTHER + END);
    });
}

#[test]
fn a_thread_that_ends_takes_what_comes_meanwhile() {
    one_after_the_other("", false);
    one_after_the_other("", true);
}

#[test]
#[should_panic(expected = "assertion")]
fn a_thread_that_ends_without_a_look_is_noticed() {
    one_after_the_other("a thread ends without a look", false);
}

/// The thread runs a job that ends only after another one. That one has no promise, so that its owner runs it.
fn one_needs_the_other(fault: &'static str) {
    explore(fault, || {
        let pool = Pool::new(false);
        assert!(Pool::submit(&pool, WAITS), "a thread is started");
        if !Pool::submit(&pool, OTHER) && pool.jobs.withdraw(|job| *job == OTHER) {
            pool.run(OTHER);
        }
        pool.wait_for(OTHER);
        pool.wait_for(WAITS);
        Pool::submit(&pool, END);
        pool.join();
    });
}

#[test]
fn a_job_without_a_promise_can_be_withdrawn() {
    one_needs_the_other("");
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_thread_that_is_promised_twice_is_noticed() {
    one_needs_the_other("a thread is promised twice");
}
