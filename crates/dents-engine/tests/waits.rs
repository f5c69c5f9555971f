//! Threads that wait: they sleep, are seen waiting, and a spinning one sees what is published.

#![cfg(not(feature = "model"))]

use dents_engine::crew::{Crew, Next, Order, Workers};
use dents_engine::growing::Growing;
use dents_engine::limit::Limit;
use dents_engine::order::queue::Queue;
use dents_engine::order::range::{Names, Range};
use dents_engine::order::turns::{Item, Turn, Turns};
use dents_engine::task::{Kind, Task};
use dents_engine::wait::Events;
use dents_sys::clock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often this thread gave up its core to sleep.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|number| number.trim().parse().ok()).expect("the kernel counts")
}

#[test]
fn a_thread_that_waits_sleeps() {
    let (events, before) = (Events::new(), sleeps());
    let until = clock::monotonic_ns() + 20_000_000;
    assert_eq!(events.wait(0, Some(until), || None::<()>), None);
    assert!(sleeps() > before, "it kept its core busy");
}

#[test]
fn a_thread_that_spins_sees_an_event() {
    let (events, ready) = (Events::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        let waiter =
            scope.spawn(|| events.wait(u32::MAX, None, || ready.load(Ordering::Acquire).then_some(())));
        while !events.has_waiters() {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        ready.store(true, Ordering::Release);
        events.notify(1);
        let noted = Instant::now();
        assert_eq!(waiter.join().expect("it ends"), Some(()));
        assert!(
            noted.elapsed() < Duration::from_secs(30),
            "it saw the event only when it had spun to the end"
        );
    });
}

/// A thread finds a value without an event if it was published after the thread's first look and before the thread registered.
#[test]
fn a_thread_looks_again_once_it_has_registered() {
    let (events, mut looks, began) = (Events::new(), 0, Instant::now());
    let until = clock::monotonic_ns() + 20_000_000_000;
    let found = events.wait(0, Some(until), || {
        looks += 1;
        (looks > 1).then_some(looks)
    });
    assert_eq!(found, Some(2));
    assert!(began.elapsed() < Duration::from_secs(10), "it slept although it could have found it");
}

/// Gives the numbers below `left`, then nothing for now.
struct Numbers(AtomicU32);

impl Order for Numbers {
    type Task = u32;
    type Local = ();

    fn next(&self, (): &mut ()) -> Next<u32> {
        let taken = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        taken.map_or(Next::Later, |left| Next::Task(left - 1))
    }
}

#[test]
fn a_replacement_takes_tasks_whatever_the_limit_says() {
    let (crew, order) = (Crew::new(Limit::counted(1, 1), 1), Numbers(AtomicU32::new(2)));
    assert!(!crew.has_idle() && crew.idle() == 0);
    assert_eq!(crew.next_beyond_limit(&order, &mut ()), Some(1));
    assert_eq!(crew.next_beyond_limit(&order, &mut ()), Some(0));
    crew.end();
    assert_eq!(crew.next_beyond_limit(&order, &mut ()), None);
}

/// A read that no consumer awaits.
struct Ahead;

impl Task for Ahead {
    fn kind(&self) -> Kind {
        Kind::Read
    }

    fn is_awaited(&self) -> bool {
        false
    }
}

#[test]
fn a_consumer_that_takes_entries_sets_parked_reads_going() {
    let crew = Growing::new(Limit::counted(1, 1), Queue::new(1));
    let executed = AtomicU32::new(0);
    crew.queue().add(1);
    assert!(crew.queue().is_full());
    thread::scope(|scope| {
        scope.spawn(|| {
            crew.lead(
                || 1,
                |number| {
                    let (crew, executed) = (&crew, &executed);
                    scope.spawn(move || {
                        crew.work(number, |_, Ahead| {
                            executed.fetch_add(1, Ordering::AcqRel);
                        })
                    });
                    true
                },
            );
        });
        crew.push(Ahead);
        let ends = Instant::now() + Duration::from_secs(30);
        while crew.queue().width(1) > 0 || crew.limit().running() > 0 {
            thread::yield_now();
        }
        assert_eq!(executed.load(Ordering::Acquire), 0, "it is parked: enough entries are there");
        crew.release(1);
        while executed.load(Ordering::Acquire) == 0 && Instant::now() < ends {
            thread::yield_now();
        }
        crew.end();
    });
    assert_eq!(executed.into_inner(), 1, "its worker was told");
}

#[test]
fn the_consumer_reads_ahead_only_while_a_worker_is_at_its_item() {
    let turns: Turns<u32, u32> = Turns::new(8);
    let (first, second) = (Item::new(1), Item::new(2));
    turns.offer([&first, &second].into_iter());
    let ahead = |item: &Item<u32, u32>| turns.read_ahead(item, |_| true, |number| number * 10, |_| &[]);
    assert!(!ahead(&first), "no worker has it: the consumer shall take it");
    assert!(!second.is_found());
    assert_eq!(turns.take(&first, None), Turn::Yours);
    assert!(ahead(&first) && second.is_found(), "as if a worker were at it");
    assert!(!ahead(&first), "none is left to read");
    assert_eq!(turns.take(&second, None), Turn::Found(20));
}

/// Counts names, and holds none.
struct Count(usize);

impl Names for Count {
    type Copy = ();
    type Source = ();
    type Buffer = usize;

    fn len(&self) -> usize {
        self.0
    }

    fn copy(&self, _: &std::ops::Range<usize>, (): &mut ()) {}

    fn append(&mut self, more: usize) {
        self.0 += more;
    }
}

#[test]
fn names_are_counted() {
    assert!(Count(0).is_empty() && !Count(2).is_empty());
    let (range, crew) = (Range::new(Count(0), Some(())), Crew::new(Limit::fixed(), 1));
    assert!(range.has_more(), "the source may give some");
    range.refilled(3, None, &crew);
    assert!(range.has_more() && range.into_names().len() == 3);
}

/// The calling thread alone.
struct Alone;

impl Workers for Alone {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}

#[test]
fn a_thread_that_has_no_company_does_its_own_part_first() {
    let (jobs, mut before) = (AtomicU32::new(0), None);
    let job = |_| {
        jobs.fetch_add(1, Ordering::Relaxed);
    };
    Alone.run_beside(3, &job, &mut || before = Some(jobs.load(Ordering::Relaxed)));
    assert_eq!((before, jobs.load(Ordering::Relaxed)), (Some(0), 1));
}

#[test]
fn without_a_watchdog_no_replacement_starts() {
    let (replaced, mut ran) = (AtomicBool::new(false), false);
    Alone.with_replacements(&|| true, &|| replaced.store(true, Ordering::Release), &mut || ran = true);
    assert!(ran && !replaced.into_inner());
}
