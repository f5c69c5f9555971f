//! Where `readdir` can be believed about inode numbers.
//!
//! The `d_ino` of a mount point is that of the covered directory, which nobody sees. On file systems that
//! otherwise give in `d_ino` what `statx` gives, an inode number needs no `statx` but for mount points; and where
//! these are, the kernel tells in one file.

use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsRawFd, BorrowedFd, CWD, file, link};

/// File systems whose `d_ino` is the inode's number for everything but mount points. Not: overlays, whose layers have
/// numbers of their own; btrfs, whose subvolumes are mount points that are not listed; networks; FUSE; /proc.
const HONEST: [FsType; 5] = [FsType::EXT, FsType::XFS, FsType::TMPFS, FsType::RAMFS, FsType::F2FS];

/// With fewer entries than this, `statx` of all costs less than finding out.
const WORTH_IT: usize = 64;

/// The mount points of the process, read at most once and only if somebody asks.
#[derive(Default)]
pub struct Mounts(OnceCell<Option<Vec<u8>>>);

/// Which entries of a directory must be asked for their inode number, beside `.` and `..`.
pub(crate) struct Covered<'m>(Vec<&'m [u8]>);

impl Covered<'_> {
    /// Whether `d_ino` may be another file's.
    pub(crate) fn covers(&self, name: &[u8]) -> bool {
        matches!(name, b"." | b"..") || self.0.iter().any(|covered| names_equal(covered, name))
    }
}

impl Mounts {
    /// The mount points right below a directory of so many entries; `None` if its `d_ino` cannot be believed, or if it
    /// is not worth asking. Costs `fstatfs` and `readlink`, the first time also four calls for the list of mounts.
    pub(crate) fn below(&self, dir: BorrowedFd<'_>, entries: usize) -> Option<Covered<'_>> {
        if entries < WORTH_IT || dir.as_raw_fd() == CWD.as_raw_fd() {
            return None;
        }
        if !HONEST.contains(&statfs::fstatfs(dir).ok()?) {
            return None;
        }
        let mut text = [0; 4096];
        let path = path_of(dir, &mut text)?;
        let mounts = self.0.get_or_init(|| file::read_pieces(c"/proc/self/mountinfo").ok());
        Some(Covered(children(mounts.as_deref()?, path)))
    }
}

/// The path of an open directory, if it has one.
fn path_of<'t>(dir: BorrowedFd<'_>, text: &'t mut [u8]) -> Option<&'t [u8]> {
    let mut name = alloc::string::String::new();
    write!(name, "/proc/self/fd/{}\0", dir.as_raw_fd()).ok()?;
    let name = CStr::from_bytes_with_nul(name.as_bytes()).ok()?;
    let room = text.len();
    let path = link::readlinkat(CWD, name, text).ok()?;
    (path.starts_with(b"/") && path.len() < room).then_some(path)
}

/// The last components of the mount points right below `directory`, as the list has them: with blanks and backslashes as
/// octal numbers (proc(5)). The mount point is the fifth field of a line.
fn children<'m>(mounts: &'m [u8], directory: &[u8]) -> Vec<&'m [u8]> {
    let directory = if directory == b"/" { b"" } else { directory };
    mounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .filter_map(|path| {
            let slash = memchr::memrchr(b'/', path)?;
            names_equal(&path[..slash], directory).then_some(&path[slash + 1..])
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether an escaped name is this one.
fn names_equal(escaped: &[u8], name: &[u8]) -> bool {
    let mut rest = escaped;
    for byte in name {
        let (char, after) = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), after)
            }
            [first, after @ ..] => (*first, after),
            [] => return false,
        };
        if char != *byte {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &[u8] = b"27 1 254:0 / / rw - ext4 /dev/vda rw\n\
        22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        23 27 0:22 / /mnt/a\\040b\\134 rw shared:1 - tmpfs x rw\n\
        24 27 0:23 / /mnt/a\\040b\\134/deep rw - tmpfs x rw\n";

    #[test]
    fn only_what_is_right_below_is_covered() {
        assert_eq!(children(MOUNTS, b"/"), [b"proc"]);
        assert_eq!(children(MOUNTS, b"/mnt"), [b"a\\040b\\134"]);
        assert_eq!(children(MOUNTS, b"/mnt/a b\\"), [b"deep"]);
        assert!(children(MOUNTS, b"/mn").is_empty() && children(MOUNTS, b"/proc").is_empty());
        assert!(Covered(children(MOUNTS, b"/mnt")).covers(b"a b\\"));
        assert!(Covered(Vec::new()).covers(b"..") && !Covered(Vec::new()).covers(b"..."));
        assert!(!names_equal(b"a", b"ab") && !names_equal(b"ab", b"a"));
    }

    #[test]
    fn the_root_of_this_machine_has_proc() {
        let mounts = file::read_pieces(c"/proc/self/mountinfo").unwrap();
        assert!(children(&mounts, b"/").contains(&&b"proc"[..]));
    }
}
