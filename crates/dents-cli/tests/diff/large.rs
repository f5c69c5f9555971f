//! Ten million entries in each scan: `cargo test --release -p dents-cli --test diff -- --ignored --nocapture ten_million`.
//!
//! `DIFF_ROWS` sets another number, `DIFF_DIR` a directory for 700 MB.

use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_lab::fixture::TempDir;
use dents_lab::process::Run;
use dents_sink::{About, Extent, Facts, Format, Part, Row, create, time};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// One row in a hundred differs: it is new, deleted, larger, or it moved.
const EVERY: u64 = 400;

fn write(file: &Path, rows: u64, is_new: bool) {
    let about = About {
        program: "a test",
        begun: time::now(),
        ended: None,
        timestamps: time::Unit::Micros,
        index: false,
        subvolumes: &[],
        details: Default::default(),
    };
    let sink = create(file, Format::Parquet, &about).expect("a file");
    std::thread::scope(|scope| {
        for half in 0..2 {
            let mut part = sink.part();
            scope.spawn(move || fill(&mut *part, half * rows / 2..(half + 1) * rows / 2, is_new));
        }
    });
    sink.finish(Extent::Complete).expect("written");
}

fn fill(part: &mut dyn Part, numbers: std::ops::Range<u64>, is_new: bool) {
    if numbers.start == 0 {
        put(part, ("", "/scratch", 0), Kind::Dir, facts(u64::MAX, 0));
    }
    let mut parent = String::new();
    for nth in numbers {
        if nth % 30 == 0 || parent.is_empty() {
            let (project, module) = (nth / 3000, nth / 30 % 100);
            parent = format!("/scratch/users/project-{project:06}/src/modules/module_{module:03}");
        }
        let mut name = format!("part_{:06x}.rs", nth * 2_654_435_761 % 0xff_ffff);
        let mut size = nth % 9973;
        match (nth % EVERY, is_new) {
            (0, false) | (1, true) => continue,
            (2, true) => size += 4096,
            (3, true) => name.push_str(".moved"),
            _ => {}
        }
        put(part, (&parent, &name, 6), Kind::Reg, facts(nth + 1, size));
    }
    part.flush().expect("written");
}

fn put(part: &mut dyn Part, (parent, name, depth): (&str, &str, u32), kind: Kind, facts: Facts<'_>) {
    let (parent, name) = (parent.as_bytes(), name.as_bytes());
    let row = Row {
        parent,
        name,
        depth,
        kind,
        facts: Some(facts),
        target: None,
        details: Default::default(),
        fault: None,
    };
    part.row(&row).expect("written");
}

fn facts(ino: u64, size: u64) -> Facts<'static> {
    let stamp = Time { sec: 1_700_000_000 + (ino / 30) as i64, nsec: (ino % 1_000_000) as u32 * 1000 };
    Facts {
        dev: (8, 1),
        ino,
        mode: 0o100_644,
        nlink: 1,
        uid: 1000 + (ino / 300_000 % 50) as u32,
        gid: 100,
        user: None,
        group: None,
        size,
        allocated: size.next_multiple_of(4096),
        atime: stamp,
        btime: Some(stamp),
        ctime: stamp,
        mtime: stamp,
        lazy: false,
        unknown: dents_sink::read::Columns::empty(),
    }
}

/// Waits for the end of the process. Returns its peak memory in MiB.
fn peak(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    peak >> 10
}

#[test]
#[ignore = "takes a minute or two, and 2 GB of disk"]
fn ten_million_rows_take_bounded_memory() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rows = number("DIFF_ROWS").unwrap_or(10_000_000);
    let parent = std::env::var_os("DIFF_DIR").unwrap_or_else(|| std::env::temp_dir().into_os_string());
    let dir = TempDir::new_in(Path::new(&parent), "large").expect("a directory");
    let files = [("old.parquet", false), ("new.parquet", true)];
    for (file, is_new) in files {
        write(&dir.path().join(file), rows, is_new);
    }
    for words in ["--summary", "-n 3", "--json"] {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_dents"))).cwd(dir.path()).args(["diff"]);
        let run = run.args(words.split(' ')).args(files.map(|(file, _)| file)).env("TMPDIR", dir.path());
        let started = Instant::now();
        let mut child = run.command().stdout(Stdio::null()).spawn().expect("it starts");
        let peak = peak(&mut child);
        println!("{rows} rows, {words}: {:.1} s, at most {peak} MiB", started.elapsed().as_secs_f64());
        assert_eq!(child.wait().expect("it ended").code(), Some(1));
        assert!(peak <= 600, "{peak} MiB");
    }
}
