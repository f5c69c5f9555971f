//! The view, which GNU does not have: expected listings, the same in all modes, and the calls they cost.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use dents_lab::case::MODES;
use dents_lab::fixture::{TempDir, plain};
use dents_lab::process::{End, Outcome, Run, text};
use dents_lab::suite::{checked, is_root, oracle, release};
use dents_lab::syscalls::trace;
use dents_lab::zoo::Zoo;

const DAY: Duration = Duration::from_secs(86_400);

fn dls(cwd: &Path, args: &[&str]) -> Run {
    Run::new(checked().path()).cwd(cwd).args(args).env("LC_ALL", "C.UTF-8").env("TZ", "UTC0")
}

/// Its output, in each mode and with a deadline that does not strike.
fn shown(cwd: &Path, args: &[&str]) -> String {
    shown_by(&dls(cwd, args), End::Exit(0))
}

fn shown_by(run: &Run, end: End) -> String {
    let outcomes = MODES.iter().map(|mode| format!("--mode={mode}")).chain(["--timeout=20s".to_string()]);
    let mut outcomes = outcomes.map(|option| {
        let outcome = run.clone().args([&option]).output().expect("it runs");
        assert_eq!(outcome.end, end, "{} {}", run.shell(), text(&outcome.stderr));
        (option, outcome.stdout)
    });
    let (_, first) = outcomes.next().expect("there are modes");
    for (option, other) in outcomes {
        let (one, two) = (text(&first), text(&other));
        let both = one.lines().zip(two.lines()).find(|(one, two)| one != two);
        assert!(other == first, "{option} differs: {}\n{both:#?}", run.shell());
    }
    text(&first)
}

fn touch(path: &Path, time: SystemTime) {
    let times = FileTimes::new().set_modified(time).set_accessed(time + DAY);
    File::options().write(true).open(path).expect("ours").set_times(times).expect("ours");
}

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(second)
}

