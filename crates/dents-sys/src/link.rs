//! Symbolic links.
use crate::{BorrowedFd, Result};
use core::ffi::CStr;

/// The text of the link `path` relative to `dir`: one `readlinkat`.
///
/// The kernel cuts what does not fit without a word: an answer that fills `buf` may be longer in truth, ask again
/// with more room (`statx`'s size is only a hint, /proc's links claim 0 or 64). Errors: `EINVAL` if it is no
/// link or `buf` is empty, `ENOENT`, `EACCES`, …
pub fn readlinkat<'b>(dir: BorrowedFd<'_>, path: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let len = rustix::fs::readlinkat_raw(dir, path, &mut *buf)?;
    Ok(&buf[..len])
}
