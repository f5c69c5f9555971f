//! Holding signals back while a colour is set on a terminal.
//!
//! A colour is set and reset within one line. The thread that writes lines to a terminal holds back, for as
//! long as a `write` takes, the signals that would end or stop the program between the two; they arrive right after it.
//! So there is no handler and nothing to clean up in one, and a program that draws no colours pays nothing.
//!
//! A signal to the process goes to any thread that does not block it, and ends all. So the other threads of such a program
//! block these signals from their start: they are started while [`hold`] is in force.

use crate::syscall::{nr, syscall};
use core::sync::atomic::{AtomicU64, Ordering};

/// A set of signals as the kernel counts them: bit `n - 1` for signal `n`.
type Set = u64;

const SIG_BLOCK: usize = 0;
const SIG_UNBLOCK: usize = 1;
const SIG_SETMASK: usize = 2;

/// The signals by which a keyboard, a shell, a timer or a limit ends or stops a program: HUP, INT, QUIT, PIPE, ALRM, TERM,
/// TSTP, XCPU, XFSZ, VTALRM, PROF, IO. (The numbers of x86, Arm, RISC-V and most others; include/uapi/asm-generic/signal.h.)
const HELD: Set = {
    let numbers = [1, 2, 3, 13, 14, 15, 20, 24, 25, 26, 27, 29];
    let (mut set, mut at) = (0, 0);
    while at < numbers.len() {
        set |= bit(numbers[at]);
        at += 1;
    }
    set
};

/// SIGINT: the keyboard's interrupt.
pub const INT: u32 = 2;

/// SIGTSTP: the terminal's stop.
const TSTP: u32 = 20;

/// The signals that a terminal, a shell or a user sends to a program that takes long: HUP, INT, QUIT, TERM, TSTP.
const AWAITED: Set = bit(1) | bit(INT) | bit(3) | bit(15) | bit(TSTP);

/// The signals blocked before this module changed the mask; all bits until then (no mask can have SIGKILL).
static ORIGINAL: AtomicU64 = AtomicU64::new(Set::MAX);

const fn bit(signal: u32) -> Set {
    1 << (signal - 1)
}

/// Signals held back until this is dropped; those that arrived meanwhile take effect then.
#[derive(Debug)]
#[must_use]
pub struct Held {
    before: Set,
    /// The signals that were pending at the last look.
    came: Set,
}

/// Holds signals back on the calling thread: one `rt_sigprocmask`, and another at the end. The others must hold them back
/// too, or not exist: a signal to the process goes to any thread that takes it.
pub fn hold() -> Held {
    Held { before: mask(SIG_BLOCK, HELD), came: 0 }
}

impl Held {
    /// Whether one of them has come: one `rt_sigpending`.
    pub fn is_pending(&mut self) -> bool {
        let mut pending: Set = 0;
        // SAFETY: the kernel writes the eight bytes it is told of to `pending`.
        let answer = unsafe {
            let args = [&raw mut pending as usize, size_of::<Set>(), 0, 0, 0, 0];
            syscall(nr::RT_SIGPENDING, args)
        };
        self.came = if answer.is_ok() { pending & HELD & !self.before } else { 0 };
        self.came != 0
    }

