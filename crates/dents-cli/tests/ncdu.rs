//! The JSON of ncdu, beside ncdu itself where it is installed.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, str};
use tools::{dents, linked_tree, other, run, sorted, stdout, text};

/// ncdu, if it is there. Its message says what is not tested otherwise.
fn has_ncdu() -> bool {
    let found = ["/usr/bin/ncdu", "/usr/local/bin/ncdu"].iter().any(|path| Path::new(path).is_file());
    if !found {
        println!("without ncdu: its reading and writing of files is not tested");
    }
    found
}

/// What `du` shows: all entries with their space, in the order of their names.
fn du(cwd: &Path, words: &str) -> Vec<String> {
    let lines = sorted(&stdout(&dents(cwd, &format!("du -0 -a -d 99 {words}"))), 0);
    lines.iter().map(|line| line.escape_ascii().to_string()).collect()
}

/// Compares scan files with the tree: paths and sums. In a tree, a file with several links counts where it is read first, in all
/// scan files of it in the first directory by name: so the tree is compared with `-l`, and another scan file without.
fn same(cwd: &Path, root: &str, file: &str) {
    stdout(&dents(cwd, &format!("scan -o reference.parquet {root}")));
    for options in ["", "--apparent-size", "--inodes"] {
        let sums = |words: &str| du(cwd, &format!("{options} {words}"));
        assert_eq!(sums(&format!("--from {file}")), sums("--from reference.parquet"), "{file} {options}");
        assert_eq!(sums(&format!("-l --from {file}")), sums(&format!("-l {root}")), "{file} {options}");
    }
    let paths = |words: &str| sorted(&stdout(&dents(cwd, &format!("scan -0 {words}"))), 0);
    assert_eq!(paths(&format!("--from {file}")), paths(root), "{file}");
}

#[test]
fn a_scan_comes_back() {
    let dir = linked_tree();
    stdout(&dents(dir.path(), "scan --format ncdu -o t.json t"));
    same(dir.path(), "t", "t.json");
    stdout(&dents(dir.path(), "scan -o t.parquet t"));
    stdout(&dents(dir.path(), "scan --format ncdu -o again.json --from t.parquet"));
    // All but the second in which the scan began.
    let written = |file: &str| {
        let text = fs::read(dir.path().join(file)).unwrap().escape_ascii().to_string();
        let (before, after) = text.split_once(r#"timestamp\":"#).expect("it has a time");
        [before, after.trim_start_matches(|c: char| c.is_ascii_digit())].concat()
    };
    assert_eq!(written("again.json"), written("t.json"));
    for words in ["stats --by user,extension,age,size", "top -n 100", "du --from t.json t/b"] {
        let from = if words.contains("--from") { words.to_owned() } else { format!("{words} --from t.json") };
        let live = words.replace("--from t.json ", "");
        let live = if live == words { format!("{words} t") } else { live };
        assert_eq!(
            text(&stdout(&dents(dir.path(), &from))),
            text(&stdout(&dents(dir.path(), &live))),
            "{words}"
        );
    }
}

#[test]
fn ncdu_reads_what_dents_writes() {
    if !has_ncdu() {
        return;
    }
    let dir = linked_tree();
    stdout(&dents(dir.path(), "scan --format ncdu -o t.json t"));
    for extended in ["-e", ""] {
        stdout(&other("ncdu", dir.path(), &format!("-0 {extended} -f t.json -o back.json")));
        same(dir.path(), "t", "back.json");
    }
}

#[test]
fn dents_reads_what_ncdu_writes() {
    if !has_ncdu() {
        return;
    }
    let dir = linked_tree();
    let root = dir.path().join("t");
    for extended in ["-e", ""] {
        stdout(&other("ncdu", dir.path(), &format!("-0 {extended} -o t.json t")));
        same(dir.path(), root.to_str().unwrap(), "t.json");
    }
    // What it left out has a name, and no size.
    stdout(&other("ncdu", dir.path(), "-0 --exclude deep -o t.json t"));
    let shown = stdout(&dents(dir.path(), "scan --from t.json --printf %y\\t%p\\n"));
    assert!(text(&shown).contains("/t/a/deep\n") && !text(&shown).contains("/deep/er"), "{}", text(&shown));
}

#[test]
fn one_directory_and_clear_errors() {
    let dir = TempDir::new("ncdu").expect("a directory");
    fs::create_dir(dir.path().join("t")).expect("a directory");
    fs::write(dir.path().join("file"), "x").expect("a file");
    symlink("t", dir.path().join("link")).expect("a link");
    for (words, status, problem) in [
        ("scan --format ncdu -o x.json t file", 2, "one root"),
        ("scan --format ncdu -o x.json --columns project t", 2, "--columns"),
        ("scan --format ncdu -o x.json file", 1, "not a directory"),
        ("scan --format ncdu -o x.json link", 1, "not a directory"),
    ] {
        let outcome = run(&dents(dir.path(), words));
        assert_eq!(outcome.end, End::Exit(status), "{words}");
        assert!(text(&outcome.stderr).contains(problem), "{words}: {}", text(&outcome.stderr));
        assert!(!dir.path().join("x.json").exists());
    }
    fs::write(dir.path().join("x.json"), "[1,2,{},[{\"name\":\"r\"}").expect("a file");
    let outcome = run(&dents(dir.path(), "du --from x.json"));
    assert_eq!(outcome.end, End::Exit(1));
    let expected = "x.json: cut off or damaged: byte 21: the end is missing; copy it again, or scan again";
    assert!(text(&outcome.stderr).contains(expected), "{}", text(&outcome.stderr));
    stdout(&dents(dir.path(), "scan --format ncdu -o x.json t"));
    assert!(
        str::from_utf8(&fs::read(dir.path().join("x.json")).unwrap()).unwrap().contains("\"complete\":true}")
    );
}

/// ncdu's default export has neither times nor owners nor modes.
const DEFAULT: &str = r#"[1,2,{"progname":"ncdu","progver":"1.18","timestamp":1795470023},
[{"name":"t","asize":4096,"dsize":4096,"dev":65024},
{"name":"x","asize":5,"dsize":4096},
[{"name":"b","asize":4096,"dsize":4096},{"name":"y","asize":7,"dsize":4096}]]]
"#;

