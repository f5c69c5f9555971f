//! Extended attributes, relative to a directory's descriptor.
//!
//! `listxattrat` and `getxattrat` exist since Linux 6.13. After the first refusal by an older kernel, attributes are
//! requested by path: `llistxattr("/proc/thread-self/fd/N/name")`, also one call, which needs /proc and takes twice
//! as long. In the directory itself ([`cwd`](crate::cwd)) a bare name, relative to [`CWD`], is enough.
use crate::syscall::{self, GETXATTRAT, LISTXATTRAT};
use crate::{BorrowedFd, CWD, Errno, Result};
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::fd::AsRawFd;
use rustix::fs::AtFlags;

/// Set by the first refusal. Relaxed: at worst another thread makes one more call that is refused. Through libc always:
/// it has no function for the calls that take a descriptor.
static BY_PATH: AtomicBool = AtomicBool::new(cfg!(feature = "libc"));

/// Whether the kernel has refused the calls that take a descriptor, so that paths relative to one go through /proc.
pub fn goes_by_path() -> bool {
    BY_PATH.load(Ordering::Relaxed)
}

/// `struct xattr_args` of include/uapi/linux/xattr.h.
#[repr(C)]
struct XattrArgs {
    value: u64,
    size: u32,
    flags: u32,
}

/// The names of all extended attributes of `path` relative to `dir`, each with a NUL after it; see [`names`].
///
/// One system call (two the first time on a kernel before 6.13). Without `follow`, the attributes of a link itself.
/// Errors: `ENOTSUP` applies to the whole file system; `ERANGE` means that `buf` is too small. 64 KiB hold any list,
/// but the kernel allocates the size of `buf` for each call: with 64 bytes to 8 KiB a call takes 0.44 µs, with 64 KiB
/// 0.64 µs. So pass a small buffer, and a larger one after `ERANGE`. An empty `buf` is too small for any attribute.
pub fn listxattrat<'b>(
    dir: BorrowedFd<'_>,
    path: &CStr,
    follow: bool,
    buf: &'b mut [u8],
) -> Result<&'b [u8]> {
    let len = match asked_at(|| list_at(dir, path, follow, buf)) {
        Some(answer) => answer?,
        None => list_by_path(dir, path, follow, buf)?,
    };
    buf.get(..len).ok_or(Errno::RANGE)
}

/// The names in a list that [`listxattrat`] filled, without their NULs.
pub fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == 0).filter(|name| !name.is_empty())
}

/// The value of one attribute of `path` relative to `dir`.
///
/// Cost and fallback as for [`listxattrat`]. Errors: `ENODATA` if there is none of that name, `ENOTSUP`, `ERANGE` if
/// `buf` is too small (64 KiB hold any value).
pub fn getxattrat<'b>(
    dir: BorrowedFd<'_>,
    path: &CStr,
    follow: bool,
    name: &CStr,
    buf: &'b mut [u8],
) -> Result<&'b [u8]> {
    let len = match asked_at(|| get_at(dir, path, follow, name, buf)) {
        Some(answer) => answer?,
        None => get_by_path(dir, path, follow, name, buf)?,
    };
    buf.get(..len).ok_or(Errno::RANGE)
}

/// As [`listxattrat`], for a descriptor of [`dir::hold`](crate::dir::hold): one `listxattr` of its name in /proc,
/// because `flistxattr` refuses a descriptor that was opened with `O_PATH`. `ENOENT` where /proc is not mounted.
pub fn listxattr<'b>(file: BorrowedFd<'_>, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let len = with_proc_path(file, |path| rustix::fs::listxattr(path, &mut *buf))?;
    buf.get(..len).ok_or(Errno::RANGE)
}

/// As [`getxattrat`], for a descriptor of [`dir::hold`](crate::dir::hold); see [`listxattr`].
pub fn getxattr<'b>(file: BorrowedFd<'_>, name: &CStr, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let len = with_proc_path(file, |path| rustix::fs::getxattr(path, name, &mut *buf))?;
    buf.get(..len).ok_or(Errno::RANGE)
}

/// The thread's own descriptor table. /proc/self has the table of the first thread; if threads do not share a table,
/// the same number may be another file there.
const OWN: &[u8] = b"/proc/thread-self/fd/";

fn with_proc_path<T>(file: BorrowedFd<'_>, ask: impl FnOnce(&CStr) -> Result<T>) -> Result<T> {
    let fd = rustix::path::DecInt::from_fd(file);
    let mut path = [0; OWN.len() + 12];
    path[..OWN.len()].copy_from_slice(OWN);
    path[OWN.len()..][..fd.as_bytes().len()].copy_from_slice(fd.as_bytes());
    ask(CStr::from_bytes_until_nul(&path).map_err(|_| Errno::NAMETOOLONG)?)
}

