//! A task of the kernel, a thread or a process that shares our memory: its start, and its end.

use alloc::boxed::Box;
use core::ffi::c_void;
use core::hint;
use core::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex;

use crate::arch;
use crate::stack::Stack;
use crate::started::is_started;

/// How often a thread checks whether a worker has ended before it sleeps: some microseconds. Workers share their work
/// evenly, so they end at about the same time, and a wake-up on another core would cost more.
const SPINS: u32 = 200;

/// A closure that is called once.
pub type Job = Box<dyn FnOnce() + Send + 'static>;

/// Starts a task and returns its id. `tid` is null, or lives for ever.
pub(crate) fn clone(flags: usize, tid: *const AtomicU32, job: Job) -> Result<u32, Errno> {
    if !is_started() {
        return Err(Errno::PERM);
    }
    let stack = Stack::take()?;
    let job = Box::into_raw(Box::new(job));
    // SAFETY: this function owns the stack and never gives it to another task. From here on the new task owns the
    // job. Only `agent::start` requests a thread id, and its word is leaked.
    let started = unsafe { arch::clone(flags, stack.top(), tid, live, job.cast()) };
    match started {
        Ok(number) => Ok(number),
        Err(error) => {
            stack.keep();
            // SAFETY: the pointer is from the box above, and no task was started that has it.
            drop(unsafe { Box::from_raw(job) });
            Err(error)
        }
    }
}

unsafe extern "C" fn live(job: *mut c_void) -> i32 {
    // SAFETY: `clone` passed a pointer from a box, to this task alone.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    job();
    0
}

/// Waits until the kernel has cleared the thread id, which happens after the thread's last instruction.
pub(crate) fn wait(tid: &AtomicU32) {
    for _ in 0..SPINS {
        if tid.load(Ordering::Acquire) == 0 {
            return;
        }
        hint::spin_loop();
    }
    loop {
        match tid.load(Ordering::Acquire) {
            0 => return,
            // Not PRIVATE, because the kernel's wake-up at the end of a thread is not. An error means that the word
            // has changed or a signal arrived.
            id => drop(futex::wait(tid, futex::Flags::empty(), id, None)),
        }
    }
}

/// Ends the process with all its threads. One system call; nothing is flushed and no destructor runs.
pub fn exit(status: u8) -> ! {
    arch::exit_group(status)
}

/// Closes this process's copies of all descriptors. Where the kernel has no close_range (before 5.9), it closes those
/// that another process is likely to wait on (0, 1 and 2).
pub(crate) fn close_all() {
    if arch::close_range(0, u32::MAX).is_err() {
        for fd in 0..=2 {
            // SAFETY: nothing in the process uses these numbers yet, and the table is its own.
            unsafe { rustix::io::close(fd) };
        }
    }
}
