//! `dents scan` as a process, with GNU `find` as the oracle: the same entries in any order, the same messages, the same status.

mod files;
mod filters;
mod ignored;
mod limits;
mod loops;
mod partial;
mod paths;
mod printf;
mod requests;
mod signals;
mod usage;
mod verify;
mod visible;
mod words;

use dents_lab::process::{End, Outcome, Run, is_root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program under test, in the C locale.
fn dents(cwd: &Path) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_dents"))).cwd(cwd).args(["scan"])
}

/// The oracle.
fn find(cwd: &Path) -> Run {
    Run::new(Path::new("/usr/bin/find")).cwd(cwd)
}

/// The records between separators, sorted.
fn sorted(bytes: &[u8], separator: u8) -> Vec<String> {
    let mut items: Vec<&[u8]> = bytes.split(|byte| *byte == separator).collect();
    assert_eq!(items.pop(), Some(&b""[..]), "the last line is whole");
    let mut items: Vec<String> = items.into_iter().map(|item| item.escape_ascii().to_string()).collect();
    items.sort_unstable();
    items
}

/// Messages without the name of the program, and without the words for the failed operation, which `find` does not have.
fn messages(outcome: &Outcome, program: &str) -> Vec<String> {
    let strip = |line: &String| {
        let line = line.strip_prefix(program).unwrap_or(line);
        let problems = ["cannot access ", "cannot open directory "];
        problems.into_iter().find_map(|problem| line.strip_prefix(problem)).unwrap_or(line).to_owned()
    };
    let mut messages: Vec<String> = sorted(&outcome.stderr, b'\n').iter().map(strip).collect();
    messages.sort_unstable();
    messages
}

/// Runs both programs with NUL after each item, `dents` with few and with many workers, and compares output, messages and status.
fn compare(cwd: &Path, ours: &[&str], theirs: &[&str]) {
    let oracle = run(&find(cwd).args(theirs));
    for how in [&["--sync"][..], &["--threads", "5"], &[]] {
        let command = dents(cwd).args(how).args(ours);
        let subject = run(&command);
        assert_eq!(sorted(&subject.stdout, 0), sorted(&oracle.stdout, 0), "{}", command.shell());
        assert_eq!(messages(&subject, "dents: "), messages(&oracle, "find: "), "{}", command.shell());
        assert_eq!(subject.end, oracle.end, "{}", command.shell());
    }
}

/// The bytes as text; they must be UTF-8.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs a shell script that makes files.
fn make(cwd: &Path, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(cwd).status().expect("a shell");
    assert!(status.success(), "{script}");
}

/// The same run as an unprivileged user, with a copy of the program that it may read.
fn as_nobody(run: Run, copy: &Path) -> Run {
    if !is_root() {
        return run;
    }
    let program: PathBuf =
        if run.program.ends_with("find") { run.program.clone() } else { copy.join("dents") };
    if !program.exists() {
        dents_lab::fixture::copy_program(&run.program, &program);
    }
    let run = Run { program, ..run };
    run.under(&["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"])
}

/// Checks that the run ended with status 0 and without messages.
fn assert_fine(outcome: &Outcome) {
    assert_eq!((outcome.end, text(&outcome.stderr).as_str()), (End::Exit(0), ""));
}
