//! `board`: each entry is claimed once, and a consumer that sees a complete chunk sees all its results.

use super::explore;
use dents_engine::Fault;
use dents_engine::board::Chunk;
use dents_engine::wait::Events;
use loom::sync::atomic::{AtomicUsize, Ordering};
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

/// Three workers claim the entries of a chunk. The one that claims the last entry takes the room for the next read, which the reader
/// left before it published the chunk.
fn read_when_all_are_claimed(fault: Option<Fault>) {
    explore(fault, || {
        let shared = Arc::new((Chunk::new([0, 0].into_iter()), AtomicUsize::new(0)));
        let work = |(chunk, reads): &(Chunk<usize>, AtomicUsize)| {
            while let Some(slot) = chunk.claim() {
                if chunk.is_last(slot) {
                    assert_eq!(chunk.unclaimed(), 0, "all are claimed");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        let workers = [0; 2].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || work(&shared))
        });
        work(&shared);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(shared.1.load(Ordering::Relaxed), 1, "one reads on");
    });
}

#[test]
fn one_worker_reads_on_when_all_are_claimed() {
    read_when_all_are_claimed(None);
}

#[test]
#[should_panic(expected = "one reads on")]
fn a_last_entry_that_is_claimed_twice_is_read_on_twice() {
    read_when_all_are_claimed(Some(Fault::ClaimTwice));
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
