//! `dents diff` as a process: compared with brute force, its outputs, its exit statuses.

mod brute;
mod errors;
mod large;
mod output;
mod random;
mod shards;
#[path = "../tools/mod.rs"]
mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome};
use tools::{dents, run, shell, text};

/// A directory in memory: there, blocks are allocated at once.
fn playground() -> TempDir {
    TempDir::in_memory("diff").expect("a directory")
}

/// Runs `dents diff` with these words. It must end with this status and without messages. Returns its output.
fn diff(dir: &TempDir, status: i32, words: &str) -> String {
    let Outcome { end, stdout, stderr } = run(&dents(dir.path(), &format!("diff {words}")));
    assert_eq!((end, text(&stderr).as_str()), (End::Exit(status), ""), "{words}");
    text(&stdout)
}

/// Runs a shell script, and waits until blocks are allocated.
fn make(dir: &TempDir, script: &str) {
    shell(dir.path(), &format!("set -e; {script}"));
    dents_lab::fixture::settle(dir.path()).expect("settled");
}

/// Scans `t`.
fn scan(dir: &TempDir, file: &str) {
    tools::stdout(&dents(dir.path(), &format!("scan -o {file} t")));
}
