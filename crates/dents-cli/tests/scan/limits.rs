//! Few descriptors, few processes, long paths, and unreadable directories.

use crate::{as_nobody, compare, dents, find, is_root, make, messages, run, sorted, text};
use dents_lab::fixture::{TempDir, copy_program};
use dents_lab::process::{End, Run};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use std::path::Path;

/// A chain of directories, each made in the one before. Its path is longer than the kernel accepts.
fn deep(at: &Path, levels: usize) {
    let mut dir = openat(CWD, at, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).expect("a directory");
    for _ in 0..levels {
        mkdirat(&dir, "d", Mode::from_raw_mode(0o755)).expect("a directory");
        dir = openat(&dir, "d", OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).expect("it");
    }
}

#[test]
fn five_thousand_levels() {
    let dir = TempDir::new("deep").expect("a directory");
    deep(dir.path(), 5000);
    compare(dir.path(), &["-0"], &["-print0"]);
    compare(dir.path(), &["--printf", "%d %s %y\\0"], &["-printf", "%d %s %y\\0"]);
    compare(dir.path(), &["-0", "--empty"], &["-empty", "-print0"]);
    make(dir.path(), "rm -rf d");
}

fn many(dir: &Path) {
    make(
        dir,
        "for a in 1 2 3 4 5 6 7 8; do mkdir -p $a/b/c/d/e/f/g $a/h/i $a/j; touch $a/b/x $a/h/i/y; done",
    );
}

fn same(ours: Run, theirs: &Run) {
    // Under a launcher a program is called by its path.
    let theirs_name = if theirs.program.ends_with("find") { "find" } else { "/usr/bin/find" };
    let (ours_outcome, theirs) = (run(&ours), run(theirs));
    assert_eq!(sorted(&ours_outcome.stdout, 0), sorted(&theirs.stdout, 0), "{}", ours.shell());
    assert_eq!(
        messages(&ours_outcome, "dents: "),
        messages(&theirs, &format!("{theirs_name}: ")),
        "{}",
        ours.shell()
    );
    assert_eq!(ours_outcome.end, theirs.end, "{}", ours.shell());
}

#[test]
fn sixty_four_descriptors() {
    let dir = TempDir::new("descriptors").expect("a directory");
    many(dir.path());
    deep(dir.path(), 300);
    for threads in ["1", "16", "200"] {
        let ours = dents(dir.path()).args(["-0", "--threads", threads]);
        same(ours.under(&["prlimit", "--nofile=64"]), &find(dir.path()).args(["-print0"]));
    }
}

#[test]
fn threads_are_refused() {
    let dir = TempDir::new("threads").expect("a directory");
    many(dir.path());
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    // This user has no other process, so the limit allows one process.
    let mut ours = dents(dir.path()).args(["-0", "--threads", "8"]);
    let user = ["prlimit", "--nproc=1", "setpriv", "--reuid", "54322", "--clear-groups"];
    if is_root() {
        copy_program(&ours.program, &programs.path().join("dents"));
        ours.program = programs.path().join("dents");
        ours = ours.under(&user);
    } else {
        ours = ours.under(&user[..2]);
    }
    same(ours, &find(dir.path()).args(["-print0"]));
}

#[test]
fn what_may_not_be_read_is_told_of() {
    let dir = TempDir::new("closed").expect("a directory");
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    make(
        dir.path(),
        "chmod 755 .; mkdir -p closed/x names/d searched/d; touch names/f searched/f; chmod 0 closed; chmod 744 names; chmod 711 searched",
    );
    for (ours, theirs) in [
        (&["-0"][..], &["-print0"][..]),
        (&["-0", "-tf"], &["-type", "f", "-print0"]),
        (&["--printf", "%p %s\\0"], &["-printf", "%p %s\\0"]),
        (&["-0", "closed"], &["closed", "-print0"]),
        // Whether it is empty is not known; the walk does not enter it.
        (&["-0", "--empty", "--max-depth", "1"], &["-maxdepth", "1", "-empty", "-print0"]),
    ] {
        let ours = as_nobody(dents(dir.path()).args(ours), programs.path());
        same(ours, &as_nobody(find(dir.path()).args(theirs), programs.path()));
    }
    make(dir.path(), "chmod 755 closed names searched");
}

#[test]
fn a_full_disk_is_told_of() {
    let dir = TempDir::new("full").expect("a directory");
    many(dir.path());
    for args in [&[][..], &["--printf", "%p %s\n"], &["-o", "/dev/full"], &["--format", "ndjson"]] {
        let run = dents(dir.path()).args(args);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output =
            run.command().stdout(full).stderr(std::process::Stdio::piped()).spawn().expect("it starts");
        let output = output.wait_with_output().expect("it ends");
        let told = text(&output.stderr);
        assert_eq!(End::from(output.status), End::Exit(1), "{args:?}");
        assert!(told.contains("No space left on device") && told.lines().count() == 1, "{args:?}: {told}");
    }
}
