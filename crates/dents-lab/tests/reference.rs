//! The behaviour of GNU `ls` 9.7, and what 9.10 mended, where the `ls` of this machine may be older, as literal expectations;
//! `dents_lab::known` lists these differences.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use dents_lab::suite::{checked, is_root};

fn listing(dir: &Path, args: &[&str], colors: Option<&str>) -> (End, String, String) {
    let mut run = Run::new(checked().path()).cwd(dir).args(args);
    run.argv0 = "dls".into();
    let run = colors.iter().fold(run, |run, colors| run.env("LS_COLORS", colors));
    let outcome = run.output().expect("dls starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("plain names give plain text");
    (outcome.end, text(outcome.stdout), text(outcome.stderr))
}

fn files(names: &[&str]) -> TempDir {
    let dir = TempDir::new("reference").expect("a temporary directory");
    for name in names {
        File::create(dir.path().join(name)).expect("a file");
    }
    dir
}

fn touch(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).expect("a time");
}

/// The path of a locale that is compiled into `place`; `None`, with a line, where that is not possible.
fn made(place: &TempDir, name: &str, charset: &str) -> Option<String> {
    let path = place.path().join(format!("{name}.{charset}"));
    let mut define = Command::new("localedef");
    define.args(["-i", name, "-f", charset, "--no-archive"]).arg(&path).stdin(Stdio::null());
    let _ = define.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !path.join("LC_CTYPE").is_file() {
        println!("skipped: localedef cannot make {name}.{charset}");
        return None;
    }
    Some(place.path().to_str()?.to_string())
}

/// Since 9.5, `-f` is `-aU`, and no longer disables other options.
#[test]
fn f_keeps_long_blocks_and_colour() {
    // A directory in a directory of its own: `..` is listed too, and must not change.
    let outer = files(&[]);
    let dir = TempDir::new_in(outer.path(), "inner").expect("a directory");
    File::create(dir.path().join("a")).expect("a file");
    fs::create_dir(dir.path().join("d")).expect("a directory");
    let (end, long, _) = listing(dir.path(), &["-lf"], None);
    assert_eq!(end, End::Exit(0));
    assert!(long.starts_with("total ") && long.lines().count() == 5, "{long}");
    assert_eq!(long, listing(dir.path(), &["-laU"], None).1);
    let (_, blocks, _) = listing(dir.path(), &["-sf"], None);
    assert!(blocks.starts_with("total "), "{blocks}");
    let (_, colored, _) = listing(dir.path(), &["--color=always", "-f"], Some("di=35"));
    assert!(colored.contains("\x1b[35md\x1b[0m\n"), "{colored:?}");
}

/// Since 9.7, messages begin with the last component of the program's name; getopt's and the hint have all of it.
#[test]
fn messages_begin_with_the_last_component() {
    let said = |name: &str, args: &[&str], variables: &[(&str, &str)]| {
        let run = Run { argv0: name.into(), ..Run::new(checked().path()).cwd(Path::new("/")).args(args) };
        let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
        String::from_utf8(run.output().expect("dls starts").stderr).expect("text")
    };
    for (name, base) in [("/usr/bin/ls", "ls"), ("./a//vdir", "vdir"), ("a/", ""), ("x/dls", "dls")] {
        let hint = format!("Try '{name} --help' for more information.\n");
        let missing = said(name, &["missing"], &[]);
        assert_eq!(missing, format!("{base}: cannot access 'missing': No such file or directory\n"));
        let sort = said(name, &["--sort=z"], &[]);
        assert!(sort.starts_with(&format!("{base}: invalid argument 'z' for '--sort'\n")), "{sort}");
        assert!(sort.ends_with(&hint), "{sort}");
        assert_eq!(said(name, &["-w", "x"], &[]), format!("{base}: invalid line width: 'x'\n"));
        assert_eq!(said(name, &["-E"], &[]), format!("{name}: invalid option -- 'E'\n{hint}"));
        let columns = format!("{base}: ignoring invalid width in environment variable COLUMNS: 'q'\n");
        assert_eq!(said(name, &["-dC", "/"], &[("COLUMNS", "q")]), columns);
    }
    let near = said("a/dls", &["--haeder"], &[]);
    assert!(near.contains("\ndls: did you mean '--header'?\nTry 'a/dls --help'"), "{near}");
}

