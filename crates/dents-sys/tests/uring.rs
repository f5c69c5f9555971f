//! The ring against plain calls: every request answered once, with the same answer, whatever happens in between.
//!
//! Where io_uring is refused (a container's seccomp filter) there is nothing to test, and the tests say so and pass.
mod common;

use common::TempDir;
use dents_sys::stat::{self, Flags, Mask, Statx};
use dents_sys::uring::{MAX_SLOTS, Ring, StatxRequest};
use dents_sys::{AsFd, BorrowedFd, Errno, Result};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn ring(slots: u32) -> Option<Ring> {
    match Ring::new(slots) {
        Ok(ring) => Some(ring),
        Err(errno @ (Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP)) => {
            eprintln!("no io_uring here: {errno:?}");
            None
        }
        Err(errno) => panic!("{errno:?}"),
    }
}

/// What identifies an answer.
type Answer = Result<(u64, u64, u32, u32)>;

fn answer(statx: Result<&Statx>) -> Answer {
    statx.map(|x| (x.ino(), x.size(), x.mode(), x.nlink()))
}

fn request<'a>(token: usize, dir: BorrowedFd<'a>, path: &'a CStr) -> StatxRequest<'a> {
    let flags = Flags::NOFOLLOW | Flags::NO_AUTOMOUNT;
    StatxRequest { token: token as u64, dir, path, flags, mask: Mask::all() }
}

/// Asks all names through the ring; each must be answered exactly once.
fn ask(ring: &mut Ring, dir: BorrowedFd<'_>, names: &[CString]) -> Vec<Answer> {
    let mut answers = vec![None; names.len()];
    let mut requests = names.iter().enumerate().map(|(n, name)| request(n, dir, name));
    let done = |token: u64, statx: Result<&Statx>| {
        assert_eq!(answers[token as usize].replace(answer(statx)), None, "answered twice");
    };
    ring.statx(|| requests.next(), done).expect("a working ring");
    answers.into_iter().map(|answer| answer.expect("answered")).collect()
}

fn plain(dir: BorrowedFd<'_>, names: &[CString]) -> Vec<Answer> {
    let one = |name: &CString| {
        answer(stat::statx(dir, name, Flags::NOFOLLOW, Mask::all()).as_ref().map_err(|errno| *errno))
    };
    names.iter().map(one).collect()
}

/// `count` names: mostly files of distinct sizes, then what fails in different ways.
fn zoo(tree: &TempDir, count: usize) -> Vec<CString> {
    let name = |n: usize| match n % 10 {
        7 => format!("missing-{n}"),
        8 => format!("file-{}/below", n - 8),
        9 => format!("{}{n}", "x".repeat(260)),
        _ => format!("file-{n}"),
    };
    for n in (0..count).filter(|n| n % 10 < 7) {
        fs::write(tree.0.join(format!("file-{n}")), vec![0; n % 100]).unwrap();
    }
    (0..count).map(|n| CString::new(name(n)).unwrap()).collect()
}

#[test]
fn ten_thousand_as_by_plain_calls() {
    let tree = TempDir::new();
    let names = zoo(&tree, 10_000);
    let dir = tree.open();
    let expected = plain(dir.as_fd(), &names);
    for errno in [Errno::NOENT, Errno::NOTDIR, Errno::NAMETOOLONG] {
        assert!(expected.contains(&Err(errno)));
    }
    for slots in [1, 2, 3, 5, 64, 100, 1024, 16_384] {
        let Some(mut ring) = ring(slots) else { return };
        assert!(ask(&mut ring, dir.as_fd(), &names) == expected, "{slots} slots");
        assert!(ask(&mut ring, dir.as_fd(), &names[..37]) == expected[..37], "{slots} slots, again");
    }
}

#[test]
fn few_or_none() {
    let tree = TempDir::new();
    let names = zoo(&tree, 20);
    let dir = tree.open();
    let Some(mut ring) = ring(64) else { return };
    for count in [0, 1, 2, 20] {
        assert_eq!(ask(&mut ring, dir.as_fd(), &names[..count]), plain(dir.as_fd(), &names[..count]));
    }
}

#[test]
fn slots_are_clamped_and_bound_what_is_in_flight() {
    let Some(one) = ring(0) else { return };
    assert_eq!(one.slots(), 1);
    match Ring::new(u32::MAX) {
        Ok(ring) => assert_eq!(ring.slots(), MAX_SLOTS),
        Err(errno) => assert_eq!(errno, Errno::NOMEM),
    }
    let tree = TempDir::new();
    let names = zoo(&tree, 500);
    let dir = tree.open();
    let mut ring = ring(12).expect("as before");
    let (asked, answered) = (Cell::new(0), Cell::new(0));
    let mut left = names.iter();
    let next = || {
        let path = left.next()?;
        asked.set(asked.get() + 1);
        assert!(asked.get() - answered.get() <= 12, "more in flight than slots");
        Some(request(0, dir.as_fd(), path))
    };
    ring.statx(next, |_, _| answered.set(answered.get() + 1)).unwrap();
    assert_eq!((asked.get(), answered.get()), (500, 500));
}

#[test]
fn answers_can_lead_to_more_requests() {
    // A queue that grows while it is worked off, as a tree walk's would.
    let tree = TempDir::new();
    fs::write(tree.0.join("f"), "").unwrap();
    let dir = tree.open();
    let Some(mut ring) = ring(8) else { return };
    let queue = RefCell::new(vec![3_u64; 4]);
    let answered = Cell::new(0);
    let next = || queue.borrow_mut().pop().map(|depth| request(depth as usize, dir.as_fd(), c"f"));
    let done = |depth, statx: Result<&Statx>| {
        assert!(statx.is_ok());
        answered.set(answered.get() + 1);
        queue.borrow_mut().extend((0..depth).map(|_| depth - 1));
    };
    ring.statx(next, done).unwrap();
    // A request of depth d leads to d of depth d - 1: 1 + 3 × (1 + 2 × (1 + 1)) from each of the four.
    assert_eq!(answered.get(), 64);
}

