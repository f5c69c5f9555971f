//! Runs a program and reads its output, without libc: pipe, clone, execve, read, wait4.
//!
//! Until its execve the child uses our memory (CLONE_VM|CLONE_VFORK), so nothing is copied, however much our process
//! has mapped. The calling thread is stopped until then.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid};

use crate::arch::{self, SignalSet, flags};
use crate::output::{Output, Status};
use crate::process::value_if_named;
use crate::running::{Running, status_of};
use crate::stack::Stack;
use crate::{confine, guard};

/// The search path if the environment has no PATH: the value of _CS_PATH of confstr(3).
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// The signals that children block; all bits until it is set (no mask can have SIGKILL).
static BLOCKED: AtomicU64 = AtomicU64::new(SignalSet::MAX);

/// Sets the signals that children block from now on (bit `n - 1` for signal `n`), instead of those that the calling
/// thread blocks: a program blocks signals for itself, not for its children.
pub fn set_blocked_signals(blocked: u64) {
    BLOCKED.store(blocked, Ordering::Relaxed);
}

/// Runs `argv[0]` with exactly this environment, and returns all that it writes to standard output. A name without a
/// slash is searched for in the PATH of `env`. Standard input and error of the child are /dev/null. Its signal mask
/// is ours or that of [`set_blocked_signals`]. It inherits those of our descriptors that are not O_CLOEXEC.
///
/// Costs our process about ten system calls, and a read for each 64 KiB. Blocks until the child has closed its output
/// and ended.
///
/// # Errors
/// The error of execve, pipe, mmap, clone, or of reading the output. A program that starts and fails is not an error:
/// see [`Output::status`].
pub fn output(argv: &[&CStr], env: &[&CStr]) -> Result<Output, Errno> {
    let (child, reader) = launch(argv, env, None)?;
    let mut stdout = Vec::new();
    let read = read_all(reader.as_fd(), &mut stdout);
    // If reading failed, the child must not wait for a reader.
    drop(reader);
    let status = wait(child);
    read?;
    Ok(Output { stdout, status })
}

/// Starts a program as [`output`] does, and returns while it runs: about ten system calls, and the milliseconds that
/// the kernel takes for an execve. The child is in a process group of its own, which dropping the [`Running`] kills.
/// If the calling thread ends before that in any way, the kernel kills the child (PR_SET_PDEATHSIG).
///
/// If `confined`, the child may start no process (`confine.rs`). Otherwise, when our process ends, a guard kills all
/// processes that the child has started (`guard.rs`). If the guard cannot be started, these processes stay.
///
/// # Errors
/// As [`output`]; EINVAL, ENOSYS, or EPERM where the kernel cannot confine it.
pub fn start(argv: &[&CStr], env: &[&CStr], confined: bool) -> Result<Running, Errno> {
    let guard = if confined { None } else { guard::start().ok() };
    let apart = Apart { group: guard.as_ref().map(|guard| guard.0), parent: getpid(), confined };
    let (child, reader) = launch(argv, env, Some(apart))?;
    Ok(Running::new(child, reader, guard))
}

/// How a child is separated from our process, and ends with it nevertheless.
struct Apart {
    /// The process group that it joins; without one, it leads its own.
    group: Option<Pid>,
    parent: Pid,
    confined: bool,
}

/// A child, and the pipe with its output.
fn launch(argv: &[&CStr], env: &[&CStr], apart: Option<Apart>) -> Result<(Pid, OwnedFd), Errno> {
    let name = argv.first().ok_or(Errno::INVAL)?;
    let candidates = candidates(name.to_bytes(), env);
    let (reader, writer) = pipe()?;
    let (argv, envp) = (pointers(argv), pointers(env));
    // Our copy of the writer is closed after this; otherwise the pipe would never end.
    let child = spawn(&candidates, &argv, &envp, writer.as_fd(), apart)?;
    Ok((child, reader))
}

/// The paths to try. POSIX: an empty component of PATH means the current directory.
fn candidates(name: &[u8], env: &[&CStr]) -> Vec<CString> {
    if name.contains(&b'/') || name.is_empty() {
        return CString::new(name).into_iter().collect();
    }
    let path = env.iter().find_map(|string| value_if_named(string, b"PATH"));
    let path = path.map_or(DEFAULT_PATH, CStr::to_bytes);
    let in_directory = |directory: &[u8]| {
        let slash: &[u8] = if directory.is_empty() { b"" } else { b"/" };
        CString::new([directory, slash, name].concat()).ok()
    };
    path.split(|&byte| byte == b':').filter_map(in_directory).collect()
}

