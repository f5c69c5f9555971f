//! `order::turns`: every item is executed once, the consumer gets each in its turn, and neither side sleeps for ever.

use super::explore;
use dents_engine::Fault;
use dents_engine::order::turns::{Item, Turn, Turns};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// A result: the number of its item, and the items it leads to.
struct Found(usize, Vec<Arc<Item<usize, Found>>>);

struct Shared {
    turns: Turns<usize, Found>,
    /// How often each item was executed.
    executed: [AtomicUsize; 3],
}

impl Shared {
    /// The first item leads to the last one.
    fn execute(&self, number: usize) -> Found {
        let before = self.executed[number].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "an item is executed once");
        Found(number, if number == 0 { vec![Item::new(2)] } else { vec![] })
    }

    fn take(&self, item: &Item<usize, Found>) -> Vec<Arc<Item<usize, Found>>> {
        // The consumer may read ahead the second item, but not those that the first leads to.
        while self.turns.read_ahead(item, |next| *next == 1, |next| self.execute(*next), |found| &found.1) {}
        let Found(number, below) = match self.turns.take(item, None) {
            Turn::Found(found) => found,
            Turn::Yours => {
                let found = self.execute(*item.payload());
                self.turns.offer(found.1.iter());
                found
            }
            Turn::Late => unreachable!("it waits without limit"),
        };
        assert_eq!(number, *item.payload(), "each in its turn");
        below
    }
}

/// Offers and consumes `items` items with one worker; at most `most` results are kept.
fn consumed(items: usize, most: usize, fault: Option<Fault>) {
    consumed_beside(items, most, fault, |shared| {
        shared.turns.work(|number| shared.execute(*number), |found| &found.1);
    });
}

/// The same with a worker that leaves when it finds nothing to do.
fn consumed_beside_one_that_leaves(items: usize, most: usize, fault: Option<Fault>) {
    consumed_beside(items, most, fault, |shared| {
        while shared.turns.work_once(|number| shared.execute(*number), |found| &found.1) {}
    });
}

fn consumed_beside(items: usize, most: usize, fault: Option<Fault>, work: fn(&Shared)) {
    explore(fault, move || {
        let turns = Turns::new(most);
        let shared = Arc::new(Shared { turns, executed: [0; 3].map(AtomicUsize::new) });
        let worker = {
            let shared = shared.clone();
            thread::spawn(move || work(&shared))
        };
        let mut stack: Vec<_> = (0..items).map(Item::new).collect();
        shared.turns.offer(stack.iter());
        stack.reverse();
        let mut count = 0;
        while let Some(item) = stack.pop() {
            stack.extend(shared.take(&item).into_iter().rev());
            count += 1;
        }
        shared.turns.end();
        worker.join().unwrap();
        assert_eq!(count, items + 1, "all items");
    });
}

#[test]
fn all_are_consumed_in_their_turns() {
    consumed(1, 8, None);
    consumed(2, 8, None);
}

#[test]
fn all_are_consumed_where_one_result_is_kept() {
    consumed(2, 1, None);
}

#[test]
fn all_are_consumed_if_the_worker_leaves() {
    consumed_beside_one_that_leaves(1, 8, None);
    consumed_beside_one_that_leaves(2, 1, None);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_worker_that_leaves_without_waking_the_consumer_blocks_it() {
    consumed_beside_one_that_leaves(1, 8, Some(Fault::NotifyBeforePublishing));
}

#[test]
#[should_panic(expected = "an item is executed once")]
fn an_item_claimed_twice_by_one_that_leaves_is_executed_twice() {
    consumed_beside_one_that_leaves(1, 8, Some(Fault::ClaimTwice));
}

#[test]
#[should_panic(expected = "deadlock")]
fn an_item_found_after_its_notification_blocks_the_consumer() {
    consumed(1, 8, Some(Fault::NotifyBeforePublishing));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_thread_that_does_not_look_again_before_it_sleeps_sleeps_for_ever() {
    consumed(1, 8, Some(Fault::LookBeforeRegistering));
}

#[test]
#[should_panic(expected = "an item is executed once")]
fn an_item_claimed_twice_is_executed_twice() {
    consumed(1, 8, Some(Fault::ClaimTwice));
}

#[test]
#[should_panic(expected = "deadlock")]
fn workers_that_are_not_woken_at_the_end_sleep_for_ever() {
    consumed(1, 8, Some(Fault::EndInSilence));
}
