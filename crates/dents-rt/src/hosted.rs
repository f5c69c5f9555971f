//! The same API on std: for other architectures, and with the feature `std`.

use std::boxed::Box;
use std::ffi::{CString, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;
use std::vec::Vec;

use crate::panic::{Line, TROUBLE};
use crate::process::Process;

static PROCESS: OnceLock<Process> = OnceLock::new();

/// Called by the `main` of [`entry!`](crate::entry).
///
/// Undoes one thing that std did before `main`: std ignores SIGPIPE, but an `ls` whose reader has ended should be
/// killed by it. Another stays: descriptors 0, 1 and 2 are /dev/null if they were closed.
#[doc(hidden)]
pub fn start(main: fn(Process) -> u8) -> std::process::ExitCode {
    reset_sigpipe();
    let process = *PROCESS.get_or_init(process);
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("(no message)");
        let program = PROCESS.get().map(Process::program).unwrap_or_default();
        let line = Line::of_panic(program, &message, info.location());
        // Not `std::io::stderr`, whose lock the panicking thread may hold.
        // SAFETY: only borrows the number 2; if it is closed, the write fails.
        let _ = rustix::io::write(unsafe { rustix::stdio::stderr() }, line.as_bytes());
        exit(TROUBLE)
    }));
    main(process).into()
}

/// Ends the process with all its threads.
pub fn exit(status: u8) -> ! {
    std::process::exit(status.into())
}

fn reset_sigpipe() {
    unsafe extern "C" {
        fn signal(number: c_int, handler: usize) -> usize;
    }
    const SIGPIPE: c_int = 13;
    const SIG_DFL: usize = 0;
    // SAFETY: signal(2) with the default action installs no handler. Signal 13 is SIGPIPE on every Linux architecture
    // that Rust supports, and on the BSDs.
    unsafe { signal(SIGPIPE, SIG_DFL) };
}

/// Arguments and environment in the form the kernel gives them. Made once, never freed.
fn process() -> Process {
    let pair = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    let args = leak(std::env::args_os());
    let env = leak(std::env::vars_os().map(pair));
    // SAFETY: `leak` gives valid strings that live forever, with a NULL after the last.
    unsafe { Process::new(args.len() - 1, args.as_ptr(), env.as_ptr()) }
}

fn leak(strings: impl Iterator<Item = OsString>) -> &'static [*const c_char] {
    // These were C strings, so they contain no NUL.
    let pointer =
        |string: OsString| CString::new(string.into_vec()).unwrap_or_default().into_raw().cast_const();
    Vec::leak(strings.map(pointer).chain([std::ptr::null()]).collect())
}

/// Scoped threads.
pub mod thread {
    use std::thread::{Builder, scope};

    /// Runs `job(0)` on the calling thread and `job(1)` … `job(workers - 1)` on threads of their own. Returns when
    /// all have ended, with the number of jobs that ran, at least 1. If a thread cannot be started, no further one is
    /// tried; that is no error, because the jobs that run share the work.
    pub fn run(workers: usize, job: &(dyn Fn(usize) + Sync)) -> usize {
        run_beside(workers, job, &mut || {})
    }

    /// Like [`run`], but the calling thread runs `own` before `job(0)`.
    pub fn run_beside(workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) -> usize {
        scope(|scope| {
            let start = |index| Builder::new().spawn_scoped(scope, move || job(index)).is_ok();
            let started = (1..workers).take_while(|&index| start(index)).count();
            own();
            job(0);
            1 + started
        })
    }

    /// Starts a detached thread.
    ///
    /// # Errors
    /// EAGAIN where there may be no more threads.
    pub fn detach(job: super::agent::Job) -> Result<(), crate::Errno> {
        super::agent::thread(job)
    }

    /// Runs `during`. On std stuck threads are not replaced: a listing takes as long as its slowest entry.
    pub fn with_replacements(_: &(dyn Fn() -> bool + Sync), _: &(dyn Fn() + Sync), during: &mut dyn FnMut()) {
        during();
    }

    /// Starts none.
    pub fn replace(_: u32) {}
}

