//! The mount points of the process: one parser of `/proc/self/mountinfo`, and what follows from it.
//!
//! It decides where the inode numbers of `readdir` can be used. The `d_ino` of a mount point is that of the directory
//! under the mount. On file systems whose `d_ino` is otherwise the `stx_ino` of `statx`, only mount points need a
//! `statx` for their inode number.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

use crate::path::below;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsRawFd, BorrowedFd, CWD, file, link};

/// File systems whose `d_ino` is the inode number, except for mount points. Not in this list are overlays (their
/// layers have numbers of their own), btrfs (its subvolumes are mount points that the list of mounts does not have),
/// network file systems, FUSE and /proc.
const HONEST: [FsType; 5] = [FsType::EXT, FsType::XFS, FsType::TMPFS, FsType::RAMFS, FsType::F2FS];

/// File systems that ask no server and no other process, so that requests about their files end.
const LOCAL: [&[u8]; 17] = [
    b"bcachefs",
    b"btrfs",
    b"devtmpfs",
    b"erofs",
    b"exfat",
    b"ext2",
    b"ext3",
    b"ext4",
    b"f2fs",
    b"overlay",
    b"proc",
    b"ramfs",
    b"squashfs",
    b"sysfs",
    b"tmpfs",
    b"xfs",
    b"zfs",
];

/// With fewer entries than this, a `statx` of each costs less than reading the list of mounts.
const WORTH_IT: usize = 64;

/// The mount points of the process. They are read once, when they are first needed.
#[derive(Default)]
pub struct Mounts(OnceCell<Option<Vec<u8>>>);

/// What is mounted somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mounted {
    /// The type of the file system: `ext4`, `tmpfs`.
    pub fs_type: Vec<u8>,
    /// Its source, as it was passed to mount(2): `/dev/sda1`, `server:/export`, any bytes.
    pub source: Vec<u8>,
}

/// The entries of a directory that need a `statx` for their inode number, beside `.` and `..`.
pub(crate) struct Covered<'m>(Vec<&'m [u8]>);

impl Covered<'_> {
    /// Whether `d_ino` may be another file's.
    pub(crate) fn covers(&self, name: &[u8]) -> bool {
        matches!(name, b"." | b"..") || self.0.iter().any(|covered| names_equal(covered, name))
    }
}

impl Mounts {
    /// The mount points directly below a directory with this many entries. `None` if its `d_ino` cannot be used, or
    /// if there are too few entries to read the list of mounts. Costs `fstatfs` and `readlink`, and the first time
    /// four calls for the list of mounts.
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

    /// The mount at an entry with this name, on a file system with this device number. Costs four calls the first
    /// time. `None` if it cannot be found: without /proc, or if the file system gives its files other device numbers
    /// than the list of mounts has (btrfs) and the name differs too.
    #[must_use]
    pub fn at(&self, device: (u32, u32), name: &[u8]) -> Option<Mounted> {
        mounted(self.list()?, device, name)
    }

    /// Whether a walk may find the same files below two mount points (`mount --bind`), and so more often than their
    /// link count says. Costs four calls the first time. True without /proc, where it is not known.
    #[must_use]
    pub fn overlap(&self) -> bool {
        self.list().is_none_or(overlap)
    }

    /// Whether a directory is mounted below itself (`mount --bind / /mnt/x`), so that a walk finds it again. Costs four calls the
    /// first time. True without /proc, where it is not known.
    #[must_use]
    pub fn any_loop(&self) -> bool {
        self.list().is_none_or(any_loop)
    }

    /// Whether something may be mounted below a directory, at any depth. Costs one `readlink`, and the first time
    /// four calls more. True without /proc, where it is not known.
    #[must_use]
    pub fn any_below(&self, dir: BorrowedFd<'_>) -> bool {
        let mut text = [0; 4096];
        let Some(path) = path_of(dir, &mut text) else { return true };
        self.list().is_none_or(|mounts| is_above_any(mounts, path))
    }

