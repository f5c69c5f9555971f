//! `dls-libc`, the build of `dls` that calls libc: the same bytes, and libraries that are loaded before libc see its calls.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dents_lab::case::Case;
use dents_lab::fixture::{TempDir, copy_program};
use dents_lab::process::Run;
use dents_lab::suite::{Places, expect_same, is_root, libc, oracle, release};

/// Command lines with options that GNU `ls` has.
const GNU: &[&str] = &[
    "",
    "-l",
    "-la",
    "-lR",
    "-R",
    "-lS",
    "-ltr",
    "-lui",
    "-lZ",
    "-s",
    "-F --color=always",
    "-lL",
    "-1U",
    "-C",
    "-m",
    "--full-time",
    "-lh --group-directories-first",
    "-ld",
    "-n",
    "-lX",
];
/// Command lines with options of ours.
const OWN: &[&str] = &[
    "--tree",
    "--json -l",
    "--csv -l --xattr",
    "-lh --icons=always --header --color=always",
    "-l --columns=octal,inode,size,created,name",
    "-l --tree=2 --total-size",
    "-l --mounts --xattr",
    "-A --count",
    "-S --top=3",
    "--summary -R",
    "-l --mode=iou",
    "-l --mode=par --threads=2",
    "-l --timeout=20s",
];

#[test]
fn the_bytes_of_ls() {
    let places = Places::new();
    let mut cases = Vec::new();
    for place in places.all.iter().filter(|place| !place.live) {
        cases.extend(GNU.iter().map(|options| Case::new(&place.cwd).options(options)));
    }
    expect_same(&oracle(), &libc(), &cases);
}

#[test]
fn the_bytes_of_dls() {
    let places = Places::new();
    for options in OWN {
        let output = |program: &Path| {
            let run = Run::new(program).args(options.split(' ')).cwd(places.zoo.path());
            let mut outcome = Run { argv0: "dls".into(), ..run }.output().expect("it runs");
            if options.contains("iou") {
                // Through libc there is no ring, and a message says so.
                outcome.stderr.clear();
            }
            outcome
        };
        assert_eq!(output(libc().path()), output(release().path()), "{options}");
    }
}

/// What a shell prints that executes `script` in `dir` as an ordinary user that owns `dir`. `None` where `tool` is missing.
fn as_user(tool: &str, dir: &Path, script: &str) -> Option<String> {
    let found = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        println!("without {tool}: nothing is tested under it");
        return None;
    }
    let mut shell = if is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
        setpriv
    } else {
        Command::new("sh")
    };
    let output = shell.args(["-euc", script]).current_dir(dir).env("TZ", "UTC0").env("LC_ALL", "C").output();
    let output = output.expect("a shell runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("names are ASCII"))
}

/// A directory of that user, with copies of `dls` and `dls-libc` that they may execute.
fn home() -> (TempDir, PathBuf) {
    let home = TempDir::new("preload").expect("a directory");
    for (name, subject) in [("dls", release()), ("dls-libc", libc())] {
        copy_program(subject.path(), &home.path().join(name));
    }
    let dir = home.path().join("files");
    fs::create_dir_all(dir.join("sub")).expect("a directory");
    fs::write(dir.join("file"), "text").expect("a file");
    fs::write(dir.join("program"), "").expect("a file");
    symlink("file", dir.join("link")).expect("a link");
    for path in [home.path(), &dir] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    if is_root() {
        for path in [dir.clone(), dir.join("sub"), dir.join("file"), dir.join("program")] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).expect("root may");
        }
    }
    (home, dir)
}

/// The lines of `ls`, `dls-libc` and `dls`, which a script separates by lines `--`.
fn three(text: &str) -> [Vec<&str>; 3] {
    let mut parts = text.split("--\n").map(|part| part.lines().collect());
    std::array::from_fn(|_| parts.next().expect("three parts"))
}

#[test]
fn owners_and_modes_that_fakeroot_remembers() {
    let (_home, dir) = home();
    let script =
        "fakeroot sh -euc 'chown 1234:77 file sub; chmod 4755 program; chown -h 5:6 link; mknod null c 1 3
        for options in -lan -la \"-lanR --mode=par\" \"-ldn sub file\"; do
            ls ${options%--mode*}; echo --; ../dls-libc $options; echo --; ../dls $options; echo --; echo ==
        done'";
    let Some(text) = as_user("fakeroot", &dir, script) else { return };
    for part in text.split("==\n").filter(|part| !part.is_empty()) {
        let [expected, through_libc, without] = three(part);
        let is_faked = |line: &&str| line.contains(" 1234 ") || line.contains(" 1234   ");
        assert!(expected.iter().any(is_faked), "fakeroot does not work: {expected:?}");
        assert_eq!(through_libc, expected);
        assert_ne!(without, expected, "dls makes its system calls itself");
    }
}

#[test]
fn the_time_that_faketime_sets() {
    let (_home, dir) = home();
    // At that time, the file is a month old: `ls` shows the time of day, and no year.
    let script = "touch -d '2019-12-01 10:20' file
        faketime -f '@2020-01-01 00:00:00' sh -euc 'ls -l file; echo --; ../dls-libc -l file; echo --; ../dls -l file'";
    let Some(text) = as_user("faketime", &dir, script) else { return };
    let [expected, through_libc, without] = three(&text);
    assert!(expected[0].ends_with("Dec  1 10:20 file"), "faketime does not work: {expected:?}");
    assert_eq!(through_libc, expected);
    assert_ne!(without, expected, "dls makes its system calls itself");
}
