//! The file of default options: where it takes effect and where not, hostile contents, and its cost.

use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::suite::release;
use dents_lab::syscalls::trace;
use dents_lab::terminal;

/// A home with a directory to list: a file of 2,048 bytes, another, and a directory that comes last by name.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        let dir = TempDir::new("config").expect("a directory");
        let list = dir.path().join("list");
        fs::create_dir_all(list.join("z")).expect("a directory");
        fs::write(list.join("a"), [0; 2048]).expect("a file");
        fs::write(list.join("b"), "").expect("a file");
        Home(dir)
    }

    fn config(&self) -> PathBuf {
        self.0.path().join(".config/dls/config")
    }

    /// With this file of options.
    fn with(self, text: impl AsRef<[u8]>) -> Home {
        fs::create_dir_all(self.config().parent().expect("it has one")).expect("directories");
        fs::write(self.config(), text).expect("a file");
        self
    }

    fn run(&self, args: &[&str]) -> Run {
        let run = Run::new(release().path()).cwd(&self.0.path().join("list"));
        run.env("HOME", self.0.path()).args(args)
    }
}

fn terminal(run: &Run) -> Outcome {
    terminal::output(run, 80, false).expect("a terminal")
}

fn pipe(run: &Run) -> Outcome {
    run.output().expect("it runs")
}

/// Its output; it must succeed and print nothing on stderr.
fn shown(outcome: Outcome) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()));
    text(&outcome.stdout)
}

