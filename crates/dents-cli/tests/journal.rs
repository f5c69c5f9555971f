//! `dents scan --journal` as a process. A scan may end in any way; if it is run again until it is complete, its result is that of an
//! undisturbed scan, with each directory once, and it removes its journal. The tests of `dents-sink` check the journal itself.

mod tools;

use dents_core::batch::Time;
use dents_lab::fixture::{TempDir, copy_program};
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_sink::time;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tools::{assert_same, dents, is_root, plant, rows, run, text};

/// Directories below the top.
const DIRECTORIES: usize = 2000;
/// Files in each directory. Their names are long, so that a worker writes several times (every 256 KiB) even in a small tree.
const FILES: usize = 3;

/// A directory for the test, with its tree.
fn planted(directories: usize) -> TempDir {
    let names: Vec<String> = (0..FILES).map(|file| format!("{file}{}", "n".repeat(150))).collect();
    plant(directories, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The sorted rows of a NDJSON file, without the access time, which a scan changes.
fn lines(file: &Path) -> Vec<String> {
    let written = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(written.ends_with('\n'), "{} is whole", file.display());
    let without = |line: &str| match line.split_once("\"atime\":") {
        Some((before, after)) => format!("{before}{}", after.split_once(',').expect("more follows").1),
        None => panic!("no atime: {line}"),
    };
    let (records, rows) =
        written.lines().partition::<Vec<_>, _>(|line| line.starts_with("{\"v\":1,\"scan\":"));
    assert_eq!(records.len(), 1, "{}", file.display());
    let mut lines: Vec<String> = rows.into_iter().map(without).collect();
    lines.sort_unstable();
    lines
}

/// The entries beside the tree.
fn beside(dir: &TempDir) -> Vec<String> {
    let names = fs::read_dir(dir.path()).expect("readable").map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().expect("UTF-8")).collect();
    names.retain(|name| name != "t");
    names.sort_unstable();
    names
}

/// The rows of an undisturbed scan without a journal, which has all entries.
fn truth(dir: &TempDir, directories: usize) -> Vec<String> {
    let outcome = run(&dents(dir.path(), "scan -o truth.ndjson t"));
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()));
    let truth = lines(&dir.path().join("truth.ndjson"));
    assert_eq!(truth.len(), 1 + directories * (1 + FILES));
    truth
}

fn start(run: &Run) -> Child {
    run.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Runs a scan and kills it after a time. Returns its process id, if it was still running.
fn killed(run: &Run, after: Duration) -> Option<u32> {
    let mut child = start(run);
    std::thread::sleep(after);
    child.kill().expect("it is ours");
    match End::from(child.wait().expect("it ends")) {
        End::Signal(9) => Some(child.id()),
        end => {
            assert_eq!(end, End::Exit(0), "{}", run.shell());
            None
        }
    }
}

/// The number of directories that the run need not walk again, from its only message. The run must succeed.
fn goes_on_after(outcome: &Outcome) -> Option<usize> {
    assert_eq!(outcome.end, End::Exit(0), "{}", text(&outcome.stderr));
    let told = text(&outcome.stderr);
    if told.is_empty() {
        return None;
    }
    let number = told.strip_prefix("dents: resuming after ").and_then(|rest| rest.split_once(" director"));
    let (number, rest) = number.unwrap_or_else(|| panic!("{told}"));
    assert!(rest.contains("; the journal is ") && rest.ends_with("s old\n"), "{told}");
    Some(number.parse().unwrap_or_else(|error| panic!("{error}: {told}")))
}

/// The time of an undisturbed scan: the shorter time of two runs.
fn length(run_it: &Run, out: &Path) -> Duration {
    let once = || {
        let started = Instant::now();
        assert_eq!(goes_on_after(&run(run_it)), None);
        fs::remove_file(out).expect("it was made");
        started.elapsed()
    };
    once().min(once())
}

/// Removes the incomplete output of a killed process. The process id is in the name of that file.
fn remove_part(dir: &TempDir, out: &str, process: u32) {
    for name in beside(dir).iter().filter(|name| name.starts_with(&format!(".{out}.{process}-"))) {
        fs::remove_file(dir.path().join(name)).expect("it is there");
    }
}

/// The options that make all formats record the same times.
fn in_nanoseconds(out: &str) -> &'static str {
    if out.ends_with(".parquet") { "--timestamps=ns" } else { "" }
}

