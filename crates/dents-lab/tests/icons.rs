//! Icons and natural order, as a process: their cost, equal output in every mode, the environment's changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use dents_lab::fixture::{TempDir, plain};
use dents_lab::process::{End, Outcome, Run};
use dents_lab::suite::{checked, release};
use dents_lab::syscalls::trace;
use dents_lab::terminal;

fn dls(dir: &Path, args: &[&str]) -> Run {
    Run::new(release().path()).cwd(dir).env("LC_ALL", "C.UTF-8").args(args)
}

fn text(outcome: &Outcome) -> String {
    String::from_utf8(outcome.stdout.clone()).expect("UTF-8")
}

fn said(dir: &Path, args: &[&str]) -> String {
    text(&dls(dir, args).output().expect("dls starts"))
}

/// One of each that needs no privilege to make.
fn mixed() -> TempDir {
    let dir = TempDir::new("icons").expect("fixture");
    let at = |name: &str| dir.path().join(name);
    for name in ["main.rs", "notes", "run", "IMG10.JPG", "img9.jpg", "with space.md"] {
        fs::write(at(name), "").expect("file");
    }
    fs::set_permissions(at("run"), fs::Permissions::from_mode(0o755)).expect("mode");
    fs::create_dir(at("sub")).expect("directory");
    fs::create_dir(at("node_modules")).expect("directory");
    symlink("sub", at("to-sub")).expect("link");
    symlink("nowhere", at("to-nothing")).expect("link");
    dir
}

/// The calls of a run by name, but for those that memory and the length of the output decide.
fn calls(run: &Run) -> BTreeMap<String, usize> {
    let trace = trace(run).unwrap_or_else(|error| panic!("strace is needed to count system calls: {error}"));
    assert_eq!(trace.outcome.end, End::Exit(0), "{}", String::from_utf8_lossy(&trace.outcome.stderr));
    let counted = |name: &str| !matches!(name, "write" | "mmap" | "munmap" | "mremap" | "brk");
    trace.by_name().into_iter().filter(|(name, _)| counted(name)).map(|(name, n)| (name.into(), n)).collect()
}

#[test]
fn they_cost_no_system_call() {
    let dir = plain(&std::env::temp_dir(), 3000).expect("fixture");
    for options in [&["-1"][..], &["-C"], &["-x", "-v"], &["-m"], &["-p"], &["-a", "--sort=natural"]] {
        let plain = calls(&dls(dir.path(), &[&["--mode=classic"], options].concat()));
        let icons = calls(&dls(dir.path(), &[&["--mode=classic", "--icons"], options].concat()));
        assert_eq!(icons, plain, "{options:?}");
        assert!(!icons.contains_key("statx"), "{icons:?}");
    }
    let long = calls(&dls(dir.path(), &["-l", "--mode=classic"]));
    assert_eq!(calls(&dls(dir.path(), &["-l", "--mode=classic", "--icons"])), long);
}

#[test]
fn all_modes_draw_the_same() {
    let small = mixed();
    let large = plain(&std::env::temp_dir(), 20_000).expect("fixture");
    for dir in [&small, &large] {
        for options in
            [&["-1"][..], &["-C"], &["-l"], &["-l", "--color=always"], &["-F"], &["-R", "--sort=natural"]]
        {
            let said = |mode: &str| said(dir.path(), &[&["--icons", mode], options].concat());
            let expected = said("--mode=classic");
            for mode in ["--mode=par", "--mode=iou", "--mode=auto", "--timeout=60"] {
                assert!(said(mode) == expected, "{mode} {options:?}");
            }
        }
    }
}

/// The build that panics if an undeclared fact is read.
#[test]
fn nothing_undeclared_is_read() {
    let dir = mixed();
    for options in [
        &["-1"][..],
        &["-C", "-F"],
        &["-lF"],
        &["-lL", "--file-type"],
        &["-l", "--color=always", "-F"],
        &["--group-directories-first", "-l"],
        &["--group-directories-first", "--color=always"],
        &["-1", "to-sub", "to-nothing", "run", "sub"],
        &["-R", "--sort=natural"],
    ] {
        for colors in ["or=1:ex=1", "or=0:ex=0:su=0:sg=0:st=0:ow=0:tw=0"] {
            let run = Run {
                program: checked().path().into(),
                ..dls(dir.path(), &[&["--icons"], options].concat())
            };
            let outcome = run.env("LS_COLORS", colors).output().expect("dls starts");
            assert!(
                !String::from_utf8_lossy(&outcome.stderr).contains("internal error"),
                "{options:?}: {outcome:?}"
            );
            assert!(matches!(outcome.end, End::Exit(0 | 1)), "{options:?}: {outcome:?}");
        }
    }
}

