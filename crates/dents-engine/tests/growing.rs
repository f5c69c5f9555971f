//! Crews whose workers start as they are needed: which workers start, and which are notified of a task.

#![cfg(not(feature = "model"))]

use dents_engine::crew::watchdog::{Seat, Watchdog};
use dents_engine::growing::Growing;
use dents_engine::limit::Limit;
use dents_engine::order::queue::Queue;
use dents_engine::task::{Kind, Task};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

struct Job<'j>(Box<dyn FnOnce() + Send + 'j>);

impl Task for Job<'_> {
    fn kind(&self) -> Kind {
        Kind::Call
    }
}

fn job<'j>(job: impl FnOnce() + Send + 'j) -> Job<'j> {
    Job(Box::new(job))
}

/// Runs a crew whose head starts threads; returns how many workers it started.
fn lead<'j>(limit: Limit, consumer: impl FnOnce(&Growing<Job<'j>>)) -> u32 {
    let (crew, started) = (Growing::new(limit, Queue::new(1)), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            crew.lead(
                || 1,
                |number| {
                    started.fetch_add(1, Ordering::Relaxed);
                    let crew = &crew;
                    scope.spawn(move || crew.work(number, |_, Job(job)| job()));
                    true
                },
            );
        });
        consumer(&crew);
        crew.end();
    });
    started.into_inner()
}

fn send(sender: &Sender<()>) -> impl FnOnce() + Send + use<> {
    let sender = sender.clone();
    move || sender.send(()).expect("the consumer waits")
}

#[test]
fn a_worker_that_takes_one_of_two_tasks_tells_another() {
    let started = lead(Limit::counted(2, 2), |crew| {
        // Two workers, both idle afterwards.
        let ((first, came), (sender, done)) = (channel(), channel());
        crew.push(job(send(&sender)));
        crew.push(job(move || {
            came.recv_timeout(LONG).expect("the consumer sends");
        }));
        done.recv_timeout(LONG).expect("the other worker executes it");
        first.send(()).expect("a worker waits");
        while crew.limit().running() > 0 || crew.queue().width(1) > 0 {
            thread::yield_now();
        }
        // Both sleep: a worker that still spins would look again by itself.
        thread::sleep(Duration::from_millis(20));
        // Two tasks and one announcement: the first waits for the second.
        let (second, came) = channel();
        let (sender, done) = channel();
        let told = send(&sender);
        crew.queue().push(job(send(&second)));
        crew.queue().push(job(move || {
            if came.recv_timeout(LONG).is_ok() {
                told();
            }
        }));
        crew.announce(1);
        done.recv_timeout(LONG).expect("the second task was executed beside the first");
    });
    assert_eq!(started, 2);
}

#[test]
fn a_worker_that_has_not_begun_counts() {
    let (gate, open) = channel::<()>();
    let (crew, started) = (Growing::new(Limit::counted(2, 4), Queue::new(1)), AtomicU32::new(0));
    let (crew, started) = (&crew, &started);
    thread::scope(|scope| {
        let mut open = Some(open);
        scope.spawn(move || {
            crew.lead(
                || 1,
                |number| {
                    started.fetch_add(1, Ordering::AcqRel);
                    // The second worker comes late.
                    let open = if number == 1 { open.take() } else { None };
                    scope.spawn(move || {
                        let _ = open.map(|open| open.recv_timeout(LONG));
                        crew.work(number, |_, Job(job)| job());
                    });
                    true
                },
            );
        });
        let (first, came) = channel::<()>();
        let (sender, done) = channel();
        crew.push(job(move || {
            let _ = came.recv_timeout(LONG);
        }));
        while crew.limit().running() == 0 {
            thread::yield_now();
        }
        crew.push(job(send(&sender)));
        while started.load(Ordering::Acquire) < 2 {
            thread::yield_now();
        }
        crew.push(job(send(&sender)));
        thread::sleep(Duration::from_millis(20));
        let before_it_began = started.load(Ordering::Acquire);
        drop((gate, first));
        (0..2).for_each(|_| done.recv_timeout(LONG).expect("both are executed"));
        crew.end();
        assert_eq!(before_it_began, 2, "one is executing, one is coming: there is no room");
    });
}