/// The pointers to these strings and a NULL at the end, as execve takes them.
fn pointers(strings: &[&CStr]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// A pipe whose ends are not 0, 1 or 2, even if these are closed: the child will replace them.
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    Ok((above_standard(reader)?, above_standard(writer)?))
}

fn above_standard(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    use rustix::fd::AsRawFd;
    if fd.as_raw_fd() > 2 { Ok(fd) } else { rustix::io::fcntl_dupfd_cloexec(&fd, 3) }
}

/// The arguments of the child, and its error.
struct Errand<'a> {
    candidates: &'a [CString],
    argv: &'a [*const c_char],
    envp: &'a [*const c_char],
    stdout: BorrowedFd<'a>,
    apart: Option<Apart>,
    blocked: SignalSet,
    /// The error of execve; 0 if it succeeded.
    error: AtomicI32,
}

/// Starts the child. Returns when the child has called execve, or has failed and was reaped.
fn spawn(
    candidates: &[CString],
    argv: &[*const c_char],
    envp: &[*const c_char],
    stdout: BorrowedFd<'_>,
    apart: Option<Apart>,
) -> Result<Pid, Errno> {
    let stack = Stack::take()?;
    // No signal handler may run in the child while it uses our memory.
    let blocked = arch::set_blocked_signals(SignalSet::MAX);
    let theirs =
        Some(BLOCKED.load(Ordering::Relaxed)).filter(|set| *set != SignalSet::MAX).unwrap_or(blocked);
    let errand = Errand { candidates, argv, envp, stdout, apart, blocked: theirs, error: AtomicI32::new(0) };
    let argument = (&raw const errand).cast_mut().cast::<c_void>();
    // SAFETY: this function owns the stack. With CLONE_VFORK clone returns only when the child no longer uses the
    // stack or the errand. No flag requests a thread id, so its pointer is null.
    let cloned = unsafe {
        arch::clone(flags::VM | flags::VFORK | flags::SIGCHLD, stack.top(), ptr::null(), run_errand, argument)
    };
    arch::set_blocked_signals(blocked);
    stack.keep();
    let child = Pid::from_raw(cloned? as i32).ok_or(Errno::SRCH)?;
    match errand.error.load(Ordering::Relaxed) {
        0 => Ok(child),
        error => {
            wait(child);
            Err(Errno::from_raw_os_error(error))
        }
    }
}

