//! Helpers for the process tests: they find the programs and the places to list, and run many cases at once.
//!
//! Meant for tests: a missing program, or a difference, is a panic whose message says what to do.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::draw;
use crate::fixture::{TempDir, deep, mix};
use crate::oracle::{Oracle, Subject, Verdict, check};
pub use crate::process::is_root;
use crate::random::Place;
use crate::shrink::{shrink, shrink_tree};
use crate::zoo::Zoo;

/// Failures after which a run stops looking for more: each is shrunk, and they tend to be one bug.
const ENOUGH: usize = 8;
/// How long failures are made smaller, all of them together.
const PATIENCE: Duration = Duration::from_secs(60);

/// The oracle, or a panic with the reason.
pub fn oracle() -> Oracle {
    Oracle::find().unwrap_or_else(|why| panic!("no oracle: {why}"))
}

/// The release build of `dls`, or a panic with the command that builds it.
pub fn release() -> Subject {
    Subject::release().unwrap_or_else(|why| panic!("no subject: {why}"))
}

/// The build of `dls` with debug assertions, or a panic with the command that builds it.
pub fn checked() -> Subject {
    Subject::checked().unwrap_or_else(|why| panic!("no subject: {why}"))
}

/// The build of `dls` that calls libc, or a panic with the command that builds it.
pub fn libc() -> Subject {
    Subject::libc().unwrap_or_else(|why| panic!("no subject: {why}"))
}

/// A number from the environment, or its default.
pub fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")),
        Err(_) => default,
    }
}

/// The locales to compare in: with `DLS_LOCALES=1` also those with an order of their own, or those of
/// `DLS_LOCALE_NAMES`; panics with the command to install them if there is none.
pub fn locales() -> Vec<&'static str> {
    let listed = Command::new("locale").arg("-a").stderr(Stdio::null()).output();
    let installed =
        listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let names = std::env::var("DLS_LOCALE_NAMES").unwrap_or_default();
    let named: Vec<&'static str> = names.split_whitespace().map(|name| &*name.to_string().leak()).collect();
    let locales = draw::locales(number("DLS_LOCALES", 0) > 0, &named, &installed);
    let locales = locales.unwrap_or_else(|why| panic!("{why}"));
    println!("locales: {}", locales.join(" "));
    locales
}

/// The places to list, and the values that keep them.
#[derive(Debug)]
pub struct Places {
    /// Each of them.
    pub all: Vec<Place>,
    /// The zoo among them.
    pub zoo: Zoo,
    _memory_zoo: Zoo,
    _dirs: Vec<TempDir>,
    _sleeper: Sleeper,
}

impl Places {
    /// Builds the zoo, one more on tmpfs (where times and sizes go further), an empty directory, a mixed
    /// and a deep one; beside them `/usr/bin`, `/etc`, `/dev` and processes as they are.
    pub fn new() -> Places {
        Places::build().unwrap_or_else(|error| panic!("cannot build the fixtures: {error}"))
    }

    fn build() -> std::io::Result<Places> {
        let (zoo, sleeper) = (Zoo::new()?, Sleeper::new()?);
        let shm = Path::new("/dev/shm");
        let memory_zoo = if shm.is_dir() { Zoo::new_in(shm)? } else { Zoo::new()? };
        for skipped in zoo.skipped() {
            println!("the zoo is without {skipped}");
        }
        let temp = std::env::temp_dir();
        let dirs = vec![TempDir::new("empty")?, mix(&temp, 300)?, deep(&temp, 6)?];
        let pool = several();
        let process = format!("/proc/{}", sleeper.0.id());
        let all = vec![
            Place::here("the zoo", zoo.path()),
            Place::here("the zoo on tmpfs", memory_zoo.path()),
            Place { pool, ..Place::here("several operands", zoo.path()) },
            Place::here("an empty directory", dirs[0].path()),
            Place::here("a mixed directory", dirs[1].path()),
            Place::here("a deep tree", dirs[2].path()),
            Place::live("/usr/bin", "/usr/bin"),
            Place::live("/etc", "/etc"),
            Place { allows: |option| !recursive(option), ..Place::live("/dev", "/dev") },
            Place { allows: steady_in_process, ..Place::live("a process", &process) },
            Place { allows: steady_in_proc, ..Place::live("/proc/self", "/proc/self") },
        ];
        Ok(Places { all, zoo, _memory_zoo: memory_zoo, _dirs: dirs, _sleeper: sleeper })
    }
}

impl Default for Places {
    fn default() -> Places {
        Places::new()
    }
}

