//! Waiting for another thread without spinning.
use core::sync::atomic::AtomicU32;
use rustix::thread::{Timespec, futex};

/// Sleeps until somebody calls [`wake_all`], unless `word` is no longer `seen`: one `futex`. May return early.
pub fn wait(word: &AtomicU32, seen: u32) {
    // EAGAIN: it changed already. EINTR: a signal; whoever waits looks again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, None);
}

/// Wakes all who wait on `word`: one `futex`.
pub fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, u32::MAX >> 1);
}

/// As [`wait`], but no longer than this many nanoseconds.
pub fn wait_for(word: &AtomicU32, seen: u32, ns: u64) {
    let timeout = Timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    // ETIMEDOUT: that is what it was for. The others as above.
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, Some(&timeout));
}

/// Wakes one who waits on `word`, if there is one: one `futex`.
pub fn wake_one(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
}
