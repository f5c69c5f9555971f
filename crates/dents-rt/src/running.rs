//! A child that runs beside our process. The caller reads its output piece by piece, until a deadline. Dropping it
//! kills it.
//!
//! It is started in different ways with and without libc; this module has the code that is the same for both.

use alloc::vec::Vec;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, waitpid};

use crate::output::Status;

/// The capacity of a child's pipe, so that the child need not wait while our process does other work. An unprivileged
/// user may set it (/proc/sys/fs/pipe-max-size).
const PIPE: usize = 1 << 20;

/// The time between two checks whether a child that has closed its output has ended. That takes some 200 µs.
const SOON_NS: u64 = 100_000;

/// The time between two checks whether a killed child has ended.
const NAP_NS: u64 = 1_000_000;

/// The number of checks for a killed child. A child that waits in the kernel for a dead server ends only when its
/// call returns; the process that inherits it then reaps it.
const NAPS: u32 = 50;

/// A child in a process group of its own. Dropping it before it has ended kills the whole group.
#[derive(Debug)]
pub struct Running {
    /// `None` after it was reaped.
    child: Option<Pid>,
    /// The leader of its group; without one, the child leads.
    guard: Option<Guard>,
    /// `None` after it was read to its end.
    stdout: Option<OwnedFd>,
}

/// A process that kills the child's group when ours ends (`guard.rs`). Dropping it ends the guard alone.
#[derive(Debug)]
pub(crate) struct Guard(pub(crate) Pid);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
        // The guard only waits for signals, so it ends at once.
        while matches!(waitpid(Some(self.0), WaitOptions::empty()), Err(Errno::INTR)) {}
    }
}

/// The result of a [`Running::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It is running; `into` may have more bytes than before.
    On,
    /// No output arrived in the given time.
    Late,
    /// It has closed its output, and ended.
    Ended(Status),
}

impl Running {
    pub(crate) fn new(child: Pid, stdout: OwnedFd, guard: Option<Guard>) -> Self {
        // If this fails, the pipe has its default capacity.
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE);
        Running { child: Some(child), guard, stdout: Some(stdout) }
    }

    /// Waits at most `wait_ns` nanoseconds for more output or for the end, and appends the output to `into`. Two
    /// system calls.
    ///
    /// # Errors
    /// ENOMEM; the kernel's for `poll` and `read`.
    pub fn step(&mut self, wait_ns: u64, into: &mut Vec<u8>) -> Result<Step, Errno> {
        const AT_LEAST: usize = 4096;
        const MORE: usize = 64 * 1024;
        let Some(stdout) = &self.stdout else { return self.end(wait_ns) };
        if !wait(&mut [PollFd::new(stdout, PollFlags::IN)], wait_ns)? {
            return Ok(Step::Late);
        }
        if into.capacity() - into.len() < AT_LEAST {
            into.try_reserve(MORE).map_err(|_| Errno::NOMEM)?;
        }
        match rustix::io::read(stdout, rustix::buffer::spare_capacity(into)) {
            Ok(0) => {
                self.stdout = None;
                self.end(wait_ns)
            }
            Ok(_) | Err(Errno::INTR) => Ok(Step::On),
            Err(error) => Err(error),
        }
    }

    /// Waits for the child, which should end soon, because its output has ended.
    fn end(&mut self, wait_ns: u64) -> Result<Step, Errno> {
        let Some(child) = self.child else { return Ok(Step::Ended(Status::Unknown)) };
        let status = match reap(child) {
            Some(status) => status,
            None if wait_ns == 0 => return Ok(Step::Late),
            None => {
                wait(&mut [], wait_ns.min(SOON_NS))?;
                return Ok(Step::On);
            }
        };
        self.child = None;
        Ok(Step::Ended(status))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(child) = self.child else { return };
        let leader = self.guard.as_ref().map_or(child, |guard| guard.0);
        let _ = kill_process_group(leader, Signal::KILL);
        for _ in 0..NAPS {
            if reap(child).is_some() || wait(&mut [], NAP_NS).is_err() {
                break;
            }
        }
    }
}

