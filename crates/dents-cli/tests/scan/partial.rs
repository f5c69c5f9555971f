//! A file gets its name when the scan is complete. The result of an incomplete scan is in `FILE.partial`, and a command that reads that file
//! reports it.

use crate::{as_nobody, dents, is_root, make, run, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_lab::terminal::{Terminal, controlling};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One file of each format.
const FILES: [&str; 4] = ["x.ndjson", "x.parquet", "x.sqlite", "x.txt"];

/// A tree `t` that takes 20 s at 20 requests a second, a tree `small`, a directory `out` with a complete scan of `small` in
/// each format.
fn ground() -> TempDir {
    let dir = TempDir::new("partial").expect("a directory");
    make(
        dir.path(),
        "mkdir t small out; touch small/a small/b; cd t; for i in $(seq 200); do mkdir d$i; done",
    );
    for file in FILES {
        let outcome = run(&dents(dir.path()).args(["-o", &format!("out/{file}"), "small"]));
        assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()), "{file}");
    }
    dir
}

/// The names in `out` that are not those of [`FILES`].
fn others(dir: &TempDir) -> Vec<String> {
    let names = fs::read_dir(dir.path().join("out")).expect("readable");
    let mut names: Vec<String> =
        names.map(|name| name.expect("readable").file_name().into_string().expect("UTF-8")).collect();
    names.retain(|name| !FILES.contains(&name.as_str()));
    names.sort_unstable();
    names
}

/// Whether a signal is in one of the sets that `/proc/PID/status` shows.
fn is_in(set: &str, pid: u32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(set)).unwrap_or("0").trim();
    u64::from_str_radix(mask, 16).is_ok_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// Waits until a process has a handler for a signal. A signal that comes earlier has its default action.
fn await_handler(pid: u32, signal: Signal) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_in("SigCgt:", pid, signal) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The signals that stop a scan, each with its exit status. Signals that the tests ignore from their start (nohup(1)) are left out.
fn signals() -> impl Iterator<Item = (Signal, i32)> {
    let all = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];
    all.into_iter().filter(|(signal, _)| !is_in("SigIgn:", std::process::id(), *signal))
}

/// Runs a slow scan, and sends it a signal when it has found entries.
fn interrupted(run: &Run, signal: Signal) -> Outcome {
    let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let watch = Watch::over(&child);
    await_handler(child.id(), signal);
    std::thread::sleep(Duration::from_millis(200));
    kill_process(Pid::from_child(&child), signal).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    drop(watch);
    Outcome { end: output.status.into(), stdout: output.stdout, stderr: output.stderr }
}

/// `dents` with another command.
fn stats(cwd: &Path) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_dents"))).cwd(cwd).args(["stats"])
}

/// A command that reads a partial file reports that and fails, unless `--partial` is given.
fn assert_read_as_partial(dir: &TempDir, file: &str) {
    for json in [&[][..], &["--json"]] {
        let outcome = run(&stats(dir.path()).args(["--from", file]).args(json));
        let told = text(&outcome.stderr);
        assert_eq!(outcome.end, End::Exit(1), "{file}: {told}");
        assert!(told.contains(file) && told.contains("not complete") && told.contains("--partial"), "{told}");
        let allowed = run(&stats(dir.path()).args(["--partial", "--from", file]).args(json));
        assert_eq!((allowed.end, text(&allowed.stderr)), (End::Exit(0), String::new()), "{file}");
        // With `--partial` a missing root is not an error.
        assert!(!json.is_empty() || allowed.stdout == outcome.stdout);
        assert!(json.is_empty() || text(&allowed.stdout).contains("\"complete\":false"));
    }
}

/// Checks that the file is unchanged, and that only the incomplete result is beside it.
fn assert_kept(dir: &TempDir, file: &str, before: &[u8], outcome: &Outcome) {
    let told = text(&outcome.stderr);
    assert!(
        fs::read(dir.path().join("out").join(file)).expect("there") == before,
        "{file} is replaced: {told}"
    );
    assert_eq!(others(dir), [format!("{file}.partial")], "{told}");
    assert!(told.contains(&format!("out/{file}.partial")) && told.contains("is unchanged"), "{told}");
    if file == "x.txt" {
        let paths = fs::read_to_string(dir.path().join("out/x.txt.partial")).expect("there");
        assert!(paths.ends_with('\n'), "{paths}");
    } else {
        assert_read_as_partial(dir, &format!("out/{file}.partial"));
    }
    fs::remove_file(dir.path().join("out").join(format!("{file}.partial"))).expect("there");
}

