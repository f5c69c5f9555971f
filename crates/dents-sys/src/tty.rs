//! Terminals.
use crate::{AsRawFd, BorrowedFd, CWD, OwnedFd, Result};
use alloc::ffi::CString;
use rustix::fs::{Mode, OFlags};

/// Whether `fd` is a terminal: one `ioctl`, `TIOCGWINSZ`, which succeeds for terminals only.
pub fn isatty(fd: BorrowedFd<'_>) -> bool {
    rustix::termios::isatty(fd)
}

/// The width of the terminal `fd` in columns: one `ioctl`, `TIOCGWINSZ`. `None` if it is no terminal, or a terminal
/// that does not know its width and returns 0 (a serial line, `script` in a pipe).
pub fn columns(fd: BorrowedFd<'_>) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// The height of a terminal, in lines: one `TIOCGWINSZ`. `None` if it does not know it.
pub fn rows(fd: BorrowedFd<'_>) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_row > 0).then_some(size.ws_row)
}

/// Waits until one of these terminals is gone: no more input can come, and no output can be shown. Returns false after `ms` milliseconds.
/// One `poll`, and another after a signal.
///
/// A pseudo-terminal wakes the caller at once. After `vhangup` of another terminal the kernel wakes only callers that wait for input
/// (drivers/tty/tty_ldisc.c, `tty_ldisc_hangup`), so call this again and again.
pub fn is_gone_within(fds: &[BorrowedFd<'_>], ms: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled: alloc::vec::Vec<PollFd<'_>> =
        fds.iter().map(|fd| PollFd::new(fd, PollFlags::empty())).collect();
    let timeout = Timespec { tv_sec: i64::from(ms / 1000), tv_nsec: i64::from(ms % 1000) * 1_000_000 };
    // Without a request the kernel reports HUP, ERR and NVAL alone.
    poll(&mut polled, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Opens the terminal `fd` again, by its name in /proc, to write to it without waiting: one `openat` with
/// `O_NONBLOCK`. (To set `O_NONBLOCK` on `fd` itself would set it for all processes that have it open.)
///
/// Errors are the kernel's: `EACCES` for another user's terminal, `ENOENT` without /proc.
pub fn open_again(fd: BorrowedFd<'_>) -> Result<OwnedFd> {
    let path = CString::new(alloc::format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap_or_default();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, &path, flags, Mode::empty())
}

/// Whether a `write` to a terminal would not wait now: one `poll`. It would wait if the terminal is stopped (Ctrl-S)
/// or no program reads from it.
pub fn takes_output(fd: BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    let ready = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    ready.is_ok_and(|ready| ready > 0)
}
