//! The modules dir, stat, link, statfs, file and clock on the real machine, compared with the results of std for the same files.
mod common;

use common::{TempDir, c};
use dents_sys::dir::{self, Dirents};
use dents_sys::stat::{self, Flags, Mask, Statx, Timestamp};
use dents_sys::statfs::FsType;
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, clock, file, link, statfs, xattr};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Inode and `d_type` by name, read through a buffer of the given size.
fn read_all(dir: BorrowedFd<'_>, size: usize) -> BTreeMap<OsString, (u64, u8)> {
    let mut buf = vec![0; size];
    let mut all = BTreeMap::new();
    loop {
        let filled = dir::getdents64(dir, &mut buf).expect("readable");
        if filled == 0 {
            return all;
        }
        let mut dirents = Dirents::new(&buf[..filled]);
        for entry in dirents.by_ref() {
            let name = OsString::from_vec(entry.name.to_bytes().to_vec());
            assert_eq!(all.insert(name, (entry.ino, entry.d_type)), None, "an entry twice");
        }
        assert!(!dirents.malformed());
    }
}

fn d_type(file_type: fs::FileType) -> u8 {
    match () {
        () if file_type.is_dir() => dir::DT_DIR,
        () if file_type.is_file() => dir::DT_REG,
        () if file_type.is_symlink() => dir::DT_LNK,
        () if file_type.is_char_device() => dir::DT_CHR,
        () if file_type.is_block_device() => dir::DT_BLK,
        () if file_type.is_fifo() => dir::DT_FIFO,
        () => dir::DT_SOCK,
    }
}

fn assert_same_entries(path: &Path, size: usize) {
    let mut ours = read_all(dir::open(CWD, &c(path)).expect("a directory").as_fd(), size);
    for dots in [".", ".."] {
        assert!(ours.remove(OsStr::new(dots)).is_some_and(|(_, d_type)| d_type == dir::DT_DIR));
    }
    let theirs = fs::read_dir(path).expect("a directory").map(|entry| {
        let entry = entry.expect("readable");
        (entry.file_name(), (entry.ino(), d_type(entry.file_type().expect("known"))))
    });
    assert_eq!(ours, theirs.collect(), "{}", path.display());
}

fn assert_same_stat(ours: &Statx, theirs: &Metadata, what: &Path) {
    let time = |sec, nsec: i64| Timestamp { sec, nsec: nsec as u32 };
    let device = |(major, minor): (u32, u32)| rustix::fs::makedev(major, minor);
    assert_eq!(ours.mode(), theirs.mode(), "{}", what.display());
    assert_eq!(u64::from(ours.nlink()), theirs.nlink());
    assert_eq!((ours.uid(), ours.gid()), (theirs.uid(), theirs.gid()));
    assert_eq!((ours.ino(), ours.size(), ours.blocks()), (theirs.ino(), theirs.size(), theirs.blocks()));
    assert_eq!(u64::from(ours.blksize()), theirs.blksize());
    assert_eq!((device(ours.dev()), device(ours.rdev())), (theirs.dev(), theirs.rdev()));
    assert_eq!(ours.mtime(), time(theirs.mtime(), theirs.mtime_nsec()), "{}", what.display());
    assert_eq!(ours.ctime(), time(theirs.ctime(), theirs.ctime_nsec()), "{}", what.display());
    assert_eq!(ours.atime(), time(theirs.atime(), theirs.atime_nsec()), "{}", what.display());
    if let Ok(created) = theirs.created() {
        let since = created.duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        assert_eq!(ours.btime(), time(since.as_secs() as i64, i64::from(since.subsec_nanos())));
        assert!(ours.mask().contains(Mask::BTIME));
    }
}

