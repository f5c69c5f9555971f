//! Exit status 2, signals, and a full disk or an output that cannot be written.

use crate::tools::{dents, is_root, run, shell, text};
use crate::{diff, make, playground, scan};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, Watch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// `t` with enough names that a run takes a while, scanned to `old.parquet`.
fn old(files: usize) -> TempDir {
    let dir = playground();
    make(
        &dir,
        &format!("mkdir -p t/a t/b; cd t/a; for i in $(seq {files}); do : >a-long-name-of-a-file-$i; done"),
    );
    scan(&dir, "old.parquet");
    dir
}

/// Runs a command that must fail with status 2. Returns its messages.
fn trouble(dir: &TempDir, words: &str) -> String {
    let Outcome { end, stderr, .. } = run(&dents(dir.path(), &format!("diff {words}")));
    assert_eq!(end, End::Exit(2), "{words}: {}", text(&stderr));
    text(&stderr)
}

#[test]
fn what_cannot_be_read_is_trouble() {
    let dir = old(1);
    make(&dir, "echo nonsense >nonsense; : >empty; mkdir manifest; : >manifest/manifest.json");
    for (words, said) in [
        ("missing t", "'missing'"),
        ("old.parquet missing", "missing: cannot read: No such file"),
        ("nonsense t", "nonsense: not a file of a scan"),
        ("empty t", "empty: empty"),
        ("t old.parquet", "OLD is a directory"),
        ("- -", "cannot both be standard input"),
        ("old.parquet", "<NEW>"),
        ("old.parquet t u", "2 values required"),
        ("--json --csv old.parquet t", "cannot be used with"),
        // A directory of shards must have a manifest; this one has none.
        ("old.parquet manifest", "manifest"),
    ] {
        let found = trouble(&dir, words);
        let said = said.trim_matches('\'');
        assert!(found.contains(said), "{words}: {found}");
    }
}

#[test]
fn a_scan_that_is_not_complete_needs_partial() {
    let dir = old(3);
    shell(
        dir.path(),
        &format!("'{}' scan -o part.ndjson t missing 2>/dev/null || :", env!("CARGO_BIN_EXE_dents")),
    );
    let stderr = trouble(&dir, "old.parquet part.ndjson.partial");
    assert!(stderr.contains("not complete") && stderr.contains("--partial"), "{stderr}");
    let words = "diff --partial --json old.parquet part.ndjson.partial";
    let outcome = run(&dents(dir.path(), words));
    let object: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    assert_eq!(
        (outcome.end, &object["complete"]),
        (End::Exit(1), &json!(false)),
        "{}",
        text(&outcome.stderr)
    );
    make(&dir, "for i in $(seq 30); do mkdir -p t/d$i/e/f; done");
    let stderr = trouble(&dir, "--rate 20 --timeout 200ms old.parquet t");
    assert!(stderr.contains("timed out"), "{stderr}");
}

/// Runs the program as a user that may not read everything.
fn unprivileged(dir: &TempDir, words: &str) -> Run {
    let run = dents(dir.path(), words);
    if !is_root() {
        return run;
    }
    shell(
        dir.path(),
        &format!("chmod 755 .; [ -e dents ] || cp '{}' .; chmod 755 dents", env!("CARGO_BIN_EXE_dents")),
    );
    let program = dir.path().join("dents");
    Run { program, ..run }.under(&["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"])
}

#[test]
fn what_lies_in_a_directory_that_cannot_be_read_is_not_deleted() {
    let dir = old(3);
    make(&dir, "printf 12345 >t/b/f; chmod 755 t t/a t/b; chmod 644 t/a/* t/b/f");
    scan(&dir, "old.parquet");
    make(&dir, "rm t/b/f; chmod 000 t/a");
    let outcome = run(&unprivileged(&dir, "diff --json old.parquet t"));
    make(&dir, "chmod 755 t/a");
    let object: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    let stderr = text(&outcome.stderr);
    assert_eq!(outcome.end, End::Exit(2), "{stderr}");
    assert!(stderr.contains("cannot open directory 't/a': Permission denied"), "{stderr}");
    assert!(stderr.contains("3 entries were not compared"), "{stderr}");
    assert_eq!((&object["unknown"], &object["errors"]), (&json!(3), &json!(1)));
    assert_eq!(
        (&object["deleted"][0]["path"], object["deleted"].as_array().unwrap().len()),
        (&json!("b/f"), 1)
    );
    assert_eq!(object["total"]["bytes"], -5);
    // Only its mode has changed.
    assert_eq!(object["changed"][0]["path"], "a");
}

