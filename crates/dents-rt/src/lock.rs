//! A lock of four bytes, held for nanoseconds: it guards the lists of the allocator and the pool of stacks.

use core::cell::UnsafeCell;
use core::hint;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and a thread sleeps or is about to: the thread that unlocks must wake it.
const CONTENDED: u32 = 2;

/// How often a thread checks the lock before it sleeps. The lock is usually released sooner than a futex call would
/// return.
const SPINS: u32 = 100;

/// A mutex. Without contention it makes no system call; with contention a thread spins briefly, then sleeps on a
/// futex (mutex 2 of Ulrich Drepper's "Futexes Are Tricky"). It is not fair. Do not hold it across a system call that
/// may sleep.
pub(crate) struct Lock<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has access to the value, so it is enough that the value is `Send`.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.lock_contended();
        }
        Guard { lock: self }
    }

    #[cold]
    fn lock_contended(&self) {
        for _ in 0..SPINS {
            if self.state.load(Ordering::Relaxed) == FREE
                && self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
            hint::spin_loop();
        }
        while self.state.swap(CONTENDED, Ordering::Acquire) != FREE {
            // An error means that the state has changed or a signal arrived; in both cases the loop checks again.
            let _ = futex::wait(&self.state, futex::Flags::PRIVATE, CONTENDED, None);
        }
    }
}

/// The value, as long as the lock is held.
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a guard exists only while its thread holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a guard exists only while its thread holds the lock, and it is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if self.lock.state.swap(FREE, Ordering::Release) == CONTENDED {
            // Cannot fail: the address is valid.
            let _ = futex::wake(&self.lock.state, futex::Flags::PRIVATE, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn one_thread_at_a_time() {
        static COUNT: Lock<u64> = Lock::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        let mut count = COUNT.lock();
                        *count = hint::black_box(*count) + 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.lock(), 200_000);
    }

    #[test]
    fn a_sleeper_is_woken() {
        static LOCK: Lock<bool> = Lock::new(false);
        let mut guard = LOCK.lock();
        let sleeper = thread::spawn(|| *LOCK.lock());
        while LOCK.state.load(Ordering::Relaxed) != CONTENDED {
            thread::sleep(Duration::from_millis(1));
        }
        *guard = true;
        drop(guard);
        assert!(sleeper.join().unwrap());
        assert_eq!(LOCK.state.load(Ordering::Relaxed), FREE);
    }
}