/// A scan that is slow enough to be stopped.
fn slow(dir: &TempDir, args: &[&str]) -> Run {
    dents(dir.path()).args(["--rate", "20", "t"]).args(args)
}

#[test]
fn an_incomplete_scan_replaces_no_file() {
    let dir = ground();
    for file in FILES {
        let path = format!("out/{file}");
        let before = fs::read(dir.path().join(&path)).expect("there");
        for (signal, status) in signals() {
            let outcome = interrupted(&slow(&dir, &["-o", &path]), signal);
            assert_eq!(outcome.end, End::Exit(status), "{file}: {}", text(&outcome.stderr));
            assert_kept(&dir, file, &before, &outcome);
        }
        let late = slow(&dir, &["-o", &path, "--timeout", "300ms"]);
        let missing = dents(dir.path()).args(["-o", &path, "small", "missing"]);
        for incomplete in [late, missing] {
            let outcome = run(&incomplete);
            assert_eq!(outcome.end, End::Exit(1), "{file}: {}", text(&outcome.stderr));
            assert_kept(&dir, file, &before, &outcome);
        }
    }
}

/// A missing root makes the scan incomplete, even if options hide it from the rows or from the output.
#[test]
fn a_root_that_cannot_be_opened_makes_a_scan_incomplete() {
    let dir = ground();
    make(dir.path(), "chmod 777 . out; mkdir closed; chmod 0 closed; chmod 666 out/*");
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    let before = fs::read(dir.path().join("out/x.ndjson")).expect("there");
    for more in
        [&["closed"][..], &["missing"], &["-tf", "missing"], &["--min-depth", "1", "missing"], &["missing/"]]
    {
        let scan = dents(dir.path()).args(["-o", "out/x.ndjson", "small"]).args(more);
        let outcome = run(&as_nobody(scan, programs.path()));
        assert_eq!(outcome.end, End::Exit(1), "{more:?}: {}", text(&outcome.stderr));
        assert_kept(&dir, "x.ndjson", &before, &outcome);
    }
    make(dir.path(), "chmod 755 closed");
}

/// A directory that cannot be read has a row with the error; the scan is complete.
#[test]
fn a_subdirectory_that_cannot_be_opened_does_not() {
    let dir = ground();
    make(dir.path(), "chmod 777 out; chmod 666 out/*; mkdir small/closed; chmod 0 small/closed");
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    for file in FILES {
        let path = dir.path().join("out").join(file);
        let before = fs::read(&path).expect("there");
        let scan = dents(dir.path()).args(["-o"]).args([&path]).args(["small"]);
        let outcome = run(&as_nobody(scan, programs.path()));
        assert_eq!(outcome.end, End::Exit(1), "{}", text(&outcome.stderr));
        assert!(fs::read(&path).expect("there") != before, "{file}");
        assert_eq!(others(&dir), [""; 0]);
    }
    let outcome = run(&stats(dir.path()).args(["--from", "out/x.ndjson"]));
    assert!(!text(&outcome.stderr).contains("not complete"), "{}", text(&outcome.stderr));
    make(dir.path(), "chmod 755 small/closed");
}

