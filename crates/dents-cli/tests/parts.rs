//! `dents parts` and `dents scan --part` as processes: whatever happens to them, all shards together have the rows of one scan.

mod tools;

use dents_commands::{Host, Message, Session, Status, Type, Values};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::slowfs::{Errno, Fault, Kind, Request, SlowFs};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tools::{assert_same, dents, is_root, plant, rows, run, stdout, text};

/// The files in each directory of the tree.
const FILES: [&str; 3] = ["a", "b\n", "c\u{fc}"];

/// A run with this status, and what it says.
fn ends(command: &Run, status: i32) -> (String, String) {
    let Outcome { end, stdout, stderr, .. } = run(command);
    assert_eq!(end, End::Exit(status), "{}: {}", command.shell(), text(&stderr));
    (text(&stdout), text(&stderr))
}

/// Starts a scan of `words` in parts, in the directory `p`.
fn start(dir: &TempDir, words: &str) {
    assert_eq!(ends(&dents(dir.path(), &format!("parts start {words}")), 0), (String::new(), String::new()));
}

/// Runs tasks with this budget until nothing waits. Returns how many, and whether one failed.
fn run_all(dir: &TempDir, options: &str) -> (usize, bool) {
    let (mut tasks, mut failed) = (0, false);
    loop {
        let claim = run(&dents(dir.path(), "parts claim p"));
        if claim.end == End::Exit(1) && claim.stderr.is_empty() {
            return (tasks, failed);
        }
        let claimed = text(&claim.stdout);
        let id = claimed.split(' ').next().expect("an ID");
        let outcome = run(&dents(dir.path(), &format!("scan --part p --task {id} {options}")));
        assert!(matches!(outcome.end, End::Exit(0 | 1)), "{}", text(&outcome.stderr));
        failed |= outcome.end == End::Exit(1);
        tasks += 1;
    }
}

/// The rows of all shards, which `verify` and `merge` agree with.
fn merged(dir: &TempDir, status: i32) -> Vec<String> {
    merged_as(dir, [status; 2])
}

/// The same with the statuses of `verify` and `merge`.
fn merged_as(dir: &TempDir, [verify, merge]: [i32; 2]) -> Vec<String> {
    ends(&dents(dir.path(), "parts verify p"), verify);
    ends(&dents(dir.path(), "parts merge p"), merge);
    rows(&dir.path().join("p"))
}

/// The same scan in one piece and in parts.
fn same_in_parts((options, roots): (&str, &str), budget: u32, statuses: [i32; 2], prepare: impl Fn(&Path)) {
    let (dir, words) = (plant(150, &FILES), &format!("{options} {roots}")[..]);
    prepare(dir.path());
    let whole = run(&dents(dir.path(), &format!("scan -o one.parquet {words}")));
    let suffix = if dir.path().join("one.parquet").exists() { "" } else { ".partial" };
    let truth = rows(&dir.path().join(format!("one.parquet{suffix}")));
    start(&dir, &format!("{options} -- p {roots}"));
    let (tasks, failed) = run_all(&dir, &format!("--budget {budget}"));
    assert!(tasks > 1 || budget > 1000, "{words}: {tasks} tasks");
    assert_eq!(whole.end, End::Exit(i32::from(failed)), "{words}: {}", text(&whole.stderr));
    assert_same(&merged_as(&dir, statuses), &truth, words);
}

#[test]
fn options_and_roots_as_in_one_scan() {
    let nothing = |_: &Path| ();
    same_in_parts(("", "t"), 100, [0; 2], nothing);
    same_in_parts(("", "t"), 1_000_000, [0; 2], nothing);
    same_in_parts(("-x", "t/"), 50, [0; 2], nothing);
    same_in_parts(("", "t/0 t//1 t/2/"), 20, [0; 2], nothing);
    same_in_parts(("--type=f --max-depth=3", "t"), 50, [0; 2], nothing);
    same_in_parts(("--exclude=**/1 -d --timestamps=ns", "t"), 50, [0; 2], nothing);
    same_in_parts(("--columns=flags,acl,xattrs", "t"), 50, [0; 2], nothing);
    same_in_parts(("-L", "t"), 50, [0; 2], |dir| {
        symlink("..", dir.join("t/0/up")).expect("a link");
        symlink("t/1/11", dir.join("t/2/into")).expect("a link");
        symlink("../../1", dir.join("t/3/across"))
            .unwrap_or_else(|_| symlink("../1", dir.join("t/3x")).expect("a link"));
    });
    same_in_parts(("", "t nowhere"), 50, [1; 2], nothing);
    if !is_root() {
        same_in_parts(("", "t"), 50, [1, 0], |dir| {
            fs::set_permissions(dir.join("t/0/12"), fs::Permissions::from_mode(0o0)).expect("it is ours");
        });
    }
}

