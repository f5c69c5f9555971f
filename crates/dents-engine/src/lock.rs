//! A lock that is held for nanoseconds.
//!
//! With more threads than cores, as on remote file systems, the holder may have lost its core. A waiting thread then
//! yields its own core instead of spinning for the rest of its time slice: one `sched_yield` for each look at a held
//! lock, none if the lock is free. (Without it a SCHED_FIFO thread would spin for ever: `tests/fifo.rs`.)

#[cfg_attr(feature = "model", expect(unreachable_pub, dead_code, reason = "a model uses only part of it"))]
mod machine {
    use dents_sys::sched;

    /// A mutex. Do not hold it across a system call that may block.
    pub type Mutex<T> = spin::mutex::SpinMutex<T, Yield>;

    /// Holds the lock until it is dropped.
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

    /// Loom's lock with the interface of the real one.
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// An unlocked mutex.
        pub fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        /// Takes the lock if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }

        /// The value.
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

/// The real lock, also under a model: for state that no protocol depends on.
pub(crate) use machine::Mutex as Plain;
#[cfg(not(feature = "model"))]
pub use machine::{Mutex, MutexGuard, Yield};
#[cfg(feature = "model")]
pub use model::{Mutex, MutexGuard};
