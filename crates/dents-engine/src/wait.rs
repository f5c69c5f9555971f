//! The one primitive that threads sleep on: an event count.
//!
//! A thread that publishes something calls [`Events::notify`] afterwards; a thread that needs it calls [`Events::wait`] with a
//! look at what it needs. A wake-up cannot be lost: the waiter is visible before it looks, and the notifier looks for
//! waiters after it has published, so one of the two sees the other (both look behind a full barrier).
//!
//! ```text
//! notifier                              waiter
//!   publishes                             watchers += 1
//!   ── barrier ──                         ── barrier ──
//!   watchers > 0?  events += 1            e = events; looks; spins while events == e
//!   sleepers > 0?  futex wake             sleepers += 1; futex wait (events == e)
//! ```
//!
//! Costs: a notification with no waiter one barrier and one load, no write; with a waiter that spins two atomic additions; with
//! one that sleeps one `futex` on either side.

use crate::sync::{AtomicU32, Fault, Ordering, Word, broken, fence};
use core::hint;
#[cfg(not(feature = "model"))]
use dents_sys::clock;

/// Looks at the event count before a thread sleeps: some microseconds, where the other side needs no longer and a
/// wake-up would cost as much.
pub const SPINS: u32 = if cfg!(feature = "model") { 0 } else { 300 };

/// Things happen; threads wait for them. All threads that wait on one of these need the same, or all are notified.
#[derive(Debug, Default)]
pub struct Events {
    events: Word,
    /// Threads that look, spin or sleep, and those that sleep.
    watchers: AtomicU32,
    sleepers: AtomicU32,
}

impl Events {
    /// Nothing has happened.
    #[cfg(not(feature = "model"))]
    #[must_use]
    pub const fn new() -> Events {
        Events { events: Word::new(), watchers: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }

    /// Something was published that so many waiters can use.
    #[inline]
    pub fn notify(&self, count: usize) {
        self.notify_by(|| count);
    }

    /// The same; how many is found out only if a thread sleeps, and after those that look can see that they must look again.
    #[inline]
    pub(crate) fn notify_by(&self, count: impl FnOnce() -> usize) {
        fence(Ordering::SeqCst);
        if self.watchers.load(Ordering::Relaxed) > 0 {
            self.wake(count);
        }
    }

    /// Something was published that any number of waiters may need.
    #[inline]
    pub fn notify_all(&self) {
        self.notify(usize::MAX);
    }

    /// Whether a thread waits at this moment: for decisions that may be wrong.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        self.waiters() > 0
    }

    /// How many threads wait at this moment: for decisions that may be wrong.
    #[must_use]
    pub fn waiters(&self) -> usize {
        self.watchers.load(Ordering::Relaxed) as usize
    }

    #[cold]
    fn wake(&self, count: impl FnOnce() -> usize) {
        self.events.add();
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0
            && let count @ 1.. = count()
        {
            self.events.wake(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    /// Waits until `ready` has an answer, or until the deadline (by [`dents_sys::clock::monotonic_ns`]):
    /// `None` then. `ready` is called again after each event, and may take what it finds. The thread looks at the event count
    /// `spins` times before each sleep.
    ///
    /// Costs nothing if `ready` answers at once; one clock reading a sleep if there is a deadline.
    pub fn wait<T>(
        &self,
        spins: u32,
        deadline_ns: Option<u64>,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        self.watchers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let found = self.watch(spins, deadline_ns, &mut ready);
        self.watchers.fetch_sub(1, Ordering::SeqCst);
        found
    }

    fn watch<T>(
        &self,
        spins: u32,
        deadline_ns: Option<u64>,
        ready: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let mut looks = !broken(Fault::LookBeforeRegistering);
        loop {
            let event = self.events.load();
            if looks && let Some(found) = ready() {
                return Some(found);
            }
            looks = true;
            let left_ns = match deadline_ns {
                None => None,
                Some(deadline) => match deadline.checked_sub(now()) {
                    None | Some(0) => return None,
                    left => left,
                },
            };
            let is_new = || self.events.load() != event;
            if !(0..spins).any(|_| {
                hint::spin_loop();
                is_new()
            }) {
                self.sleepers.fetch_add(1, Ordering::SeqCst);
                fence(Ordering::SeqCst);
                self.events.wait(event, left_ns);
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

#[cfg(not(feature = "model"))]
pub(crate) fn now() -> u64 {
    clock::monotonic_ns()
}

/// A model has no clock: deadlines never come.
#[cfg(feature = "model")]
pub(crate) fn now() -> u64 {
    0
}

/// Sleeps: nothing can wake the thread earlier but a signal.
#[cfg(not(feature = "model"))]
pub fn sleep(nanoseconds: u64) {
    Word::new().wait(0, Some(nanoseconds));
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn an_answer_that_is_there_is_not_waited_for() {
        let events = Events::new();
        assert_eq!(events.wait(0, Some(0), || Some(7)), Some(7), "not even past the deadline");
        assert!(!events.has_waiters());
    }

    #[test]
    fn a_deadline_ends_a_wait() {
        let (events, started) = (Events::new(), Instant::now());
        let until = clock::monotonic_ns() + 20_000_000;
        assert_eq!(events.wait(SPINS, Some(until), || None::<()>), None);
        assert!(started.elapsed() >= Duration::from_millis(20));
        assert!(!events.has_waiters());
    }

    #[test]
    fn sleepers_are_woken_and_look_again() {
        let (events, found) = (Events::new(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let waits = || {
                events.wait(0, None, || {
                    let take = |count: u32| count.checked_sub(1);
                    found.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).ok()
                })
            };
            let waiters = [scope.spawn(waits), scope.spawn(waits)];
            while !events.has_waiters() {
                std::thread::yield_now();
            }
            found.fetch_add(1, Ordering::SeqCst);
            events.notify(1);
            found.fetch_add(1, Ordering::SeqCst);
            events.notify(1);
            assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap().is_some()));
        });
        assert_eq!((found.into_inner(), events.has_waiters()), (0, false));
    }

    #[test]
    fn sleeping_takes_its_time() {
        let started = Instant::now();
        sleep(5_000_000);
        assert!(started.elapsed() >= Duration::from_millis(5));
    }
}
