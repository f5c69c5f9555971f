//! `dents scan --columns`: columns that a scan has only on request.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::process::{End, Run};
use dents_lab::syscalls::trace;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tools::{dents, run, shell, stdout, text};

const ALL: [&str; 8] = ["project", "flags", "acl", "xattrs", "filesystem", "stripes", "pool", "hsm"];

/// Makes files with the attributes that this file system supports.
fn tree() -> TempDir {
    let dir = TempDir::new("columns").expect("a directory");
    shell(
        dir.path(),
        "mkdir -p t/sub; touch t/plain t/x t/y.tmp; ln -s x t/l; mkfifo t/p
         setfattr -n user.tag -v 1 t/x; setfattr -n user.b,c -v 1 t/x; setfattr -n user.tag -v 1 t/y.tmp",
    );
    dir
}

/// Rows by path: the fields of the last columns.
fn rows(cwd: &Path, words: &str) -> BTreeMap<String, Value> {
    let lines = text(&stdout(&dents(cwd, words)));
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rows.filter(|row| row.get("type").is_some())
        .map(|row| (row["path"].as_str().expect("a path").to_owned(), row))
        .collect()
}

fn field(rows: &BTreeMap<String, Value>, path: &str, name: &str) -> Value {
    rows[path].get(name).cloned().unwrap_or(json!("no field"))
}

#[test]
fn attributes_and_the_file_system() {
    let dir = tree();
    let rows = rows(dir.path(), "scan -o - --format ndjson --columns=xattrs,filesystem,acl t");
    assert_eq!(field(&rows, "t/x", "xattrs"), json!("user.b\\x2cc,user.tag"));
    assert_eq!(field(&rows, "t/plain", "xattrs"), json!(""));
    assert_eq!(field(&rows, "t/l", "xattrs"), json!(""), "of the link, not of the file that it leads to");
    assert_eq!(field(&rows, "t/x", "acl"), json!(""));
    let stat = shell(dir.path(), "findmnt -n -o FSTYPE -T t || stat -f -c %T t");
    assert_eq!(field(&rows, "t", "filesystem"), json!(stat.trim()));
    assert_eq!(field(&rows, "t", "project"), json!("no field"), "not requested");
}

#[test]
fn acls() {
    let dir = tree();
    let set = |words: &str| Command::new("setfacl").args(words.split(' ')).current_dir(dir.path()).status();
    let have = set("-m u:1:r t/x").is_ok_and(|one| one.success()) && set("-d -m u:1:r t/sub").is_ok();
    if !have {
        println!("skipped: this file system has no ACLs");
        return;
    }
    let rows = rows(dir.path(), "scan -o - --format ndjson --columns=acl t");
    let seen = ["t/x", "t/sub", "t/plain"].map(|path| field(&rows, path, "acl"));
    assert_eq!(seen, [json!("access"), json!("default"), json!("")]);
}

#[test]
fn every_format_keeps_them() {
    let dir = tree();
    let scan = |words: &str| assert_eq!(run(&dents(dir.path(), words)).end, End::Exit(0), "{words}");
    scan("scan -o first.ndjson --columns=all t");
    scan("scan --from first.ndjson -o second.parquet --timestamps ns");
    scan("scan --from second.parquet -o third.sqlite --index");
    scan("scan --from third.sqlite -o fourth.ndjson");
    let first = rows(dir.path(), "scan --from first.ndjson -o - --format ndjson");
    assert_eq!(first.len(), 7);
    assert!(ALL.iter().all(|name| first["t/x"].get(name).is_some()), "{first:?}");
    assert_eq!(first, rows(dir.path(), "scan --from fourth.ndjson -o - --format ndjson"));
    // With a single name, only that column is kept.
    let some = rows(dir.path(), "scan --from third.sqlite -o - --format ndjson --columns=xattrs");
    assert_eq!(field(&some, "t/x", "xattrs"), field(&first, "t/x", "xattrs"));
    assert_eq!(field(&some, "t/x", "filesystem"), json!("no field"));
    // The same for a subtree, which SQLite finds by its index and Parquet by its statistics.
    for file in ["third.sqlite", "second.parquet"] {
        let below = rows(dir.path(), &format!("scan --from {file} -o - --format ndjson t/x"));
        assert_eq!(below.len(), 1);
        assert_eq!(field(&below, "t/x", "xattrs"), field(&first, "t/x", "xattrs"), "{file}");
    }
}

#[test]
fn a_journal_keeps_them() {
    let dir = tree();
    let done = run(&dents(dir.path(), "scan --journal j -o j.ndjson --columns=xattrs t"));
    assert_eq!(done.end, End::Exit(0));
    let rows = rows(dir.path(), "scan --from j.ndjson -o - --format ndjson");
    assert_eq!(field(&rows, "t/y.tmp", "xattrs"), json!("user.tag"));
}

