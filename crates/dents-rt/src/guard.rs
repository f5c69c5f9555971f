//! The guard of a child that may start processes: it leads the child's process group, and kills the group when our
//! process ends in any way. Our process cannot do that itself after SIGKILL, nor after Ctrl-C, for which it has no
//! handler.
//!
//! The guard is a process that shares our memory, as an agent does. It waits for its parent-death signal, which the
//! kernel sends when the thread that started the guard ends, even if another thread of ours is stuck and keeps the
//! process from ending. Before Linux 5.16 a core dump of our process kills the guard before it can act. Then only the
//! child itself ends, by its own parent-death signal.
//!
//! System calls: a guard costs our process six (mmap, mprotect, clone, setpgid; kill and wait4 at its end), and
//! itself six (rt_sigprocmask, setpgid, close_range, prctl, getppid, rt_sigtimedwait). Its stack is not reused.

use alloc::boxed::Box;
use core::ptr;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, getpgrp, getpid, getppid, kill_process_group, set_parent_process_death_signal, setpgid,
};

use crate::arch::{self, SignalSet, flags};
use crate::running::Guard;
use crate::task;

/// The signals that the guard waits for.
const END: Signal = Signal::TERM;

/// Starts a guard.
///
/// # Errors
/// The kernel's, and EPERM in a process that was not started by [`entry!`](crate::entry).
pub(crate) fn start() -> Result<Guard, Errno> {
    let us = getpid();
    let id = task::clone(flags::VM | flags::SIGCHLD, ptr::null(), Box::new(move || watch(us)))?;
    let guard = Guard(Pid::from_raw(id as i32).ok_or(Errno::SRCH)?);
    // The guard makes the same call, but perhaps only after the child joins the group.
    setpgid(Some(guard.0), Some(guard.0))?;
    Ok(guard)
}

/// The code of the guard. It allocates nothing and takes no lock: our process may have ended while it held one.
fn watch(parent: Pid) {
    arch::set_blocked_signals(SignalSet::MAX);
    let _ = setpgid(None, None);
    task::close_all();
    // Refused by a filter of system calls: then the child, which needs the same signal, does not start, and a guard
    // that waited would stay for ever.
    let will_end = set_parent_process_death_signal(Some(END)).is_ok();
    // Otherwise the parent has ended before the call above.
    if will_end && getppid() == Some(parent) {
        arch::wait_for_signal(1 << (END.as_raw() - 1));
    }
    // The guard never kills a group that it does not lead: our group may be that of the shell.
    if getpgrp() == getpid() {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
}
