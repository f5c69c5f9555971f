//! Blocks signals while a colour is set on a terminal.
//!
//! A colour is set and reset within one line. While the thread that writes lines to a terminal is in a `write`, it
//! blocks the signals that would end or stop the program between the two. They arrive directly after the `write`. So
//! no signal handler is needed, and a program that draws no colours pays nothing.
//!
//! The kernel delivers a signal of a process to any thread that does not block it, and the signal ends all threads.
//! So the other threads of such a program block these signals from their start: they are started while [`hold`] is in
//! force.

use crate::syscall::{nr, syscall};
use core::sync::atomic::{AtomicU64, Ordering};

/// A set of signals as the kernel counts them: bit `n - 1` for signal `n`.
type Set = u64;

const SIG_BLOCK: usize = 0;
const SIG_UNBLOCK: usize = 1;
const SIG_SETMASK: usize = 2;

/// The signals by which a keyboard, a shell, a timer, a limit or another program ends or stops a program: HUP, INT, QUIT, ILL,
/// TRAP, ABRT, BUS, FPE, USR1, SEGV, USR2, PIPE, ALRM, TERM, STKFLT, TSTP, XCPU, XFSZ, VTALRM, PROF, IO, PWR, SYS. (The numbers of
/// x86, Arm, RISC-V and most others; include/uapi/asm-generic/signal.h.) If a fault of the program itself causes one of them, the
/// kernel ends the program although it is blocked.
const HELD: Set = set(&[1, 2, 3, 10, 12, 13, 14, 15, 16, 20, 24, 25, 26, 27, 29, 30]) | FAULTS;

/// Those of them by which the kernel reports a fault of a program: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS.
const FAULTS: Set = set(&[4, 5, 6, 7, 8, 11, 31]);

const fn set(numbers: &[u32]) -> Set {
    let (mut set, mut at) = (0, 0);
    while at < numbers.len() {
        set |= bit(numbers[at]);
        at += 1;
    }
    set
}

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

/// Blocks signals until it is dropped. Signals that arrived meanwhile take effect then.
#[derive(Debug)]
#[must_use]
pub struct Held {
    before: Set,
    /// The signals that were pending at the last check.
    came: Set,
}

/// Blocks signals in the calling thread: one `rt_sigprocmask`, and another at the end. All other threads must block
/// them too, because the kernel delivers a signal of the process to any thread that does not.
pub fn hold() -> Held {
    Held { before: mask(SIG_BLOCK, HELD), came: 0 }
}

/// The same but for faults: for a process that another one watches, which should report its end at once.
pub fn hold_but_faults() -> Held {
    Held { before: mask(SIG_BLOCK, HELD & !FAULTS), came: 0 }
}

impl Held {
    /// Whether one of these signals has arrived since the last check: one `rt_sigpending`.
    pub fn is_pending(&mut self) -> bool {
        let mut pending: Set = 0;
        // SAFETY: the kernel writes eight bytes, the size that it is given, to `pending`.
        let answer = unsafe {
            let args = [&raw mut pending as usize, size_of::<Set>(), 0, 0, 0, 0];
            syscall(nr::RT_SIGPENDING, args)
        };
        self.came = if answer.is_ok() { pending & HELD & !self.before } else { 0 };
        self.came != 0
    }

    /// Stops the process if SIGTSTP is pending. It uses SIGSTOP, as GNU does: SIGTSTP itself would be lost in a
    /// process group without a shell that controls it. It does nothing if another signal is pending, which ends the
    /// process anyway.
    fn stop(&self) {
        if self.came != bit(TSTP) || is_ignored(TSTP) {
            return;
        }
        let (set, zero) = (bit(TSTP), [0_u64; 2]);
        // SAFETY: the kernel reads a set of eight bytes and a timespec of two words. It takes a pending signal, and
        // does not wait for one.
        let taken = unsafe {
            let (set, timeout) = (&raw const set as usize, &raw const zero as usize);
            syscall(nr::RT_SIGTIMEDWAIT, [set, 0, timeout, size_of::<Set>(), 0, 0])
        };
        if taken.is_ok() {
            // The only effect is that the process stops.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        }
    }
}

/// Whether the process ignores a signal: one `rt_sigaction`.
#[must_use]
pub fn is_ignored(signal: u32) -> bool {
    const SIG_IGN: usize = 1;
    // `struct sigaction` of the kernel: at most 32 bytes, and a mask of 16. The handler is first, except on MIPS.
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

/// Changes the signal mask and returns the old one. It cannot fail, because both pointers are valid.
fn mask(how: usize, set: Set) -> Set {
    let mut before: Set = 0;
    // SAFETY: both sets are valid for eight bytes, the size that the kernel is given.
    let _ = unsafe {
        let (set, before) = (&raw const set as usize, &raw mut before as usize);
        syscall(nr::RT_SIGPROCMASK, [how, set, before, size_of::<Set>(), 0, 0])
    };
    let _ = ORIGINAL.compare_exchange(Set::MAX, before, Ordering::Relaxed, Ordering::Relaxed);
    before
}

/// The signals that were blocked when the program was started, bit `n - 1` for signal `n`. Its children should block
/// these. `None` until this module changes the mask of a thread. No system call.
#[must_use]
pub fn original() -> Option<u64> {
    Some(ORIGINAL.load(Ordering::Relaxed)).filter(|set| *set != Set::MAX)
}

/// Blocks or unblocks HUP, INT, QUIT, TERM and TSTP in the calling thread: one `rt_sigprocmask`. A signal that
/// arrives while all threads block it stays pending, and [`wait`] can take it.
pub fn block(block: bool) {
    mask(if block { SIG_BLOCK } else { SIG_UNBLOCK }, AWAITED);
}

/// Waits at most `ns` nanoseconds for one of the signals of [`block`], takes it, and returns its number; `None` if
/// none arrived. One `rt_sigtimedwait`.
pub fn wait(ns: u64) -> Option<u32> {
    let (set, timeout) = (AWAITED, [ns / 1_000_000_000, ns % 1_000_000_000].map(|part| part as usize));
    // SAFETY: the kernel reads a set of eight bytes and a timespec of two words.
    let taken = unsafe {
        let args = [&raw const set as usize, 0, &raw const timeout as usize, size_of::<Set>(), 0, 0];
        syscall(nr::RT_SIGTIMEDWAIT, args)
    };
    taken.ok().map(|signal| signal as u32)
}

/// Sends a signal that [`wait`] took to the first thread of the process: one `tgkill`.
pub fn pass(signal: u32) {
    let pid = rustix::process::getpid().as_raw_nonzero().get() as usize;
    // SAFETY: the arguments are numbers; the id of the first thread is that of the process.
    let _ = unsafe { syscall(nr::TGKILL, [pid, pid, signal as usize, 0, 0, 0]) };
}

/// Sends a signal that [`wait`] took to the process: two system calls. If the calling thread does not block the
/// signal, this ends or stops the process, unless the process ignores the signal.
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

    /// A program that does not handle WINCH ignores it, so the signal has no effect on threads of other tests that do not block it.
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

    /// Runs in a thread of its own, which blocks ALRM before, so that ALRM is not delivered at the end.
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
            // The thread ends while the signal is pending, and the kernel drops it.
            core::mem::forget((fresh, inner));
            seen
        });
        assert_eq!(worker.join().unwrap(), (true, false));
    }
}
