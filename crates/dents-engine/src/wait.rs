//! The one primitive that threads sleep on: an event count.
//!
//! A thread publishes, then calls [`Events::notify`]. A thread that waits calls [`Events::wait`] with a closure that
//! checks its condition. No wake-up is lost: the waiter registers before it checks, and the notifier looks for waiters
//! after it has published. So one of the two sees the other (a full barrier precedes both looks).
//!
//! ```text
//! notifier                              waiter
//!   publishes                             watchers += 1
//!   ── barrier ──                         ── barrier ──
//!   watchers > 0?  events += 1            e = events; looks; spins while events == e
//!   sleepers > 0?  futex wake             sleepers += 1; futex wait (events == e)
//! ```
//!
//! Costs: a notification without a waiter costs one barrier and one load, no write; with a spinning waiter, two atomic
//! additions; with a sleeping one, one `futex` on either side.

use crate::sync::{AtomicU32, Fault, Ordering, Word, broken, fence};
use core::hint;
#[cfg(not(feature = "model"))]
use dents_sys::clock;

/// Looks at the event count before a thread sleeps: some microseconds. The other side often takes no longer, and a
/// wake-up would cost as much.
pub const SPINS: u32 = if cfg!(feature = "model") { 0 } else { 300 };

/// An event count. All its waiters need the same, or every notification goes to all of them.
#[derive(Debug, Default)]
pub struct Events {
    events: Word,
    /// Threads that check, spin or sleep, and those that sleep.
    watchers: AtomicU32,
    sleepers: AtomicU32,
}

impl Events {
    /// No event has happened.
    #[cfg(not(feature = "model"))]
    #[must_use]
    pub const fn new() -> Events {
        Events { events: Word::new(), watchers: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }

    /// Wakes up to `count` waiters. Publish first.
    #[inline]
    pub fn notify(&self, count: usize) {
        self.notify_by(|| count);
    }

    /// Like [`notify`](Self::notify); `count` is called only if a thread sleeps, after the other waiters can see that
    /// they must check again.
    #[inline]
    pub(crate) fn notify_by(&self, count: impl FnOnce() -> usize) {
        fence(Ordering::SeqCst);
        if self.watchers.load(Ordering::Relaxed) > 0 {
            self.wake(count);
        }
    }

    /// Wakes all waiters. Publish first.
    #[inline]
    pub fn notify_all(&self) {
        self.notify(usize::MAX);
    }

    /// Whether a thread waits now. The answer may be outdated at once.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        self.waiters() > 0
    }

    /// How many threads wait now. The answer may be outdated at once.
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

    /// Waits until `ready` returns a value, or returns `None` after the deadline (on the clock of
    /// [`dents_sys::clock::monotonic_ns`]). `ready` is called again after each event, and may take what it finds. The
    /// thread looks at the event count `spins` times before each sleep.
    ///
    /// Costs nothing if `ready` succeeds at once; with a deadline, one clock reading for each sleep.
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

/// A model has no clock: deadlines never pass.
#[cfg(feature = "model")]
pub(crate) fn now() -> u64 {
    0
}

/// Sleeps. Only a signal wakes the thread earlier.
#[cfg(not(feature = "model"))]
pub fn sleep(nanoseconds: u64) {
    Word::new().wait(0, Some(nanoseconds));
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_condition_that_is_true_needs_no_wait() {
        let events = Events::new();
        assert_eq!(events.wait(0, Some(0), || Some(7)), Some(7), "even past the deadline");
        assert!(!events.has_waiters());
    }

    #[test]
    fn a_notification_without_a_waiter_writes_nothing() {
        let events = Events::new();
        events.notify_all();
        assert_eq!(events.events.load(), 0);
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
