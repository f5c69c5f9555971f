//! Scan files that are forged or damaged: each is an error that names the file and the place, and no command gives wrong results from one.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Watch};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tools::{dents, run, stdout, text};

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

/// A scan in a database whose tree of pages has the same pages again and again: SQLite finds rows without end in it. The page of the
/// root becomes that of a tree with three levels more, in each of which all branches lead to the same page.
fn endless(dir: &Path) {
    run(&dents(dir, "scan -o scan.sqlite t"));
    let path = dir.join("scan.sqlite");
    let mut bytes = fs::read(&path).expect("read");
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    // The table's root is page 2, the first one that was made. An inner page of a table has type 5, and a cell begins with a page.
    let root = bytes[size..2 * size].to_vec();
    assert_eq!(root[0], 5, "the table has few rows");
    let cells = usize::from(u16::from_be_bytes([root[3], root[4]]));
    assert!(cells > 50, "{cells} cells");
    let leading_to = |page: usize| {
        let (mut inner, page) = (root.clone(), (page as u32).to_be_bytes());
        inner[8..12].copy_from_slice(&page);
        for cell in 0..cells {
            let at = usize::from(u16::from_be_bytes([root[12 + 2 * cell], root[13 + 2 * cell]]));
            inner[at..at + 4].copy_from_slice(&page);
        }
        inner
    };
    bytes.extend_from_slice(&root);
    for _ in 0..4 {
        let last = bytes.len() / size;
        bytes.extend(leading_to(last));
    }
    let pages = bytes.len() / size;
    bytes[size..2 * size].copy_from_slice(&leading_to(pages));
    bytes[28..32].copy_from_slice(&(pages as u32).to_be_bytes());
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_signal_ends_an_endless_query() {
    let dir = ground();
    fs::create_dir(dir.path().join("t")).expect("made");
    (0..12_000).for_each(|n| drop(fs::File::create(dir.path().join(format!("t/file-{n}"))).expect("made")));
    endless(dir.path());
    // No row is wanted, so SQLite alone has control.
    for words in ["count --from scan.sqlite t/none", "du --from scan.sqlite t/none"] {
        let child = dents(dir.path(), words).command().stderr(Stdio::piped()).spawn().expect("it starts");
        let watch = Watch::over(&child);
        std::thread::sleep(Duration::from_millis(500));
        kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
        let begun = Instant::now();
        let end = End::from(child.wait_with_output().expect("it ends").status);
        drop(watch);
        assert!(begun.elapsed() < Duration::from_secs(1), "{words}: {:?}, {end:?}", begun.elapsed());
        assert_eq!(end, End::Exit(130), "{words}");
    }
}

#[test]
fn damage_is_an_error_and_a_file_without_a_checksum_a_warning() {
    let dir = ground();
    fs::create_dir_all(dir.path().join("t/b")).expect("made");
    fs::write(dir.path().join("t/b/x"), "12345678").expect("written");
    stdout(&dents(dir.path(), "scan -o scan.ndjson t"));
    stdout(&dents(dir.path(), "scan -o scan.sqlite t"));
    let whole = fs::read_to_string(dir.path().join("scan.ndjson")).expect("read");
    let changed = whole.replace("\"size\":8,", "\"size\":9,");
    assert_ne!(whole, changed);
    fs::write(dir.path().join("changed.ndjson"), &changed).expect("written");
    fs::copy(dir.path().join("scan.sqlite"), dir.path().join("changed.sqlite")).expect("copied");
    let database = Connection::open(dir.path().join("changed.sqlite")).expect("a database");
    database.execute_batch("UPDATE entries SET size = 9 WHERE name = 'x'").expect("changed");
    drop(database);
    for name in ["changed.ndjson", "changed.sqlite"] {
        for command in ["du", "top", "stats", "count", "scan"] {
            let message = refused(dir.path(), &format!("{command} --from {name}"));
            assert!(
                message.contains(name) && message.contains("another checksum"),
                "{command} {name}: {message}"
            );
        }
    }
    // As an earlier version wrote it.
    let (rows, record) = whole.trim_end().rsplit_once('\n').expect("lines");
    let (record, _) = record.split_once(",\"checksum\"").expect("a checksum");
    fs::write(dir.path().join("old.ndjson"), format!("{rows}\n{record}}}}}\n")).expect("written");
    let database = Connection::open(dir.path().join("scan.sqlite")).expect("a database");
    database.execute_batch("ALTER TABLE scan DROP COLUMN checksum").expect("changed");
    drop(database);
    for name in ["old.ndjson", "scan.sqlite"] {
        for words in ["du --from FILE t t/b", "stats --from FILE", "scan --from FILE"] {
            let outcome = run(&dents(dir.path(), &words.replace("FILE", name)));
            let warning = format!(
                "dents: '{name}': of an earlier version, without a checksum: damage may go unnoticed\n"
            );
            assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), warning), "{words}");
        }
    }
}
