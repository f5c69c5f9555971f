//! Terminals.
use crate::BorrowedFd;

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