#[test]
fn a_panic_in_done_leaves_nothing_in_flight() {
    let tree = TempDir::new();
    let names = zoo(&tree, 1_000);
    let dir = tree.open();
    let Some(mut ring) = ring(100) else { return };
    for stop in [0, 1, 49, 50, 99, 100, 101, 998, 999] {
        let mut seen = 0;
        let mut requests = names.iter().enumerate().map(|(n, name)| request(n, dir.as_fd(), name));
        let done = |_, _: Result<&Statx>| {
            assert_ne!(seen, stop, "expected");
            seen += 1;
        };
        let result = catch_unwind(AssertUnwindSafe(|| ring.statx(|| requests.next(), done)));
        assert!(result.is_err(), "{stop}");
        assert_eq!(
            ask(&mut ring, dir.as_fd(), &names),
            plain(dir.as_fd(), &names),
            "after a panic at {stop}"
        );
    }
}

#[test]
fn a_panic_in_next_leaves_nothing_in_flight() {
    let tree = TempDir::new();
    let names = zoo(&tree, 300);
    let dir = tree.open();
    let Some(mut ring) = ring(64) else { return };
    for stop in [0, 1, 63, 64, 65, 120, 299] {
        let mut requests = names.iter().enumerate().map(|(n, name)| {
            assert_ne!(n, stop, "expected");
            request(n, dir.as_fd(), name)
        });
        let result = catch_unwind(AssertUnwindSafe(|| ring.statx(|| requests.next(), |_, _| ())));
        assert!(result.is_err(), "{stop}");
        assert_eq!(
            ask(&mut ring, dir.as_fd(), &names),
            plain(dir.as_fd(), &names),
            "after a panic at {stop}"
        );
    }
}

#[test]
fn descriptors_that_are_no_directories() {
    let tree = TempDir::new();
    let dir = tree.open();
    let file =
        rustix::fs::openat(&dir, "f", rustix::fs::OFlags::CREATE | rustix::fs::OFlags::RDWR, 0o600.into());
    let file = file.unwrap();
    let Some(mut ring) = ring(8) else { return };
    let names = [CString::new("x").unwrap()];
    assert_eq!(ask(&mut ring, file.as_fd(), &names), [Err(Errno::NOTDIR)]);
    // The current directory, and paths that need none.
    let names = ["/", ".", "/proc/self/exe"].map(|name| CString::new(name).unwrap());
    assert_eq!(ask(&mut ring, dents_sys::CWD, &names), plain(dents_sys::CWD, &names));
}

#[test]
fn dropping_gives_everything_back() {
    let Some(_) = ring(8) else { return };
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let mappings = || {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().filter(|line| line.contains("io_uring")).count()
    };
    // Other tests open files and rings at the same time: look for a trend, not for a number.
    let before = (descriptors(), mappings());
    for _ in 0..200 {
        drop(ring(8));
    }
    let after = (descriptors(), mappings());
    assert!(after.0 < before.0 + 100 && after.1 < before.1 + 100, "{before:?} {after:?}");
}

#[test]
fn workers_can_be_limited() {
    let tree = TempDir::new();
    let names = zoo(&tree, 2_000);
    let dir = tree.open();
    let Some(mut ring) = ring(64) else { return };
    let expected = plain(dir.as_fd(), &names);
    for workers in [1, 2, 8, 0, 64] {
        match ring.set_max_workers(workers) {
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => panic!("{errno:?}"),
        }
        assert!(ask(&mut ring, dir.as_fd(), &names) == expected, "{workers} workers");
    }
}

/// Runs as a process of its own, started by the test below, that may have no more threads than it has.
#[test]
fn without_workers_child() {
    if std::env::var_os("DENTS_SYS_WITHOUT_WORKERS").is_none() {
        return;
    }
    let tree = TempDir::new();
    let names = zoo(&tree, 1_000);
    let dir = tree.open();
    let Some(mut ring) = ring(64) else { return };
    for _ in 0..2 {
        let mut requests = names.iter().enumerate().map(|(n, name)| request(n, dir.as_fd(), name));
        let result =
            ring.statx(|| requests.next(), |_, statx| assert_ne!(statx.err(), Some(Errno::CANCELED)));
        assert_eq!(result, Err(Errno::CANCELED));
    }
    println!("both refused");
}

#[test]
fn without_workers_the_ring_says_so_soon() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 || ring(8).is_none() {
        eprintln!("limits do not bind root: needs root, to become someone with nothing else running");
        return;
    }
    let tree = TempDir::new();
    fs::set_permissions(&tree.0, PermissionsExt::from_mode(0o777)).unwrap();
    let exe = tree.0.join("test");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    // Two threads are the test harness and the test: none is left for the kernel's workers.
    let mut child = std::process::Command::new("prlimit");
    child.arg("--nproc=2").arg(exe).args(["--exact", "without_workers_child", "--nocapture"]);
    child.env("DENTS_SYS_WITHOUT_WORKERS", "1").env("TMPDIR", &tree.0).uid(65_533).gid(65_533);
    let output = child.output().expect("prlimit, of util-linux");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("both refused"), "{output:?}");
}
