//! Groups that workers steal from each other: an idle worker is woken by an offer, and two parts for each worker are enough.

#![cfg(not(feature = "model"))]

use dents_engine::crew::{Next, Order};
use dents_engine::order::steal::{Group, Stack, Steal, Task};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

struct Walk(Steal<&'static str, u32>);

impl Order for Walk {
    type Task = Task<&'static str, (), u32>;
    type Local = Stack<&'static str, ()>;

    fn next(&self, stack: &mut Self::Local) -> Next<Self::Task> {
        self.0.next(stack)
    }
}

fn workers(count: usize) -> Walk {
    let mut steal = Steal::new(0);
    steal.set_workers(count);
    Walk(steal)
}

#[test]
fn an_idle_worker_is_woken_by_an_offer() {
    let (walk, mut own) = (workers(2), Stack::<_, ()>::new(0));
    let (sender, stolen) = channel();
    thread::scope(|scope| {
        let other = &walk;
        scope.spawn(move || {
            other.0.crew.work(other, &mut Stack::new(1), |_, task| {
                if let Task::Stolen(group) = task {
                    // A worker that cannot claim the group any more would steal it again: the test ends it.
                    other.0.crew.end();
                    sender.send(group.common).expect("the test waits");
                }
            });
        });
        while walk.0.crew.idle() == 0 {
            thread::yield_now();
        }
        // Until the worker sleeps: a notification that comes before costs nothing and is seen.
        thread::sleep(Duration::from_millis(20));
        walk.0.push(&mut own, Group::new("group", 2));
        let woken = stolen.recv_timeout(Duration::from_secs(30));
        walk.0.crew.end();
        assert_eq!(woken, Ok("group"));
    });
}

#[test]
fn two_parts_for_each_worker_are_enough() {
    let walk = workers(3);
    for part in 0..6 {
        assert!(!walk.0.has_enough_parts(), "{part} parts");
        walk.0.push_part(part);
    }
    assert!(walk.0.has_enough_parts());
    assert_eq!((0..6).map(|_| walk.0.pop_part()).collect::<Option<Vec<u32>>>(), Some((0..6).collect()));
    assert_eq!(walk.0.pop_part(), None);
}
