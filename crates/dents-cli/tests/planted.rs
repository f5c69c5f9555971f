//! What another user has planted where `dents` writes: links, FIFOs, directories. No command follows a link, waits for a FIFO, or uses a
//! directory that other users may change.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Watch};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tools::{dents, is_root, run, shell, text};

/// Not the user of the tests, and not root.
const OTHER: u32 = 65_534;

/// A directory with a tree `t`, a directory `victim` with a file, and the directory `p` of a scan of `t` with a task 1.
fn plant() -> TempDir {
    let dir = TempDir::new("planted").expect("a directory");
    fs::create_dir_all(dir.path().join("t/sub/deep")).expect("directories");
    fs::write(dir.path().join("t/file"), "x").expect("a file");
    fs::create_dir(dir.path().join("victim")).expect("a directory");
    fs::write(dir.path().join("victim/1"), "precious").expect("a file");
    assert_eq!(ends(&dir, "parts start -- p t"), (End::Exit(0), String::new()));
    assert_eq!(ends(&dir, "parts claim p").0, End::Exit(0));
    dir
}

/// How a command ends, and what it says; `None` if it hangs.
fn within(dir: &TempDir, words: &str, time: Duration) -> Option<(End, String)> {
    let mut command = dents(dir.path(), words).command();
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let watch = Watch::over(&child);
    let end = Instant::now() + time;
    while child.try_wait().expect("its status").is_none() {
        if Instant::now() > end {
            child.kill().expect("killed");
            child.wait().expect("ended");
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(watch);
    let output = child.wait_with_output().expect("its output");
    Some((End::from(output.status), text(&output.stderr)))
}

fn ends(dir: &TempDir, words: &str) -> (End, String) {
    let Outcome { end, stderr, .. } = run(&dents(dir.path(), words));
    (end, text(&stderr))
}

fn victim(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("victim/1")).unwrap_or_else(|error| error.to_string())
}

/// Replaces a name in `p` by a link.
fn lead(dir: &TempDir, name: &str, target: &str) {
    let path = dir.path().join("p").join(name);
    let _ = fs::remove_dir_all(&path);
    let _ = fs::remove_file(&path);
    symlink(dir.path().join(target), path).expect("a link");
}

#[test]
fn links_in_parts_lead_nowhere() {
    let dir = plant();
    lead(&dir, "waiting", "victim");
    fs::write(dir.path().join("p/taken/1"), "").expect("a file");
    let (end, told) = ends(&dir, "parts status p");
    assert_eq!(victim(&dir), "precious", "status removed a file through a link");
    assert_eq!(end, End::Exit(1));
    assert!(told.contains("p/waiting: cannot open: it is a symbolic link"), "{told}");

    let dir = plant();
    lead(&dir, "waiting/1", "victim/1");
    assert_eq!(ends(&dir, "scan --part p --task 1 --budget 1"), (End::Exit(0), String::new()));
    assert_eq!(victim(&dir), "precious", "a task truncated the target of a link");

    let dir = plant();
    symlink("p", dir.path().join("link")).expect("a link");
    for words in ["parts status link", "parts status link/", "parts claim link/", "parts start -- link t"] {
        let (end, told) = ends(&dir, words);
        assert_ne!(end, End::Exit(0), "{words}");
        assert!(told.contains("symbolic link; name the directory that it leads to"), "{words}: {told}");
    }
}

#[test]
fn links_in_a_journal_lead_nowhere() {
    for name in ["lock", "scan", "scan.new", "000001-0000.rows"] {
        let dir = plant();
        fs::create_dir(dir.path().join("j")).expect("a directory");
        symlink("../victim/1", dir.path().join("j").join(name)).expect("a link");
        ends(&dir, "scan --journal j -o out.ndjson t");
        assert_eq!(victim(&dir), "precious", "written through a link called {name}");
    }
    let dir = plant();
    symlink("victim", dir.path().join("j")).expect("a link");
    let (end, told) = ends(&dir, "scan --journal j -o out.ndjson t");
    assert_eq!(end, End::Exit(1), "{told}");
    assert!(
        told.contains("j: cannot use it for a journal: it is a symbolic link; name the directory"),
        "{told}"
    );
}

#[test]
fn no_command_waits_for_a_fifo() {
    let mut hang = Vec::new();
    let parts = [
        "parts status p",
        "parts claim p",
        "parts verify p",
        "parts merge p",
        "scan --part p --task 1",
        "du --from p",
    ];
    let names =
        "plan log log/1 claims claims/1 left taken taken/1 waiting waiting/1 tmp 1.parquet manifest.json";
    for name in names.split(' ') {
        let dir = plant();
        let made = shell(dir.path(), &format!("rm -rf p/{name}; mkfifo p/{name}"));
        assert_eq!(made, "");
        for words in parts {
            match within(&dir, words, Duration::from_secs(3)) {
                Some((End::Exit(0..=2), _)) => {}
                other => hang.push((name, words, other)),
            }
        }
    }
    for name in ["lock", "scan", "scan.new", "000001-0000.rows"] {
        let dir = plant();
        shell(dir.path(), &format!("mkdir j; mkfifo j/{name}"));
        let words = "scan --journal j -o out.ndjson t";
        match within(&dir, words, Duration::from_secs(3)) {
            Some((End::Exit(0..=2), _)) => {}
            other => hang.push((name, words, other)),
        }
    }
    assert_eq!(hang, []);
}

#[test]
fn a_directory_that_others_may_change_is_refused() {
    let commands = [
        "parts start -- p t",
        "parts status p",
        "parts claim p",
        "parts verify p",
        "parts merge p",
        "scan --part p --task 1",
    ];
    let journal = "scan --journal p -o out.ndjson t";
    let refused = |dir: &TempDir, why: &str| {
        for words in commands.into_iter().chain([journal]) {
            let (end, told) = ends(dir, words);
            assert_eq!(
                end,
                End::Exit(if words.starts_with("parts claim") { 2 } else { 1 }),
                "{words}: {told}"
            );
            assert!(told.contains(why) && told.lines().count() == 1, "{words}: {told}");
        }
    };
    let dir = plant();
    for mode in [0o775, 0o757, 0o1777] {
        fs::set_permissions(dir.path().join("p"), fs::Permissions::from_mode(mode)).expect("a mode");
        refused(&dir, "run `chmod go-w p`, or name another directory");
    }
    assert_eq!(shell(dir.path(), "chmod go-w p"), "");
    assert_eq!(ends(&dir, "parts status p"), (End::Exit(0), String::new()), "the way out is one");
    // A scan that nobody may write to stays one, whatever the umask is.
    shell(dir.path(), "umask 0; $0 parts start -- q t".replace("$0", env!("CARGO_BIN_EXE_dents")).as_str());
    assert_eq!(ends(&dir, "parts status q"), (End::Exit(0), String::new()));
    if is_root() {
        lchown(dir.path().join("p"), Some(OTHER), None).expect("an owner");
        refused(&dir, "it belongs to user 65534");
    }
}

/// In /tmp and in the directory of a project.
#[test]
fn an_output_follows_no_link_of_another_user() {
    if !is_root() {
        return;
    }
    for mode in [0o1777, 0o777, 0o755] {
        let dir = plant();
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).expect("a directory");
        fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).expect("a mode");
        if mode == 0o755 {
            lchown(&shared, Some(OTHER), None).expect("an owner");
        }
        symlink("../victim/1", shared.join("link.ndjson")).expect("a link");
        lchown(shared.join("link.ndjson"), Some(OTHER), None).expect("an owner");
        shell(&shared, "mkfifo fifo.ndjson; chown 65534 fifo.ndjson");
        for (name, what) in [("link", "symbolic link"), ("fifo", "pipe or device")] {
            let words = format!("scan -o shared/{name}.ndjson t");
            let (end, told) =
                within(&dir, &words, Duration::from_secs(3)).unwrap_or((End::Exit(0), "hangs".into()));
            assert_eq!(victim(&dir), "precious", "{mode:o}: {told}");
            let why = format!("shared/{name}.ndjson is a {what} of user 65534");
            assert!(end == End::Exit(1) && told.contains(&why), "{mode:o} {words}: {told}");
        }
        // The file of another user is replaced, and the new one is not his.
        let path = shared.join("old.ndjson");
        fs::write(&path, "old").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
        lchown(&path, Some(OTHER), None).expect("an owner");
        assert_eq!(ends(&dir, "scan -o shared/old.ndjson t"), (End::Exit(0), String::new()));
        let about = fs::metadata(&path).expect("it is there");
        assert_eq!((about.uid(), about.mode() & 0o002), (0, 0), "{mode:o}");
    }
    // His own links, and those of root, are followed.
    let dir = plant();
    symlink("victim/1", dir.path().join("own.ndjson")).expect("a link");
    assert_eq!(ends(&dir, "scan -o own.ndjson t"), (End::Exit(0), String::new()));
    assert!(victim(&dir).contains("\"scan\""));
    assert!(Path::new(&dir.path().join("own.ndjson")).is_symlink());
}

/// A directory that is exchanged while an output is written keeps its output.
#[test]
fn an_output_appears_in_the_directory_that_was_opened() {
    let dir = plant();
    for format in ["ndjson", "parquet", "sqlite"] {
        let out = dir.path().join("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).expect("a directory");
        let words = format!("scan --rate 8 -o out/x.{format} t");
        let mut child = dents(dir.path(), &words).command().spawn().expect("it starts");
        let watch = Watch::over(&child);
        while fs::read_dir(&out).expect("a directory").next().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // SQLite opens the file by its path just after it was created; if the directory is exchanged before, the scan fails.
        std::thread::sleep(Duration::from_millis(100));
        let moved = dir.path().join(format!("moved-{format}"));
        fs::rename(&out, &moved).expect("another name");
        symlink("victim", &out).expect("a link");
        assert!(child.wait().expect("its end").success(), "{format}");
        drop(watch);
        assert!(moved.join(format!("x.{format}")).exists(), "{format}");
        assert_eq!(fs::read_dir(dir.path().join("victim")).expect("a directory").count(), 1, "{format}");
        fs::remove_file(&out).expect("the link");
    }
}
