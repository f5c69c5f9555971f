//! Reads whole small files (/etc/passwd, a time zone), maps large ones, and writes bytes.
use crate::stat::Mask;
use crate::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};

/// The size of the first read: most files in /etc and all time zones fit.
pub(crate) const FIRST_READ: usize = 4096;

/// Reads a whole file of at most `most` bytes: `openat`, `pread64` until one returns fewer bytes than fit, `close`;
/// three calls for less than 4 KiB.
///
/// The user's environment names such files, so they may be of any type. For a FIFO, a socket or a terminal it neither
/// waits (`O_NONBLOCK`) nor takes data out (`pread`); a device that never ends is read up to `most` bytes.
///
/// A `read` of a regular file is short only at the end of the file (read(2); a signal could interrupt it too, but a
/// signal that is not handled ends the process). Errors are the kernel's (`EISDIR` for a directory, `ESPIPE` for a
/// file without positions), `ENOMEM`, and `EFBIG` for more than `most` bytes.
pub fn read_to_end(path: &CStr, most: usize) -> Result<Vec<u8>> {
    read_on(&open(path)?, Vec::new(), most)
}

/// Reads the rest of a file, after `bytes`, which are its beginning.
pub(crate) fn read_on(fd: &OwnedFd, mut bytes: Vec<u8>, most: usize) -> Result<Vec<u8>> {
    loop {
        let more = bytes.len().max(FIRST_READ).min((most - bytes.len()).saturating_add(1));
        bytes.try_reserve_exact(more).map_err(|_| Errno::NOMEM)?;
        // The memory is not zeroed first, so only those of its pages are touched that the file fills.
        let (room, at) = (bytes.capacity() - bytes.len(), bytes.len() as u64);
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(fd, spare_capacity(&mut bytes), at))?;
        if bytes.len() > most {
            return Err(Errno::FBIG);
        }
        if read < room {
            // The allocator then places the next allocation directly after these bytes, not a page further.
            bytes.shrink_to_fit();
            return Ok(bytes);
        }
    }
}

/// The largest file that is mapped: all locales of glibc in one archive are 225 MB.
const MAPPED: u64 = 1 << 30;

/// Maps a whole regular file until the process ends: `openat`, `statx`, `mmap`, `close`. The kernel reads only the
/// pages that are used. For the C library's locale data: a listing needs some KiB of many MiB.
///
/// `localedef` writes to the archive in place, so the bytes may change while they are read: that is why they are
/// atomic. Each load returns a byte that the file has, or had before the change; two loads of one position may
/// differ. If the file is truncated, which `localedef` never does, a load beyond its new end ends the process with
/// SIGBUS. The same happens to every program into which glibc maps the file. To read the file instead would avoid
/// that, but copy 2.6 MB of `LC_COLLATE` for each listing, which takes longer than a short listing.
///
/// Errors are the kernel's; `EINVAL` for an empty file and for a file that is not regular, `EFBIG` for more than 1
/// GiB.
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
    // SAFETY: a new mapping at an address that the kernel chooses overlaps no other memory.
    let start = unsafe { mmap(core::ptr::null_mut(), size, ProtFlags::READ, MapFlags::PRIVATE, &fd, 0)? };
    // SAFETY: `size` bytes are mapped there, readable, until the process ends; no other pointer to them exists. Other
    // processes may change them, which atomics allow. Atomic loads of one byte are allowed on read-only memory
    // (core::sync::atomic, "Atomic accesses to read-only memory").
    Ok(unsafe { core::slice::from_raw_parts(start.cast(), size) })
}

/// Reads a whole file that returns its contents in pieces, as long files of /proc do: `read` until one returns
/// nothing.
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

/// Whether [`read_regular`] follows a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// No: `ELOOP`. For names in a tree that another user may have filled.
    Refuse,
    /// Yes. For names that the user chose.
    Follow,
}

/// Reads a whole regular file of at most `limit` bytes, and refuses files of other types: `openat` (`O_NONBLOCK`),
/// `statx`, `read` until one is empty or short, `close`. It never waits for the other end of a FIFO, and never reads
/// from a device.
///
/// Errors are the kernel's, and `EISDIR` for a directory, `EINVAL` for other files that are not regular, `EFBIG` for
/// more than `limit` bytes, `ENOMEM`.
pub fn read_regular(at: BorrowedFd<'_>, path: &CStr, links: Links, limit: usize) -> Result<Vec<u8>> {
    let mut flags = OPEN;
    flags.set(OFlags::NOFOLLOW, links == Links::Refuse);
    let fd = only_regular(rustix::fs::openat(at, path, flags, Mode::empty())?)?;
    read_on(&fd, Vec::new(), limit)
}

