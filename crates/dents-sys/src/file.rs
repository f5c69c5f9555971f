//! Whole small files in, bytes out: /etc/passwd, a time zone, a listing on its way to stdout.
use crate::stat::Mask;
use crate::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};

/// The size of the first read: most files in /etc and all time zones fit.
pub(crate) const FIRST_READ: usize = 4096;

/// All of a file of at most `most` bytes: `openat`, `pread64` until one comes back short, `close`; three calls for less
/// than 4 KiB.
///
/// The user's environment names such files, so they may be anything. A FIFO, a socket or a terminal is neither waited for
/// (`O_NONBLOCK`) nor relieved of what is in it (`pread`); a device that never ends is read up to `most`.
///
/// A regular file answers short only at its end (read(2); a signal could cut a read too, but one that is not
/// handled ends the process). Errors are the kernel's (`EISDIR` of a directory, `ESPIPE` of what has no positions),
/// `ENOMEM`, and `EFBIG` for more than `most` bytes.
pub fn read_to_end(path: &CStr, most: usize) -> Result<Vec<u8>> {
    read_on(&open(path)?, Vec::new(), most)
}

/// The same behind what was read of it already.
pub(crate) fn read_on(fd: &OwnedFd, mut bytes: Vec<u8>, most: usize) -> Result<Vec<u8>> {
    loop {
        let more = bytes.len().max(FIRST_READ).min((most - bytes.len()).saturating_add(1));
        bytes.try_reserve_exact(more).map_err(|_| Errno::NOMEM)?;
        // Into memory that is not zeroed first: of its pages only those are touched that the file fills.
        let (room, at) = (bytes.capacity() - bytes.len(), bytes.len() as u64);
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(fd, spare_capacity(&mut bytes), at))?;
        if bytes.len() > most {
            return Err(Errno::FBIG);
        }
        if read < room {
            // So the next allocation is placed right after these bytes, not a page further.
            bytes.shrink_to_fit();
            return Ok(bytes);
        }
    }
}

/// The largest file that is mapped: all locales of glibc in one archive are 225 MB.
const MAPPED: u64 = 1 << 30;

/// All of a regular file, mapped for the rest of the process: `openat`, `statx`, `mmap`, `close`; what is not looked at
/// is not read. For the C library's locale data, of which a listing needs some KiB of many MiB.
///
/// `localedef` writes to the archive in place, so the bytes may change while they are looked at: that is why they are
/// atomic. Each load gives some byte that stood there; two loads of the same place may differ. If the file is cut off,
/// which `localedef` never does, a load beyond its new end ends the process with SIGBUS, as it ends every program that
/// glibc maps the same file into. To read the file instead would avoid that, and copy 2.6 MB of `LC_COLLATE` for each
/// listing: longer than a short listing takes.
///
/// Errors are the kernel's; `EINVAL` for an empty file and for what is no regular file, `EFBIG` for more than 1 GiB.
pub fn map(path: &CStr) -> Result<&'static [AtomicU8]> {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    let fd = open(path)?;
    let statx = crate::stat::fstat(fd.as_fd(), Mask::TYPE | Mask::SIZE)?;
    if statx.mode() & 0o170_000 != 0o100_000 || statx.size() == 0 {
        return Err(Errno::INVAL);
    }
    let size = usize::try_from(statx.size().min(MAPPED + 1)).map_err(|_| Errno::FBIG)?;
    if size as u64 > MAPPED {
        return Err(Errno::FBIG);
    }
    // SAFETY: a new mapping at a place of the kernel's choice disturbs nothing.
    let start = unsafe { mmap(core::ptr::null_mut(), size, ProtFlags::READ, MapFlags::PRIVATE, &fd, 0)? };
    // SAFETY: `size` bytes are mapped there, readable, until the process ends; no other pointer to them exists. That other
    // processes may change them is what atomics are for, and loads of one byte are allowed on memory that is only
    // readable (core::sync::atomic, "Atomic accesses to read-only memory").
    Ok(unsafe { core::slice::from_raw_parts(start.cast(), size) })
}

/// All of a file that answers in pieces, as the long ones of /proc do: `read` until one comes back empty.
///
/// Errors are the kernel's, and `ENOMEM`.
pub fn read_pieces(path: &CStr) -> Result<Vec<u8>> {
    let fd = open(path)?;
    let mut bytes = Vec::new();
    loop {
        bytes.try_reserve(FIRST_READ).map_err(|_| Errno::NOMEM)?;
        if rustix::io::retry_on_intr(|| rustix::io::read(&fd, spare_capacity(&mut bytes)))? == 0 {
            return Ok(bytes);
        }
    }
}

/// Whether [`read_regular`] reads what a symbolic link of that name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// No: `ELOOP`. For names in a tree that another user may have filled.
    Refuse,
    /// Yes. For names that the user chose.
    Follow,
}

/// All of a regular file of at most `limit` bytes, whatever else may stand under its name: `openat` (`O_NONBLOCK`),
/// `statx`, `read` until one comes back empty or short, `close`. Never waits for the other end of a FIFO, and never reads
/// from a device.
///
/// Errors are the kernel's, and `EISDIR` of a directory, `EINVAL` of what is neither a directory nor a regular file, `EFBIG`
/// for more than `limit` bytes, `ENOMEM`.
pub fn read_regular(at: BorrowedFd<'_>, path: &CStr, links: Links, limit: usize) -> Result<Vec<u8>> {
    let mut flags = OPEN;
    flags.set(OFlags::NOFOLLOW, links == Links::Refuse);
    let fd = rustix::fs::openat(at, path, flags, Mode::empty())?;
    let statx = crate::stat::fstat(fd.as_fd(), Mask::TYPE | Mask::SIZE)?;
    match statx.mode() & 0o170_000 {
        0o100_000 => read_on(&fd, Vec::new(), limit),
        0o040_000 => Err(Errno::ISDIR),
        _ => Err(Errno::INVAL),
    }
}

/// Makes a file of `bytes` that was not there: `openat`, `write`, `close`. Nothing that is there is touched, nor what a
/// symbolic link of that name leads to.
///
/// Errors are the kernel's: `EEXIST`, `ENOENT` where the directory is missing, `ENOSPC`, …
pub fn create(path: &CStr, bytes: &[u8]) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(CWD, path, flags, Mode::from_raw_mode(0o666))?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match write(fd.as_fd(), rest)? {
            // It would for ever.
            0 => return Err(Errno::NOSPC),
            written => rest = &rest[written..],
        }
    }
    Ok(())
}

/// Makes a directory that only its owner enters, as the XDG specification has it for what it calls `~/.config`: `mkdirat`.
///
/// Errors are the kernel's: `EEXIST`, `ENOENT` where the directory above is missing, …
pub fn make_directory(path: &CStr) -> Result<()> {
    rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o700))
}

/// As much of a file as one `read` gives: `openat`, `read`, `close`. For files of /proc and /sys known to be short.
pub(crate) fn read_once<'b>(path: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let n = read(&open(path)?, buf)?;
    Ok(&buf[..n])
}

/// It does not wait for a FIFO, and a terminal does not become the controlling one.
pub(crate) const OPEN: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

fn open(path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(CWD, path, OPEN, Mode::empty())
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
