//! `dents io500-find` counts what IO500's `pfind` counts.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;
use tools::{dents, is_root, run, text};

/// The words that IO500 passes to an external script after the data directory.
const TESTS: &str = "-newer stamp -size 3901c -name *01*";

/// Names and sizes that match or nearly match, made before and after a stamp, which is made in the second between.
fn tree() -> io::Result<TempDir> {
    let dir = TempDir::new("io500")?;
    let names: [&[u8]; 12] = [
        b"01",
        b"file01",
        b"01file",
        b"a01b",
        b"a0b1",
        b"new\n01line",
        b"\xff01\xfe",
        b".01",
        b"001100",
        b"-01",
        b"o1",
        b"0 1",
    ];
    let fill = |below: &str| -> io::Result<()> {
        let below = dir.path().join(below);
        fs::create_dir_all(&below)?;
        for name in names {
            for size in [3900, 3901, 3902] {
                let mut whole = name.to_vec();
                whole.extend(format!(".{size}").bytes());
                fs::write(below.join(OsStr::from_bytes(&whole)), vec![b'x'; size])?;
            }
        }
        Ok(())
    };
    let second = |path: &Path| fs::symlink_metadata(path).map(|there| there.ctime());
    fill("data/before")?;
    // Only one file is made in the same second as the stamp, before it.
    let old = second(&dir.path().join("data/before"))?;
    let tick = || std::thread::sleep(Duration::from_millis(20));
    let stamp = dir.path().join("stamp");
    loop {
        fs::create_dir_all(dir.path().join("data/same"))?;
        fs::write(dir.path().join("data/same/01 in the same second"), [b'x'; 3901])?;
        tick();
        fs::write(&stamp, "")?;
        let same = second(&dir.path().join("data/same/01 in the same second"))?;
        if same > old && second(&stamp)? == same {
            break;
        }
        tick();
    }
    fill("data/after/01 a directory")?;
    fs::hard_link(dir.path().join("data/after/01 a directory/01.3901"), dir.path().join("data/link 01"))?;
    fs::set_permissions(dir.path().join("data/before/01.3901"), fs::Permissions::from_mode(0o600))?;
    symlink("after/01 a directory/01.3901", dir.path().join("data/01 link to a file"))?;
    symlink("after", dir.path().join("data/01 link to a directory"))?;
    // A link whose text has the wanted length counts, because the size of the link itself is tested.
    symlink("t".repeat(3901), dir.path().join("data/01 long link"))?;
    Ok(dir)
}

/// The expected counts by lstat: [matches, all].
fn brute_force(below: &Path, stamp: i64) -> [u64; 2] {
    let mut counts = [0; 2];
    for entry in fs::read_dir(below).expect("a directory") {
        let path = entry.expect("an entry").path();
        let there = fs::symlink_metadata(&path).expect("it is there");
        if there.is_dir() {
            let [matches, all] = brute_force(&path, stamp);
            counts = [counts[0] + matches, counts[1] + all];
            continue;
        }
        let name = path.file_name().expect("a name").as_bytes();
        let fits = name.windows(2).any(|two| two == b"01") && there.size() == 3901 && there.ctime() >= stamp;
        counts = [counts[0] + u64::from(fits), counts[1] + 1];
    }
    counts
}

fn shown(outcome: &Outcome) -> (End, String, String) {
    (outcome.end, text(&outcome.stdout), text(&outcome.stderr))
}

#[test]
fn matches_and_entries_as_pfind_counts_them() {
    let dir = tree().expect("a tree");
    let stamp = fs::metadata(dir.path().join("stamp")).expect("a stamp").ctime();
    let [matches, all] = brute_force(&dir.path().join("data"), stamp);
    assert!(matches > 10 && all > 70, "{matches}/{all}");
    let line = format!("MATCHED {matches}/{all}\n");
    symlink("data", dir.path().join("link")).expect("a link");
    symlink("stamp", dir.path().join("stamp of a link")).expect("a link");
    for words in ["data", "link", "--threads 1 data", "--threads 3 data"] {
        let outcome = run(&dents(dir.path(), &format!("io500-find {words} {TESTS}")));
        assert_eq!(shown(&outcome), (End::Exit(0), line.clone(), String::new()), "{words}");
    }
    // Tests are independent of each other.
    for (tests, fits) in [("", all), ("-name 01", brute_name(&dir.path().join("data")))] {
        let outcome = run(&dents(dir.path(), &format!("io500-find data {tests}")));
        assert_eq!(text(&outcome.stdout), format!("MATCHED {fits}/{all}\n"), "{tests}");
    }
}

/// The number of entries with `01` in their names that are not directories.
fn brute_name(below: &Path) -> u64 {
    let entries = fs::read_dir(below).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| match entry.file_type().expect("a type").is_dir() {
            true => brute_name(&entry.path()),
            false => u64::from(entry.file_name().as_bytes().windows(2).any(|two| two == b"01")),
        })
        .sum()
}

/// One `statx` for each name that matches. (A directory that workers share is identified by its descriptor, more often on a busy machine.)
#[test]
fn only_names_that_match_are_stated() {
    let dir = tree().expect("a tree");
    let words = format!("io500-find data {TESTS}");
    let Ok(trace) = dents_lab::syscalls::trace(&dents(dir.path(), &words)) else {
        return println!("skipped: no strace");
    };
    let names = brute_name(&dir.path().join("data")) as usize;
    let is_of_name = |text: &str| !text.starts_with("statx(AT_FDCWD, ") && !text.contains(", \"\", ");
    let calls = trace.calls().iter().filter(|call| call.name == "statx" && is_of_name(&call.text));
    let stats = calls.filter(|call| !call.text.contains("resumed>")).count();
    assert_eq!(stats, names, "{:#?}", trace.calls());
}

#[test]
fn what_cannot_be_read() {
    let dir = tree().expect("a tree");
    fs::set_permissions(dir.path().join("data/after"), fs::Permissions::from_mode(0o000))
        .expect("permissions");
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let command = dents(dir.path(), &format!("io500-find data {TESTS}"));
    let command = if is_root() { command.under(&nobody) } else { command };
    let outcome = run(&command);
    fs::set_permissions(dir.path().join("data/after"), fs::Permissions::from_mode(0o755))
        .expect("permissions");
    let (end, stdout, stderr) = shown(&outcome);
    assert_eq!(end, End::Exit(0), "{stderr}");
    assert!(
        stdout.starts_with("MATCHED ") && stdout.ends_with('\n') && !stdout.starts_with("MATCHED 0/"),
        "{stdout}"
    );
    assert!(stderr.contains("data/after"), "{stderr}");
}

#[test]
fn mistakes_are_named() {
    let dir = TempDir::new("io500").expect("a directory");
    for (words, part) in [
        ("missing -name x", "cannot access 'missing': No such file or directory"),
        (". -newer missing", "missing"),
        (". -size 1k", "write it as a number of bytes: 3901c"),
        (". -frob", "-f"),
        (". . -name x", "name one data directory"),
        ("-name x", "name one data directory"),
    ] {
        let outcome = run(&dents(dir.path(), &format!("io500-find {words}")));
        let (end, _, stderr) = shown(&outcome);
        assert!(matches!(end, End::Exit(1 | 2)) && stderr.contains(part), "{words}: {end:?} {stderr}");
    }
    let run_without: Run = dents(dir.path(), "io500-find");
    assert_eq!(run(&run_without).end, End::Exit(2));
}
