//! `dents` on hostile file systems: it ends, with a message, in bounded memory.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::hostile::{SOON, check_all, traps};
use dents_lab::process::Run;
use dents_lab::slowfs::Mounted;
use dents_lab::terminal::{Terminal, controlling, drain};
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tools::{dents, run, stdout};

const COMMANDS: [&str; 21] = [
    "scan",
    "scan -L",
    "scan --format ndjson",
    "scan --printf %p\\t%s\\t%t\\n",
    "scan -o DIR/x.parquet",
    "scan -o DIR/x.db",
    "scan -o DIR/x.ndjson --journal DIR/journal",
    "scan --format ncdu -o DIR/x.json",
    "scan --newer 1d --size +1G",
    "scan --timeout 300ms",
    "scan --gitignore",
    "du",
    "du -ah --total",
    "top",
    "top --by oldest --json",
    "count",
    "stats --by user,age,size,ext,depth",
    "diff DIR/before.parquet",
    "report -o DIR/x.html",
    "scan --part DIR/p --task 1",
    "io500-find",
];

#[test]
fn dents_on_hostile_file_systems() {
    let place = TempDir::new("hostile").expect("a directory");
    fs::write(place.path().join("file"), "x").expect("a file");
    stdout(&dents(place.path(), "scan -o before.parquet file"));
    let count = AtomicU32::new(0);
    let commands = |mounted: &Mounted| -> Vec<Run> {
        let dir = place.path().join(count.fetch_add(1, Relaxed).to_string());
        fs::create_dir(&dir).expect("a directory");
        fs::copy(place.path().join("before.parquet"), dir.join("before.parquet")).expect("a copy");
        let command = |words: &&str| {
            let words = words.replace("DIR", dir.to_str().expect("a path"));
            dents(&dir, &words).args([mounted.path()])
        };
        run(&dents(&dir, "parts start p"));
        COMMANDS.iter().map(command).collect()
    };
    check_all(&commands);
}

/// The key `q` ends the browser on each, also while it scans.
#[test]
fn browse_on_hostile_file_systems() {
    std::thread::scope(|scope| {
        for trap in traps() {
            scope.spawn(move || {
                let Some(mounted) = trap.mount_or_skip() else { return };
                let terminal = Terminal::open(80).expect("a terminal");
                let stderr = terminal.slave.try_clone().expect("a descriptor").into();
                let run = dents(std::path::Path::new("/"), "browse").args([mounted.path()]);
                let (mut child, mut master) = terminal.start(&controlling(run), stderr).expect("it starts");
                let mut keys = master.try_clone().expect("a descriptor");
                let shown = std::thread::spawn(move || drain(&mut master));
                std::thread::sleep(Duration::from_millis(1500));
                keys.write_all(b"q").expect("a terminal");
                let start = Instant::now();
                let status = loop {
                    if let Some(status) = child.try_wait().expect("a child") {
                        break status;
                    }
                    if start.elapsed() > 2 * SOON {
                        child.kill().expect("a child");
                        panic!("{}: it does not end", trap.name);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                };
                assert!(matches!(status.code(), Some(0 | 1)), "{}: {status:?}", trap.name);
                let shown = shown.join().expect("no panic").expect("the terminal reads");
                assert!(!String::from_utf8_lossy(&shown).contains("panicked"), "{}", trap.name);
                mounted.release();
            });
        }
    });
}
