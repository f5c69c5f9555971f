//! Directories: opens one, reads its entries, decodes them.
//!
//! The caller owns the buffer. [`Dirents`] iterates over it in place, and its names borrow from it. This is the hot
//! loop of a listing: an entry takes a few nanoseconds here, and 200 in the kernel.
use crate::{BorrowedFd, OwnedFd, Result, syscall};
use core::ffi::CStr;
use rustix::fd::AsRawFd;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, SeekFrom};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// The file system does not return types (XFS without ftype, some network and FUSE file systems).
pub const DT_UNKNOWN: u8 = 0;
/// A named pipe.
pub const DT_FIFO: u8 = 1;
/// A character device.
pub const DT_CHR: u8 = 2;
/// A directory.
pub const DT_DIR: u8 = 4;
/// A block device.
pub const DT_BLK: u8 = 6;
/// A regular file.
pub const DT_REG: u8 = 8;
/// A symbolic link.
pub const DT_LNK: u8 = 10;
/// A socket.
pub const DT_SOCK: u8 = 12;
/// A whiteout of an overlay's upper layer.
pub const DT_WHT: u8 = 14;

/// Opens a directory for reading: one `openat` with `O_RDONLY|O_DIRECTORY|O_NONBLOCK|O_CLOEXEC|O_LARGEFILE`.
///
/// With `O_NONBLOCK` the call does not wait if the file is a FIFO. Errors are the kernel's: `ENOENT`, `ENOTDIR`,
/// `EACCES`, `EMFILE`, …
pub fn open(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(at, path, OPEN, Mode::empty())
}

/// As [`open`], but does not follow a symbolic link at the end of the path: `ENOTDIR`.
pub fn open_nofollow(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(at, path, OPEN | OFlags::NOFOLLOW, Mode::empty())
}

/// As [`open`] (without `follow`, as [`open_nofollow`]), but refuses a path that crosses a mount point: `EXDEV`. One
/// `openat2`, which saves a `statx` of every directory.
///
/// It refuses mounts of the same file system (bind mounts) too. It does not refuse a subvolume of btrfs, which has a
/// device number of its own and is no mount. `ENOSYS` before Linux 5.6, `EPERM` under some seccomp profiles.
pub fn open_on_same_mount(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> Result<OwnedFd> {
    let flags = if follow { OPEN } else { OPEN | OFlags::NOFOLLOW };
    rustix::fs::openat2(at, path, flags, Mode::empty(), ResolveFlags::NO_XDEV)
}

/// Removes the name of a file that is not a directory: one `unlinkat`. `EISDIR` for a directory, `EBUSY` for a mount point.
pub fn unlink(at: BorrowedFd<'_>, path: &CStr) -> Result<()> {
    rustix::fs::unlinkat(at, path, AtFlags::empty())
}

/// Removes an empty directory: one `unlinkat` with `AT_REMOVEDIR`. `ENOTEMPTY`, `ENOTDIR`, `EBUSY` for a mount point.
pub fn remove_dir(at: BorrowedFd<'_>, path: &CStr) -> Result<()> {
    rustix::fs::unlinkat(at, path, AtFlags::REMOVEDIR)
}

/// Creates a directory with this mode, as far as the umask allows it: one `mkdirat`. `EEXIST` if there is a file of that name, of any type.
pub fn make(at: BorrowedFd<'_>, path: &CStr, mode: u32) -> Result<()> {
    rustix::fs::mkdirat(at, path, Mode::from_raw_mode(mode))
}

/// Gives a file another name, which replaces a file of that name: one `renameat`. It follows no symbolic link at the end of either path.
pub fn rename(from: BorrowedFd<'_>, path: &CStr, to: BorrowedFd<'_>, new: &CStr) -> Result<()> {
    rustix::fs::renameat(from, path, to, new)
}

/// Gives a file a second name: one `linkat`, which follows no symbolic link. `EEXIST` if there is a file of the new name.
pub fn link(from: BorrowedFd<'_>, path: &CStr, to: BorrowedFd<'_>, new: &CStr) -> Result<()> {
    rustix::fs::linkat(from, path, to, new, AtFlags::empty())
}

/// Opens a directory only to resolve paths relative to it: one `openat` with `O_PATH|O_DIRECTORY|O_CLOEXEC`. The
/// directory must be searchable, and need not be readable.
pub fn open_place(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(at, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Goes back to the first entry: one `lseek`. The next [`getdents64`] returns the entries that the directory has
/// then.
pub fn rewind(dir: BorrowedFd<'_>) -> Result<()> {
    rustix::fs::seek(dir, SeekFrom::Start(0)).map(drop)
}

/// Goes to the entry at this position, a [`Dirent::off`] of the same directory: one `lseek`. Where positions have an order,
/// as on ext4, XFS and tmpfs, and no entry has this one, the next [`getdents64`] begins at the entry behind it. `EINVAL` for a
/// position that the file system cannot have.
pub fn seek(dir: BorrowedFd<'_>, off: i64) -> Result<()> {
    rustix::fs::seek(dir, SeekFrom::Start(off as u64)).map(drop)
}

/// Returns a descriptor of a file of any type without opening it: one `openat` with `O_PATH|O_NOFOLLOW|O_CLOEXEC`. It
/// mounts nothing, and needs no permission on the file itself. `statx` with
/// [`Flags::EMPTY_PATH`](crate::stat::Flags::EMPTY_PATH) and [`listxattr`](crate::xattr::listxattr) of the descriptor
/// do not look the name up again.
pub fn hold(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    rustix::fs::openat(at, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Copies a directory's descriptor out of the table of the first thread, for a thread that has a descriptor table of
/// its own. The number of `dir` is that of the first thread. `pidfd_open`, `pidfd_getfd` and `close`; `ENOSYS` before
/// Linux 5.6, `EPERM` under some seccomp profiles. A process needs no permission for its own descriptors
/// (kernel/ptrace.c, `__ptrace_may_access`).
pub fn of_first_thread(dir: BorrowedFd<'_>) -> Result<OwnedFd> {
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
    pidfd_getfd(&process, dir.as_raw_fd(), PidfdGetfdFlags::empty())
}

const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::LARGEFILE);

/// Fills `buf` with as many entries as fit, and returns the number of bytes that they take; 0 is the end.
///
/// One `getdents64`. `buf` needs no alignment; read it with [`Dirents`]. Errors: `EINVAL` if `buf` is too small
/// for the next entry (280 bytes hold any), `ENOENT` if the directory was removed meanwhile, `ENOTDIR`.
pub fn getdents64(dir: BorrowedFd<'_>, buf: &mut [u8]) -> Result<usize> {
    // The kernel takes the length as an unsigned int.
    let len = buf.len().min(i32::MAX as usize);
    // SAFETY: the kernel writes at most `len` bytes to `buf`, which is borrowed exclusively and is at least as long.
    unsafe {
        let args = [dir.as_raw_fd() as usize, buf.as_mut_ptr() as usize, len, 0, 0, 0];
        syscall::syscall(syscall::nr::GETDENTS64, args)
    }
}

/// One record of `struct linux_dirent64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirent<'a> {
    /// Inode number. For a mount point, that of the directory under the mount, so it can differ from `statx`.
    pub ino: u64,
    /// An opaque position for `lseek`: that of the entry after this one.
    pub off: i64,
    /// One of the `DT_*`, or a value that a later kernel adds.
    pub d_type: u8,
    /// The name, never empty. `.` and `..` are entries too.
    pub name: &'a CStr,
}

/// Offset of the name in a record: inode 8, offset 8, length 2, type 1.
const NAME: usize = 19;

/// The entries in a buffer that [`getdents64`] filled.
///
/// Handles any input: it stops at the first invalid record (truncated, shorter than its header, without a NUL, with
/// an empty name). [`malformed`](Self::malformed) is true then.
#[derive(Clone, Debug)]
pub struct Dirents<'a> {
    rest: &'a [u8],
    malformed: bool,
}

impl<'a> Dirents<'a> {
    /// Reads the records in `bytes`, which must be only the filled part of the buffer.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Dirents { rest: bytes, malformed: false }
    }

    /// Whether the iteration ended early, at an invalid record.
    #[inline]
    pub fn malformed(&self) -> bool {
        self.malformed
    }
}

impl<'a> Iterator for Dirents<'a> {
    type Item = Dirent<'a>;

    #[inline]
    fn next(&mut self) -> Option<Dirent<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match split_record(self.rest) {
            Some((dirent, rest)) => {
                self.rest = rest;
                Some(dirent)
            }
            None => {
                self.rest = &[];
                self.malformed = true;
                None
            }
        }
    }
}

