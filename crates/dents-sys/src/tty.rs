//! Terminals.
use crate::{AsRawFd, BorrowedFd, CWD, OwnedFd, Result};
use alloc::ffi::CString;
use rustix::fs::{Mode, OFlags};

/// Whether `fd` is a terminal: one `ioctl`, `TIOCGWINSZ`, that every terminal answers and nothing else does.
pub fn isatty(fd: BorrowedFd<'_>) -> bool {
    rustix::termios::isatty(fd)
}

/// The width of the terminal `fd` in columns: one `ioctl`, `TIOCGWINSZ`. None if it is no terminal or one that
/// does not know (a serial line, `script` in a pipe: 0).
pub fn columns(fd: BorrowedFd<'_>) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// Opens the terminal that `fd` is once more, by its name in /proc, to write to it without ever waiting (`O_NONBLOCK` would
/// otherwise be set for all processes that have it open): one `openat`.
///
/// Errors are the kernel's: `EACCES` for another user's terminal, `ENOENT` without /proc.
pub fn open_again(fd: BorrowedFd<'_>) -> Result<OwnedFd> {
    let path = CString::new(alloc::format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap_or_default();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, &path, flags, Mode::empty())
}

/// Whether a terminal takes output now, rather than let a `write` wait because it was stopped (Ctrl-S) or nothing reads from
/// it: one `poll`.
pub fn takes_output(fd: BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    let ready = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    ready.is_ok_and(|ready| ready > 0)
}