/// Its messages; it must have listed the directory.
fn complaint(outcome: Outcome) -> String {
    assert_eq!((outcome.end, &outcome.stdout[..]), (End::Exit(0), &b"a  b  z\n"[..]));
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

fn named(run: Run, argv0: &str) -> Run {
    Run { argv0: argv0.into(), ..run }
}

#[test]
fn it_holds_on_a_terminal_and_the_command_line_wins() {
    let home = Home::new().with("# mine\n--group-directories-first\n-r\n--format=single-column\n");
    assert_eq!(shown(terminal(&home.run(&[]))), "z\nb\na\n");
    assert_eq!(shown(terminal(&home.run(&["-C"]))), "z  b  a\n");
    assert_eq!(shown(terminal(&home.run(&["--no-config"]))), "a  b  z\n");
    for name in ["ls", "/usr/bin/ls", "dir", "vdir"] {
        assert!(!shown(terminal(&named(home.run(&["-C"]), name))).starts_with('z'), "{name}");
    }
    assert_eq!(shown(pipe(&home.run(&[]))), "a\nb\nz\n");
}

#[test]
fn where_it_is_looked_for() {
    let home = Home::new().with("-r");
    let elsewhere = home.0.path().join("xdg");
    fs::create_dir_all(elsewhere.join("dls")).expect("directories");
    fs::write(elsewhere.join("dls/config"), "-F").expect("a file");
    assert_eq!(shown(terminal(&home.run(&[]))), "z  b  a\n");
    assert_eq!(shown(terminal(&home.run(&[]).env("XDG_CONFIG_HOME", &elsewhere))), "a  b  z/\n");
    assert_eq!(shown(terminal(&home.run(&[]).env("XDG_CONFIG_HOME", "xdg"))), "z  b  a\n");
    assert_eq!(shown(terminal(&home.run(&[]).env("DLS_CONFIG", elsewhere.join("dls/config")))), "a  b  z/\n");
    assert_eq!(shown(terminal(&home.run(&[]).env("DLS_CONFIG", ""))), "a  b  z\n");
    let missing = complaint(terminal(&home.run(&[]).env("DLS_CONFIG", "/no/such")));
    assert_eq!(
        missing,
        "dls: cannot read options from '/no/such': No such file or directory (--no-config does without it)\n"
    );
}

#[test]
fn in_a_pipe_only_what_always_holds_of_a_file_that_is_named() {
    let home = Home::new().with("-F\nalways -r\nnonsense\n");
    let with = |args: &[&str]| home.run(args).env("DLS_CONFIG", home.config());
    assert_eq!(shown(pipe(&home.run(&[]))), "a\nb\nz\n");
    assert_eq!(shown(pipe(&with(&[]))), "z\nb\na\n");
    assert_eq!(shown(pipe(&with(&["--no-config"]))), "a\nb\nz\n");
    assert_eq!(shown(pipe(&named(with(&[]), "ls"))), "a\nb\nz\n");
}

#[test]
fn mistakes_name_file_and_line() {
    let home = Home::new().with("--format=single-column\n--foo\n-C\n--help\n");
    let path = home.config().display().to_string();
    let expected = format!(
        "dls: {path}:2: unrecognized option '--foo'\ndls: {path}:4: only for the command line: '--help'\n"
    );
    assert_eq!(complaint(terminal(&home.run(&[]))), expected);
}

/// In a setting too: its valid parts are used.
#[test]
fn mistakes_inside_settings_name_file_and_line() {
    let home = Home::new().with("-C\ncolors = you=1:header=red\nicons = *.c\n");
    let path = home.config().display().to_string();
    let complaint = complaint(terminal(&home.run(&[])));
    let lines: Vec<&str> = complaint.lines().collect();
    assert_eq!(lines.len(), 2, "{complaint}");
    assert!(
        lines[0].starts_with(&format!("dls: {path}:2: colors: invalid colour 'red' for 'header'")),
        "{complaint}"
    );
    assert!(lines[1].starts_with(&format!("dls: {path}:3: icons: ignoring '*.c': ")), "{complaint}");
}

/// A valid command line stays valid with any file of options.
#[test]
fn a_line_gives_way_to_the_command_line() {
    for (line, args) in [
        ("--tree", "--json"),
        ("--tree", "--csv"),
        ("--tree=2", "--count"),
        ("--tree", "--top=1"),
        ("--json", "--tree"),
        ("--ndjson", "--tree"),
        ("--count", "--tree"),
        ("--top=1", "--tree"),
        ("--csv", "--summary"),
        ("--summary", "--csv"),
        ("--dired", "--zero -l"),
        ("--zero", "-D"),
        ("--json\n--tree", "-C"),
    ] {
        let home = Home::new().with(line);
        let args: Vec<&str> = args.split(' ').collect();
        assert!(!shown(terminal(&home.run(&args))).is_empty(), "{line} {args:?}");
        let alone = home.run(&args).env("DLS_CONFIG", "");
        if !line.contains('\n') {
            assert_eq!(shown(terminal(&home.run(&args))), shown(terminal(&alone)), "{line} {args:?}");
        }
    }
    let home = Home::new().with("--tree");
    let explained = terminal(&home.run(&["--json", "--explain"]));
    let text = String::from_utf8_lossy(&explained.stderr).into_owned();
    assert!(text.contains("\nconfig: --tree is passed over for --json\n"), "{text}");
    let refused = terminal(&home.run(&["--tree", "--json"]));
    assert_eq!(refused.end, End::Exit(2), "both on the command line");
}

/// In the file, these options describe long listings; on the command line they make one.
#[test]
fn options_of_the_view_make_a_listing_long_only_on_the_command_line() {
    let home = Home::new().with("--header\n--columns=+inode\n--no-owner\n");
    assert_eq!(shown(terminal(&home.run(&[]))), "a  b  z\n");
    assert!(shown(terminal(&home.run(&["-l"]))).starts_with("Mode "));
    assert!(shown(terminal(&home.run(&["--no-time"]))).starts_with("Mode "));
    let home = Home::new().with("--columns=name,size\n");
    assert_eq!(shown(terminal(&home.run(&["b"]))), "b 0\n", "all columns are another format, as ever");
}

#[test]
fn whatever_is_in_its_place_is_told_and_not_waited_for() {
    let home = Home::new().with("");
    let path = home.config();
    let replaced = |make: &dyn Fn(&Path)| {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        make(&path);
        complaint(terminal(&home.run(&[])))
    };
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    assert!(replaced(&fifo).contains("is not a regular file"));
    assert!(replaced(&|path| fs::create_dir(path).expect("ours")).contains("Is a directory"));
    assert!(
        replaced(&|path| symlink(path, path).expect("ours")).contains("Too many levels of symbolic links")
    );
    assert!(replaced(&|path| symlink("/dev/zero", path).expect("ours")).contains("larger than 64 KiB"));
    assert!(replaced(&|path| fs::write(path, vec![b'\n'; 10 << 20]).expect("ours")).contains("64 KiB"));
    let noise: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let told = replaced(&|path| fs::write(path, &noise).expect("ours"));
    assert!(told.lines().count() < 20 && !told.contains('\x1b'), "{told:?}");
    assert_eq!(replaced(&|path| fs::write(path, "").expect("ours")), "");
    assert_eq!(replaced(&|_| ()), "");
}

/// A process that keeps a FIFO open and writes nothing.
#[test]
fn a_silent_writer_is_not_waited_for() {
    let home = Home::new().with("");
    fs::remove_file(home.config()).expect("ours");
    assert!(Command::new("mkfifo").arg(home.config()).status().expect("mkfifo").success());
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let keep = fs::File::options().read(true).write(true).custom_flags(nonblock).open(home.config());
    let keep = keep.expect("a FIFO");
    assert!(complaint(terminal(&home.run(&[]))).contains("is not a regular file"));
    drop(keep);
}

#[test]
fn one_that_may_not_be_read_is_told() {
    let home = Home::new().with("-r");
    fs::set_permissions(home.config(), fs::Permissions::from_mode(0o000)).expect("ours");
    fs::set_permissions(home.0.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let unprivileged = home.run(&[]).under(&["setpriv", "--reuid=65534", "--clear-groups"]);
    let told = complaint(terminal(&unprivileged));
    assert!(told.contains("Permission denied"), "{told}");
}

#[test]
fn colours_by_the_variables_of_many_programs() {
    let home = Home::new().with("--color=auto\n");
    let colored = |run: Run| shown(terminal(&run)).contains('\x1b');
    assert!(colored(home.run(&[])));
    assert!(!colored(home.run(&[]).env("NO_COLOR", "1")));
    assert!(colored(home.run(&[]).env("NO_COLOR", "")));
    assert!(colored(home.run(&["--color=always"]).env("NO_COLOR", "1")));
    assert!(colored(home.run(&["--no-config"]).env("CLICOLOR_FORCE", "1")));
    let piped = |args: &[&str], value: &str| shown(pipe(&home.run(args).env("CLICOLOR_FORCE", value)));
    assert!(piped(&[], "1").contains('\x1b'));
    for (args, value) in [(&["--color=never"][..], "1"), (&[], "0"), (&[], ""), (&["--zero"], "1")] {
        assert!(!piped(args, value).contains('\x1b'), "{args:?} {value}");
    }
    let both = home.run(&[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!shown(pipe(&both)).contains('\x1b'));
    let drop_in = home.run(&["--color=always"]).env("NO_COLOR", "1");
    assert!(shown(pipe(&named(drop_in, "ls"))).contains('\x1b'));
    assert!(!shown(pipe(&named(home.run(&[]).env("CLICOLOR_FORCE", "1"), "ls"))).contains('\x1b'));
}

#[test]
fn init_is_meant_only_where_it_is_spelled_out_and_help_wins() {
    let home = Home::new();
    for (args, begins) in [
        (&["--init", "--help"][..], "Usage: dls "),
        (&["--help", "--init"], "Usage: dls "),
        (&["--init", "--version", "--rubbish"], "dls "),
    ] {
        assert!(shown(pipe(&home.run(args))).starts_with(begins), "{args:?}");
        assert!(!home.config().exists(), "{args:?}");
    }
    for (args, complaint) in [
        (&["--ini"][..], "dls: unrecognized option '--ini'\ndls: did you mean '--init'?\n"),
        (&["--init", "-y", "--help"], "dls: invalid option -- 'y'\n"),
    ] {
        let outcome = pipe(&home.run(args));
        assert_eq!(outcome.end, End::Exit(2), "{args:?}");
        let told = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert_eq!(told, format!("{complaint}Try 'dls --help' for more information.\n"));
        assert!(!home.config().exists(), "{args:?}");
    }
}

#[test]
fn init_writes_what_can_be_read_and_overwrites_nothing() {
    let home = Home::new();
    let path = home.config();
    let first = pipe(&home.run(&["--init"]));
    assert_eq!(first.end, End::Exit(0));
    assert_eq!(String::from_utf8_lossy(&first.stdout), format!("{}\n", path.display()));
    let effect =
        "dls: --init: names have colours on a terminal now; the file has all other options, commented out\n";
    assert_eq!(String::from_utf8_lossy(&first.stderr), effect);
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(text.contains("\n#--group-directories-first\n"), "{text}");
    let colored = home.run(&[]).env("TERM", "xterm");
    assert_eq!(shown(terminal(&colored)), "a  b  \x1b[0m\x1b[01;34mz\x1b[0m\n");
    assert_eq!(shown(pipe(&colored)), "a\nb\nz\n");
    let again = pipe(&home.run(&["--init"]));
    assert_eq!(again.end, End::Exit(2));
    let expected = format!(
        "dls: --init: cannot write '{}': File exists; edit it, or move it away first\n",
        path.display()
    );
    assert_eq!(String::from_utf8_lossy(&again.stderr), expected);
    assert_eq!(fs::read_to_string(&path).expect("still there"), text);
    let homeless = pipe(&home.run(&["--init"]).without("HOME"));
    assert_eq!(homeless.end, End::Exit(2));
    assert!(String::from_utf8_lossy(&homeless.stderr).contains("name a file in DLS_CONFIG"));
}

#[test]
fn explain_tells_the_lines() {
    let home = Home::new().with("# mine\n-r\n--foo\nalways --si\n");
    let explained = |run: Run, on: &dyn Fn(&Run) -> Outcome| {
        let outcome = on(&run);
        String::from_utf8_lossy(&outcome.stderr).into_owned()
    };
    let path = home.config().display().to_string();
    let text = explained(home.run(&["--explain"]), &terminal);
    assert!(text.contains(&format!("config: {path}\n  line 2: -r\n  line 4: --si\n")), "{text}");
    let text = explained(home.run(&["--explain"]), &pipe);
    assert!(text.starts_with("explain: "), "{text}");
    let text = explained(home.run(&["--explain", "--no-config"]), &terminal);
    assert!(text.starts_with("config: none: --no-config\n"), "{text}");
}

#[test]
fn every_mode_hears_it() {
    let home = Home::new().with("-r\n-F\n");
    for args in
        [&["--mode=classic"][..], &["--mode=par"], &["--mode=iou"], &["--mode=auto"], &["--timeout=9"]]
    {
        assert_eq!(shown(terminal(&home.run(args))), "z/  b  a\n", "{args:?}");
    }
}

/// If stdout is a pipe, no file is opened, unless a variable names one: that is opened, read and closed.
#[test]
fn what_it_costs() {
    let home = Home::new().with("always -r\n");
    let calls = |run: Run| {
        let trace = trace(&run).expect("strace");
        assert_eq!(trace.outcome.end, End::Exit(0));
        trace.total()
    };
    for args in [&[][..], &["-al"]] {
        let without = calls(named(home.run(args), "ls"));
        assert_eq!(calls(home.run(args)), without, "{args:?}");
        assert_eq!(calls(home.run(args).env("NO_COLOR", "1")), without, "{args:?}");
        assert_eq!(calls(home.run(args).env("DLS_CONFIG", home.config())), without + 3, "{args:?}");
    }
}
