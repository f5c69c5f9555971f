//! The search for the repository: in the listed directory and those above, which the user did not name.

use super::*;
use dents_lab::slowfs::{Fault, Kind, Request, SlowFs};

const SOON: Duration = Duration::from_secs(5);

/// A server that does not answer for `.git` above the listed directory costs no more than git's time limit, and its end: with a
/// listing of a directory, of a file, and of a tree.
#[test]
fn a_directory_above_that_does_not_answer() {
    for hang in [Fault::Hang, Fault::HangHard] {
        let far = SlowFs::builder().entry(".git", Kind::Directory).tree(1, 2);
        let Some(far) = far.fault(".git", &[Request::Lookup], hang).mount_or_skip() else { return };
        let below = far.path().join("dir0");
        let late = "the search for .git did not end within 300 ms: what it ignores is not left out";
        for (args, listed, told) in [
            ("--columns=git,name --git=300ms", "… file0\n… file1\n", ""),
            ("--columns=git,name --git=300ms file0 file1", "… file0\n… file1\n", ""),
            ("--columns=git,name --git=300ms --tree", "… .\n… ├── file0\n… └── file1\n", ""),
            ("--columns=git,name --timeout=300ms -d .", "… .\n", ""),
            ("--gitignore --git=300ms -C", "file0  file1\n", late),
        ] {
            let start = Instant::now();
            let run = dls(&below, &args.split(' ').collect::<Vec<_>>()).env("LC_ALL", "C.UTF-8");
            let outcome = run.output().unwrap();
            let (took, said) = (start.elapsed(), text(&outcome.stderr));
            assert!(took < SOON, "{args}: {took:?}");
            assert_eq!(
                (outcome.end, text(&outcome.stdout).as_str()),
                (End::Exit(0), listed),
                "{args}: {said}"
            );
            assert_eq!(said.trim_start_matches("dls: ").trim_end(), told, "{args}");
        }
        let outcome = dls(&below, &["-l", "--git=300ms", "--explain"]).output().unwrap();
        assert!(text(&outcome.stderr).contains(": late: .git was not found in time"), "{outcome:?}");
    }
}

/// As for git itself: what is mounted in a work tree is not in that repository.
#[test]
fn a_mount_point_ends_the_search() {
    let place = Place::new();
    let top = place.repository("top", &[]);
    let script = "mkdir mnt sub; mount -t tmpfs none mnt || exit 77; mkdir mnt/deep; touch mnt/f mnt/deep/f sub/f; export GIT_DISCOVERY_ACROSS_FILESYSTEM
        for dir in mnt mnt/deep sub; do for GIT_DISCOVERY_ACROSS_FILESYSTEM in '' 0 on 1; do
            (cd $dir; git rev-parse 2>/dev/null && echo git in || echo git out; $dls --columns=git,name f)
        done; done";
    let mut run =
        Run::new(Path::new("/usr/bin/unshare")).cwd(&top).env("dls", checked().path().to_str().unwrap());
    run = run.args(["--map-root-user", "--mount", "sh", "-c", script]);
    let outcome = run.output().unwrap();
    if outcome.end == End::Exit(77) || text(&outcome.stderr).starts_with("unshare: ") {
        return eprintln!("skipped: nothing can be mounted: {}", text(&outcome.stderr));
    }
    let listed = text(&outcome.stdout).replace("git in\n-N f", "agree").replace("git out\n- f", "agree");
    assert_eq!(listed, "agree\n".repeat(12), "{}", text(&outcome.stderr));
    assert!(text(&outcome.stdout).contains("out") && text(&outcome.stdout).contains("in"));
}

/// As for git itself: the listed directory is looked into, and those above it, but neither a ceiling nor what is above it.
#[test]
fn ceilings_are_kept() {
    let place = Place::new();
    let top = place.repository("top", &["a", "b/c/d"]);
    let link = place.path().join("link");
    symlink(&top, &link).unwrap();
    let path = |path: PathBuf| path.to_str().unwrap().to_string();
    let (top_text, b, link) = (path(top.clone()), path(top.join("b")), path(link));
    let above = path(place.path());
    let is_found = |value: &str, cwd: &Path| {
        let run = dls(cwd, &["--columns=git,name"]).env("GIT_CEILING_DIRECTORIES", value);
        let listed = shown(&run);
        let git = Run::new(Path::new("/usr/bin/git")).cwd(cwd).args(["rev-parse", "--show-toplevel"]);
        let git = git.env("HOME", "/nonexistent").env("GIT_CEILING_DIRECTORIES", value).output().unwrap();
        let found = listed.starts_with("-- ");
        assert!(found || listed.starts_with("- "), "{listed:?}");
        assert_eq!(found, git.end == End::Exit(0), "{value:?} in {}: git and dls differ", cwd.display());
        found
    };
    let deep = top.join("b/c");
    let values = [
        (above.as_str(), true),
        (top_text.as_str(), false),
        (b.as_str(), false),
        (link.as_str(), false),
        (&format!(":{link}"), true),
        (&format!("/usr:{above}:{b}/"), false),
        (&format!(":{b}"), false),
        (&format!(":{b}/"), false),
        (&format!("{b}/c"), true),
        ("/", true),
        ("b", true),
        ("", true),
    ];
    for (value, found) in values {
        assert_eq!(is_found(value, &deep), found, "{value:?}");
        assert!(is_found(value, &top), "{value:?}: the listed directory itself");
    }
}