/// Kills a scan this many times, at moments spread over its whole length, and each time runs it again to its end. Returns how many of these
/// runs had directories in their journal.
fn kill_often(
    dir: &TempDir,
    out: &str,
    times: u32,
    rows: &dyn Fn(&Path) -> Vec<String>,
    truth: &[String],
) -> u32 {
    let words = in_nanoseconds(out);
    let command = dents(dir.path(), &format!("scan --threads 2 --journal j -o {out} {words} t"));
    let file = dir.path().join(out);
    let before = beside(dir);
    let mut length = length(&command, &file);
    assert_eq!(beside(dir), before);
    let (mut done, mut resumed, mut random) = (0, 0, 42_u32);
    while done < times {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let moment = (f64::from(done) + f64::from(random >> 16) / 65536.0) / f64::from(times);
        match killed(&command, length.mul_f64(moment)) {
            Some(process) => {
                done += 1;
                remove_part(dir, out, process);
            }
            // The machine is faster now than when the length was measured.
            None => length = length.mul_f64(0.97),
        }
        let when = format!("{out}, killed {done} times, last at {moment:.3}");
        if file.exists() {
            assert_same(&rows(&file), truth, &format!("{when}: what appears is whole"));
        }
        resumed += u32::from(goes_on_after(&run(&command)) > Some(0));
        assert_same(&rows(&file), truth, &when);
        fs::remove_file(&file).expect("it was made");
        assert_eq!(beside(dir), before, "{when}: nothing is left");
    }
    resumed
}

#[test]
fn killed_at_fifty_moments() {
    let dir = planted(DIRECTORIES);
    let truth = truth(&dir, DIRECTORIES);
    let resumed = kill_often(&dir, "out.ndjson", 50, &lines, &truth);
    assert!(resumed >= 5, "only {resumed} scans had something to go on from");
}

#[test]
fn killed_on_the_way_to_other_files() {
    let dir = planted(DIRECTORIES);
    truth(&dir, DIRECTORIES);
    let truth = rows(&dir.path().join("truth.ndjson"));
    for out in ["out.parquet", "out.sqlite"] {
        kill_often(&dir, out, 4, &rows, &truth);
    }
}

/// A scan whose rate makes it take 1 s, so that the test can find it running.
fn slow(dir: &TempDir, words: &str) -> Run {
    dents(dir.path(), &format!("scan --threads 2 --rate 8000 --journal j -o out.ndjson {words}"))
}

