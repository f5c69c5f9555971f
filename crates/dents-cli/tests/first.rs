//! The output of `dents` without arguments: five commands, each of which runs.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use std::fs;
use std::path::Path;
use tools::{dents, run, stdout, text};

#[test]
fn five_commands_with_examples() {
    let dir = TempDir::new("first").expect("a directory");
    fs::write(dir.path().join("file"), [b'x'; 5000]).expect("a file");
    stdout(&dents(dir.path(), "scan -o yesterday.parquet ."));
    fs::write(dir.path().join("new"), [b'x'; 5000]).expect("a file");

    let outcome = run(&Run::new(Path::new(env!("CARGO_BIN_EXE_dents"))).cwd(dir.path()));
    assert_eq!((outcome.end, text(&outcome.stdout).as_str()), (End::Exit(2), ""));
    let shown = text(&outcome.stderr);
    assert!(shown.lines().all(|line| line.len() <= 90), "{shown}");
    let examples: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  dents ")).collect();
    assert_eq!(examples.len(), 5, "{shown}");
    for example in examples {
        let (words, about) = example.split_once("  ").expect("an explanation");
        let outcome = run(&dents(dir.path(), words));
        // The status of `diff` shows that there are differences.
        let expected = i32::from(words.starts_with("diff"));
        assert_eq!((outcome.end, text(&outcome.stderr).as_str()), (End::Exit(expected), ""), "{words}");
        let (_, later) = about.split_once(": dents ").unwrap_or_default();
        if !later.is_empty() {
            stdout(&dents(dir.path(), later));
        }
    }
}

#[test]
fn a_wrong_number_gets_a_way_out() {
    let dir = TempDir::new("first").expect("a directory");
    for words in [
        "scan --rate 0",
        "scan --threads x",
        "du -d x",
        "top -n -",
        "scan --max-depth 4294967296",
        "scan --inum x",
    ] {
        let outcome = run(&dents(dir.path(), words));
        assert_eq!(outcome.end, End::Exit(2), "{words}");
        assert!(
            text(&outcome.stderr).contains("write it as a whole number"),
            "{words}: {}",
            text(&outcome.stderr)
        );
    }
}
