//! Shared by the tests of `count`, `du`, `stats` and `top`.
#![allow(dead_code, unused_imports, unreachable_pub, missing_docs, reason = "each test uses some of it")]

use dents_core::batch::Time;
use dents_lab::fixture::TempDir;
use dents_lab::process::{Outcome, Run};
pub use dents_lab::process::{is_root, run, shown, stdout, text};
use dents_sink::{Facts, Row, read};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

/// `dents` with these words, in a directory, in the C locale.
pub fn dents(cwd: &Path, words: &str) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_dents"))).cwd(cwd).args(words.split_whitespace())
}

/// Another program, the same way.
pub fn other(program: &str, cwd: &Path, words: &str) -> Run {
    Run::new(Path::new(program)).cwd(cwd).args(words.split_whitespace())
}

/// The output of a shell script.
pub fn shell(cwd: &Path, script: &str) -> String {
    shown(&Run::new(Path::new("/bin/sh")).cwd(cwd).args(["-c", script]))
}

pub fn json(command: &Run) -> Value {
    let written = stdout(command);
    serde_json::from_slice(&written).unwrap_or_else(|error| panic!("{error}: {}", text(&written)))
}

/// Records that end with NUL or newline, in byte order.
pub fn sorted(bytes: &[u8], end: u8) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == end).map(<[u8]>::to_vec).collect();
    lines.sort();
    lines
}

/// A tree whose files differ in bytes and in blocks, with a hole, links of a file within a directory and across directories, types
/// without bytes, and names with control characters.
pub fn tree() -> TempDir {
    let dir = TempDir::new("sums").expect("a temporary directory");
    let root = dir.path().join("t");
    for sub in ["a/deep/er", "a.b", "b", "empty", "c\nd", "long name"] {
        fs::create_dir_all(root.join(sub)).expect("directories");
    }
    for (nth, name) in ["x.c", "a/y.c", "a/deep/er/z.h", "a.b/1.tar", "b/one", "c\nd/t\tab", "\u{fc}"]
        .into_iter()
        .enumerate()
    {
        fs::write(root.join(name), vec![b'x'; 1 + nth * 3001]).expect("files");
    }
    fs::write(root.join(OsStr::new("long name")).join(name(b"\xff\x1b[2J")), b"bytes").expect("a file");
    File::create(root.join("hole")).and_then(|file| file.set_len(3 << 20)).expect("a hole");
    fs::write(root.join("b/twice"), vec![b'y'; 5000]).expect("a file");
    fs::hard_link(root.join("b/twice"), root.join("b/twice again")).expect("a link");
    symlink("b", root.join("to-b")).expect("a link");
    symlink("nowhere", root.join("a/dangling")).expect("a link");
    shell(&root, "mkfifo pipe");
    settle(dir.path());
    dir
}

/// The same, and links of files in several directories.
pub fn linked_tree() -> TempDir {
    let dir = tree();
    let root = dir.path().join("t");
    for (from, to) in [("x.c", "a/deep/x"), ("a/y.c", "b/y"), ("a/y.c", "a.b/y"), ("b/one", "empty/one")] {
        fs::hard_link(root.join(from), root.join(to)).expect("a link");
    }
    settle(dir.path());
    dir
}

/// Waits until blocks are allocated, because ext4 may delay that.
fn settle(path: &Path) {
    dents_lab::fixture::settle(path).expect("settled");
}

pub fn name(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// The lines of an error output without the name of the program, and without the one reason that GNU du does not always
/// print.
pub fn complaints(outcome: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = text(&outcome.stderr)
        .lines()
        .map(|line| line.split_once(": ").map_or(line, |(_, rest)| rest))
        // du has one message for opening and reading; dents has two.
        .map(|line| line.replace("cannot read directory", "cannot open directory"))
        .map(|line| line.strip_suffix(": No such file or directory").unwrap_or(&line).to_owned())
        .collect();
    lines.sort();
    lines
}

/// The rows of a scan in an order of their own, without the one time that scanning changes.
pub fn rows(file: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    let reader = read::open(file).unwrap_or_else(|error| panic!("{error}"));
    let result = reader.for_each(&mut |row| {
        let facts = row.facts.map(|facts| Facts { atime: Time::UNKNOWN, ..facts });
        rows.push(format!("{:?}", Row { facts, ..*row }));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    rows.sort_unstable();
    rows
}

/// Compares rows: the first difference says more than all rows.
pub fn assert_same(rows: &[String], truth: &[String], when: &str) {
    if let Some((row, other)) = rows.iter().zip(truth).find(|(row, other)| row != other) {
        panic!("{when}: {row}\ninstead of {other}");
    }
    assert_eq!(rows.len(), truth.len(), "{when}: rows");
}

/// A directory to work in, in memory, with a tree `t`: ten subdirectories to a directory, and these files in each.
pub fn plant(directories: usize, files: &[&str]) -> TempDir {
    let dir = TempDir::in_memory("plant").expect("a directory");
    let mut made = vec![dir.path().join("t")];
    fs::create_dir(&made[0]).expect("a directory");
    for number in 0..directories {
        let path = made[number / 10].join(number.to_string());
        fs::create_dir(&path).expect("a directory");
        files.iter().for_each(|name| fs::write(path.join(name), "x").expect("a file"));
        made.push(path);
    }
    dir
}