/// Since 9.2, suffixes in both cases with different colours match by case; otherwise in either case.
#[test]
fn suffix_case() {
    let dir = files(&["x.C", "x.c"]);
    let by_case = listing(dir.path(), &["--color=always"], Some("*.C=31:*.c=32")).1;
    assert_eq!(by_case, "\x1b[0m\x1b[31mx.C\x1b[0m\n\x1b[32mx.c\x1b[0m\n");
    let one = listing(dir.path(), &["--color=always"], Some("*.c=32")).1;
    assert_eq!(one, "\x1b[0m\x1b[32mx.C\x1b[0m\n\x1b[32mx.c\x1b[0m\n");
    let equal = listing(dir.path(), &["--color=always"], Some("*.C=31:*.c=31")).1;
    assert_eq!(equal, "\x1b[0m\x1b[31mx.C\x1b[0m\n\x1b[31mx.c\x1b[0m\n");
}

/// Since 9.2, a hidden name that is all extension is compared as a name, not as an empty one.
#[test]
fn hidden_names_in_version_order() {
    let dir = files(&[".A", ".0", ".a-b", ".profile", ".bash_logout"]);
    let (_, sorted, _) = listing(dir.path(), &["-1vA"], None);
    assert_eq!(sorted, ".0\n.A\n.a-b\n.bash_logout\n.profile\n");
}

/// Since 9.4, a link on the command line that leads in circles is shown as the link it is.
#[test]
fn a_looping_link_is_shown() {
    let dir = files(&[]);
    symlink("loop", dir.path().join("loop")).expect("a link");
    assert_eq!(listing(dir.path(), &["loop"], None), (End::Exit(0), "loop\n".into(), String::new()));
}

/// Since 9.2, modification times have words; a word without `-l` or `-t` sorts by it, as `-c` and `-u` do.
#[test]
fn modification_has_words() {
    let dir = files(&["new", "old", "older"]);
    for (name, seconds) in [("old", 900_000_000), ("older", 800_000_000)] {
        touch(&dir.path().join(name), seconds);
    }
    for word in ["modification", "mtime", "mod", "m"] {
        let option = format!("--time={word}");
        assert_eq!(listing(dir.path(), &[&option], None).1, "new\nold\nolder\n");
        assert_eq!(listing(dir.path(), &["-r", &option], None).1, "older\nold\nnew\n");
        // The last word counts, with -c and -u as its forerunners.
        let long = listing(dir.path(), &["-c", &option, "-l", "--time-style=+%s", "old"], None).1;
        assert!(long.ends_with(" 900000000 old\n"), "{long}");
    }
}

/// Known to 9.7: the default order has a word, too.
#[test]
fn name_is_an_order() {
    let dir = files(&["b", "a", "c.x", "d"]);
    for word in ["name", "nam", "na"] {
        let option = format!("--sort={word}");
        assert_eq!(listing(dir.path(), &["-t", "-S", &option], None).1, "a\nb\nc.x\nd\n");
    }
    let (end, _, message) = listing(dir.path(), &["--sort=n"], None);
    assert_eq!(end, End::Exit(1));
    assert!(message.contains("ambiguous argument 'n' for '--sort'"), "{message}");
}

/// The words that are new are named among those that would have done.
#[test]
fn valid_words_are_all_named() {
    let dir = files(&[]);
    let (end, _, message) = listing(dir.path(), &["--sort=nonsense"], None);
    assert_eq!(end, End::Exit(1));
    let words: Vec<_> = message.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
    assert_eq!(words, ["'none'", "'size'", "'time'", "'version'", "'extension'", "'name'", "'width'"]);
    let (_, _, message) = listing(dir.path(), &["--time=nonsense"], None);
    for word in
        ["'atime', 'access', 'use'", "'ctime', 'status'", "'mtime', 'modification'", "'birth', 'creation'"]
    {
        assert!(message.contains(word), "{word}: {message}");
    }
}