/// The child, before its execve. It must not change our memory, except its stack and the error of the errand: nothing
/// here allocates or takes a lock.
unsafe extern "C" fn run_errand(errand: *mut c_void) -> i32 {
    // SAFETY: `spawn` passed an errand that it keeps until the child no longer uses our memory.
    let errand = unsafe { &*errand.cast::<Errand<'_>>() };
    let error = match errand.apart.as_ref().map_or(Ok(()), keep_apart).and_then(|()| redirect(errand.stdout))
    {
        Ok(()) => {
            arch::set_blocked_signals(errand.blocked);
            execute(errand)
        }
        Err(error) => error,
    };
    errand.error.store(error.raw_os_error(), Ordering::Relaxed);
    127
}

fn keep_apart(apart: &Apart) -> Result<(), Errno> {
    rustix::process::setpgid(None, apart.group)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent ended before the call above, no signal would ever end the child.
    if getppid() != Some(apart.parent) {
        return Err(Errno::SRCH);
    }
    if apart.confined { confine::confine() } else { Ok(()) }
}

fn redirect(stdout: BorrowedFd<'_>) -> Result<(), Errno> {
    // If one of the three was closed, /dev/null gets its number. Then it must stay open after execve.
    let null = rustix::fs::openat(CWD, c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::fcntl_setfd(&null, FdFlags::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    rustix::stdio::dup2_stdout(stdout)?;
    use rustix::fd::AsRawFd;
    if null.as_raw_fd() <= 2 {
        // It is one of the child's standard streams now, so it must not be closed.
        core::mem::forget(null);
    }
    Ok(())
}

/// Tries each path as execvp(3) does; returns the error to report. A file found but not executable is
/// reported only if no later directory has an executable one.
fn execute(errand: &Errand<'_>) -> Errno {
    let mut report = Errno::NOENT;
    for path in errand.candidates {
        // SAFETY: `pointers` made both arrays, of C strings that the caller of `output` keeps alive.
        match unsafe { arch::execve(path, errand.argv.as_ptr(), errand.envp.as_ptr()) } {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => report = Errno::ACCESS,
            error => return error,
        }
    }
    report
}

fn read_all(reader: BorrowedFd<'_>, into: &mut Vec<u8>) -> Result<(), Errno> {
    const AT_LEAST: usize = 4096;
    loop {
        if into.capacity() - into.len() < AT_LEAST {
            into.try_reserve(AT_LEAST).map_err(|_| Errno::NOMEM)?;
        }
        match rustix::io::read(reader, rustix::buffer::spare_capacity(into)) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reaps the child.
fn wait(child: Pid) -> Status {
    loop {
        match rustix::process::waitpid(Some(child), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            Ok(Some((_, status))) => return status_of(status),
            Ok(None) | Err(_) => return Status::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::running::Step;
    use alloc::borrow::ToOwned;
    use std::string::String;
    use std::{format, vec};

    #[test]
    fn a_slash_or_nothing_is_not_looked_for() {
        assert_eq!(candidates(b"./x", &[c"PATH=/a"]), [c"./x".to_owned()]);
        assert_eq!(candidates(b"", &[c"PATH=/a"]), [c"".to_owned()]);
    }

    #[test]
    fn path_is_searched_in_order() {
        let paths = candidates(b"x", &[c"APATH=/no", c"PATH=/a::/b/", c"PATH=/no"]);
        assert_eq!(paths, [c"/a/x".to_owned(), c"x".to_owned(), c"/b//x".to_owned()]);
        assert_eq!(candidates(b"x", &[]), [c"/bin/x".to_owned(), c"/usr/bin/x".to_owned()]);
    }

    #[test]
    fn output_and_status() {
        let shell = |script: &CStr| output(&[c"sh", c"-c", script], &[c"PATH=/bin", c"X=y z"]).unwrap();
        assert_eq!(
            shell(c"echo \"$X\"; echo no >&2; exit 3"),
            Output { stdout: b"y z\n".to_vec(), status: Status::Exited(3) }
        );
        assert_eq!(shell(c"kill -9 $$"), Output { stdout: vec![], status: Status::Signaled(9) });
        let links = shell(c"cat; cd /proc/self/fd; readlink 0; readlink 2; readlink 1 | cut -d: -f1");
        assert_eq!(links.stdout, b"/dev/null\n/dev/null\npipe\n");
    }

    #[test]
    fn nothing_of_ours_leaks() {
        // Both pass on the descriptors that the harness itself inherited.
        let script = "ls /proc/self/fd; grep SigBlk /proc/self/status";
        let std = std::process::Command::new("sh").args(["-c", script]).output().unwrap();
        let script = CString::new(script).unwrap();
        assert_eq!(output(&[c"sh", c"-c", &script], &[c"PATH=/bin"]).unwrap().stdout, std.stdout);
    }

    /// The output of a script, unless the kernel cannot confine it.
    fn said(script: &CStr, confined: bool) -> Option<String> {
        let mut child = start(&[c"sh", c"-c", script], &[c"PATH=/bin:/usr/bin"], confined).ok()?;
        let mut said = Vec::new();
        while child.step(20_000_000_000, &mut said).unwrap() == Step::On {}
        Some(String::from_utf8(said).unwrap())
    }

    #[test]
    fn confined_it_starts_no_process() {
        let script = c"echo one; (echo two) || exec echo three";
        assert_eq!(said(script, false).unwrap(), "one\ntwo\n");
        let Some(printed) = said(script, true) else { return };
        assert!(printed.starts_with("one\n") && !printed.contains("two"), "{printed}");
        let status = said(c"exec cat /proc/self/status", true).unwrap();
        assert!(status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"), "{status}");
        let ours = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let filters =
            |status: &str| status.lines().find(|line| line.starts_with("Seccomp_filters")).map(str::to_owned);
        assert_eq!(
            filters(&said(c"exec cat /proc/self/status", false).unwrap()),
            filters(&ours),
            "we are not confined"
        );
    }

    #[test]
    fn much_output() {
        let printed = output(&[c"seq", c"300000"], &[]).unwrap().stdout;
        let expected: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
        assert!(printed == expected.as_bytes());
    }

    #[test]
    fn what_cannot_be_started() {
        assert_eq!(output(&[], &[]), Err(Errno::INVAL));
        assert_eq!(output(&[c"no-such-program"], &[c"PATH=/bin:/usr/bin"]), Err(Errno::NOENT));
        assert_eq!(output(&[c"/no/such"], &[]), Err(Errno::NOENT));
        assert_eq!(output(&[c"passwd"], &[c"PATH=/etc:/dev/null"]), Err(Errno::ACCESS));
        assert_eq!(output(&[c"/etc"], &[]), Err(Errno::ACCESS));
    }
}
