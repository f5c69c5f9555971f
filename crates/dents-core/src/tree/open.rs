//! Opens a directory: relative to its parent while that is open, else by its path, of any length.

use super::ancestors::Device;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use dents_sys::stat::{self, Mask};
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result, dir};

/// `PATH_MAX`, including the NUL.
const PATH_MAX: usize = 4096;

/// One `openat`. `follow` tells whether a link is followed.
pub(super) fn child(at: BorrowedFd<'_>, name: &CStr, follow: bool) -> Result<OwnedFd> {
    if follow { dir::open(at, name) } else { dir::open_nofollow(at, name) }
}

/// Opens a directory by a path of any length. `follow` tells whether a link at its end is followed. Costs one `openat`, and one more and a
/// `close` for each 4,095 bytes of a longer path.
///
/// # Errors
/// The error of `openat`; `ENAMETOOLONG` only if a name is too long.
pub fn open_by_path(path: &[u8], follow: bool) -> Result<OwnedFd> {
    by_path(CWD, path, follow, &mut 0)
}

/// Opens by path: one `openat`, and one more and a `close` for each 4,095 bytes of a longer path. Counts these requests
/// in `made`.
pub(super) fn by_path(at: BorrowedFd<'_>, path: &[u8], follow: bool, made: &mut u64) -> Result<OwnedFd> {
    along(at, path, made, |at, name| child(at, name, follow))
}

/// Like [`by_path`] with `O_PATH`, only to look up names in it: a server gets no `opendir`.
pub(super) fn for_lookup(at: BorrowedFd<'_>, path: &[u8], made: &mut u64) -> Result<OwnedFd> {
    along(at, path, made, dir::open_place)
}

fn along(
    at: BorrowedFd<'_>,
    path: &[u8],
    made: &mut u64,
    last: impl Fn(BorrowedFd<'_>, &CStr) -> Result<OwnedFd>,
) -> Result<OwnedFd> {
    let mut place: Option<OwnedFd> = None;
    let mut rest = path;
    loop {
        let (piece, after) = split(rest).ok_or(Errno::NAMETOOLONG)?;
        let mut text = Vec::with_capacity(piece.len() + 1);
        text.extend_from_slice(piece);
        text.push(0);
        let text = CStr::from_bytes_with_nul(&text).map_err(|_| Errno::INVAL)?;
        let at = place.as_ref().map_or(at, AsFd::as_fd);
        *made += 1;
        if after.is_empty() {
            return last(at, text);
        }
        place = Some(dir::open_place(at, text)?);
        rest = after;
    }
}

/// The longest first part that the kernel takes, and the path after its slash.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.len() < PATH_MAX {
        return Some((path, b""));
    }
    let slash = memchr::memrchr(b'/', &path[..PATH_MAX]).filter(|slash| *slash > 0)?;
    Some((&path[..slash], &path[slash + 1..]))
}

/// Keeps a walk on one file system.
pub(super) struct Border {
    /// Whether to let `openat2` refuse mount points. Not where a subvolume has its own device without being a mount
    /// point, nor where the kernel does not support it.
    by_mount: AtomicBool,
}

impl Border {
    pub(super) fn new() -> Self {
        Border { by_mount: AtomicBool::new(true) }
    }

    /// The device of an operand: one `statx` and one `fstatfs`.
    pub(super) fn found(&self, dir: BorrowedFd<'_>, made: &mut u64) -> Result<Device> {
        *made += 2;
        let fs = statfs::fstatfs(dir)?;
        if [FsType::BTRFS, FsType::BCACHEFS].contains(&fs) {
            self.by_mount.store(false, Relaxed);
        }
        Ok(stat::fstat(dir, Mask::TYPE)?.dev())
    }

    /// Opens a child if it is on `device`, else fails with `EXDEV`. One `openat2`; at a mount point, or without
    /// `openat2`, one `openat` and one `statx`.
    pub(super) fn child(
        &self,
        at: BorrowedFd<'_>,
        name: &CStr,
        follow: bool,
        device: Device,
        made: &mut u64,
    ) -> Result<OwnedFd> {
        *made += 1;
        if self.by_mount.load(Relaxed) {
            match dir::open_on_same_mount(at, name, follow) {
                Err(Errno::XDEV) => {}
                Err(Errno::NOSYS | Errno::PERM) => self.by_mount.store(false, Relaxed),
                other => return other,
            }
            *made += 1;
        }
        let dir = child(at, name, follow)?;
        Self::check(&dir, device, made).map(|()| dir)
    }

    pub(super) fn check(dir: &OwnedFd, device: Device, made: &mut u64) -> Result<()> {
        *made += 1;
        if stat::fstat(dir.as_fd(), Mask::TYPE)?.dev() == device { Ok(()) } else { Err(Errno::XDEV) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_come_in_pieces_that_end_at_a_slash() {
        assert_eq!(split(b"/usr/bin"), Some((&b"/usr/bin"[..], &b""[..])));
        let name = [b'n'; 255];
        let path = [&name[..]; 40].join(&b'/');
        let (piece, rest) = split(&path).expect("slashes");
        assert_eq!((piece.len(), rest.len()), (15 * 256 + 255, 23 * 256 + 255));
        assert_eq!(split(&[b'n'; 5000]), None);
    }
}
