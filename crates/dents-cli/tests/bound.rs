//! A directory that is mounted below itself: once, as in GNU du and find.

mod tools;

use dents_lab::process::{End, Outcome, Run};
use tools::{complaints, dents, linked_tree, other, sorted, text};

/// The exit status if mounting is refused.
const REFUSED: i32 = 99;

/// Runs a command after a mount in a mount namespace of its own. `None` if mounting is refused.
fn mounted(mount: &str, run: &Run) -> Option<Outcome> {
    let script = format!("mount --bind {mount} || exit {REFUSED}; exec \"$@\"");
    let outcome = tools::run(&run.clone().under(&["unshare", "-rm", "/bin/sh", "-c", &script, "sh"]));
    // A kernel without user namespaces: `unshare` fails itself.
    let is_refused = outcome.end == End::Exit(REFUSED) || text(&outcome.stderr).starts_with("unshare: ");
    if is_refused {
        println!("skipped: {}", text(&outcome.stderr));
    }
    (!is_refused).then_some(outcome)
}

/// The directory and where it is mounted: right below itself, and far below.
const MOUNTS: [&str; 3] = ["t/a t/a/deep/er", "t t/empty", "t t/a/deep"];

#[test]
fn du_counts_it_once() {
    let dir = linked_tree();
    for mount in MOUNTS {
        for options in ["-s", "-x -s", "-l -d9", "-L -s", "-s --inodes", "-a -l -d9", "-d9 -l -S"] {
            let words = format!("{options} t");
            let du = |run: &Run| mounted(mount, run);
            let (Some(ours), Some(theirs)) = (
                du(&dents(dir.path(), &format!("du {words}"))),
                du(&other("/usr/bin/du", dir.path(), &format!("-k {words}"))),
            ) else {
                return;
            };
            let lines = |outcome: &Outcome| text(&sorted(&outcome.stdout, b'\n').concat());
            assert_eq!(lines(&ours), lines(&theirs), "{mount}: du {words}");
            assert_eq!(
                (complaints(&ours), ours.end),
                (complaints(&theirs), theirs.end),
                "{mount}: du {words}"
            );
        }
    }
}

#[test]
fn find_and_scan_leave_it_out_and_say_so() {
    let dir = linked_tree();
    for (mount, loops) in MOUNTS.into_iter().zip(["t/a/deep/er", "t/empty", "t/a/deep"]) {
        for follow in ["", "-L"] {
            let (Some(ours), Some(theirs)) = (
                mounted(mount, &dents(dir.path(), &format!("scan {follow} --printf %p\\0 t"))),
                mounted(mount, &other("/usr/bin/find", dir.path(), &format!("{follow} t -print0"))),
            ) else {
                return;
            };
            assert_eq!(sorted(&ours.stdout, 0), sorted(&theirs.stdout, 0), "{mount} {follow}");
            let message =
                format!("cannot enter '{loops}': File system loop: it is one of the directories above it");
            assert!(text(&ours.stderr).contains(&message), "{mount} {follow}: {}", text(&ours.stderr));
            let expected = if follow.is_empty() { theirs.end } else { End::Exit(1) };
            assert_eq!(ours.end, expected, "{mount} {follow}");
        }
    }
}

#[test]
fn counts_have_it_once() {
    let dir = linked_tree();
    let figure = |words: &str, mount: &str| {
        mounted(mount, &dents(dir.path(), words)).map(|outcome| (text(&outcome.stdout), outcome.end))
    };
    for words in ["count t", "stats --by user --csv t", "top --csv t", "du -d9 --csv t"] {
        // The mount point hides a directory, and is not counted.
        let expected = text(&tools::stdout(&dents(dir.path(), &format!("{words} --exclude empty"))));
        let Some((bound, end)) = figure(words, "t t/empty") else { return };
        assert_eq!((bound.as_str(), end), (expected.as_str(), End::Exit(0)), "{words}");
    }
    let Some((bound, end)) = figure("count --min-depth 99 t", "t t/empty") else { return };
    assert!(bound.contains("0  entries") && end == End::Exit(0), "{bound} {end:?}");
}
