//! Work that may never end, without libc: an *agent*, a separate process that shares our memory (CLONE_VM).
//!
//! A thread that waits in the kernel for a server (a FUSE request that has been sent, a disk that is gone) may not
//! be woken by any signal. Then its whole process cannot end, not even by exit_group. So calls that may block run in
//! another process: one clone with CLONE_VM and without CLONE_THREAD. The two processes share all memory and nothing
//! else. When our process ends, its parent sees that at once. The kernel sends SIGKILL to the agent
//! (PR_SET_PDEATHSIG), and its stuck threads end when their calls return. Where a filter of system calls refuses that
//! signal, a thread of the agent looks ten times a second whether its parent is still our process.
//!
//! If the agent ends before our process (SIGKILL, a bug), it may have held any lock, even the allocator's, and a
//! thread of ours that takes that lock waits for ever. So one thread of ours waits for the agent's end, takes no lock
//! after that, and ends the program with a message.
//!
//! The agent has a descriptor table of its own, and closes the copies of our descriptors: the process that reads our
//! output must see its end when *our* process ends. The threads of the agent share one table (CLONE_FILES), unlike
//! those of [`thread`](crate::thread), so that one can read what another has opened.
//!
//! No thread waits for the end of the agent's threads, so their stacks are never reused: 256 KiB of addresses each.
//! The pages that were touched (two or three) stay until the last process with this memory has ended.
//!
//! System calls: an agent costs the caller six (mmap, mprotect, clone, twice), itself three (close_range, prctl,
//! getppid), and the thread that waits for its end one (futex). A thread costs three. Without the signal the agent costs one
//! thread more.

use alloc::boxed::Box;
use core::ptr;
use core::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal, waitpid,
};
use rustix::thread::futex;

use crate::arch::flags;
use crate::output::Status;
use crate::panic::{Line, TROUBLE, last_words};
use crate::running::status_of;
use crate::started::{is_now_agent, program};
pub use crate::task::Job;
use crate::task::{clone, close_all, exit, wait};
use crate::thread::detach;

const THREAD: usize = flags::VM | flags::FS | flags::FILES | flags::SIGHAND | flags::THREAD | flags::SYSVSEM;

/// Starts the agent, which runs `job`; `job` must not return. The agent shares our memory, but our descriptors are
/// not valid in it.
///
/// If the agent ends before our process, by a panic or a signal, a thread of ours calls `at_end`, writes one line to
/// standard error, and ends the program with status 2. `at_end` must take no lock and allocate nothing.
///
/// In a process that was not started by [`entry!`](crate::entry), such as a test harness, it fails with EPERM: the
/// libc there does not support such processes.
///
/// # Errors
/// The kernel's: EAGAIN at the limit of processes or threads, ENOMEM.
pub fn start(job: Job, at_end: fn()) -> Result<(), Errno> {
    const AGENT_FLAGS: usize = flags::VM | flags::PARENT_SETTID | flags::CHILD_CLEARTID;
    let us = getpid();
    let life = move || {
        close_all();
        let will_end = set_parent_process_death_signal(Some(Signal::KILL))
            .or_else(|_| thread(Box::new(move || end_after(us))));
        is_now_agent();
        // If our process had ended before that, no signal would ever end the agent.
        if will_end.is_ok() && getppid() == Some(us) {
            job();
        }
    };
    // No exit signal: neither our process nor its parent is to be notified.
    let lives: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
    let agent = clone(AGENT_FLAGS, lives, Box::new(life))?;
    let watched = detach(Box::new(move || outlive(agent, lives, at_end)));
    if watched.is_err()
        && let Some(agent) = Pid::from_raw(agent.cast_signed())
    {
        let _ = kill_process(agent, Signal::KILL);
    }
    watched
}

/// The loop of the thread that waits for the agent's end. It allocates nothing after that end.
fn outlive(agent: u32, lives: &AtomicU32, at_end: fn()) {
    wait(lives);
    at_end();
    let line = last_words().unwrap_or_else(|| Line::of_agent(program(), how_it_ended(agent)));
    // SAFETY: only borrows the number 2; if it is closed, the write fails.
    let _ = rustix::io::write(unsafe { rustix::stdio::stderr() }, line.as_bytes());
    exit(TROUBLE)
}

/// The loop of the thread that ends the agent after our process, `parent`, where the kernel sends no signal. The lister sends
/// none either (it may be killed), and the agent blocks those of the keyboard. It allocates nothing and takes no lock: our
/// process may have ended while it held one.
fn end_after(parent: Pid) {
    const NAP: futex::Timespec = futex::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while getppid() == Some(parent) {
        nap(&NAP);
    }
    exit(TROUBLE)
}

/// Sleeps. A signal may wake the thread earlier.
fn nap(time: &futex::Timespec) {
    let never = AtomicU32::new(0);
    let _ = futex::wait(&never, futex::Flags::PRIVATE, 0, Some(time));
}

/// How the agent ended. The kernel reports it when the agent's last thread has ended: soon, unless one is stuck.
fn how_it_ended(agent: u32) -> Status {
    /// `__WALL` of wait4(2): includes children without an exit signal.
    const ALL: u32 = 0x4000_0000;
    const NAPS: u32 = 50;
    const NAP: futex::Timespec = futex::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let options = WaitOptions::NOHANG | WaitOptions::from_bits_retain(ALL);
    for _ in 0..NAPS {
        match waitpid(Pid::from_raw(agent.cast_signed()), options) {
            Ok(None) => nap(&NAP),
            Ok(Some((_, status))) => return status_of(status),
            Err(_) => break,
        }
    }
    Status::Unknown
}

/// Starts a detached thread in the agent, beside the calling one.
///
/// # Errors
/// As [`start`].
pub fn thread(job: Job) -> Result<(), Errno> {
    clone(THREAD, ptr::null(), job).map(drop)
}
