//! Files with several names, roots that overlap, and sums beyond 64 bits.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use tools::{dents, json, run, stdout, text};

/// Files with two names each: all first names come before all second names.
fn two_names_each(root: &Path, files: usize) {
    let long = "n".repeat(200);
    for half in ["a", "b"] {
        fs::create_dir_all(root.join(half)).expect("a directory");
    }
    for nth in 0..files {
        let first = root.join(format!("a/{long}{nth}"));
        File::create(&first).expect("a file");
        fs::hard_link(&first, root.join(format!("b/{long}{nth}.{}", nth % 7))).expect("a link");
    }
}

/// Runs under a memory limit that is too small for 30,000 paths of 200 bytes.
#[test]
fn no_path_is_kept_for_a_file_with_several_names() {
    let dir = TempDir::in_memory("links").expect("a directory");
    two_names_each(dir.path(), 30_000);
    for command in ["stats --by extension,depth", "stats --by user", "du", "top"] {
        let words = format!("{command} --threads 1 --json .");
        let limited = ["/bin/sh", "-c", "ulimit -d 10240 && exec \"$0\" \"$@\""];
        let outcome = run(&dents(dir.path(), &words).under(&limited));
        assert_eq!(outcome.end, End::Exit(0), "{command}: {}", text(&outcome.stderr));
        let object: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
        match command {
            "stats --by extension,depth" => assert_eq!(object["tables"][0]["total"]["entries"], 30_000),
            // Directories count too.
            "stats --by user" => assert_eq!(object["tables"][0]["total"]["entries"], 30_003),
            _ => {}
        }
    }
}

