//! `wait`: a waiter never sleeps while its condition is true.

use super::explore;
use dents_engine::Fault;
use dents_engine::wait::Events;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// When the notifier wakes the waiters.
#[derive(Clone, Copy)]
enum Notifies {
    After,
    Before,
}

/// Publishes `waiters` values one by one, each for one waiter.
fn published_one_by_one(waiters: usize, notifies: Notifies, fault: Option<Fault>) {
    explore(fault, move || {
        let shared = Arc::new((Events::default(), AtomicUsize::new(0)));
        let takers: Vec<_> = (0..waiters)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (events, there) = &*shared;
                    events.wait(0, None, || {
                        let take = |count: usize| count.checked_sub(1);
                        there.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).ok()
                    })
                })
            })
            .collect();
        let (events, there) = &*shared;
        for _ in 0..waiters {
            if matches!(notifies, Notifies::Before) {
                events.notify(1);
            }
            there.fetch_add(1, Ordering::Release);
            if matches!(notifies, Notifies::After) {
                events.notify(1);
            }
        }
        takers.into_iter().for_each(|taker| assert!(taker.join().unwrap().is_some()));
    });
}

#[test]
fn one_waiter_is_woken() {
    published_one_by_one(1, Notifies::After, None);
}

#[test]
fn two_waiters_are_woken() {
    published_one_by_one(2, Notifies::After, None);
}

/// The wake-up that the prefetcher once lost: a thread checked for the end before it registered.
#[test]
#[should_panic(expected = "deadlock")]
fn a_waiter_that_looks_before_it_registers_may_sleep_for_ever() {
    published_one_by_one(1, Notifies::After, Some(Fault::LookBeforeRegistering));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_notifier_that_wakes_before_it_publishes_may_leave_a_waiter_asleep() {
    published_one_by_one(1, Notifies::Before, None);
}
