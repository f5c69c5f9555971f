//! `-L` with links that lead to each other, or to a directory above.

use crate::{compare, dents, find, make, run, sorted, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::End;

/// `self` leads to itself, `one` and `two` lead to each other, and `up` leads to its own directory.
fn tree() -> TempDir {
    let dir = TempDir::new("loops").expect("a directory");
    make(
        dir.path(),
        "mkdir -p t/a/b; : > t/a/b/f; ln -s nowhere t/dangling; ln -s a t/to-a; ln -s b/f t/a/to-f
        ln -s self t/self; ln -s two t/a/one; ln -s one t/a/two",
    );
    dir
}

#[test]
fn links_in_a_circle_are_told_of_and_not_shown() {
    let dir = tree();
    for (ours, theirs) in [
        (&["-L", "-0"][..], &["-print0"][..]),
        (&["-L", "-0", "-f"], &["-not", "-type", "d", "-print0"]),
        (&["-L", "--printf", "%p %y\\0"], &["-printf", "%p %y\\0"]),
    ] {
        compare(dir.path(), &[ours, &["t"]].concat(), &[&["-L", "t"], theirs].concat());
    }
    compare(dir.path(), &["-L", "-0", "t/self"], &["-L", "t/self", "-print0"]);
}

#[test]
fn a_directory_within_itself_is_told_of_and_not_shown() {
    let dir = TempDir::new("within").expect("a directory");
    make(dir.path(), "mkdir -p t/a/b; : > t/a/b/f; ln -s .. t/a/up; ln -s . t/here; ln -s a t/again");
    for ours in [&["-L", "-0"][..], &["-L", "-0", "-d"], &["-L", "--printf", "%p\\0"]] {
        let outcome = run(&dents(dir.path()).args(ours).args(["t"]));
        let theirs: &[&str] = if ours.contains(&"-d") { &["-type", "d", "-print0"] } else { &["-print0"] };
        let oracle = run(&find(dir.path()).args(["-L", "t"]).args(theirs));
        assert_eq!(sorted(&outcome.stdout, 0), sorted(&oracle.stdout, 0), "{ours:?}");
        let said = |path| {
            format!("dents: cannot enter '{path}': File system loop: it is one of the directories above it")
        };
        let expected = ["t/a/up", "t/again/up", "t/here"].map(said);
        let told = text(&outcome.stderr);
        let told: std::collections::BTreeSet<&str> = told.lines().collect();
        assert!(
            told.into_iter().eq(expected.iter().map(String::as_str)),
            "{ours:?}: {}",
            text(&outcome.stderr)
        );
        assert_eq!((outcome.end, oracle.end), (End::Exit(1), End::Exit(1)));
    }
}

#[test]
fn rows_tell_of_both() {
    let dir = tree();
    make(dir.path(), "ln -s .. t/a/up");
    let outcome = run(&dents(dir.path()).args(["-L", "-o", "x.ndjson", "t"]));
    assert_eq!(outcome.end, End::Exit(1));
    assert_eq!(text(&outcome.stderr).lines().count(), 7, "{}", text(&outcome.stderr));
    let rows = std::fs::read_to_string(dir.path().join("x.ndjson")).expect("the file");
    assert!(rows.contains(r#""asked":"loop""#), "{rows}");
}
