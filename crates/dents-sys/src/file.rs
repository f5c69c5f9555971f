//! Whole small files in, bytes out: /etc/passwd, a time zone, a listing on its way to stdout.
use crate::{BorrowedFd, CWD, Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::ffi::CStr;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};

/// What a first read asks for: most files in /etc and all time zones fit.
const FIRST_READ: usize = 4096;

/// All of a regular file: `openat`, `read` until one comes back short, `close`; three calls for less than 4 KiB.
///
/// A regular file answers short only at its end (read(2); a signal could cut a read too, but one that is not
/// handled ends the process). What else a path may lead to is read to the end all the same, unless it answers in
/// pieces: not for /proc, nor FIFOs. Errors are the kernel's, and `ENOMEM`.
pub fn read_to_end(path: &CStr) -> Result<Vec<u8>> {
    let fd = open(path)?;
    let mut bytes = Vec::new();
    loop {
        let more = bytes.len().max(FIRST_READ);
        bytes.try_reserve_exact(more).map_err(|_| Errno::NOMEM)?;
        // Into memory that is not zeroed first: of its pages only those are touched that the file fills.
        let room = bytes.capacity() - bytes.len();
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&fd, spare_capacity(&mut bytes)))?;
        if read < room {
            return Ok(bytes);
        }
    }
}

/// As much of a file as one `read` gives: `openat`, `read`, `close`. For files of /proc and /sys known to be short.
pub(crate) fn read_once<'b>(path: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let n = read(&open(path)?, buf)?;
    Ok(&buf[..n])
}

fn open(path: &CStr) -> Result<OwnedFd> {
    // O_NONBLOCK is not asked for: a FIFO put in a file's place is the administrator's will.
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())
}

fn read(fd: &OwnedFd, buf: &mut [u8]) -> Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *buf))
}

/// Writes what it can of `bytes` and answers how much: one `write`, asked again if a signal came first.
///
/// Errors are the kernel's: `EPIPE` (and `SIGPIPE`, unless ignored), `ENOSPC`, `EAGAIN`, …
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::write(fd, bytes))
}
