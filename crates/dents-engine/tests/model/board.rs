//! `board`: each entry is claimed once, and a consumer that sees a complete chunk sees all its results.

use super::explore;
use dents_engine::Fault;
use dents_engine::board::Chunk;
use dents_engine::wait::Events;
use loom::thread;
use std::sync::Arc;

/// Two workers publish the entries of a chunk; a consumer waits until it is complete.
fn answered_by_two(fault: Option<Fault>) {
    explore(fault, || {
        let shared = Arc::new((Chunk::new([0, 0].into_iter()), Events::default()));
        let workers = [0; 2].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (chunk, events) = &*shared;
                while let Some(slot) = chunk.claim() {
                    let before = chunk.with(slot, |answer| *answer);
                    assert_eq!(before.unwrap_or(0), 0, "claimed once");
                    if chunk.publish(slot, 10 + slot) {
                        events.notify_all();
                    }
                }
            })
        });
        let (chunk, events) = &*shared;
        events.wait(0, None, || chunk.is_complete().then_some(()));
        assert_eq!([0, 1].map(|slot| chunk.with(slot, |answer| *answer)), [Some(10), Some(11)], "published");
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn a_consumer_sees_all_answers_of_a_complete_chunk() {
    answered_by_two(None);
}

#[test]
#[should_panic(expected = "published")]
fn a_slot_that_is_counted_before_it_is_written_is_seen_empty() {
    answered_by_two(Some(Fault::CountBeforeWriting));
}

#[test]
#[should_panic]
fn entries_that_are_claimed_twice_are_noticed() {
    answered_by_two(Some(Fault::ClaimTwice));
}
