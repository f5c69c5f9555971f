//! What GNU `ls` 9.7 does where the `ls` of this machine may be older, held by literal expectations;
//! the list of such differences is `dents_lab::known`.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use dents_lab::suite::checked;

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

/// Since 9.5, `-f` is `-aU`: it takes nothing back.
#[test]
fn f_keeps_long_blocks_and_colour() {
    // A directory in a directory of its own: `..` is listed too, and must hold still.
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

/// Since 9.5, `-D` is `-l` without hyperlinks, whose offsets a later format or hyperlink takes away.
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

/// Since 9.2, sizes go on to Ronna and Quetta, which are too large for a block like Zetta and Yotta are.
#[test]
fn units_beyond_yotta() {
    let dir = files(&[]);
    for size in ["1R", "RiB", "2QB", "1Z", "Y"] {
        let (end, _, message) = listing(dir.path(), &[&format!("--block-size={size}")], None);
        assert_eq!(end, End::Exit(2), "{size}");
        assert_eq!(message, format!("dls: --block-size argument '{size}' too large\n"));
    }
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
    // setcap takes the set-user-id bit away, as any change of what runs would.
    fs::set_permissions(&capable[2], fs::Permissions::from_mode(0o4755)).expect("a mode");
    let colored = listing(dir.path(), &["--color=always"], Some("ca=35:ex=32:su=31")).1;
    let expected = "\x1b[0m\x1b[35mcap\x1b[0m\n\x1b[35mcap-exec\x1b[0m\n\x1b[31mcap-setuid\x1b[0m\n\x1b[32mexec\x1b[0m\n";
    assert_eq!(colored, expected);
    let default = listing(dir.path(), &["--color=always"], Some("ex=32:su=31")).1;
    assert!(default.starts_with("cap\n"), "off unless asked for since 9.1: {default:?}");
}