    /// Whether a walk of a directory finds all files of its file system and no others: the directory is the root of the file system,
    /// and nothing is mounted below. Costs as much as [`any_below`](Self::any_below). False without /proc, where it is not known.
    #[must_use]
    pub fn show_whole(&self, dir: BorrowedFd<'_>) -> bool {
        let mut text = [0; 4096];
        let Some(path) = path_of(dir, &mut text) else { return false };
        self.list().is_some_and(|mounts| shows_whole(mounts, path))
    }

    /// Whether something may be mounted right in a directory: the one with this path below `dir`. Costs as much as
    /// [`any_below`](Self::any_below).
    #[must_use]
    pub fn any_in(&self, dir: BorrowedFd<'_>, path: &[u8]) -> bool {
        let mut text = [0; 4096];
        let Some(above) = path_of(dir, &mut text) else { return true };
        self.list().is_none_or(|mounts| !children(mounts, &below(above, path)).is_empty())
    }

    /// Whether a directory and all above it are on file systems of this machine alone: not on a server's, in an automounter's or
    /// in FUSE, where a request may never be answered. `directory` is canonical. Costs four calls the first time. False without
    /// /proc, where it is not known.
    #[must_use]
    pub fn answer_above(&self, directory: &[u8]) -> bool {
        self.list().is_some_and(|mounts| answer_above(mounts, directory))
    }

    /// The types of the mounted file systems, by their device numbers; none without /proc. Costs four calls the first
    /// time.
    pub fn types(&self) -> impl Iterator<Item = ((u32, u32), Vec<u8>)> {
        Mount::all(self.list().unwrap_or_default())
            .filter_map(|mount| Some((mount.device_number()?, unescaped(mount.source()?.0))))
    }