/// Files of known size, mode and time.
fn still() -> TempDir {
    let dir = TempDir::new("view").expect("a directory");
    for (name, size, mode) in [("notes.txt", 5, 0o644), ("日本語.md", 1234, 0o600), ("run", 70_000, 0o4755)]
    {
        let path = dir.path().join(name);
        File::create(&path).expect("a file").set_len(size).expect("ours");
        if is_root() {
            std::os::unix::fs::chown(&path, Some(4_000_001), Some(4_000_002)).expect("root may");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
        touch(&path, at(1_700_000_000));
    }
    dir
}

#[test]
fn columns_in_any_order() {
    let dir = still();
    let seen =
        shown(dir.path(), &["--columns=octal,size,modified,name", "--time-style=long-iso", "--header"]);
    let expected = "\
        Octal  Size Modified         Name\n \
         0644     5 2023-11-14 22:13 notes.txt\n \
         4755 70000 2023-11-14 22:13 run\n \
         0600  1234 2023-11-14 22:13 日本語.md\n";
    assert_eq!(seen, expected);
    let seen = shown(dir.path(), &["--columns=name,size", "-h", "-S"]);
    assert_eq!(seen, "run        69K\n日本語.md 1.3K\nnotes.txt    5\n");
    let times = ["--columns=accessed,modified,name", "--time-style=+%B %-d", "-r"];
    let seen = shown(dir.path(), &times);
    assert!(seen.starts_with("November 15 November 14 日本語.md\n"), "{seen}");
    if is_root() {
        let seen = shown(dir.path(), &["--columns=mode,user,group,uid,links,name", "--header"]);
        assert!(seen.starts_with("Mode       User    Group       UID Links Name\n"), "{seen}");
        assert!(seen.ends_with("\n-rw------- 4000001 4000002 4000001     1 日本語.md\n"), "{seen}");
    }
}

/// With the columns of `-l`, the view prints what GNU prints, except the totals: an oracle for widths, marks, devices,
/// `?`.
#[test]
fn the_columns_of_the_long_format_are_those_of_gnu() {
    let zoo = Zoo::new().expect("a zoo");
    for options in [
        "-l",
        "-al --color=always -w0",
        "-lh",
        "-li",
        "-ls",
        "-gn",
        "-oU",
        "-lG",
        "-lc --time-style=iso",
        "-lRF",
        "-lL",
        "-lZ",
        "-lu --full-time -b",
        "-lQ --block-size=K",
        "-l --author --zero",
    ] {
        let options = || options.split(' ');
        let gnu = Run::new(oracle().path()).cwd(zoo.path()).args(options());
        let gnu = gnu
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "Europe/Berlin")
            .env("LS_COLORS", "rs=0")
            .output()
            .expect("ls runs");
        // There are hardly any mount points, and colours apply to names alone. With -w0, because GNU does not count
        // all columns before a name when it computes the end of the screen.
        let theme = "DLS_COLORS";
        let none = "header=:type=:read=:write=:execute=:special=:unset=:mark=:links=:you=:root=:other=:group=:size=:\
                    device=:blocks=:inode=:age=:future=:context=:nothing=";
        let ours = dls(zoo.path(), &options().chain(["--mounts"]).collect::<Vec<_>>());
        let ours = ours.env("TZ", "Europe/Berlin").env("LS_COLORS", "rs=0").env(theme, none);
        let eol = if options().any(|option| option == "--zero") { '\0' } else { '\n' };
        let is_total = |line: &&str| {
            let blocks = line.strip_prefix("total ");
            blocks
                .is_some_and(|blocks| blocks.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'))
        };
        let theirs = text(&gnu.stdout);
        let expected: Vec<&str> = theirs.split(eol).filter(|line| !is_total(line)).collect();
        let ours = shown_by(&ours, gnu.end);
        for (expected, ours) in expected.iter().zip(ours.split(eol)) {
            // With -L, a link to / is a mount point.
            let rest = ours.strip_prefix(expected).filter(|rest| rest.is_empty() || rest.starts_with(" ["));
            assert!(rest.is_some(), "{:?}\n{expected}\n{ours}", options().collect::<Vec<_>>());
        }
        assert_eq!(expected.len(), ours.split(eol).count());
    }
}

#[test]
fn ages() {
    let dir = still();
    let now = SystemTime::now();
    let half = Duration::from_secs(1800);
    touch(&dir.path().join("run"), now - 3 * DAY - half);
    touch(&dir.path().join("notes.txt"), now + 2 * DAY + half);
    touch(&dir.path().join("日本語.md"), now - 800 * DAY);
    let args = ["--columns=modified,name", "--time-style=relative", "--header"];
    assert_eq!(
        shown(dir.path(), &args),
        "Modified Name\n     +2d notes.txt\n      3d run\n      2y 日本語.md\n"
    );
    // The last style counts, and GNU's need no view.
    let total = shown(dir.path(), &["-l", "--time-style=relative", "--time-style=iso"]);
    assert!(total.starts_with("total "), "{total}");
    let refused = dls(dir.path(), &["-l"]).env("TIME_STYLE", "relative").output().expect("it runs");
    assert_eq!(refused.end, End::Exit(2), "in the environment it is as invalid as to GNU");
}

#[test]
fn left_out() {
    let dir = still();
    let seen = shown(dir.path(), &["-l", "--no-mode", "--no-links", "--no-owner", "--no-group", "--no-time"]);
    assert_eq!(seen, "    5 notes.txt\n70000 run\n 1234 日本語.md\n");
    let gnu =
        Run::new(oracle().path()).cwd(dir.path()).args(["-g"]).env("LC_ALL", "C.UTF-8").env("TZ", "UTC0");
    let gnu = text(&gnu.output().expect("ls runs").stdout);
    assert_eq!(shown(dir.path(), &["-l", "--no-owner"]), gnu, "--no-owner alone is -g");
}

/// On the command line they mean the long format, and of it and another one the last counts, as with -D.
#[test]
fn options_of_the_view_mean_a_long_listing() {
    let dir = still();
    for option in [
        "--header",
        "--git",
        "--xattr",
        "--mounts",
        "--smart-group",
        "--no-owner",
        "--no-time",
        "--no-mode",
        "--no-size",
        "--no-links",
        "--columns=+inode",
    ] {
        let long = shown(dir.path(), &["-l", option]);
        for args in [&[option][..], &["-1", option], &[option, "-1"], &["-C", option]] {
            assert_eq!(shown(dir.path(), args), long, "{args:?}");
        }
        for other in ["-C", "-x", "-m", "--format=across"] {
            assert_eq!(shown(dir.path(), &[option, other]), shown(dir.path(), &[other]), "{option} {other}");
        }
    }
    let rows = shown(dir.path(), &["--ndjson", "--header"]);
    assert!(!rows.contains("\"acl\""), "rows ask no more than they did: {rows}");
    assert!(shown(dir.path(), &["--ndjson", "-l"]).contains("\"acl\""));
}

#[test]
fn columns_are_put_to_the_usual_ones() {
    let dir = still();
    let heads = |args: &[&str]| {
        let seen = shown(dir.path(), &[args, &["--header"]].concat());
        seen.lines()
            .next()
            .expect("a head")
            .split_whitespace()
            .map(str::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(heads(&["--columns=+octal"]), "Mode Links User Group Size Modified Octal Name");
    assert_eq!(heads(&["--columns=+octal,inode,-owner,group"]), "Mode Links Size Modified Octal Inode Name");
    assert_eq!(heads(&["--columns=-links", "--columns", "-mode"]), "User Group Size Modified Name");
    assert_eq!(heads(&["--columns=size,name", "--columns=+inode"]), "Size Inode Name");
    assert_eq!(heads(&["--columns=+inode", "--columns=size,name"]), "Size Name", "a whole list begins anew");
    assert_eq!(heads(&["--columns=+size,size"]), "Mode Links User Group Size Modified Name", "once");
    let rows = shown(dir.path(), &["--ndjson", "--columns=-mode"]);
    assert!(rows.contains("\"nlink\"") && !rows.contains("\"perm\""), "{rows}");
}

/// By keys that GNU has no word for.
#[test]
fn more_orders() {
    let dir = TempDir::new("orders").expect("a directory");
    let path = |name: &str| dir.path().join(name);
    fs::write(path("b"), "").expect("a file");
    fs::create_dir(path("d")).expect("a directory");
    symlink("d", path("a")).expect("a link");
    fs::write(path("c"), "").expect("a file");
    assert_eq!(shown(dir.path(), &["--sort=type"]), "d\nb\nc\na\n");
    assert_eq!(shown(dir.path(), &["--sort=type", "-r"]), "a\nc\nb\nd\n");
    let mut by_inode: Vec<(u64, &str)> = ["a", "b", "c", "d"]
        .map(|name| (fs::symlink_metadata(path(name)).expect("it is there").ino(), name))
        .into();
    by_inode.sort_unstable();
    let expected: String = by_inode.iter().map(|(_, name)| format!("{name}\n")).collect();
    assert_eq!(shown(dir.path(), &["--sort=inode"]), expected);
    for (ours, gnu) in [("created", "birth"), ("modified", "mtime")] {
        let time = format!("--time={gnu}");
        let same = shown(dir.path(), &["-l", "--sort=time", &time]);
        assert_eq!(shown(dir.path(), &["-lc", &format!("--sort={ours}")]), same, "{ours}");
    }
    let run = Run::new(release().path()).cwd(dir.path()).args(["--sort=type", "--mode=classic"]);
    assert_eq!(trace(&run).expect("strace").count("statx"), 0, "types come with the directory");
}

/// By the entry's own type, without a question about any of them.
#[test]
fn only_directories_or_files() {
    let dir = TempDir::new("only").expect("a directory");
    fs::create_dir_all(dir.path().join("d/e")).expect("directories");
    fs::write(dir.path().join("d/e/g"), "").expect("a file");
    fs::write(dir.path().join("f"), "").expect("a file");
    symlink("d", dir.path().join("to_d")).expect("a link");
    symlink("f", dir.path().join("to_f")).expect("a link");
    let seen = |args: &[&str]| shown(dir.path(), args);
    assert_eq!((&*seen(&["--only-dirs"]), &*seen(&["--only-files"])), ("d\n", "f\n"));
    assert_eq!(seen(&["-L", "--only-dirs"]), "d\nto_d\n", "what links lead to is shown");
    assert_eq!(seen(&["-L", "--only-files"]), "f\nto_f\n");
    assert_eq!(seen(&["--only-dirs", "--only-files"]), "f\n", "the last one counts");
    assert_eq!(seen(&["--only-files", "-d", "d", "f", "to_d"]), "d\nf\nto_d\n", "what is named is shown");
    assert_eq!(seen(&["--only-files", "-R"]), ".:\nf\n\n./d:\n\n./d/e:\ng\n");
    assert_eq!(seen(&["--only-dirs", "-R"]), ".:\nd\n\n./d:\ne\n\n./d/e:\n");
    assert_eq!(seen(&["--only-dirs", "--tree"]), ".\n└── d\n    └── e\n");
    assert_eq!(seen(&["--only-files", "--tree"]), ".\n├── d\n│   └── e\n│       └── g\n└── f\n");
    assert_eq!(seen(&["--only-files", "--count"]), "1 file\n1 total\n");
    assert_eq!(
        (&*seen(&["--only-dirs", "-U", "--top=1"]), &*seen(&["--only-files", "-f", "-A"])),
        ("d\n", "f\n")
    );
    let rows = seen(&["--only-dirs", "--csv", "--columns=name"]);
    assert_eq!(rows.lines().count(), 2, "{rows}");
    for option in ["--only-dirs", "--only-files"] {
        let run = Run::new(release().path()).cwd(dir.path()).args([option, "--mode=classic"]);
        assert_eq!(trace(&run).expect("strace").count("statx"), 0, "{option}");
        let run = Run::new(release().path()).cwd(dir.path()).args([option, "-l", "-n", "--mode=classic"]);
        assert_eq!(
            trace(&run).expect("strace").count("statx"),
            1,
            "{option}: only what is shown is asked about"
        );
    }
}

/// An operand that would be a value, had it been joined to the option before it by `=`.
#[test]
fn a_value_that_stands_apart_is_told_how_it_is_said() {
    let dir = still();
    for (args, way_out) in [
        (&["--tree", "2"][..], "; for DEPTH say --tree=2"),
        (&["--git", "2s"], "; for DURATION say --git=2s"),
        (&["--total-size", "0"], "; for DURATION say --total-size=0"),
        (&["--icons", "auto"], "; for WHEN say --icons=auto"),
        (&["--explain", "plan"], "; for WHEN say --explain=plan"),
        (&["--color", "auto"], ""),
        (&["--tree", "x"], ""),
        (&["--tree", "-a", "2"], ""),
        (&["--tree", "--", "2"], ""),
        (&["--tree=1", "2"], ""),
    ] {
        let outcome = dls(dir.path(), args).output().expect("it runs");
        let operand = args[args.len() - 1];
        let expected = format!("dls: cannot access '{operand}': No such file or directory{way_out}\n");
        assert!(text(&outcome.stderr).starts_with(&expected), "{args:?}: {}", text(&outcome.stderr));
        assert_eq!(outcome.end, End::Exit(2));
    }
    fs::write(dir.path().join("2"), "").expect("a file");
    assert_eq!(shown(dir.path(), &["--tree", "2"]), "2\n", "it is there");
}

#[test]
fn attributes_below_their_entry() {
    let dir = still();
    let path =
        std::ffi::CString::new(dir.path().join("run").into_os_string().into_encoded_bytes()).expect("no NUL");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&*path, c"user.one", b"hello", flags).is_err() {
        return println!("no extended attributes here: nothing to see");
    }
    rustix::fs::setxattr(&*path, c"user.\x1b[31m", b"", flags).expect("as the first");
    let args = ["--columns=size,name,xattrs", "--xattr", "--quoting-style=shell-escape"];
    let seen = shown(dir.path(), &args);
    let mut lines: Vec<&str> = seen.lines().collect();
    lines[2..4].sort_unstable();
    let expected =
        ["    5 notes.txt -", "70000 run       2", "        'user.'$'\\033''[31m' 0", "        user.one 5"];
    assert_eq!(lines[..4], expected, "{seen}");
    assert_eq!(lines[4], " 1234 日本語.md -");
}

#[test]
fn mount_points() {
    let seen = shown(Path::new("/"), &["--columns=device,name", "--mounts"]);
    let proc = seen.lines().find(|line| line.contains(" proc")).expect("there is /proc");
    assert!(proc.ends_with(" proc [proc proc]"), "{proc}");
    let run = dls(Path::new("/"), &["--columns=name", "--mounts", "--mode=classic"]);
    assert_eq!(opened(&run), 1);
    let quiet = still();
    assert_eq!(
        opened(&dls(quiet.path(), &["-l", "--mounts"])),
        0,
        "no file is opened where nothing is mounted"
    );
}

/// How often the list of mounts was opened.
fn opened(run: &Run) -> usize {
    let trace = trace(run).expect("strace runs");
    trace.calls().iter().filter(|call| call.text.contains("/proc/self/mountinfo")).count()
}

/// No name, attribute or mount can control the terminal or make a column lose a name.
#[test]
fn the_zoo_in_every_column() {
    let zoo = Zoo::new().expect("a zoo");
    let all = "--columns=mode,octal,links,user,group,uid,gid,size,blocks,inode,device,modified,changed,accessed,created,\
               context,xattrs,flags,git,total,name";
    for extra in
        [&["--header", "--xattr", "--mounts", "--smart-group"][..], &["-h", "--time-style=+%s", "-n"]]
    {
        let args = [&[all, "-a", "-b"][..], extra].concat();
        let run = dls(zoo.path(), &args);
        let end = run.output().expect("it runs").end;
        let seen = shown_by(&run, end);
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!seen.contains(control), "{seen:?}");
        let header = args.contains(&"--header");
        let bottom = seen.lines().filter(|line| !line.trim_start().starts_with("user.")).count();
        let entries = fs::read_dir(zoo.path()).expect("readable").count() + 2;
        assert!(bottom >= entries + usize::from(header), "{bottom} lines of {entries} entries");
    }
}

#[test]
fn devices_and_links() {
    let seen = shown(Path::new("/dev"), &["--columns=mode,size,name", "-d", "null", "full"]);
    assert_eq!(seen, "crw-rw-rw- 1, 7 full\ncrw-rw-rw- 1, 3 null\n");
    let dir = still();
    symlink("run", dir.path().join("link")).expect("a link");
    symlink("/dev/null/x", dir.path().join("broken")).expect("a link");
    let seen = shown(dir.path(), &["--columns=name,size", "-d", "link", "broken", "run", "-F"]);
    assert_eq!(
        seen,
        "broken -> /dev/null/x    11\nlink -> run*              3\nrun*                  70000\n"
    );
}

#[test]
fn what_vanished_is_a_question_mark() {
    let dir = still();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    fs::write(closed.join("x"), "").expect("a file");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).expect("ours");
    let run = dls(dir.path(), &["-l", "--header", "closed"]);
    let run = if is_root() { run.under(&["setpriv", "--reuid=4000001", "--clear-groups"]) } else { run };
    let outcome = run.output().expect("it runs");
    let seen = text(&outcome.stdout);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("ours");
    if outcome.end == End::Exit(2) && seen.is_empty() {
        return println!("another user may not enter the directory: nothing to see");
    }
    assert_eq!(outcome.end, End::Exit(1));
    assert!(seen.starts_with("Mode       Links User Group Size Modified     Name\n-?????????     ? ?    ?        ?            ? x\n"), "{seen}");
}