/// In a scan file every name may occur again, so all files are remembered to the end. Then no list of them is made: the memory limit has room
/// for the table, 30 bytes for each file, and not for 39 more.
#[test]
fn files_with_several_names_in_a_scan_take_one_table() {
    const FILES: usize = 200_000;
    let dir = TempDir::in_memory("links").expect("a directory");
    let mut lines = String::new();
    for half in ["a", "b"] {
        for nth in 0..FILES {
            let ino = nth + 5;
            lines +=
                &format!(r#"{{"v":1,"path":"./{half}/{nth}","parent":"./{half}","name":"{nth}","depth":2,"#);
            lines += &format!(r#""type":"file","ino":{ino},"dev":1,"nlink":2,"mode":33188,"uid":0,"gid":0,"#);
            lines += r#""user":"root","group":"root","size":7,"allocated":512,"#;
            for time in ["atime", "btime", "ctime", "mtime"] {
                lines += &format!(r#""{time}":"2026-01-01T00:00:00.000000000Z","#);
            }
            lines += r#""target":null,"lazy":false,"asked":null,"errno":null,"error":null}"#;
            lines.push('\n');
        }
    }
    fs::write(dir.path().join("scan.ndjson"), lines).expect("a scan");
    let limited = ["/bin/sh", "-c", "ulimit -d 13312 && exec \"$0\" \"$@\""];
    for by in ["user,age", "extension,depth"] {
        let words = format!("stats --by {by} --partial --from scan.ndjson --threads 1 --json");
        let outcome = run(&dents(dir.path(), &words).under(&limited));
        assert_eq!(outcome.end, End::Exit(0), "{by}: {}", text(&outcome.stderr));
        let object: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
        assert_eq!(object["tables"][0]["total"]["entries"], FILES, "{by}");
    }
}

/// `a/b` has a file with one name, a file with two names in it, a file with another name in `a`, and a directory.
fn nested() -> TempDir {
    let dir = TempDir::new("links").expect("a directory");
    let root = dir.path();
    fs::create_dir_all(root.join("a/b/c")).expect("directories");
    for (name, size) in [("a/b/one", 5000), ("a/b/two", 6000), ("a/b/c/three", 7000), ("a/four", 8000)] {
        fs::write(root.join(name), vec![b'x'; size]).expect("a file");
    }
    fs::hard_link(root.join("a/b/two"), root.join("a/b/c/two again")).expect("a link");
    fs::hard_link(root.join("a/four"), root.join("a/b/four again")).expect("a link");
    symlink("a/b", root.join("link")).expect("a link");
    dents_lab::fixture::settle(root).expect("settled");
    dir
}

/// Operands that name `a`, and another entry in it or `a` again.
const OVERLAPS: [&str; 10] = [
    "a a",
    "a a/b",
    "a/b a",
    "a a/../a/b a/b/c",
    "a ./a/",
    "a a/b/one",
    "a/b/one a a/b/one",
    "a a/b/two a/b/c",
    "-H a link",
    "-H link a",
];

#[test]
fn roots_in_one_another_count_once_in_stats() {
    let dir = nested();
    for threads in [1, 3] {
        let ask = |paths: &str| {
            json(&dents(dir.path(), &format!("stats --by user --by age --threads {threads} --json {paths}")))
        };
        let alone = ask("a");
        assert_eq!(alone["tables"][0]["total"]["entries"], 7);
        assert_eq!(alone["tables"][0]["total"]["size"], 26_000);
        for paths in OVERLAPS {
            assert_eq!(ask(paths)["tables"], alone["tables"], "{paths}");
        }
        assert_eq!(ask("-L a link")["tables"], alone["tables"]);
    }
}

#[test]
fn roots_in_one_another_count_once_in_count() {
    let dir = nested();
    for threads in [1, 3] {
        let ask =
            |paths: &str| json(&dents(dir.path(), &format!("count --threads {threads} --json {paths}")));
        let alone = ask("a");
        // Names are counted, so a file with two names is two entries.
        assert_eq!(alone["entries"], 9);
        for paths in OVERLAPS {
            let object = ask(paths);
            assert_eq!(
                (&object["entries"], &object["types"]),
                (&alone["entries"], &alone["types"]),
                "{paths}"
            );
        }
        assert_eq!(ask("link link a")["types"]["links"], 1);
    }
}

#[test]
fn roots_in_one_another_count_once_in_du() {
    let dir = nested();
    let total = |paths: &str| json(&dents(dir.path(), &format!("du -s --json {paths}")))["total"].clone();
    for paths in OVERLAPS {
        assert_eq!(total(paths), total("a"), "{paths}");
    }
}

#[test]
fn roots_in_one_another_are_shown_once_by_top() {
    let dir = nested();
    for by in ["size", "entries"] {
        let ask = |paths: &str| {
            let object = json(&dents(dir.path(), &format!("top --by {by} --json {paths}")));
            let values = object["entries"].as_array().unwrap().iter().map(|one| one[by].as_u64().unwrap());
            values.collect::<Vec<_>>()
        };
        for paths in OVERLAPS {
            assert_eq!(ask(paths), ask("a"), "{by} of {paths}");
        }
    }
}

/// A walk finds files below two mount points of one directory more often than their link counts say.
#[test]
fn a_bind_mount_repeats_names() {
    let dir = nested();
    let script = "mount --bind a/b a/bound && exec \"$0\" stats --by user --json a";
    fs::create_dir(dir.path().join("a/bound")).expect("a directory");
    let program = env!("CARGO_BIN_EXE_dents");
    let run = Run::new(Path::new("unshare")).cwd(dir.path()).args(["-rm", "/bin/sh", "-c", script, program]);
    match run.output() {
        Ok(outcome) if outcome.end == End::Exit(0) => {
            let object: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
            // `one` and `three` are found twice and count twice, as with du(1); the files with two names count once.
            assert_eq!(object["tables"][0]["total"]["size"], 26_000 + 12_000);
        }
        _ => println!("skipped: no mount namespace"),
    }
}

const EIB: u128 = 1 << 60;

/// Three files of 7 EiB, all holes; `None` if the file system refuses them.
fn huge() -> Option<TempDir> {
    let dir = TempDir::in_memory("links").expect("a directory");
    for name in ["a", "b", "c"] {
        let file = File::create(dir.path().join(name)).expect("a file");
        file.set_len(7 << 60).ok()?;
    }
    Some(dir)
}

#[test]
fn sums_beyond_64_bits() {
    let Some(dir) = huge() else { return println!("skipped: no file of 7 EiB") };
    let shown = |words: &str| text(&stdout(&dents(dir.path(), words)));
    let sum = (21 * EIB).to_string();
    assert_eq!(shown("du -b -s ."), format!("{sum}\t.\n"));
    assert_eq!(shown("du -s --apparent-size -h ."), "21E\t.\n");
    assert!(
        shown("du -b -s --json .").contains(&format!("\"total\":{sum},")),
        "{}",
        shown("du -b -s --json .")
    );
    let stats = shown("stats --by user --json .");
    assert!(stats.contains(&format!("\"size\":{sum},")), "{stats}");
    assert!(shown("stats --by size .").contains(" 21E "), "{}", shown("stats --by size ."));
    assert_eq!(shown("top -n 1 ."), format!("{}\t./a\n", 7 * EIB));
}