/// Work that may never end. On std it runs on detached threads of this process, which end with the program. If one
/// waits in the kernel and no signal wakes it, the process stays until that call returns. (Threads share one
/// descriptor table, so a process that reads our output waits as long.) The agent without libc avoids this.
pub mod agent {
    use rustix::io::Errno;
    use std::boxed::Box;
    use std::thread::Builder;

    /// A closure that is called once.
    pub type Job = Box<dyn FnOnce() + Send + 'static>;

    /// Runs `job` on a detached thread. The thread ends with the process, so `at_end` is never called: a panic of any
    /// thread ends the program.
    ///
    /// # Errors
    /// EAGAIN where there may be no more threads.
    pub fn start(job: Job, at_end: fn()) -> Result<(), Errno> {
        let _ = at_end;
        thread(job)
    }

    /// Runs `job` on a detached thread.
    ///
    /// # Errors
    /// As [`start`].
    pub fn thread(job: Job) -> Result<(), Errno> {
        let refused = |error: std::io::Error| error.raw_os_error().unwrap_or(Errno::AGAIN.raw_os_error());
        Builder::new().spawn(job).map(drop).map_err(|error| Errno::from_raw_os_error(refused(error)))
    }
}

/// Running a program and reading its output.
pub mod child {
    use super::*;
    use crate::output::{Output, Status};
    use crate::running::Running;
    use rustix::fd::{FromRawFd, OwnedFd};
    use rustix::io::Errno;
    use rustix::process::Pid;
    use std::ffi::CStr;
    use std::os::fd::IntoRawFd;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Command, Stdio};

    /// Nothing to do: std's children block no signal.
    pub fn set_blocked_signals(_: u64) {}

    /// Runs `argv[0]` with exactly this environment, and returns all that it writes to standard output. A name
    /// without a slash is searched for in the PATH of `env`. Standard input and error of the child are /dev/null.
    ///
    /// # Errors
    /// The error of starting the child or of reading its output. A program that starts and fails is not an error: see
    /// [`Output::status`].
    pub fn output(argv: &[&CStr], env: &[&CStr]) -> Result<Output, Errno> {
        let finished = command(argv, env)?.output().map_err(|error| refused(&error))?;
        let exited = finished.status.code().map(|status| Status::Exited(status as u8));
        let signaled = finished.status.signal().map(|signal| Status::Signaled(signal as u8));
        Ok(Output { stdout: finished.stdout, status: exited.or(signaled).unwrap_or(Status::Unknown) })
    }

    /// Starts a program as [`output`] does, and returns while it runs, in a process group of its own.
    ///
    /// # Errors
    /// As [`output`], and ENOSYS if `confined`: std cannot confine a child.
    pub fn start(argv: &[&CStr], env: &[&CStr], confined: bool) -> Result<Running, Errno> {
        if confined {
            return Err(Errno::NOSYS);
        }
        let mut command = command(argv, env)?;
        let mut child =
            command.process_group(0).stdout(Stdio::piped()).spawn().map_err(|error| refused(&error))?;
        let stdout = child.stdout.take().ok_or(Errno::PIPE)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        // SAFETY: the descriptor is open, and `into_raw_fd` has taken it from its owner.
        let stdout = unsafe { OwnedFd::from_raw_fd(stdout.into_raw_fd()) };
        Ok(Running::new(pid, stdout, None))
    }

    fn refused(error: &std::io::Error) -> Errno {
        error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error)
    }

    /// The command, except for its standard output.
    fn command(argv: &[&CStr], env: &[&CStr]) -> Result<Command, Errno> {
        let os = |string: &CStr| OsStr::from_bytes(string.to_bytes()).to_os_string();
        let name = argv.first().ok_or(Errno::INVAL)?;
        let variable = |string: &&CStr| {
            let bytes = string.to_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=')?;
            Some((
                OsStr::from_bytes(&bytes[..equals]).to_os_string(),
                OsStr::from_bytes(&bytes[equals + 1..]).to_os_string(),
            ))
        };
        let mut command = Command::new(os(name));
        command
            .arg0(os(name))
            .args(argv[1..].iter().map(|argument| os(argument)))
            .env_clear()
            .envs(env.iter().filter_map(variable))
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        Ok(command)
    }
}