/// Executables and link targets have icons of their own where their type is known; icons alone request nothing.
#[test]
fn what_is_known_anyway_is_drawn() {
    let dir = mixed();
    let icon = |options: &[&str], name: &str| {
        let lines = said(dir.path(), &[&["--icons", "-1"], options].concat());
        let line = lines.lines().find(|line| line.contains(name)).expect(name).to_string();
        line[..line.find(name).expect(name)].trim_end().chars().last().expect("an icon")
    };
    assert_eq!(icon(&[], "run"), icon(&[], "notes"));
    assert_ne!(icon(&["-l"], "run"), icon(&["-l"], "notes"));
    assert_eq!(icon(&[], "to-sub"), icon(&[], "to-nothing"));
    let grouped = &["--group-directories-first", "--color=always"];
    let colored = said(dir.path(), &[&["--icons", "-1"][..], grouped].concat());
    let icon_of = |name: &str| {
        let line = colored.lines().find(|line| line.contains(name)).expect(name);
        line.split('m').find_map(|part| part.chars().next().filter(|char| !char.is_ascii())).expect(name)
    };
    assert_ne!(icon_of("to-sub"), icon_of("to-nothing"));
    assert_ne!(icon(&[], "sub"), icon(&[], "node_modules"));
    assert_eq!(icon(&[], "IMG10.JPG"), icon(&[], "img9.jpg"));
}

#[test]
fn when() {
    let dir = mixed();
    let run = |args: &[&str]| dls(dir.path(), args);
    let bare = said(dir.path(), &["-1"]);
    for none in [&["--icons=never"][..], &["--icons=auto"], &["--icons", "--icons=no"]] {
        assert_eq!(said(dir.path(), &[&["-1"], none].concat()), bare, "{none:?}");
    }
    assert!(said(dir.path(), &["--icons", "--zero"]).is_ascii(), "programs read that");
    let dired = said(dir.path(), &["-lD", "--icons", "main.rs"]);
    assert!(dired.is_ascii(), "{dired}");
    let shown = |run: &Run| text(&terminal::output(run, 80, false).expect("a terminal"));
    assert!(!shown(&run(&["--icons=auto"])).is_ascii());
    assert!(shown(&run(&["--icons=auto"]).env("LC_ALL", "C")).is_ascii(), "no UTF-8 there");
    assert!(!shown(&run(&["--icons"]).env("LC_ALL", "C")).is_ascii(), "they were asked for");
}

#[test]
fn the_environment_has_a_say() {
    let dir = mixed();
    let run = dls(dir.path(), &["-d", "--icons", "main.rs", "sub"]).env("DLS_ICONS", "*.RS=R:sub/=S");
    assert_eq!(text(&run.output().expect("dls starts")), "R main.rs\nS sub\n");
    let bad = run.env("DLS_ICONS", "*.rs=R:di=\u{1b}[31m:sub/=S").output().expect("dls starts");
    assert_eq!((text(&bad).as_str(), bad.end), ("R main.rs\nS sub\n", End::Exit(0)));
    let stderr = String::from_utf8_lossy(&bad.stderr);
    assert!(
        stderr.contains("ignoring ‘di=\\033[31m’ in environment variable DLS_ICONS: a glyph is"),
        "{stderr}"
    );
}

/// `-v` goes by bytes but for digits; natural order does not set capitals apart.
#[test]
fn natural_order() {
    let dir = TempDir::new("natural").expect("fixture");
    let names = ["2x", "10x", "file 1", "file.txt", "file01", "file1", "file2", "File3", "file10", "Zoo"];
    for name in names {
        fs::write(dir.path().join(name), "").expect("file");
    }
    let said = |args: &[&str]| said(dir.path(), args).lines().map(String::from).collect::<Vec<_>>();
    assert_eq!(said(&["--sort=natural"]), names);
    let mut reversed = names;
    reversed.reverse();
    assert_eq!(said(&["--sort=natural", "-r"]), reversed);
    assert_ne!(said(&["-v"]), names);
}
