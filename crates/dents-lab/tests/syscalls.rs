//! What listings ask of the kernel, counted; every number is a promise of the README.

use std::path::Path;

use dents_lab::fixture::{TempDir, plain};
use dents_lab::palette::CHEAP;
use dents_lab::probe::peak;
use dents_lab::process::{End, Run};
use dents_lab::suite::{number, release};
use dents_lab::syscalls::{Trace, trace};

/// The calls that ask for an entry's metadata.
const STATS: &[&str] = &["statx", "newfstatat", "stat", "lstat", "fstat"];

fn listed(dir: &Path, args: &[&str]) -> Run {
    Run::new(release().path()).cwd(dir).args(args)
}

fn counted(run: &Run) -> Trace {
    let trace = trace(run).unwrap_or_else(|error| panic!("strace is needed to count system calls: {error}"));
    assert_eq!(trace.outcome.end, End::Exit(0), "{}", String::from_utf8_lossy(&trace.outcome.stderr));
    println!("{} calls: {:?}", trace.total(), trace.by_name());
    trace
}

fn stats(trace: &Trace) -> usize {
    STATS.iter().map(|name| trace.count(name)).sum()
}

fn files(count: usize) -> TempDir {
    plain(&std::env::temp_dir(), count).expect("fixture")
}

#[test]
fn a_long_listing_of_ten_files() {
    let dir = files(10);
    let trace = counted(&listed(dir.path(), &["-al", "--mode=classic"]));
    assert!(trace.total() <= 45, "{} calls: {:?}", trace.total(), trace.by_name());
}

#[test]
fn cheap_colours_stat_nothing() {
    let dir = files(10_000);
    let run = listed(dir.path(), &["--color=always"]).env("LS_COLORS", CHEAP);
    let trace = counted(&run);
    assert!(trace.total() < 30, "{} calls: {:?}", trace.total(), trace.by_name());
    assert!(stats(&trace) <= 2, "{:?}", trace.by_name());
}

#[test]
fn names_alone_stat_nothing() {
    let dir = files(10_000);
    for options in ["-1", "-U", "-C", "-m", "-x", "-p", "-X", "-v", "-r", "-a"] {
        let trace = counted(&listed(dir.path(), &[options]));
        assert!(stats(&trace) <= 2, "{options}: {:?}", trace.by_name());
        assert!(trace.total() < 30, "{options}: {:?}", trace.by_name());
    }
}

/// One stat an entry, and not one more: whatever the columns, keys and colours are that want it.
#[test]
fn no_entry_is_asked_twice() {
    let dir = files(1000);
    for options in ["-l", "-lt", "-lS", "-lF", "-ls", "-t", "-S", "-s", "-F", "-li"] {
        let run = listed(dir.path(), &["--mode=classic", "--color=always", options]);
        let stats = stats(&counted(&run));
        assert!((1000..=1005).contains(&stats), "{options}: {stats} stats");
    }
}

#[test]
fn ten_thousand_lines_are_a_handful_of_writes() {
    let dir = files(10_000);
    for options in ["-1", "-l", "-C", "-lU"] {
        let trace = counted(&listed(dir.path(), &[options]));
        assert!(trace.count("write") <= 24, "{options}: {:?}", trace.by_name());
    }
}

/// Unsorted names stream: the first byte is out before the last is read, and memory stays flat. The README's
/// figure is for a million files, which `DLS_FILES=1000000` repeats.
#[test]
fn unsorted_names_stream() {
    let count = number("DLS_FILES", 200_000) as usize;
    let shm = Path::new("/dev/shm");
    let dir =
        if shm.is_dir() { plain(shm, count) } else { plain(&std::env::temp_dir(), count) }.expect("fixture");
    let run = listed(dir.path(), &["-U1"]);
    let trace = counted(&run);
    let calls = trace.calls();
    let first_write = calls.iter().position(|call| call.text.starts_with("write(1,"));
    let last_read = calls.iter().rposition(|call| call.name == "getdents64");
    assert!(
        first_write.expect("it writes") < last_read.expect("it reads"),
        "nothing written before the last read"
    );
    let peak = peak(&run).expect("a peak");
    println!("{count} files: {} KiB resident at most", peak.resident_kib);
    assert_eq!(peak.output, count as u64 * 9);
    assert!(peak.resident_kib <= 6 << 10, "{} KiB resident", peak.resident_kib);
}
