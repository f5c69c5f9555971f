//! `--tree` beside a walk by `read_dir` alone; `--total-size` beside GNU `du`.

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::suite::{checked, is_root, release};
use dents_lab::syscalls::trace;
use dents_lab::zoo::Zoo;
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// With every strategy and any number of threads the tree is the same.
const WAYS: [&str; 7] = [
    "--mode=auto",
    "--mode=classic",
    "--mode=par",
    "--mode=iou",
    "--threads=2",
    "--threads=8",
    "--timeout=60s",
];

fn run(dir: &Path, args: &[&str]) -> Outcome {
    Run::new(checked().path()).cwd(dir).env("LC_ALL", "C.UTF-8").args(args).output().expect("dls starts")
}

/// The output, which must be the same in all ways.
fn same(dir: &Path, args: &[&str]) -> Outcome {
    let first = run(dir, &[args, &[WAYS[0]]].concat());
    for way in &WAYS[1..] {
        let other = run(dir, &[args, &[*way]].concat());
        assert_eq!(other.end, first.end, "{args:?} {way}");
        assert_eq!(text(&other.stderr), text(&first.stderr), "{args:?} {way}");
        assert!(
            other.stdout == first.stdout,
            "{args:?} {way}: {} and {}",
            text(&other.stdout),
            text(&first.stdout)
        );
    }
    first
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The options of the expected tree.
#[derive(Clone, Copy)]
struct Wanted {
    hidden: bool,
    reverse: bool,
    depth: usize,
    limit: usize,
}

const ALL: Wanted = Wanted { hidden: true, reverse: false, depth: usize::MAX, limit: usize::MAX };

/// The entries below a directory, drawn without any of our code.
fn draw(dir: &Path, before: &str, wanted: Wanted, out: &mut Vec<u8>) {
    let mut names: Vec<Vec<u8>> =
        fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().file_name().into_vec()).collect();
    names.retain(|name| wanted.hidden || name[0] != b'.');
    names.sort();
    if wanted.reverse {
        names.reverse();
    }
    let count = names.len();
    for (nth, name) in names.iter().take(wanted.limit).enumerate() {
        let last = nth + 1 == count;
        out.extend_from_slice(format!("{before}{}", if last { "└── " } else { "├── " }).as_bytes());
        out.extend_from_slice(name);
        let path = dir.join(std::ffi::OsStr::from_bytes(name));
        let target = fs::read_link(&path);
        if let Ok(target) = &target {
            out.extend_from_slice(b" -> ");
            out.extend_from_slice(target.as_os_str().as_bytes());
        }
        out.push(b'\n');
        if target.is_err() && path.is_dir() && wanted.depth > 1 {
            let before = format!("{before}{}", if last { "    " } else { "│   " });
            draw(&path, &before, Wanted { depth: wanted.depth - 1, ..wanted }, out);
        }
    }
    if count > wanted.limit {
        let left = (count - wanted.limit).to_string();
        let left = match left.len() {
            4.. => format!("{},{}", &left[..left.len() - 3], &left[left.len() - 3..]),
            _ => left,
        };
        out.extend_from_slice(format!("{before}└── … {left} more\n").as_bytes());
    }
}

fn expected(dir: &Path, wanted: Wanted) -> String {
    let mut out = b".\n".to_vec();
    draw(dir, "", wanted, &mut out);
    text(&out)
}

#[test]
fn the_zoo_is_drawn_as_it_is() {
    let zoo = Zoo::new().expect("a zoo");
    let cases: [(&[&str], Wanted); 6] = [
        (&["--tree", "-A"], ALL),
        (&["--tree", "-a"], ALL),
        (&["--tree"], Wanted { hidden: false, ..ALL }),
        (&["--tree", "-Ar"], Wanted { reverse: true, ..ALL }),
        (&["--tree=2", "-A"], Wanted { depth: 2, ..ALL }),
        (&["--tree", "-A", "--tree-limit=3"], Wanted { limit: 3, ..ALL }),
    ];
    for (args, wanted) in cases {
        let args = [&["--sort=name", "--quoting-style=literal", "--show-control-chars"][..], args].concat();
        // In the order of bytes, as the walk above has it.
        let outcome = Run::new(checked().path()).cwd(zoo.path()).args(&args).env("LC_ALL", "C.UTF-8");
        assert_eq!(text(&outcome.output().unwrap().stdout), expected(zoo.path(), wanted), "{args:?}");
        same(zoo.path(), &args);
    }
}

