//! The paths of the output, compared with those of `find`.

use crate::{assert_fine, compare, dents, find, make, run, sorted, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use dents_lab::terminal;
use dents_lab::zoo::Zoo;

#[test]
fn a_zoo() {
    let zoo = Zoo::new().expect("a zoo");
    for path in [".", "names", "./", "tree//", "../zoo", "link-parent", "sparse1TiB"] {
        compare(zoo.path(), &["-0", path], &[path, "-print0"]);
    }
    compare(zoo.path(), &["-0"], &["-print0"]);
    compare(zoo.path(), &["-0", "tree", "names", "tree/a"], &["tree", "names", "tree/a", "-print0"]);
    compare(zoo.path(), &["-0", "-d"], &["-type", "d", "-print0"]);
    compare(zoo.path(), &["-0", "-f"], &["!", "-type", "d", "-print0"]);
    compare(zoo.path(), &["-0", "--max-depth", "0"], &["-maxdepth", "0", "-print0"]);
    compare(zoo.path(), &["-0", "--max-depth", "1"], &["-maxdepth", "1", "-print0"]);
    compare(zoo.path(), &["-0", "--min-depth", "2"], &["-mindepth", "2", "-print0"]);
    compare(zoo.path(), &["-0", "-x", "/dev"], &["/dev", "-xdev", "-print0"]);
}

#[test]
fn lines_are_those_of_find() {
    let dir = TempDir::new("lines").expect("a directory");
    make(dir.path(), "mkdir -p a/b c; touch a/x a/b/y c/z");
    let (ours, theirs) = (run(&dents(dir.path())), run(&find(dir.path())));
    assert_fine(&ours);
    assert_eq!(sorted(&ours.stdout, b'\n'), sorted(&theirs.stdout, b'\n'));
}

#[test]
fn hostile_names() {
    let dir = TempDir::new("names").expect("a directory");
    let long = "n".repeat(255);
    make(
        dir.path(),
        &format!(
            "mkdir \"$(printf 'd\\nd')\" \"$(printf '\\377\\200')\"; touch \"$(printf 'd\\nd')/$(printf '\\033[31m')\" {long} -- -x ' '"
        ),
    );
    compare(dir.path(), &["-0"], &["-print0"]);
    // With `./`, because otherwise it would be an option.
    compare(dir.path(), &["-0", "--", "./-x"], &["./-x", "-print0"]);
}

#[test]
fn what_is_not_there_is_told_and_the_rest_goes_on() {
    let dir = TempDir::new("missing").expect("a directory");
    make(dir.path(), "mkdir a; touch a/b");
    compare(dir.path(), &["-0", "no", "a", "a/b/c", ""], &["no", "a", "a/b/c", "", "-print0"]);
    // In the quotes of ls, which a shell understands.
    let outcome = run(&dents(dir.path()).args(["-0", "\u{1b}[31m\n"]));
    let said = "dents: cannot access ''$'\\033''[31m'$'\\n': No such file or directory\n";
    assert_eq!((text(&outcome.stderr).as_str(), outcome.end), (said, End::Exit(1)));
}

#[test]
fn links_are_followed_if_asked_for() {
    let dir = TempDir::new("links").expect("a directory");
    make(
        dir.path(),
        "mkdir -p a/b other/deep; ln -s ../../other a/b/out; ln -s nowhere a/dangling; ln -s a to-a; ln -s other/deep to-deep",
    );
    compare(dir.path(), &["-0", "-L"], &["-L", ".", "-print0"]);
    compare(dir.path(), &["-0", "-L", "-f"], &["-L", ".", "!", "-type", "d", "-print0"]);
    compare(dir.path(), &["-0", "-L", "-t", "l"], &["-L", ".", "-type", "l", "-print0"]);
    compare(dir.path(), &["-0", "-H", "to-a"], &["-H", "to-a", "-print0"]);
    compare(dir.path(), &["-0", "to-a", "to-a/"], &["to-a", "to-a/", "-print0"]);
}

/// As with `find`, the link that makes a loop is reported and not listed.
/// A link to an empty directory is one, where links are followed.
#[test]
fn empty_directories_behind_links() {
    let dir = TempDir::new("empty").expect("a directory");
    make(dir.path(), "mkdir empty full; touch full/x; ln -s empty l; ln -s ../empty full/l; ln -s full m");
    for path in ["l", "m", "."] {
        for how in ["-P", "-H", "-L"] {
            let ours: Vec<&str> =
                ["-0", "--empty", path, how].into_iter().filter(|word| *word != "-P").collect();
            let oracle = run(&find(dir.path()).args([how, path, "-empty", "-print0"]));
            let subject = run(&dents(dir.path()).args(ours));
            assert_eq!(sorted(&subject.stdout, 0), sorted(&oracle.stdout, 0), "{how} {path}");
            assert_eq!(subject.end, oracle.end, "{how} {path}");
        }
    }
}

#[test]
fn a_loop_of_links_is_told_of_and_left() {
    let dir = TempDir::new("loop").expect("a directory");
    make(dir.path(), "mkdir -p a/b; ln -s ../.. a/b/up; ln -s . a/self; touch a/b/x");
    let theirs = run(&find(dir.path()).args(["-L", ".", "-print0"]));
    let expected = sorted(&theirs.stdout, 0);
    for how in [&["--sync"][..], &["--threads", "4"]] {
        let ours = run(&dents(dir.path()).args(["-0", "-L"]).args(how));
        assert_eq!(sorted(&ours.stdout, 0), expected);
        assert_eq!((ours.end, theirs.end), (End::Exit(1), End::Exit(1)));
        let told = text(&ours.stderr);
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(told.contains("dents: cannot enter './a/b/up': File system loop"), "{told}");
    }
}

#[test]
fn sync_is_the_order_of_reading_depth_first() {
    let dir = TempDir::new("order").expect("a directory");
    make(dir.path(), "mkdir -p a/b/c a/d e; touch a/b/x e/y");
    let first = run(&dents(dir.path()).args(["--sync"]));
    let lines: Vec<String> = text(&first.stdout).lines().map(str::to_owned).collect();
    for line in &lines[1..] {
        let parent = line.rsplit_once('/').map_or("", |(parent, _)| parent);
        let place = |path: &str| lines.iter().position(|one| one == path);
        assert!(place(parent) < place(line), "{line} after {parent}");
    }
    assert_eq!(first, run(&dents(dir.path()).args(["--sync"])));
}

#[test]
fn a_terminal_is_shown_nothing_it_would_obey() {
    let dir = TempDir::new("terminal").expect("a directory");
    make(dir.path(), "touch \"$(printf 'a\\033[31mb')\" plain");
    let seen = terminal::output(&dents(dir.path()), 80, false).expect("a terminal");
    let lines = text(&seen.stdout);
    assert!(
        lines.contains("./a?[31mb") && lines.contains("./plain") && !lines.contains('\u{1b}'),
        "{lines:?}"
    );
}