    /// The last components of all mount points but the root. Costs four calls the first time. `None` without /proc.
    pub(crate) fn names(&self) -> Option<Vec<Vec<u8>>> {
        let last = |mount: Mount<'_>| mount.point.rsplit(|byte| *byte == b'/').next().map(unescaped);
        let mut names: Vec<_> =
            Mount::all(self.list()?).filter_map(last).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Whether a mount shows other owners than the file system has (`mount --map-users`). Costs four calls the first time.
    pub(crate) fn any_idmapped(&self) -> bool {
        self.list().is_some_and(|list| Mount::all(list).any(|mount| mount.is_idmapped()))
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

/// A line of the list, with its fields as in the file: blanks and backslashes are octal numbers (proc(5)).
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mount<'m> {
    /// `MAJOR:MINOR`.
    device: &'m [u8],
    /// The directory of the file system that is shown, without a slash at its end.
    root: &'m [u8],
    /// Where it is shown, without a slash at its end.
    point: &'m [u8],
    /// The options and what comes after them.
    rest: &'m [u8],
}

impl<'m> Mount<'m> {
    fn all(list: &'m [u8]) -> impl Iterator<Item = Mount<'m>> {
        list.split(|byte| *byte == b'\n').filter_map(|line| {
            let mut fields = line.splitn(6, |byte| *byte == b' ').skip(2);
            let mut next = || fields.next().map(|field| field.strip_suffix(b"/").unwrap_or(field));
            let (device, root, point) = (next()?, next()?, next()?);
            Some(Mount { device, root, point, rest: fields.next().unwrap_or_default() })
        })
    }

    /// The device and the mount point.
    fn place(&self) -> (&'m [u8], &'m [u8]) {
        (self.device, self.point)
    }

    /// The type of the file system and its source, which come after the optional fields and a hyphen.
    fn source(&self) -> Option<(&'m [u8], &'m [u8])> {
        let mut fields = self.rest.split(|byte| *byte == b' ').skip_while(|field| *field != b"-").skip(1);
        Some((fields.next()?, fields.next()?))
    }

    /// Whether it shows, at a mount point below that of `outer`, a directory that is above this mount point in `outer`.
    fn is_loop_in(&self, outer: &Mount<'_>) -> bool {
        // The mount point's path in the file system is `outer.root` and then `below`.
        let below = match rest_below(self.point, outer.point) {
            Some(below) if !below.is_empty() => below,
            _ => return false,
        };
        match rest_below(self.root, outer.root) {
            Some(rest) => rest_below(below, rest).is_some_and(|rest| !rest.is_empty()),
            None => rest_below(outer.root, self.root).is_some(),
        }
    }

    fn is_idmapped(&self) -> bool {
        let options = self.rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        options.split(|byte| *byte == b',').any(|option| option == b"idmapped")
    }

    fn device_number(&self) -> Option<(u32, u32)> {
        let (major, minor) = core::str::from_utf8(self.device).ok()?.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// Whether it shows, at another mount point, the directory that `outer` shows, or one below it.
    fn repeats(&self, outer: &Mount<'_>) -> bool {
        let Some(below) = rest_below(self.root, outer.root) else { return false };
        self.point.strip_prefix(outer.point) != Some(below)
    }
}

/// The last components of the mount points right below `directory`, escaped.
fn children<'m>(mounts: &'m [u8], directory: &[u8]) -> Vec<&'m [u8]> {
    let directory = if directory == b"/" { b"" } else { directory };
    let child = |mount: Mount<'m>| {
        let slash = memchr::memrchr(b'/', mount.point)?;
        names_equal(&mount.point[..slash], directory).then_some(&mount.point[slash + 1..])
    };
    Mount::all(mounts).filter_map(child).filter(|name| !name.is_empty()).collect()
}

/// Whether one of the mount points lies below `directory`.
fn is_above_any(mounts: &[u8], directory: &[u8]) -> bool {
    let directory = if directory == b"/" { b"" } else { directory };
    let is_above =
        |path: &[u8]| memchr::memchr_iter(b'/', path).any(|slash| names_equal(&path[..slash], directory));
    Mount::all(mounts).any(|mount| is_above(mount.point))
}

/// Whether all mounts of the list that a path leads through are local. At least one is: the root.
fn answer_above(mounts: &[u8], directory: &[u8]) -> bool {
    let path = if directory == b"/" { b"" } else { directory };
    let ends = || memchr::memchr_iter(b'/', path).chain([path.len()]);
    let leads_through = |mount: &Mount<'_>| ends().any(|end| names_equal(mount.point, &path[..end]));
    let through = || Mount::all(mounts).filter(leads_through);
    let is_local = |mount: Mount<'_>| mount.source().is_some_and(|(fs_type, _)| LOCAL.contains(&fs_type));
    path.first().is_none_or(|first| *first == b'/') && through().next().is_some() && through().all(is_local)
}

/// Whether a directory is a mount point where a whole file system is shown, with none mounted below. It may be several mount points, one on
/// top of the other; their order is not known.
fn shows_whole(mounts: &[u8], directory: &[u8]) -> bool {
    let point = if directory == b"/" { b"" } else { directory };
    let here = || Mount::all(mounts).filter(|mount| names_equal(mount.point, point));
    here().next().is_some() && here().all(|mount| mount.root.is_empty()) && !is_above_any(mounts, directory)
}

/// The mount with this device and this last component. If there is none, a mount with this device (the output does
/// not depend on the mount point), or else one with this last component. Of several, the last: it is on top.
fn mounted(mounts: &[u8], device: (u32, u32), name: &[u8]) -> Option<Mounted> {
    let name = name.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
    let fits = |mount: &Mount<'_>| {
        let last = mount.point.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        (mount.device_number() == Some(device), names_equal(last, name))
    };
    let mount = Mount::all(mounts).filter(|mount| fits(mount) != (false, false)).max_by_key(fits)?;
    let (fs_type, source) = mount.source()?;
    Some(Mounted { fs_type: unescaped(fs_type), source: unescaped(source) })
}

/// Whether a directory of one file system can be reached below two mount points. A mount of a directory on itself, as
/// containers have them in /proc, does not count.
fn overlap(mounts: &[u8]) -> bool {
    let mut all: Vec<Mount<'_>> = Mount::all(mounts).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.device == b.device).any(|same| {
        let mut pairs =
            same.iter().enumerate().flat_map(|(nth, a)| same[nth + 1..].iter().map(move |b| (a, b)));
        pairs.any(|(outer, inner)| inner.repeats(outer))
    })
}