/// A number that looks random.
fn random() -> u32 {
    static STATE: AtomicU32 = AtomicU32::new(42);
    let next = |state: u32| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    next(STATE.fetch_update(Relaxed, Relaxed, |state| Some(next(state))).unwrap_or(0)) >> 8
}

/// One of several processes that share `p`: claims and runs tasks until all are committed, and is killed at every third. Returns how often
/// it was killed.
fn work(dir: &Path, kills: &AtomicU32) {
    loop {
        let claim = run(&dents(dir, "parts claim --again 200ms p"));
        let claimed = text(&claim.stdout);
        let Some(id) = claimed.split(' ').next().filter(|id| !id.is_empty()) else {
            assert_eq!((claim.end, text(&claim.stderr)), (End::Exit(1), String::new()));
            return;
        };
        let task = dents(dir, &format!("scan --threads 2 --budget 150 --part p --task {id}"));
        let mut child = task.command().stderr(Stdio::null()).spawn().expect("it starts");
        if random().is_multiple_of(3) {
            std::thread::sleep(Duration::from_micros(u64::from(random() % 12_000)));
            child.kill().expect("it is ours");
        }
        match End::from(child.wait().expect("it ends")) {
            End::Signal(9) => drop(kills.fetch_add(1, Relaxed)),
            end => assert_eq!(end, End::Exit(0), "{}", task.shell()),
        }
    }
}

#[test]
fn processes_that_are_killed_lose_and_double_nothing() {
    let dir = plant(1500, &FILES);
    stdout(&dents(dir.path(), "scan -o one.parquet t"));
    let truth = rows(&dir.path().join("one.parquet"));
    assert_eq!(truth.len(), 1 + 1500 * 4);
    start(&dir, "-- p t");
    let kills = AtomicU32::new(0);
    std::thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(|| work(dir.path(), &kills))));
    });
    assert!(kills.load(Relaxed) >= 5, "only {kills:?} were killed in time");
    assert_same(&merged(&dir, 0), &truth, "after all that");
    stdout(&dents(dir.path(), "parts merge -o all.parquet p"));
    assert_same(&rows(&dir.path().join("all.parquet")), &truth, "in one file");
}

#[test]
fn claims_at_once_are_different() {
    let dir = plant(300, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    stdout(&dents(dir.path(), "scan --part p --task 1 --budget 1"));
    let claims: Vec<String> = std::thread::scope(|scope| {
        let claim = || text(&stdout(&dents(dir.path(), "parts claim --directories=1 p")));
        let all: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
        all.into_iter().map(|claim| claim.join().expect("it ends")).collect()
    });
    let mut ids: Vec<&str> = claims.iter().map(|claim| claim.split(' ').next().expect("an ID")).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["2", "3", "4", "5", "6", "7", "8", "9"]);
    let waiting = |claim: &String| claim.trim_end().rsplit(' ').next().map(str::to_owned);
    let mut left: Vec<_> = claims.iter().filter_map(waiting).collect();
    left.sort_unstable();
    assert_eq!(left, ["2", "3", "4", "5", "6", "7", "8", "9"], "of the ten in t");
}

#[test]
fn a_task_that_runs_twice_counts_once() {
    let dir = plant(100, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    let task = dents(dir.path(), "scan --part p --task 1 --budget 30");
    let slow = dents(dir.path(), "scan --part p --task 1 --budget 50 --rate 100 --threads 1");
    let child = slow.command().stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(200));
    stdout(&task);
    let late = child.wait_with_output().expect("it ends");
    assert_eq!(
        (End::from(late.status), text(&late.stderr)),
        (End::Exit(0), "dents: task 1 was committed by another run of it\n".to_owned())
    );
    let (_, told) = ends(&task, 0);
    assert_eq!(told, "dents: task 1 is committed\n");
    assert_eq!(
        fs::read_dir(dir.path().join("p/left")).expect("it is there").count(),
        1,
        "of the one that won"
    );
    run_all(&dir, "--budget 100");
    let (_, told) = ends(&dents(dir.path(), "scan --part p --task 99"), 1);
    assert_eq!(
        told,
        "dents: task 99: no directory waits; `dents parts status` tells whether the scan is complete\n"
    );
    merged(&dir, 0);
}