/// An incomplete scan does not create a file under the final name. It replaces a partial file, even if that is a link.
#[test]
fn the_partial_file_is_beside_the_file_and_replaced_as_a_whole() {
    let dir = ground();
    make(dir.path(), "rm out/*; ln -s real out/link; echo other > other; ln -s ../other out/real.partial");
    let outcome = run(&dents(dir.path()).args(["--format", "ndjson", "-o", "out/link", "small", "missing"]));
    assert_eq!(outcome.end, End::Exit(1), "{}", text(&outcome.stderr));
    assert_eq!(others(&dir), ["link", "real.partial"]);
    assert!(dir.path().join("out/real.partial").symlink_metadata().expect("there").is_file());
    assert_eq!(fs::read(dir.path().join("other")).expect("there"), b"other\n");
    assert!(text(&outcome.stderr).contains("out/real.partial"), "{}", text(&outcome.stderr));
    // A complete scan does not change the partial file of an earlier scan.
    assert_eq!(
        run(&dents(dir.path()).args(["--format", "ndjson", "-o", "out/link", "small"])).end,
        End::Exit(0)
    );
    assert_eq!(others(&dir), ["link", "real", "real.partial"]);
    let long = "n".repeat(255);
    let outcome = run(&dents(dir.path()).args(["-o", &format!("out/{long}"), "small", "missing"]));
    assert_eq!(outcome.end, End::Exit(1), "{}", text(&outcome.stderr));
    assert!(others(&dir).iter().any(|name| name.ends_with("n.partial")), "{:?}", others(&dir));
}

