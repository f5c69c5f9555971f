//! `dents` on hostile file systems: it ends, with a message, in bounded memory.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::hostile::check_all;
use dents_lab::process::Run;
use dents_lab::slowfs::Mounted;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
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
