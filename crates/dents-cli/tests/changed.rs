//! `--changed-since`: by the generations of btrfs, beside a walk that tests the time of every entry. Most of it needs root, loop devices and
//! the programs that make btrfs.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::process::End;
use dents_lab::rng::Rng;
use dents_lab::syscalls::trace;
use dents_sink::read;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tools::{dents, other, run, shell, sorted, stdout, text};

/// What changed less than this before a scan counts as changed after it.
const QUIET: Duration = Duration::from_millis(60);

/// 40 directories of 25 files.
const TREE: &str =
    "mkdir -p d; for n in $(seq 40); do mkdir d/$n; (cd d/$n; touch $(seq 25)); done; sync -f .";

/// Scans `cwd` to a file beside it.
fn scan(cwd: &Path, file: &Path) {
    std::thread::sleep(QUIET);
    stdout(&dents(cwd, &format!("scan -o {} .", file.display())));
}

/// The paths that changed since a scan, and the messages.
fn since(cwd: &Path, file: &Path, words: &str) -> (BTreeSet<String>, String) {
    let outcome = run(&dents(cwd, &format!("scan --changed-since {} {words}", file.display())));
    assert_eq!(outcome.end, End::Exit(0), "{}", text(&outcome.stderr));
    let paths = text(&outcome.stdout).lines().map(str::to_owned).collect();
    (paths, text(&outcome.stderr))
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn what_changed_in_a_subvolume_is_found_without_a_walk() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let (root, files) = (btrfs.path(), TempDir::new("scans").expect("a directory"));
    shell(root, TREE);
    shell(root, "mkdir -p a/b/c; touch a/b/c/deep; ln d/1/1 linked; mkdir moves; touch moves/below");
    shell(root, "for n in $(seq 400); do ln d/1/2 d/2/a-long-name-for-many-links-$n; done; sync -f .");
    for format in ["parquet", "sqlite", "ndjson"] {
        let old = files.path().join(format!("old.{format}"));
        scan(root, &old);
        let (none, told) = since(root, &old, "--explain .");
        assert_eq!(none, set(&[]));
        assert!(told.contains("inodes changed, found by generation"), "{told}");
        assert!(
            told.contains(": 0 inodes changed") && told.contains("1 statx for 1 entry; 1 directory read"),
            "{told}"
        );
        shell(
            root,
            "echo x >> a/b/c/deep; chmod 600 d/1/1; touch d/7/new; rm d/8/3; mv d/9/4 d/10/moved; mkdir new; \
             touch -d '1 Jan 2000' d/11/5; mv moves movED; cat d/12/6; chmod 640 d/1/2",
        );
        let (found, _) = since(root, &old, ".");
        let links: Vec<String> =
            (1..=400).map(|nth| format!("./d/2/a-long-name-for-many-links-{nth}")).collect();
        let mut expected = set(&[
            ".",
            "./a/b/c/deep",
            "./d/1/1",
            "./linked",
            "./d/7",
            "./d/7/new",
            "./d/8",
            "./d/9",
            "./d/10",
            "./d/10/moved",
            "./new",
            "./d/11/5",
            "./movED",
            "./d/1/2",
        ]);
        expected.extend(links);
        assert_eq!(found, expected);
        let (below, _) = since(root, &old, "d/9 d/10 a/b");
        assert_eq!(below, set(&["d/9", "d/10", "d/10/moved", "a/b/c/deep"]));
        shell(root, "rm d/7/new; touch d/8/3; mv d/10/moved d/9/4; rmdir new; mv movED moves");
    }
}

