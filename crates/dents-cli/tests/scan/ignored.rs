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

/// What git would list: files that are tracked, or could be.
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
