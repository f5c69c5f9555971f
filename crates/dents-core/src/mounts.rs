//! Where `readdir` can be believed about inode numbers.
//!
//! The `d_ino` of a mount point is that of the covered directory, which no path leads to. On file systems that
//! otherwise give in `d_ino` what `statx` gives, an inode number needs no `statx` but for mount points; and where
//! these are, the kernel tells in one file.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

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

/// The mount points of the process, read at most once, when a consumer first asks.
#[derive(Default)]
pub struct Mounts(OnceCell<Option<Vec<u8>>>);

/// What is mounted somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mounted {
    /// The type of the file system: `ext4`, `tmpfs`.
    pub fs_type: Vec<u8>,
    /// Where it comes from, as it was given to `mount`: `/dev/sda1`, `server:/export`, any bytes.
    pub source: Vec<u8>,
}

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
        Some(Covered(children(self.list()?, path)))
    }

    /// What is mounted where an entry of this name is on a file system with this device number. Costs four calls the
    /// first time. `None` where there is no telling: no /proc, or a file system that gives its files other device numbers
    /// than the list of mounts has (btrfs), under another name.
    #[must_use]
    pub fn at(&self, device: (u32, u32), name: &[u8]) -> Option<Mounted> {
        mounted(self.list()?, device, name)
    }

    /// Whether a walk may meet the same files below two mount points (`mount --bind`), so that they are met more often than
    /// their link count says. Costs four calls the first time; true where there is no telling: no /proc.
    #[must_use]
    pub fn overlap(&self) -> bool {
        self.list().is_none_or(overlap)
    }

    /// Whether something may be mounted below a directory, however deep. Costs one `readlink`, the first time also four calls;
    /// true where there is no telling: no /proc.
    #[must_use]
    pub fn any_below(&self, dir: BorrowedFd<'_>) -> bool {
        let mut text = [0; 4096];
        let Some(path) = path_of(dir, &mut text) else { return true };
        self.list().is_none_or(|mounts| is_above_any(mounts, path))
    }

    fn list(&self) -> Option<&[u8]> {
        self.0.get_or_init(|| file::read_pieces(c"/proc/self/mountinfo").ok()).as_deref()
    }
}

/// The path of an open directory, if it has one: one `readlink`.
pub(crate) fn path_of<'t>(dir: BorrowedFd<'_>, text: &'t mut [u8]) -> Option<&'t [u8]> {
    let mut name = alloc::string::String::new();
    write!(name, "/proc/thread-self/fd/{}\0", dir.as_raw_fd()).ok()?;
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

/// Whether one of the mount points lies below `directory`.
fn is_above_any(mounts: &[u8], directory: &[u8]) -> bool {
    let directory = if directory == b"/" { b"" } else { directory };
    let points =
        mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let above = |path: &[u8]| {
        path.iter()
            .enumerate()
            .any(|(at, byte)| *byte == b'/' && at + 1 < path.len() && names_equal(&path[..at], directory))
    };
    points.into_iter().any(above)
}

/// The mount whose device and last component fit; else one whose device fits, as nothing that is shown depends on where
/// a file system is mounted; else the name. Of equals the last, which lies on top.
fn mounted(mounts: &[u8], device: (u32, u32), name: &[u8]) -> Option<Mounted> {
    let name = name.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
    let device = alloc::format!("{}:{}", device.0, device.1);
    let fits = |line: &&[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let same_device = fields.nth(2) == Some(device.as_bytes());
        let path = fields.nth(1).unwrap_or_default();
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        (same_device, names_equal(last, name))
    };
    let lines = mounts.split(|byte| *byte == b'\n');
    let line = lines.filter(|line| fits(line) != (false, false)).max_by_key(fits)?;
    // After the optional fields a hyphen, the type, the source.
    let mut fields = line.split(|byte| *byte == b' ').skip_while(|field| *field != b"-").skip(1);
    Some(Mounted { fs_type: unescaped(fields.next()?), source: unescaped(fields.next()?) })
}

/// Whether a directory of one file system can be reached below two mount points. A mount that covers the very directory
/// it shows, as containers have them in /proc, does not count.
fn overlap(mounts: &[u8]) -> bool {
    let mut all: Vec<Mount<'_>> = mounts.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.device == b.device).any(|same| {
        let mut pairs =
            same.iter().enumerate().flat_map(|(nth, a)| same[nth + 1..].iter().map(move |b| (a, b)));
        pairs.any(|(outer, inner)| inner.repeats(outer))
    })
}

