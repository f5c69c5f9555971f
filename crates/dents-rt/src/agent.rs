//! Work that may never come back, without libc: an *agent*, a process that shares our memory but not our fate.
//!
//! A thread that waits in the kernel for a server may be beyond any signal (a FUSE request that has been sent, a
//! disk that is gone), and then its whole process cannot end, exit_group or not. So what may hang runs elsewhere:
//! one clone with CLONE_VM and without CLONE_THREAD. The two share every byte and nothing else. When we end, our
//! parent sees it at once; the agent gets SIGKILL (PR_SET_PDEATHSIG), and whichever of its threads hang follow when
//! the kernel lets them.
//!
//! The agent has descriptors of its own: it closes the copies of ours, for whoever reads our output must see its end
//! when *we* end. Its threads share one table among them (CLONE_FILES), unlike those of [`thread`](crate::thread),
//! so that what one opens another can read.
//!
//! Nobody waits for any of them, so their stacks are never used again: 256 KiB of addresses each, of which the
//! pages touched (two or three) stay until the memory's last user is gone.
//!
//! System calls: an agent costs the caller three (mmap, mprotect, clone) and itself three (close_range, prctl,
//! getppid); a thread costs three.

use alloc::boxed::Box;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::arch::{self, flags};
use crate::stack::Stack;

const THREAD: usize = flags::VM | flags::FS | flags::FILES | flags::SIGHAND | flags::THREAD | flags::SYSVSEM;

/// What is to be done, once.
pub type Job = Box<dyn FnOnce() + Send + 'static>;

/// Starts the agent, which does `job` and then ends. It shares with us what it can reach by safe means; a
/// descriptor of ours means nothing to it. What it returns is not 0 while the agent lives; should it panic, nobody else
/// says so, for it has no stderr.
///
/// In a process that was not started by [`entry!`](crate::entry), such as a test harness, it is refused with EPERM:
/// its libc knows nothing of such processes.
///
/// # Errors
/// The kernel's: EAGAIN where there may be no more processes, ENOMEM.
pub fn start(job: Job) -> Result<&'static AtomicU32, Errno> {
    const AGENT: usize = flags::VM | flags::PARENT_SETTID | flags::CHILD_CLEARTID;
    let us = getpid();
    let life = move || {
        close_all();
        // Refused nowhere: the signal is valid.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // Had we ended before that, nobody would ever end it.
        if getppid() == Some(us) {
            job();
        }
    };
    // No exit signal: our parent's business is not to hear of it, and ours neither.
    let lives: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
    clone(AGENT, lives, Box::new(life)).map(|_| lives)
}

/// Starts a thread beside the calling one, in the agent, and forgets about it.
///
/// # Errors
/// As [`start`].
pub fn thread(job: Job) -> Result<(), Errno> {
    clone(THREAD, ptr::null(), job).map(drop)
}

/// A new task, which does `job`: its id. `tid` is null, or lives for ever.
pub(crate) fn clone(flags: usize, tid: *const AtomicU32, job: Job) -> Result<u32, Errno> {
    if !crate::is_started() {
        return Err(Errno::PERM);
    }
    let stack = Stack::take()?;
    let job = Box::into_raw(Box::new(job));
    // SAFETY: the stack is ours and is never given to anybody else; the job is the new task's from here on. A thread
    // id is asked for only by `start`, whose word is leaked.
    let started = unsafe { arch::clone(flags, stack.top(), tid, live, job.cast()) };
    match started {
        Ok(id) => Ok(id),
        Err(error) => {
            stack.keep();
            // SAFETY: it came out of a box above, and there is nobody else to have it.
            drop(unsafe { Box::from_raw(job) });
            Err(error)
        }
    }
}

unsafe extern "C" fn live(job: *mut c_void) -> i32 {
    // SAFETY: `clone` passed what it took out of a box, to this task alone.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    job();
    0
}

/// Closes the agent's copies of all descriptors; where the kernel has no close_range (before 5.9), those that
/// somebody is likely to wait on.
pub(crate) fn close_all() {
    if arch::close_range(0, u32::MAX).is_err() {
        for fd in 0..=2 {
            // SAFETY: nothing in the agent uses these numbers yet, and the table is its own.
            unsafe { rustix::io::close(fd) };
        }
    }
}
