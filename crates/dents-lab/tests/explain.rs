//! `--explain`, `--explain=plan`, `--lazy` and the policy by file system: the requests that it reports are those that are made.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use dents_lab::fixture::{TempDir, plain};
use dents_lab::palette::CHEAP;
use dents_lab::process::{End, Run, done};
use dents_lab::slowfs::{Builder, Counts, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::{checked, oracle, release};
use dents_lab::syscalls::trace;

const US: Duration = Duration::from_micros(1);

fn dls(dir: &Path, args: &[&str]) -> Run {
    Run::new(checked().path()).cwd(dir).args(args)
}

/// Three files, one of them executable, a directory, a link to it: a directory that nothing changes.
fn still() -> TempDir {
    let dir = TempDir::new("explain").expect("a directory");
    for name in ["one", "two", "three"] {
        fs::write(dir.path().join(name), name).expect("a file");
    }
    fs::set_permissions(dir.path().join("two"), fs::Permissions::from_mode(0o755)).expect("ours");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    symlink("sub", dir.path().join("link")).expect("a link");
    dir
}

/// The lines about entries and the advice, without the values that change from run to run.
fn said(run: &Run) -> Vec<String> {
    let outcome = done(run);
    let text = String::from_utf8(outcome.stderr).expect("it is text");
    let lines = text.lines().filter(|line| line.starts_with("  ") || line.starts_with("cheapest"));
    lines.map(|line| line.split(", 0.").next().unwrap_or(line).trim().to_string()).collect()
}

/// The requests of a walk over a tree are reported as those of a listing.
#[test]
fn a_tree_says_what_it_asked() {
    let dir = still();
    for way in ["--mode=classic", "--threads=4", "--timeout=60"] {
        let run = dls(dir.path(), &["--tree", "-l", "--explain", "-n", way]);
        let long = "`-n` needs the mode, link count, owner, group, size and modification time of all 5 entries: 5 statx";
        let text = "`-n` and `--tree` need the text of 1 symbolic link: 1 readlinkat";
        let lines = said(&run);
        assert!([long, text].iter().all(|line| lines.iter().any(|said| said == line)), "{way}: {lines:#?}");
        let outcome = String::from_utf8(done(&run).stderr).expect("text");
        let again = dls(dir.path(), &["-l", "--explain", way]);
        let of_listing = String::from_utf8(done(&again).stderr).expect("text");
        let system =
            |text: &str| text.lines().find(|line| line.starts_with("file system: ")).map(str::to_string);
        assert_eq!(system(&outcome), system(&of_listing), "{way}");
    }
}

#[test]
fn who_asked_for_what() {
    let dir = still();
    let colors = "`ex=`, `su=` and `sg=` need the mode of 3 regular files: 3 statx";
    let dirs = "`st=`, `ow=` and `tw=` need the mode of 1 directory: 1 statx";
    let nothing = "no entry needs a request: the directory has names and types";
    let long = "`-l` needs the mode, link count, owner, group, size, blocks and modification time of all 5 entries: \
                5 statx";
    let text = "`-l` needs the text of 1 symbolic link: 1 readlinkat";
    let mark = "`-l` needs the mark of an ACL of all 5 entries: 5 listxattrat";
    let targets = "`--group-directories-first` needs the target of 1 symbolic link: 1 statx";
    let same = |line: &str, call: &str| {
        format!("{}: by the same {call}", line.split(": ").next().unwrap_or_default())
    };
    let keys = "export LS_COLORS='ex=00:su=00:sg=00:st=00:ow=00:tw=00'";
    let cheapest = |from: usize, how: &str| format!("cheapest change (0 calls instead of {from}): {how}");
    let expected: [(&[&str], Vec<String>); 14] = [
        (&[], vec![nothing.into()]),
        (&["-p", "--file-type", "-X", "-v", "-R"], vec![nothing.into()]),
        (&["-l"], vec![long.into(), text.into(), mark.into(), cheapest(11, "drop `-l`")]),
        (&["-F"], vec!["`-F` needs the mode of 3 regular files: 3 statx".into(), cheapest(3, "drop `-F`")]),
        (&["-s"], vec!["`-s` needs the blocks of all 5 entries: 5 statx".into(), cheapest(5, "drop `-s`")]),
        (
            &["-i"],
            vec!["`-i` needs the inode number of all 5 entries: 5 statx".into(), cheapest(5, "drop `-i`")],
        ),
        (
            &["-t"],
            vec![
                "`-t` needs the modification time of all 5 entries: 5 statx".into(),
                cheapest(5, "drop `-t`"),
            ],
        ),
        (
            &["-c"],
            vec!["`-c` needs the change time of all 5 entries: 5 statx".into(), cheapest(5, "drop `-c`")],
        ),
        (
            &["--sort=size"],
            vec![
                "`--sort=size` needs the size of all 5 entries: 5 statx".into(),
                cheapest(5, "drop `--sort=size`"),
            ],
        ),
        (
            &["--group-directories-first"],
            vec![targets.into(), cheapest(1, "drop `--group-directories-first`")],
        ),
        (&["--color=always"], vec![colors.into(), dirs.into(), cheapest(4, keys)]),
        (
            &["-Z"],
            vec![
                "`-Z` needs the mode of all 5 entries: 5 statx".into(),
                "`-Z` needs the security context of all 5 entries: 5 listxattrat".into(),
                cheapest(10, "drop `-Z`"),
            ],
        ),
        (
            &["-F", "--color=always"],
            vec![
                "`-F`, `ex=`, `su=` and `sg=` need the mode of 3 regular files: 3 statx".into(),
                dirs.into(),
                cheapest(4, &format!("drop `-F`; {keys}")),
            ],
        ),
        (
            &["-l", "--color=always"],
            vec![
                long.into(),
                same(colors, "statx"),
                same(dirs, "statx"),
                text.into(),
                mark.into(),
                // The directory's own colours cost less than a tenth: they may stay.
                "cheapest change (1 call instead of 11): drop `-l`; export LS_COLORS='ex=00:su=00:sg=00'"
                    .into(),
            ],
        ),
    ];
    for (args, lines) in expected {
        let run = dls(dir.path(), args).args(["--explain", "--mode=classic"]).without("LS_COLORS");
        assert_eq!(said(&run), lines, "{args:?}");
        assert_eq!(said(&run.args(["--timeout=20s"])), lines, "{args:?} with a deadline");
    }
}

#[test]
fn the_advice_is_good() {
    let dir = still();
    let run = dls(dir.path(), &["--color=always", "--explain"]).env("LS_COLORS", "di=1:ca=1:*.c=32");
    let text = said(&run).pop().expect("an advice");
    let advice = "cheapest change (0 calls instead of 7): \
                  export LS_COLORS=\"$LS_COLORS:ex=00:su=00:sg=00:ca=00:st=00:ow=00:tw=00\"";
    assert_eq!(text, advice);
    let followed = "di=1:ca=1:*.c=32:ex=00:su=00:sg=00:ca=00:st=00:ow=00:tw=00";
    let lines = said(&run.env("LS_COLORS", followed));
    assert_eq!(lines, ["no entry needs a request: the directory has names and types"]);
}

#[test]
fn stdout_is_as_without() {
    let dir = still();
    for args in [&["-l"][..], &["-laF", "--color=always"], &["-U1", "--color=always"], &["-R"], &["-d", "."]]
    {
        for mode in ["classic", "par", "iou", "auto"] {
            let mode = format!("--mode={mode}");
            let without = done(&dls(dir.path(), args).args([&mode])).stdout;
            for extra in ["--explain", "--lazy", "--timeout=20s"] {
                let with = done(&dls(dir.path(), args).args([&mode, extra])).stdout;
                assert_eq!(with, without, "{args:?} {mode} {extra}");
            }
        }
    }
}

#[test]
fn a_plan_touches_nothing() {
    let dir = still();
    let run = dls(dir.path(), &["--explain=plan", "-lt", "--color=always"]).without("LS_COLORS");
    let traced = trace(&run).expect("strace is there");
    assert!(traced.outcome.stdout.is_empty());
    let asked = traced.calls().iter().filter(|call| {
        let file =
            ["open", "stat", "readlink", "xattr", "getdents"].iter().any(|part| call.name.contains(part));
        file && !call.text.contains("/etc/") && !call.text.contains("/usr/")
    });
    let asked: Vec<&str> = asked.map(|call| call.name.as_str()).collect();
    assert_eq!(asked, ["statfs"]);
    let text = String::from_utf8_lossy(&traced.outcome.stderr).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "plan for '.': the requests about the entries of that directory");
    let long = "  `-l` needs the mode, link count, owner, group, size, blocks and modification time of every entry: \
                one statx each";
    assert_eq!(lines[1], long);
    assert_eq!(lines[2], "  `-t` needs the modification time of every entry: by the same statx");
    assert_eq!(
        lines.last(),
        Some(&"cheapest change: drop `-l` and `-t`; export LS_COLORS='ex=00:su=00:sg=00'")
    );
}

