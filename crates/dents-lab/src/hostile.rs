//! Hostile file systems: what a FUSE server, or a damaged disk, can answer; and runs of a program on each.
//!
//! A program must end by itself, or, where endless is the truth, by SIGINT within [`SOON`]; in 512 MiB of memory; by no other signal; and with
//! a message if its status is not 0.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::TempDir;
use crate::process::Run;
use crate::slowfs::{Builder, Errno, Fault, Kind, Mounted, Request, SlowFs};

/// A program has ended within this time after SIGINT.
pub const SOON: Duration = Duration::from_secs(5);
/// How long a program may take on a trap that ends.
const PATIENCE: Duration = Duration::from_secs(20);
/// When a program on an endless trap gets SIGINT.
const ENOUGH: Duration = Duration::from_millis(600);
/// The most memory that a process may have used, in bytes.
const MEMORY: u64 = 512 << 20;

/// A file system.
#[derive(Debug)]
pub struct Trap {
    /// What it does.
    pub name: &'static str,
    builder: Builder,
    /// Whether a listing of it ends.
    pub ends: bool,
    /// Whether the kernel reports an error to whoever reads it.
    pub fails: bool,
}

fn trap(name: &'static str, builder: Builder) -> Trap {
    Trap { name, builder, ends: true, fails: false }
}

fn failing(name: &'static str, builder: Builder) -> Trap {
    Trap { fails: true, ..trap(name, builder) }
}

fn endless(name: &'static str, builder: Builder) -> Trap {
    Trap { ends: false, ..trap(name, builder) }
}

const NAMES: [Request; 2] = [Request::Readdir, Request::Readdirplus];

/// All of them.
pub fn traps() -> Vec<Trap> {
    let some = || SlowFs::builder().entries(20, &[Kind::File, Kind::Directory, Kind::Link]);
    let long = "n".repeat(255);
    let many = || SlowFs::builder().entries(3000, &[Kind::File]);
    let lies = [(Kind::File, Kind::Directory), (Kind::Directory, Kind::File), (Kind::Link, Kind::Directory)];
    let more = [(Kind::Directory, Kind::Link), (Kind::Fifo, Kind::Directory), (Kind::File, Kind::Link)];
    let lying = lies.into_iter().chain(more).enumerate();
    let lying = lying.fold(some(), |some, (nth, (kind, told))| some.lie(&format!("lie{nth}"), kind, told));
    let far = [
        (0, i64::MIN + 1),
        (1, i64::MAX),
        (2, -1),
        (3, 1 << 40),
        (4, -(1 << 40)),
        (5, 67_767_976_233_536_000),
    ];
    let far = far.into_iter().fold(some(), |some, (nth, time)| some.figures(&format!("far{nth}"), nth, time));
    let huge = [i64::MAX as u64, i64::MAX as u64, i64::MAX as u64 - 1, 1 << 62, 1 << 62, 1 << 62];
    let huge = huge.into_iter().enumerate();
    let huge = huge.fold(some(), |some, (nth, size)| some.figures(&format!("huge{nth}"), size, 0));
    vec![
        failing("a name with a slash", some().entry("a/../../etc", Kind::File)),
        failing("an empty name", some().entry("", Kind::File)),
        trap(
            "names that control",
            some().entry("\x1b[2J\u{202e}\n", Kind::Directory).entry(&long, Kind::Directory),
        ),
        trap("types that are not so", lying),
        trap("negative sizes", some().figures("negative", u64::MAX, 0).figures("least", 1 << 63, 0)),
        trap("sizes that add up to too much", huge),
        trap("far times", far),
        failing("EIO in the middle", many().fault_after(".", &NAMES, 1, Fault::Error(Errno::IO))),
        failing("ESTALE in the middle", many().fault_after(".", &NAMES, 2, Fault::Error(Errno::STALE))),
        trap(
            "ESTALE of directories",
            some().fault("e00001", &[Request::Opendir], Fault::Error(Errno::STALE)),
        ),
        trap(
            "EIO of entries",
            some().fail("e00000", Errno::IO).fail("e00001", Errno::STALE).vanish("e00002"),
        ),
        trap("it contains itself", some().contains_itself()),
        endless("no end", SlowFs::builder().endless()),
        endless("one name without end", SlowFs::builder().repeats()),
        endless("no bottom", SlowFs::builder().bottomless()),
        endless("no answer", some().hang("e00000").hang("e00001")),
    ]
}