#[test]
fn colours_only_where_names_have_them() {
    let dir = still();
    let plain = shown(dir.path(), &["-l", "--header"]);
    assert!(!plain.contains('\x1b'));
    let run = dls(dir.path(), &["--columns=size,name", "--header", "--color=always"])
        .env("DLS_COLORS", "size=34:size-k=:header=01:bogus=1:links=red");
    let outcome = run.output().expect("it runs");
    assert_eq!(outcome.end, End::Exit(0));
    let seen = text(&outcome.stdout);
    assert!(
        seen.starts_with(" \x1b[01mSize\x1b[0m \x1b[01mName\x1b[0m\n    \x1b[34m5\x1b[0m notes.txt\n70000 "),
        "{seen:?}"
    );
    let said = text(&outcome.stderr);
    assert!(said.contains("DLS_COLORS: unknown key ‘bogus’; keys are header type read"), "{said}");
    assert!(said.contains("DLS_COLORS: invalid colour ‘red’ for ‘links’ (must be numbers"), "{said}");
    let gnu =
        dls(dir.path(), &["-l", "--color=always"]).env("DLS_COLORS", "bogus=1").output().expect("it runs");
    assert!(gnu.stderr.is_empty(), "GNU's format has no use for it");
}

/// GNU's built-in colours hold in GNU's formats, and where the user has colours, these.
#[test]
fn kinds_of_files_are_tinted_outside_of_gnus_formats() {
    let dir = TempDir::new("kinds").expect("a directory");
    for name in ["a.zip", "b.png", "c.mp3", "d.pdf", "e.bak", "f.txt", "there"] {
        fs::write(dir.path().join(name), "").expect("ours");
    }
    symlink("nowhere", dir.path().join("broken")).expect("ours");
    symlink("there", dir.path().join("link")).expect("ours");
    let colored = |args: &[&str], colors: &str| {
        let run =
            dls(dir.path(), args).args(["--color=always"]).env("TERM", "xterm").env("LS_COLORS", colors);
        shown_by(&run, End::Exit(0)).replace('\x1b', "^")
    };
    let tints = ["^[01;31ma.zip^", "^[01;35mb.png^", "^[00;36mc.mp3^", "^[00;32md.pdf^", "^[00;90me.bak^"];
    let broken = ["^[40;31;01mbroken^[0m -> ^[31mnowhere^[0m\n", "^[01;36mlink^[0m -> there\n", "f.txt\n"];
    for args in [&["-l", "--header"][..], &["--tree"], &["--tree", "-l"], &["--color-scale"]] {
        let seen = colored(args, "");
        for part in tints.iter().chain(&broken) {
            assert!(seen.contains(part), "{args:?} {part}: {seen}");
        }
    }
    let icons = colored(&["--icons"], "");
    assert!(icons.contains(" a.zip^[0m") && icons.contains(" broken^[0m"), "{icons}");
    for (args, colors) in [(&["-l"][..], ""), (&["-l", "--header"], "di=1"), (&["--tree"], "*.txt=1")] {
        let seen = colored(args, colors);
        assert!(seen.contains("^[01;36mbroken^[0m -> nowhere\n"), "{args:?} {colors}: {seen}");
        assert!(seen.contains(" a.zip\n") && seen.contains(" b.png\n"), "{args:?} {colors}: {seen}");
    }
}