/// Fields 3, 4 and 5 of a line: the device, the directory of the file system that is shown, and where.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mount<'m> {
    device: &'m [u8],
    root: &'m [u8],
    point: &'m [u8],
}

impl<'m> Mount<'m> {
    fn parse(line: &'m [u8]) -> Option<Mount<'m>> {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let mut next = || fields.next().map(|field| field.strip_suffix(b"/").unwrap_or(field));
        Some(Mount { device: next()?, root: next()?, point: next()? })
    }

    /// Whether it shows at another place what `outer` shows, or something below that.
    fn repeats(&self, outer: &Mount<'_>) -> bool {
        let Some(below) = self.root.strip_prefix(outer.root) else { return false };
        let covers = self.point.strip_prefix(outer.point) == Some(below);
        (below.is_empty() || below.starts_with(b"/")) && !covers
    }
}

/// A field as it was before blanks, backslashes and ends of lines in it were made octal numbers.
fn unescaped(mut rest: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some((byte, after)) = first(rest) {
        text.push(byte);
        rest = after;
    }
    text
}

/// The first byte of an escaped text, and what is left.
fn first(escaped: &[u8]) -> Option<(u8, &[u8])> {
    match escaped {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
            Some(((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), after))
        }
        [first, after @ ..] => Some((*first, after)),
        [] => None,
    }
}

/// Whether an escaped name is this one.
fn names_equal(escaped: &[u8], name: &[u8]) -> bool {
    let mut rest = escaped;
    for byte in name {
        let Some((char, after)) = first(rest) else { return false };
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
    fn mount_points_below_however_deep() {
        let above = |directory: &[u8]| is_above_any(MOUNTS, directory);
        assert!(above(b"/") && above(b"/mnt") && above(b"/mnt/a b\\"));
        assert!(!above(b"/proc") && !above(b"/mnt/a b\\/deep") && !above(b"/usr") && !above(b"/mn"));
        assert!(
            !is_above_any(b"27 1 254:0 / / rw - ext4 /dev/vda rw\n", b"/"),
            "the root is mounted nowhere below"
        );
    }

    #[test]
    fn what_is_mounted_where() {
        let at =
            |device, name: &[u8]| mounted(MOUNTS, device, name).map(|found| (found.fs_type, found.source));
        let found = |fs_type: &[u8], source: &[u8]| Some((fs_type.to_vec(), source.to_vec()));
        assert_eq!(at((0, 21), b"proc"), found(b"proc", b"proc"));
        assert_eq!(at((254, 0), b"/"), found(b"ext4", b"/dev/vda"));
        assert_eq!(at((0, 22), b"a b\\"), found(b"tmpfs", b"x"));
        assert_eq!(at((0, 22), b"."), found(b"tmpfs", b"x"), "the device alone");
        assert_eq!(at((0, 99), b"mnt/deep/"), found(b"tmpfs", b"x"), "the name alone");
        assert_eq!(at((0, 99), b"elsewhere"), None);
        assert_eq!(unescaped(b"a\\040b\\134\\9"), b"a b\\\\9");
    }

    #[test]
    fn what_is_mounted_twice_overlaps() {
        let with = |line: &[u8]| overlap(&[MOUNTS, line].concat());
        assert!(!with(b""));
        for line in [
            &b"30 27 254:0 /srv/data /mnt/b rw - ext4 /dev/vda rw\n"[..],
            b"30 27 254:0 / /mnt/all rw - ext4 /dev/vda rw\n",
            b"30 27 0:22 / /mnt/again rw - tmpfs x rw\n",
        ] {
            assert!(with(line), "{}", line.escape_ascii());
        }
        // In a container: over itself; and files of one file system, none of which is above another.
        for line in [
            &b"30 22 0:21 /bus /proc/bus ro - proc proc rw\n"[..],
            b"30 27 8:1 /c/hosts /etc/hosts rw - ext4 /dev/sda rw\n31 27 8:1 /c/hosts.d /etc/d rw - ext4 /dev/sda rw\n",
        ] {
            assert!(!with(line), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn the_root_of_this_machine_has_proc() {
        let mounts = file::read_pieces(c"/proc/self/mountinfo").unwrap();
        assert!(children(&mounts, b"/").contains(&&b"proc"[..]));
    }
}
