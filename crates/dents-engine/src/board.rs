//! Slots for results, each published once.
//!
//! A [`Chunk`] is a block of slots, one for each entry of a task. Workers claim entries one by one, so that other
//! workers continue when one is stuck, and publish each result into its slot. A consumer waits until the chunk is
//! complete, or until a deadline, and takes the results. A worker that was stuck and returns late writes to slots that
//! no consumer reads.

use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering, broken};
use alloc::vec::Vec;

/// Slots for the results of some entries.
#[derive(Debug)]
pub struct Chunk<T> {
    slots: Vec<Mutex<T>>,
    /// The first entry that no worker has claimed.
    next: AtomicUsize,
    /// Entries whose results are not published.
    left: AtomicUsize,
}

impl<T> Chunk<T> {
    /// A chunk with these initial slots, all unclaimed.
    pub fn new(slots: impl Iterator<Item = T>) -> Chunk<T> {
        let slots: Vec<_> = slots.map(Mutex::new).collect();
        Chunk { next: AtomicUsize::new(0), left: AtomicUsize::new(slots.len()), slots }
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the chunk has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The number of unclaimed entries.
    #[must_use]
    pub fn unclaimed(&self) -> usize {
        self.slots.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Whether all results are published. If so, they are visible to this thread.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Claims the next entry and returns its slot. Each entry is claimed once.
    pub fn claim(&self) -> Option<usize> {
        // The counter must not grow for ever: workers call this again and again on a finished chunk.
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

    /// Whether this slot is the last to be claimed. The worker that claimed it is the only one to see that, so it may begin what comes
    /// when no entry is left to claim.
    #[must_use]
    pub fn is_last(&self, slot: usize) -> bool {
        slot + 1 == self.slots.len()
    }

    /// Stores a partial result: the next request may never return.
    pub fn update(&self, slot: usize, value: T) {
        *self.slots[slot].lock() = value;
    }

    /// Publishes a result. Returns true for the last one: the caller then notifies the consumer.
    pub fn publish(&self, slot: usize, value: T) -> bool {
        if broken(Fault::CountBeforeWriting) {
            let last = self.left.fetch_sub(1, Ordering::AcqRel) == 1;
            self.update(slot, value);
            return last;
        }
        self.update(slot, value);
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Reads or changes a slot. `None` if it is locked: by a worker that was killed while writing, or by one that
    /// publishes late.
    pub fn with<A>(&self, slot: usize, read: impl FnOnce(&mut T) -> A) -> Option<A> {
        self.slots[slot].try_lock().map(|mut slot| read(&mut slot))
    }

    /// All results, in the order of the slots.
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
    fn a_locked_slot_is_skipped() {
        let chunk = Chunk::new([1].into_iter());
        let inner = chunk.with(0, |_| chunk.with(0, |slot| *slot));
        assert_eq!(inner, Some(None));
    }
}