    /// Stops the process where SIGTSTP asks for it. By SIGSTOP, as GNU does: SIGTSTP itself would be lost on a process
    /// group without a shell that controls it. Nothing happens if another signal waits that ends the process anyway.
    fn stop(&self) {
        if self.came != bit(TSTP) || is_ignored(TSTP) {
            return;
        }
        let (set, zero) = (bit(TSTP), [0_u64; 2]);
        // SAFETY: the kernel reads a set of eight bytes and a timespec of two words, and takes the signal out of those
        // that wait, without waiting for it.
        let taken = unsafe {
            let (set, timeout) = (&raw const set as usize, &raw const zero as usize);
            syscall(nr::RT_SIGTIMEDWAIT, [set, 0, timeout, size_of::<Set>(), 0, 0])
        };
        if taken.is_ok() {
            // It may only be that we are stopped.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        }
    }
}

/// Whether the process ignores a signal: one `rt_sigaction`.
#[must_use]
pub fn is_ignored(signal: u32) -> bool {
    const SIG_IGN: usize = 1;
    // `struct sigaction` of the kernel: the handler first but on MIPS, at most 32 bytes and 16 of a mask.
    let mut action = [0_usize; 8];
    // SAFETY: the kernel writes one `struct sigaction` to `action`, which has room for any architecture's.
    let answer = unsafe {
        let args = [signal as usize, 0, &raw mut action as usize, size_of::<Set>(), 0, 0];
        syscall(nr::RT_SIGACTION, args)
    };
    answer.is_ok() && action[0] == SIG_IGN
}

impl Drop for Held {
    fn drop(&mut self) {
        self.stop();
        mask(SIG_SETMASK, self.before);
    }
}

/// Changes the signal mask and returns the old one. It cannot fail, given such pointers.
fn mask(how: usize, set: Set) -> Set {
    let mut before: Set = 0;
    // SAFETY: both sets are valid for the eight bytes the kernel is told of.
    let _ = unsafe {
        let (set, before) = (&raw const set as usize, &raw mut before as usize);
        syscall(nr::RT_SIGPROCMASK, [how, set, before, size_of::<Set>(), 0, 0])
    };
    let _ = ORIGINAL.compare_exchange(Set::MAX, before, Ordering::Relaxed, Ordering::Relaxed);
    before
}

/// The signals that were blocked when the program was started, bit `n - 1` for signal `n`: what its children shall block.
/// None until this module changes the mask of any thread. No system call.
#[must_use]
pub fn original() -> Option<u64> {
    Some(ORIGINAL.load(Ordering::Relaxed)).filter(|set| *set != Set::MAX)
}

/// Blocks HUP, INT, QUIT, TERM and TSTP in the calling thread, or no longer: one `rt_sigprocmask`. One that comes while all
/// threads block it waits for [`wait`].
pub fn block(block: bool) {
    mask(if block { SIG_BLOCK } else { SIG_UNBLOCK }, AWAITED);
}

/// Waits for one of the signals of [`block`], `ns` nanoseconds at most, and takes it: one `rt_sigtimedwait`. Its number, if
/// one came.
pub fn wait(ns: u64) -> Option<u32> {
    let (set, timeout) = (AWAITED, [ns / 1_000_000_000, ns % 1_000_000_000].map(|part| part as usize));
    // SAFETY: the kernel reads a set of eight bytes and a timespec of two words.
    let taken = unsafe {
        let args = [&raw const set as usize, 0, &raw const timeout as usize, size_of::<Set>(), 0, 0];
        syscall(nr::RT_SIGTIMEDWAIT, args)
    };
    taken.ok().map(|signal| signal as u32)
}

/// Hands a signal that [`wait`] took to the process's first thread: one `tgkill`.
pub fn pass(signal: u32) {
    let pid = rustix::process::getpid().as_raw_nonzero().get() as usize;
    // SAFETY: numbers only; the first thread bears the process's number.
    let _ = unsafe { syscall(nr::TGKILL, [pid, pid, signal as usize, 0, 0, 0]) };
}

/// Sends the process a signal that [`wait`] took: two system calls. Where the calling thread does not block it, this
/// ends or stops the process, unless it ignores the signal.
pub fn raise(signal: u32) {
    if let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
}

/// Whether the process ignores interrupts: one `rt_sigaction`.
#[must_use]
pub fn ignores_interrupts() -> bool {
    is_ignored(INT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};
    use std::time::{Duration, Instant};

    /// WINCH is ignored by programs that do not handle it, so nothing happens to the tests where it is not held back.
    #[test]
    fn what_is_held_back_is_what_could_end_the_program() {
        let before = mask(SIG_BLOCK, 0);
        let mut held = hold();
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
            let mut inner = hold();
            let mut fresh = Held { before: outer & !ALRM, came: 0 };
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
