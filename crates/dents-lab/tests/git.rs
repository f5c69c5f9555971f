//! `--git` and `--gitignore` on repositories that git itself made.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dents_lab::case::MODES;
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, shown, text};
use dents_lab::suite::{checked, is_root};

#[path = "git/ends.rs"]
mod ends;
#[path = "git/search.rs"]
mod search;
#[path = "git/trust.rs"]
mod trust;

/// The place of repositories. No directory above is one.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new("git").unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_path_buf()
    }

    /// A repository with files that hold their names, all of them committed.
    fn repository(&self, name: &str, files: &[&str]) -> PathBuf {
        let top = self.0.path().join(name);
        fs::create_dir(&top).unwrap();
        git(&top, &["init", "-q", "-b", "main", "."]);
        files.iter().for_each(|file| write(&top.join(file), &format!("{file}\n").repeat(20)));
        if !files.is_empty() {
            git(&top, &["add", "-A"]);
            git(&top, &["commit", "-q", "-m", "all"]);
        }
        top
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs git, which has to succeed.
fn git(top: &Path, args: &[&str]) {
    let outcome = try_git(top, args);
    assert_eq!(outcome.end, End::Exit(0), "git {args:?}: {}", text(&outcome.stderr));
}

fn try_git(top: &Path, args: &[&str]) -> Outcome {
    let settings = ["-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"];
    let mut run = Run::new(Path::new("/usr/bin/git")).cwd(top).args(settings).args(args);
    for role in ["AUTHOR", "COMMITTER"] {
        run = run.env(&format!("GIT_{role}_NAME"), "a").env(&format!("GIT_{role}_EMAIL"), "a@example.org");
    }
    run.env("HOME", "/nonexistent").output().unwrap()
}

/// `dls` with git waited for as long as a busy machine needs.
fn dls(cwd: &Path, args: &[&str]) -> Run {
    let run = Run::new(checked().path()).cwd(cwd).args(args);
    run.env("HOME", "/nonexistent").env("DLS_GIT_BUDGET", "20s")
}

/// Letters and names of `args`, in every mode and with a deadline the same.
fn letters(cwd: &Path, args: &[&str]) -> Vec<String> {
    let expected = shown(&dls(cwd, &[&["--columns=git,name"], args].concat()));
    for other in MODES.iter().map(|mode| format!("--mode={mode}")).chain(["--timeout=20s".into()]) {
        let args = [&["--columns=git,name", &other], args].concat();
        assert_eq!(shown(&dls(cwd, &args)), expected, "{other}");
    }
    expected.lines().map(str::to_string).collect()
}

/// One of everything that is not a conflict.
fn varied(place: &Place) -> PathBuf {
    let files =
        ["a b", "both", "clean", "gone", "moved", "staged", "type", "unindexed", "sub/deep/x", "sub/y"];
    let top = place.repository("varied", &files);
    write(&top.join("a b"), "changed");
    write(&top.join("staged"), "changed");
    write(&top.join("both"), "changed");
    git(&top, &["add", "staged", "both"]);
    write(&top.join("both"), "changed again");
    fs::remove_file(top.join("gone")).unwrap();
    git(&top, &["mv", "moved", "renamed"]);
    fs::remove_file(top.join("type")).unwrap();
    symlink("clean", top.join("type")).unwrap();
    git(&top, &["rm", "-q", "--cached", "unindexed"]);
    write(&top.join("added"), "new");
    git(&top, &["add", "added"]);
    write(&top.join(".gitignore"), "*.o\n/target/\n");
    write(&top.join("target/debug/bin"), "");
    write(&top.join("fresh/a/b"), "");
    write(&top.join("sub/z.o"), "");
    write(&top.join("sub/deep/x"), "changed");
    top
}

#[test]
fn letters_of_everything() {
    let place = Place::new();
    let top = varied(&place);
    let expected = [
        "-I .git",
        "-N .gitignore",
        "-M a b",
        "N- added",
        "MM both",
        "-- clean",
        "-N fresh",
        "R- renamed",
        "M- staged",
        "-M sub",
        "-I target",
        "-T type -> clean",
        "DN unindexed",
    ];
    assert_eq!(letters(&top, &["-A"]), expected);
    assert_eq!(letters(&place.path(), &["-A", "varied"]), expected, "from outside");
    symlink("varied/sub", place.path().join("link")).unwrap();
    let sub = ["-M deep", "-- y", "-I z.o"];
    assert_eq!(letters(&place.path(), &["link/"]), sub, "by a link");
    assert_eq!(letters(&top.join("sub"), &[]), sub, "from within");
    assert_eq!(letters(&top.join("sub"), &["../sub/deep/.."]), sub, "by detours");
    assert_eq!(letters(&top, &["-a", "sub/deep"]), ["-M .", "-  ..", "-M x"]);
    assert_eq!(letters(&top, &["-R", "target"])[1], "-I debug", "below what is ignored");
    assert_eq!(letters(&top, &["fresh/a"]), ["-N b"], "below what is untracked");
}

/// `.git`, and everything in it, is ignored, however it is listed.
#[test]
fn a_repository_itself_is_ignored_in_every_view() {
    let place = Place::new();
    let top = place.repository("repository", &["a"]);
    let own = top.join(".git");
    assert_eq!(letters(&top, &["-d", ".git"]), ["-I .git"]);
    assert_eq!(letters(&place.path(), &["-d", "repository/.git"]), ["-I repository/.git"]);
    assert_eq!(letters(&own, &["-d"]), ["-I ."]);
    assert!(letters(&own, &["-A"]).iter().all(|line| line.starts_with("-I ")));
    let tree = letters(&top, &["-A", "--tree", "-I", "hooks"]);
    let (gits, others): (Vec<&String>, Vec<&String>) =
        tree[1..].iter().partition(|line| line.contains(".git") || line.contains("|   "));
    assert!(gits.len() > 3 && gits.iter().all(|line| line.starts_with("-I ")), "{tree:#?}");
    assert_eq!(others, ["-- `-- a"]);
    for operand in [".git", ".git/HEAD"] {
        let rows = shown(&dls(&top, &["-d", "--ndjson", "--git", operand]));
        assert!(rows.contains(r#""git_staged":"none","git_unstaged":"ignored""#), "{rows}");
    }
}

#[test]
fn files_and_several_directories_are_asked_about_together() {
    let place = Place::new();
    let top = varied(&place);
    assert_eq!(
        letters(&top, &["sub/y", "staged", "type", "sub/deep"]),
        ["M- staged", "-- sub/y", "-T type -> clean", "", "sub/deep:", "-M x"]
    );
    // At the top one file is gone from the index, and one from the work tree.
    assert_eq!(letters(&top, &["-d", "sub", "fresh", "."]), ["DD .", "-N fresh", "-M sub"]);
    let args = ["--columns=git,name", "--explain", "sub/y", "sub/deep", "."];
    let told = text(&dls(&top, &args).output().unwrap().stderr);
    assert_eq!(told.lines().filter(|line| line.starts_with("git: ")).count(), 1, "{told}");
}

#[test]
fn unmerged() {
    let place = Place::new();
    let top = place.repository("torn", &["d/file", "other"]);
    git(&top, &["checkout", "-q", "-b", "side"]);
    write(&top.join("d/file"), "side");
    git(&top, &["commit", "-q", "-a", "-m", "side"]);
    git(&top, &["checkout", "-q", "main"]);
    write(&top.join("d/file"), "main");
    git(&top, &["commit", "-q", "-a", "-m", "main"]);
    assert_eq!(try_git(&top, &["merge", "side"]).end, End::Exit(1));
    assert_eq!(letters(&top, &[]), ["UU d", "-- other"]);
    assert_eq!(letters(&top, &["d"]), ["UU file"]);
}

#[test]
fn repositories_in_repositories() {
    let place = Place::new();
    let inner = place.repository("inner", &["a", "b"]);
    let outer = place.repository("outer", &["file"]);
    git(&outer, &["submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"]);
    git(&outer, &["commit", "-q", "-m", "sub"]);
    write(&outer.join("sub/a"), "changed");
    git(&outer, &["init", "-q", "nested"]);
    write(&outer.join("nested/n"), "");
    let all = ["-- file", "-N nested", "-- sub", "", "./nested:", "-N n", "", "./sub:", "-M a", "-- b"];
    assert_eq!(letters(&outer, &["-R"])[1..], all, "what is changed in a submodule shows there only");
    git(&outer.join("sub"), &["commit", "-q", "--allow-empty", "-m", "next"]);
    assert_eq!(letters(&outer, &[]), ["-- file", "-N nested", "-M sub"]);
    let all = ["-- file", "-N nested", "-M sub", "", "./nested:", "-N n", "", "./sub:", "-M a", "-- b"];
    assert_eq!(letters(&outer, &["-R"])[1..], all);
    assert_eq!(letters(&outer, &["sub"]), ["-M a", "-- b"]);
    git(&inner, &["worktree", "add", "-q", "../second"]);
    write(&place.path().join("second/b"), "changed");
    assert_eq!(letters(&place.path(), &["second"]), ["-- a", "-M b"], ".git is a file there");
}

#[test]
fn heads_that_lead_nowhere() {
    let place = Place::new();
    let empty = place.repository("empty", &[]);
    assert_eq!(letters(&empty, &["-A"]), ["-I .git"]);
    write(&empty.join("x"), "");
    assert_eq!(letters(&empty, &[]), ["-N x"]);
    let detached = place.repository("detached", &["a"]);
    git(&detached, &["checkout", "-q", "--detach"]);
    write(&detached.join("a"), "changed");
    assert_eq!(letters(&detached, &[]), ["-M a"]);
    git(&place.path(), &["init", "-q", "--bare", "bare"]);
    let bare = letters(&place.path(), &["bare"]);
    assert!(bare.len() > 3 && bare.iter().all(|line| line.starts_with("- ")), "{bare:?}");
}

/// Without git nothing is shown or reported, and the listing is complete.
#[test]
fn what_git_cannot_read() {
    let place = Place::new();
    let corrupt = place.repository("corrupt", &["a"]);
    fs::write(corrupt.join(".git/index"), "rubbish").unwrap();
    assert_eq!(letters(&corrupt, &[]), ["- a"]);
    let explained = dls(&corrupt, &["-l", "--git", "--explain"]).output().unwrap();
    let told = format!("git: {}: git ended with status 128\n", corrupt.display());
    assert!(text(&explained.stderr).ends_with(&told), "{}", text(&explained.stderr));
    let lost = place.repository("lost", &["a"]);
    fs::remove_dir_all(lost.join(".git")).unwrap();
    fs::write(lost.join(".git"), "gitdir: /nonexistent\n").unwrap();
    assert_eq!(letters(&lost, &[]), ["- a"]);
    let sound = place.repository("sound", &["a"]);
    let run = dls(&sound, &["--columns=git,name"]).env("PATH", "/nonexistent");
    assert_eq!(shown(&run), "- a\n", "no git");
    if is_root() {
        std::os::unix::fs::chown(&sound, Some(12_345), None).unwrap();
        assert_eq!(letters(&sound, &[]), ["- a"], "another's repository, which git refuses to run in");
    }
}

/// A program in place of git; `path` is its directory.
fn fake_git(place: &Place, script: &str) -> PathBuf {
    let path = place.path().join("bin");
    write(&path.join("git"), &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn with_git(run: Run, path: &Path) -> Run {
    run.env("PATH", format!("{}:/usr/bin:/bin", path.display()))
}

#[test]
fn a_late_answer_is_not_waited_for() {
    let place = Place::new();
    let top = place.repository("slow", &["a"]);
    let pids = place.path().join("pids");
    let bin = fake_git(&place, &format!("sleep 50 & echo $$ $! > {}; wait; echo x", pids.display()));
    for (args, budget) in
        [(&["--git=300ms"][..], "9s"), (&["--git"], "300ms"), (&["--git", "--timeout=300ms"], "")]
    {
        let args = [&["--columns=name"], args].concat();
        let run = with_git(dls(&top, &args).env("DLS_GIT_BUDGET", budget), &bin);
        let start = Instant::now();
        assert_eq!(shown(&run), ".. a\n", "{args:?}");
        assert!(start.elapsed() < Duration::from_secs(4), "{args:?}: {:?}", start.elapsed());
        for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
            assert!(is_gone(pid), "{pid} is left behind");
        }
    }
    let outcome = with_git(dls(&top, &["-l", "--git=100ms", "--explain"]), &bin).output().unwrap();
    assert_eq!(outcome.end, End::Exit(0));
    assert!(text(&outcome.stderr).contains(": late: given up "), "{}", text(&outcome.stderr));
}

#[test]
fn git_ends_with_us() {
    let place = Place::new();
    let top = place.repository("slow", &["a"]);
    let pid = place.path().join("pid");
    let bin = fake_git(&place, &format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 50", pid.display()));
    let run = with_git(dls(&top, &["-l", "--git=20s"]), &bin);
    let mut child = run.command().stdout(std::process::Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while !pid.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let pid = fs::read_to_string(pid).unwrap();
    assert!(is_gone(pid.trim()), "{pid} outlives the process that started it");
}

/// Whether a process has ended, or will be seen to have in a moment.
fn is_gone(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(3);
    loop {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn git_is_not_started_where_nobody_would_see_it() {
    let place = Place::new();
    let top = place.repository("repository", &["a"]);
    let mark = place.path().join("started");
    let bin = fake_git(&place, &format!("touch {}", mark.display()));
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let never = [(&top, "-l"), (&top, "--git -C"), (&outside, "-l --git"), (&outside, "--gitignore")];
    for (cwd, args) in never {
        let args: Vec<&str> = args.split(' ').collect();
        shown(&with_git(dls(cwd, &args), &bin));
        assert!(!mark.exists(), "{args:?}");
    }
    shown(&with_git(dls(&top, &["-l", "--git"]), &bin));
    assert!(mark.exists());
}

#[test]
fn what_is_ignored_is_left_out() {
    let place = Place::new();
    let top = varied(&place);
    let listed = |args: &[&str]| {
        let args = [&["--gitignore", "-1"], args].concat();
        let expected = shown(&dls(&top, &args));
        for mode in MODES {
            assert_eq!(shown(&dls(&top, &[&args[..], &[&format!("--mode={mode}")]].concat())), expected);
        }
        expected.lines().map(str::to_string).collect::<Vec<_>>().join(" ")
    };
    let rest = "added both clean fresh renamed staged sub type unindexed";
    assert_eq!(listed(&["-A", "-I", "a b"]), format!(".gitignore {rest}"));
    assert_eq!(listed(&["-I", "a b", "-U"]).split(' ').count(), 9, "also where it would stream");
    assert_eq!(listed(&["sub"]), "deep y");
    assert_eq!(listed(&["-R", "sub"]), "sub: deep y  sub/deep: x");
    assert_eq!(listed(&["target", "sub/z.o"]), "sub/z.o  target: debug", "what is named is listed");
    assert!(!listed(&["-R"]).contains("target"), "nor is it entered");
}

/// A new directory with ignored files in it: what is left is what git would add, and what `dents` keeps (`dents/tests/gitignore.rs`).
#[test]
fn what_is_ignored_in_an_untracked_directory_is_left_out() {
    let place = Place::new();
    let top = place.repository("new", &["README"]);
    write(&top.join(".gitignore"), "node_modules/\n*.pyc\n/a/b/*\n!keep\n");
    for file in
        ["a.py", "a.pyc", "src/b.py", "src/b.pyc", "node_modules/big/f", "a/b/c", "a/b/keep", "a/b/d/e"]
    {
        write(&top.join("sub").join(file), "");
        write(&top.join(file), "");
    }
    let kept = try_git(&top, &["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut kept: Vec<String> = text(&kept.stdout).lines().map(str::to_string).collect();
    kept.sort();
    let listed = shown(&dls(&top, &["--gitignore", "-RA1p"]));
    let mut files = Vec::new();
    for block in listed.split("\n\n") {
        let (directory, names) = block.trim_start().split_once(":\n").unwrap_or((block, ""));
        let directory = directory.strip_prefix('.').unwrap_or_default().trim_matches(['/', ':', '\n']);
        let names = names.lines().filter(|name| !name.ends_with('/'));
        files.extend(names.map(|name| format!("{directory}/{name}").trim_start_matches('/').to_string()));
    }
    files.sort();
    assert_eq!(files, kept, "{listed}");
    assert_eq!(
        shown(&dls(&top, &["--columns=git,name", "sub"])),
        "-N a\n-N a.py\n-I a.pyc\n-I node_modules\n-N src\n"
    );
}

/// Where the search for untracked files takes too long, users turn it off.
#[test]
fn untracked_files_are_not_searched_where_git_is_set_so() {
    let place = Place::new();
    let top = varied(&place);
    let all = letters(&top, &[]);
    assert!(all.contains(&"-N fresh".into()) && all.contains(&"-I target".into()), "{all:?}");
    git(&top, &["config", "status.showUntrackedFiles", "no"]);
    let without = |line: &String| match line.split_at(2) {
        ("-N" | "-I", name) => format!("--{name}"),
        ("DN", name) => format!("D-{name}"),
        _ => line.clone(),
    };
    assert_eq!(letters(&top, &[]), all.iter().map(without).collect::<Vec<_>>());
    let listed = shown(&dls(&top, &["--gitignore"]));
    assert!(listed.contains("fresh") && !listed.contains("target"), "{listed}");
}

/// Without an answer all entries are listed, with a message.
#[test]
fn what_is_ignored_is_not_known() {
    let place = Place::new();
    let top = varied(&place);
    let bin = fake_git(&place, "sleep 50");
    let slow = with_git(dls(&top, &["--gitignore", "-R", "sub"]), &bin).env("DLS_GIT_BUDGET", "100ms");
    let none = dls(&top, &["--gitignore", "-R", "sub"]).env("PATH", "/nonexistent");
    for (run, why) in [(slow, "git did not answer within 10"), (none, "cannot run git: No such file")] {
        let outcome = run.output().unwrap();
        assert_eq!(outcome.end, End::Exit(0));
        assert_eq!(text(&outcome.stdout), "sub:\ndeep\ny\nz.o\n\nsub/deep:\nx\n");
        let told = text(&outcome.stderr);
        assert!(told.contains(why) && told.ends_with(": what it ignores is not left out\n"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

/// The environment of a hook, or of a shell within one, names a repository; ours is where the files are.
#[test]
fn the_repository_is_the_one_around_the_files() {
    let place = Place::new();
    let (here, there) = (place.repository("here", &["a"]), place.repository("there", &["a"]));
    write(&here.join("a"), "changed");
    let run = dls(&here, &["--columns=git,name"]);
    let run = run.env("GIT_DIR", there.join(".git")).env("GIT_WORK_TREE", &there).env("GIT_INDEX_FILE", "/x");
    assert_eq!(shown(&run), "-M a\n");
}

/// The author of a cloned directory can put the files of a bare repository into it, with a configuration that makes
/// git run a program; a `git status` in there would run it.
#[test]
fn hidden_bare_repositories_are_not_run() {
    let place = Place::new();
    let top = place.repository("cloned", &["a"]);
    let mark = place.path().join("was-run");
    git(&top, &["init", "-q", "--bare", "trap"]);
    let monitor = format!("touch {}; false", mark.display());
    for (key, value) in [("core.bare", "false"), ("core.worktree", ".."), ("core.fsmonitor", &monitor)] {
        git(&top, &["config", "--file", "trap/config", key, value]);
    }
    for (cwd, args) in [(&top, &["trap"][..]), (&top, &["-R"]), (&top.join("trap"), &[])] {
        shown(&dls(cwd, &[&["-l", "--git"], args].concat()));
        assert!(!mark.exists(), "{args:?}");
    }
    // That the trap is one.
    let _ = try_git(&top.join("trap"), &["status"]);
    assert!(mark.exists(), "git itself does not run it");
}

#[test]
fn hostile_names() {
    let place = Place::new();
    let top = place.repository(":(glob)[*]\n", &["*", ":!x", "--help", "a\nb", "tab\t/in"]);
    write(&top.join("*"), "changed");
    write(&top.join("a\nb"), "changed");
    write(&top.join("tab\t/in"), "changed");
    let expected = ["-M \"*\"", "-- \"--help\"", "-- \":!x\"", "-M \"a\\nb\"", "-M \"tab\\t\""];
    assert_eq!(letters(&top, &["-Q"]), expected);
    assert_eq!(letters(&top, &["-Q", "--", "*", ":!x", "--help"]), expected[..3]);
    assert_eq!(letters(&top, &["tab\t"]), ["-M in"]);
}

#[test]
fn trees() {
    let place = Place::new();
    let top = varied(&place);
    let nested = place.repository("varied/nested", &["n"]);
    write(&nested.join("n"), "changed");
    let expected = [
        "-N fresh",
        "-N └── a",
        "-N     └── b",
        "-M nested",
        "-M └── n",
        "-M sub",
        "-M ├── deep",
        "-M │   └── x",
        "-- ├── y",
        "-I └── z.o",
    ];
    let tree = |args: &[&str]| {
        let args = [&["--columns=git,name", "--tree"], args, &["sub", "fresh", "nested"]].concat();
        let listed = |mode: &str| {
            let run = dls(&top, &[&args[..], &[mode]].concat()).env("LC_ALL", "C.UTF-8");
            shown(&run).replace('\u{a0}', " ")
        };
        let expected = listed("--mode=classic");
        for mode in MODES {
            assert_eq!(listed(&format!("--mode={mode}")), expected, "{mode}");
        }
        assert_eq!(listed("--timeout=20s"), expected);
        expected.lines().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(tree(&[]), expected);
    let hidden = [&expected[..8], &["-- └── y"]].concat();
    assert_eq!(tree(&["--gitignore"]), hidden);
    assert_eq!(tree(&["--gitignore", "--tree-limit=2"]), hidden, "what is left out is not counted");
    let sizes = shown(&dls(&top, &["--columns=git,total,name", "--total-size=20s", "-I", "[!s]*"]));
    let sizes: Vec<Vec<&str>> = sizes.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(sizes, [["M-", "7", "staged"], ["-M", "127", "sub"]]);
}

/// An ignored directory does not count for `--tree-limit`, and a directory is not shown below an ignored link, with a deadline
/// and without.
#[test]
fn ignored_directories_do_not_stand_in_for_others() {
    let place = Place::new();
    let top = place.repository("r", &["z/file"]);
    write(&top.join("a/built"), "x");
    symlink("z", top.join("alias")).unwrap();
    write(&top.join(".gitignore"), "a\nalias\n");
    let modes = MODES.iter().map(|mode| format!("--mode={mode}"));
    for way in modes.chain(["--timeout=60".to_string()]) {
        let tree = |more: &[&str]| {
            shown(&dls(&top, &[&["--tree", "--gitignore", &way], more].concat()).env("LC_ALL", "C.UTF-8"))
        };
        let expected = ".\n└── z\n    └── file\n";
        assert_eq!(tree(&["--tree-limit=1"]), expected, "{way}");
        assert_eq!(tree(&["-L"]), expected, "{way}");
    }
}