/// The same with `-e`.
const EXTENDED: &str = r#"[1,2,{"progname":"ncdu","progver":"1.18","timestamp":1795470023},
[{"name":"t","asize":4096,"dsize":4096,"dev":65024,"uid":0,"gid":0,"mode":16877,"mtime":1795470000},
{"name":"x","asize":5,"dsize":4096,"uid":0,"gid":0,"mode":33188,"mtime":1795470000},
[{"name":"b","asize":4096,"dsize":4096,"uid":0,"gid":0,"mode":16877,"mtime":1795470000},
{"name":"y","asize":7,"dsize":4096,"uid":7,"gid":7,"mode":33188,"mtime":1795470001}]]]
"#;

#[test]
fn what_an_export_does_not_know_is_null() {
    let dir = TempDir::new("null").expect("a temporary directory");
    fs::write(dir.path().join("t.json"), DEFAULT).expect("written");
    for format in ["ndjson", "sqlite", "parquet"] {
        stdout(&dents(dir.path(), &format!("scan --from t.json -o t.{format}")));
    }
    let lines = fs::read_to_string(dir.path().join("t.ndjson")).expect("read");
    for field in ["mode", "uid", "gid", "atime", "btime", "ctime", "mtime"] {
        assert_eq!(lines.matches(&format!("\"{field}\":null")).count(), 4, "{field}: {lines}");
    }
    for file in ["t.json", "t.ndjson", "t.sqlite", "t.parquet"] {
        let shown = |words: &str| text(&stdout(&dents(dir.path(), &words.replace("FILE", file))));
        assert_eq!(shown("top --csv --by oldest --from FILE").lines().count(), 1, "{file}");
        assert_eq!(shown("top --csv --by size --from FILE").lines().count(), 3, "{file}");
        for filter in [
            "--older 1d",
            "--newer @0",
            "--user 0",
            "--user 4294967295",
            "--group 0",
            "--perm -0",
            "--time atime --older 1d",
        ] {
            assert_eq!(shown(&format!("scan {filter} --from FILE")), "", "{file} {filter}");
        }
        let printed = sorted(shown("scan --type f --printf %s|%u|%m|%T@\\n --from FILE").as_bytes(), b'\n');
        assert_eq!(text(&printed.concat()), "5|||\n7|||\n", "{file}");
        let stats = shown("stats --csv --by user,age --from FILE");
        assert!(!stats.contains("4294967295") && !stats.contains("year"), "{file}: {stats}");
        assert_eq!(shown("du --bytes --from FILE"), "16384\tt\n8192\tt/b\n", "{file}");
    }
}

#[test]
fn what_one_side_does_not_know_is_not_compared() {
    let dir = TempDir::new("null").expect("a temporary directory");
    fs::write(dir.path().join("old.json"), DEFAULT).expect("written");
    fs::write(dir.path().join("new.json"), EXTENDED).expect("written");
    stdout(&dents(dir.path(), "scan --from old.json -o old.parquet"));
    for old in ["old.json", "old.parquet"] {
        let json = tools::json(&dents(dir.path(), &format!("diff --json {old} new.json")));
        for list in ["changed", "new", "deleted", "moved", "users"] {
            assert_eq!(json[list], serde_json::json!([]), "{old}: {json}");
        }
    }
}
