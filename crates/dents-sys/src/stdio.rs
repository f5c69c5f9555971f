//! The three descriptors every process is started with.
use crate::BorrowedFd;

/// Standard input.
pub const STDIN: BorrowedFd<'static> = borrow(0);
/// Standard output.
pub const STDOUT: BorrowedFd<'static> = borrow(1);
/// Standard error.
pub const STDERR: BorrowedFd<'static> = borrow(2);

const fn borrow(fd: i32) -> BorrowedFd<'static> {
    // SAFETY: the number is not -1, and no owner of it exists in this crate that could close it. Where the
    // process was started without it, calls answer EBADF, which is data and not danger.
    unsafe { BorrowedFd::borrow_raw(fd) }
}
