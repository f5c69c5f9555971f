//! `order::queue` and `growing`: no task is lost, left parked or left unshared, and workers start for tasks that
//! no running worker takes.

use super::{GROWING, explore, explore_within};
use dents_engine::Fault;
use dents_engine::board::Chunk;
use dents_engine::crew::Crew;
use dents_engine::growing::Growing;
use dents_engine::limit::Limit;
use dents_engine::order::queue::Queue;
use dents_engine::task::{Kind, Task};
use dents_engine::wait::Events;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

enum Job {
    /// Entries for several workers.
    Ask(Arc<Chunk<usize>>),
    /// A read, and whether the consumer waits for it.
    Read(Arc<AtomicBool>),
    Call,
}

impl Task for Job {
    fn kind(&self) -> Kind {
        match self {
            Job::Ask(_) => Kind::Ask,
            Job::Read(_) => Kind::Read,
            Job::Call => Kind::Call,
        }
    }

    fn width(&self) -> usize {
        if let Job::Ask(chunk) = self { chunk.unclaimed() } else { 1 }
    }

    fn is_awaited(&self) -> bool {
        if let Job::Read(awaited) = self { awaited.load(Ordering::Acquire) } else { true }
    }

    fn share(&self) -> Option<Job> {
        if let Job::Ask(chunk) = self { Some(Job::Ask(chunk.clone())) } else { None }
    }
}

/// A worker finds a read too far ahead while the consumer begins to wait for it.
fn a_parked_read(fault: Option<Fault>) {
    explore(fault, || {
        let shared = Arc::new((Crew::new(Limit::fixed(), 1), Queue::new(1), Events::default()));
        let (awaited, read) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        shared.1.add(1);
        shared.1.push(Job::Read(awaited.clone()));
        let worker = {
            let (shared, read) = (shared.clone(), read.clone());
            thread::spawn(move || {
                shared.0.work(&shared.1, &mut (), |(), _| {
                    read.store(true, Ordering::Release);
                    shared.2.notify_all();
                });
            })
        };
        let (crew, queue, events) = &*shared;
        awaited.store(true, Ordering::Release);
        let unparked = queue.release(0);
        if unparked > 0 {
            crew.announce(unparked);
        }
        events.wait(0, None, || read.load(Ordering::Acquire).then_some(()));
        crew.end();
        worker.join().unwrap();
    });
}

#[test]
fn a_read_that_the_consumer_waits_for_is_not_left_parked() {
    a_parked_read(None);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_read_parked_after_the_consumer_came_is_lost() {
    a_parked_read(Some(Fault::ParkAfterLook));
}

/// Two workers share a wide task; another task is behind it.
fn a_wide_task(fault: Option<Fault>) {
    explore(fault, || {
        let chunk = Arc::new(Chunk::new([0, 0].into_iter()));
        let queue = Queue::new(1);
        queue.push(Job::Call);
        queue.push(Job::Ask(chunk.clone()));
        let shared = Arc::new((Crew::new(Limit::fixed(), 0), queue, AtomicUsize::new(0)));
        let work = |shared: &(Crew, Queue<Job>, AtomicUsize)| {
            shared.0.work(&shared.1, &mut (), |(), job| match job {
                Job::Ask(chunk) => {
                    // Each worker claims one entry: the other entry is for the other worker or the next share.
                    if let Some(slot) = chunk.claim() {
                        let before = chunk.with(slot, |n| *n).unwrap_or(9);
                        chunk.publish(slot, before + 1);
                    }
                }
                _ => {
                    shared.2.fetch_add(1, Ordering::Relaxed);
                }
            });
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || work(&shared))
        };
        work(&shared);
        other.join().unwrap();
        assert_eq!([0, 1].map(|slot| chunk.with(slot, |n| *n)), [Some(1), Some(1)], "each entry, once");
        assert_eq!(shared.2.load(Ordering::Relaxed), 1, "the task behind it, once");
    });
}

#[test]
fn a_wide_task_is_shared_until_its_last_entry_is_claimed() {
    a_wide_task(None);
}

#[test]
#[should_panic(expected = "branches")]
fn a_finished_task_that_stays_keeps_the_next_from_its_turn() {
    a_wide_task(Some(Fault::KeepFinished));
}

/// A consumer waits for one task, then for another whose two entries must be executed at the same time. There is no
/// worker at first.
fn growing(limit: fn() -> Limit, fault: Option<Fault>) {
    explore_within(GROWING, fault, move || {
        let crew = Arc::new(Growing::new(limit(), Queue::new(1)));
        let news = Arc::new((Events::default(), AtomicUsize::new(0)));
        let work = {
            let (crew, news) = (crew.clone(), news.clone());
            move |number| {
                crew.work(number, |_, job| {
                    if let Job::Ask(chunk) = &job {
                        let Some(slot) = chunk.claim() else { return };
                        while chunk.unclaimed() > 0 {
                            thread::yield_now();
                        }
                        chunk.publish(slot, 1);
                    }
                    news.1.fetch_add(1, Ordering::Release);
                    news.0.notify_all();
                });
            }
        };
        let head = {
            let crew = crew.clone();
            thread::spawn(move || {
                let mut workers = Vec::new();
                crew.lead(
                    || 1,
                    |number| {
                        let work = work.clone();
                        workers.push(thread::spawn(move || work(number)));
                        true
                    },
                );
                workers.into_iter().for_each(|worker| worker.join().unwrap());
            })
        };
        let done = |count| {
            news.0.wait(0, None, || (news.1.load(Ordering::Acquire) == count).then_some(()));
        };
        crew.push(Job::Call);
        done(1);
        crew.push(Job::Ask(Arc::new(Chunk::new([0, 0].into_iter()))));
        done(3);
        crew.end();
        head.join().unwrap();
    });
}

#[test]
fn workers_start_for_tasks_that_no_running_worker_takes() {
    growing(|| Limit::counted(2, 2), None);
}

#[test]
#[should_panic(expected = "branches")]
fn a_worker_that_takes_a_task_without_a_wake_keeps_others_from_starting() {
    growing(|| Limit::counted(2, 2), Some(Fault::TakeInSilence));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_head_that_sees_only_the_last_call_misses_the_end() {
    growing(|| Limit::counted(2, 2), Some(Fault::StoreCall));
}
