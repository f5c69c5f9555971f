//! A directory with one of everything that a lister can meet.
//!
//! The root of a zoo has every file type, mode, size, time, link, owner and attribute side by side, so that they share
//! columns; `names/`, `bytes/` and `versions/` are about names, `extensions/` about suffixes in LS_COLORS; `closed/`
//! is a directory without any permission. Entries that need root, a tool or a certain file system are tried, and
//! listed in [`Zoo::skipped`] if they fail.

mod attributes;
mod names;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, makedev, mknodat, utimensat};

use crate::fixture::{TempDir, settle};

/// Half of the mean Gregorian year, in seconds: where `ls -l` turns from hours to years.
const HALF_YEAR: i64 = 31_556_952 / 2;
const DAY: i64 = 86_400;

/// A zoo tree, removed on drop.
#[derive(Debug)]
pub struct Zoo {
    root: PathBuf,
    _dir: TempDir,
    skipped: Vec<String>,
}

impl Zoo {
    /// Builds a zoo under the system's temporary directory.
    pub fn new() -> io::Result<Zoo> {
        Zoo::new_in(&std::env::temp_dir())
    }

    /// Builds a zoo under `parent`, whose file system decides which sizes, times and attributes exist.
    pub fn new_in(parent: &Path) -> io::Result<Zoo> {
        let dir = TempDir::new_in(parent, "zoo")?;
        // One directory further down, so that `..` holds as still as the zoo does.
        let mut keeper = Keeper { root: dir.path().join("zoo"), skipped: Vec::new() };
        fs::create_dir(&keeper.root)?;
        keeper.modes()?;
        keeper.sizes()?;
        keeper.times()?;
        keeper.special_files()?;
        keeper.links()?;
        keeper.directories()?;
        keeper.names()?;
        keeper.attributes()?;
        keeper.owners()?;
        keeper.old_directory()?;
        settle(dir.path())?;
        Ok(Zoo { root: keeper.root, _dir: dir, skipped: keeper.skipped })
    }

    /// The zoo's root.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Entries that could not be made, with reasons.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }
}

/// Builds a zoo, one group of animals a method.
struct Keeper {
    root: PathBuf,
    skipped: Vec<String>,
}

