//! The harness itself: zoos have the entries that they describe, and a wrong program is found and its case reduced.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dents_lab::case::Case;
use dents_lab::fixture::{TempDir, deep, mix, plain};
use dents_lab::oracle::{Subject, Verdict, check};
use dents_lab::process::{End, Run};
use dents_lab::shrink::shrink;
use dents_lab::suite::{is_root, oracle};
use dents_lab::syscalls::{trace, trace_with};
use dents_lab::zoo::Zoo;

#[test]
fn a_zoo_has_one_of_everything_and_leaves_nothing() {
    let zoo = Zoo::new().expect("a zoo");
    let stat = |name: &str| fs::symlink_metadata(zoo.path().join(name)).expect(name);
    assert!(stat("socket").file_type().is_socket() && stat("fifo").file_type().is_fifo());
    assert!(stat("link-loop").is_symlink() && fs::metadata(zoo.path().join("link-loop")).is_err());
    assert_eq!(stat("mode7777").permissions().mode() & 0o7777, 0o7777);
    assert_eq!((stat("hard-1").nlink(), stat("hard-1").ino()), (3, stat("hard-3").ino()));
    assert_eq!(stat("time-1969").mtime(), -1);
    assert_eq!(fs::read_dir(zoo.path().join("bytes")).expect("bytes/").count(), 253);
    assert_eq!(stat("link-4095").len(), 4095);
    if is_root() {
        assert_eq!(stat("char-large").rdev(), rustix::fs::makedev(4095, 1_048_575));
        assert_eq!(stat("owner-nameless").uid(), 12_345);
    }
    println!("skipped: {:?}", zoo.skipped());
    let gone = zoo.path().to_path_buf();
    drop(zoo);
    assert!(!gone.exists() && !gone.parent().expect("a parent").exists());
}

#[test]
fn fixtures_have_the_size_that_was_asked_for() {
    let temp = std::env::temp_dir();
    let count = |dir: &TempDir| fs::read_dir(dir.path()).expect("readable").count();
    assert_eq!(count(&plain(&temp, 100).expect("plain")), 100);
    assert_eq!(count(&mix(&temp, 100).expect("mix")), 100);
    let tree = deep(&temp, 3).expect("deep");
    assert!(tree.path().join("level0/level1/level2").is_dir());
}

/// A subject made of the oracle: a script that drops `--mode=…` and then runs `body`.
fn script(dir: &TempDir, body: &str) -> PathBuf {
    let path = dir.path().join("dls");
    // Called by name, so that its messages begin with the name alone.
    let oracle = oracle();
    let (home, name) =
        (oracle.path().parent().expect("absolute"), oracle.path().file_name().expect("a name"));
    let body = body.replace("LS", &name.to_string_lossy());
    fs::write(&path, format!("#!/bin/sh\nPATH={}:$PATH\nshift\n{body}\n", home.display())).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    path
}

fn verdict(body: &str, case: &Case) -> Verdict {
    let dir = TempDir::new("script").expect("a directory");
    check(&oracle(), &Subject::at(&script(&dir, body)), case)
}

#[test]
fn an_equal_program_passes_and_each_kind_of_difference_is_caught() {
    let dir = plain(&std::env::temp_dir(), 5).expect("fixture");
    let case = Case::new(dir.path()).options("-l").operands(["f0000001", "missing"]);
    assert_eq!(verdict("exec LS \"$@\"", &case), Verdict::Same);
    let wrong = [
        ("LS \"$@\" | sed s/f0/g0/; exit 2", "stdout"),
        ("LS \"$@\" 2>/dev/null", "stderr"),
        ("LS \"$@\"; exit 1", "ended Exit(1)"),
        ("LS \"$@\"; kill -9 $$", "ended Signal(9)"),
    ];
    for (body, what) in wrong {
        match verdict(body, &case) {
            Verdict::Different(report) => assert!(report.contains(what), "{report}"),
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[test]
fn a_wrong_program_is_cut_down_to_its_fault() {
    let place = plain(&std::env::temp_dir(), 5).expect("fixture");
    let dir = TempDir::new("script").expect("a directory");
    // Wrong whenever both -r and -s are given, in any spelling.
    let body = "case \"$*\" in *r*s*|*s*r*) LS \"$@\" | sed s/f/F/;; *) exec LS \"$@\";; esac";
    let subject = Subject::at(&script(&dir, body));
    let case =
        Case::new(place.path()).options("-lart -s --si -m -C").env("LC_ALL", "C.UTF-8").env("TZ", "UTC0");
    let fails = |case: &Case| matches!(check(&oracle(), &subject, case), Verdict::Different(_));
    assert!(fails(&case));
    let least = shrink(&case, fails);
    assert_eq!(least.options.len(), 2, "{:?}", least.options);
    assert!(least.env.is_empty() && fails(&least));
}

#[test]
fn system_calls_are_counted_and_can_be_refused() {
    let run = Run::new(Path::new("/bin/true"));
    let calls = trace(&run).expect("strace");
    assert_eq!((calls.count("execve"), calls.count("exit_group")), (1, 1));
    assert_eq!(calls.total(), calls.by_name().values().sum::<usize>());
    let listing = Run::new(oracle().path()).args(["/"]);
    let refused = trace_with(&listing, &["getdents64:error=EIO"]).expect("strace");
    assert_eq!(refused.outcome.end, End::Exit(2));
}

/// `ls -a` shows `..` with its link count: a test that makes a directory must not change what another test sees.
#[test]
fn a_fixture_stands_alone() {
    let dir = TempDir::new("alone").expect("a directory");
    let above = || fs::metadata(dir.path().join("..")).expect("the directory above");
    let before = above();
    let _beside = TempDir::new("beside").expect("a directory");
    assert_eq!((before.nlink(), before.mtime()), (above().nlink(), above().mtime()));
}