/// Waits until a scan has its journal.
fn await_journal(dir: &TempDir) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !dir.path().join("j/scan").exists() {
        assert!(Instant::now() < deadline, "no journal appears");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn another_scan_is_refused_and_does_no_harm() {
    let dir = planted(DIRECTORIES);
    let truth = truth(&dir, DIRECTORIES);
    let refused = |words: &str, why: &str| {
        let outcome = run(&slow(&dir, words));
        let told = text(&outcome.stderr);
        assert_eq!(outcome.end, End::Exit(1), "{words}: {told}");
        assert!(told.starts_with("dents: j: ") && told.contains(why) && told.lines().count() == 1, "{told}");
    };
    let mut child = start(&slow(&dir, "t"));
    await_journal(&dir);
    refused("t", &format!("in use by process {}", child.id()));
    child.kill().expect("it is ours");
    assert_eq!(End::from(child.wait().expect("it ends")), End::Signal(9), "it was underway");
    refused("-x t", "begun with the options \"\"");
    refused("--max-depth 2 t", "begun with the options \"\"");
    refused("t/0", "is of \"t\"");
    refused("t t/0", "is of \"t\"");
    assert_eq!(beside(&dir), ["j", "truth.ndjson"], "no output, and the journal is still there");
    let foreign = run(&dents(dir.path(), "scan --journal t -o out.ndjson t"));
    assert_eq!(foreign.end, End::Exit(1));
    assert!(text(&foreign.stderr).starts_with("dents: t: not a journal"), "{}", text(&foreign.stderr));
    goes_on_after(&run(&dents(dir.path(), "scan --journal j -o out.ndjson t")));
    assert_same(&lines(&dir.path().join("out.ndjson")), &truth, "after all that");
}

/// The number before these words.
fn before(told: &str, words: &str) -> usize {
    let line = told.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {told}"));
    let number = line[..line.find(words).expect("found")].rsplit(' ').next().expect("a number");
    number.replace(',', "").parse().unwrap_or_else(|error| panic!("{number}: {error}: {told}"))
}

/// A scan that is stopped by a signal or a timeout says how to resume it. The resumed run opens every directory that was not complete, and no other.
#[test]
fn an_interrupted_scan_goes_on_too() {
    let dir = planted(DIRECTORIES);
    let truth = truth(&dir, DIRECTORIES);
    let out = dir.path().join("out.ndjson");
    for (words, signal, status) in [("-s", Some(Signal::INT), 130), ("-s --timeout 400ms", None, 1)] {
        let command = slow(&dir, &format!("{words} t"));
        let child =
            command.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let watch = Watch::over(&child);
        if let Some(signal) = signal {
            await_journal(&dir);
            std::thread::sleep(Duration::from_millis(400));
            kill_process(Pid::from_child(&child), signal).expect("it runs");
        }
        let output = child.wait_with_output().expect("it ends");
        drop(watch);
        let told = text(&output.stderr);
        assert_eq!(End::from(output.status), End::Exit(status), "{words}: {told}");
        assert!(
            told.contains("dents: j: run the same command again to resume") && told.contains("is incomplete"),
            "{told}"
        );
        assert!(before(&told, " directories opened") < DIRECTORIES, "{told}");
        assert_eq!(beside(&dir), ["j", "truth.ndjson"], "{words}: no output");

        let again = run(&dents(dir.path(), "scan -s --journal j -o out.ndjson t"));
        let told = text(&again.stderr);
        assert_eq!(again.end, End::Exit(0), "{told}");
        let done = if told.contains("resuming") { before(&told, " directories") } else { 0 };
        assert_eq!(done + before(&told, " directories opened"), 1 + DIRECTORIES, "{words}: {told}");
        assert_same(&lines(&out), &truth, words);
        fs::remove_file(&out).expect("it was made");
        assert_eq!(beside(&dir), ["truth.ndjson"], "{words}");
    }
}

/// A scan without a journal, and a scan with a journal that is stopped and run again, have the same rows and the same status. `wrap` changes
/// how they are run.
fn same_by_way_of_a_journal(
    dir: &TempDir,
    words: &str,
    wrap: &dyn Fn(Run) -> Run,
    status: i32,
) -> Vec<String> {
    let outcome = run(&wrap(dents(dir.path(), &format!("scan -o truth.ndjson {words}"))));
    assert_eq!(outcome.end, End::Exit(status), "{words}: {}", text(&outcome.stderr));
    let suffix = if words.ends_with(" missing") { ".partial" } else { "" };
    let truth = lines(&dir.path().join(format!("truth.ndjson{suffix}")));
    let out = dir.path().join(format!("out.ndjson{suffix}"));
    let stopped = format!("scan --rate 2000 --timeout 100ms --journal j -o out.ndjson {words}");
    assert_eq!(run(&wrap(dents(dir.path(), &stopped))).end, End::Exit(1), "{words}");
    assert!(!out.exists() && dir.path().join("j/scan").exists(), "it was stopped");
    let outcome = run(&wrap(dents(dir.path(), &format!("scan --journal j -o out.ndjson {words}"))));
    assert_eq!(outcome.end, End::Exit(status), "{words}: {}", text(&outcome.stderr));
    assert_same(&lines(&out), &truth, words);
    assert!(!dir.path().join("j").exists());
    truth
}

#[test]
fn few_descriptors_and_many_threads() {
    let dir = planted(300);
    let truth = truth(&dir, 300);
    for threads in ["1", "16", "200"] {
        let wrap = |run: Run| run.under(&["prlimit", "--nofile=64"]);
        let rows = same_by_way_of_a_journal(&dir, &format!("--threads {threads} t"), &wrap, 0);
        assert_same(&rows, &truth, threads);
        fs::remove_file(dir.path().join("out.ndjson")).expect("it was made");
    }
}

/// The walk finds the same loops, at whatever directory it resumes.
#[test]
fn loops_of_links_are_told_of_in_the_status() {
    let dir = planted(200);
    for at in ["t/0", "t/0/10", "t/9/100"] {
        symlink("..", dir.path().join(at).join("up")).expect("a link");
    }
    let rows = same_by_way_of_a_journal(&dir, "-L t/", &|run| run, 1);
    let loops = rows.iter().filter(|row| row.contains("\"asked\":\"loop\"")).count();
    assert_eq!(loops, 3);
}

/// Runs as an unprivileged user without other processes, with a copy of the program that this user may read.
fn as_somebody(dir: &TempDir, threads: &str, run: Run) -> Run {
    let program = dir.path().join("dents");
    if !program.exists() {
        copy_program(&run.program, &program);
    }
    let other = ["setpriv", "--reuid", "54323", "--regid", "54323", "--clear-groups"];
    Run { program, ..run }.under(&other).under(&["prlimit", threads])
}

#[test]
fn closed_directories_and_refused_threads() {
    if !is_root() {
        return; // Only root may change the user.
    }
    let dir = planted(300);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("ours");
    for closed in ["t/3", "t/1/25"] {
        fs::set_permissions(dir.path().join(closed), fs::Permissions::from_mode(0o700)).expect("ours");
    }
    for threads in ["--nproc=100", "--nproc=1"] {
        let rows = same_by_way_of_a_journal(&dir, "--threads 4 t", &|run| as_somebody(&dir, threads, run), 1);
        let below = |row: &&String| row.contains("\"path\":\"t/3/") || row.contains("\"path\":\"t/1/25/");
        assert_eq!(rows.iter().filter(below).count(), 0, "nothing is below what is closed");
        let failed = rows.iter().filter(|row| row.contains("\"asked\":\"open\"")).count();
        assert_eq!(failed, 2, "both are told of");
        let open = rows.iter().filter(|row| row.contains("\"path\":\"t/2/")).count();
        assert_eq!(open, (FILES + 10 * (1 + FILES)), "all else is there");
        fs::remove_file(dir.path().join("out.ndjson")).expect("it was made");
        fs::remove_file(dir.path().join("truth.ndjson")).expect("it was made");
    }
}

/// Only the first run stats the PATHs. The error of a PATH is in the rows and in the status of the last run.
#[test]
fn what_failed_in_an_earlier_run_is_in_the_status() {
    let dir = planted(200);
    let rows = same_by_way_of_a_journal(&dir, "t missing", &|run| run, 1);
    assert_eq!(rows.iter().filter(|row| row.contains("\"path\":\"missing\"")).count(), 1);
}

/// Stops a scan into the journal `../j` before its end, from a directory beside it.
fn stop_in(cwd: &Path, words: &str) {
    let stopped = format!("scan --rate 2000 --timeout 100ms --journal ../j -o ../out.ndjson {words}");
    assert_eq!(run(&dents(cwd, &stopped)).end, End::Exit(1), "{words}");
    assert!(cwd.join("../j/scan").exists(), "it was stopped");
}

/// A journal belongs to the tree of its first run: not to a tree of the same name in another working directory, nor to one that has
/// replaced it.
#[test]
fn another_tree_of_the_same_name_is_refused() {
    let dir = planted(200);
    let [here, there] = ["here", "there"].map(|name| dir.path().join(name));
    fs::create_dir(&here).expect("a directory");
    fs::create_dir_all(there.join("t")).expect("a directory");
    fs::rename(dir.path().join("t"), here.join("t")).expect("moved");
    let go_on =
        |cwd: &Path, words: &str| run(&dents(cwd, &format!("scan --journal ../j -o ../out.ndjson {words}")));
    let refused = |outcome: &Outcome, words: &[&str]| {
        let told = text(&outcome.stderr);
        assert_eq!(outcome.end, End::Exit(1), "{told}");
        let all = words.iter().all(|word| told.contains(word)) && told.contains("remove ../j to begin anew");
        assert!(told.starts_with("dents: ../j: ") && all && told.lines().count() == 1, "{told}");
        assert!(!dir.path().join("out.ndjson").exists() && dir.path().join("j/scan").exists());
    };
    stop_in(&here, "t");
    let both = [here.to_str().expect("UTF-8"), there.to_str().expect("UTF-8")];
    refused(&go_on(&there, "t"), &both);

    // First another directory has the name of the root, then none.
    fs::rename(here.join("t"), here.join("u")).expect("moved");
    refused(&go_on(&here, "t"), &["\"t\" is not what it was", "has gone"]);
    fs::create_dir(here.join("t")).expect("a directory");
    refused(&go_on(&here, "t"), &["\"t\" is not what it was", "inode"]);
    fs::remove_dir(here.join("t")).expect("removed");
    fs::rename(here.join("u"), here.join("t")).expect("moved back");
    assert_eq!(go_on(&here, "t").end, End::Exit(0));
    assert_eq!(lines(&dir.path().join("out.ndjson")).len(), 1 + 200 * (1 + FILES));
}

/// An absolute path means the same tree in any working directory.
#[test]
fn the_working_directory_is_nothing_to_absolute_paths() {
    let dir = planted(200);
    let there = dir.path().join("there");
    fs::create_dir(&there).expect("a directory");
    let top = dir.path().join("t");
    stop_in(&top, top.to_str().expect("UTF-8"));
    let outcome = run(&dents(&there, &format!("scan --journal ../j -o ../out.ndjson {}", top.display())));
    assert!(goes_on_after(&outcome).is_some());
}

/// The time after this word in a file.
fn moment_after(file: &Path, word: &str) -> Time {
    let bytes = fs::read(file).expect("it was made");
    let text = String::from_utf8_lossy(&bytes);
    let (_, rest) = text.split_once(word).unwrap_or_else(|| panic!("{word} is not in {}", file.display()));
    let (start, end) = (rest.find("20").expect("a year"), rest.find('Z').expect("an end"));
    let moment = &rest[start..=end];
    time::parse(moment.as_bytes()).unwrap_or_else(|| panic!("no time: {moment}"))
}

#[test]
fn a_scan_that_goes_on_was_begun_when_the_first_was() {
    for (out, word) in [
        ("out.parquet", "dents.begun"),
        ("out.sqlite", concat!("dents ", env!("CARGO_PKG_VERSION"))),
        ("out.ndjson", "\"begun\":\""),
    ] {
        let dir = planted(100);
        let stopped = format!("scan --rate 2000 --timeout 50ms --journal j -o {out} t");
        let before = SystemTime::now();
        assert_eq!(run(&dents(dir.path(), &stopped)).end, End::Exit(1));
        let between = SystemTime::now();
        std::thread::sleep(Duration::from_millis(1100));
        let told = run(&dents(dir.path(), &format!("scan --journal j -o {out} t")));
        let age = text(&told.stderr).trim_end().rsplit_once("the journal is ").map(|(_, age)| age.to_owned());
        let begun = moment_after(&dir.path().join(out), word);
        let begun = SystemTime::UNIX_EPOCH + Duration::new(begun.sec as u64, begun.nsec);
        assert!((before..=between).contains(&begun), "{out}: {before:?} {begun:?} {between:?}");
        let age = age.unwrap_or_else(|| panic!("no age: {}", text(&told.stderr)));
        let seconds = age.strip_suffix("s old").and_then(|age| age.rsplit(' ').next()?.parse::<u64>().ok());
        assert!(seconds.is_some_and(|seconds| seconds >= 1), "{age}");
    }
}