/// Whether something happened in time.
fn wait(fds: &mut [PollFd<'_>], wait_ns: u64) -> Result<bool, Errno> {
    const SECOND_NS: u64 = 1_000_000_000;
    let time = Timespec { tv_sec: (wait_ns / SECOND_NS) as _, tv_nsec: (wait_ns % SECOND_NS) as _ };
    match poll(fds, Some(&time)) {
        // A signal that has a handler: the caller reads the clock.
        Err(Errno::INTR) => Ok(true),
        Ok(ready) => Ok(ready > 0),
        Err(error) => Err(error),
    }
}

/// The status of a child that has ended, if it has.
fn reap(child: Pid) -> Option<Status> {
    match waitpid(Some(child), WaitOptions::NOHANG) {
        Ok(None) | Err(Errno::INTR) => None,
        Ok(Some((_, status))) => Some(status_of(status)),
        Err(_) => Some(Status::Unknown),
    }
}

pub(crate) fn status_of(status: WaitStatus) -> Status {
    let exited = status.exit_status().map(|status| Status::Exited(status as u8));
    let signaled = status.terminating_signal().map(|signal| Status::Signaled(signal as u8));
    exited.or(signaled).unwrap_or(Status::Unknown)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::child::start;
    use std::ffi::CString;
    use std::time::{Duration, Instant};
    use std::{format, fs, string::String};

    fn shell(script: &str) -> Running {
        let script = CString::new(script).unwrap();
        start(&[c"sh", c"-c", &script], &[c"PATH=/usr/bin:/bin"], false).unwrap()
    }

    /// All of its output, or the part before the deadline.
    fn read(child: &mut Running, wait: Duration) -> (Vec<u8>, Step) {
        let (until, mut printed) = (Instant::now() + wait, Vec::new());
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match child.step(left.as_nanos() as u64, &mut printed).unwrap() {
                Step::On => {}
                end => return (printed, end),
            }
        }
    }

    #[test]
    fn output_and_status_come_when_they_are_there() {
        let mut child = shell("echo one; sleep 0.05; echo two; exit 3");
        let ended = Step::Ended(Status::Exited(3));
        assert_eq!(read(&mut child, Duration::from_secs(20)), (b"one\ntwo\n".to_vec(), ended));
        assert_eq!(child.step(0, &mut Vec::new()), Ok(Step::Ended(Status::Unknown)), "and only once");
    }

    #[test]
    fn more_than_a_pipe_holds() {
        let (printed, step) = read(&mut shell("seq 400000"), Duration::from_secs(20));
        assert_eq!((printed.len(), step), (2_688_895, Step::Ended(Status::Exited(0))));
    }

    #[test]
    fn one_that_closes_its_output_may_take_its_time() {
        let mut child = shell("exec >&-; sleep 0.2; exit 4");
        assert_eq!(read(&mut child, Duration::from_millis(20)).1, Step::Late);
        assert_eq!(read(&mut child, Duration::from_secs(20)).1, Step::Ended(Status::Exited(4)));
    }

    #[test]
    fn late_ones_end_with_all_they_have_started() {
        let mut child = shell("sleep 100 & echo $!; wait");
        let (printed, step) = read(&mut child, Duration::from_millis(500));
        assert_eq!(step, Step::Late);
        let pids =
            [child.child.unwrap().as_raw_pid(), String::from_utf8(printed).unwrap().trim().parse().unwrap()];
        let start = Instant::now();
        drop(child);
        assert!(start.elapsed() < Duration::from_secs(5));
        for pid in pids {
            let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The grandchild may be a zombie for as long as the process that inherits it does not wait for it.
            let gone = || state().is_empty() || state().contains(") Z ");
            let until = Instant::now() + Duration::from_secs(5);
            while !gone() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(gone(), "{pid} lives: {}", state());
        }
    }

    #[test]
    fn what_cannot_be_started() {
        assert_eq!(start(&[], &[], false).unwrap_err(), Errno::INVAL);
        // Only the runtime without libc can confine a program.
        let confined = cfg!(dents_libc_free);
        let missing = start(&[c"no-such-program"], &[c"PATH=/bin:/usr/bin"], confined);
        assert_eq!(missing.unwrap_err(), Errno::NOENT);
    }
}
