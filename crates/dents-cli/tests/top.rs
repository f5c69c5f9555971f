//! `dents top` beside `find`, `sort` and `head`.

mod tools;

use dents_lab::process::End;
use serde_json::json;
use std::fs;
use std::path::Path;
use tools::{dents, linked_tree, run, shell, stdout, text, tree};

/// The paths and values of `find`, the best first, a file with several links once.
fn found(cwd: &Path, format: &str, order: &str, most: usize) -> String {
    let script = format!(
        "find t -type f -printf '%i\\t{format}\\t%p\\n' | LC_ALL=C sort -t'\t' -k3 | awk -F'\t' '!seen[$1]++' \
         | LC_ALL=C sort -s -t'\t' -k2,2{order} | cut -f2,3 | head -n {most}"
    );
    shell(cwd, &script)
}

#[test]
fn the_largest_files() {
    let dir = linked_tree();
    // Line-based tools would split this name.
    fs::remove_dir_all(dir.path().join("t/c\nd")).unwrap();
    for most in [1, 3, 5] {
        let ours = text(&stdout(&dents(dir.path(), &format!("top -n {most} t"))));
        assert_eq!(ours, found(dir.path(), "%s", "nr", most));
    }
    assert_eq!(text(&stdout(&dents(dir.path(), "top -n 0 t"))), "");
    let ours = text(&stdout(&dents(dir.path(), "top -n 1 --by allocated t")));
    let largest = ours.split('\t').next().unwrap().parse::<u64>().unwrap();
    let blocks = shell(dir.path(), "find t -type f -printf '%b\n' | sort -nr | head -n 1");
    assert_eq!(largest, blocks.trim().parse::<u64>().unwrap() * 512);
}

#[test]
fn any_number_of_workers_finds_the_same() {
    for by in ["size", "allocated", "oldest", "newest", "entries"] {
        let words = |threads| format!("top -n 25 --by {by} --threads {threads} /etc /usr/share/man");
        let first = text(&stdout(&dents(Path::new("/"), &words(1))));
        assert_eq!(first.lines().count(), 25);
        for threads in [2, 7] {
            assert_eq!(text(&stdout(&dents(Path::new("/"), &words(threads)))), first, "{by}");
        }
    }
}

#[test]
fn the_oldest_and_newest_files() {
    let dir = tree();
    shell(dir.path(), "touch -d 1960-01-02T03:04:05.6Z t/x.c; touch -d 2400-01-01T00:00:00Z t/b/one");
    let line = |words: &str| text(&stdout(&dents(dir.path(), words)));
    assert_eq!(line("top -n 1 --by oldest t"), "1960-01-02T03:04:05.600000000Z\tt/x.c\n");
    assert_eq!(line("top -n 1 --by newest t"), "2400-01-01T00:00:00.000000000Z\tt/b/one\n");
}

#[test]
fn the_fullest_directories() {
    let dir = tree();
    // A directory that is read in several pieces.
    fs::create_dir(dir.path().join("t/full")).unwrap();
    for nth in 0..10_000 {
        fs::write(dir.path().join(format!("t/full/{nth}")), b"").unwrap();
    }
    let ours = text(&stdout(&dents(dir.path(), "top --by entries -n 2 t")));
    let own = shell(dir.path(), "find t -mindepth 1 -maxdepth 1 -printf . | wc -c");
    assert_eq!(ours, format!("10000\tt/full\n{}\tt\n", own.trim()));
}

#[test]
fn a_file_of_rows_gives_what_the_tree_gave() {
    let dir = linked_tree();
    for (suffix, words) in [("ndjson", ""), ("parquet", "--timestamps=ns"), ("sqlite", "")] {
        let file = dir.path().join(format!("scan.{suffix}"));
        stdout(&dents(dir.path(), &format!("scan {words} t -o")).args([&file]));
        for by in ["size", "allocated", "oldest", "newest", "entries"] {
            let live = stdout(&dents(dir.path(), &format!("top --by {by} --json t")));
            let again = stdout(&dents(dir.path(), &format!("top --by {by} --json --from scan.{suffix}")));
            assert_eq!(text(&again), text(&live), "{by} from {suffix}");
        }
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn json_names_the_value() {
    let dir = tree();
    let object = tools::json(&dents(dir.path(), "top -n 1 --json t"));
    assert_eq!(object["by"], "size");
    assert_eq!(object["entries"], json!([{"path": "t/hole", "size": 3 << 20}]));
    let object = tools::json(&dents(dir.path(), "top -n 1 --by newest --json t/x.c"));
    assert!(object["entries"][0]["mtime"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn what_is_no_file_of_rows() {
    let dir = tree();
    for (file, problem) in [("t/x.c", "t/x.c"), ("t/missing", "No such file or directory")] {
        for command in ["top", "stats"] {
            let outcome = run(&dents(dir.path(), &format!("{command} --from {file}")));
            assert_eq!(outcome.end, End::Exit(1));
            assert!(text(&outcome.stderr).contains(problem), "{}", text(&outcome.stderr));
            assert_eq!(text(&outcome.stdout), "");
        }
    }
    assert_eq!(run(&dents(dir.path(), "top --from x -L")).end, End::Exit(2));
}

/// A file with valid checksums and changed columns (made by crates/dents-sink/src/fuzzing.rs), on which the decoder panics.
#[test]
fn a_forged_file_is_told_in_one_line() {
    let dir = tree();
    let forged = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/forged.parquet");
    fs::copy(forged, dir.path().join("forged.parquet")).unwrap();
    let outcome = run(&dents(dir.path(), "top --from forged.parquet"));
    let expected = "dents: forged.parquet: cut off or damaged: Parquet error: a page has another number of values than it says; copy it again, or scan again\n";
    assert_eq!(text(&outcome.stderr), expected);
    assert_eq!(outcome.end, End::Exit(1));
}
