//! The slow file system's faults, as its clients see them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use dents_lab::slowfs::{Builder, Errno, Fault, Kind, Mounted, Request, SlowFs};
use rustix::fs::{Dir, FileType, Mode, OFlags};

const PATIENCE: Duration = Duration::from_secs(10);

fn files(count: usize) -> Builder {
    SlowFs::builder().entries(count, &[Kind::File])
}

/// `lstat` on another thread, because it may never return.
fn stat_aside(path: PathBuf) -> Receiver<Option<i32>> {
    aside(move || fs::symlink_metadata(path).map(drop))
}

/// Runs a function on another thread; receives its error number, or `None` for success.
fn aside(what: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Receiver<Option<i32>> {
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(what().err().and_then(|error| error.raw_os_error())));
    told
}

fn error_of(path: &Path) -> Option<i32> {
    fs::symlink_metadata(path).err().and_then(|error| error.raw_os_error())
}

fn code(error: Errno) -> Option<i32> {
    Some(error.raw_os_error())
}

fn stat_process(path: &Path) -> Child {
    let mut stat = Command::new("stat");
    stat.arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("stat starts")
}

fn ends_within(child: &mut Child, patience: Duration) -> bool {
    let end = Instant::now() + patience;
    while child.try_wait().expect("it is our child").is_none() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn what_hangs_hangs_alone_until_it_is_released() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let stuck = stat_aside(far.path().join("e00003"));
    assert!(far.wait_hung(1, PATIENCE));
    assert_eq!(error_of(&far.path().join("e00004")), None);
    assert!(stuck.recv_timeout(Duration::from_millis(100)).is_err());
    assert_eq!((far.in_flight(), far.hung()), (1, 1));
    assert_eq!(far.release(), 1);
    assert_eq!(stuck.recv_timeout(PATIENCE), Ok(None));
    assert_eq!(error_of(&far.path().join("e00003")), None);
}

#[test]
fn unmounting_frees_whoever_hangs() {
    for hang in [Fault::Hang, Fault::HangHard] {
        let Some(far) = files(10).fault("e00003", Request::STAT, hang).mount_or_skip() else { return };
        let stuck: Vec<_> = (0..20).map(|_| stat_aside(far.path().join("e00003"))).collect();
        assert!(far.wait_hung(1, PATIENCE));
        let start = Instant::now();
        drop(far);
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        for stuck in stuck {
            assert!(stuck.recv_timeout(PATIENCE).expect("it returns").is_some());
        }
    }
}

#[test]
fn a_process_that_hangs_can_be_killed() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let mut child = stat_process(&far.path().join("e00003"));
    assert!(far.wait_hung(1, PATIENCE));
    child.kill().expect("it can be signalled");
    assert!(ends_within(&mut child, PATIENCE));
    assert_eq!(far.hung(), 0);
}

#[test]
fn a_process_that_hangs_hard_cannot() {
    let Some(far) = files(10).fault("e00003", Request::STAT, Fault::HangHard).mount_or_skip() else { return };
    let mut child = stat_process(&far.path().join("e00003"));
    assert!(far.wait_hung(1, PATIENCE));
    child.kill().expect("it can be signalled");
    assert!(!ends_within(&mut child, Duration::from_millis(300)));
    drop(far);
    assert!(ends_within(&mut child, PATIENCE));
}

#[test]
fn errors_are_those_that_were_said() {
    let errors = [Errno::IO, Errno::STALE, Errno::ACCESS, Errno::TIMEDOUT];
    let mut builder = files(10).vanish("e00009");
    for (n, error) in errors.into_iter().enumerate() {
        builder = builder.fail(format!("e{n:05}"), error);
    }
    let Some(far) = builder.mount_or_skip() else { return };
    for (n, error) in errors.into_iter().enumerate() {
        assert_eq!(error_of(&far.path().join(format!("e{n:05}"))), code(error));
    }
    assert_eq!(error_of(&far.path().join("e00005")), None);
    assert_eq!(error_of(&far.path().join("e00009")), code(Errno::NOENT));
    assert_eq!(fs::read_dir(far.path()).expect("it opens").count(), 10);
    far.fault("e00005", &[Request::Getattr], Fault::Error(Errno::PERM)).expect("it is there");
    assert_eq!(error_of(&far.path().join("e00005")), code(Errno::PERM));
    far.clear_faults();
    assert_eq!(error_of(&far.path().join("e00009")), None);
}

