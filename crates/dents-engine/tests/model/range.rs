//! `range`: each entry is asked about once, and a stuck worker withholds no names that it has read.

use super::explore;
use dents_engine::Fault;
use dents_engine::crew::Crew;
use dents_engine::limit::Limit;
use dents_engine::order::range::{Claims, Names, Range, Task};
use dents_engine::wait::Events;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// The number of entries read.
struct Count(usize);

impl Names for Count {
    type Copy = ();
    /// The number of names in each buffer to come.
    type Source = std::vec::IntoIter<usize>;
    type Buffer = usize;

    fn len(&self) -> usize {
        self.0
    }

    fn copy(&self, _: &std::ops::Range<usize>, (): &mut ()) {}

    fn append(&mut self, buffer: usize) {
        self.0 += buffer;
    }
}

struct Shared {
    range: Range<Count>,
    crew: Crew,
    asked: [AtomicUsize; 2],
    answered: Events,
}

impl Shared {
    fn new(limit: Limit, buffers: &[usize]) -> Arc<Shared> {
        let source = Vec::from(buffers).into_iter();
        Arc::new(Shared {
            range: Range::new(Count(0), Some(source)),
            crew: Crew::new(limit, 1),
            asked: Default::default(),
            answered: Events::default(),
        })
    }

    fn execute(&self, task: Task<std::vec::IntoIter<usize>>, ask: impl Fn(usize)) {
        match task {
            Task::Refill(mut source) => {
                let buffer = source.next().unwrap_or(0);
                let rest = if source.len() > 0 { Some(source) } else { None };
                self.range.refilled(buffer, rest, &self.crew);
            }
            Task::Ask(claimed) => claimed.for_each(|entry| {
                ask(entry);
                assert_eq!(self.asked[entry].fetch_add(1, Ordering::AcqRel), 0, "asked once");
                self.answered.notify_all();
            }),
        }
    }

    fn work(&self, ask: impl Fn(usize)) {
        self.crew.work(&self.range, &mut claims(), |_, task| self.execute(task, &ask));
    }

    fn replace(&self) {
        let mut claims = claims();
        while let Some(task) = self.crew.next_beyond_limit(&self.range, &mut claims) {
            self.execute(task, |_| {});
        }
    }

    /// The first entry is answered only after the second one.
    fn stuck(&self, entry: usize) {
        if entry == 0 {
            let second = || (self.asked[1].load(Ordering::Acquire) > 0).then_some(());
            self.answered.wait(0, None, second);
        }
    }

    fn all_asked(&self) {
        assert!(self.asked.iter().all(|asked| asked.load(Ordering::Acquire) == 1), "all asked");
    }
}

fn claims() -> Claims<()> {
    Claims { step: 1, low: 0, copy: () }
}

/// Two workers read these buffers and ask about their two names.
fn two_workers(limit: fn() -> Limit, buffers: &'static [usize], is_stuck: bool, fault: Option<Fault>) {
    explore(fault, move || {
        let shared = Shared::new(limit(), buffers);
        let ask = move |shared: &Shared, entry| {
            if is_stuck {
                shared.stuck(entry);
            }
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.work(|entry| ask(&shared, entry)))
        };
        shared.work(|entry| ask(&shared, entry));
        other.join().unwrap();
        shared.all_asked();
    });
}

#[test]
fn two_workers_read_and_ask() {
    two_workers(Limit::fixed, &[0, 2], false, None);
}

#[test]
fn two_workers_with_a_limit_of_one() {
    two_workers(|| Limit::counted(1, 1), &[1, 1], false, None);
}

#[test]
fn a_worker_that_is_stuck_after_a_refill_keeps_no_name() {
    two_workers(Limit::fixed, &[2], true, None);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_worker_that_notifies_while_it_refills_leaves_the_other_asleep() {
    two_workers(Limit::fixed, &[2], true, Some(Fault::NotifyWhileRefilling));
}

/// One worker may run; another replaces it when it is stuck.
#[test]
fn a_replacement_does_not_count_towards_the_limit() {
    explore(None, || {
        let shared = Shared::new(Limit::counted(1, 1), &[2]);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.replace())
        };
        shared.work(|entry| shared.stuck(entry));
        other.join().unwrap();
        shared.all_asked();
    });
}

/// The limit falls from two to one while names are read: one worker leaves, and the other may have found none.
#[test]
fn no_name_is_forgotten_when_the_limit_falls() {
    explore(None, || {
        let shared = Shared::new(Limit::counted(1, 2), &[0, 2]);
        shared.crew.set_stuck(1);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.work(|_| ()))
        };
        shared.crew.work(&shared.range, &mut claims(), |_, task| {
            shared.crew.set_stuck(0);
            shared.execute(task, |_| ());
        });
        other.join().unwrap();
        shared.all_asked();
    });
}
