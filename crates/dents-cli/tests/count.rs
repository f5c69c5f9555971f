//! `dents count` beside `find`.

mod tools;

use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::process::End;
use dents_lab::syscalls;
use dents_lab::zoo::Zoo;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tools::{complaints, dents, other, run, shell, text, tree};

/// The names of types, by the letters of `find`.
const LETTERS: [(&str, &str); 7] = [
    ("d", "directories"),
    ("f", "files"),
    ("l", "links"),
    ("s", "sockets"),
    ("p", "fifos"),
    ("b", "block_devices"),
    ("c", "character_devices"),
];

fn assert_as_find(cwd: &Path, paths: &str) -> Value {
    let object = tools::json(&dents(cwd, &format!("count --json {paths}")));
    let found = shell(cwd, &format!("find {paths} -printf '%y\\n'"));
    let mut all = 0;
    for (letter, name) in LETTERS {
        let count = found.lines().filter(|line| *line == letter).count();
        assert_eq!(object["types"][name], count, "{name} in {paths}");
        all += count;
    }
    assert_eq!(object["entries"], all, "{paths}");
    object
}

#[test]
fn every_type_as_find_has_it() {
    let zoo = Zoo::new().expect("a zoo");
    assert_as_find(zoo.path(), ".");
    assert_as_find(Path::new("/"), "/dev /etc /usr/lib");
    let dir = tree();
    assert_as_find(dir.path(), "t/a t/x.c t/b");
}

#[test]
fn nothing_is_asked_where_readdir_tells() {
    let dir = tree();
    for threads in [1, 4] {
        let trace = syscalls::trace(&dents(dir.path(), &format!("count --threads {threads} t"))).unwrap();
        assert_eq!(trace.outcome.end, End::Exit(0));
        let directories =
            shell(dir.path(), "find t -type d -printf . | wc -c").trim().parse::<usize>().unwrap();
        assert_eq!(trace.count("statx"), 1, "of the operand");
        assert_eq!(trace.count("getdents64"), directories, "one each: the end is told by the position");
        let of_tree = |text: &str| {
            ["newfstatat", "lstat", "fstat", "readlink", "getxattr"].iter().any(|name| text.starts_with(name))
        };
        let first = trace.calls().iter().position(|call| call.name == "getdents64").unwrap();
        let asked: Vec<_> = trace.calls()[first..].iter().filter(|call| of_tree(&call.name)).collect();
        assert!(asked.is_empty(), "{:?}", asked.iter().map(|call| &call.text).collect::<Vec<_>>());
    }
}

#[test]
fn types_are_asked_for_where_readdir_is_silent() {
    let Some(silent) = LoopFs::mount_or_skip(Real::Ext4NoFiletype) else { return };
    shell(silent.path(), "mkdir -p a/b; touch a/1 a/2 a/b/3; ln -s x a/l; mkfifo p");
    let object = assert_as_find(silent.path(), ".");
    assert!(object["stats"].as_u64() > Some(1));
}

#[test]
fn for_people() {
    let dir = tree();
    let drawn = text(&tools::stdout(&dents(dir.path(), "count t/b")));
    assert_eq!(drawn, "1  directory\n3  files\n0  links\n4  entries\n");
}

#[test]
fn what_is_missing_is_told_and_the_others_counted() {
    let dir = tree();
    let (ours, du) =
        (dents(dir.path(), "count --json t/b t/missing"), other("/usr/bin/du", dir.path(), "-s t/missing"));
    let (ours, du) = (run(&ours), run(&du));
    assert_eq!(complaints(&ours), complaints(&du));
    assert_eq!(ours.end, End::Exit(1));
    let object: Value = serde_json::from_slice(&ours.stdout).unwrap();
    assert_eq!(
        (&object["entries"], &object["errors"], &object["complete"]),
        (&json!(4), &json!(1), &json!(true))
    );
    fs::remove_dir_all(dir.path().join("t")).unwrap();
}
