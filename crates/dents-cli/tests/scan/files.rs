//! `-o FILE`: rows with all facts, read again and compared with `find`.

use crate::{as_nobody, assert_fine, dents, find, make, run, sorted, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use dents_lab::zoo::Zoo;
use dents_sink::{Asked, Row, read};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const FORMAT: &str = "%p|%d|%y|%s|%b|%m|%n|%i|%D|%u|%g|%U|%G|%T@|%A@|%C@|%l\\0";

fn rows(file: &Path, mut see: impl FnMut(&Row<'_>)) {
    let reader = read::open(file).expect("it opens");
    let mut give = |row: &Row<'_>| {
        see(row);
        Ok(())
    };
    reader.for_each(&mut give).expect("it reads");
}

/// A row in the form of [`FORMAT`].
fn shown(row: &Row<'_>) -> String {
    let mut path = Vec::new();
    row.path(&mut path);
    let mut line = path.escape_ascii().to_string();
    let facts = row.facts.as_ref().expect("known");
    let letter = char::from(b"?pc?d?b?f?l?s"[row.kind as usize]);
    let device = (facts.dev.1 & 0xff) | facts.dev.0 << 8 | (facts.dev.1 & !0xff) << 12;
    let name =
        |name: Option<&[u8]>, id: u32| name.map_or(id.to_string(), |name| name.escape_ascii().to_string());
    let (user, group) = (name(facts.user, facts.uid), name(facts.group, facts.gid));
    let _ = write!(
        line,
        "|{}|{letter}|{}|{}|{:o}|{}|{}|{device}|{user}|{group}|{}|{}",
        row.depth,
        facts.size,
        facts.allocated / 512,
        facts.mode & 0o7777,
        facts.nlink,
        facts.ino,
        facts.uid,
        facts.gid
    );
    for time in [facts.mtime, facts.atime, facts.ctime] {
        let _ = write!(line, "|{}.{:09}0", time.sec, time.nsec);
    }
    let _ = write!(line, "|{}", row.target.unwrap_or_default().escape_ascii());
    line
}

/// Times of whole microseconds, rounded down: the last four of the ten digits of [`FORMAT`] are zeros.
fn in_microseconds(line: &str) -> String {
    let field = |field: &str| match field.split_once('.') {
        Some((seconds, digits)) if digits.len() == 10 && seconds.parse::<i64>().is_ok() => {
            format!("{seconds}.{}0000", &digits[..6])
        }
        _ => field.to_string(),
    };
    line.split('|').map(field).collect::<Vec<_>>().join("|")
}

#[test]
fn a_zoo_in_every_format() {
    let (zoo, dir) = (Zoo::new().expect("a zoo"), TempDir::new("files").expect("a directory"));
    let expected = sorted(&run(&find(zoo.path()).args(["-printf", FORMAT])).stdout, 0);
    let micros: Vec<String> = expected.iter().map(|line| in_microseconds(line)).collect();
    assert_ne!(micros, expected);
    for (name, more, expected) in [
        ("a.ndjson", &[][..], &expected),
        ("a.parquet", &[], &micros),
        ("a.parquet", &["--timestamps", "us"], &micros),
        ("a.parquet", &["--timestamps=ns"], &expected),
        ("a.sqlite", &[], &expected),
        ("b", &["--format", "parquet", "--timestamps", "ns"], &expected),
    ] {
        for how in [&["--sync"][..], &["--threads", "5"]] {
            let file = dir.path().join(name);
            let outcome = run(&dents(zoo.path()).args(["-o"]).args([&file]).args(more).args(how));
            // The zoo has times beyond 2262, which a reader gets from far_times.
            let said = String::from_utf8(outcome.stderr).expect("UTF-8");
            let may_say = more.iter().any(|word| word.ends_with("ns"));
            assert!(said.is_empty() || (may_say && said.contains("far_times")), "{said}");
            assert_eq!(outcome.end, End::Exit(0));
            let mut lines = Vec::new();
            rows(&file, |row| lines.push(shown(row)));
            lines.sort();
            assert_eq!(&lines, expected, "{name} {more:?} {how:?}");
        }
    }
}

#[test]
fn times_beyond_nanoseconds_are_told() {
    let dir = TempDir::new("far").expect("a directory");
    // ext4 has times until 2446, tmpfs any.
    make(dir.path(), "touch near; touch -d @9300000000 a b; touch -d @-9300000000 c");
    let far = sorted(&run(&find(dir.path()).args(["-newermt", "@9223372036", "-print0"])).stdout, 0).len();
    let far = far
        + sorted(&run(&find(dir.path()).args(["!", "-newermt", "@-9223372037", "-print0"])).stdout, 0).len();
    if far < 2 {
        println!("skipped: the file system has no times beyond 2262");
        return;
    }
    let said = |more: &[&str]| {
        let out = TempDir::new("far-scan").expect("a directory");
        let outcome = run(&dents(dir.path()).args(["-o"]).args([out.path().join("x.parquet")]).args(more));
        assert_eq!(outcome.end, End::Exit(0));
        String::from_utf8(outcome.stderr).expect("UTF-8")
    };
    let message = format!("dents: {far} entries have times before 1677-09-21 or after 2262-04-11: ");
    assert!(said(&["--timestamps=ns"]).starts_with(&message), "{}", said(&["--timestamps=ns"]));
    assert_eq!(said(&[]), "");
    assert_eq!(said(&["--timestamps=ns", "--type", "d"]), "");
}

#[test]
fn filters_hold_for_rows_too() {
    let (zoo, dir) = (Zoo::new().expect("a zoo"), TempDir::new("files").expect("a directory"));
    let file = dir.path().join("x.ndjson");
    assert_fine(&run(&dents(zoo.path()).args(["-tl", "-o"]).args([&file])));
    let mut count = 0;
    rows(&file, |row| {
        assert!(row.target.is_some() && row.facts.is_some());
        count += 1;
    });
    assert_eq!(count, sorted(&run(&find(zoo.path()).args(["-type", "l", "-print0"])).stdout, 0).len());
}

#[test]
fn what_failed_has_a_row() {
    let dir = TempDir::new("failed").expect("a directory");
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    make(
        dir.path(),
        "chmod 777 .; mkdir -p in/closed in/names; touch in/names/f; chmod 0 in/closed; chmod 744 in/names",
    );
    let run = as_nobody(dents(dir.path()).args(["-o", "x.ndjson", "in", "missing"]), programs.path());
    let outcome = crate::run(&run);
    assert_eq!(outcome.end, End::Exit(1));
    let mut faults = Vec::new();
    // A PATH is missing, so the scan is not complete.
    rows(&dir.path().join("x.ndjson.partial"), |row| {
        if let Some(fault) = row.fault {
            let mut path = Vec::new();
            row.path(&mut path);
            faults.push((text(&path), fault.asked, fault.errno, row.facts.is_some()));
        }
    });
    faults.sort_by_key(|(path, ..)| path.clone());
    let expected = [
        ("in/closed".to_owned(), Asked::Open, 13, false),
        ("in/names/f".to_owned(), Asked::Stat, 13, false),
        ("missing".to_owned(), Asked::Stat, 2, false),
    ];
    assert_eq!(faults, expected);
    make(dir.path(), "chmod 755 in/closed in/names");
}

#[test]
fn text_goes_to_a_file_as_well() {
    let dir = TempDir::new("text").expect("a directory");
    make(dir.path(), "mkdir in; touch in/a in/b");
    assert_fine(&run(&dents(dir.path()).args(["-o", "list.txt", "in"])));
    assert_fine(&run(&dents(dir.path()).args(["--printf", "%f\\n", "-o", "list.csv", "in"])));
    assert_fine(&run(&dents(dir.path()).args(["--format", "text", "-o", "list.parquet", "in"])));
    let read = |name: &str| sorted(&std::fs::read(dir.path().join(name)).expect("the file"), b'\n');
    assert_eq!(read("list.txt"), ["in", "in/a", "in/b"]);
    assert_eq!(read("list.csv"), ["a", "b", "in"]);
    assert_eq!(read("list.parquet"), ["in", "in/a", "in/b"]);
    let piped = run(&dents(dir.path()).args(["--format", "ndjson", "-o", "-", "in"]));
    assert_fine(&piped);
    assert_eq!(sorted(&piped.stdout, b'\n').len(), 3 + 1, "rows, and the record of the scan");
}

#[test]
fn a_place_that_is_none_is_named() {
    let dir = TempDir::new("place").expect("a directory");
    for (file, problem) in [("no/x.parquet", "No such file"), (".", "directory"), ("x/", "directory")] {
        let outcome = run(&dents(dir.path()).args(["-o", file]));
        let told = text(&outcome.stderr);
        assert_ne!(outcome.end, End::Exit(0), "{file}");
        assert!(told.contains(problem) && told.contains(file.trim_end_matches('/')), "{file}: {told}");
    }
}

/// The start and the end of the scan decide ages, and which files changed meanwhile.
#[test]
fn a_converted_scan_keeps_its_start_and_its_end() {
    let dir = TempDir::new("converted").expect("a directory");
    std::fs::create_dir(dir.path().join("t")).expect("a directory");
    let formats = ["parquet", "sqlite", "ndjson"];
    for first in formats {
        let from = format!("first.{first}");
        assert_fine(&run(&dents(dir.path()).args(["-o", &from, "t"])));
        let span = |file: &str| read::open(&dir.path().join(file)).expect("it opens").span();
        let original = span(&from);
        assert!(original.begun.is_some() && original.ended.is_some());
        for second in formats {
            let to = format!("second.{second}");
            assert_fine(&run(&dents(dir.path()).args(["--from", &from, "-o", &to])));
            assert_eq!(span(&to), original, "{first} to {second}");
        }
    }
}

/// The temporary file, the file that is replaced, the journal, the directory of a scan in parts. So an unchanged tree compares as equal.
#[test]
fn what_a_scan_writes_itself_is_not_in_it() {
    let dir = TempDir::new("own").expect("a directory");
    // Files of the same names elsewhere, and one that a killed process left, are entries as all others.
    make(dir.path(), "mkdir sub; touch a .x.parquet.1-0.part sub/x.parquet sub/p");
    let truth = [".", "./.x.parquet.1-0.part", "./a", "./sub", "./sub/p", "./sub/x.parquet"];
    let paths = |file: &str| {
        let mut paths = Vec::new();
        rows(&dir.path().join(file), |row| {
            let mut path = Vec::new();
            row.path(&mut path);
            paths.push(text(&path));
        });
        paths.sort_unstable();
        paths
    };
    for file in ["x.parquet", "x.sqlite", "x.ndjson"] {
        for how in [&[][..], &["--journal", "j"], &["--bulk=always"], &["--type=fd"], &["-L"]] {
            // The second time there is a file that is replaced.
            for time in ["first", "second"] {
                let outcome = run(&dents(dir.path()).args(how).args(["-o", file, "."]));
                assert_fine(&outcome);
                assert_eq!(paths(file), truth, "{file} {how:?}, for the {time} time");
            }
            fs::remove_file(dir.path().join(file)).expect("removed");
        }
    }
    for time in ["first", "second"] {
        assert_fine(&run(&dents(dir.path()).args(["-o", "list.txt", "."])));
        let list = fs::read_to_string(dir.path().join("list.txt")).expect("a file");
        let mut lines: Vec<_> = list.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, truth, "text, for the {time} time");
    }
    fs::remove_file(dir.path().join("list.txt")).expect("removed");
    let parts = "parts start -- p .; $dents parts claim p >/dev/null; $dents scan --part p --task 1 --budget 1
        while task=$($dents parts claim p); do $dents scan --part p --task ${task%% *}; done; $dents parts merge p";
    make(dir.path(), &format!("dents='{}'; $dents {parts}", env!("CARGO_BIN_EXE_dents")));
    assert_eq!(paths("p"), truth, "parts");
}