#[test]
fn the_directory_itself_may_fail_or_hang() {
    let builder = files(10).fault(".", &[Request::Getattr], Fault::Error(Errno::IO));
    let Some(far) = builder.fault(".", &[Request::Opendir], Fault::Hang).mount_or_skip() else { return };
    assert_eq!(error_of(far.path()), code(Errno::IO));
    let path = far.path().to_path_buf();
    // Not opendir(3), which asks for the attributes as well.
    let stuck = aside(move || fs::File::open(path).map(drop));
    assert!(far.wait_hung(1, PATIENCE));
    assert_eq!(far.counts().of(Request::Opendir), 1);
    far.release();
    assert_eq!(stuck.recv_timeout(PATIENCE), Ok(None));
}

#[test]
fn listing_may_break_off() {
    let fault = Fault::Error(Errno::IO);
    let builder = files(20_000).fault_after(".", &[Request::Readdir], 2, fault);
    let Some(far) = builder.mount_or_skip() else { return };
    let (mut good, mut bad) = (0, Vec::new());
    for entry in fs::read_dir(far.path()).expect("it opens") {
        match entry {
            Ok(_) => good += 1,
            Err(error) => {
                bad.push(error.raw_os_error());
                break;
            }
        }
    }
    assert_eq!(bad, [code(Errno::IO)]);
    assert!((1..20_000).contains(&good), "{good}");
}

#[test]
fn listing_may_hang_on_the_way() {
    let builder = files(20_000).fault_after(".", &[Request::Readdir], 1, Fault::Hang);
    let Some(far) = builder.mount_or_skip() else { return };
    let path = far.path().to_path_buf();
    let stuck = aside(move || fs::read_dir(path).map(|entries| assert!(entries.count() > 0)));
    assert!(far.wait_hung(1, PATIENCE));
    drop(far);
    assert_eq!(stuck.recv_timeout(PATIENCE), Ok(None), "an iterator counts errors too");
}

#[test]
fn attributes_are_told_refused_and_hang() {
    let names = |path: &Path| {
        let mut buffer = [0; 256];
        rustix::fs::listxattr(path, &mut buffer)
            .map(|length| String::from_utf8_lossy(&buffer[..length]).into_owned())
    };
    let builder = files(3).xattr("e00000", "user.colour", b"blue");
    let Some(far) = builder.fault("e00002", Request::XATTR, Fault::Hang).mount_or_skip() else { return };
    let path = |n: usize| far.path().join(format!("e{n:05}"));
    assert_eq!(names(&path(0)).as_deref(), Ok("user.colour\0"));
    assert_eq!(names(&path(1)).as_deref(), Ok(""));
    let mut value = [0; 16];
    assert_eq!(rustix::fs::getxattr(path(0), "user.colour", &mut value), Ok(4));
    assert_eq!(rustix::fs::getxattr(path(0), "user.shape", &mut value), Err(Errno::NODATA));
    let mut tight = [0; 3];
    assert_eq!(rustix::fs::listxattr(path(0), &mut tight), Err(Errno::RANGE));
    let third = path(2);
    let stuck = aside(move || rustix::fs::listxattr(&third, &mut [0; 8]).map(drop).map_err(Into::into));
    assert!(far.wait_hung(1, PATIENCE));
    assert_eq!(error_of(&path(2)), None);
    far.release();
    assert_eq!(stuck.recv_timeout(PATIENCE), Ok(None));
}