/// Operands over a zoo: files, directories, links to both, odd names, missing files, files elsewhere.
fn several() -> Vec<std::ffi::OsString> {
    let names = [
        ".",
        "..",
        "dir-nlink",
        "dir-empty",
        "names",
        "bytes",
        "versions",
        "extensions",
        "tree",
        "closed",
        "dir1777",
        "mode0755",
        "mode4755",
        "size1",
        "size10240",
        "fifo",
        "socket",
        "char-large",
        "link-dir",
        "link-file",
        "link-slash",
        "link-dangling",
        "link-chain",
        "link-parent",
        "link-dir/",
        "link-file/",
        "dir0755/",
        "missing",
        "missing too",
        "size1/",
        "names/-dash",
        "names/new\nline",
        "hard-1",
        "acl-file",
        "capable",
        "owner-nameless",
        "time-1901",
        "time-hour-ahead",
        "/usr/bin/env",
        ".hidden",
        "dir with space",
        "",
    ];
    names.map(Into::into).to_vec()
}

fn recursive(option: &str) -> bool {
    option == "-R" || option.starts_with("--recu")
}

/// The directory of a sleeping process does not change, but `..` is `/proc`, whose link count is the number of
/// processes.
fn steady_in_process(option: &str) -> bool {
    !recursive(option) && !["-a", "-f"].contains(&option) && !option.starts_with("--all")
}

/// `/proc/self` differs for each lister: inode, start time, number of descriptors. Names, types and link targets are
/// the same.
fn steady_in_proc(option: &str) -> bool {
    let varies = ["-l", "-n", "-g", "-o", "-i", "-t", "-c", "-u", "-S", "-R"].contains(&option);
    let long = ["--num", "--ino", "--recu", "--full"].iter().any(|prefix| option.starts_with(prefix));
    !varies && !long
}

/// A process that sleeps, for its directory in `/proc`.
#[derive(Debug)]
struct Sleeper(Child);

impl Sleeper {
    fn new() -> std::io::Result<Sleeper> {
        let mut command = Command::new("sleep");
        command.arg("3600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Sleeper)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a run of many cases went.
#[derive(Debug, Default)]
struct Tally {
    same: usize,
    skipped: Vec<&'static str>,
    unstable: Vec<Case>,
    failures: Vec<(Case, String)>,
}

/// Checks every case, on all cores. Panics with the least form of the first few failures.
pub fn expect_same(oracle: &Oracle, subject: &Subject, cases: &[Case]) {
    let (tally, next) = (Mutex::new(Tally::default()), AtomicUsize::new(0));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| work(oracle, subject, cases, &next, &tally));
        }
    });
    let tally = tally.into_inner().unwrap();
    println!(
        "{} cases: {} same, {} skipped as known differences, {} unstable, {} different",
        cases.len(),
        tally.same,
        tally.skipped.len(),
        tally.unstable.len(),
        tally.failures.len()
    );
    let mut reasons = std::collections::BTreeMap::new();
    for reason in &tally.skipped {
        *reasons.entry(reason).or_insert(0) += 1;
    }
    for (reason, count) in reasons {
        println!("  {count} skipped: {reason}");
    }
    for case in &tally.unstable {
        println!("unstable: {}", oracle.run_of(case).shell());
    }
    assert!(tally.failures.is_empty(), "{}", explain(oracle, subject, &tally.failures));
    assert!(tally.unstable.len() * 50 <= cases.len(), "too many cases on places that do not hold still");
    assert!(tally.same > 0, "nothing was compared");
}

fn work(oracle: &Oracle, subject: &Subject, cases: &[Case], next: &AtomicUsize, tally: &Mutex<Tally>) {
    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
        let verdict = check(oracle, subject, case);
        let mut tally = tally.lock().unwrap();
        match verdict {
            Verdict::Same => tally.same += 1,
            Verdict::Skipped(reason) => tally.skipped.push(reason),
            Verdict::Unstable => tally.unstable.push(case.clone()),
            Verdict::Different(report) => tally.failures.push((case.clone(), report)),
        }
        if tally.failures.len() >= ENOUGH {
            return;
        }
    }
}

fn explain(oracle: &Oracle, subject: &Subject, failures: &[(Case, String)]) -> String {
    let start = Instant::now();
    let fails = |case: &Case| {
        // A program that does not end makes every try last: better a long report than none.
        start.elapsed() < PATIENCE && matches!(check(oracle, subject, case), Verdict::Different(_))
    };
    let mut report = format!("{} cases differ from GNU ls:\n", failures.len());
    let mut shown = std::collections::BTreeSet::new();
    for (failure, first) in failures {
        let (least, _dir) = shrink_tree(&shrink(failure, fails), fails);
        // Failures that shrink to the same options are one failure, whichever directory shows it.
        if !shown.insert(format!("{:?}{:?}{:?}", least.options, least.env, least.output)) {
            continue;
        }
        match check(oracle, subject, &least) {
            Verdict::Different(text) => report.push_str(&text),
            _ => report.push_str(&format!("(differed once, not when asked again)\n{first}")),
        }
    }
    report
}