#[test]
fn every_option_gives_the_same_in_all_ways() {
    let zoo = Zoo::new().expect("a zoo");
    let options = [
        "--tree -Al --time-style=full-iso",
        "--tree -AS --total-size=0 --columns=size,blocks,name",
        "--tree -ArS --total-size=0 --group-directories-first --header -l",
        "--tree -AFi --color=always",
        "--tree -At",
        "--tree -AX --hide=*a* -s",
        "--tree --sort=width -b",
        "--tree -A --hyperlink=always",
        "--tree=1 -Al --xattr",
        "--tree -d -l",
        "--tree --zero -A",
        "-l --total-size=0 -S",
        "-Cs --total-size=0",
        "-lR --total-size=0",
    ];
    for option in options {
        same(zoo.path(), &option.split(' ').collect::<Vec<_>>());
    }
}

/// A name cannot draw branches or lines.
#[test]
fn hostile_names_stay_on_their_line() {
    let dir = TempDir::new("tree").expect("a directory");
    let names: [&[u8]; 4] = [b"a\nb", b"\x1b[31mred", b"\xff\xfe", "└── x\r".as_bytes()];
    for name in names {
        let path = dir.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&path).expect("a directory");
        symlink("to\nwhere\x1b[m", path.join("link")).expect("a link");
    }
    let outcome = run(dir.path(), &["--tree", "-b"]);
    assert_eq!(outcome.stdout.split(|byte| *byte == b'\n').count(), 1 + 8 + 1);
    assert!(!outcome.stdout.iter().any(|byte| *byte < b' ' && *byte != b'\n'), "{}", text(&outcome.stdout));
    assert!(text(&outcome.stdout).contains("link -> to\\nwhere\\033[m"));
}