impl Keeper {
    fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.root.join(name.as_ref())
    }

    fn file(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let path = self.path(name);
        File::create(&path)?;
        Ok(path)
    }

    /// Records a failure; the rest of the zoo is built.
    fn attempt<E: std::fmt::Display>(&mut self, what: impl Into<String>, result: Result<(), E>) {
        if let Err(error) = result {
            self.skipped.push(format!("{}: {error}", what.into()));
        }
    }

    fn modes(&mut self) -> io::Result<()> {
        let files = [
            0o000, 0o001, 0o111, 0o222, 0o444, 0o600, 0o644, 0o755, 0o777, 0o1644, 0o1755, 0o2644, 0o2755,
            0o2675, 0o4644, 0o4755, 0o4711, 0o6755, 0o6644, 0o7000, 0o7777,
        ];
        for mode in files {
            let path = self.file(format!("mode{mode:04o}"))?;
            chmod(&path, mode)?;
        }
        for mode in [0o700, 0o755, 0o777, 0o1755, 0o1777, 0o1776, 0o2755, 0o2777, 0o4755, 0o7777] {
            let path = self.path(format!("dir{mode:04o}"));
            fs::create_dir(&path)?;
            chmod(&path, mode)?;
        }
        Ok(())
    }

    fn sizes(&mut self) -> io::Result<()> {
        for size in [0, 1, 999, 1000, 1023, 1024, 1025, 9_999, 10_239, 10_240, 10_241] {
            fs::write(self.path(format!("size{size}")), vec![b'x'; size])?;
        }
        fs::write(self.path("size1MiB"), vec![0x55; 1 << 20])?;
        self.file("sparse1TiB")?;
        let terabyte = File::create(self.path("sparse1TiB"))?.set_len(1 << 40);
        self.attempt("a sparse file of 1 TiB", terabyte);
        let largest = File::create(self.path("sparse-largest"))?;
        // tmpfs and XFS take 8 EiB - 1, ext4 16 TiB less one block.
        let limits = [i64::MAX as u64, (1 << 44) - 4096, (1 << 43) - 1];
        if !limits.iter().any(|&limit| largest.set_len(limit).is_ok()) {
            self.skipped.push("a sparse file beyond 1 TiB".to_string());
        }
        Ok(())
    }

    fn times(&mut self) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?.as_secs() as i64;
        let times = [
            ("time-1901", -2_147_483_648, 0),
            ("time-1969", -1, 999_999_999),
            ("time-1970", 0, 1),
            ("time-2000", 951_782_400, 0), // the 29th of February
            ("time-half-year-and-a-day", now - HALF_YEAR - DAY, 7),
            ("time-half-year-less-a-day", now - HALF_YEAR + DAY, 70),
            ("time-five-months", now - 152 * DAY, 0),
            ("time-seven-months", now - 213 * DAY, 0),
            ("time-hour-ahead", now + 3600, 123_456_789),
            ("time-2038", 2_147_483_648, 0),
            ("time-2446", 15_032_385_535, 0),
            ("time-33658", 1_000_000_000_000, 0),
        ];
        for (name, seconds, nanoseconds) in times {
            let path = self.file(name)?;
            // Access times differ from modification times, so that tests distinguish -u and -t.
            set_times(&path, seconds - 86_400 * 400, seconds, nanoseconds)?;
        }
        Ok(())
    }

    fn special_files(&mut self) -> io::Result<()> {
        let nodes = [
            ("fifo", FileType::Fifo, 0, 0),
            ("char-small", FileType::CharacterDevice, 1, 3),
            ("char-large", FileType::CharacterDevice, 4095, 1_048_575),
            ("block-small", FileType::BlockDevice, 7, 0),
            ("block-large", FileType::BlockDevice, 259, 65_536),
        ];
        for (name, kind, major, minor) in nodes {
            let made = mknodat(CWD, self.path(name), kind, Mode::from_raw_mode(0o640), makedev(major, minor));
            self.attempt(format!("mknod {name}"), made);
        }
        let socket = UnixListener::bind(self.path("socket")).map(drop);
        self.attempt("a socket", socket);
        Ok(())
    }

    fn links(&mut self) -> io::Result<()> {
        let long = format!("{}end", "d/".repeat(2046));
        let links = [
            ("link-file", "size1"),
            ("link-executable", "mode0755"),
            ("link-dir", "dir0755"),
            ("link-sticky", "dir1777"),
            ("link-slash", "dir0755/"),
            ("link-dangling", "no/such/file"),
            ("link-loop", "link-loop"),
            ("link-loop-a", "link-loop-b"),
            ("link-loop-b", "link-loop-a"),
            ("link-chain", "link-chain-2"),
            ("link-chain-2", "link-dir"),
            ("link-absolute", "/usr/bin/env"),
            ("link-root", "/"),
            ("link-setuid", "mode4755"),
            ("link-parent", ".."),
            ("link-fifo", "fifo"),
            ("link-device", "char-small"),
            ("link-through-file", "size1/x"),
            ("link-odd", "names/ lead\ning"),
            ("link-4095", &long[..4095]),
        ];
        for (name, target) in links {
            let made = symlink(target, self.path(name));
            self.attempt(name, made);
        }
        let original = self.file("hard-1")?;
        for name in ["hard-2", "hard-3"] {
            fs::hard_link(&original, self.path(name))?;
        }
        Ok(())
    }

    fn directories(&mut self) -> io::Result<()> {
        for n in 0..12 {
            fs::create_dir_all(self.path(format!("dir-nlink/sub{n}")))?;
        }
        fs::create_dir(self.path("dir-empty"))?;
        fs::create_dir_all(self.path("tree/a/b/c"))?;
        self.file("tree/a/file")?;
        self.file("tree/a/b/file")?;
        let closed = self.path("closed");
        fs::create_dir(&closed)?;
        chmod(&closed, 0o000)
    }

    fn owners(&mut self) -> io::Result<()> {
        let owners = [("nameless", 12_345, 12_345), ("huge", 4_294_967_294, 4_294_967_294), ("daemon", 1, 1)];
        for (name, uid, gid) in owners {
            let path = self.file(format!("owner-{name}"))?;
            let owned = std::os::unix::fs::chown(&path, Some(uid), Some(gid));
            self.attempt(format!("chown {uid}"), owned);
        }
        Ok(())
    }

    fn old_directory(&mut self) -> io::Result<()> {
        let old = self.path("dir-old");
        fs::create_dir(&old)?;
        set_times(&old, 915_148_800, 946_684_799, 5)
    }
}

fn chmod(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn set_times(path: &Path, accessed: i64, modified: i64, nanoseconds: i64) -> io::Result<()> {
    let time = |seconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
    let times = Timestamps { last_access: time(accessed), last_modification: time(modified) };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
