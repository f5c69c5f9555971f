//! `--visible-to`, with `find` run by that user as the oracle.

use crate::{as_nobody, assert_fine, dents, find, make, sorted};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, is_root, run, text};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

const USER: u32 = 54_321;
const MODES: [u32; 14] =
    [0o755, 0o750, 0o700, 0o770, 0o711, 0o744, 0o705, 0o057, 0o1777, 0o2750, 0, 0o555, 0o070, 0o077];

/// A pseudo-random number below a bound (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A tree of directories with any owner, group and mode.
fn tree(top: &Path, random: &mut Random) {
    let mut directories: Vec<PathBuf> = vec![top.to_path_buf()];
    for nth in 0..60 {
        let newest = &directories[directories.len().saturating_sub(12)..];
        let path = newest[random.below(newest.len())].join(format!("e{nth}"));
        match random.below(5) {
            0 => fs::write(&path, vec![b'x'; random.below(99)]).expect("ours"),
            1 => symlink("..", &path).expect("ours"),
            _ => {
                fs::create_dir(&path).expect("ours");
                directories.push(path);
            }
        }
    }
    for path in directories.iter().rev() {
        let owner = [0, USER, USER, 77][random.below(4)];
        let group = [0, 500, 501, USER][random.below(4)];
        chown(path, Some(owner), Some(group)).expect("root may");
        let mode = if random.below(2) == 0 { 0o755 } else { MODES[random.below(MODES.len())] };
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }
}

#[test]
fn what_find_finds_as_that_user() {
    if !is_root() {
        return println!("without root no other user can be tried: nothing is tested");
    }
    let place = TempDir::new("visible").expect("a directory");
    make(place.path(), "chmod 755 .");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut met = 0;
    for nth in 0..12 {
        let top = place.path().join(format!("t{nth}"));
        fs::create_dir(&top).expect("ours");
        tree(&top, &mut random);
        let groups = ["500", "501", "500,501", "54321"][random.below(4)];
        let first = groups.split(',').next().expect("one");
        // With the size, because a name alone can be read where nothing can be looked up.
        let theirs =
            find(place.path()).args([top.as_os_str(), OsStr::new("-printf"), OsStr::new("%p %s\\0")]);
        let theirs =
            run(&theirs.under(&["setpriv", "--reuid", "54321", "--regid", first, "--groups", groups]));
        let expected = sorted(&theirs.stdout, 0);
        met += expected.len();
        let user = format!("--visible-to={USER}:{groups}");
        let printf = "--printf=%p %s\\000";
        for threads in ["--threads=1", "--threads=4"] {
            let ours = run(&dents(place.path()).args([&user, printf, threads]).args([&top]));
            assert_fine(&ours);
            assert_eq!(sorted(&ours.stdout, 0), expected, "{user} {threads}");
        }
        for file in ["all.parquet", "all.ndjson", "all.sqlite"] {
            assert_fine(&run(&dents(place.path()).args(["-o", file]).args([&top])));
            let ours = run(&dents(place.path()).args([&user, printf, "--from", file]));
            assert_fine(&ours);
            assert_eq!(sorted(&ours.stdout, 0), expected, "{user} {file}");
        }
        // What is written for the user has no more.
        assert_fine(&run(&dents(place.path()).args([&user, "-o", "own.parquet"]).args([&top])));
        let own = run(&dents(place.path()).args([printf, "--from", "own.parquet"]));
        assert_eq!(sorted(&own.stdout, 0), expected, "{user}");
    }
    assert!(met > 100, "{met} entries were visible");
}

/// An ACL may take what the mode gives, and its contents are not known: a directory with one is open to its owner alone.
#[test]
fn an_acl_shuts_a_directory_to_all_but_its_owner() {
    let place = TempDir::new("acl").expect("a directory");
    make(place.path(), "mkdir -p t/d/e; touch t/d/f t/g");
    // Version 2: user::rwx user:77:--- group::r-x mask::r-x other::r-x.
    let entries: [(u16, u16, u32); 5] =
        [(1, 7, u32::MAX), (2, 0, 77), (4, 5, u32::MAX), (16, 5, u32::MAX), (32, 5, u32::MAX)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend(tag.to_le_bytes().into_iter().chain(permissions.to_le_bytes()).chain(id.to_le_bytes()));
    }
    let d = place.path().join("t/d");
    let set = rustix::fs::setxattr(&d, "system.posix_acl_access", &acl, rustix::fs::XattrFlags::empty());
    if let Err(error) = set {
        return println!("no ACLs here ({error}): nothing is tested");
    }
    let uid = rustix::process::geteuid().as_raw();
    assert_fine(&run(&dents(place.path()).args(["-o", "t.ndjson", "--columns=acl", "t"])));
    for source in [&["t"][..], &["--from", "t.ndjson"]] {
        let seen = |user: &str| {
            let ours = run(&dents(place.path()).args(["-0", "--visible-to", user]).args(source));
            assert_fine(&ours);
            sorted(&ours.stdout, 0).join(" ")
        };
        assert_eq!(seen("3999999999:1"), "t t/d t/g", "{source:?}");
        if uid != 0 {
            assert_eq!(seen(&format!("{uid}:1")), "t t/d t/d/e t/d/f t/g", "{source:?}");
        }
    }
}

#[test]
fn a_user_without_groups_here_is_refused_with_a_way_out() {
    let outcome = run(&dents(Path::new("/")).args(["--visible-to", "3999999999", "--max-depth=0", "/"]));
    assert_eq!(outcome.end, End::Exit(2));
    let said = text(&outcome.stderr);
    assert!(said.contains("name them, as in 3999999999:GROUP,GROUP"), "{said}");
    let outcome = run(&dents(Path::new("/")).args(["--visible-to", "root", "--max-depth=0", "/"]));
    assert_eq!((outcome.end, text(&outcome.stdout).as_str()), (End::Exit(0), "/\n"));
}

/// The row of an error has a path, too.
#[test]
fn errors_below_a_shut_directory_are_not_seen() {
    if !is_root() {
        return println!("without root no directory is shut to the owner of another: nothing is tested");
    }
    let (place, programs) =
        (TempDir::new("errors").expect("a directory"), TempDir::new("program").expect("one"));
    make(programs.path(), "chmod 755 .");
    make(
        place.path(),
        "chmod 777 .; mkdir -p t/own/closed; chown 54321 t/own; chmod 700 t/own; chmod 0 t/own/closed",
    );
    let scan = run(&as_nobody(dents(place.path()).args(["-o", "all.ndjson", "t"]), programs.path()));
    assert_eq!(scan.end, End::Exit(1), "{}", text(&scan.stderr));
    let all = fs::read_to_string(place.path().join("all.ndjson")).expect("a scan");
    assert!(all.contains("closed") && all.contains("EACCES"), "{all}");
    let seen = |user: &str| {
        let words = ["--visible-to", user, "-o", "own.ndjson", "--from", "all.ndjson"];
        run(&dents(place.path()).args(words));
        fs::read_to_string(place.path().join("own.ndjson")).expect("a scan")
    };
    assert!(seen("54321:1").contains("closed"));
    let other = seen("4321:4321");
    assert!(other.contains("own") && !other.contains("closed"), "{other}");
    make(place.path(), "chmod 755 t/own/closed");
}
