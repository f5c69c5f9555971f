//! A crew that starts workers on demand: the agent process of a deadline.
//!
//! Most listings need one or two workers, so a worker is started only when there is a task for it. The *head*, a thread that
//! executes no task, starts them. It is also the watchdog: while there is work, it looks for stuck workers every 10 ms.
//!
//! ```text
//! push ─► queue ─► an idle worker, if the limit has room     worker: takes a task; if there are more, announces
//!           └────► else the head ──► starts a worker                 executes it
//!                   └ every tick: stuck workers ─► limit ─► replacements
//! ```
//!
//! The head reads the clock while tasks are executed, and sleeps otherwise. A task for an idle worker need not wake the head:
//! while the limit has room, no worker needs a replacement.

use crate::crew::Crew;
use crate::crew::watchdog::{Seat, Watchdog};
use crate::limit::choose::FROM_MEMORY_NS;
use crate::limit::{Limit, Streak};
use crate::order::queue::Queue;
use crate::sync::{AtomicBool, AtomicU32, Fault, Ordering, broken};
use crate::task::{Kind, Task};
use crate::wait::{Events, now};
use alloc::vec::Vec;

/// How often the head looks for stuck workers.
const TICK_NS: u64 = 10_000_000;

/// A worker is stuck once this many looks after the first saw the same request: 50 ms.
const LOOKS: u32 = 5;

/// Most answers between two clock readings.
const MOST_STEP: usize = 16;

/// Workers that serve a queue.
#[derive(Debug)]
pub struct Growing<T> {
    queue: Queue<T>,
    crew: Crew,
    head: Events,
    /// Whether the head must check if more workers are needed.
    is_called: AtomicBool,
    /// Workers that were started and have not begun yet.
    coming: AtomicU32,
    /// One seat for each possible worker.
    seats: Vec<Seat>,
}

/// A worker's own state.
#[derive(Debug)]
pub struct Worker<'c> {
    /// Counts from zero.
    pub number: usize,
    seat: &'c Seat,
    streak: Streak,
    /// Answers since the last clock reading at `began_ns`, and the number after which the clock is read again. That number grows
    /// while answers come from memory, where a clock reading takes a tenth of the time of an answer.
    answers: usize,
    began_ns: u64,
    step: usize,
}

impl<T: Task + Send> Growing<T> {
    /// A crew without workers.
    #[must_use]
    pub fn new(limit: Limit, queue: Queue<T>) -> Growing<T> {
        Growing {
            queue,
            head: Events::default(),
            is_called: AtomicBool::new(false),
            coming: AtomicU32::new(0),
            seats: (0..limit.most()).map(|_| Seat::new()).collect(),
            crew: Crew::new(limit, 1),
        }
    }

    /// The limit of tasks in flight.
    #[must_use]
    pub fn limit(&self) -> &Limit {
        &self.crew.limit
    }

    /// The tasks. Tasks that are pushed there directly must be [announced](Growing::announce).
    #[must_use]
    pub fn queue(&self) -> &Queue<T> {
        &self.queue
    }

    /// Adds a task at the front.
    pub fn push(&self, task: T) {
        self.queue.push(task);
        self.announce(1);
    }

    /// Adds a task at the back.
    pub fn push_last(&self, task: T) {
        self.queue.push_last(task);
        self.announce(1);
    }

    /// See [`Queue::release`].
    pub fn release(&self, entries: usize) {
        let tasks = self.queue.release(entries);
        if tasks > 0 {
            self.announce(tasks);
        }
    }

    /// Announces tasks that were published: wakes idle workers, or the head if there are none.
    pub fn announce(&self, tasks: usize) {
        self.crew.announce(tasks);
        if self.room() == 0 || !self.crew.has_idle() {
            self.call_head();
        }
    }

    fn call_head(&self) {
        // A swap, not a store: the head then sees the tasks of all callers, not only of the last one.
        let before = if broken(Fault::StoreCall) {
            self.is_called.store(true, Ordering::Release);
            false
        } else {
            self.is_called.swap(true, Ordering::AcqRel)
        };
        if !before {
            self.head.notify(1);
        }
    }

    /// How many more workers the limit allows.
    fn room(&self) -> usize {
        let taken = self.limit().running() + self.coming.load(Ordering::Relaxed);
        self.limit().allowed().saturating_sub(taken) as usize
    }

    /// Ends the crew: workers and head return.
    pub fn end(&self) {
        self.crew.end();
        self.call_head();
    }