#[test]
fn a_kernel_told_enosys_asks_no_more() {
    for (error, asked) in [(Errno::NOSYS, 1), (Errno::NOTSUP, 3)] {
        let builder = files(3).fault_everywhere(Request::XATTR, Fault::Error(error));
        let Some(far) = builder.mount_or_skip() else { return };
        for n in 0..3 {
            let answer = rustix::fs::listxattr(far.path().join(format!("e{n:05}")), &mut [0; 8]);
            assert_eq!(answer, Err(Errno::NOTSUP));
        }
        assert_eq!(far.counts().of(Request::Listxattr), asked, "{error:?}");
    }
}

fn open(far: &Mounted) -> Dir {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let fd = rustix::fs::open(far.path(), flags, Mode::empty()).expect("it opens");
    Dir::read_from(fd).expect("it can be read")
}

#[test]
fn hidden_types_are_unknown_and_names_are_all_there() {
    let builder = SlowFs::builder().entries(5000, &[Kind::File, Kind::Directory, Kind::Link]);
    let Some(far) = builder.hide_types().mount_or_skip() else { return };
    let entries: Vec<_> = open(&far).map(|entry| entry.expect("it reads")).collect();
    assert_eq!(entries.len(), 5002);
    assert!(entries.iter().all(|entry| entry.file_type() == FileType::Unknown));
    assert_eq!(entries[5001].file_name().to_bytes(), b"e04999");
    assert_eq!(far.counts().of(Request::Lookup), 0);
    let metadata = fs::symlink_metadata(far.path().join("e00001")).expect("it is there");
    assert!(metadata.is_dir());
    assert_eq!(metadata.ino(), entries[3].ino());
}

#[test]
fn what_stays_is_listed_once_while_others_come_and_go() {
    let Some(far) = files(3000).churn(50).mount_or_skip() else { return };
    let (mut passing, mut gone) = (0, 0);
    for _ in 0..20 {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let entries: Vec<_> =
            fs::read_dir(far.path()).expect("it opens").map(|e| e.expect("it reads")).collect();
        for entry in entries {
            gone += usize::from(error_of(&entry.path()) == code(Errno::NOENT));
            *seen.entry(entry.file_name().into_string().expect("plain")).or_default() += 1;
        }
        let stayed = (0..3000).filter(|n| seen.get(&format!("e{n:05}")) == Some(&1)).count();
        assert_eq!(stayed, 3000);
        passing += seen.keys().filter(|name| name.starts_with("passing-")).count();
    }
    assert!(passing > 0 && gone > 0, "{passing} passed, {gone} of them were gone when asked for");
}

#[test]
fn entries_come_and_go_by_hand() {
    let Some(far) = files(3).tree(1, 1).mount_or_skip() else { return };
    let held = fs::File::open(far.path().join("e00001")).expect("it opens");
    far.remove("e00001").expect("it is there");
    assert_eq!(held.metadata().err().and_then(|error| error.raw_os_error()), code(Errno::NOENT));
    far.add("new", Kind::Directory).expect("it is new");
    far.add("dir0/newer", Kind::File).expect("it is new");
    assert_eq!(far.add("new", Kind::File), Err(Errno::EXIST));
    assert_eq!(far.remove("e00001"), Err(Errno::NOENT));
    let mut names: Vec<_> =
        fs::read_dir(far.path()).expect("it opens").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["dir0", "e00000", "e00002", "new"]);
    assert_eq!(fs::metadata(far.path()).expect("it is there").nlink(), 4);
    assert_eq!(error_of(&far.path().join("dir0/newer")), None);
}

#[test]
fn an_endless_directory_never_ends() {
    let Some(far) = files(5).endless().mount_or_skip() else { return };
    let entries = fs::read_dir(far.path()).expect("it opens");
    let last = entries.take(50_005).last().expect("there are so many").expect("it reads");
    assert_eq!(last.file_name(), "endless-49999");
    assert_eq!(error_of(&last.path()), None);
}