/// Since 9.5, `-D` is `-l` without hyperlinks; a later format or hyperlink disables its offsets.
#[test]
fn dired_means_long() {
    let dir = files(&["a"]);
    let out = |args: &[&str]| listing(dir.path(), args, None);
    for args in [&["-D", "a"][..], &["-C", "-D", "a"], &["--hyperlink", "-D", "a"], &["-lC", "--dired", "a"]]
    {
        let (end, text, _) = out(args);
        assert_eq!(end, End::Exit(0), "{args:?}");
        let (line, rest) = text.split_once('\n').expect("a line");
        let at = line.len() - 1;
        assert!(line.starts_with("  -rw"), "{args:?}: {text:?}");
        assert_eq!(rest, format!("//DIRED// {at} {}\n//DIRED-OPTIONS// --quoting-style=literal\n", at + 1));
    }
    assert_eq!(out(&["--dired", "-C", "a"]).1, "a\n");
    assert!(out(&["-D", "-1", "a"]).1.contains("//DIRED//"), "-1 takes no long format back");
    assert!(!out(&["-D", "--hyperlink", "a"]).1.contains("DIRED"));
    assert!(out(&["-D", "--hyperlink=never", "a"]).1.contains("//DIRED//"));
    let (end, _, message) = out(&["-D", "--zero", "a"]);
    assert_eq!((end, message.as_str()), (End::Exit(2), "dls: --dired and --zero are incompatible\n"));
    assert_eq!(out(&["--dired", "-C", "--zero", "a"]).1, "a\0");
}

/// Since 9.5, shell quoting opens before an escaped first character, and closes after an escaped last one, in
/// names with a single quote too.
#[test]
fn escaped_characters_at_the_edge() {
    let dir = files(&["\n'", "'\n", "\n'\n", "a'\n"]);
    let style = "--quoting-style=shell-escape";
    let expected = [r"''$'\n'\'''", r"''$'\n'\'''$'\n'", r"''\'''$'\n'", r"'a'\'''$'\n'", ""].join("\n");
    assert_eq!(listing(dir.path(), &["-1", style], None).1, expected);
}

/// Zetta and Yotta are too large for a block; Ronna and Quetta are no units of `--block-size`, in 9.7 as before.
#[test]
fn units_beyond_yotta() {
    let dir = files(&[]);
    let said = |size: &str| listing(dir.path(), &[&format!("--block-size={size}")], None);
    for size in ["1Z", "Y"] {
        let message = format!("dls: --block-size argument '{size}' too large\n");
        assert_eq!(said(size), (End::Exit(2), String::new(), message));
    }
    for size in ["R", "RiB", "Q"] {
        let message = format!("dls: invalid --block-size argument '{size}'\n");
        assert_eq!(said(size), (End::Exit(2), String::new(), message));
    }
    for size in ["1R", "2QB"] {
        let message = format!("dls: invalid suffix in --block-size argument '{size}'\n");
        assert_eq!(said(size), (End::Exit(2), String::new(), message));
    }
}

/// Since 9.7 at the latest, a name with a character that cannot be printed counts as -1 columns in UTF-8, to lay it out and
/// to sort by width.
#[test]
fn names_that_cannot_be_printed_have_no_width() {
    let dir = files(&["a", "b\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}", "c"]);
    let out = |locale: &str, args: &[&str]| {
        let run = Run::new(checked().path()).cwd(dir.path()).args(args).env("LC_ALL", locale);
        String::from_utf8(run.output().expect("dls starts").stdout).expect("UTF-8")
    };
    let odd = "b\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}";
    assert_eq!(out("C.UTF-8", &["-xw12"]), format!("a  {odd}    c\n"));
    assert_eq!(out("C", &["-xw12"]), format!("a  {odd}  c\n"));
    assert_eq!(out("C.UTF-8", &["--sort=width"]), format!("{odd}\na\nc\n"));
    assert_eq!(out("C", &["--sort=width"]), format!("a\n{odd}\nc\n"));
    assert_eq!(out("C.UTF-8", &["-m", "-w8"]), format!("a, {odd}, c\n"));
    // Where the name is escaped, all of it can be printed.
    assert_eq!(out("C.UTF-8", &["-b", "--sort=width"]).lines().last(), Some(&*odd.replace('\u{1}', "\\001")));
}

/// Since 9.7 at the latest, a time that is not known takes one column where the others have bytes that cannot be printed.
#[test]
fn times_that_cannot_be_printed_have_no_width() {
    let dir = files(&[]);
    symlink("nowhere", dir.path().join("link")).expect("a link");
    for (locale, end) in [("C", " ? link\n"), ("C.UTF-8", "    ? link\n")] {
        let run =
            Run::new(checked().path()).cwd(dir.path()).args(["-goL", "--time-style=+\u{e9} \u{e9}\u{e9}"]);
        let shown = run.env("LC_ALL", locale).output().expect("dls starts").stdout;
        assert!(String::from_utf8_lossy(&shown).ends_with(end), "{locale}: {shown:?}");
    }
}