/// Makes a tree with every type of file that this user may make.
fn zoo(dir: &Path) {
    fs::write(dir.join("file"), vec![7; 70_000]).unwrap();
    fs::write(dir.join("with\nnewline \u{fffd}"), "x").unwrap();
    fs::hard_link(dir.join("file"), dir.join("hard")).unwrap();
    fs::create_dir_all(dir.join("dir/sub")).unwrap();
    symlink("file", dir.join("link")).unwrap();
    symlink("nowhere", dir.join("dangling")).unwrap();
    symlink("x".repeat(4095), dir.join("long")).unwrap();
    fs::write(dir.join("n".repeat(255)), "").unwrap();
    std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
    rustix::fs::mknodat(CWD, &*c(dir.join("fifo")), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let old = fs::File::open(dir.join("hard")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH + std::time::Duration::new(1, 5)).unwrap();
}

#[test]
fn entries_as_std_reads_them() {
    for parent in [std::env::temp_dir(), "/dev/shm".into()] {
        let tree = TempDir::below(&parent);
        zoo(&tree.0);
        assert_same_entries(&tree.0, 280);
        assert_same_entries(&tree.0, 32 * 1024);
    }
    assert_same_entries(Path::new("/dev"), 4096);
    assert_same_entries(Path::new("/usr/bin"), 1024);
    assert_same_entries(Path::new("/proc/self/ns"), 4096);
}

#[test]
fn a_buffer_without_alignment_does() {
    let mut buf = [0; 4097];
    let dir = dir::open(CWD, c"/dev").unwrap();
    let filled = dir::getdents64(dir.as_fd(), &mut buf[1..]).unwrap();
    assert!(Dirents::new(&buf[1..=filled]).any(|entry| entry.name == c"null"));
}

#[test]
fn a_buffer_too_small_is_an_error() {
    let dir = dir::open(CWD, c"/").unwrap();
    assert_eq!(dir::getdents64(dir.as_fd(), &mut [0; 16]), Err(Errno::INVAL));
    assert_eq!(dir::getdents64(dir.as_fd(), &mut []), Err(Errno::INVAL));
}

#[test]
fn open_refuses_what_is_no_directory() {
    let tree = TempDir::new();
    zoo(&tree.0);
    let dir = tree.open();
    for (name, errno) in [
        (c"file", Errno::NOTDIR),
        (c"fifo", Errno::NOTDIR),
        (c"link", Errno::NOTDIR),
        (c"dangling", Errno::NOENT),
        (c"file/x", Errno::NOTDIR),
        (c"missing", Errno::NOENT),
        (c"", Errno::NOENT),
    ] {
        assert_eq!(dir::open(dir.as_fd(), name).err(), Some(errno), "{name:?}");
    }
    assert!(dir::open(dir.as_fd(), c"dir/sub").is_ok());
    symlink("dir", tree.0.join("to-dir")).unwrap();
    assert!(dir::open(dir.as_fd(), c"to-dir").is_ok());
    assert_eq!(dir::open_nofollow(dir.as_fd(), c"to-dir").err(), Some(Errno::NOTDIR));
    assert!(dir::open_nofollow(dir.as_fd(), c"to-dir/sub").is_ok());
}

#[test]
fn stat_as_std_sees_it() {
    let tree = TempDir::new();
    zoo(&tree.0);
    let shm = TempDir::below(Path::new("/dev/shm"));
    zoo(&shm.0);
    let all = Mask::all();
    let mut buf = Statx::zeroed();
    for parent in [&tree.0, &shm.0, Path::new("/dev")] {
        let dir = dir::open(CWD, &c(parent)).unwrap();
        for entry in fs::read_dir(parent).unwrap() {
            let (name, path) = entry.map(|e| (c(e.file_name()), e.path())).unwrap();
            let theirs = fs::symlink_metadata(&path).unwrap();
            let ours = stat::statx(dir.as_fd(), &name, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, all).unwrap();
            assert_same_stat(&ours, &theirs, &path);
            assert!(ours.mask().contains(Mask::TYPE | Mask::MODE | Mask::SIZE | Mask::INO));
            // The size of /dev/fd is the number of open descriptors of this process, and other tests open and close descriptors.
            if let Ok(theirs) = fs::metadata(&path)
                && name.as_bytes() != b"fd"
            {
                stat::statx_into(&mut buf, dir.as_fd(), &name, Flags::empty(), all).unwrap();
                assert_same_stat(&buf, &theirs, &path);
            }
        }
    }
}

#[test]
fn stat_of_open_files() {
    let dir = dir::open(CWD, c"/proc/self").unwrap();
    let theirs = fs::metadata("/proc/self").unwrap();
    let ours = stat::fstat(dir.as_fd(), Mask::all()).unwrap();
    assert_eq!((ours.ino(), ours.mode()), (theirs.ino(), theirs.mode()));
    let here = stat::fstat(CWD, Mask::INO).unwrap();
    assert_eq!(here.ino(), fs::metadata(".").unwrap().ino());
}

#[test]
fn stat_says_what_is_wrong_and_leaves_the_buffer() {
    let tree = TempDir::new();
    zoo(&tree.0);
    let dir = tree.open();
    let mut buf = stat::statx(dir.as_fd(), c"file", Flags::empty(), Mask::INO).unwrap();
    let ino = buf.ino();
    let long = c("x".repeat(256));
    for (name, errno) in [
        (c"missing", Errno::NOENT),
        (c"file/below", Errno::NOTDIR),
        (c"dangling", Errno::NOENT),
        (c"", Errno::NOENT),
        (&*long, Errno::NAMETOOLONG),
    ] {
        assert_eq!(stat::statx_into(&mut buf, dir.as_fd(), name, Flags::empty(), Mask::all()), Err(errno));
        assert_eq!(buf.ino(), ino);
    }
    // Some mask bits never reach the kernel: those that it rejects, and those with which a later kernel might write more.
    let odd = Mask::from_bits_retain(!0);
    assert!(stat::statx(dir.as_fd(), c"file", Flags::from_bits_retain(0x100 | 0x8000_0000), odd).is_ok());
}

#[test]
fn links_are_read_and_cut() {
    let tree = TempDir::new();
    zoo(&tree.0);
    let dir = tree.open();
    let mut buf = [0; 5000];
    assert_eq!(link::readlinkat(dir.as_fd(), c"link", &mut buf), Ok(&b"file"[..]));
    assert_eq!(link::readlinkat(dir.as_fd(), c"long", &mut buf).map(<[u8]>::len), Ok(4095));
    assert_eq!(link::readlinkat(dir.as_fd(), c"long", &mut buf[..10]), Ok(&b"xxxxxxxxxx"[..]));
    assert_eq!(link::readlinkat(dir.as_fd(), c"file", &mut buf), Err(Errno::INVAL));
    assert_eq!(link::readlinkat(dir.as_fd(), c"link", &mut []), Err(Errno::INVAL));
    assert_eq!(link::readlinkat(dir.as_fd(), c"missing", &mut buf), Err(Errno::NOENT));
}

#[test]
fn file_systems_are_told_apart() {
    let of = |path| {
        let dir = dir::open(CWD, path).unwrap();
        let asked = statfs::fstatfs(dir.as_fd());
        assert_eq!(statfs::of_mount(dir.as_fd()), asked, "{path:?}");
        assert_eq!(statfs::statfs(path), asked, "{path:?}");
        asked
    };
    assert_eq!(of(c"/proc"), Ok(FsType::PROC));
    assert_eq!(of(c"/dev/shm"), Ok(FsType::TMPFS));
    assert_eq!(of(c"/sys"), Ok(FsType::SYSFS));
    assert_eq!(of(c"/dev/pts"), Ok(FsType::DEVPTS));
}

#[test]
fn a_file_that_is_held_answers_for_itself() {
    let tree = TempDir::new();
    zoo(&tree.0);
    let dir = tree.open();
    let held = |name| dir::hold(dir.as_fd(), name).unwrap();
    for (name, kind) in [(c"file", 0o100_000), (c"link", 0o120_000), (c".", 0o040_000)] {
        let (file, mask) = (held(name), Mask::TYPE | Mask::SIZE);
        let own = stat::statx(file.as_fd(), c"", Flags::EMPTY_PATH | Flags::DONT_SYNC, mask).unwrap();
        let named = stat::statx(dir.as_fd(), name, Flags::NOFOLLOW, mask).unwrap();
        assert_eq!((own.mode() & 0o170_000, own.size()), (kind, named.size()), "{name:?}");
        let mut lists = [[0; 256]; 2];
        let [one, other] = &mut lists;
        let list = xattr::listxattr(file.as_fd(), one);
        assert_eq!(list, xattr::listxattrat(dir.as_fd(), name, false, other), "{name:?}");
        assert!(xattr::getxattr(file.as_fd(), c"user.none", &mut [0; 8]).is_err(), "{name:?}");
    }
    assert_eq!(dir::hold(dir.as_fd(), c"missing").err(), Some(Errno::NOENT));
    assert!(stat::takes_dont_sync(dir.as_fd()));
}

#[test]
fn files_are_read_whole() {
    let tree = TempDir::new();
    for len in [0, 1, 4095, 4096, 4097, 8192, 100_000] {
        let path = tree.0.join("file");
        let bytes: Vec<u8> = (0..len).map(|n| n as u8).collect();
        fs::write(&path, &bytes).unwrap();
        assert_eq!(file::read_to_end(&c(&path), 100_000).as_deref(), Ok(&bytes[..]), "{len}");
        assert_eq!(file::read_to_end(&c(&path), len).as_deref(), Ok(&bytes[..]), "{len}");
        if len > 0 {
            assert_eq!(file::read_to_end(&c(&path), len - 1), Err(Errno::FBIG), "{len}");
        }
    }
    // A short file whose size is not known.
    assert_eq!(file::read_to_end(c"/proc/self/comm", 100).unwrap(), fs::read("/proc/self/comm").unwrap());
    assert_eq!(file::read_to_end(c"/missing", 100), Err(Errno::NOENT));
    assert_eq!(file::read_to_end(c"/etc", 100), Err(Errno::ISDIR));
    assert_eq!(file::read_to_end(c"/dev/zero", 100_000), Err(Errno::FBIG));
    let fifo = tree.0.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, c(&fifo).as_c_str(), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_eq!(file::read_to_end(&c(&fifo), 100), Err(Errno::SPIPE));
}

#[test]
fn files_are_mapped_whole() {
    let tree = TempDir::new();
    let path = tree.0.join("file");
    let bytes: Vec<u8> = (0..10_000).map(|n| n as u8).collect();
    fs::write(&path, &bytes).unwrap();
    let bytes_of =
        |mapped: &[AtomicU8]| -> Vec<u8> { mapped.iter().map(|byte| byte.load(Relaxed)).collect() };
    let mapped = file::map(&c(&path)).unwrap();
    assert_eq!(bytes_of(mapped), bytes);
    fs::remove_file(&path).unwrap();
    assert_eq!(bytes_of(mapped), bytes, "the mapping outlives the name");
    fs::write(&path, "").unwrap();
    let refused = |path: &CStr| file::map(path).err();
    assert_eq!(refused(&c(&path)), Some(Errno::INVAL));
    assert_eq!(refused(c"/etc"), Some(Errno::INVAL));
    assert_eq!(refused(c"/dev/zero"), Some(Errno::INVAL));
    assert_eq!(refused(c"/missing"), Some(Errno::NOENT));
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(refused(&c(&path)), Some(Errno::FBIG));
}

#[test]
fn writes_answer_how_much() {
    let full = rustix::fs::open("/dev/full", rustix::fs::OFlags::WRONLY, 0.into()).unwrap();
    assert_eq!(file::write(full.as_fd(), b"x"), Err(Errno::NOSPC));
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::WRONLY, 0.into()).unwrap();
    assert_eq!(file::write(null.as_fd(), b"four"), Ok(4));
}

#[test]
fn terminals_are_known() {
    use dents_sys::tty;
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, 0.into()).unwrap();
    assert!(!tty::isatty(null.as_fd()));
    assert_eq!(tty::columns(null.as_fd()), None);
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let terminal = rustix::fs::open("/dev/ptmx", flags, 0.into()).unwrap();
    assert!(tty::isatty(terminal.as_fd()));
    assert_eq!(tty::columns(terminal.as_fd()), None, "a new terminal has no width");
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: 132, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&terminal, size).unwrap();
    assert_eq!(tty::columns(terminal.as_fd()), Some(132));
}

#[test]
fn clocks_agree_with_std() {
    let std_now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let (before, ours, after) = (std_now(), clock::realtime(), std_now());
    let ours = std::time::Duration::new(ours.sec as u64, ours.nsec);
    assert!(before <= ours && ours <= after);
    let mut last = clock::monotonic_ns();
    for _ in 0..1000 {
        let now = clock::monotonic_ns();
        assert!(now >= last);
        last = now;
    }
}