#[test]
fn a_closed_pipe_ends_it() {
    let dir = old(3000);
    make(&dir, "rm -r t/a");
    for words in ["diff --csv old.parquet t", "diff --json old.parquet t"] {
        let command = dents(dir.path(), words);
        let mut child =
            command.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        // The output is larger than the buffer of a pipe.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (End::from(output.status), text(&output.stderr).as_str()),
            (End::Signal(13), ""),
            "{words}"
        );
    }
}

#[test]
fn an_output_that_is_full() {
    if !Path::new("/dev/full").exists() {
        return println!("skipped: no /dev/full");
    }
    let dir = old(3);
    for words in ["diff", "diff --csv", "diff --json"] {
        let script = ["/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"];
        let outcome = run(&dents(dir.path(), &format!("{words} old.parquet t")).under(&script));
        assert_eq!(outcome.end, End::Exit(2), "{words}");
        assert!(text(&outcome.stderr).contains("No space left on device"), "{}", text(&outcome.stderr));
    }
}

#[test]
fn a_temporary_file_that_cannot_be_written() {
    let dir = old(3000);
    let words = "diff --summary old.parquet t";
    let small = |run: Run| run.env("DENTS_TEST_DIFF_MEMORY", "10000");
    let outcome = run(&small(dents(dir.path(), words)).env("TMPDIR", "/nowhere"));
    let stderr = text(&outcome.stderr);
    assert_eq!(outcome.end, End::Exit(2), "{stderr}");
    assert!(
        stderr.contains("cannot write a temporary file in '/nowhere'") && stderr.contains("TMPDIR"),
        "{stderr}"
    );
    // If the records fit into memory, there is no temporary file.
    assert_eq!(run(&dents(dir.path(), words).env("TMPDIR", "/nowhere")).end, End::Exit(0));
    make(&dir, "mkdir tmp");
    let script = "mount -t tmpfs -o size=64k none tmp && exec \"$0\" \"$@\"";
    let full = small(dents(dir.path(), words)).env("TMPDIR", dir.path().join("tmp"));
    assert_eq!(run(&full).end, End::Exit(0));
    assert_eq!(shell(dir.path(), "ls -A tmp"), "");
    let outcome = run(&full.under(&["unshare", "-rm", "/bin/sh", "-c", script]));
    let stderr = text(&outcome.stderr);
    if stderr.contains("unshare") || stderr.contains("mount:") {
        return println!("skipped: no mount namespace: {stderr}");
    }
    assert_eq!(outcome.end, End::Exit(2), "{stderr}");
    assert!(stderr.contains("No space left on device") && stderr.contains("TMPDIR"), "{stderr}");
}

#[test]
fn an_interrupt_compares_nothing() {
    let dir = old(3);
    make(&dir, "for i in $(seq 100); do mkdir -p t/d$i/e/f; done");
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let run = dents(dir.path(), "diff --rate 20 old.parquet t");
        let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let watch = Watch::over(&child);
        std::thread::sleep(Duration::from_millis(700));
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let output = child.wait_with_output().expect("it ends");
        drop(watch);
        assert_eq!(End::from(output.status), End::Exit(status));
        assert_eq!(text(&output.stdout), "");
        assert!(
            text(&output.stderr).contains("interrupted: nothing was compared"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn a_directory_of_another_name_than_that_of_the_scan() {
    let dir = old(3);
    make(&dir, "mv t elsewhere");
    diff(&dir, 0, "old.parquet elsewhere");
}

/// The message names the temporary file, even if the error happens while standard output is written.
#[test]
fn a_temporary_file_that_cannot_be_read() {
    use std::io::Read;
    let dir = old(1);
    make(&dir, "cd t && x=$(printf %0200d 0) && seq 15000 | sed s/\\$/$x/ | xargs touch");
    for options in ["--csv", "--json"] {
        let run = dents(dir.path(), &format!("diff {options} old.parquet t"));
        let run = run.env("DENTS_TEST_DIFF_MEMORY", "1000000");
        let mut command = run.command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let mut out = child.stdout.take().expect("a pipe");
        out.read_exact(&mut [0]).expect("output");
        // The pipe is full before most of the lists was read.
        for file in std::fs::read_dir(format!("/proc/{}/fd", child.id())).expect("descriptors") {
            let file = file.expect("a descriptor").path();
            if std::fs::read_link(&file).is_ok_and(|path| path.to_string_lossy().ends_with(" (deleted)")) {
                std::fs::OpenOptions::new().write(true).truncate(true).open(&file).expect("cut off");
            }
        }
        out.read_to_end(&mut Vec::new()).expect("the rest");
        let end = child.wait_with_output().expect("an end");
        let stderr = text(&end.stderr);
        assert_eq!(end.status.code(), Some(2), "{stderr}");
        let place = std::env::temp_dir().display().to_string();
        assert!(
            stderr.starts_with(&format!("dents: cannot read a temporary file in '{place}': ")),
            "{options}: {stderr}"
        );
    }
}