impl Trap {
    /// Mounts it, or tells that it is skipped.
    pub fn mount_or_skip(&self) -> Option<Mounted> {
        self.builder.clone().mount_or_skip()
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status, if no signal ended it.
    pub status: Option<i32>,
    /// The signal.
    pub signal: Option<i32>,
    /// Whether it got SIGINT.
    pub interrupted: bool,
    /// Bytes on standard error.
    pub said: String,
    /// The most memory at once, in bytes.
    pub memory: u64,
}

/// The most resident memory so far; 0 until the program runs. `execve` wakes the parent of a `vfork` a moment before it gives up the memory of
/// that parent, whose peak is then read. It sets the name of the process later.
fn peak(child: &Child) -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let status = read(&format!("/proc/{}/status", child.id()));
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("Name:") == Some(read("/proc/thread-self/comm").trim()) {
        return 0;
    }
    let kib = field("VmHWM:").and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}

/// Runs a program in its own time, or until it is interrupted.
fn watch(run: &Run, ends: bool) -> Result<Ended, String> {
    let dir = TempDir::new("hostile").map_err(|error| error.to_string())?;
    let said = dir.path().join("said");
    let file = File::create(&said).map_err(|error| error.to_string())?;
    let mut command = run.command();
    command.stdout(Stdio::null()).stderr(file);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (start, mut memory, mut interrupted) = (Instant::now(), 0, None::<Instant>);
    let status = loop {
        memory = peak(&child).max(memory);
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        let late = match interrupted {
            Some(since) => since.elapsed() > SOON,
            None => ends && start.elapsed() > PATIENCE,
        };
        if late || memory > MEMORY {
            let _ = child.kill();
            let _ = child.wait();
            let what = if memory > MEMORY { "too much memory" } else { "it does not end" };
            return Err(format!("{what}: {} MiB after {:?}", memory >> 20, start.elapsed()));
        }
        if !ends && interrupted.is_none() && start.elapsed() > ENOUGH {
            let _ = kill_process(Pid::from_child(&child), Signal::INT);
            interrupted = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said =
        std::fs::read(&said).map(|said| String::from_utf8_lossy(&said).into_owned()).unwrap_or_default();
    let interrupted = interrupted.is_some();
    Ok(Ended { status: status.code(), signal: status.signal(), interrupted, said, memory })
}

/// Runs a command on a trap. Returns what is wrong with how it ended.
pub fn check(trap: &Trap, run: &Run) -> Option<String> {
    let ended = match watch(run, trap.ends) {
        Ok(ended) => ended,
        Err(why) => return Some(format!("{}: {why}\n{}", trap.name, run.shell())),
    };
    let first: String = ended.said.lines().take(3).collect::<Vec<_>>().join(" | ");
    let wrong = match (ended.status, ended.signal) {
        (Some(0), _) if trap.fails => Some("an error without a status".to_string()),
        (Some(0 | 130), _) => None,
        // Differences are no failure.
        (Some(1), _) if ended.said.is_empty() && run.args.first().is_some_and(|word| word == "diff") => None,
        (Some(status), _) if ended.said.is_empty() => Some(format!("status {status} without a message")),
        (Some(1 | 2), _) if !ended.said.contains("panicked") => None,
        (None, Some(2)) if ended.interrupted => None,
        (status, signal) => Some(format!("status {status:?}, signal {signal:?}")),
    };
    wrong.map(|wrong| format!("{}: {wrong}: {first}\n{}", trap.name, run.shell()))
}

/// Runs all commands on all traps, several at once, and panics with what is wrong.
pub fn check_all(commands: &(dyn Fn(&Mounted) -> Vec<Run> + Sync)) {
    // What never ends waits for its signal, and little else.
    let shares = |trap: &Trap| if trap.ends { 1 } else { 6 };
    let traps = traps();
    let all = traps.iter().flat_map(|trap| (0..shares(trap)).map(move |share| (trap, share)));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = all
            .map(|(trap, share)| {
                scope.spawn(move || {
                    let start = Instant::now();
                    let mut wrong = Vec::new();
                    // Faults that wait for some requests are mounted for each run anew.
                    let count = trap.mount_or_skip().map_or(0, |mounted| commands(&mounted).len());
                    for nth in (share..count).step_by(shares(trap)) {
                        let Some(mounted) = trap.mount_or_skip() else { break };
                        let run = commands(&mounted).swap_remove(nth);
                        wrong.extend(check(trap, &run));
                        mounted.release();
                    }
                    println!("{}: {count} runs, {:?}", trap.name, start.elapsed());
                    wrong
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
