//! Symbolic links.
use crate::{BorrowedFd, Result};
use core::ffi::CStr;

/// The text of the link `path` relative to `dir`: one `readlinkat`.
///
/// The kernel truncates a text that does not fit, without an error. So if the result fills `buf`, call again with a
/// larger buffer. (The size in `statx` is only a hint: links of /proc have 0 or 64.) Errors: `EINVAL` if it is no
/// link or `buf` is empty, `ENOENT`, `EACCES`, …
pub fn readlinkat<'b>(dir: BorrowedFd<'_>, path: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let len = rustix::fs::readlinkat_raw(dir, path, &mut *buf)?;
    Ok(&buf[..len])
}
