//! The ring compared with plain calls: each request is answered once, with the same answer, also after errors and panics.
//!
//! If io_uring is refused (by the seccomp filter of a container), the tests report that and pass.
mod common;

use common::TempDir;
use dents_sys::stat::{self, Flags, Mask, Statx};
use dents_sys::uring::{Answer as Answered, MAX_ENTRIES, Request, Ring};
use dents_sys::{AsFd, BorrowedFd, Errno, Result};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn ring(entries: u32) -> Option<Ring> {
    match Ring::new(entries) {
        Ok(ring) => Some(ring),
        Err(errno @ (Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP)) => {
            eprintln!("no io_uring here: {errno:?}");
            None
        }
        Err(errno) => panic!("{errno:?}"),
    }
}

/// The fields that identify a file.
type Answer = Result<(u64, u64, u32, u32)>;

fn answer(statx: Result<&Statx>) -> Answer {
    statx.map(|x| (x.ino(), x.size(), x.mode(), x.nlink()))
}

fn request<'a>(token: usize, dir: BorrowedFd<'a>, path: &'a CStr) -> (u32, Request<'a>) {
    let flags = Flags::NOFOLLOW | Flags::NO_AUTOMOUNT;
    (token as u32, Request::Statx { dir, path, flags, mask: Mask::all() })
}

/// Runs requests of `statx` alone.
fn statx<'a>(
    ring: &mut Ring,
    next: impl FnMut() -> Option<(u32, Request<'a>)>,
    mut done: impl FnMut(u32, Result<&Statx>),
) -> Result<()> {
    ring.run(next, |token, answer| match answer {
        Answered::Statx(answer) => done(token, answer),
        Answered::Getxattr(_) => panic!("not requested"),
    })
}

/// Requests all names through the ring; each must be answered exactly once.
fn ask(ring: &mut Ring, dir: BorrowedFd<'_>, names: &[CString]) -> Vec<Answer> {
    let mut answers = vec![None; names.len()];
    let mut requests = names.iter().enumerate().map(|(n, name)| request(n, dir, name));
    let done = |token: u32, statx: Result<&Statx>| {
        assert_eq!(answers[token as usize].replace(answer(statx)), None, "answered twice");
    };
    statx(ring, || requests.next(), done).expect("a working ring");
    answers.into_iter().map(|answer| answer.expect("answered")).collect()
}

fn plain(dir: BorrowedFd<'_>, names: &[CString]) -> Vec<Answer> {
    let one = |name: &CString| {
        answer(stat::statx(dir, name, Flags::NOFOLLOW, Mask::all()).as_ref().map_err(|errno| *errno))
    };
    names.iter().map(one).collect()
}

/// Makes `count` names: most are files of distinct sizes, the others fail in different ways.
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
    for entries in [1, 2, 3, 5, 64, 100, 1024, 16_384] {
        let Some(mut ring) = ring(entries) else { return };
        assert!(ask(&mut ring, dir.as_fd(), &names) == expected, "{entries} entries");
        assert!(ask(&mut ring, dir.as_fd(), &names[..37]) == expected[..37], "{entries} entries, again");
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
fn entries_are_clamped_and_bound_what_is_in_flight() {
    let Some(one) = ring(0) else { return };
    assert_eq!(one.entries(), 1);
    match Ring::new(u32::MAX) {
        Ok(ring) => assert_eq!(ring.entries(), MAX_ENTRIES),
        Err(errno) => assert_eq!(errno, Errno::NOMEM),
    }
    let tree = TempDir::new();
    let names = zoo(&tree, 500);
    let dir = tree.open();
    let mut ring = ring(12).expect("as before");
    let (asked, answered, most) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let mut left = names.iter();
    let next = || {
        let path = left.next()?;
        asked.set(asked.get() + 1);
        most.set(most.get().max(asked.get() - answered.get()));
        Some(request(0, dir.as_fd(), path))
    };
    statx(&mut ring, next, |_, _| answered.set(answered.get() + 1)).unwrap();
    assert_eq!((asked.get(), answered.get()), (500, 500));
    assert_eq!(most.get(), 20, "a full queue, and a quarter that is still answered");
}

#[test]
fn answers_can_lead_to_more_requests() {
    // A queue that grows while its requests are executed, as in the walk of a tree.
    let tree = TempDir::new();
    fs::write(tree.0.join("f"), "").unwrap();
    let dir = tree.open();
    let Some(mut ring) = ring(8) else { return };
    let queue = RefCell::new(vec![3_u32; 4]);
    let answered = Cell::new(0);
    let next = || queue.borrow_mut().pop().map(|depth| request(depth as usize, dir.as_fd(), c"f"));
    let done = |depth, statx: Result<&Statx>| {
        assert!(statx.is_ok());
        answered.set(answered.get() + 1);
        queue.borrow_mut().extend((0..depth).map(|_| depth - 1));
    };
    statx(&mut ring, next, done).unwrap();
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
        let result = catch_unwind(AssertUnwindSafe(|| statx(&mut ring, || requests.next(), done)));
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
        let result = catch_unwind(AssertUnwindSafe(|| statx(&mut ring, || requests.next(), |_, _| ())));
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
    // The current directory, and absolute paths.
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
    // Other tests open files and rings at the same time, so the test looks for a trend, not for a number.
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

/// The test below starts this one as a process of its own, which may not start any more threads.
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
            statx(&mut ring, || requests.next(), |_, statx| assert_ne!(statx.err(), Some(Errno::CANCELED)));
        assert_eq!(result, Err(Errno::CANCELED));
    }
    println!("both refused");
}

