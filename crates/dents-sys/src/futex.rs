//! Waiting for another thread of this process, in the kernel.
use crate::Result;
use core::sync::atomic::AtomicU32;
use rustix::thread::{Timespec, futex};

/// Sleeps until another thread calls [`wake`] on the same word, or for `nanoseconds`: one `futex`.
///
/// Returns at once if the word no longer holds `expected` (`EAGAIN`). Also returns after the time (`ETIMEDOUT`) and
/// at a signal (`EINTR`). In any case the caller must check its condition again.
pub fn wait(word: &AtomicU32, expected: u32, nanoseconds: Option<u64>) -> Result<()> {
    let timeout = nanoseconds.map(|nanoseconds| Timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as _,
    });
    futex::wait(word, futex::Flags::PRIVATE, expected, timeout.as_ref())
}

/// Wakes up to `sleepers` threads that [`wait`] on the word, and returns their number: one `futex`.
pub fn wake(word: &AtomicU32, sleepers: u32) -> Result<usize> {
    // The kernel takes the number as an int.
    futex::wake(word, futex::Flags::PRIVATE, sleepers.min(i32::MAX as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errno;
    use core::sync::atomic::Ordering;
    use std::time::{Duration, Instant};

    #[test]
    fn waits_no_longer_than_told_and_only_for_what_is_expected() {
        let word = AtomicU32::new(7);
        assert_eq!(wait(&word, 8, None), Err(Errno::AGAIN));
        let started = Instant::now();
        assert_eq!(wait(&word, 7, Some(20_000_000)), Err(Errno::TIMEDOUT));
        assert!(started.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn a_sleeper_is_woken() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 0 {
                    let _ = wait(&word, 0, None);
                }
            });
            std::thread::sleep(Duration::from_millis(5));
            word.store(1, Ordering::Release);
            wake(&word, u32::MAX).expect("a word of ours");
        });
    }
}