/// The rows, sorted, without the record of the scan. To read a directory changes the time of its last access, which is left out.
fn rows(cwd: &Path, words: &str) -> Vec<String> {
    let rows = sorted(&stdout(&dents(cwd, &format!("scan -o - --format ndjson {words}"))), b'\n');
    let rows = rows.iter().map(|row| text(row)).filter(|row| !row.starts_with(r#"{"v":1,"scan""#));
    let without = |row: String| {
        let (before, after) = row.split_once(r#""atime":"#).expect("the field");
        format!("{before}{}", &after[after.find(',').expect("more fields")..])
    };
    rows.map(without).collect()
}

/// Changes that are made at random. `$1` to `$3` are numbers below 30.
const CHANGES: [&str; 13] = [
    "echo $1 >> d/$2/$3",
    "rm -f d/$1/$2",
    "mkdir -p d/$1/sub$2/sub$3",
    "mv d/$1/$2 d/$3/",
    "ln d/$1/$2 d/$3/link$1",
    "chown $1:$2 d/$3",
    "truncate -s $1 d/$2/$3",
    "ln -sfn $1 d/$2/symbolic$3",
    "mv -T d/$1 d/$2/moved; mkdir -p d/$1",
    "setfattr -n user.a -v $1 d/$2/$3",
    "rm -rf d/$1/sub$2",
    "dd if=/dev/zero of=d/$1/$2 bs=4k count=$3",
    "echo x > d/1/inner/$1",
];

#[test]
fn rows_are_those_of_a_walk_that_compares_times() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let (root, files) = (btrfs.path(), TempDir::new("scans").expect("a directory"));
    shell(root, TREE);
    shell(
        root,
        "btrfs -q subvolume create d/1/inner > /dev/null; btrfs -q subvolume create d/2/inner > /dev/null",
    );
    let (old, mut rng) = (files.path().join("old.parquet"), Rng::new(11));
    for round in 0..50 {
        scan(root, &old);
        let numbers: Vec<String> = (0..3 * 15).map(|_| (1 + rng.below(30)).to_string()).collect();
        let changes = numbers.chunks(3).map(|numbers| {
            let change = CHANGES[rng.below(CHANGES.len())];
            format!("set {}; {{ {change}; }} 2>/dev/null\n", numbers.join(" "))
        });
        shell(root, &format!("{}:", changes.collect::<String>()));
        if round % 3 == 0 {
            shell(root, "sync -f .");
        }
        let begun = read::open(&old).expect("a scan").span().begun.expect("its start");
        let nanoseconds = i128::from(begun.sec) * 1_000_000_000 + i128::from(begun.nsec) - 20_000_001;
        let newer = format!("@{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
        let walk = rows(root, &format!("-x --time ctime --newer {newer} ."));
        let found = rows(root, &format!("-x --changed-since {} .", old.display()));
        let differs = found.iter().zip(&walk).find(|(found, walk)| found != walk);
        assert!(found.len() == walk.len() && differs.is_none(), "round {round}: {differs:#?}");
        assert!(found.len() > 3, "{} rows", found.len());
    }
}

#[test]
fn its_cost_is_proportional_to_what_changed() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let (root, files) = (btrfs.path(), TempDir::new("scans").expect("a directory"));
    shell(root, TREE);
    let old = files.path().join("old.parquet");
    scan(root, &old);
    shell(root, "echo x >> d/3/4; touch d/5/new");
    let command = dents(root, &format!("scan --threads 1 --changed-since {} .", old.display()));
    let trace = trace(&command).expect("strace");
    let paths: BTreeSet<_> = text(&trace.outcome.stdout).lines().map(str::to_owned).collect();
    assert_eq!(paths, set(&["./d/3/4", "./d/5", "./d/5/new"]));
    // Of 1,042 entries and 42 directories: the root, d, d/3 and d/5.
    let of_btrfs =
        trace.calls().iter().filter(|call| call.text.contains("BTRFS") || call.text.contains("0x94"));
    assert!(of_btrfs.count() <= 15, "{:?}", trace.by_name());
    assert!(trace.count("getdents64") <= 8, "{:?}", trace.by_name());
    assert!(trace.count("statx") <= 20, "{:?}", trace.by_name());
}

#[test]
fn a_file_keeps_the_generation() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let (root, files) = (btrfs.path(), TempDir::new("scans").expect("a directory"));
    shell(root, TREE);
    let path = |name: &str| files.path().join(name);
    scan(root, &path("first.parquet"));
    let first = read::open(&path("first.parquet")).expect("a scan").subvolumes();
    assert_eq!(first.len(), 1, "{first:?}");
    let convert =
        |from: &str, to: &str| format!("scan --from {} -o {}", path(from).display(), path(to).display());
    stdout(&dents(root, &convert("first.parquet", "second.sqlite")));
    stdout(&dents(root, &convert("second.sqlite", "third.ndjson")));
    stdout(&dents(root, &convert("third.ndjson", "fourth.parquet")));
    let (journal, out) = (path("journal"), path("fifth.parquet"));
    stdout(&dents(root, &format!("scan --journal {} -o {} . d d/1", journal.display(), out.display())));
    let of = |name: &str| read::open(&path(name)).expect("a scan").subvolumes();
    for name in ["second.sqlite", "third.ndjson", "fourth.parquet"] {
        assert_eq!(of(name), first, "{name}");
    }
    // The kernel may have written another transaction meanwhile.
    let [journaled] = of("fifth.parquet")[..] else { panic!("{:?}", of("fifth.parquet")) };
    assert!(journaled.uuid == first[0].uuid && journaled.generation >= first[0].generation, "{journaled:?}");
}

#[test]
fn where_there_is_no_generation_there_is_a_statx_of_every_entry() {
    let dir = TempDir::new("changed").expect("a directory");
    let (root, old) = (dir.path().join("tree"), dir.path().join("old.ndjson"));
    fs::create_dir(&root).expect("a directory");
    shell(&root, TREE);
    scan(&root, &old);
    shell(&root, "echo x >> d/3/4; touch d/5/new");
    let expected = set(&["./d/3/4", "./d/5", "./d/5/new"]);
    assert_eq!(since(&root, &old, "."), (expected.clone(), String::new()));
    let (found, told) = since(&root, &old, "--explain .");
    assert_eq!(found, expected);
    assert!(told.contains("statx of every entry: "), "{told}");
    // The rows of a scan file pass the same test.
    let new = dir.path().join("new.parquet");
    scan(&root, &new);
    let (found, _) = since(&root, &old, &format!("--from {}", new.display()));
    assert_eq!(found, expected);
    fs::write(dir.path().join("no.ndjson"), b"{\"v\":1}\n").expect("a file");
    for (words, why) in [
        ("scan --changed-since no.ndjson tree", "does not have the time of its start"),
        ("scan --changed-since tree tree", "manifest.json"),
        ("scan --changed-since missing tree", "No such file"),
        ("diff --changed-since old.ndjson old.ndjson tree", "leave entries out of OLD"),
    ] {
        let outcome = run(&dents(dir.path(), words));
        assert_eq!(outcome.end, End::Exit(2), "{words}");
        assert!(text(&outcome.stderr).contains(why), "{}", text(&outcome.stderr));
    }
}

#[test]
fn other_subvolumes_and_other_users() {
    let Some(btrfs) = LoopFs::mount_or_skip(Real::Btrfs) else { return };
    let (root, files) = (btrfs.path(), TempDir::new("scans").expect("a directory"));
    shell(root, "btrfs -q subvolume create one > /dev/null; btrfs -q subvolume create two > /dev/null");
    shell(&root.join("one"), TREE);
    shell(&root.join("two"), TREE);
    let old = files.path().join("old.parquet");
    scan(&root.join("one"), &old);
    shell(root, "echo x >> one/d/3/4; touch two/d/5/new; btrfs -q subvolume snapshot one three > /dev/null");
    let found = |name: &str| since(&root.join(name), &old, ".");
    assert_eq!(found("one"), (set(&["./d/3/4"]), String::new()));
    let (paths, told) = found("two");
    assert!(paths.contains("./d/5/new") && told.contains("SCAN did not begin in this subvolume"), "{told}");
    // The identity of a snapshot is another.
    let (paths, told) = found("three");
    assert_eq!(paths, set(&["./d/3/4"]));
    assert!(told.contains("SCAN did not begin in this subvolume"), "{told}");
    // Both subvolumes of one scan.
    let both = files.path().join("both.sqlite");
    std::thread::sleep(QUIET);
    stdout(&dents(root, &format!("scan -o {} one two", both.display())));
    shell(root, "echo x >> one/d/6/4; rm two/d/7/1");
    assert_eq!(since(root, &both, "one two"), (set(&["one/d/6/4", "two/d/7"]), String::new()));
    // A subvolume inside another is left out.
    let whole = files.path().join("whole.parquet");
    scan(root, &whole);
    shell(root, "touch top one/inside");
    let (paths, told) = since(root, &whole, ".");
    assert_eq!(paths, set(&[".", "./one", "./top"]));
    assert!(told.contains("subvolumes below it are left out"), "{told}");
    assert_eq!(since(root, &whole, "-x ."), (set(&[".", "./one", "./top"]), String::new()));
    // Another user walks.
    shell(root, "mkdir -m 755 bin");
    dents_lab::fixture::copy_program(Path::new(env!("CARGO_BIN_EXE_dents")), &root.join("bin/dents"));
    fs::copy(&old, root.join("old.parquet")).expect("a copy");
    let words =
        "--reuid=54321 --regid=54321 --clear-groups -- ../bin/dents scan --changed-since ../old.parquet .";
    let outcome = run(&other("setpriv", &root.join("one"), words));
    if outcome.end != End::Exit(0) {
        return println!("skipped: {}", text(&outcome.stderr));
    }
    assert!(text(&outcome.stdout).contains("./d/3/4\n"));
    assert!(text(&outcome.stderr).contains("the user is not root"), "{}", text(&outcome.stderr));
}
