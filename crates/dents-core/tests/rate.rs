//! `Options::rate` applies to every kind of request: strace counts the requests of a walk that needs everything.

mod common;

use common::{Playground, Threads, c_path};
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{self, Follow, Options, Place, Step, Visitor};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Passes the path of the tree to the traced process.
const TREE: &str = "DENTS_RATE_TREE";
const RATE: u32 = 700;
const WORKERS: usize = 3;

struct Nothing;

impl Visitor for Nothing {
    type State = ();

    fn entries(&mut self, _: &Place<'_>, _: &Batch, (): &()) -> Step {
        Step::Enter
    }
}

/// All needs. Before Linux 6.13 there is no `listxattrat`, and other calls replace it.
fn everything() -> Needs {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has one");
    let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let release = (numbers.next(), numbers.next());
    let unasked = if release < (Some(6), Some(13)) { Needs::XATTRS } else { Needs::NEAR_MARK };
    Needs::all().difference(unasked)
}

/// The number of requests that the walk counted, and its duration.
fn walk(tree: &Path, needs: Needs) -> (u64, Duration) {
    let options = Options {
        needs: NeedsByKind::all(needs),
        one_file_system: true,
        follow: Follow::Operands,
        workers: Some(WORKERS),
        rate: std::num::NonZeroU32::new(RATE),
        ..Options::default()
    };
    let started = Instant::now();
    let outcome = tree::walk(&[&c_path(tree)], &options, &Threads, |_| Nothing);
    (outcome.tally.requests, started.elapsed())
}

fn plant(path: &Path) {
    for part in 0..12 {
        let sub = path.join(format!("{part}/sub"));
        fs::create_dir_all(&sub).expect("directories");
        for number in 0..6 {
            fs::write(sub.join(format!("file{number}")), "").expect("file");
            symlink("file0", sub.join(format!("link{number}"))).expect("link");
        }
    }
}

/// Whether a line of strace is a request to a file system.
fn is_request(line: &str) -> bool {
    let call = line.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start();
    let name = call.split('(').next().unwrap_or_default();
    // strace 6.1 has no names for listxattrat and getxattrat.
    const NAMES: [&str; 10] = [
        "openat",
        "openat2",
        "getdents64",
        "statx",
        "fstatfs",
        "readlinkat",
        "syscall_0x1d1",
        "listxattrat",
        "syscall_0x1d0",
        "getxattrat",
    ];
    NAMES.contains(&name)
}

/// The walk alone, or as the process that strace traces: then two calls mark its beginning and its end.
#[test]
fn every_request_is_paid_for() {
    if let Some(tree) = std::env::var_os(TREE) {
        let mark = |name: &str| assert!(rustix::fs::access(name, rustix::fs::Access::EXISTS).is_err());
        let needs = everything();
        mark("/the-walk-begins");
        let (requests, _) = walk(Path::new(&tree), needs);
        mark("/the-walk-ends");
        return fs::write(Path::new(&tree).with_extension("requests"), requests.to_string())
            .expect("written");
    }
    let playground = Playground::new("rate");
    let tree = playground.0.join("tree");
    plant(&tree);
    let (requests, took) = walk(&tree, everything());
    // Requests that were made and not yet paid for: those about one entry of each worker.
    let owed = 4 * WORKERS as u64;
    let least = Duration::from_secs(1) * (requests - owed) as u32 / RATE;
    assert!(requests > 400 && took >= least, "{requests} requests in {took:?}");

    let log = playground.0.join("log");
    let test = std::env::current_exe().expect("its path");
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .args([log.as_os_str(), test.as_os_str()])
        .args(["--exact", "every_request_is_paid_for"])
        .env(TREE, &tree)
        .output()
        .expect("strace starts: install it, or run `cargo xtask test`, which does");
    assert!(traced.status.success(), "{}", String::from_utf8_lossy(&traced.stderr));
    let log = fs::read_to_string(log).expect("strace wrote it");
    let (_, rest) = log.split_once("/the-walk-begins").expect("it began");
    let (walk, _) = rest.split_once("/the-walk-ends").expect("it ended");
    let counted = fs::read_to_string(tree.with_extension("requests")).expect("written");
    let seen = walk.lines().filter(|line| is_request(line)).count();
    assert_eq!(counted, seen.to_string(), "requests counted, and seen by strace");
}
