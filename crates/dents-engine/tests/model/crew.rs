//! `crew`: every task is executed once, and every worker returns when no task is left.

use super::{LARGE, explore, explore_within};
use dents_engine::Fault;
use dents_engine::crew::{Crew, Next, Order};
use dents_engine::limit::Limit;
use dents_engine::lock::Mutex;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// Tasks that produce tasks: each is the number of tasks below it.
struct Stack(Mutex<Vec<u32>>);

impl Order for Stack {
    type Task = u32;
    type Local = ();

    fn next(&self, (): &mut ()) -> Next<u32> {
        self.0.lock().pop().map_or(Next::Later, Next::Task)
    }
}

struct Shared {
    crew: Crew,
    stack: Stack,
    done: AtomicUsize,
}

impl Shared {
    fn new(limit: Limit, producers: u32, tasks: &[u32]) -> Arc<Shared> {
        let (crew, stack) = (Crew::new(limit, producers), Stack(Mutex::new(tasks.to_vec())));
        Arc::new(Shared { crew, stack, done: AtomicUsize::new(0) })
    }

    fn work(&self) {
        self.crew.work(&self.stack, &mut (), |(), below| {
            if below > 0 {
                self.stack.0.lock().push(below - 1);
                self.crew.announce(1);
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        });
    }
}

/// Two workers, and a chain of `deep` tasks.
fn a_tree(limit: fn() -> Limit, deep: u32, fault: Option<Fault>) {
    explore(fault, move || {
        let shared = Shared::new(limit(), 0, &[deep]);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.work())
        };
        shared.work();
        other.join().unwrap();
        assert_eq!(shared.done.load(Ordering::Relaxed), deep as usize + 1, "every task, once");
    });
}

#[test]
fn two_workers_execute_a_tree_and_end() {
    a_tree(Limit::fixed, 2, None);
}

#[test]
fn two_workers_with_a_limit_of_one() {
    a_tree(|| Limit::counted(1, 1), 1, None);
}

#[test]
#[should_panic(expected = "every task, once")]
fn a_worker_that_is_idle_with_a_task_ends_the_crew_too_early() {
    a_tree(Limit::fixed, 2, Some(Fault::IdleWithTask));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_crew_that_ends_without_a_wake_leaves_workers_asleep() {
    a_tree(Limit::fixed, 0, Some(Fault::EndInSilence));
}

/// An outside producer publishes a task and then ends the crew.
fn a_producer(fault: Option<Fault>) {
    explore(fault, || {
        let shared = Shared::new(Limit::counted(1, 1), 1, &[]);
        let workers = [0; 2].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || shared.work())
        });
        shared.stack.0.lock().push(0);
        shared.crew.announce(1);
        while shared.done.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        shared.crew.end();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn workers_serve_a_producer_until_it_ends() {
    a_producer(None);
}

/// One worker may run. Its task lasts until another worker has executed the second task, and the watchdog finds it
/// stuck.
fn replacement(raises: bool) {
    explore_within(LARGE, None, move || {
        let shared = Shared::new(Limit::counted(1, 3), 0, &[0, 0]);
        let workers = [0; 2].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.crew.work(&shared.stack, &mut (), |(), _| {
                    if shared.done.fetch_add(1, Ordering::AcqRel) == 0 {
                        while shared.done.load(Ordering::Acquire) < 2 {
                            thread::yield_now();
                        }
                    }
                });
            })
        });
        if raises {
            shared.crew.set_stuck(1);
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn a_stuck_worker_is_replaced() {
    replacement(true);
}

#[test]
#[should_panic(expected = "branches")]
fn without_replacement_the_second_task_is_never_executed() {
    replacement(false);
}

#[test]
#[should_panic]
fn a_worker_that_leaves_uncounted_takes_the_room_of_others() {
    a_producer(Some(Fault::LeaveUncounted));
}

/// The limit falls from two to one. One worker leaves because of it, with a task just published, while the other finds
/// none. So a crew with a falling limit has a producer, and an order that reports the end.
#[test]
#[should_panic(expected = "every task, once")]
fn a_crew_without_a_producer_may_forget_a_task_when_its_limit_falls() {
    explore(None, || {
        let shared = Shared::new(Limit::counted(1, 2), 0, &[1]);
        shared.crew.set_stuck(1);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.work())
        };
        shared.crew.work(&shared.stack, &mut (), |(), below| {
            shared.crew.set_stuck(0);
            if below > 0 {
                shared.stack.0.lock().push(below - 1);
                shared.crew.announce(1);
            }
            shared.done.fetch_add(1, Ordering::Relaxed);
        });
        other.join().unwrap();
        assert_eq!(shared.done.load(Ordering::Relaxed), 2, "every task, once");
    });
}