/// A process that dies between its claim and what follows from it, and an attempt that loses after all was claimed.
#[test]
fn what_a_claim_implies_is_done_by_the_next_one() {
    let dir = plant(10, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    stdout(&dents(dir.path(), "scan --part p --task 1 --budget 1"));
    assert_eq!(text(&stdout(&dents(dir.path(), "parts claim --directories=10 p"))), "2 10 0\n");
    let [name, taken, hint] = ["p/claims/2", "p/taken/1", "p/waiting/1"].map(|name| dir.path().join(name));
    for removed in [&[&name, &taken][..], &[]] {
        removed.iter().for_each(|path| fs::remove_file(path).expect("the claim made it"));
        fs::write(&hint, "").expect("a file");
        assert_eq!(ends(&dents(dir.path(), "parts claim p"), 1), (String::new(), String::new()));
        assert!(name.exists() && taken.exists() && !hint.exists());
    }
    stdout(&dents(dir.path(), "scan --part p --task 2"));
    assert_eq!(merged(&dir, 0).len(), 1 + 10 * 4);
}

#[test]
fn what_the_commands_say() {
    let dir = plant(10, &FILES);
    start(&dir, "-x -- p t");
    start(&dir, "-x -- p t");
    let says = |words: &str, status: i32, part: &str| {
        let (_, told) = ends(&dents(dir.path(), words), status);
        assert!(told.contains(part) && told.lines().count() == 1, "{words}: {told}");
    };
    says("parts start -- p t", 2, "its options are --one-file-system, and here they are none");
    says("parts start -x -- p t/0", 2, "its roots are t;");
    says("parts start -x -- q t t/", 2, "'t/' is given twice");
    says("parts start -x --gitignore -- q t", 2, "--gitignore is not for a scan in parts");
    says("parts start -x -- q", 2, "name at least one root");
    says("parts claim q", 2, "not the directory of a scan in parts");
    says("scan --part q --task 1", 2, "not the directory of a scan in parts");
    says("scan --part p --task 1 --journal j -o x.parquet", 2, "is not for a scan in parts");
    says("scan --part p --task 1 -L", 2, "its options are --one-file-system, and here they are --follow");
    says("parts verify p", 1, "not claimed: 1 directory");
    for id in ["../x", ".x", "a/b", ""] {
        let outcome = run(&dents(dir.path(), "scan --part p --task").args([id]));
        assert_eq!(outcome.end, End::Exit(2), "{id}");
        assert!(text(&outcome.stderr).contains("letters, digits"), "{}", text(&outcome.stderr));
    }
    assert_eq!(
        text(&stdout(&dents(dir.path(), "parts claim --csv p"))),
        "task,directories,waiting,task_bytes\n1,1,0,\n"
    );
    assert_eq!(ends(&dents(dir.path(), "parts claim p"), 1), (String::new(), String::new()));
    stdout(&dents(dir.path(), "scan --part p --task 1 --budget 5"));
    let status = text(&stdout(&dents(dir.path(), "parts status --csv p")));
    assert_eq!(status, "task,state,entries,directories,left,task_bytes\n1,committed,11,1,10,\n");
    // A name of its own, with the roots, claims what waits.
    stdout(&dents(dir.path(), "scan -x --part p --task mine t"));
    let status = text(&stdout(&dents(dir.path(), "parts status p")));
    assert!(
        status.contains("mine  committed")
            && status.ends_with("2 of 2 tasks committed; 9 directories wait\n"),
        "{status}"
    );
    let other = dents(&dir.path().join("t"), "scan --part ../p --task mine");
    assert!(ends(&other, 2).1.contains("its roots start from "));
}

#[test]
fn a_signal_commits_nothing() {
    let dir = plant(300, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    let task = dents(dir.path(), "scan --part p --task 1 --rate 500");
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let child = task.command().stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(150));
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(End::from(output.status), End::Exit(status));
        assert_eq!(text(&output.stderr), "dents: interrupted: nothing is committed; run the task again\n");
        let names = fs::read_dir(dir.path().join("p")).expect("it is there");
        let names: Vec<_> = names.map(|entry| entry.expect("it is there").file_name()).collect();
        assert_eq!(names.len(), 7, "{names:?}");
    }
    stdout(&dents(dir.path(), "scan --part p --task 1"));
    merged(&dir, 0);
}

