//! Ctrl-C, a closed pipe, a timeout: the results so far are kept, and the exit status shows the reason.

use crate::{dents, find, make, run, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_lab::syscalls::{trace, trace_with};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A tree that takes 4 s at 100 requests a second.
fn slow_tree() -> TempDir {
    let dir = TempDir::new("slow").expect("a directory");
    make(dir.path(), "for i in $(seq 20); do mkdir d$i; (cd d$i; mkdir a b c d e f g h i j); done");
    dir
}

fn interrupt(dir: &TempDir, signal: Signal, args: &[&str]) -> Outcome {
    let run = dents(dir.path()).args(["--rate", "100"]).args(args);
    let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let watch = Watch::over(&child);
    std::thread::sleep(Duration::from_millis(500));
    let pid = Pid::from_child(&child);
    kill_process(pid, signal).expect("it runs");
    let started = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    drop(watch);
    assert!(started.elapsed() < Duration::from_secs(2), "it stops soon");
    Outcome { end: output.status.into(), stdout: output.stdout, stderr: output.stderr }
}

#[test]
fn an_interrupt_keeps_what_was_found() {
    let dir = slow_tree();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for args in [&[][..], &["-x"], &["--printf", "%p %s\n"]] {
            let outcome = interrupt(&dir, signal, args);
            assert_eq!(outcome.end, End::Exit(status), "{args:?}");
            assert!(text(&outcome.stderr).contains("interrupted"), "{args:?}");
            let lines = text(&outcome.stdout);
            assert!(lines.ends_with('\n') && lines.starts_with('.'), "{lines}");
        }
    }
}

#[test]
fn an_interrupt_keeps_the_rows_in_the_file() {
    let dir = slow_tree();
    let out = TempDir::new("rows").expect("a directory");
    let file = out.path().join("scan.ndjson");
    let outcome = interrupt(&dir, Signal::INT, &["-o", file.to_str().expect("UTF-8")]);
    assert_eq!(outcome.end, End::Exit(130));
    assert!(!file.exists(), "it is not complete");
    let rows = std::fs::read_to_string(out.path().join("scan.ndjson.partial")).expect("the file is there");
    assert!(rows.lines().count() > 5 && rows.ends_with('\n'), "{rows}");
    assert_eq!(std::fs::read_dir(out.path()).expect("readable").count(), 1, "nothing temporary is left");
}

#[test]
fn the_time_is_over() {
    let dir = slow_tree();
    for args in [&["--timeout", "300ms"][..], &["--timeout", "0.3", "--size", "+0"]] {
        let started = Instant::now();
        let outcome = run(&dents(dir.path()).args(["--rate", "100"]).args(args));
        assert!(started.elapsed() < Duration::from_secs(2));
        assert_eq!(outcome.end, End::Exit(1));
        assert!(text(&outcome.stderr).contains("timed out"), "{}", text(&outcome.stderr));
        assert!(text(&outcome.stdout).starts_with('.'));
    }
}

#[test]
fn a_closed_pipe_ends_it_as_it_ends_find() {
    let dir = TempDir::new("pipe").expect("a directory");
    let name = "n".repeat(200);
    make(dir.path(), &format!("for i in $(seq 2000); do : > {name}$i; done"));
    for args in [&[][..], &["--threads", "4"], &["--printf", "%p %s\n"], &["--format", "ndjson"]] {
        let run = dents(dir.path()).args(args);
        let mut child =
            run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        // The output is larger than the buffer of a pipe, and no process reads it.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(End::from(output.status), End::Signal(13), "{args:?}");
        assert_eq!(text(&output.stderr), "", "{args:?}");
    }
}