#[test]
fn a_scale_of_sizes_and_ages() {
    let dir = still();
    let seen = |args: &[&str]| {
        let run = dls(dir.path(), args).args(["notes.txt"]).env("TERM", "xterm");
        shown_by(&run, End::Exit(0)).replace('\x1b', "^")
    };
    let (size, age) = (" ^[36m5^[0m ", " ^[90mNov 14  2023^[0m ");
    let has = |seen: &str| (seen.contains(size), seen.contains(age));
    assert_eq!(has(&seen(&["--color-scale", "--color=always"])), (true, true));
    assert_eq!(has(&seen(&["--color=always", "--color-scale=age"])), (false, true));
    assert_eq!(has(&seen(&["--color=always", "--color-scale=size"])), (true, false));
    assert!(!seen(&["--color-scale"]).contains('^'), "not on a terminal");
    assert!(!seen(&["--color=never", "--color-scale"]).contains('^'));
}

/// None of it costs GNU's own format a call, and the view makes one call more, `geteuid`, in colour.
#[test]
fn what_it_costs() {
    let dir = plain(&std::env::temp_dir(), 40).expect("files");
    let total = |args: &[&str]| {
        let run = Run::new(release().path()).cwd(dir.path()).args(args).args(["--mode=classic"]);
        trace(&run).expect("strace runs").total()
    };
    assert_eq!(total(&["-l"]), total(&["-l", "--header"]));
    assert_eq!(total(&["--color=always", "--icons"]), total(&["--color=always"]), "tints cost nothing");
    assert_eq!(total(&["-l", "--color=always"]) + 1, total(&["-l", "--header", "--color=always"]));
    assert!(total(&["-l"]) > total(&["-l", "--time-style=relative"]), "ages need no time zone");
    assert!(total(&["--columns=name"]) < 20);
}

/// Drawn in pieces by several threads where it is large.
#[test]
fn a_large_directory() {
    let dir = plain(&std::env::temp_dir(), 40_000).expect("files");
    let args = ["-l", "--header", "--color=always", "--threads=3"];
    let seen = shown(dir.path(), &args);
    assert_eq!(seen.lines().count(), 40_001);
    let lengths = seen.lines().skip(1).filter_map(|line| line.rfind(' '));
    assert!(lengths.collect::<std::collections::HashSet<_>>().len() < 5, "columns are aligned");
}

/// The outcome of a mistake names the word and those that would do.
#[test]
fn a_column_that_is_none() {
    let outcome: Outcome = dls(Path::new("/"), &["--columns=name,bytes"]).output().expect("it runs");
    let said = text(&outcome.stderr);
    assert_eq!(outcome.end, End::Exit(1));
    assert!(
        said.contains("invalid argument ‘bytes’ for ‘--columns’\nValid arguments are:\n  - ‘mode’\n"),
        "{said}"
    );
}