#[test]
fn a_time_budget_ends_a_task() {
    let dir = plant(300, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    let begun = Instant::now();
    stdout(&dents(dir.path(), "scan --part p --task 1 --rate 200 --threads 1 --time-budget 300ms"));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let status = text(&stdout(&dents(dir.path(), "parts status p")));
    assert!(status.contains("1 of 1 task committed") && !status.contains("; 0 directories"), "{status}");
    run_all(&dir, "");
    assert_eq!(merged(&dir, 0).len(), 1 + 300 * 4);
}

#[test]
fn a_directory_that_vanished_is_a_row_with_an_error() {
    let dir = plant(10, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    stdout(&dents(dir.path(), "scan --part p --task 1 --budget 1"));
    stdout(&dents(dir.path(), "parts claim --directories=10 p"));
    fs::remove_dir_all(dir.path().join("t/7")).expect("it is ours");
    let told = "dents: cannot open directory 't/7': No such file or directory\n";
    // It is left over twice, for it may be there on another machine.
    for (task, left) in [(2, "2 10 1"), (3, "3 1 1"), (4, "4 1 0")] {
        let (_, said) = ends(&dents(dir.path(), &format!("scan --part p --task {task}")), 1);
        assert_eq!(said, told, "task {task}");
        let rows = stdout(&dents(dir.path(), "parts status --csv p"));
        let [task, directories, left] = [0, 1, 2].map(|nth| left.split(' ').nth(nth).expect("three"));
        let last = text(&rows).lines().last().expect("a row").to_owned();
        assert!(last.starts_with(&format!("{task},committed,")), "{last}");
        assert!(last.ends_with(&format!(",{directories},{left},")), "{last}");
        run(&dents(dir.path(), "parts claim p"));
    }
    let (_, said) = ends(&dents(dir.path(), "parts verify p"), 1);
    assert_eq!(said, "dents: not opened or not read to the end: 1 directory; their rows have the error\n");
    let rows = merged_as(&dir, [1, 0]);
    assert_eq!(rows.len(), 1 + 10 * 4 - 3 + 1);
}

/// As on a machine where something below the root is not mounted.
#[test]
fn a_directory_that_is_not_there_now_is_read_later() {
    let dir = plant(10, &FILES);
    let truth = {
        stdout(&dents(dir.path(), "scan -o one.parquet t"));
        rows(&dir.path().join("one.parquet"))
    };
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    stdout(&dents(dir.path(), "scan --part p --task 1 --budget 1"));
    stdout(&dents(dir.path(), "parts claim --directories=10 p"));
    fs::rename(dir.path().join("t/7"), dir.path().join("away")).expect("it is ours");
    ends(&dents(dir.path(), "scan --part p --task 2"), 1);
    fs::rename(dir.path().join("away"), dir.path().join("t/7")).expect("it is ours");
    assert_eq!(run_all(&dir, ""), (1, false));
    assert_eq!(merged(&dir, 0).len(), truth.len());
}

/// A server that fails after some entries of a directory were read: these are rows already, so the whole task is done again.
#[test]
fn a_directory_that_fails_in_the_middle_is_read_again() {
    for error in [Errno::IO, Errno::STALE, Errno::TIMEDOUT] {
        let dir = TempDir::new("middle").expect("a directory");
        let far = SlowFs::builder().entries(2000, &[Kind::File]).tree(3, 3);
        let Some(far) = far.mount_or_skip() else { return };
        let words = format!("-- p {}", far.path().display());
        let fail = || {
            far.clear_faults();
            far.fault_after(".", &[Request::Readdir, Request::Readdirplus], 1, Fault::Error(error))
                .expect("it is there");
        };
        let again = "dents: a directory was not read to its end: nothing is committed; run the task again\n";
        start(&dir, &words);
        let task = dents(dir.path(), "scan --part p --task 1");
        fail();
        let (_, told) = ends(&task, 1);
        assert!(told.ends_with(again), "{error}: {told}");
        ends(&dents(dir.path(), "parts verify p"), 1);
        far.clear_faults();
        stdout(&task);
        assert_eq!(merged(&dir, 0).len(), 1 + 2000 + 3 * 4, "{error}");

        // A directory that fails for ever does not keep the scan from its end, but from being whole.
        fs::remove_dir_all(dir.path().join("p")).expect("it is ours");
        start(&dir, &words);
        for nth in 1..=3 {
            fail();
            let (_, told) = ends(&task, 1);
            assert_eq!(told.ends_with(again), nth < 3, "{error}, {nth}: {told}");
        }
        far.clear_faults();
        ends(&task, 0);
        assert_eq!(text(&run(&dents(dir.path(), "parts claim p")).stderr), "");
        ends(&dents(dir.path(), "parts verify p"), 1);
    }
}

/// As on a machine where the root is not mounted: before a task, and while it runs.
#[test]
fn another_tree_is_refused() {
    let dir = plant(100, &FILES);
    start(&dir, "-- p t");
    let [tree, away] = ["t", "away"].map(|name| dir.path().join(name));
    let lose = || {
        fs::rename(&tree, &away).expect("it is ours");
        fs::create_dir(&tree).expect("it is ours");
    };
    let find = || {
        fs::remove_dir(&tree).expect("it is empty");
        fs::rename(&away, &tree).expect("it is ours");
    };
    lose();
    let (_, told) = ends(&dents(dir.path(), "scan --part p --task 1"), 2);
    let problem = "dents: p: its root t is another tree here: it has another inode; mount it here";
    assert!(told.starts_with(problem), "{told}");
    find();
    assert_eq!(text(&stdout(&dents(dir.path(), "parts claim p"))), "1 1 0\n", "nothing was claimed");
    let task = dents(dir.path(), "scan --part p --task 1 --rate 20");
    let mut child = task.command().stderr(Stdio::piped()).spawn().expect("it starts");
    while !fs::read_dir(dir.path().join("p"))
        .expect("a directory")
        .any(|entry| entry.expect("an entry").file_name().to_string_lossy().starts_with(".1.parquet"))
    {
        assert!(child.try_wait().expect("its status").is_none(), "it runs");
    }
    std::thread::sleep(Duration::from_millis(300));
    lose();
    let output = child.wait_with_output().expect("its output");
    assert_eq!(End::from(output.status), End::Exit(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is another tree here"), "{}", text(&output.stderr));
    find();
    assert_eq!(run_all(&dir, ""), (0, false));
    stdout(&dents(dir.path(), "scan --part p --task 1"));
    assert_eq!(merged(&dir, 0).len(), 1 + 100 * 4);
}

#[test]
fn damage_is_found() {
    let dir = plant(300, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    let task = dents(dir.path(), "scan --part p --task 1 --budget 500");
    stdout(&task);
    let list = fs::read_dir(dir.path().join("p/left"))
        .expect("it is there")
        .next()
        .expect("one")
        .expect("it is there");
    let whole = fs::read(list.path()).expect("it is there");
    fs::write(list.path(), &whole[..whole.len() - 1]).expect("it is ours");
    let (_, told) = ends(&dents(dir.path(), "parts claim p"), 2);
    assert!(told.contains("cut off or damaged: "), "{told}");
    assert!(ends(&dents(dir.path(), "parts verify p"), 1).1.contains("not claimed"));
    fs::write(list.path(), &whole).expect("it is ours");
    run_all(&dir, "");
    merged(&dir, 0);
    let shard = dir.path().join("p/2.parquet");
    let mut bytes = fs::read(&shard).expect("it is there");
    bytes[200] ^= 1;
    fs::write(&shard, &bytes).expect("it is ours");
    assert!(ends(&dents(dir.path(), "parts verify p"), 1).1.contains("2.parquet: cut off or damaged"));
    // As if two tasks had had the same directories.
    fs::copy(dir.path().join("p/1.parquet"), &shard).expect("it is ours");
    assert!(ends(&dents(dir.path(), "parts verify p"), 1).1.contains(" has two rows"));
}

#[test]
fn a_full_disk_commits_nothing() {
    let dir = plant(1500, &FILES);
    fs::create_dir(dir.path().join("p")).expect("a directory");
    let script = "mount -t tmpfs -o size=48k,mode=755 none p && \"$0\" parts start -- p t && \"$0\" parts claim p >/dev/null && \
                  \"$0\" \"$@\"; status=$?; ls -A p p/left p/tmp; exit $status";
    let task = dents(dir.path(), "scan --part p --task 1");
    let Outcome { end, stdout, stderr, .. } = run(&task.under(&["unshare", "-rm", "/bin/sh", "-c", script]));
    let told = text(&stderr);
    if told.contains("unshare") || told.contains("mount:") {
        return println!("skipped: no mount namespace: {told}");
    }
    assert_eq!(end, End::Exit(1), "{told}");
    assert!(
        told.contains("1.parquet: cannot write: No space left on device") && told.lines().count() == 1,
        "{told}"
    );
    assert_eq!(text(&stdout), "p:\nclaims\nleft\nlog\nplan\ntaken\ntmp\nwaiting\n\np/left:\n\np/tmp:\n");
}

#[test]
fn other_file_systems_are_left_out_of_each_task() {
    let dir = plant(150, &FILES);
    fs::create_dir(dir.path().join("t/0/12/m")).expect("a directory");
    let script = "for at in t/0/12/m t/1; do mount -t tmpfs none $at && mkdir -p $at/x/y || exit; done
                  \"$0\" scan -x -o one.parquet t && \"$0\" parts start -x -- p t
                  while task=$(\"$0\" parts claim --directories=2 p); do
                      \"$0\" scan --part p --task ${task%% *} --budget 20 || exit
                  done";
    let outcome = run(&dents(dir.path(), "").under(&["unshare", "-rm", "/bin/sh", "-c", script]));
    let told = text(&outcome.stderr);
    if told.contains("unshare") || told.contains("mount:") {
        return println!("skipped: no mount namespace: {told}");
    }
    assert_eq!((outcome.end, told), (End::Exit(0), String::new()));
    let truth = rows(&dir.path().join("one.parquet"));
    assert!(!truth.iter().any(|row| row.contains("name: [120]")), "x is on another file system");
    assert_same(&merged(&dir, 0), &truth, "-x");
}

/// Runs a script of this repository, with `dents` in PATH.
fn script(dir: &Path, name: &str, variables: &[(&str, &str)], words: &[&str]) -> Outcome {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let programs = Path::new(env!("CARGO_BIN_EXE_dents")).parent().expect("a directory").display();
    let path = format!("{programs}:/usr/bin:/bin");
    let mut command = Run::new(Path::new("/bin/sh")).cwd(dir).args([scripts.join(name)]).args(words);
    command = command.env("PATH", path).env("SCRIPTS", &scripts);
    run(&variables.iter().fold(command, |command, (name, value)| command.env(name, value)))
}

#[test]
fn the_scripts_scan_all() {
    let dir = plant(300, &FILES);
    stdout(&dents(dir.path(), "scan -x -o one.parquet t"));
    let truth = rows(&dir.path().join("one.parquet"));
    // A remote shell that takes a host and a line.
    let ssh = dir.path().join("ssh");
    fs::write(&ssh, "#!/bin/sh\nshift\nexec sh -c \"$*\"\n").expect("a file");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let ssh = ssh.display().to_string();
    let outcome = script(dir.path(), "parts-ssh.sh", &[("SSH", &ssh)], &["it's a dir", "t", "a", "b", "c"]);
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()));
    assert!(text(&outcome.stdout).starts_with("complete: "), "{}", text(&outcome.stdout));
    assert_same(&rows(&dir.path().join("it's a dir")), &truth, "ssh");
    let outcome = script(dir.path(), "parts.sbatch", &[("DIR", "p"), ("ROOT", "t")], &[]);
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()));
    assert_same(&merged(&dir, 0), &truth, "Slurm");
}

/// Takes no message.
struct Silent;

impl Host for Silent {
    fn message(&self, message: &Message<'_>) {
        panic!("{}", text(message.text));
    }
}

#[test]
fn another_program_runs_tasks_too() {
    let dir = plant(20, &FILES);
    let [part, tree] = ["p", "t"].map(|name| dir.path().join(name).display().to_string());
    let words = |line: &'static str| -> Vec<OsString> {
        let word = |word: &'static str| match word {
            "P" => OsString::from(&part),
            "T" => OsString::from(&tree),
            _ => OsString::from(word),
        };
        line.split(' ').map(word).collect()
    };
    let done = |line: &'static str| dents_commands::run(&words(line), &Session::inside(Silent));
    let table = |line: &'static str| dents_commands::table(&words(line), &Session::inside(Silent));
    assert_eq!(done("parts start -- P T"), Status(0));
    let (claims, status) = table("parts claim P");
    assert_eq!(status, Status(0));
    let columns = claims.expect("a table").columns;
    assert_eq!(columns[0], ("task", Type::Text, Values::Texts(vec![Some(b"1"[..].into())])));
    assert_eq!(columns[2], ("waiting", Type::Number, Values::Numbers(vec![Some(0)])));
    assert_eq!(done("scan --part P --task 1"), Status(0));
    let (claims, status) = table("parts claim P");
    assert_eq!(
        (claims.expect("a table").columns[0].2.clone(), status),
        (Values::Texts(Vec::new()), Status(1))
    );
    let (tasks, status) = table("parts status P");
    let states = tasks.expect("a table").columns[1].2.clone();
    assert_eq!((states, status), (Values::Texts(vec![Some(b"committed"[..].into())]), Status(0)));
    assert_eq!([done("parts verify P"), done("parts merge P")], [Status(0); 2]);
    assert_eq!(rows(&dir.path().join("p")).len(), 1 + 20 * 4);
}