/// `EISDIR` for a directory, `EINVAL` for other files that are not regular: one `statx`.
fn only_regular(fd: OwnedFd) -> Result<OwnedFd> {
    match crate::stat::fstat(fd.as_fd(), Mask::TYPE | Mask::SIZE)?.mode() & 0o170_000 {
        0o100_000 => Ok(fd),
        0o040_000 => Err(Errno::ISDIR),
        _ => Err(Errno::INVAL),
    }
}

/// For what [`open_regular`] opens a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read it.
    Read,
    /// To read and write it.
    Both,
    /// To write at its end.
    Append,
}

/// Opens a regular file, and refuses files of other types: `openat` (`O_NONBLOCK|O_NOFOLLOW`), `statx`. It never waits for the other end of a
/// FIFO, and follows no symbolic link at the end of the path: `ELOOP`.
///
/// Errors are the kernel's, and those of [`read_regular`]; `ENXIO` for a socket, and for a FIFO without a reader that is opened to append.
pub fn open_regular(at: BorrowedFd<'_>, path: &CStr, access: Access) -> Result<OwnedFd> {
    let access = match access {
        Access::Read => OFlags::RDONLY,
        Access::Both => OFlags::RDWR,
        Access::Append => OFlags::WRONLY | OFlags::APPEND,
    };
    let flags = OPEN | OFlags::NOFOLLOW | OFlags::LARGEFILE | access;
    only_regular(rustix::fs::openat(at, path, flags, Mode::empty())?)
}

/// Creates a new file, to read and write it: one `openat` with `O_EXCL`, so that it changes no existing file and follows no symbolic link.
///
/// Errors are the kernel's: `EEXIST`, …
pub fn create_new(at: BorrowedFd<'_>, path: &CStr, mode: u32) -> Result<OwnedFd> {
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::LARGEFILE;
    rustix::fs::openat(at, path, flags, Mode::from_raw_mode(mode))
}

/// Opens a FIFO or a device to write to it: one `openat`, which waits for the reader of a FIFO, and follows no symbolic link at the end of the
/// path.
///
/// Errors are the kernel's.
pub fn open_to_write(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::LARGEFILE;
    rustix::fs::openat(at, path, flags, Mode::empty())
}

/// Creates a new file with `bytes`: `openat`, `write`, `close`. It changes no existing file, and follows no symbolic
/// link of that name.
///
/// Errors are the kernel's: `EEXIST`, `ENOENT` if the directory is missing, `ENOSPC`, …
pub fn create(path: &CStr, bytes: &[u8]) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(CWD, path, flags, Mode::from_raw_mode(0o666))?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match write(fd.as_fd(), rest)? {
            // Without this, the loop would never end.
            0 => return Err(Errno::NOSPC),
            written => rest = &rest[written..],
        }
    }
    Ok(())
}

/// Creates a directory that only its owner may enter, as the XDG specification wants it for `~/.config`: `mkdirat`.
///
/// Errors are the kernel's: `EEXIST`, `ENOENT` if the parent directory is missing, …
pub fn make_directory(path: &CStr) -> Result<()> {
    rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o700))
}

/// Reads the part of a file that one `read` returns: `openat`, `read`, `close`. For files of /proc and /sys that are
/// short.
pub(crate) fn read_once<'b>(path: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let n = read(&open(path)?, buf)?;
    Ok(&buf[..n])
}

/// With these flags `openat` does not wait for a FIFO, and a terminal does not become the controlling one.
pub(crate) const OPEN: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

fn open(path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(CWD, path, OPEN, Mode::empty())
}

fn read(fd: &OwnedFd, buf: &mut [u8]) -> Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *buf))
}

/// Writes as much of `bytes` as one `write` takes, and returns the number of bytes. It repeats the call if a signal
/// interrupted it.
///
/// Errors are the kernel's: `EPIPE` (and `SIGPIPE`, unless ignored), `ENOSPC`, `EAGAIN`, …
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::write(fd, bytes))
}