#[test]
fn without_workers_the_ring_says_so_soon() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 || ring(8).is_none() {
        eprintln!("limits do not bind root: needs root, to become a user with no other process");
        return;
    }
    let tree = TempDir::new();
    fs::set_permissions(&tree.0, PermissionsExt::from_mode(0o777)).unwrap();
    let exe = tree.0.join("test");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    // The limit of two threads is used up by the test harness and the test, so the kernel can start no worker.
    let mut child = std::process::Command::new("prlimit");
    child.arg("--nproc=2").arg(exe).args(["--exact", "without_workers_child", "--nocapture"]);
    child.env("DENTS_SYS_WITHOUT_WORKERS", "1").env("TMPDIR", &tree.0).uid(65_533).gid(65_533);
    let output = child.output().expect("prlimit, of util-linux");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("both refused"), "{output:?}");
}

#[test]
fn lengths_of_attributes_as_by_plain_calls() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let tree = TempDir::new();
    let path = |name: &str| CString::new(tree.0.join(name).to_str().unwrap()).unwrap();
    let (plain, marked, missing) = (path("plain"), path("marked"), path("missing"));
    for file in [&plain, &marked] {
        fs::write(file.to_str().unwrap(), "").unwrap();
    }
    setxattr(&*marked, "user.one", b"first", XattrFlags::empty()).unwrap();
    let questions = [&plain, &marked, &missing].map(|path| [(path, c"user.one"), (path, c"nonsense")]);
    let questions: Vec<_> = questions.as_flattened().to_vec();
    let Some(mut ring) = ring(4) else { return };
    let mut answers = vec![None; questions.len()];
    let mut requests =
        (0..).zip(&questions).map(|(token, (path, name))| (token, Request::Getxattr { path, name }));
    let done = |token: u32, answer: Answered<'_>| match answer {
        Answered::Getxattr(answer) => answers[token as usize] = Some(answer),
        Answered::Statx(_) => panic!("not requested"),
    };
    ring.run(|| requests.next(), done).unwrap();
    for ((path, name), answer) in questions.iter().zip(answers) {
        let plain = getxattr(path.as_c_str(), *name, &mut [0_u8; 64]).map(|len| len as u32);
        // A kernel before 5.19 answers EINVAL to all such requests.
        assert!(answer == Some(plain) || answer == Some(Err(Errno::INVAL)), "{path:?} {name:?} {answer:?}");
    }
}

#[test]
fn files_as_by_plain_calls() {
    let tree = TempDir::new();
    let path = |name: &str| CString::new(tree.0.join(name).to_str().unwrap()).unwrap();
    let sizes = [0, 1, 4095, 4096, 4097, 100_000];
    let mut paths: Vec<_> = sizes.iter().map(|size| path(&size.to_string())).collect();
    for (path, size) in paths.iter().zip(sizes) {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        fs::write(path.to_str().unwrap(), bytes).unwrap();
    }
    paths.extend([path("missing"), path("."), path("0/below")]);
    let paths: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
    let plain: Vec<_> = paths.iter().map(|path| dents_sys::file::read_to_end(path, 1 << 20)).collect();
    let dir = tree.open();
    for entries in [1, 4, 64] {
        let Some(mut ring) = ring(entries) else { return };
        paths.iter().for_each(|path| ring.read_later((*path).into(), 1 << 20));
        assert_eq!(ask(&mut ring, dir.as_fd(), &[c".".into()]).len(), 1);
        let (names, contents): (Vec<_>, Vec<_>) = ring.take_files().into_iter().unzip();
        assert!(names.iter().map(CString::as_c_str).eq(paths.iter().copied()));
        assert!(contents == plain, "{entries} entries");
        ring.read_later(c"/".into(), 1 << 20);
        assert_eq!(ring.take_files(), [(c"/".into(), Err(Errno::CANCELED))], "nothing has run");
        assert!(ring.take_files().is_empty());
    }
}

#[test]
fn descriptors_are_closed_on_the_way() {
    use dents_sys::AsRawFd;
    let tree = TempDir::new();
    let dir = tree.open();
    let Some(mut ring) = ring(4) else { return };
    // High numbers, which descriptors of other tests do not get meanwhile.
    let high = |n: i32| rustix::io::fcntl_dupfd_cloexec(&dir, 700 + n).unwrap();
    let is_open = |fd: i32| fs::read_link(format!("/proc/self/fd/{fd}")).is_ok_and(|to| to == tree.0);
    let fds: Vec<_> = (0..20).map(high).collect();
    let numbers: Vec<_> = fds.iter().map(|fd| fd.as_raw_fd()).collect();
    fds.into_iter().for_each(|fd| ring.close_later(fd));
    let open = numbers.iter().filter(|fd| is_open(**fd)).count();
    assert!((1..20).contains(&open), "{open}: some wait, but not all");
    // There is room for four at a time.
    for left in [open - 4, open - 8] {
        assert_eq!(ask(&mut ring, dir.as_fd(), &[c".".into()]), plain(dir.as_fd(), &[c".".into()]));
        assert_eq!(numbers.iter().filter(|fd| is_open(**fd)).count(), left);
    }
    ring.close_later(high(30));
    assert!(ring.close_now() && !is_open(730) && !ring.close_now());
    ring.close_later(high(31));
    drop(ring);
    assert!(numbers.iter().chain([&731]).all(|fd| !is_open(*fd)));
}
