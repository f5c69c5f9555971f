//! Invalid command lines, and the text of `--help`.

use crate::{dents, run, text};
use dents_lab::process::End;
use std::path::Path;

#[test]
fn wrong_command_lines_are_told_with_a_way_out() {
    for (args, words) in [
        (&["-d", "-f"][..], &["--directories", "--files"][..]),
        (&["--type", "x"], &["--type", "f d l p s c b"]),
        (&["--size", "1x"], &["--size", "+10M"]),
        (&["--newer", "/no/such"], &["/no/such", "No such file", "2026-01-31"]),
        (&["--user", "no-such-user"], &["no-such-user", "name of a user"]),
        (&["--group", "no-such-group"], &["no-such-group", "name of a group"]),
        (&["-g", "("], &["--grep", "unclosed"]),
        (&["--exclude", "../x"], &["--exclude", "matches nothing", "from its PATH on"]),
        (&["--timeout", "soon"], &["--timeout", "90s"]),
        (&["--threads", "0"], &["--threads"]),
        (&["--rate", "0"], &["--rate"]),
        (&["--sync", "--threads", "2"], &["--sync", "--threads"]),
        (&["--printf", "%p", "-0"], &["--printf", "--null"]),
        (&["--format", "csv"], &["csv", "parquet", "ndjson", "sqlite", "text"]),
        (&["--format", "ndjson", "-0"], &["-0", "lines of text"]),
        (&["-0", "-o", "/nowhere/x.ndjson"], &["-0", "'/nowhere/x.ndjson'", "--format text"]),
        (&["-q", "-o", "/nowhere/x.sqlite"], &["-q", "'/nowhere/x.sqlite'", "--format text"]),
        (
            &["--printf", "%p", "-o", "/nowhere/x.parquet"],
            &["--printf", "'/nowhere/x.parquet'", "--format text"],
        ),
        (&["--printf", "%p", "--format", "parquet", "-o", "/nowhere/x"], &["--printf", "lines of text"]),
        (&["-o", "/nowhere/x.csv"], &["'/nowhere/x.csv'", "--format", "text, ndjson", "ncdu"]),
        (&["--size", "big"], &["'big'", "+10M, -1.5GB"]),
        (&["-o", "/nowhere/x.parquet.gz"], &["'/nowhere/x.parquet.gz'", "--format"]),
        (&["-o", "/nowhere/x.ndjson.partial"], &["'/nowhere/x.ndjson.partial'", "--format"]),
        (&["--timestamps", "ms", "-o", "x.parquet"], &["--timestamps", "us", "ns"]),
        (&["--timestamps", "ns"], &["--timestamps", "Parquet", "text"]),
        (&["--timestamps", "us", "-o", "x.sqlite"], &["--timestamps", "sqlite always keeps nanoseconds"]),
        (&["--index", "-o", "x.parquet"], &["--index is for SQLite"]),
        (&["--index"], &["--index is for SQLite", "--format sqlite"]),
        (&["--timestamps=ns", "--format=ndjson"], &["--timestamps", "ndjson always keeps nanoseconds"]),
        (&["--no-such-option"], &["--no-such-option"]),
    ] {
        let outcome = run(&dents(Path::new("/")).args(args));
        let told = text(&outcome.stderr);
        assert_eq!(outcome.end, End::Exit(2), "{args:?}: {told}");
        assert_eq!(outcome.stdout, b"", "{args:?}");
        for word in words {
            assert!(told.contains(word), "{args:?}: {word:?} is not in {told}");
        }
    }
}

#[test]
fn help_has_groups_directives_and_examples() {
    let outcome = run(&dents(Path::new("/")).args(["--help"]));
    let told = text(&outcome.stdout);
    assert_eq!(outcome.end, End::Exit(0));
    for part in [
        "Usage: dents scan",
        "The walk:",
        "Which entries:",
        "Output:",
        "Directives of --printf",
        "Examples:",
        "Exit status:",
    ] {
        assert!(told.contains(part), "{part}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 120), "{told}");
}