#[test]
fn where_nothing_can_be_written() {
    let dir = plant(3, &FILES);
    start(&dir, "-- p t");
    stdout(&dents(dir.path(), "parts claim p"));
    let script = "mount --bind p p && mount -o remount,ro,bind p && exec \"$0\" \"$@\"";
    for (words, status) in [("scan --part p --task 1", 1), ("parts start -- p/q t", 1), ("parts claim p", 1)]
    {
        let outcome = run(&dents(dir.path(), words).under(&["unshare", "-rm", "/bin/sh", "-c", script]));
        let told = text(&outcome.stderr);
        if told.contains("unshare") || told.contains("mount:") {
            return println!("skipped: no mount namespace: {told}");
        }
        assert_eq!(outcome.end, End::Exit(status), "{words}: {told}");
        let says = if words == "parts claim p" { "" } else { "cannot write: Read-only file system" };
        assert!(told.contains(says) && told.lines().count() <= 1, "{words}: {told}");
    }
}

/// Only "all tasks are committed" ends a worker with status 0: a claim that fails, and a program that is not there, do not.
#[test]
fn a_worker_tells_failure_from_the_end() {
    let dir = plant(30, &FILES);
    start(&dir, "-- p t");
    let worker = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/parts-worker.sh");
    let bin = Path::new(env!("CARGO_BIN_EXE_dents")).parent().expect("a directory").display().to_string();
    let work = |path: &str, words: &str| {
        let words = [worker].into_iter().chain(words.split(' '));
        run(&Run::new(Path::new("/bin/sh")).cwd(dir.path()).env("PATH", path).args(words))
    };
    let found = format!("{bin}:/usr/bin:/bin");
    for (path, words, status, says) in [
        ("/nowhere", "p", 127, "claim failed with status 127"),
        (&found, "t", 2, "not the directory of a scan in parts"),
        (&found, "p --max-depth=3", 2, "dents scan --part ended with status 2"),
        (&found, "p", 0, ""),
    ] {
        let Outcome { end, stderr, .. } = work(path, words);
        let told = text(&stderr);
        assert!(end == End::Exit(status) && told.contains(says), "{words}: {end:?} {told}");
        if words.contains("--") {
            // The task that it claimed is run again at once.
            stdout(&dents(dir.path(), "scan --part p --task 1"));
        }
    }
    ends(&dents(dir.path(), "parts verify p"), 0);
    // What `claim` itself says: nobody can read the list of waiting directories.
    fs::remove_dir(dir.path().join("p/waiting")).expect("an empty directory");
    let Outcome { end, stderr, .. } = work(&found, "p");
    let told = text(&stderr);
    assert!(end == End::Exit(2) && told.contains("p/waiting: cannot open: No such file"), "{end:?} {told}");
    // A full disk: the claim has no room, or its answer has none.
    let script = "dents() { command dents \"$@\" >/dev/full; }; . \"$0\"";
    let Outcome { end, .. } = {
        let words = ["-c", script, worker, "q"];
        start(&dir, "-- q t");
        run(&Run::new(Path::new("/bin/sh")).cwd(dir.path()).env("PATH", &found).args(words))
    };
    assert_eq!(end, End::Exit(2), "its answer went to a full disk");
}
