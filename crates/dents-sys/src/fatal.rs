//! Gives a terminal back when a signal ends the program.
//!
//! ```text
//! remember ─► the modes of the terminal, and a handler for each signal that ends a program by default
//! signal   ─► handler: modes back, sequences written, the default action ─► the program ends by this signal
//! ```
//!
//! The handler makes system calls alone, so it is correct at any point of the program: also in `malloc`, after an overflow of the stack
//! (std gives its threads a second one), and after `abort`. SIGKILL cannot be handled. Signals that are ignored stay ignored.

use crate::stdio::{STDIN, STDOUT};
use crate::syscall::{nr, syscall};
use crate::{Result, signal};
use alloc::boxed::Box;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// ABRT, BUS, FPE, ILL, SEGV, TRAP and SYS; HUP, TERM, USR1, USR2, ALRM, STKFLT, XCPU, XFSZ, VTALRM, PROF, IO, PWR. INT, QUIT and PIPE are
/// left to the program. (The numbers of x86 and Arm; include/uapi/asm-generic/signal.h.)
const FATAL: [u32; 19] = [6, 7, 8, 4, 11, 5, 31, 1, 15, 10, 12, 14, 16, 24, 25, 26, 27, 29, 30];
/// Real-time signals, without the two that libc uses.
const REAL_TIME: core::ops::RangeInclusive<u32> = 34..=64;
const SEGV: u32 = 11;

const SA_SIGINFO: usize = 4;
/// On x86-64 the kernel refuses a handler without the code that returns from it. Ours does not return.
const SA_RESTORER: usize = 0x0400_0000;
const SA_ONSTACK: usize = 0x0800_0000;
const SA_RESETHAND: usize = 0x8000_0000;

/// What is given back.
struct Taken {
    modes: Termios,
    sequences: &'static [u8],
}

/// Null while the program has not taken the terminal.
static TAKEN: AtomicPtr<Taken> = AtomicPtr::new(ptr::null_mut());
/// The handler of SIGSEGV before ours: std's, which reports an overflow of the stack.
static BEFORE: AtomicUsize = AtomicUsize::new(0);

/// `struct sigaction` of x86-64 and aarch64: handler, flags, restorer, mask.
type Action = [usize; 4];
type Handler = extern "C" fn(i32, *mut c_void, *mut c_void);

/// From now on, a signal that ends the program sets standard input to its present modes, and writes these sequences to standard
/// output. An `ioctl`; the first time two `rt_sigaction` for each signal. On other architectures than x86-64 and aarch64 it does
/// nothing.
///
/// # Errors
/// Standard input is no terminal, or it is gone.
pub fn remember(sequences: &'static [u8]) -> Result<()> {
    let taken = Box::new(Taken { modes: tcgetattr(STDIN)?, sequences });
    // A handler may read it at any time, so it is never freed: some bytes each time the terminal is taken.
    let first = TAKEN.swap(Box::leak(taken), SeqCst).is_null() && BEFORE.load(SeqCst) == 0;
    if first && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        FATAL.into_iter().chain(REAL_TIME).for_each(handle);
    }
    Ok(())
}

/// The terminal is given back, or another program has it: a signal changes nothing there.
pub fn forget() {
    TAKEN.store(ptr::null_mut(), SeqCst);
}

/// Ends the program at once: an `exit_group`. Other threads than the main one must end it so: std's `exit` frees the second stack of the main thread, where
/// that may be handling a signal.
pub fn exit(status: u8) -> ! {
    loop {
        // SAFETY: the arguments are numbers. The call ends all threads and does not return.
        let _ = unsafe { syscall(nr::EXIT_GROUP, [status.into(), 0, 0, 0, 0, 0]) };
    }
}

/// Gives the terminal back, if it is taken: an `ioctl` and a `write`.
pub(crate) fn give_back() {
    // SAFETY: the pointer is null, or what `remember` leaked.
    if let Some(taken) = unsafe { TAKEN.swap(ptr::null_mut(), SeqCst).as_ref() } {
        let _ = tcsetattr(STDIN, OptionalActions::Now, &taken.modes);
        let _ = rustix::io::write(STDOUT, taken.sequences);
    }
}

fn handle(signal: u32) {
    if signal::is_ignored(signal) {
        return;
    }
    let flags = SA_SIGINFO | SA_RESTORER | SA_ONSTACK | SA_RESETHAND;
    // All signals wait until the handler has ended the program.
    let action: Action = [end as *const () as usize, flags, end as *const () as usize, usize::MAX];
    let mut before: Action = [0; 4];
    // SAFETY: both are a `struct sigaction` of these architectures, with a mask of eight bytes. The handler makes system calls alone.
    let _ = unsafe {
        let (new, old) = (&raw const action as usize, &raw mut before as usize);
        syscall(nr::RT_SIGACTION, [signal as usize, new, old, size_of::<u64>(), 0, 0])
    };
    if signal == SEGV {
        BEFORE.store(before[0].max(1), SeqCst);
    }
}

extern "C" fn end(signal: i32, info: *mut c_void, context: *mut c_void) {
    // SIGTTOU is blocked here, so this does not stop the program in the background.
    give_back();
    let before = BEFORE.load(SeqCst);
    if signal as u32 == SEGV && before > 1 {
        // SAFETY: it was installed as a handler with these arguments by std, and is called as the kernel would call it. After an overflow
        // of the stack it says so and aborts, which needs SIGABRT; else it returns.
        unsafe {
            unblock();
            core::mem::transmute::<usize, Handler>(before)(signal, info, context);
        }
    }
    default(signal);
    let pid = rustix::process::getpid().as_raw_nonzero().get() as usize;
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as usize;
    loop {
        // SAFETY: the arguments are numbers.
        let _ = unsafe { syscall(nr::TGKILL, [pid, tid, signal as usize, 0, 0, 0]) };
        unblock();
    }
}

/// Sets the default action.
fn default(signal: i32) {
    let action: Action = [0; 4];
    // SAFETY: the kernel reads one `struct sigaction`.
    let _ = unsafe {
        let new = &raw const action as usize;
        syscall(nr::RT_SIGACTION, [signal as usize, new, 0, size_of::<u64>(), 0, 0])
    };
}

/// Delivers all signals that wait.
fn unblock() {
    const SIG_SETMASK: usize = 2;
    let none = 0_u64;
    // SAFETY: the kernel reads a set of eight bytes.
    let _ = unsafe {
        syscall(nr::RT_SIGPROCMASK, [SIG_SETMASK, &raw const none as usize, 0, size_of::<u64>(), 0, 0])
    };
}
