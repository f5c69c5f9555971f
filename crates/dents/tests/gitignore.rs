//! `Walk::gitignore` beside `git check-ignore`, with random pattern files.
//!
//! `DENTS_CASES` sets the number of files (default 300), `DENTS_SEED` repeats a run: `DENTS_CASES=20000 cargo test -p dents
//! --features gitignore --test gitignore`.
#![cfg(feature = "gitignore")]

use dents::Walk;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory in the way of the test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(label: &str) -> Place {
        let path = std::env::temp_dir().join(format!("dents-{label}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Place(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// git, with the user's configuration, which we read too.
fn git(place: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(place).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").stderr(Stdio::null());
    git
}

/// The paths below a place, and whether git and we leave them out. Git is asked about each path; what is below an ignored
/// directory is ignored too.
fn both(place: &Path, all: &[Vec<u8>]) -> [BTreeSet<Vec<u8>>; 2] {
    let mut child = git(place)
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git");
    let mut stdin = child.stdin.take().expect("a pipe");
    let question = all.iter().flat_map(|path| path.iter().copied().chain([0])).collect::<Vec<u8>>();
    let asked = std::thread::spawn(move || stdin.write_all(&question));
    let answer = child.wait_with_output().expect("git answers").stdout;
    let _ = asked.join();
    let ignored: BTreeSet<&[u8]> = answer.split(|byte| *byte == 0).collect();
    let kept = |path: &&Vec<u8>| !ignored.contains(&path[..]);
    let theirs = all.iter().filter(kept).cloned().collect();
    let walk = Walk::new(place).gitignore(true).into_iter().filter_map(Result::ok);
    let below = walk.filter_map(|entry| {
        let path = entry.path();
        let path = path.as_os_str().as_bytes().strip_prefix(place.as_os_str().as_bytes())?;
        path.strip_prefix(b"/").map(<[u8]>::to_vec)
    });
    let known: BTreeSet<&Vec<u8>> = all.iter().collect();
    [theirs, below.filter(|path| known.contains(path)).collect()]
}

/// A generator of random numbers (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"A",
    b"ab",
    b"abc",
    b"a.js",
    b"b.ts",
    b"x.{js,ts}",
    b"5a.tmp",
    b"foo[",
    b"keep ",
    b"keep",
    b"t\t",
    b"]",
    b"-",
    b"^",
    b"!a",
    b"#a",
    b"\\",
    b"a\\",
    b"\xff",
    b"caf\xc3\xa9",
    b"x.o",
    b".h",
    b"**",
    b"*",
    b"?",
    b"a b",
    b"Z9",
    b"a\x0bb",
    b"z\r",
];

const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"A",
    b"c",
    b".",
    b"js",
    b"*",
    b"*",
    b"**",
    b"/",
    b"/",
    b"?",
    b"[",
    b"]",
    b"!",
    b"^",
    b"-",
    b"\\",
    b" ",
    b"\t",
    b"[a-c]",
    b"[!a]",
    b"[^b]",
    b"[[:digit:]]",
    b"[[:alpha:]_]",
    b"[[:punct:]]",
    b"[[:space:]]",
    b"[[:upper:]]",
    b"[[:nope:]]",
    b"[a\\]]",
    b"[]a]",
    b"[a-",
    b"[A-Z]",
    b"[\\a-c]",
    b"[[:]",
    b"{js,ts}",
    b"#",
    b"\xff",
    b"\xc3\xa9",
    b"**/",
    b"/**",
    b"a/**/b",
    b"/*",
    b"*/",
    b"\\ ",
    b"\\\\",
    b"\r",
    b"foo",
    b"keep",
    b"z",
    b"{",
    b",",
    b"5",
    b"[[:alnum:]-z]",
    b"[--b]",
    b"[a-\\c]",
    b"[[:graph:]]",
    b"[[:cntrl:]]",
    b"[[:xdigit:]]",
    b"[[:lower:]]",
    b"[[:blank:]]",
    b"[[:print:]]",
    b"[!/]",
    b"[/a]",
];

fn pattern(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        // What exists, maybe changed in one place.
        0 => random.pick(NAMES).to_vec(),
        1 => [&b"/"[..], random.pick(NAMES), b"/", random.pick(NAMES)].concat(),
        2 => [random.pick(NAMES), &b"/"[..]].concat(),
        3 => [&b"!"[..], random.pick(NAMES)].concat(),
        _ => (0..=random.below(6)).flat_map(|_| random.pick(PIECES)).copied().collect(),
    }
}

fn patterns(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..=random.below(4) {
        text.extend(pattern(random));
        text.extend(random.pick(&[&b"\n"[..], b"\n", b"\r\n", b" \n", b"  \n", b"\t\n"]));
    }
    if random.below(4) == 0 {
        text.pop();
    }
    text
}