/// The result of the new call; `None` if this kernel does not have it, as this call or an earlier one shows. `EPERM`
/// counts as not having it: seccomp filters that are older than the call return it, and no file system returns it to
/// a reader.
fn asked_at(ask: impl FnOnce() -> Result<usize>) -> Option<Result<usize>> {
    if BY_PATH.load(Ordering::Relaxed) {
        return None;
    }
    match ask() {
        Err(Errno::NOSYS | Errno::PERM) => {
            BY_PATH.store(true, Ordering::Relaxed);
            None
        }
        answer => Some(answer),
    }
}

fn at_flags(follow: bool) -> usize {
    if follow { 0 } else { AtFlags::SYMLINK_NOFOLLOW.bits() as usize }
}

fn list_at(dir: BorrowedFd<'_>, path: &CStr, follow: bool, buf: &mut [u8]) -> Result<usize> {
    // SAFETY: `path` ends with a NUL; the kernel writes at most `buf.len()` bytes to `buf`, which is borrowed
    // exclusively.
    unsafe {
        let (dir, path) = (dir.as_raw_fd() as usize, path.as_ptr() as usize);
        let args = [dir, path, at_flags(follow), buf.as_mut_ptr() as usize, buf.len(), 0];
        syscall::syscall(LISTXATTRAT, args)
    }
}

fn get_at(dir: BorrowedFd<'_>, path: &CStr, follow: bool, name: &CStr, buf: &mut [u8]) -> Result<usize> {
    let size = u32::try_from(buf.len()).unwrap_or(u32::MAX);
    let mut xattr = XattrArgs { value: buf.as_mut_ptr() as usize as u64, size, flags: 0 };
    // SAFETY: `path` and `name` end with a NUL. The kernel reads one `struct xattr_args`, and writes at most `size`
    // bytes to the buffer that it names, which is borrowed exclusively.
    unsafe {
        let (dir, path) = (dir.as_raw_fd() as usize, path.as_ptr() as usize);
        let (name, xattr) = (name.as_ptr() as usize, &raw mut xattr as usize);
        syscall::syscall(GETXATTRAT, [dir, path, at_flags(follow), name, xattr, size_of::<XattrArgs>()])
    }
}

/// A function of its own, like the next: the buffer for the path is a page of stack, which the new calls need not
/// touch.
#[cold]
#[inline(never)]
fn list_by_path(dir: BorrowedFd<'_>, path: &CStr, follow: bool, buf: &mut [u8]) -> Result<usize> {
    let query = buf.is_empty();
    with_path(dir, path, |path| match (follow, query) {
        (true, false) => rustix::fs::listxattr(path, buf),
        (true, true) => rustix::fs::listxattr_query(path),
        (false, false) => rustix::fs::llistxattr(path, buf),
        (false, true) => rustix::fs::llistxattr_query(path),
    })
}

#[cold]
#[inline(never)]
fn get_by_path(dir: BorrowedFd<'_>, path: &CStr, follow: bool, name: &CStr, buf: &mut [u8]) -> Result<usize> {
    let query = buf.is_empty();
    with_path(dir, path, |path| match (follow, query) {
        (true, false) => rustix::fs::getxattr(path, name, buf),
        (true, true) => rustix::fs::getxattr_query(path, name),
        (false, false) => rustix::fs::lgetxattr(path, name, buf),
        (false, true) => rustix::fs::lgetxattr_query(path, name),
    })
}

/// The longest path that the kernel accepts, with its NUL.
const PATH_MAX: usize = 4096;

/// Calls `ask` with a path that means `path` relative to `dir`: `path` itself if it is absolute or `dir` is the
/// current directory, else a path through /proc. Allocates no memory and makes no system call.
fn with_path<T>(dir: BorrowedFd<'_>, path: &CStr, ask: impl FnOnce(&CStr) -> Result<T>) -> Result<T> {
    let bytes = path.to_bytes_with_nul();
    if bytes[0] == b'/' || dir.as_raw_fd() == CWD.as_raw_fd() {
        return ask(path);
    }
    if bytes == [0] {
        // The kernel's error for an empty path. Through /proc an empty path would mean `dir`.
        return Err(Errno::NOENT);
    }
    let fd = rustix::path::DecInt::from_fd(dir);
    let mut joined = [0; PATH_MAX];
    let mut end = 0;
    for part in [OWN, fd.as_bytes(), b"/", bytes] {
        joined.get_mut(end..end + part.len()).ok_or(Errno::NAMETOOLONG)?.copy_from_slice(part);
        end += part.len();
    }
    ask(CStr::from_bytes_until_nul(&joined).map_err(|_| Errno::NAMETOOLONG)?)
}

#[cfg(test)]
mod tests;
