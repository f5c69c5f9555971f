//! A lock for what lasts nanoseconds.
//!
//! Where there are more threads than cores, as wherever answers come from far away, the holder may have lost its core:
//! then whoever wants the lock gives up its own, instead of spinning for the rest of its time. One `sched_yield` for each
//! look at a lock that is held, nothing where it is free. (A thread in the class SCHED_FIFO would otherwise spin for ever.)

use dents_sys::sched;

/// Mutual exclusion, not for holding across a system call that may sleep.
pub type Mutex<T> = spin::mutex::SpinMutex<T, Yield>;

/// The lock, held until this is dropped.
pub type MutexGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

/// Gives the core to somebody else.
#[derive(Debug)]
pub struct Yield;

impl spin::RelaxStrategy for Yield {
    fn relax() {
        sched::yield_now();
    }
}