/// As for `find` and `du`. A file that is opened later does not get the number of standard output.
#[test]
fn without_standard_output_it_fails() {
    let dir = TempDir::new("closed").expect("a directory");
    make(dir.path(), "mkdir t; touch t/a");
    for shell in ["exec \"$0\" \"$@\" >&-", "exec \"$0\" \"$@\" <&- >&-"] {
        let closed = |run: Run| crate::run(&run.under(&["/bin/sh", "-c", shell]));
        assert_eq!(closed(find(dir.path()).args(["t"])).end, End::Exit(1));
        for args in [&["t"][..], &["--printf", "%p %s\n", "t"], &["--format", "ndjson", "t"]] {
            let outcome = closed(dents(dir.path()).args(args));
            assert_eq!(outcome.end, End::Exit(1), "{args:?}");
            assert!(
                text(&outcome.stderr).contains("Bad file descriptor"),
                "{args:?}: {}",
                text(&outcome.stderr)
            );
        }
        let program = Path::new(env!("CARGO_BIN_EXE_dents"));
        for args in [&["du", "t"][..], &["top", "--json", "t"], &["count", "t"], &["stats", "--csv", "t"]] {
            let outcome = closed(Run::new(program).cwd(dir.path()).args(args));
            assert_eq!(outcome.end, End::Exit(1), "{args:?}");
            let told = "dents: cannot write to standard output: Bad file descriptor\n";
            assert_eq!(text(&outcome.stderr), told, "{args:?}");
        }
        for args in [&["--help"][..], &["--version"], &["du", "--help"], &["help", "scan"]] {
            let outcome = closed(Run::new(program).cwd(dir.path()).args(args));
            let told = "dents: cannot write to standard output: Bad file descriptor\n";
            assert_eq!((outcome.end, text(&outcome.stderr).as_str()), (End::Exit(1), told), "{args:?}");
        }
        let outcome = closed(dents(dir.path()).args(["-o", "rows.ndjson", "t"]));
        assert_eq!((outcome.end, text(&outcome.stderr).as_str()), (End::Exit(0), ""));
        let written = std::fs::read_to_string(dir.path().join("rows.ndjson")).expect("a file");
        assert_eq!(written.lines().count(), 3, "{written}");
    }
}

/// A server may take what is written and refuse it when the file is closed, as NFS does.
#[test]
fn output_that_is_refused_when_it_is_closed_fails() {
    let dir = TempDir::new("refused").expect("a directory");
    let run = dents(dir.path()).args(["--threads=1", "."]);
    let closed = trace(&run).expect("strace");
    let mut closes = closed.calls().iter().filter(|call| call.name == "close");
    // Another thread may run before the call returns; then strace writes `close(1 <unfinished ...>`.
    let is_of_stdout =
        |text: &str| text.strip_prefix("close(1").is_some_and(|rest| rest.starts_with([')', ' ']));
    let nth = 1 + closes.position(|call| is_of_stdout(&call.text)).expect("it closes its output");
    let outcome = trace_with(&run, &[&format!("close:error=ENOSPC:when={nth}")]).expect("strace").outcome;
    assert_eq!((outcome.end, text(&outcome.stdout).as_str()), (End::Exit(1), ".\n"));
    let told = "dents: cannot write to standard output: No space left on device\n";
    assert_eq!(text(&outcome.stderr), told);
}

/// Ends the process with one signal. Returns how long that took.
fn ended_by_one(mut child: std::process::Child, signal: Signal) -> (End, Duration) {
    let watch = Watch::over(&child);
    // By then the process waits for its reader; it does not wait for the disk for so long, even if the disk is busy.
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("a child").is_none(), "it runs");
    kill_process(Pid::from_child(&child), signal).expect("it runs");
    let sent = Instant::now();
    let status = child.wait().expect("it ends");
    drop(watch);
    (End::from(status), sent.elapsed())
}

#[test]
fn one_signal_ends_what_waits_for_a_reader_that_has_stalled() {
    let dir = TempDir::new("stalled").expect("a directory");
    let name = "n".repeat(200);
    make(dir.path(), &format!("for i in $(seq 3000); do : > {name}$i; done"));
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        for words in ["scan", "scan --threads 4 --format ndjson", "du -a", "top -n 9999"] {
            let words = words.split(' ').map(Into::into).collect();
            let run = dents_lab::process::Run { args: words, ..dents(dir.path()) };
            // The other end of the pipe stays open as long as the child is observed, and is never read.
            let child =
                run.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
            let (end, time) = ended_by_one(child, signal);
            assert_eq!(end, End::Signal(number), "{:?}", run.args);
            assert!(time < Duration::from_secs(10), "{:?}: {time:?}", run.args);
        }
    }
}

#[test]
fn one_signal_ends_what_waits_for_a_file_to_read() {
    let dir = TempDir::new("fifo").expect("a directory");
    make(dir.path(), "mkfifo scan.ndjson");
    let args = ["stats", "--from", "scan.ndjson"].map(Into::into).into();
    let run = dents_lab::process::Run { args, ..dents(dir.path()) };
    let child = run.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let (end, time) = ended_by_one(child, Signal::TERM);
    assert_eq!(end, End::Signal(15));
    assert!(time < Duration::from_secs(10), "{time:?}");
}

#[test]
fn nohup_holds() {
    let dir = slow_tree();
    let run = dents(dir.path()).args(["--rate", "100"]).under(&["nohup"]);
    let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(End::from(output.status), End::Exit(0));
}