    /// The loop of the head. `start` starts the worker with this number, which must call [`Growing::work`]; it returns false on
    /// failure. `cores` is called once, if answers have come fast for more than a tick.
    pub fn lead(&self, cores: impl Fn() -> usize, mut start: impl FnMut(usize) -> bool) {
        let (mut watchdog, mut started, mut tick_ns, mut is_long) =
            (Watchdog::new(LOOKS), 0, now() + TICK_NS, false);
        while !self.crew.has_ended() {
            started = self.start_workers(started, &mut start);
            let deadline = self.is_active().then_some(tick_ns);
            let called = || self.is_called.swap(false, Ordering::Acquire).then_some(());
            if self.head.wait(0, deadline, called).is_some() {
                // The first task after a pause: the tick lasts as long as any other.
                tick_ns = if deadline.is_none() { now() + TICK_NS } else { tick_ns };
                continue;
            }
            tick_ns = now() + TICK_NS;
            self.crew.set_stuck(watchdog.look(self.seats.iter().take(started)));
            if !is_long {
                is_long = true;
                self.crew.announce(self.limit().raise(&cores));
            }
        }
    }

    /// Whether a task is queued or executed.
    fn is_active(&self) -> bool {
        // In this order: a worker that takes the task meanwhile is counted below.
        let is_wanted = self.queue.width(1) > 0 || self.coming.load(Ordering::Relaxed) > 0;
        is_wanted || self.limit().running() > 0
    }

    /// Starts a worker for each task that no running worker takes. Returns the number of workers.
    fn start_workers(&self, mut started: usize, start: &mut impl FnMut(usize) -> bool) -> usize {
        let coming = self.coming.load(Ordering::Relaxed) as usize;
        let wanted = self.queue.width(self.room() + coming).saturating_sub(coming + self.crew.idle());
        for _ in 0..wanted.min(self.seats.len() - started) {
            self.coming.fetch_add(1, Ordering::AcqRel);
            if !start(started) {
                self.coming.fetch_sub(1, Ordering::AcqRel);
                break;
            }
            started += 1;
        }
        started
    }