/// The number of calls by name; the name of an `ioctl` is its request.
fn calls(command: &Run, names: &[&str]) -> Vec<usize> {
    let trace = trace(command).unwrap_or_else(|error| panic!("{}: {error}", command.shell()));
    let count = |name: &str| {
        trace.calls().iter().filter(|call| call.name == *name || call.text.contains(name)).count()
    };
    names.iter().map(|name| count(name)).collect()
}

#[test]
fn only_what_passes_is_asked_and_nothing_without_the_option() {
    let dir = tree();
    let asked = |words: &str| {
        calls(&dents(dir.path(), words), &["listxattrat", "llistxattr", "file_getattr", "FSGETXATTR"])
    };
    assert_eq!(asked("scan --sync -o a.parquet t"), [0; 4]);
    let [list, by_path, project, ioctl] =
        asked("scan --sync -o a.parquet --columns=xattrs,acl,project --include *.tmp t")
            .try_into()
            .expect("four");
    // On a kernel without the newer call, that call is made once.
    assert_eq!(list.max(by_path), 1, "one list for two columns");
    assert!(project.max(ioctl) >= 1 && project <= 1 && ioctl <= 1, "{project} {ioctl}");
    assert_eq!(asked("scan --sync -o a.parquet --columns=flags,filesystem t"), [0; 4]);
}

#[test]
fn words_that_make_no_sense() {
    let dir = tree();
    for (words, problem) in [
        ("scan --columns=acl t", "--columns is for files of rows"),
        ("scan --columns=alc -o a.parquet t", "possible values: project, flags, acl"),
        ("stats --by project --from plain.parquet", "make it with --columns=project"),
    ] {
        run(&dents(dir.path(), "scan -o plain.parquet t"));
        let outcome = run(&dents(dir.path(), words));
        assert_eq!(outcome.end, End::Exit(2), "{words}");
        assert!(text(&outcome.stderr).contains(problem), "{}", text(&outcome.stderr));
    }
}

/// XFS keeps project ids without options; only root can mount it.
#[test]
fn projects() {
    let Some(xfs) = LoopFs::mount_or_skip(Real::Xfs) else { return };
    let dir = xfs.path();
    shell(
        dir,
        "mkdir t t/seven; head -c 5000 /dev/zero > t/seven/a; ln -s a t/seven/l; head -c 100 /dev/zero > t/b
         for path in t/seven t/seven/a; do xfs_io -r -c 'chproj 7' $path; done; chattr +id t/b",
    );
    let seen = rows(dir, "scan -o - --format ndjson --columns=project,flags,filesystem t");
    let projects = ["t", "t/seven", "t/seven/a", "t/b"].map(|path| field(&seen, path, "project"));
    let flags = field(&seen, "t/b", "flags");
    let filesystem = field(&seen, "t/seven/a", "filesystem");
    let by = |words: &str| {
        let table: Value = serde_json::from_slice(&stdout(&dents(dir, words))).expect("JSON");
        let rows = table["tables"][0]["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| (row["name"].clone(), row["entries"].clone())).collect::<Vec<_>>()
    };
    let live = by("stats --by project --json --apparent-size t");
    run(&dents(dir, "scan -o s.parquet --columns=project t"));
    let recorded = by("stats --by project --json --apparent-size --from s.parquet");
    shell(dir, "chattr -i t/b");
    assert_eq!(projects, [json!(0), json!(7), json!(7), json!(0)]);
    assert_eq!([flags, filesystem], [json!("id"), json!("xfs")]);
    assert_eq!(live[0], (json!("7"), live[0].1.clone()));
    assert_eq!(live, recorded);
}

/// The device numbers of btrfs are in no list of mounts. Only root can mount it.
#[test]
fn subvolumes_of_btrfs_are_btrfs() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let dir = btrfs.path();
    shell(dir, "mkdir t; btrfs -q subvolume create t/sub >/dev/null; mkdir t/sub/d; touch t/sub/d/f");
    let seen = rows(dir, "scan -o - --format ndjson --columns=filesystem t");
    let printed = text(&stdout(&dents(dir, "scan --printf %F:%p\\n t")));
    let mut printed: Vec<&str> = printed.lines().collect();
    printed.sort_unstable();
    for path in ["t", "t/sub", "t/sub/d", "t/sub/d/f"] {
        assert_eq!(field(&seen, path, "filesystem"), json!("btrfs"), "{path}");
    }
    assert_eq!(printed, ["btrfs:t", "btrfs:t/sub", "btrfs:t/sub/d", "btrfs:t/sub/d/f"]);
}
