//! The requests that a scan makes, and the entries for which it makes them.

use crate::{dents, make, run, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::Run;
use dents_lab::syscalls::{Trace, trace};

fn tree() -> TempDir {
    let dir = TempDir::new("requests").expect("a directory");
    make(
        dir.path(),
        "for d in a b c; do mkdir $d; for f in 1 2 3 4 5 6 7 8 9; do : > $d/$f; done; ln -s 1 $d/l; done",
    );
    dir
}

fn traced(run: &Run) -> Trace {
    trace(run).unwrap_or_else(|error| panic!("{}: {error}", run.shell()))
}

/// Requests about entries: those with a name relative to an open directory. (std also stats files of cgroups, to find the number of cores.)
fn stats(trace: &Trace) -> usize {
    trace
        .calls()
        .iter()
        .filter(|call| call.name == "statx" && !call.text.contains(", \"\",") && !call.text.contains("\"/"))
        .count()
}

#[test]
fn names_and_types_ask_about_no_entry() {
    let dir = tree();
    for args in [
        &[][..],
        &["-0", "-d"],
        &["-f"],
        &["-t", "f"],
        &["-t", "l,d"],
        &["-g", "a"],
        &["--include", "1*"],
        &["--exclude", "c"],
        &["--no-hidden", "--min-depth", "1"],
        &["--printf", "%p %f %h %P %H %d %y\n"],
    ] {
        let trace = traced(&dents(dir.path()).args(["--sync", "tree-of-no-one", "."]).args(args));
        // The operands.
        assert_eq!(stats(&trace), 2, "{args:?}");
    }
}

#[test]
fn only_what_can_pass_is_asked_about() {
    let dir = tree();
    for (args, expected) in [
        (&["-t", "d", "--size", "+0"][..], 3),
        (&["-t", "l", "--newer", "@0"], 3),
        (&["-t", "f", "--user", "root"], 27),
        (&["-d", "--size", "+0"], 3),
        (&["-f", "--printf", "%p %s\n"], 30),
        (&["--size", "+0"], 33),
        (&["-t", "l", "--printf", "%p %s\n"], 3),
        (&["--printf", "%p %s\n"], 33),
        // Tests of names cost nothing, so they are first. No request is made about an entry that they exclude.
        (&["--newer", "@0", "--size", "0", "--include", "*1*"], 3),
        (&["--user", "root", "-g", "/[12]$"], 6),
        (&["--size", "+0", "--exclude", "b", "--include", "l"], 2),
        (&["-f", "--printf", "%p %s\n", "--exclude", "[1-8]"], 6),
        (&["--size", "0", "--min-depth", "2"], 30),
    ] {
        let trace = traced(&dents(dir.path()).args(["--sync", "."]).args(args));
        assert_eq!(stats(&trace), 1 + expected, "{args:?}");
    }
}

#[test]
fn one_write_for_many_lines() {
    let dir = tree();
    let trace = traced(&dents(dir.path()).args(["--sync"]));
    let written = trace.calls().iter().filter(|call| call.name == "write" && call.text.contains("./a"));
    assert_eq!(written.count(), 1);
}

#[test]
fn statistics_count_what_was_done() {
    let dir = tree();
    let outcome = run(&dents(dir.path()).args(["-qs", "--sync"]));
    let told = text(&outcome.stderr);
    assert!(told.contains("34 entries: 4 directories, 27 files, 3 links"), "{told}");
    assert!(told.contains("4 directories opened") && told.contains("1 stat, 33 avoided, 0 failed"), "{told}");
    assert_eq!(text(&outcome.stdout), "");
}

#[test]
fn progress_without_a_terminal_is_a_line_now_and_then() {
    let dir = TempDir::new("progress").expect("a directory");
    make(dir.path(), "for i in $(seq 130); do mkdir d$i; done");
    let scan = dents(dir.path()).args(["-pq", "--rate", "100"]);
    let outcome = run(&scan.clone().env("DENTS_TEST_PROGRESS_MS", "100"));
    let told = text(&outcome.stderr);
    assert!(told.lines().count() >= 5, "{told}");
    assert!(told.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{told:?}");
    for line in told.lines() {
        assert!(line.starts_with("dents: ") && line.contains("director") && line.ends_with("/s"), "{told}");
    }
    // Progress is written every 10 s (a log of an hour has 360 lines), so this scan of 2.6 s writes none.
    let outcome = run(&scan);
    assert_eq!(text(&outcome.stderr), "");
}
