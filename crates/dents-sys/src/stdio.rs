//! The three descriptors with which every process is started.
use crate::{AsRawFd, BorrowedFd, CWD, Errno, Result};
use rustix::fs::{Mode, OFlags};

/// Standard input.
pub const STDIN: BorrowedFd<'static> = borrow(0);
/// Standard output.
pub const STDOUT: BorrowedFd<'static> = borrow(1);
/// Standard error.
pub const STDERR: BorrowedFd<'static> = borrow(2);

const fn borrow(fd: i32) -> BorrowedFd<'static> {
    // SAFETY: the number is not -1, and this crate has no owner of it that could close it. If the process was started
    // without it, calls return EBADF, which is harmless.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Closes standard output at the end of a program: a server, or a disk quota, may refuse only now what `write` took (close(2)). Nothing is
/// written to it afterwards, because another file may get the number. One `close`.
///
/// # Errors
/// The kernel's: `ENOSPC`, `EDQUOT`, `EIO`, …
pub fn close_stdout() -> Result<()> {
    // SAFETY: nothing owns the number, as for the constants above, and the program ends.
    match unsafe { rustix::io::try_close(STDOUT.as_raw_fd()) } {
        // It is closed (close(2)).
        Err(Errno::INTR) => Ok(()),
        closed => closed,
    }
}

/// If the process was started without standard output (`>&-`), opens `/dev/null` there, to read only: each `write` then fails with `EBADF`.
/// The number is taken, so no file that is opened later gets it. One `fcntl`, and the `openat` if it is needed.
///
/// Std opens `/dev/null` for descriptors that are missing, to read and write, and so a program would lose its output and report success.
/// [`closed_stdout_fails!`](crate::closed_stdout_fails) calls this before std starts.
pub extern "C" fn keep_closed() {
    let is_open = rustix::io::fcntl_getfd(STDOUT) != Err(Errno::BADF);
    if is_open {
        return;
    }
    // The kernel gives the lowest number that is free: perhaps 0 first, which std would fill in the same way.
    while let Ok(null) = rustix::fs::openat(CWD, c"/dev/null", OFlags::RDONLY, Mode::empty()) {
        let number = null.as_raw_fd();
        core::mem::forget(null);
        if number >= STDOUT.as_raw_fd() {
            return;
        }
    }
}

/// For the `main.rs` of a program on std, once: a program that is started without standard output fails when it writes to it.
#[macro_export]
macro_rules! closed_stdout_fails {
    () => {
        const _: () = {
            // SAFETY: the loader calls the functions of this section before std starts; they may ignore their arguments. This one makes two
            // system calls and touches no other memory.
            #[used]
            #[unsafe(link_section = ".init_array")]
            static KEEP_CLOSED: extern "C" fn() = $crate::stdio::keep_closed;
        };
    };
}
