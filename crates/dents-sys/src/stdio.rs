//! The three descriptors with which every process is started.
use crate::BorrowedFd;

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
