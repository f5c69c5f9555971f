//! Waiting for another thread without spinning.
use core::sync::atomic::AtomicU32;
use rustix::thread::futex;

/// Sleeps until somebody calls [`wake_all`], unless `word` is no longer `seen`: one `futex`. May return early.
pub fn wait(word: &AtomicU32, seen: u32) {
    // EAGAIN: it changed already. EINTR: a signal; whoever waits looks again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, None);
}

/// Wakes all who wait on `word`: one `futex`.
pub fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, u32::MAX >> 1);
}
