//! The project of a file, by which file systems keep quotas (`struct fsxattr` in include/uapi/linux/fs.h).
//!
//! `file_getattr` exists since Linux 6.17. It opens nothing, needs no permission on the file itself, and works for files of any type. After
//! the first refusal by an older kernel, regular files and directories are opened for an `ioctl`.
use crate::syscall::{self, FILE_GETATTR};
use crate::{AsFd, BorrowedFd, Errno, Result, file};
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::fd::AsRawFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::ioctl::{Getter, ioctl, opcode};

/// Set by the first refusal. Relaxed: at worst another thread makes one more call that is refused.
static OPENS: AtomicBool = AtomicBool::new(false);

/// `struct file_attr` of include/uapi/linux/fs.h, in its first version.
#[repr(C)]
struct FileAttr {
    xflags: u64,
    extsize: u32,
    nextents: u32,
    projid: u32,
    cowextsize: u32,
}

/// `struct fsxattr` of include/uapi/linux/fs.h.
#[repr(C)]
struct FsXattr {
    xflags: u32,
    extsize: u32,
    nextents: u32,
    projid: u32,
    cowextsize: u32,
    pad: [u8; 8],
}

/// The project id of `path` relative to `dir`, or of a link itself: one `file_getattr`; before Linux 6.17 `openat`, `ioctl` and `close`.
///
/// `may_open` permits the latter. Set it only for regular files and directories, because to open a device may move a tape. If another program
/// replaces the file by a device at this moment, the device is opened nevertheless, with `O_NONBLOCK` and without following a link.
///
/// Errors: `EOPNOTSUPP` and `ENOTTY` if the file system has no projects, `ENOSYS` if `may_open` is false, `EACCES` if the file cannot be
/// opened.
pub fn project(dir: BorrowedFd<'_>, path: &CStr, may_open: bool) -> Result<u32> {
    if !OPENS.load(Ordering::Relaxed) {
        match file_getattr(dir, path) {
            // Seccomp filters that are older than the call return `EPERM`.
            Err(Errno::NOSYS | Errno::PERM) => OPENS.store(true, Ordering::Relaxed),
            answer => return answer,
        }
    }
    if !may_open {
        return Err(Errno::NOSYS);
    }
    let file = rustix::fs::openat(dir, path, file::OPEN | OFlags::NOFOLLOW, Mode::empty())?;
    by_ioctl(file.as_fd())
}

fn file_getattr(dir: BorrowedFd<'_>, path: &CStr) -> Result<u32> {
    let mut attr = MaybeUninit::<FileAttr>::zeroed();
    // SAFETY: `path` ends with a NUL. The kernel writes at most the size of the structure to it, which is borrowed exclusively. Every
    // field is an integer, so any bytes are a valid value.
    let attr = unsafe {
        let (dir, path) = (dir.as_raw_fd() as usize, path.as_ptr() as usize);
        let (buffer, flags) = (attr.as_mut_ptr() as usize, AtFlags::SYMLINK_NOFOLLOW.bits() as usize);
        syscall::syscall(FILE_GETATTR, [dir, path, buffer, size_of::<FileAttr>(), flags, 0])?;
        attr.assume_init()
    };
    Ok(attr.projid)
}

/// One `ioctl`, `FS_IOC_FSGETXATTR`.
fn by_ioctl(file: BorrowedFd<'_>) -> Result<u32> {
    const FSGETXATTR: rustix::ioctl::Opcode = opcode::read::<FsXattr>(b'X', 31);
    // SAFETY: this `ioctl` writes one `struct fsxattr`, whose fields are integers; a driver of a device that gives the number another
    // meaning is told the size by the number, too.
    let attr = unsafe { ioctl(file, Getter::<FSGETXATTR, FsXattr>::new())? };
    Ok(attr.projid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CWD, dir};

    /// Both ways return the same, or both fail.
    #[test]
    fn the_call_agrees_with_the_ioctl() {
        let here = dir::open(CWD, c".").unwrap();
        let by_name = file_getattr(CWD, c".");
        if matches!(by_name, Err(Errno::NOSYS | Errno::PERM)) {
            std::eprintln!("skipped: this kernel has no file_getattr");
            return;
        }
        assert_eq!(by_name.ok(), by_ioctl(here.as_fd()).ok());
    }

    #[test]
    fn a_file_that_is_not_there() {
        assert_eq!(project(CWD, c"not there", true), Err(Errno::NOENT));
    }
}
