//! A lock for what lasts nanoseconds.
//!
//! Where there are more threads than cores, as wherever answers come from far away, the holder may have lost its core:
//! then a thread that wants the lock gives up its own core, instead of spinning for the rest of its time slice. One
//! `sched_yield` for each look at a lock that is held, nothing where it is free. (A thread of the class SCHED_FIFO would
//! otherwise spin for ever: `tests/fifo.rs`.)

#[cfg_attr(
    feature = "model",
    expect(unreachable_pub, dead_code, reason = "only part of it is used under a model")
)]
mod machine {
    use dents_sys::sched;

    /// Mutual exclusion, not for holding across a system call that may sleep.
    pub type Mutex<T> = spin::mutex::SpinMutex<T, Yield>;

    /// The lock, held until this is dropped.
    pub type MutexGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

    /// Gives the core to another thread.
    #[derive(Debug)]
    pub struct Yield;

    impl spin::RelaxStrategy for Yield {
        fn relax() {
            sched::yield_now();
        }
    }
}

#[cfg(feature = "model")]
mod model {
    pub use loom::sync::MutexGuard;

    /// Loom's lock behind the interface of the real one.
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// Not locked.
        pub fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        /// The lock, if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }

        /// What it guarded.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap()
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Mutex<T> {
            Mutex::new(T::default())
        }
    }

    impl<T> core::fmt::Debug for Mutex<T> {
        fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            out.write_str("Mutex")
        }
    }
}

/// The machine's lock also under a model: of what no protocol rests on.
pub(crate) use machine::Mutex as Plain;
#[cfg(not(feature = "model"))]
pub use machine::{Mutex, MutexGuard, Yield};
#[cfg(feature = "model")]
pub use model::{Mutex, MutexGuard};
