//! Results, each published once.
//!
//! A [`Chunk`] is a block of slots for the entries that one task asks about. Workers claim its entries one by one, so
//! that others can go on where one is stuck, and publish each answer into its slot. A consumer that waits for all of them,
//! or until a deadline, takes what is there. A worker that is stuck and comes back late writes to slots that no consumer
//! reads any more.

use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering, broken};
use alloc::vec::Vec;

/// Slots for the answers about some entries.
#[derive(Debug)]
pub struct Chunk<T> {
    slots: Vec<Mutex<T>>,
    /// The first entry that no worker has claimed.
    next: AtomicUsize,
    /// How many have yet to be published.
    left: AtomicUsize,
}

impl<T> Chunk<T> {
    /// A chunk with these slots, none of them answered.
    pub fn new(slots: impl Iterator<Item = T>) -> Chunk<T> {
        let slots: Vec<_> = slots.map(Mutex::new).collect();
        Chunk { next: AtomicUsize::new(0), left: AtomicUsize::new(slots.len()), slots }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Entries that no worker has claimed.
    #[must_use]
    pub fn unclaimed(&self) -> usize {
        self.slots.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Whether all entries have their answers: then they are visible to this thread.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// The next entry to ask, by its slot. Each is claimed once.
    pub fn claim(&self) -> Option<usize> {
        // The count must not grow for ever: workers look at a finished chunk again and again.
        if self.unclaimed() == 0 {
            return None;
        }
        let next = if broken(Fault::ClaimTwice) {
            let next = self.next.load(Ordering::Relaxed);
            self.next.store(next + 1, Ordering::Relaxed);
            next
        } else {
            self.next.fetch_add(1, Ordering::Relaxed)
        };
        Some(next).filter(|slot| *slot < self.slots.len())
    }

    /// Changes a slot before its answer is complete: the next question may never return.
    pub fn update(&self, slot: usize, value: T) {
        *self.slots[slot].lock() = value;
    }

    /// Publishes an answer. True if it was the last one; the caller then notifies the consumer.
    pub fn publish(&self, slot: usize, value: T) -> bool {
        if broken(Fault::CountBeforeWriting) {
            let last = self.left.fetch_sub(1, Ordering::AcqRel) == 1;
            self.update(slot, value);
            return last;
        }
        self.update(slot, value);
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Uses a slot. `None` if it is locked: by a worker that was killed while it wrote, or that is about to answer too
    /// late.
    pub fn with<A>(&self, slot: usize, read: impl FnOnce(&mut T) -> A) -> Option<A> {
        self.slots[slot].try_lock().map(|mut slot| read(&mut slot))
    }

    /// All answers, in the order of the slots.
    pub fn into_answers(self) -> impl Iterator<Item = T> {
        self.slots.into_iter().map(Mutex::into_inner)
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;

    #[test]
    fn each_entry_is_claimed_and_published_once() {
        let chunk = Chunk::new([0, 0, 0].into_iter());
        assert_eq!(
            (chunk.len(), chunk.unclaimed(), chunk.is_empty(), chunk.is_complete()),
            (3, 3, false, false)
        );
        assert_eq!((chunk.claim(), chunk.claim(), chunk.unclaimed()), (Some(0), Some(1), 1));
        assert!(!chunk.publish(1, 11));
        chunk.update(0, 5);
        assert_eq!(chunk.with(0, |slot| *slot), Some(5));
        assert!(!chunk.publish(0, 10));
        assert_eq!(
            (chunk.claim(), chunk.claim(), chunk.claim(), chunk.unclaimed()),
            (Some(2), None, None, 0)
        );
        assert!(!chunk.is_complete());
        assert!(chunk.publish(2, 12) && chunk.is_complete());
        assert_eq!(chunk.into_answers().collect::<Vec<_>>(), [10, 11, 12]);
        assert!(Chunk::<u8>::new([].into_iter()).is_complete());
    }

    #[test]
    fn a_slot_that_is_locked_is_not_waited_for() {
        let chunk = Chunk::new([1].into_iter());
        let inner = chunk.with(0, |_| chunk.with(0, |slot| *slot));
        assert_eq!(inner, Some(None));
    }
}
