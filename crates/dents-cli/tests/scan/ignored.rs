//! `--gitignore`, with git as the oracle.

use crate::{dents, make, run, sorted};
use dents_lab::fixture::TempDir;
use std::path::Path;
use std::process::Command;

const TREE: &str = "
git init -q . 2>/dev/null
mkdir -p src/gen lib/target doc/target a/b/c
printf '*.o\\n/top\\ntarget/\\n!keep.o\\nsrc/gen/*\\n# nothing\\n\\nno such [\\n' > .gitignore
printf '!x.o\\n*.tmp\\nb/\\n' > a/.gitignore
printf 'deep.*\\n' > a/b/c/.gitignore
printf 'private\\n' > .git/info/exclude
touch x.o keep.o top src/top src/x.o src/gen/y lib/target/z doc/target/w a/x.o a/y.tmp a/b/c/deep.1 src/private src/f .hidden
mkdir lib/other; printf '*\\n!.gitignore\\n!seen\\n' > lib/other/.gitignore; touch lib/other/seen lib/other/unseen
";

/// The files that git tracks or would track.
fn git(cwd: &Path) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(cwd)
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .expect("git");
    assert!(output.status.success(), "{output:?}");
    sorted(&output.stdout, 0)
}

fn ours(cwd: &Path) -> Vec<String> {
    let run = dents(cwd).args(["--gitignore", "-f", "--printf", "%P\\0"]).env("HOME", "/nonexistent");
    sorted(&crate::run(&run).stdout, 0)
}

#[test]
fn as_git_has_it() {
    let dir = TempDir::new("ignored").expect("a directory");
    make(dir.path(), TREE);
    for below in ["", "src", "lib", "lib/other", "doc"] {
        let place = dir.path().join(below);
        assert_eq!(ours(&place), git(&place), "{below:?}");
    }
    let all = ours(dir.path());
    assert!(
        all.contains(&"keep.o".to_owned())
            && all.contains(&"a/x.o".to_owned())
            && !all.contains(&"x.o".to_owned())
    );
}

#[test]
fn a_repository_within_has_rules_of_its_own() {
    let dir = TempDir::new("nested").expect("a directory");
    make(
        dir.path(),
        "git init -q . ; printf '*.o\\n' > .gitignore; mkdir in; git init -q in; touch in/a.o a.o in/b",
    );
    let all = ours(dir.path());
    assert_eq!(all, [".gitignore", "in/a.o", "in/b"]);
}

#[test]
fn ignore_files_hold_without_a_repository() {
    let dir = TempDir::new("plain").expect("a directory");
    make(
        dir.path(),
        "mkdir a; printf 'x\\n' > .ignore; printf '!x\\ny\\n' > a/.gitignore; touch x a/x a/y a/z",
    );
    assert_eq!(ours(dir.path()), [".ignore", "a/.gitignore", "a/z"]);
}

#[test]
fn nothing_is_ignored_unless_asked_for() {
    let dir = TempDir::new("all").expect("a directory");
    make(dir.path(), "printf '*\\n' > .gitignore; touch x");
    assert_eq!(sorted(&run(&dents(dir.path()).args(["-0"])).stdout, 0).len(), 3);
}

#[test]
fn a_worktree_has_the_exclude_file_of_its_repository() {
    let dir = TempDir::new("worktree").expect("a directory");
    make(
        dir.path(),
        "git init -q main 2>/dev/null; cd main; printf '*.o\n' > .git/info/exclude; : > f; git add f
        git -c user.name=n -c user.email=e commit -q -m first; git worktree add -q ../tree 2>/dev/null
        touch ../tree/x.o ../tree/y",
    );
    let tree = dir.path().join("tree");
    let expected: Vec<String> = git(&tree);
    assert_eq!(expected, ["f", "y"]);
    assert_eq!(ours(&tree), expected);
}

/// Entries with the name of an ignore file that are none, and the messages about them.
const TRAPS: [(&str, &str, &str); 8] = [
    ("fifo", "mkfifo .gitignore", ".gitignore': not a regular file"),
    ("zero", "ln -s /dev/zero .ignore", ".ignore': a symbolic link"),
    ("device", "mkdir -p .git/info; mkfifo .git/info/exclude", ".git/info/exclude': not a regular file"),
    ("top", "mkfifo .git", ".git': not a regular file"),
    ("large", "head -c 1048577 /dev/zero | tr '\\0' '\\n' > .gitignore", ".gitignore': more than 1 MiB"),
    ("directory", "mkdir .gitignore", ".gitignore': not a regular file"),
    (
        "worktree",
        "echo gitdir: other > .git; mkdir other; mkfifo other/commondir",
        "other/commondir': not a regular file",
    ),
    (
        "exclude",
        "echo gitdir: kept > .git; mkdir -p kept/info; ln -s /dev/zero kept/info/exclude",
        "exclude': a symbolic link",
    ),
];

#[test]
fn what_is_no_ignore_file_is_passed_over_with_a_message() {
    for (name, script, said) in TRAPS {
        let dir = TempDir::new(name).expect("a directory");
        make(dir.path(), &format!("mkdir t; : > t/f; cd t; {script}"));
        let outcome = run(&dents(dir.path()).args(["--gitignore", "t"]).env("HOME", "/nonexistent"));
        let told = crate::text(&outcome.stderr);
        assert_eq!(outcome.end, dents_lab::process::End::Exit(0), "{name}: {told}");
        assert!(told.starts_with("dents: cannot use 't/") && told.contains(said), "{name}: {told}");
        assert_eq!(told.lines().count(), 1, "{name}: {told}");
        assert!(sorted(&outcome.stdout, b'\n').contains(&"t/f".to_owned()), "{name}");
    }
}

#[test]
fn ignore_files_above_the_path_are_read_with_the_same_care() {
    let dir = TempDir::new("above").expect("a directory");
    make(
        dir.path(),
        "git init -q .; mkfifo .gitignore; mkdir -p a/b; ln -s /dev/zero a/.gitignore; : > a/b/f",
    );
    let outcome = run(&dents(dir.path()).args(["--gitignore", "a/b"]).env("HOME", "/nonexistent"));
    assert_eq!(sorted(&outcome.stdout, b'\n'), ["a/b", "a/b/f"]);
    assert_eq!(crate::text(&outcome.stderr).lines().count(), 2);
}