/// How often this thread gave up its core to sleep.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|number| number.trim().parse().ok()).expect("the kernel counts")
}

/// How often the head of a crew sleeps while the consumer does this, and whether it asked for the cores.
fn sleeps_of_head<'j>(limit: Limit, consumer: impl FnOnce(&Growing<Job<'j>>)) -> (u64, bool) {
    let (crew, asked) = (Growing::new(limit, Queue::new(1)), AtomicU32::new(0));
    let slept = thread::scope(|scope| {
        let head = scope.spawn(|| {
            let before = sleeps();
            let cores = || asked.fetch_add(1, Ordering::Relaxed) as usize + 1;
            crew.lead(cores, |number| {
                let crew = &crew;
                scope.spawn(move || crew.work(number, |_, Job(job)| job()));
                true
            });
            sleeps() - before
        });
        consumer(&crew);
        crew.end();
        head.join().expect("it ends")
    });
    (slept, asked.into_inner() > 0)
}

fn pause(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

fn until(ready: impl Fn() -> bool) {
    while !ready() {
        thread::yield_now();
    }
}

#[test]
fn the_head_sleeps_where_there_is_no_task() {
    let (slept, _) = sleeps_of_head(Limit::counted(1, 1), |_| pause(500));
    assert!(slept < 10, "it woke {slept} times in 500 ms, without a task");
}

#[test]
fn the_head_sleeps_between_its_looks() {
    let (slept, _) = sleeps_of_head(Limit::counted(1, 1), |crew| {
        let (sender, done) = channel();
        let told = send(&sender);
        crew.push(job(move || {
            pause(500);
            told();
        }));
        done.recv_timeout(LONG).expect("it is executed");
    });
    assert!(slept > 4, "it slept {slept} times in 500 ms: it kept its core busy");
}

#[test]
fn a_worker_that_takes_the_only_task_calls_no_head() {
    let (slept, _) = sleeps_of_head(Limit::counted(1, 1), |crew| {
        for _ in 0..200 {
            let (sender, done) = channel();
            crew.push(job(send(&sender)));
            done.recv_timeout(LONG).expect("it is executed");
            until(|| crew.limit().running() == 0);
            // It sleeps by then, as does the head.
            pause(1);
        }
    });
    assert!(slept < 100, "it was woken {slept} times for 200 tasks that a worker waits for");
}

/// A tick is 10 ms. On a busy machine a short task may last that long.
#[test]
fn the_cores_are_counted_for_long_tasks_alone() {
    let lasting = |milliseconds| {
        let consumer = |crew: &Growing<Job<'_>>| {
            let (sender, done) = channel();
            let told = send(&sender);
            // The head has slept for longer than a tick.
            pause(20);
            crew.push(job(move || {
                pause(milliseconds);
                told();
            }));
            done.recv_timeout(LONG).expect("it is executed");
        };
        sleeps_of_head(Limit::unknown(1, 3, 1), consumer).1
    };
    assert!((0..20).any(|_| !lasting(2)), "2 ms are short");
    assert!((0..20).any(|_| lasting(100)), "100 ms are long");
}

/// The head looks for stuck workers every 10 ms, and needs five looks. On a busy machine a short task may last that long.
#[test]
fn a_short_task_is_not_stuck() {
    let tries = (0..20).map(|_| {
        lead(Limit::counted(1, 3), |crew| {
            let (sender, done) = channel();
            for _ in 0..2 {
                let told = send(&sender);
                crew.push(job(move || {
                    thread::sleep(Duration::from_millis(20));
                    told();
                }));
            }
            (0..2).for_each(|_| done.recv_timeout(LONG).expect("both are executed"));
        })
    });
    assert!(tries.into_iter().any(|started| started == 1), "each time a second worker was started");
}

#[test]
fn only_a_request_in_flight_can_be_stuck() {
    let (mut watchdog, seats) = (Watchdog::new(1), [Seat::new(), Seat::new()]);
    let mut looks = || (0..4).map(|_| watchdog.look(seats.iter())).max();
    assert_eq!(looks(), Some(0), "free seats");
    seats[0].take();
    assert_eq!(looks(), Some(0), "a worker without a request");
    seats[1].begin();
    assert_eq!(looks(), Some(0), "a seat without a thread");
}
