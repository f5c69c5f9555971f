//! Atomics and the futex: the real ones, or the model checker's.
//!
//! Under the feature `model` the same code runs on loom's types, which execute every interleaving. Loom has no futex:
//! its substitute compares the word and sleeps under a lock that a wake takes too, as the kernel does (futex(2),
//! kernel/futex/waitwake.c). Loom has no time: a wait with a deadline waits until it is woken.

#[cfg(not(feature = "model"))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
#[cfg(feature = "model")]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};

#[cfg(not(feature = "model"))]
mod word {
    use super::{AtomicU32, Ordering};
    use dents_sys::futex;

    /// A number; threads sleep until it changes.
    #[derive(Debug, Default)]
    pub(crate) struct Word(AtomicU32);

    impl Word {
        pub(crate) const fn new() -> Word {
            Word(AtomicU32::new(0))
        }

        pub(crate) fn load(&self) -> u32 {
            self.0.load(Ordering::Acquire)
        }

        pub(crate) fn add(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        /// Sleeps while the word is `expected`, until a wake or the timeout: one `futex`. May return early.
        pub(crate) fn wait(&self, expected: u32, nanoseconds: Option<u64>) {
            let _ = futex::wait(&self.0, expected, nanoseconds);
        }

        /// Wakes up to `count` threads: one `futex`.
        pub(crate) fn wake(&self, count: u32) {
            let _ = futex::wake(&self.0, count);
        }
    }
}

#[cfg(feature = "model")]
mod model {
    use super::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};

    pub(crate) struct Word {
        value: AtomicU32,
        queue: Mutex<()>,
        woken: Condvar,
    }

    impl Word {
        pub(crate) fn new() -> Word {
            Word { value: AtomicU32::new(0), queue: Mutex::new(()), woken: Condvar::new() }
        }

        pub(crate) fn load(&self) -> u32 {
            self.value.load(Ordering::Acquire)
        }

        pub(crate) fn add(&self) {
            self.value.fetch_add(1, Ordering::SeqCst);
        }

        pub(crate) fn wait(&self, expected: u32, _: Option<u64>) {
            let queue = self.queue.lock().unwrap();
            if self.value.load(Ordering::SeqCst) == expected {
                drop(self.woken.wait(queue).unwrap());
            }
        }

        pub(crate) fn wake(&self, count: u32) {
            let queue = self.queue.lock().unwrap();
            if count == 1 {
                self.woken.notify_one();
            } else {
                self.woken.notify_all();
            }
            drop(queue);
        }
    }

    impl Default for Word {
        fn default() -> Word {
            Word::new()
        }
    }

    impl core::fmt::Debug for Word {
        fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            out.write_str("Word")
        }
    }
}

#[cfg(feature = "model")]
pub(crate) use model::Word;
#[cfg(not(feature = "model"))]
pub(crate) use word::Word;

/// Faults that a model test injects, to show that the model detects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "model"), allow(dead_code, unreachable_pub, reason = "only model tests name them"))]
pub enum Fault {
    /// A waiter checks its condition before it registers, and not again.
    LookBeforeRegistering,
    /// A notifier looks for waiters before it publishes.
    NotifyBeforePublishing,
    /// A worker is counted as idle while it holds a task.
    IdleWithTask,
    /// A worker that refills notifies the others before it releases the source.
    NotifyWhileRefilling,
    /// The last worker ends without waking those that sleep.
    EndInSilence,
    /// A slot is counted as published before it is written.
    CountBeforeWriting,
    /// Two workers can claim one chunk.
    ClaimTwice,
    /// A worker that leaves because the limit fell is still counted.
    LeaveUncounted,
    /// A wide task stays in the queue when its last entry is claimed.
    KeepFinished,
    /// A read is parked after the consumer may have looked for parked reads.
    ParkAfterLook,
    /// Of two threads that call the head, the head sees only what the second one published.
    StoreCall,
    /// A worker that takes one of several tasks notifies no other worker.
    TakeInSilence,
    /// A worker that has paused a task reports that it has none.
    ForgetPaused,
    /// A span is split at marks that its worker has passed.
    SplitBehind,
}

/// Whether the model test injected this fault. Constant false without the feature `model`.
#[inline(always)]
pub(crate) fn broken(fault: Fault) -> bool {
    #[cfg(feature = "model")]
    {
        faults::put_in() == Some(fault)
    }
    #[cfg(not(feature = "model"))]
    {
        let _ = fault;
        false
    }
}

#[cfg(feature = "model")]
mod faults {
    use super::Fault;
    use std::cell::Cell;

    // Loom runs all threads of a model on one system thread, so each test has its own fault.
    std::thread_local!(static FAULT: Cell<Option<Fault>> = const { Cell::new(None) });

    pub(crate) fn put_in() -> Option<Fault> {
        FAULT.get()
    }

    /// Injects the fault into the models of this test from now on.
    pub fn put(fault: Option<Fault>) {
        FAULT.set(fault);
    }
}

#[cfg(feature = "model")]
pub use faults::put;
