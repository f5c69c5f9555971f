//! Scan files that are forged or damaged: each is an error that names the file and the place, and no command gives wrong results from one.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use std::fs;
use std::path::Path;
use tools::{dents, run, text};

/// The lines of a complete scan of `a` with one more entry.
fn lines(parent: &str, name: &str, depth: u32) -> String {
    let row = |parent: &str, name: &str, depth: u32| {
        format!(
            r#"{{"v":1,"path":"","parent":"{parent}","name":"{name}","depth":{depth},"type":"directory"}}
"#
        )
    };
    let record = r#"{"v":1,"scan":{"program":"x","begun":"2026-11-22T10:00:00.000000000Z","ended":null,"complete":true,"rows":2}}"#;
    format!("{}{}{record}\n", row("", "a", 0), row(parent, name, depth))
}

fn ground() -> TempDir {
    TempDir::new("forged").expect("a temporary directory")
}

/// The message of a run that must fail.
fn refused(cwd: &Path, words: &str) -> String {
    let outcome = run(&dents(cwd, words));
    let message = text(&outcome.stderr);
    assert_eq!(outcome.end, End::Exit(1), "{words}: {message}{}", text(&outcome.stdout));
    message
}

#[test]
fn no_path_leads_out_of_the_scan() {
    let dir = ground();
    for (parent, name, depth) in
        [("a", "../../etc/passwd", 1), ("a", "..", 1), ("a/../../etc", "passwd", 3), ("a", "x", u32::MAX)]
    {
        fs::write(dir.path().join("scan.ndjson"), lines(parent, name, depth)).expect("written");
        for words in ["scan -0", "count", "du -a", "top", "stats", "scan -0 --exclude=y", "count a"] {
            let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
            let words = format!("{command} --from scan.ndjson {rest}");
            let message = refused(dir.path(), &words);
            assert!(message.contains("scan.ndjson: cut off or damaged: line 2: "), "{words}: {message}");
        }
        let outcome = run(&dents(dir.path(), "scan -0 --from scan.ndjson"));
        assert!(!text(&outcome.stdout).contains("passwd"), "{}", text(&outcome.stdout));
    }
}