impl core::iter::FusedIterator for Dirents<'_> {}

#[inline]
fn split_record(bytes: &[u8]) -> Option<(Dirent<'_>, &[u8])> {
    let (&ino, after) = bytes.split_first_chunk()?;
    let (&off, after) = after.split_first_chunk()?;
    let (&reclen, after) = after.split_first_chunk()?;
    let d_type = *after.first()?;
    let (record, rest) = bytes.split_at_checked(usize::from(u16::from_ne_bytes(reclen)))?;
    let name = name(record)?;
    let dirent = Dirent { ino: u64::from_ne_bytes(ino), off: i64::from_ne_bytes(off), d_type, name };
    Some((dirent, rest))
}

/// The name of one whole record; `None` if it is empty or has no NUL.
#[inline]
fn name(record: &[u8]) -> Option<&CStr> {
    let end = name_end(record)?;
    let with_nul = record.get(NAME..=end)?;
    if with_nul.len() < 2 {
        return None;
    }
    // SAFETY: `name_end` found the first zero byte from NAME on, and it is the slice's last byte.
    Some(unsafe { CStr::from_bytes_with_nul_unchecked(with_nul) })
}

/// The position of the first NUL from [`NAME`] on.
///
/// It reads eight bytes at a time from offset 16; that first word has the end of the header and the beginning of the
/// name. The kernel pads records to a multiple of eight (fs/readdir.c, `filldir64`), so no loop over single bytes is
/// needed, and most names have one to four words. benches/dirents.rs compares it with memchr on /usr/bin.
#[inline]
fn name_end(record: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    const HEADER: u64 = 0x00ff_ffff;
    let (words, []) = record.as_chunks::<8>() else {
        return record.iter().skip(NAME).position(|&byte| byte == 0).map(|at| NAME + at);
    };
    let mut header = HEADER;
    for (index, word) in words.iter().enumerate().skip(2) {
        // Read as little-endian on any machine, so that the lowest bit set is the first zero byte.
        let word = u64::from_le_bytes(*word) | header;
        header = 0;
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    None
}
