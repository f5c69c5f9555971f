//! Scoped threads without libc: clone(2), and a futex to wait on.
//!
//! System calls: the first worker costs the caller three (mmap, mprotect, clone), a later one that reuses a stack
//! one. A worker itself makes one (exit). To wait for it costs none if it ends before or during the spin, else one
//! futex call.
//!
//! Workers get a *copy* of the descriptor table (no CLONE_FILES). Consequences:
//! - The kernel takes no reference on a descriptor while it is in use, as it must in a shared table (fs/file.c,
//!   `__fget_light`), where the count moves from core to core with every call. Measured on two cores, statx
//!   relative to one directory descriptor: two threads share 100,000 names in 29 to 32 ms (one thread: 58 to 64),
//!   with CLONE_FILES in 34 to 36; 100,000 each, 66 to 70 ms against 76 to 79. So no worker needs a
//!   descriptor of its own.
//! - What a worker opens, only that worker sees, and it is closed when the worker ends. What the caller opens
//!   or closes while workers run has no effect on them.
//!
//! Signals: workers block the signals that the caller blocks. Without handlers, SIGINT and the like end all threads
//! at once, whichever thread the kernel chooses; a handler must expect to run on a worker's stack. If workers should
//! block more signals than the caller, the caller blocks these before [`run_beside`] and unblocks them in `own`: by
//! then all workers are started.

mod replace;

pub use replace::{replace, with_replacements};

use core::ffi::c_void;
use core::mem;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU32;

use rustix::io::Errno;

use crate::arch::{self, flags};
use crate::stack::Stack;
use crate::started::is_started;
use crate::task::{self, wait};

const FLAGS: usize = flags::VM
    | flags::FS
    | flags::SIGHAND
    | flags::THREAD
    | flags::SYSVSEM
    | flags::PARENT_SETTID
    | flags::CHILD_CLEARTID;

/// The work of a worker, which is passed the worker's number.
type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// At the top of a worker's stack: its job, and the list of workers to wait for.
struct Seat {
    job: *const Job<'static>,
    index: usize,
    /// The kernel writes the thread's id here before clone returns, and 0 when the stack is no longer in use.
    tid: AtomicU32,
    next: Option<NonNull<Seat>>,
}

const _: () = assert!(Stack::holds::<Seat>());

/// Runs `job(0)` on the calling thread and `job(1)` … `job(workers - 1)` on threads of their own. Returns when all
/// have ended, with the number of jobs that ran, at least 1. If the kernel refuses a thread (EAGAIN, EPERM, ENOMEM),
/// no further one is tried; that is no error, because the jobs that run share the work.
///
/// In a process that was not started by [`entry!`](crate::entry), such as a test harness, only `job(0)` runs: the
/// libc there does not support such threads, and a job may call it.
pub fn run(workers: usize, job: &(dyn Fn(usize) + Sync)) -> usize {
    run_beside(workers, job, &mut || {})
}

/// Like [`run`], but the calling thread runs `own` before `job(0)`.
pub fn run_beside(workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) -> usize {
    let mut count = 1;
    let mut newest = None;
    if is_started() {
        // Ends at the number wanted or at the first refusal.
        while count < workers
            && let Ok(seat) = start(count, job, newest)
        {
            newest = Some(seat);
            count += 1;
        }
    }
    own();
    job(0);
    while let Some(seat) = newest {
        // SAFETY: `start` returned the seat, which is valid until its stack is kept.
        unsafe {
            wait(&seat.as_ref().tid);
            newest = seat.as_ref().next;
            Stack::from_top(seat.cast()).keep();
        }
    }
    count
}

fn start(index: usize, job: &Job<'_>, next: Option<NonNull<Seat>>) -> Result<NonNull<Seat>, Errno> {
    let stack = Stack::take()?;
    let seat = stack.top().cast::<Seat>();
    // SAFETY: this changes only the lifetime of the borrow; `run` does not return before the thread has ended.
    let job = unsafe { mem::transmute::<&Job<'_>, &Job<'static>>(job) };
    // SAFETY: the top of a stack has room for a seat (asserted above), and this function owns the stack. The thread
    // uses only stack, seat and job, which live until the thread has ended and `run` has noticed it.
    let started = unsafe {
        seat.write(Seat { job, index, tid: AtomicU32::new(0), next });
        arch::clone(FLAGS, stack.top(), &raw const (*seat).tid, work, seat.cast())
    };
    match started {
        // SAFETY: the top of a stack is not null.
        Ok(_) => Ok(unsafe { NonNull::new_unchecked(seat) }),
        Err(error) => {
            stack.keep();
            Err(error)
        }
    }
}

/// Starts a detached thread, which ends with the process at the latest. Three system calls. It has copies of our
/// descriptors, as workers do.
///
/// # Errors
/// The kernel's, and EPERM in a process that was not started by [`entry!`](crate::entry).
pub fn detach(job: task::Job) -> Result<(), Errno> {
    const UNWATCHED: usize = FLAGS & !(flags::PARENT_SETTID | flags::CHILD_CLEARTID);
    task::clone(UNWATCHED, core::ptr::null(), job).map(drop)
}

/// The code of a worker.
unsafe extern "C" fn work(seat: *mut c_void) -> i32 {
    // SAFETY: `start` passed a seat that outlives this thread, and so does the job in it.
    let (job, index) = unsafe {
        let seat = &*seat.cast::<Seat>();
        (&*seat.job, seat.index)
    };
    job(index);
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn beside_a_libc_the_caller_works_alone() {
        let ran = AtomicUsize::new(0);
        let count = run(8, &|index| {
            assert_eq!(index, 0);
            ran.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!((count, ran.into_inner()), (1, 1));
    }
}