/// Since 9.7 at the latest, a vt220 has colours.
#[test]
fn terminals_with_colours() {
    let dir = files(&[]);
    fs::create_dir(dir.path().join("d")).expect("a directory");
    for (term, colored) in [("vt220", true), ("vt100", true), ("vt52", false), ("dumb", false)] {
        let run = Run::new(checked().path()).cwd(dir.path()).args(["--color"]).env("TERM", term);
        let shown = run.output().expect("dls starts").stdout;
        assert_eq!(shown.contains(&0x1b), colored, "{term}");
    }
}

/// Since 9.8, `-s` pads sizes by columns where a separator has several bytes, as `-l` does.
#[test]
fn separators_of_several_bytes_are_one_column() {
    let locales = TempDir::new("locales").expect("a directory");
    let Some(locpath) = made(&locales, "sv_SE", "UTF-8") else { return };
    let dir = files(&[]);
    for (name, size) in [("a", 0), ("b", 3_000_000), ("c", 12_000_000)] {
        fs::write(dir.path().join(name), vec![b'x'; size]).expect("a file");
    }
    let out = |args: &[&str]| {
        let run = Run::new(checked().path()).cwd(dir.path()).args(args);
        let run = run.env("LOCPATH", &locpath).env("LC_ALL", "sv_SE.UTF-8");
        String::from_utf8(run.output().expect("dls starts").stdout).expect("UTF-8")
    };
    for args in
        [&["-s1", "--block-size='k"][..], &["-sx", "-w80", "--block-size='1"], &["-sl", "--block-size='k"]]
    {
        let shown = out(args);
        let columns = |line: &str| line.split_once('K').map(|(size, _)| size.chars().count());
        let widths: Vec<_> = shown.lines().skip(1).map(columns).collect();
        assert!(
            shown.contains('\u{202f}') && widths.windows(2).all(|pair| pair[0] == pair[1]),
            "{args:?}: {shown}"
        );
    }
}

/// Since 9.10, flags and widths count beside `O`, which has a year and a quarter too; a width that is too large is an error.
#[test]
fn numbers_with_o_are_numbers() {
    let dir = files(&["a"]);
    touch(&dir.path().join("a"), 1_700_000_000);
    for (format, text) in [
        ("%OY|%_6OY|%-Om|%3Od|%Oq|%O:z", "2023|  2023|11|014|4|+00:00"),
        ("%-9223372036854775807d", "14"),
        ("%-9223372036854775808d", "1700000000"),
    ] {
        let shown = listing(dir.path(), &["-go", "--time-style", &format!("+[{format}]")], None).1;
        let shown = shown.rsplit_once(" 0 ").expect("a size").1.replace(['[', ']'], "");
        assert_eq!(shown, format!("{text} a\n"), "{format}");
    }
}

/// Since 9.10, ST ends the sequences of links, no longer BEL.
#[test]
fn links_end_with_st() {
    let dir = files(&["a"]);
    let shown = listing(dir.path(), &["--hyperlink"], None).1;
    assert!(
        shown.starts_with("\x1b]8;;file://") && shown.ends_with("/a\x1b\\a\x1b]8;;\x1b\\\n"),
        "{shown:?}"
    );
}

/// A message that stderr does not take is as serious as output that stdout does not take.
#[test]
fn a_message_that_is_lost_is_serious() {
    let dir = files(&["a"]);
    symlink("nowhere", dir.path().join("dangling")).expect("a link");
    let status = |script: &str| {
        let dls = checked();
        let script = script.replace("dls", &format!("'{}'", dls.path().display()));
        let mut run = Command::new("sh");
        run.args(["-c", &script]).current_dir(dir.path()).stdout(Stdio::null());
        run.status().expect("sh starts").code()
    };
    assert_eq!(status("dls -lL . 2>/dev/null"), Some(1), "a message that is taken");
    if Path::new("/dev/full").exists() {
        assert_eq!(status("dls -lL . 2>/dev/full"), Some(2));
        assert_eq!(status("QUOTING_STYLE=x dls 2>/dev/full"), Some(2));
        assert_eq!(status("dls 2>/dev/full"), Some(0), "nothing was said");
    }
    assert_eq!(status("dls -lL . 2>&-"), Some(2));
    assert_eq!(status("dls 2>&-"), Some(0), "nothing was said");
}