#[test]
fn a_plan_for_what_is_not_there() {
    let dir = still();
    let outcome = dls(dir.path(), &["--explain=plan", "missing", "sub"]).output().expect("it runs");
    assert_eq!(outcome.end, End::Exit(2));
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(text.starts_with("dls: cannot access 'missing': No such file or directory\n"), "{text}");
    assert!(text.contains("\nplan for 'sub': "), "{text}");
}

/// The file systems of operands that are not readable directories; one name would change the direction of the text
/// after it.
#[test]
fn the_file_system_of_operands_is_named() {
    let dir = still();
    let run = dls(dir.path(), &["-ld", "--explain", "one", "sub"]);
    let text = String::from_utf8(done(&run).stderr).expect("text");
    let system =
        text.lines().find_map(|line| line.strip_prefix("file system: ")).expect("a line").to_string();
    let of_listing = String::from_utf8(done(&dls(dir.path(), &["--explain=plan"])).stderr).expect("text");
    assert!(of_listing.contains(&format!("\nfile system: {system}\n")), "{text}{of_listing}");
    let name = system.split(':').next().expect("a name");
    assert!(
        text.contains(&format!("2 operands named, which is always asked about: 2 statx, on {name}\n")),
        "{text}"
    );
}

#[test]
fn what_turns_the_direction_of_writing_is_told_by_its_number() {
    let dir = still();
    let name = "a\u{202e}fdp.exe";
    fs::create_dir(dir.path().join(name)).expect("a directory");
    for locale in ["C", "C.UTF-8"] {
        let run = dls(dir.path(), &["--explain=plan", name]).env("LC_ALL", locale);
        let text = String::from_utf8(done(&run).stderr).expect("text");
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
    let run = dls(dir.path(), &["--explain=plan", name]).env("LC_ALL", "C.UTF-8");
    let text = String::from_utf8(done(&run).stderr).expect("text");
    assert!(text.starts_with("plan for 'a\\u{202e}fdp.exe': "), "{text:?}");
}

#[test]
fn lazy_is_told_in_timing() {
    let dir = still();
    let line = "\nlazy     values may be stale: what was remembered of a file did\n";
    for (args, told) in [(&["-l", "--lazy"][..], true), (&["-l"], false), (&["--lazy"], false)] {
        let text = done(&dls(dir.path(), args).args(["--timing"])).stderr;
        assert_eq!(String::from_utf8_lossy(&text).contains(line), told, "{args:?}");
    }
}

/// The type of the file system is asked for only where the strategy depends on it.
#[test]
fn a_short_listing_does_not_ask_where_it_is() {
    for (count, asked) in [(10, 0), (127, 0), (200, 1)] {
        let dir = plain(&std::env::temp_dir(), count).expect("fixture");
        for (args, asks) in [(&["-l"][..], asked), (&["-1"], 0), (&["-l", "--mode=classic"], 0)] {
            let run = Run::new(release().path()).cwd(dir.path()).args(args);
            let trace = trace(&run).expect("strace is there");
            let (mounts, fs) = (trace.count("statmount"), trace.count("fstatfs"));
            // On a kernel before 6.8 the second call replaces the first.
            assert!(
                mounts <= asks && fs <= asks && mounts.max(fs) == asks,
                "{count} {args:?}: {mounts}, {fs}"
            );
        }
    }
}

fn far(count: usize, kinds: &[Kind]) -> Builder {
    SlowFs::builder().entries(count, kinds).latency(500 * US)
}

fn counted(far: &Mounted, run: &Run) -> (Counts, Vec<u8>) {
    far.reset_counts();
    let stdout = done(run).stdout;
    let counts = far.counts();
    println!("{}: {counts}", run.shell());
    (counts, stdout)
}

/// The requests of a FUSE server: lookups of names, attributes, names of extended attributes.
fn spent(counts: &Counts) -> [u64; 3] {
    let xattrs = counts.sum(&[Request::Listxattr, Request::Getxattr]);
    [counts.of(Request::Lookup), counts.of(Request::Getattr), xattrs]
}

#[test]
fn lazy_spares_a_request_per_entry() {
    let Some(far) = far(1000, &[Kind::File, Kind::Executable]).mount_or_skip() else { return };
    for (args, plain, lazy) in [
        (&["--color=always"][..], [1000, 1000, 0], [1000, 0, 0]),
        // For the first entries one thread finds that the file system is slow: each of its requests looks the name up.
        (&["-l"], [1001, 1000, 1000], [1001, 0, 1000]),
        (&["-l", "--mode=classic"], [2000, 1000, 1000], [2000, 0, 1000]),
    ] {
        let run = dls(far.path(), args);
        let (counts, bytes) = counted(&far, &run);
        assert_eq!(spent(&counts), plain, "{args:?}");
        let (counts, lazy_bytes) = counted(&far, &run.clone().args(["--lazy"]));
        assert_eq!(spent(&counts), lazy, "{args:?} --lazy");
        assert_eq!(bytes, lazy_bytes, "{args:?}");
    }
}

/// An entry that is held open answers for itself alone, whatever descriptors other threads have.
#[test]
fn marks_are_those_of_the_entry() {
    let mut builder = far(600, &[Kind::File, Kind::Directory, Kind::Link]);
    for n in (0..600).step_by(7) {
        let label = format!("user:role:type_{n}:s0");
        builder = builder.xattr(format!("e{n:05}"), "security.selinux", label.as_bytes());
    }
    let Some(far) = builder.mount_or_skip() else { return };
    for args in [&["-l"][..], &["-lZ"], &["-lL"], &["-Z"]] {
        let classic = done(&dls(far.path(), args).args(["--mode=classic"])).stdout;
        assert_eq!(done(&dls(far.path(), args)).stdout, classic, "{args:?}");
    }
}

/// The table with which it began: default colours, without `ca=`, without the four keys. Requests for 500 files: ours
/// are as many as GNU's for metadata, or none. GNU asks about capabilities too if it was built with libcap, which
/// Debian's was not; then each costs a lookup and a request, where ours share one lookup.
#[test]
fn the_price_of_four_keys() {
    let Some(far) = far(500, &[Kind::File]).mount_or_skip() else { return };
    let gnu = oracle();
    for (colors, ours) in [("ca=30;41", [501, 500, 500]), ("ca=00", [500, 500, 0]), (CHEAP, [0, 0, 0])] {
        let theirs = Run::new(gnu.path()).cwd(far.path()).args(["--color=always"]).env("LS_COLORS", colors);
        let own = dls(far.path(), &["--color=always"]).env("LS_COLORS", colors);
        let (counts, expected) = counted(&far, &theirs);
        let about = far.counts_of(".");
        let [lookups, getattrs, xattrs] = spent(&counts);
        assert_eq!(getattrs - spent(&about)[1], ours[1], "{colors}");
        assert!(xattrs == 0 || (colors == "ca=30;41" && xattrs == 500), "{colors}: {counts}");
        assert_eq!(lookups, ours[1] + xattrs, "{colors}: {counts}");
        let (counts, bytes) = counted(&far, &own);
        assert_eq!(spent(&counts), ours, "{colors}");
        assert_eq!(bytes, expected, "{colors}");
    }
}

#[test]
fn far_away_is_explained() {
    let Some(far) = far(300, &[Kind::File]).mount_or_skip() else { return };
    let run = dls(far.path(), &["--color=always", "--explain"]).without("LS_COLORS");
    let text = String::from_utf8(done(&run.clone().args(["--timeout=20s"])).stderr).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "explain: 300 entries on FUSE: 300 regular files");
    assert!(lines[1].starts_with("  `ex=`, `su=` and `sg=` need the mode of 300 regular files: 300 statx, "));
    assert!(lines[4].ends_with(": there is a deadline: a stuck question delays no other"), "{text}");
    let text = String::from_utf8(done(&run).stderr).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "explain: 300 entries on FUSE: 300 regular files");
    assert!(lines[1].starts_with("  `ex=`, `su=` and `sg=` need the mode of 300 regular files: 300 statx, "));
    assert!(lines[1].ends_with(" of waiting") && lines[2].starts_with("cost: 300 statx: "), "{text}");
    assert!(lines[3].starts_with("file system: FUSE: a program answers"), "{text}");
    assert!(lines[4].contains(" in flight of 256 allowed: each answer is a round trip"), "{text}");
    let advice = "cheapest change (0 calls instead of 300): export LS_COLORS='ex=00:su=00:sg=00'";
    assert_eq!(lines[5..], [advice, "or --lazy, for what the client remembers, which may be stale"]);
}

#[test]
fn hidden_types_are_explained() {
    let Some(far) = far(20, &[Kind::File, Kind::Fifo]).hide_types().mount_or_skip() else { return };
    let run = dls(far.path(), &["-F", "--explain"]);
    let text = String::from_utf8(done(&run).stderr).expect("it is text");
    assert!(text.contains("\n  `-F` needs the mode of 10 regular files: 10 statx, "), "{text}");
    assert!(text.contains("\n  the directory tells no types, and those are wanted: 10 statx, "), "{text}");
}