/// If the output cannot be renamed, its last record and the exit status show that the scan is incomplete.
#[test]
fn pipes_and_devices_tell_by_record_and_status() {
    let dir = ground();
    let last = |outcome: &Outcome| text(&outcome.stdout).lines().last().expect("a line").to_owned();
    let whole = run(&dents(dir.path()).args(["--format", "ndjson", "small"]));
    assert_eq!(whole.end, End::Exit(0));
    let record = last(&whole);
    assert!(
        record.starts_with("{\"v\":1,\"scan\":{") && record.contains("\"complete\":true,\"rows\":3"),
        "{record}"
    );
    let stopped = interrupted(&slow(&dir, &["--format", "ndjson"]), Signal::TERM);
    assert_eq!(stopped.end, End::Exit(143));
    assert!(last(&stopped).contains("\"complete\":false"), "{}", last(&stopped));
    let missing = run(&dents(dir.path()).args(["--format", "ndjson", "missing"]));
    assert_eq!(missing.end, End::Exit(1));
    assert!(last(&missing).contains("\"complete\":false,\"rows\":1"), "{}", last(&missing));
    for format in ["ndjson", "parquet", "text"] {
        let outcome =
            run(&dents(dir.path()).args(["-o", "/dev/null", "--format", format, "small", "missing"]));
        assert_eq!(outcome.end, End::Exit(1), "{format}: {}", text(&outcome.stderr));
        assert!(!Path::new("/dev/null.partial").exists() && !text(&outcome.stderr).contains(".partial"));
    }
    let program = env!("CARGO_BIN_EXE_dents");
    let pipe = |scan: &str, read: &str| {
        let script =
            format!("'{program}' scan --format ndjson {scan} 2>&3 | '{program}' stats --from - {read}");
        let output = Command::new("sh")
            .args(["-c", &format!("exec 3>/dev/null; {script}")])
            .current_dir(dir.path())
            .output();
        let output = output.expect("a shell");
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(pipe("small", ""), (Some(0), String::new()));
    let (status, told) = pipe("--rate 20 --timeout 300ms t", "");
    assert!(status == Some(1) && told.contains("'-': not complete"), "{status:?} {told}");
    assert_eq!(pipe("--rate 20 --timeout 300ms t", "--partial"), (Some(0), String::new()));
}

/// A limit on the size of files acts like a full disk.
#[test]
fn what_cannot_be_written_replaces_nothing() {
    let dir = ground();
    make(
        dir.path(),
        "mkdir many; cd many; for i in $(seq 3000); do : > a_name_of_some_length_for_all_of_them_$i; done",
    );
    for file in FILES {
        let path = format!("out/{file}");
        let before = fs::read(dir.path().join(&path)).expect("there");
        for more in [&[][..], &["missing"]] {
            let limited = dents(dir.path()).args(["-o", &path, "many"]).args(more);
            let script = format!("ulimit -f 16; trap '' XFSZ; {}", limited.shell());
            let outcome = run(&Run::new(Path::new("/bin/sh")).cwd(dir.path()).args(["-c", &script]));
            let told = text(&outcome.stderr);
            assert_eq!(outcome.end, End::Exit(1), "{file}: {told}");
            assert!(
                told.contains("cannot write") && told.contains("nothing is kept") || told.contains("ulimit"),
                "{told}"
            );
            assert!(fs::read(dir.path().join(&path)).expect("there") == before, "{file}");
            assert_eq!(others(&dir), [""; 0], "{file}");
        }
    }
}

/// The journal keeps the rows; there is no output, complete or partial.
#[test]
fn a_journal_keeps_what_was_found_and_the_file_stays() {
    let dir = ground();
    for file in ["x.ndjson", "x.parquet", "x.sqlite"] {
        let path = format!("out/{file}");
        let before = fs::read(dir.path().join(&path)).expect("there");
        let journaled = slow(&dir, &["--journal", "j", "-o", &path]);
        for (signal, status) in signals() {
            let outcome = interrupted(&journaled, signal);
            let told = text(&outcome.stderr);
            assert_eq!(outcome.end, End::Exit(status), "{file}: {told}");
            assert!(told.contains("run the same command again to resume"), "{told}");
            assert!(fs::read(dir.path().join(&path)).expect("there") == before && others(&dir).is_empty());
            assert!(dir.path().join("j/scan").exists());
        }
        let done = run(&dents(dir.path()).args(["t", "--journal", "j", "-o", &path]));
        assert_eq!(done.end, End::Exit(0), "{}", text(&done.stderr));
        assert!(!dir.path().join("j").exists());
        assert_eq!(run(&stats(dir.path()).args(["--from", &path])).end, End::Exit(0));
        fs::write(dir.path().join(&path), &before).expect("written");
    }
}

/// To resume would not bring a missing root back, so the journal ends then, also if an earlier run found that the root is missing.
#[test]
fn a_root_that_a_journal_lacks_makes_a_partial_file() {
    let dir = ground();
    let before = fs::read(dir.path().join("out/x.ndjson")).expect("there");
    for filter in [&[][..], &["-tf"], &["--min-depth", "1"]] {
        for stopped in [false, true] {
            let scan = |more: &[&str]| {
                let scan = dents(dir.path()).args(["--journal", "j", "-o", "out/x.ndjson", "t", "missing"]);
                scan.args(filter).args(more)
            };
            if stopped {
                let outcome = run(&scan(&["--rate", "20", "--timeout", "1s"]));
                assert_eq!((outcome.end, others(&dir).len()), (End::Exit(1), 0), "{}", text(&outcome.stderr));
                assert!(dir.path().join("j/scan").exists(), "it was stopped");
            }
            let outcome = run(&scan(&[]));
            assert_eq!(outcome.end, End::Exit(1), "{}", text(&outcome.stderr));
            assert!(!dir.path().join("j").exists(), "{}", text(&outcome.stderr));
            assert_kept(&dir, "x.ndjson", &before, &outcome);
        }
    }
}

/// The scan would need hours before it has rows to write.
#[test]
fn an_output_that_cannot_be_made_is_told_before_the_walk() {
    let dir = ground();
    make(
        dir.path(),
        "mkdir -p read/x.partial out/y.ndjson.partial; touch read/x; chmod 777 read/x; chmod 555 read; chmod 777 . out",
    );
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    let bad = [
        ("no/x.ndjson", "No such file"),
        ("small/a/x.ndjson", "Not a directory"),
        ("out", "directory"),
        ("read/y.ndjson", "Permission denied"),
        ("read/x", "Permission denied"),
        ("out/y.ndjson", "y.ndjson.partial"),
        ("/proc/x.ndjson", "cannot write"),
    ];
    for (path, problem) in bad {
        for journal in [&[][..], &["--journal", "j"]] {
            let scan = slow(&dir, &["--format", "ndjson", "-s", "-o", path]).args(journal);
            let outcome = run(&as_nobody(scan, programs.path()));
            let told = text(&outcome.stderr);
            assert_eq!(outcome.end, End::Exit(1), "{path}: {told}");
            assert!(
                told.contains(path) && told.contains(problem) && !told.contains("entries"),
                "{path}: {told}"
            );
            assert!(!dir.path().join("j").exists(), "{path} {journal:?}: {told}");
        }
    }
    // A database must be a regular file.
    let outcome = run(&slow(&dir, &["--format", "sqlite", "-o", "/dev/null", "--journal", "j"]));
    assert!(text(&outcome.stderr).contains("SQLite needs a file") && !dir.path().join("j").exists());
    make(dir.path(), "chmod 755 read");
    assert!(is_root() || dir.path().join("read/x").exists());
}

fn read_back(dir: &TempDir, name: &str, bytes: &[u8]) -> (End, String) {
    fs::write(dir.path().join(name), bytes).expect("written");
    let outcome = run(&stats(dir.path()).args(["--from", name]));
    (outcome.end, text(&outcome.stderr))
}

#[test]
fn empty_and_cut_off_files_are_told() {
    let dir = ground();
    for name in ["e.ndjson", "e.parquet", "e.sqlite", "e.db", "e"] {
        let (end, told) = read_back(&dir, name, b"");
        assert!(end == End::Exit(1) && told.contains("empty"), "{name}: {end:?} {told}");
        let allowed = run(&stats(dir.path()).args(["--partial", "--from", name]));
        assert_eq!(allowed.end, End::Exit(1), "{name}");
    }
    for file in &FILES[..3] {
        let whole = fs::read(dir.path().join("out").join(file)).expect("there");
        assert_eq!(read_back(&dir, "whole", &whole), (End::Exit(0), String::new()), "{file}");
        for len in
            [1, 7, 15, 16, 17, 99, 100, whole.len() / 2, whole.len() - 12, whole.len() - 2, whole.len() - 1]
        {
            let (end, told) = read_back(&dir, "cut", &whole[..len]);
            assert!(end == End::Exit(1) && told.contains("cut"), "{file} {len}: {end:?} {told}");
        }
    }
    // Cut at the end of a line, so that all lines are complete, but the last one is missing.
    let whole = fs::read_to_string(dir.path().join("out/x.ndjson")).expect("there");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for count in 1..lines.len() {
        let (end, told) = read_back(&dir, "cut", lines[..count].concat().as_bytes());
        assert!(end == End::Exit(1) && told.contains("'cut': does not say"), "{count}: {told}");
    }
    // Lines are missing in the middle.
    let (end, told) = read_back(&dir, "cut", [lines[0], lines[lines.len() - 1]].concat().as_bytes());
    assert!(end == End::Exit(1) && told.contains("1 of 3 rows"), "{told}");
}

/// The terminal is closed, and standard error with it. A scan that nohup(1) started continues.
#[test]
fn a_hangup_keeps_what_was_found_unless_it_is_ignored() {
    let dir = ground();
    let path = dir.path().join("out/x.ndjson");
    let before = fs::read(&path).expect("there");
    if signals().any(|(signal, _)| signal == Signal::HUP) {
        let terminal = Terminal::open(80).expect("a terminal");
        let stderr = Stdio::from(terminal.slave.try_clone().expect("a descriptor"));
        let scan = controlling(slow(&dir, &["-p", "-o", "out/x.ndjson"]));
        let (mut child, master) = terminal.start(&scan, stderr).expect("it starts");
        let watch = Watch::over(&child);
        await_handler(child.id(), Signal::HUP);
        std::thread::sleep(Duration::from_millis(200));
        drop(master);
        assert_eq!(End::from(child.wait().expect("it ends")), End::Exit(129));
        drop(watch);
        assert!(fs::read(&path).expect("there") == before);
        assert_eq!(others(&dir), ["x.ndjson.partial"]);
    }

    let script = "trap '' HUP; exec \"$0\" scan --rate 200 -o out/x.ndjson t";
    let ignoring = Run::new(Path::new("/bin/sh")).cwd(dir.path());
    let ignoring = ignoring.args(["-c", script, env!("CARGO_BIN_EXE_dents")]);
    let mut child =
        ignoring.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let watch = Watch::over(&child);
    await_handler(child.id(), Signal::TERM);
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    assert_eq!(End::from(child.wait().expect("it ends")), End::Exit(0));
    drop(watch);
    assert!(fs::read(&path).expect("there") != before);
}
