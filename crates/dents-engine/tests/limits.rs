//! The search for the number in flight, answer by answer: when it takes a step, and which.

#![cfg(not(feature = "model"))]

use dents_engine::limit::{Limit, Streak};

const MS: u64 = 1_000_000;

/// Notes `count` answers, each `wait_ns` after its request; the last of them at `now_ns`. Returns the limit.
fn note(limit: &Limit, count: usize, wait_ns: u64, now_ns: u64) -> u32 {
    for _ in 0..count {
        limit.answered(1, now_ns - wait_ns, now_ns, &mut Streak::default());
    }
    limit.allowed()
}

#[test]
fn a_step_needs_two_rounds_and_the_first_answers_after_it_count_for_nothing() {
    let limit = Limit::searched(256, 2, 0);
    assert_eq!(limit.allowed(), 32);
    assert_eq!(note(&limit, 63, MS, 2 * MS), 32);
    assert_eq!(note(&limit, 1, MS, 2 * MS), 64, "after two rounds of 32");
    assert_eq!(note(&limit, 32, MS, 2 * MS), 64, "asked before the step");
    assert_eq!(note(&limit, 127, MS, 4 * MS), 64);
    assert_eq!(note(&limit, 1, MS, 4 * MS), 128, "after two rounds of 64, twice as fast");
}

#[test]
fn what_pays_no_more_but_does_not_wait_longer_is_kept() {
    let limit = Limit::searched(256, 2, 0);
    assert_eq!(note(&limit, 64, MS, 2 * MS), 64);
    note(&limit, 32, MS, 2 * MS);
    assert_eq!(note(&limit, 128, MS, 6 * MS), 64, "the same rate, the same latency");
    let before = note(&limit, 128, MS, 10 * MS);
    assert_eq!(before, 64, "and no other number is tried soon");
}

#[test]
fn what_only_waits_longer_is_given_up() {
    let limit = Limit::searched(256, 2, 0);
    assert_eq!(note(&limit, 64, MS, 2 * MS), 64);
    note(&limit, 32, MS, 2 * MS);
    assert_eq!(note(&limit, 128, 2 * MS, 6 * MS), 32, "the same rate, twice the latency");
}

#[test]
fn at_the_most_nothing_is_tried() {
    let limit = Limit::searched(64, 2, 0);
    assert_eq!(note(&limit, 64, MS, 2 * MS), 64);
    note(&limit, 32, MS, 2 * MS);
    assert_eq!(note(&limit, 128, MS, 4 * MS), 64, "it pays");
    assert_eq!(note(&limit, 128, 2 * MS, 8 * MS), 64, "slower, but there was no step to take back");
    assert_eq!((limit.most(), limit.highest()), (64, 64));
}

#[test]
fn a_limit_that_is_not_searched_reads_no_clock() {
    assert!(!Limit::fixed().is_timed() && !Limit::counted(1, 4).is_timed());
    assert!(Limit::unknown(1, 4, 1).is_timed() && Limit::searched(64, 2, 0).is_timed());
}