/// Every name in two levels of directories.
fn tree(place: &Place) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let directories: [&[u8]; 7] = [b"", b"a", b"b", b"a/b", b"abc", b"a/a b", b"A/x.o"];
    for directory in directories {
        fs::create_dir_all(place.0.join(OsStr::from_bytes(directory))).expect("a directory");
    }
    for directory in directories {
        for name in NAMES {
            let relative =
                if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() };
            let path = place.0.join(OsStr::from_bytes(&relative));
            if !path.exists() {
                fs::write(path, "").expect("a file");
            }
            all.push(relative);
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn as_git_check_ignore_has_it() {
    let number = |name: &str, default| {
        std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let (cases, seed) = (number("DENTS_CASES", 300), number("DENTS_SEED", 1));
    let place = Place::new("random");
    assert!(git(&place.0).args(["init", "-q"]).status().expect("git").success());
    let all = tree(&place);
    for case in 0..cases {
        let mut random = Random(seed.wrapping_mul(1_000_003) + case);
        let (top, inner) = (patterns(&mut random), patterns(&mut random));
        let fold = random.below(3) == 0;
        place.write(".gitignore", &top);
        place.write("a/.gitignore", if random.below(2) == 0 { &inner[..] } else { b"" });
        place.write(".git/info/exclude", if random.below(4) == 0 { &inner[..] } else { b"" });
        let config =
            format!("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = {fold}\n");
        place.write(".git/config", config);
        let [theirs, ours] = both(&place.0, &all);
        let shown = |set: &BTreeSet<Vec<u8>>, other: &BTreeSet<Vec<u8>>| {
            set.difference(other).map(|path| path.escape_ascii().to_string()).collect::<Vec<_>>()
        };
        assert!(
            theirs == ours,
            "case {case} of seed {seed}: .gitignore \"{}\", a/.gitignore and exclude \"{}\", ignorecase {fold}\n\
             git keeps {:?}\nwe keep {:?}",
            top.escape_ascii(),
            inner.escape_ascii(),
            shown(&theirs, &ours),
            shown(&ours, &theirs),
        );
    }
}

/// Pattern files that other matchers read in their own way.
#[test]
fn rules_that_are_git_s_alone() {
    let place = Place::new("rules");
    assert!(git(&place.0).args(["init", "-q"]).status().expect("git").success());
    let all = tree(&place);
    let mut differ = Vec::new();
    for text in [
        &b"*.{js,ts}\n"[..],
        b"[[:digit:]]*.tmp\n",
        b"[a\\]]\n",
        b"foo[\n",
        b"keep\\ \n",
        b"keep \n",
        b"t\t\n",
        b"\xff\n",
        b"caf?\n",
        b"caf??\n",
        b"a**/b\n",
        b"a/**\n",
        b"**/b\n",
        b"/**/b/\n",
        b"\\!a\n",
        b"\\#a\n",
        b"\xef\xbb\xbfa\n",
        b"a\r\n",
        b"a\\\n",
        b"!\n",
        b"/\n",
    ] {
        place.write(".gitignore", text);
        let [theirs, ours] = both(&place.0, &all);
        if theirs != ours {
            differ.push(text.escape_ascii().to_string());
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

/// `core.excludesFile` of the repository and of the user, and `core.ignoreCase`, in the forms that git reads.
#[test]
fn settings_as_git_reads_them() {
    let place = Place::new("settings");
    assert!(git(&place.0).args(["init", "-q"]).status().expect("git").success());
    let all = tree(&place);
    place.write("my rules", "*.o\n");
    place.write("included", "[core]\n\texcludesfile = other\n");
    place.write("other", "b*\n");
    let absolute = place.0.join("my rules").into_os_string().into_vec();
    let absolute = String::from_utf8(absolute).expect("text");
    let mut differ = Vec::new();
    for config in [
        format!("[core]\n\texcludesFile = \"{absolute}\"\n"),
        format!("[core] excludesfile = {absolute} ; comment\n"),
        format!("[CORE]\nExcludesFile={absolute}   # comment\n"),
        "[core]\n\texcludesfile = \"my rules\"\n".into(),
        "[core]\n\texcludesfile = my\\\n rules\n".into(),
        "[core \"sub\"]\n\texcludesfile = my rules\n".into(),
        "[core.sub]\n\texcludesfile = my rules\n".into(),
        "[core]\n\texcludesfile = my rules\n[core]\n\texcludesfile = other\n".into(),
        "[include]\n\tpath = ../included\n".into(),
        "[include]\n\tpath = ../missing\n[core]\n\texcludesfile = other\n".into(),
        "[core]\n\texcludesfile =\n".into(),
        "[core]\n\tignorecase\n".into(),
        "[core]\n\tignorecase = yes\n".into(),
        "[core]\n\tignorecase = 1\n".into(),
        "[core]\n\tignorecase = 0\n".into(),
        "[core]\n\tignorecase = On\n".into(),
    ] {
        place.write(".gitignore", "a\n");
        place.write(".git/config", format!("[core]\n\trepositoryformatversion = 0\n{config}"));
        let [theirs, ours] = both(&place.0, &all);
        if theirs != ours {
            differ.push(config);
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}