    /// The loop of a worker, until the crew ends.
    pub fn work(&self, number: usize, mut execute: impl FnMut(&mut Worker<'_>, T)) {
        let seat = &self.seats[number];
        seat.take();
        self.coming.fetch_sub(1, Ordering::AcqRel);
        let mut worker = Worker::new(number, seat);
        self.crew.work(&self.queue, &mut (), |(), task| {
            if self.queue.width(1) > 0 && !broken(Fault::TakeInSilence) {
                self.announce(1);
            }
            if task.kind() == Kind::Ask && self.limit().is_timed() {
                (worker.answers, worker.began_ns) = (0, now());
            }
            seat.begin();
            execute(&mut worker, task);
            seat.end();
        });
    }

    /// A request ended and the next begins. Returns false if the limit no longer has room for this worker: it must leave the rest
    /// of a wide task to others.
    pub fn answered(&self, worker: &mut Worker<'_>) -> bool {
        worker.seat.begin();
        worker.answers += 1;
        if worker.answers >= worker.step && self.limit().is_timed() {
            let (now, answers) = (now(), core::mem::take(&mut worker.answers));
            let began_ns = core::mem::replace(&mut worker.began_ns, now);
            let is_quick = now.saturating_sub(began_ns) < FROM_MEMORY_NS * answers as u64;
            worker.step = if is_quick { (worker.step * 2).min(MOST_STEP) } else { 1 };
            let more = self.limit().answered(answers, began_ns, now, &mut worker.streak);
            if more > 0 {
                self.announce(more);
            }
        }
        self.limit().may_stay()
    }
}

impl<'c> Worker<'c> {
    fn new(number: usize, seat: &'c Seat) -> Worker<'c> {
        Worker { number, seat, streak: Streak::default(), answers: 0, began_ns: 0, step: 1 }
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    struct Job(Box<dyn FnOnce() + Send>);

    impl Task for Job {
        fn kind(&self) -> Kind {
            Kind::Call
        }
    }

    type Jobs = Arc<Growing<Job>>;

    /// Runs a head with threads; `refused` of its starts fail at first. Returns how many workers it started.
    fn lead(limit: Limit, cores: usize, refused: usize, consumer: impl FnOnce(&Jobs)) -> usize {
        let crew = Arc::new(Growing::new(limit, Queue::new(1)));
        let head = {
            let crew = crew.clone();
            thread::spawn(move || {
                let (mut refused, mut workers) = (refused, Vec::new());
                let start = |number| {
                    if refused > 0 {
                        refused -= 1;
                        return false;
                    }
                    let crew = crew.clone();
                    workers.push(thread::spawn(move || crew.work(number, |_, Job(job)| job())));
                    true
                };
                crew.lead(|| cores, start);
                let count = workers.len();
                workers.into_iter().for_each(|worker| worker.join().unwrap());
                count
            })
        };
        consumer(&crew);
        crew.end();
        head.join().unwrap()
    }

    fn push(crew: &Jobs, job: impl FnOnce() + Send + 'static) {
        crew.push(Job(Box::new(job)));
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn one_worker_does_what_comes_one_by_one() {
        let started = lead(Limit::counted(8, 8), 8, 0, |crew| {
            for _ in 0..5 {
                let (sender, receiver) = channel();
                push(crew, move || sender.send(()).unwrap());
                receiver.recv_timeout(LONG).unwrap();
                while crew.crew.idle() == 0 {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(started, 1);
        assert_eq!(lead(Limit::counted(8, 8), 8, 0, |_| {}), 0, "and none if nothing comes");
    }

    #[test]
    fn a_stuck_worker_is_replaced() {
        let (release, stuck) = channel::<()>();
        let started = lead(Limit::counted(1, 4), 8, 0, |crew| {
            let (sender, receiver) = channel();
            crew.push_last(Job(Box::new(move || {
                let _ = stuck.recv();
            })));
            crew.push_last(Job(Box::new(move || sender.send(()).unwrap())));
            receiver.recv_timeout(LONG).unwrap();
            drop(release);
        });
        assert!((2..=4).contains(&started), "{started}");
    }

    #[test]
    fn a_worker_that_cannot_start_is_tried_again() {
        let started = lead(Limit::counted(1, 4), 8, 2, |crew| {
            let (sender, receiver) = channel();
            push(crew, move || sender.send(()).unwrap());
            receiver.recv_timeout(LONG).unwrap();
        });
        assert_eq!(started, 1);
    }

    /// Tasks that end only once three of them are in flight, on workers that are busy all the while.
    #[test]
    fn cores_are_used_where_work_lasts() {
        let started = lead(Limit::unknown(1, 3, 1), 3, 0, |crew| {
            let (sender, receiver) = channel();
            let running = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            for _ in 0..3 {
                let (running, sender) = (running.clone(), sender.clone());
                push(crew, move || {
                    running.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
                    while running.load(core::sync::atomic::Ordering::Relaxed) < 3 {
                        thread::yield_now();
                    }
                    sender.send(()).unwrap();
                });
            }
            (0..3).for_each(|_| receiver.recv_timeout(LONG).unwrap());
        });
        assert_eq!(started, 3);
    }

    #[test]
    fn a_worker_that_is_one_too_many_is_told_so() {
        let crew: Growing<Job> = Growing::new(Limit::unknown(2, 8, 1), Queue::new(1));
        let seat = Seat::new();
        let mut worker = Worker::new(0, &seat);
        assert!(crew.limit().enter() && crew.limit().enter() && crew.answered(&mut worker));
        crew.limit().set_stuck(1);
        assert!(crew.limit().enter() && crew.answered(&mut worker));
        crew.limit().set_stuck(0);
        assert!(!crew.answered(&mut worker));
        worker = Worker::new(0, &seat);
        (0..3).for_each(|_| {
            worker.began_ns = 1;
            crew.answered(&mut worker);
        });
        assert!(crew.limit().is_far(), "three slow answers: round trips");
        assert!(crew.answered(&mut worker), "so there is room for more");
    }

    #[test]
    fn the_clock_is_read_less_often_where_answers_come_from_memory() {
        let crew: Growing<Job> = Growing::new(Limit::unknown(2, 8, 1), Queue::new(1));
        let seat = Seat::new();
        let mut worker = Worker::new(0, &seat);
        let mut steps = [1, 2, 4, 8, 16, 16].map(|answers| {
            worker.began_ns = now() + 1_000_000_000;
            (0..answers).for_each(|_| {
                crew.answered(&mut worker);
            });
            worker.step
        });
        assert_eq!((steps, worker.answers), ([2, 4, 8, 16, 16, 16], 0));
        worker.began_ns = 1;
        steps = [16; 6].map(|_| {
            crew.answered(&mut worker);
            worker.step
        });
        assert_eq!((steps, worker.answers), ([16; 6], 6));
        (6..16).for_each(|_| {
            crew.answered(&mut worker);
        });
        assert_eq!(worker.step, 1, "a round trip");
        assert!(crew.limit().is_far());
    }

    #[test]
    fn the_time_of_several_answers_counts_for_all_of_them() {
        let crew: Growing<Job> = Growing::new(Limit::unknown(2, 8, 1), Queue::new(1));
        let seat = Seat::new();
        // Half of the time that answers from memory may take. The thread may lose its core meanwhile: one success in 100 tries is enough.
        let quick = (0..100).any(|_| {
            let mut worker = Worker { answers: 15, step: 16, ..Worker::new(0, &seat) };
            worker.began_ns = now() - 8 * FROM_MEMORY_NS;
            crew.answered(&mut worker);
            worker.step == 16
        });
        assert!(quick);
    }

    /// Answers from memory leave the limit as it is: the head has nothing to do for them.
    #[test]
    fn an_answer_that_makes_no_room_calls_no_head() {
        let crew: Growing<Job> = Growing::new(Limit::unknown(2, 2, 1), Queue::new(1));
        let seat = Seat::new();
        let mut worker = Worker::new(0, &seat);
        assert!(crew.limit().enter() && crew.limit().enter());
        worker.began_ns = now() + 1_000_000_000;
        assert!(crew.answered(&mut worker));
        assert!(!crew.is_called.load(Ordering::Acquire));
    }
}