/// What follows the path `above`, if `path` is that or below it. Neither ends with a slash.
fn rest_below<'p>(path: &'p [u8], above: &[u8]) -> Option<&'p [u8]> {
    path.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Whether a mount shows a directory below itself. Only mounts above a mount point matter, so each component of its path is looked
/// up: hosts of containers have thousands of mounts of one device.
fn any_loop(mounts: &[u8]) -> bool {
    let mut all: Vec<Mount<'_>> = Mount::all(mounts).collect();
    all.sort_unstable_by_key(Mount::place);
    let at = |device, point| {
        let first = all.partition_point(|mount| mount.place() < (device, point));
        all[first..].iter().take_while(move |mount| mount.place() == (device, point))
    };
    all.iter().any(|inner| {
        let above = memchr::memchr_iter(b'/', inner.point).map(|slash| &inner.point[..slash]);
        above.flat_map(|point| at(inner.device, point)).any(|outer| inner.is_loop_in(outer))
    })
}

/// A field without escapes: octal numbers become blanks, backslashes and line ends again.
fn unescaped(mut rest: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some((byte, after)) = first(rest) {
        text.push(byte);
        rest = after;
    }
    text
}

/// The first byte of an escaped text, and the rest of the text.
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
    fn the_names_of_all_mount_points_and_mapped_owners() {
        let mounts = |list: &[u8]| Mounts(OnceCell::from(Some(list.to_vec())));
        let names = mounts(MOUNTS).names().expect("a list");
        assert_eq!(names, [&b"a b\\"[..], b"deep", b"proc"], "the root has no name");
        assert!(!mounts(MOUNTS).any_idmapped());
        assert!(mounts(b"9 1 0:9 / /idmapped rw,noatime - btrfs idmapped rw,idmapped=1\n").names().is_some());
        assert!(!mounts(b"9 1 0:9 / /idmapped rw,noatime - btrfs idmapped rw,idmapped\n").any_idmapped());
        assert!(mounts(b"9 1 0:9 / /m rw,idmapped,noatime shared:4 - btrfs x rw\n").any_idmapped());
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
    fn where_requests_end() {
        let lines = b"30 27 0:30 / /net rw - autofs auto.net rw\n31 27 0:31 / /mnt/a\\040b\\134/deep/far rw - nfs4 s:/ rw\n\
            32 27 0:32 / /home rw - autofs x rw\n33 32 254:9 / /home rw - ext4 /dev/vdb rw\n";
        let mounts = [MOUNTS, lines].concat();
        for path in
            ["/", "/usr", "/mnt/a b\\", "/mnt/a b\\/deep", "/mnt/a b\\/deep/farther", "/network", "/proc/1"]
        {
            assert!(answer_above(&mounts, path.as_bytes()), "{path}");
        }
        for path in
            ["/net", "/net/x", "/mnt/a b\\/deep/far", "/mnt/a b\\/deep/far/x/y", "/home/x", "relative"]
        {
            assert!(!answer_above(&mounts, path.as_bytes()), "{path}");
        }
        assert!(!answer_above(b"", b"/usr"), "nothing is known");
    }

    #[test]
    fn where_a_whole_file_system_is_shown() {
        let lines = b"30 27 254:0 /srv /mnt/part rw - xfs /dev/vda rw\n\
            31 27 254:9 / /mnt/two rw - xfs /dev/vdb rw\n32 31 254:0 /srv /mnt/two rw - xfs /dev/vda rw\n";
        let mounts = [MOUNTS, lines].concat();
        assert!(shows_whole(&mounts, b"/proc") && shows_whole(&mounts, b"/mnt/a b\\/deep"));
        assert!(
            !shows_whole(&mounts, b"/") && !shows_whole(&mounts, b"/mnt/a b\\"),
            "something is mounted below"
        );
        assert!(
            !shows_whole(&mounts, b"/mnt/part") && !shows_whole(&mounts, b"/mnt/two"),
            "a directory of another"
        );
        assert!(!shows_whole(&mounts, b"/mnt") && !shows_whole(&mounts, b"/proc/1"), "no mount point");
        assert!(shows_whole(b"27 1 254:0 / / rw - xfs /dev/vda rw\n", b"/"));
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
    fn types_by_device() {
        let list = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw\n\n37 35 0:5 / / rw - tmpfs x\n1 2 3";
        let mounts = Mounts(OnceCell::from(Some(list.to_vec())));
        let expected = [((98, 0), b"ext3".to_vec()), ((0, 5), b"tmpfs".to_vec())];
        assert!(mounts.types().eq(expected));
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
        // As in a container: a mount on itself, and mounts of files of one file system, none of which is above
        // another.
        for line in [
            &b"30 22 0:21 /bus /proc/bus ro - proc proc rw\n"[..],
            b"30 27 8:1 /c/hosts /etc/hosts rw - ext4 /dev/sda rw\n31 27 8:1 /c/hosts.d /etc/d rw - ext4 /dev/sda rw\n",
        ] {
            assert!(!with(line), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn what_is_mounted_below_itself_is_a_loop() {
        let with = |lines: &[u8]| any_loop(&[MOUNTS, lines].concat());
        assert!(!with(b""));
        for lines in [
            &b"30 27 254:0 / /mnt/x rw - ext4 /dev/vda rw\n"[..],
            b"30 27 254:0 /a /a/b/c rw - ext4 /dev/vda rw\n",
            // Through another file system.
            b"30 23 254:0 / /mnt/a\\040b\\134/x rw - ext4 /dev/vda rw\n",
            // Only the first mount shows /a/b above the second: /t/b/c is /a/b/c.
            b"30 27 254:0 /a /t rw - ext4 /dev/vda rw\n31 30 254:0 /a/b /t/b/c rw - ext4 /dev/vda rw\n",
            b"30 27 8:1 /data/x /mnt/x rw - ext4 /dev/sda rw\n31 30 8:1 / /mnt/x/y rw - ext4 /dev/sda rw\n",
        ] {
            assert!(with(lines), "{}", lines.escape_ascii());
        }
        for lines in [
            // A sibling; a directory on itself; a file of it; a name that only begins alike; another file system.
            &b"30 27 254:0 /a /b rw - ext4 /dev/vda rw\n"[..],
            b"30 27 254:0 /a /a rw - ext4 /dev/vda rw\n",
            b"30 27 254:0 /a/b /a rw - ext4 /dev/vda rw\n",
            b"30 27 254:0 /a /ab/c rw - ext4 /dev/vda rw\n",
            b"30 27 8:1 / /a/b rw - ext4 /dev/sda rw\n",
            b"30 27 8:1 /c/hosts /etc/hosts rw - ext4 /dev/sda rw\n31 27 8:1 /c /etc/d rw - ext4 /dev/sda rw\n",
        ] {
            assert!(!with(lines), "{}", lines.escape_ascii());
        }
    }

    /// As on hosts of containers: 20,000 bind mounts of one device. To compare each pair of them took 10.8 s here.
    #[test]
    fn many_mounts_are_compared_fast() {
        let line = |nth: usize| {
            alloc::format!("{nth} 27 254:0 /data/{nth} /pods/{nth}/volume rw - ext4 /dev/vda rw\n")
        };
        let mounts: alloc::string::String = (0..20_000).map(line).collect();
        let began = std::time::Instant::now();
        assert!(!any_loop(mounts.as_bytes()));
        assert!(began.elapsed().as_millis() < 500, "{:?}", began.elapsed());
    }

    #[test]
    fn the_root_of_this_machine_has_proc() {
        let mounts = file::read_pieces(c"/proc/self/mountinfo").unwrap();
        assert!(children(&mounts, b"/").contains(&&b"proc"[..]));
    }
}
