//! Holding signals back while a terminal must not be left as it is.
//!
//! A colour is put on and taken off again within one line. Whoever writes lines to a terminal holds back, for as long as
//! a `write` takes, the signals that would end or stop the program between the two; they arrive right after it.
//! So there is no handler and nothing to clean up in one, and a program that draws no colours pays nothing.

use crate::syscall::{nr, syscall};

/// A set of signals as the kernel counts them: bit `n - 1` for signal `n`.
type Set = u64;

const SIG_BLOCK: usize = 0;
const SIG_SETMASK: usize = 2;

/// What a keyboard, a shell, a timer or a limit sends to end a program or to stop it: HUP, INT, QUIT, PIPE, ALRM, TERM,
/// TSTP, XCPU, XFSZ, VTALRM, PROF, IO. (The numbers of x86, Arm, RISC-V and most others; include/uapi/asm-generic/signal.h.)
const HELD: Set = {
    let numbers = [1, 2, 3, 13, 14, 15, 20, 24, 25, 26, 27, 29];
    let (mut set, mut at) = (0, 0);
    while at < numbers.len() {
        set |= 1 << (numbers[at] - 1);
        at += 1;
    }
    set
};

/// Signals held back until this is dropped; those that came meanwhile then do what they do.
#[derive(Debug)]
#[must_use]
pub struct Held {
    before: Set,
}

/// Holds signals back on the calling thread: one `rt_sigprocmask`, and another at the end. The others must hold them back
/// too, or not exist: a signal to the process goes to any thread that takes it.
pub fn hold() -> Held {
    Held { before: mask(SIG_BLOCK, HELD) }
}

impl Held {
    /// Whether one of them has come: one `rt_sigpending`.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let mut pending: Set = 0;
        // SAFETY: the kernel writes the eight bytes it is told of to `pending`.
        let answer = unsafe {
            let args = [&raw mut pending as usize, size_of::<Set>(), 0, 0, 0, 0];
            syscall(nr::RT_SIGPENDING, args)
        };
        answer.is_ok() && pending & HELD & !self.before != 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        mask(SIG_SETMASK, self.before);
    }
}

/// Changes what is held back and returns what was before. It cannot fail, given such pointers.
fn mask(how: usize, set: Set) -> Set {
    let mut before: Set = 0;
    // SAFETY: both sets are valid for the eight bytes the kernel is told of.
    let _ = unsafe {
        let (set, before) = (&raw const set as usize, &raw mut before as usize);
        syscall(nr::RT_SIGPROCMASK, [how, set, before, size_of::<Set>(), 0, 0])
    };
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};
    use std::time::{Duration, Instant};

    /// WINCH is ignored by whoever does not ask for it, so nothing happens to the tests where it is not held back.
    #[test]
    fn what_is_held_back_is_what_could_end_the_program() {
        let before = mask(SIG_BLOCK, 0);
        let held = hold();
        assert_eq!(mask(SIG_BLOCK, 0), before | HELD);
        kill_process(getpid(), Signal::WINCH).unwrap();
        assert!(!held.is_pending());
        drop(held);
        assert_eq!(mask(SIG_BLOCK, 0), before);
    }

    /// In a thread of its own that has held ALRM back before, so that it is not delivered at the end.
    #[test]
    fn one_that_came_is_seen_unless_it_was_held_back_before() {
        const ALRM: Set = 1 << 13;
        let worker = std::thread::spawn(|| {
            let outer = mask(SIG_BLOCK, ALRM);
            let inner = hold();
            let fresh = Held { before: outer & !ALRM };
            let tid = rustix::thread::gettid().as_raw_nonzero().get() as usize;
            // SAFETY: `tgkill` takes numbers only; the signal is blocked in this thread.
            let sent = unsafe { syscall(nr::TGKILL, [std::process::id() as usize, tid, 14, 0, 0, 0]) };
            let deadline = Instant::now() + Duration::from_secs(5);
            while sent.is_ok() && !fresh.is_pending() && Instant::now() < deadline {}
            let seen = (fresh.is_pending(), inner.is_pending());
            // The thread ends with the signal pending, which ends with it.
            core::mem::forget((fresh, inner));
            seen
        });
        assert_eq!(worker.join().unwrap(), (true, false));
    }
}
