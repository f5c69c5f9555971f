//! Requests and answers.

use crate::stat::{Flags, Mask, Statx};
use crate::{BorrowedFd, Result};
use core::ffi::CStr;

/// One request for [`Ring::run`](super::Ring::run).
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// As [`statx`](crate::stat::statx). Since Linux 5.6.
    Statx {
        /// The directory that `path` is relative to.
        dir: BorrowedFd<'a>,
        /// The path of the file.
        path: &'a CStr,
        /// How to look it up.
        flags: Flags,
        /// The fields to request.
        mask: Mask,
    },
    /// The length of an extended attribute's value. Since Linux 5.19.
    Getxattr {
        /// Relative to the current directory; a symbolic link is followed. The operation takes neither a directory's
        /// descriptor nor flags (io_uring/xattr.c).
        path: &'a CStr,
        /// The attribute's name in full, as `security.selinux`.
        name: &'a CStr,
    },
}

/// The kernel's answer to a [`Request`]: `EINVAL` if the kernel does not have the operation.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'r> {
    /// To a [`Request::Statx`].
    Statx(Result<&'r Statx>),
    /// To a [`Request::Getxattr`]: the length in bytes, `ENODATA` if there is no such attribute.
    Getxattr(Result<u32>),
}