/// Links are checked before their targets, for `--group-directories-first` too.
#[test]
fn links_that_cannot_be_looked_at_are_told() {
    let dir = files(&[]);
    let closed = dir.path().join("r");
    fs::create_dir(&closed).expect("a directory");
    symlink("/", closed.join("link")).expect("a link");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o744)).expect("a mode");
    let run = Run::new(checked().path()).cwd(dir.path()).args(["--group-directories-first", "r"]);
    let run = if is_root() { run.under(&["setpriv", "--reuid=65534", "--clear-groups"]) } else { run };
    let outcome = run.output().expect("dls starts");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    if !is_root() {
        // The directory is ours: its first three bits count, which allow all.
        return eprintln!("skipped: closing a directory to its reader takes a second user");
    }
    assert!(said.ends_with(": cannot access 'r/link': Permission denied\n"), "{said}");
    assert_eq!((outcome.end, &outcome.stdout[..]), (End::Exit(1), &b"link\n"[..]));
}

/// The order needs no target under `-U`; for operands GNU `ls` asks all the same, and its status tells.
#[test]
fn targets_of_operands_are_asked_in_any_order() {
    for options in ["-d", "-Ud", "-fd", "-UF", "-d --sort=none"] {
        let args: Vec<&str> =
            options.split(' ').chain(["--group-directories-first", "/proc/1/exe"]).collect();
        let run = Run::new(checked().path()).cwd(Path::new("/")).args(&args);
        let run = if is_root() { run.under(&["setpriv", "--reuid=65534", "--clear-groups"]) } else { run };
        let outcome = run.output().expect("dls starts");
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert_eq!(outcome.end, End::Exit(2), "{options}: {said}");
        assert!(
            said.ends_with(": cannot read symbolic link '/proc/1/exe': Permission denied\n"),
            "{options}: {said}"
        );
        assert!(outcome.stdout.starts_with(b"/proc/1/exe"), "{options}");
    }
}

/// In a removed directory no relative path can be resolved for `--hyperlink`.
#[test]
fn hyperlinks_in_a_removed_directory() {
    let script = "mkdir gone && touch a && cd gone && rmdir ../gone && exec \"$0\" --hyperlink \"$@\"";
    let list = |operands: &[&str]| {
        let dir = files(&[]);
        let mut command = Command::new("sh");
        let output =
            command.args(["-c", script]).arg(checked().path()).args(operands).current_dir(dir.path());
        let output = output.output().expect("sh starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = said.lines().map(|line| line.rsplit_once("dls: ").expect("a message").1.to_string());
        (output.status.code(), said.collect::<Vec<_>>(), output.stdout)
    };
    assert_eq!(list(&[]), (Some(0), vec![], vec![]));
    let nowhere = |path: &str| format!("error canonicalizing '{path}': No such file or directory");
    assert_eq!(list(&[".."]), (Some(2), vec![nowhere(".."), nowhere("../a")], b"a\n".to_vec()));
    let twice = vec![nowhere("."), nowhere(".")];
    assert_eq!(list(&["-R", "."]), (Some(2), twice, b".:\n".to_vec()));
    let missing = "cannot access 'b': No such file or directory".to_string();
    assert_eq!(list(&["b"]), (Some(2), vec![nowhere("b"), missing], vec![]));
}

/// `ca` is a colour of regular files only, after `su` and `sg` and before `ex`. Not a matter of releases: the
/// machine's `ls` may be built without libcap (Debian's is), and then never asks.
#[test]
fn capabilities_have_a_colour() {
    let dir = files(&["cap", "cap-exec", "cap-setuid", "exec"]);
    for (name, mode) in [("cap-exec", 0o755), ("cap-setuid", 0o4755), ("exec", 0o755)] {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let capable = ["cap", "cap-exec", "cap-setuid"].map(|name| dir.path().join(name));
    let set =
        |path| Command::new("setcap").arg("cap_net_raw+ep").arg(path).status().is_ok_and(|s| s.success());
    if !capable.iter().all(set) {
        return eprintln!("skipped: setcap needs root and a file system that keeps capabilities");
    }
    // setcap clears the set-user-id bit, as any change of a file does.
    fs::set_permissions(&capable[2], fs::Permissions::from_mode(0o4755)).expect("a mode");
    let colored = listing(dir.path(), &["--color=always"], Some("ca=35:ex=32:su=31")).1;
    let expected = "\x1b[0m\x1b[35mcap\x1b[0m\n\x1b[35mcap-exec\x1b[0m\n\x1b[31mcap-setuid\x1b[0m\n\x1b[32mexec\x1b[0m\n";
    assert_eq!(colored, expected);
    let default = listing(dir.path(), &["--color=always"], Some("ex=32:su=31")).1;
    assert!(default.starts_with("cap\n"), "off unless asked for since 9.1: {default:?}");
}