#[test]
fn a_large_directory_in_pieces() {
    let dir = TempDir::new("tree").expect("a directory");
    fs::create_dir(dir.path().join("large")).expect("a directory");
    for nth in 0..10_000 {
        let path = dir.path().join(format!("large/{nth:05}"));
        if nth % 1000 == 3 {
            fs::create_dir(&path).expect("a directory");
            File::create(path.join("below")).expect("a file");
        } else {
            File::create(path).expect("a file");
        }
    }
    assert_eq!(text(&same(dir.path(), &["--tree"]).stdout), expected(dir.path(), ALL));
    let limited = same(dir.path(), &["--tree", "--tree-limit=7"]);
    assert_eq!(text(&limited.stdout), expected(dir.path(), Wanted { limit: 7, ..ALL }));
    assert!(text(&limited.stdout).ends_with("    └── … 9,993 more\n"));
    same(dir.path(), &["--tree", "-l", "--time-style=full-iso"]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_shown() {
    let dir = TempDir::new("tree").expect("a directory");
    for name in ["a", "closed", "z"] {
        fs::create_dir(dir.path().join(name)).expect("a directory");
        File::create(dir.path().join(name).join("file")).expect("a file");
    }
    let closed = dir.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closed");
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let ask = |args: &[&str]| {
        let run = Run::new(release().path()).cwd(dir.path()).env("LC_ALL", "C.UTF-8").args(args);
        let run = if is_root() { run.under(&nobody) } else { run };
        run.output().expect("dls starts")
    };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("open");
    for way in WAYS {
        let outcome = ask(&["--tree", way]);
        let tree = ".\n├── a\n│   └── file\n├── closed\n└── z\n    └── file\n";
        assert_eq!((text(&outcome.stdout).as_str(), outcome.end), (tree, End::Exit(1)), "{way}");
        let message = text(&outcome.stderr);
        assert!(message.ends_with(": cannot open directory './closed': Permission denied\n"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let outcome = ask(&["--tree", "closed", "missing", "a/file"]);
    assert_eq!((text(&outcome.stdout).as_str(), outcome.end), ("a/file\nclosed\n", End::Exit(2)));
    let totals = ask(&["--columns=size,name", "--total-size=0"]);
    assert_eq!((text(&totals.stdout).as_str(), totals.end), (" 0 a\n0+ closed\n 0 z\n", End::Exit(1)));
}

#[test]
fn links_are_followed_only_if_asked_and_never_in_circles() {
    let dir = TempDir::new("tree").expect("a directory");
    fs::create_dir_all(dir.path().join("a/b")).expect("directories");
    symlink("../..", dir.path().join("a/b/up")).expect("a link");
    symlink("a", dir.path().join("link")).expect("a link");
    let plain = same(dir.path(), &["--tree"]);
    let tree = ".\n├── a\n│   └── b\n│       └── up -> ../..\n└── link -> a\n";
    assert_eq!((text(&plain.stdout).as_str(), plain.end), (tree, End::Exit(0)));
    let followed = same(dir.path(), &["--tree", "-L"]);
    let tree = ".\n├── a\n│   └── b\n│       └── up\n└── link\n    └── … shown above\n";
    assert_eq!((text(&followed.stdout).as_str(), followed.end), (tree, End::Exit(2)));
    let told = text(&followed.stderr);
    assert!(told.contains("./a/b/up: not listing already-listed directory"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    // Each operand is shown, whatever the earlier ones contain.
    let twice = same(dir.path(), &["--tree=2", "-L", "a", "link"]);
    let tree = "a\n└── b\n    └── up\nlink\n└── b\n    └── up\n";
    assert_eq!((text(&twice.stdout).as_str(), twice.end), (tree, End::Exit(0)));
}

/// In GNU's own listings `-l` and `-F` show an operand that is a link; the root of a tree is drawn in every format.
#[test]
fn a_link_on_the_command_line_is_the_root_of_its_tree() {
    let dir = TempDir::new("tree").expect("a directory");
    fs::create_dir_all(dir.path().join("a/b")).expect("directories");
    symlink("a", dir.path().join("link")).expect("a link");
    for options in [&[][..], &["-l"], &["-F"], &["-l", "-H"], &["--header"], &["--total-size"], &["--git"]] {
        let outcome = same(dir.path(), &[&["--tree", "link"], options].concat());
        let drawn = text(&outcome.stdout);
        assert_eq!((drawn.matches("── b").count(), outcome.end), (1, End::Exit(0)), "{options:?}: {drawn}");
    }
    let itself = same(dir.path(), &["--tree", "-d", "link"]);
    assert_eq!((text(&itself.stdout).as_str(), itself.end), ("link -> a\n", End::Exit(0)));
}

/// A dangling link is reported, with a deadline and without.
#[test]
fn a_broken_link_is_told_where_links_are_followed() {
    let dir = TempDir::new("tree").expect("a directory");
    symlink("nowhere", dir.path().join("broken")).expect("a link");
    symlink("round", dir.path().join("round")).expect("a link");
    for options in [&["--tree", "-L"][..], &["--tree", "-L", "-l", "--header", "--icons"]] {
        let outcome = same(dir.path(), options);
        assert_eq!(outcome.end, End::Exit(1));
        let told = text(&outcome.stderr);
        assert!(told.contains("cannot access 'broken': No such file or directory"), "{told}");
        assert!(told.contains("cannot access 'round': Too many levels of symbolic links"), "{told}");
        assert_eq!(told.lines().count(), 2, "{told}");
    }
}

/// Each directory has two links to the next: 2^30 ways, too many to show.
#[test]
fn many_ways_lead_to_few_directories() {
    const DIRECTORIES: usize = 30;
    let dir = TempDir::new("tree").expect("a directory");
    for nth in 0..DIRECTORIES {
        let path = dir.path().join(format!("d{nth}"));
        fs::create_dir(&path).expect("a directory");
        File::create(path.join("file")).expect("a file");
        if nth + 1 < DIRECTORIES {
            symlink(format!("../d{}", nth + 1), path.join("a")).expect("a link");
            symlink(format!("../d{}", nth + 1), path.join("b")).expect("a link");
        }
    }
    for options in [&["--tree", "-L", "d0"][..], &["--tree", "-L", "-lS", "--total-size=0", "d0"]] {
        let outcome = same(dir.path(), options);
        assert_eq!(outcome.end, End::Exit(0));
        let tree = text(&outcome.stdout);
        assert_eq!(tree.matches("file").count(), DIRECTORIES, "{tree}");
        assert_eq!(tree.matches("… shown above").count(), DIRECTORIES - 1, "{tree}");
    }
    // Entries below the limit of depth are not shown, however they were read.
    let near = same(dir.path(), &["--tree=3", "-L", "-r", "d0"]);
    let depth = text(&near.stdout).lines().map(|line| line.matches(['│', '├', '└']).count()).max();
    assert!(depth <= Some(3), "{}", text(&near.stdout));
}

/// The sum of a tree is that of `-R`.
#[test]
fn a_summary_counts_what_is_on_the_lines() {
    let zoo = Zoo::new().expect("a zoo");
    for options in [&["-A"][..], &["-Al", "--header"], &["-AS", "--icons"]] {
        let last = |more: &str| {
            let outcome = same(zoo.path(), &[options, &["--summary", more]].concat());
            text(&outcome.stdout).lines().last().expect("a line").to_string()
        };
        assert_eq!(last("--tree"), last("-R"), "{options:?}");
    }
}

/// Options that a tree refuses get a message that names an alternative.
#[test]
fn a_tree_refuses_what_it_cannot_be() {
    let dir = TempDir::new("tree").expect("a directory");
    for (option, way_out) in
        [("--top=3", "--tree-limit"), ("--json", "-R"), ("--csv", "-R"), ("--count", "-R")]
    {
        let outcome = run(dir.path(), &["--tree", option]);
        assert_eq!((outcome.end, outcome.stdout.len()), (End::Exit(2), 0), "{option}");
        assert!(text(&outcome.stderr).contains(way_out), "{}", text(&outcome.stderr));
    }
}

/// Names and types come with the directory; only the operand is asked about, and links are read.
#[test]
fn a_tree_alone_asks_about_no_file() {
    let dir = TempDir::new("tree").expect("a directory");
    for directory in 0..50 {
        let path = dir.path().join(format!("d{directory}"));
        fs::create_dir(&path).expect("a directory");
        (0..20).for_each(|file| drop(File::create(path.join(format!("f{file}"))).expect("a file")));
    }
    symlink("d1", dir.path().join("link")).expect("a link");
    let run = Run::new(release().path()).cwd(dir.path()).args(["--tree", "--mode=classic"]);
    let trace = trace(&run).expect("strace");
    let stats: usize =
        ["statx", "newfstatat", "stat", "lstat", "fstat"].iter().map(|call| trace.count(call)).sum();
    assert_eq!((stats, trace.count("readlinkat")), (1, 1), "{:?}", trace.by_name());
    // The directories and the list of mounts.
    assert_eq!(trace.count("openat"), 52, "{:?}", trace.by_name());
}

/// A directory that is mounted below itself is shown there without its entries, as by `ls -R`, and adds to no total.
#[test]
fn a_directory_below_itself() {
    let dir = TempDir::new("bound").expect("a directory");
    fs::create_dir_all(dir.path().join("t/a/x")).expect("a directory");
    fs::write(dir.path().join("t/a/f"), vec![7; 1000]).expect("a file");
    const REFUSED: i32 = 99;
    let script = format!("mount --bind t t/a/x || exit {REFUSED}; exec \"$@\"");
    let run = |args: &[&str]| {
        let run = Run::new(checked().path()).cwd(dir.path()).args(args).env("LC_ALL", "C.UTF-8");
        let run = run.under(&["unshare", "-rm", "/bin/sh", "-c", &script, "sh"]);
        let outcome = run.output().expect("unshare");
        let said = text(&outcome.stderr);
        if outcome.end == End::Exit(REFUSED) || said.starts_with("unshare: ") {
            println!("skipped: {said}");
            return None;
        }
        let said = said.split_once(": ").map_or("", |(_, said)| said).to_string();
        Some((text(&outcome.stdout), said, outcome.end))
    };
    let tree =
        "t\n\u{2514}\u{2500}\u{2500} a\n    \u{251c}\u{2500}\u{2500} f\n    \u{2514}\u{2500}\u{2500} x\n";
    let again = "t/a/x: not listing already-listed directory\n".to_string();
    for way in WAYS {
        let Some(shown) = run(&["--tree", way, "t"]) else { return };
        assert_eq!(shown, (tree.to_string(), again.clone(), End::Exit(2)), "{way}");
    }
    let (_, said, end) = run(&["-R", "t"]).expect("it was mounted before");
    assert_eq!((said, end), (again, End::Exit(2)));
    let columns = ["--columns=size,name", "--total-size=0"];
    let total = run(&[&columns[..], &["-d", "t"]].concat()).expect("it was mounted before");
    assert_eq!(total, ("1000 t\n".into(), String::new(), End::Exit(0)));
    let (shown, ..) = run(&[&columns[..], &["--tree", "t"]].concat()).expect("it was mounted before");
    let sizes: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(sizes, ["1000", "1000", "1000", "0"], "{shown}");
}

/// Three links to one file, two of them in one directory, and directories that take space themselves.
fn linked() -> TempDir {
    let dir = TempDir::new("tree").expect("a directory");
    for name in ["a/x", "a/y/z", "b"] {
        fs::create_dir_all(dir.path().join(name)).expect("a directory");
    }
    fs::write(dir.path().join("a/x/f"), vec![7; 100_000]).expect("a file");
    for link in ["a/x/again", "a/y/z/g", "b/h"] {
        fs::hard_link(dir.path().join("a/x/f"), dir.path().join(link)).expect("a link");
    }
    fs::write(dir.path().join("b/small"), b"12345").expect("a file");
    symlink("small", dir.path().join("b/link")).expect("a link");
    dir
}

/// The sizes of regular files and links below, each inode once.
fn apparent(dir: &Path, seen: &mut Vec<u64>) -> u64 {
    let mut sum = 0;
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let meta = entry.path().symlink_metadata().unwrap();
        if meta.is_dir() {
            sum += apparent(&entry.path(), seen);
        } else if !seen.contains(&meta.ino()) {
            seen.push(meta.ino());
            sum += meta.len();
        }
    }
    sum
}

fn du(dir: &Path) -> u64 {
    let output = Command::new("du").args(["-s", "--block-size=1"]).arg(dir).output().expect("du");
    text(&output.stdout).split('\t').next().unwrap().parse().expect("a number")
}

#[test]
fn totals_are_those_of_du() {
    let dir = linked();
    let columns = ["--columns=size,blocks,name", "--block-size=1", "--total-size=0"];
    let tree = same(dir.path(), &[&["--tree"][..], &columns].concat());
    let mut checked = 0;
    let mut paths = vec![dir.path().to_path_buf()];
    for line in text(&tree.stdout).lines().filter(|line| !line.contains(" -> ")) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let name = fields.last().unwrap();
        // Names are unique but for links; the depth is the number of steps before the name.
        let depth = line.chars().rev().take_while(|c| *c != ' ').count();
        let depth = (line.chars().count() - depth - tree_column(line)) / 4;
        paths.truncate(depth.max(1));
        let path = if depth == 0 { dir.path().to_path_buf() } else { paths[depth - 1].join(name) };
        if path.is_dir() {
            paths.push(path.clone());
            let found: [u64; 2] = [0, 1].map(|nth| fields[nth].parse().expect("a number"));
            assert_eq!(found, [apparent(&path, &mut Vec::new()), du(&path)], "{line}");
            checked += 1;
        }
    }
    assert_eq!(checked, 6, "{}", text(&tree.stdout));
    let listed = same(dir.path(), &[&["-S"][..], &columns].concat());
    let sizes: Vec<String> =
        text(&listed.stdout).lines().map(|line| line.split_whitespace().next().unwrap().into()).collect();
    assert_eq!(sizes, ["100010", "100000"]);
}

/// The column of the names: after two numbers and their spaces.
fn tree_column(line: &str) -> usize {
    let chars: Vec<char> = line.chars().collect();
    let mut at = 0;
    for _ in 0..2 {
        at += chars[at..].iter().take_while(|c| **c == ' ').count();
        at += chars[at..].iter().take_while(|c| **c != ' ').count();
    }
    at + 1
}

/// Three files of 7 EiB, which only holes make possible: 64 bits do not hold their sum.
#[test]
fn totals_beyond_64_bits() {
    let memory = Path::new("/dev/shm");
    let dir = TempDir::new_in(memory, "tree").or_else(|_| TempDir::new("tree")).expect("a directory");
    fs::create_dir(dir.path().join("d")).expect("a directory");
    for name in ["a", "b", "c"] {
        let file = File::create(dir.path().join("d").join(name)).expect("a file");
        if file.set_len(7 << 60).is_err() {
            return println!("skipped: no file of 7 EiB");
        }
    }
    let shown = |options: &[&str]| text(&same(dir.path(), options).stdout);
    let sum = "24211351596743786496";
    assert_eq!(shown(&["--total-size=0", "--columns=size,name"]), format!("{sum} d\n"));
    assert_eq!(shown(&["--total-size=0", "--columns=size,name", "-h"]), "21E d\n");
    let row = shown(&["--total-size=0", "--json"]);
    assert!(row.contains(&format!("\"total\":{sum},")), "{row}");
    let summary = shown(&["--summary", "-l", "d"]);
    assert!(summary.contains(&format!("3 entries, {sum} bytes")), "{summary}");
}

/// Operands that are listed as directories show no size of their own: only the totals of their subdirectories are
/// computed.
#[test]
fn operands_that_are_not_shown_are_not_added_up() {
    let dir = linked();
    fs::write(dir.path().join("file"), "x").expect("a file");
    let opened = |operands: &[&str]| {
        let options = ["--total-size=0", "--columns=size,name", "--mode=classic"];
        let run = Run::new(release().path()).cwd(dir.path()).args(options).args(operands);
        let trace = trace(&run).expect("strace");
        assert_eq!(trace.outcome.end, End::Exit(0));
        trace.count("openat")
    };
    let one = opened(&["a"]);
    assert_eq!(opened(&["file", "a"]), one);
    let other = opened(&["b"]);
    // Two operands that are not directories: the files that every run opens.
    assert_eq!(opened(&["a", "b"]), one + other - opened(&["file", "file"]));
    // The order by size needs their totals.
    assert!(opened(&["-S", "a", "b"]) > one + other);
}

#[test]
fn what_is_not_added_up_in_time_is_marked() {
    let dir = linked();
    // A nanosecond is over before the first directory.
    let late = run(dir.path(), &["--columns=size,name", "--total-size=0.000000001"]);
    assert_eq!(late.end, End::Exit(0), "{}", text(&late.stderr));
    for line in text(&late.stdout).lines() {
        let size = line.split_whitespace().next().unwrap();
        assert!(size == "?" || size == "-" || size.ends_with('+'), "{line}");
    }
}
