//! Directories that change while they are listed: an entry that exists throughout is shown once, whatever is created,
//! removed and renamed.

use std::env::temp_dir;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dents_lab::case::MODES;
use dents_lab::fixture::TempDir;
use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::process::{End, Run};
use dents_lab::suite::{checked, number, release};

/// Creates, renames and removes until `stop`, and counts the changes.
fn change(dir: &Path, stop: &AtomicBool, changes: &AtomicU64) {
    let path = |stem: &str, n: u64| dir.join(format!("{stem}{n:03}"));
    for n in (0..97).cycle() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // The file of the last round may be there under either name, or be removed.
        let _ = File::create(path("new-", n));
        let _ = fs::rename(path("new-", n), path("renamed-", (n * 31) % 97));
        let _ = fs::remove_file(path("renamed-", (n + 50) % 97));
        changes.fetch_add(3, Ordering::Relaxed);
    }
}

/// Lists the directory once: every `stay-` is there once.
fn listed_once(program: &Path, dir: &Path, args: &[&str], stay: usize) {
    let run = Run::new(program).cwd(dir).args(args);
    let outcome = run.output().expect("dls starts");
    let text = String::from_utf8_lossy(&outcome.stdout);
    let told = String::from_utf8_lossy(&outcome.stderr);
    let mut seen = vec![0_u8; stay];
    for name in text.lines().filter_map(|line| line.rsplit(' ').next()) {
        if let Some(number) = name.strip_prefix("stay-").and_then(|number| number.parse::<usize>().ok()) {
            seen[number] += 1;
        }
    }
    let wrong: Vec<usize> = (0..stay).filter(|number| seen[*number] != 1).collect();
    assert!(wrong.is_empty(), "{args:?}: {wrong:?} not there once: {}", run.shell());
    // Only removed files may have a message.
    let gone = |line: &str| line.ends_with(": No such file or directory") && !line.contains("stay-");
    assert!(told.lines().all(gone), "{args:?}: {told}");
    // A file that was removed between its metadata and its attributes is shown, and does not change the status.
    assert_eq!(outcome.end, End::Exit(i32::from(told.contains("cannot access '"))), "{args:?}: {told}");
}

fn under_change(parent: &Path, stay: usize, listings: u64) {
    let dir = TempDir::new_in(parent, "changing").expect("a directory");
    for number in 0..stay {
        File::create(dir.path().join(format!("stay-{number:05}"))).expect("a file");
    }
    let (stop, changes, next) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let ways = [&["-1"][..], &["-l"], &["-lU"], &["-F", "--color=never"], &["-l", "--timeout=20s"]];
    let programs = [release(), checked()];
    std::thread::scope(|scope| {
        scope.spawn(|| change(dir.path(), &stop, &changes));
        let list = || {
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth >= listings {
                    return;
                }
                let mode = format!("--mode={}", MODES[nth as usize % MODES.len()]);
                let way = ways[nth as usize / MODES.len() % ways.len()];
                // Mostly the one without assertions, which is faster.
                let program = &programs[usize::from(nth % 16 == 15)];
                listed_once(program.path(), dir.path(), &[&[mode.as_str()], way].concat(), stay);
            }
        };
        let listers = [scope.spawn(list), scope.spawn(list)];
        let ended = listers.map(|lister| lister.join());
        stop.store(true, Ordering::Relaxed);
        for end in ended {
            end.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let changes = changes.into_inner();
    println!("{listings} listings of {stay} in {} while {changes} changes were made", parent.display());
    assert!(changes > listings, "{changes} changes during {listings} listings");
}

/// Ten thousand listings of a small directory.
#[test]
fn what_stays_is_listed_once() {
    under_change(&temp_dir(), 40, number("DLS_LISTINGS", 10_000));
}

/// Enough entries that they are shared out, and read while they are asked about.
#[test]
fn also_in_larger_ones() {
    under_change(&temp_dir(), 300, number("DLS_LISTINGS", 10_000) / 20);
    under_change(&temp_dir(), 3000, number("DLS_LISTINGS", 10_000) / 100);
}

/// So many that several workers read them, from different positions.
#[test]
fn and_in_huge_ones() {
    let xfs = LoopFs::mount_or_skip(Real::Xfs);
    let memory = PathBuf::from("/dev/shm");
    let parents =
        [Some(temp_dir()), memory.is_dir().then_some(memory), xfs.as_ref().map(|xfs| xfs.path().into())];
    for parent in parents.into_iter().flatten() {
        under_change(&parent, 60_000, number("DLS_LISTINGS", 10_000) / 200);
    }
}
