//! The system calls of listings, counted; PERFORMANCE.md states each number.

use std::path::Path;
use std::process::Command;

use dents_lab::fixture::{TempDir, plain};
use dents_lab::memory::{faults, peak};
use dents_lab::palette::CHEAP;
use dents_lab::process::{End, Run};
use dents_lab::suite::{number, release};
use dents_lab::syscalls::{Trace, trace, trace_with};
use object::{Object as _, ObjectSection as _};

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

/// Whether directories are made on a file system where a ring can request attributes: ext, XFS, btrfs, tmpfs, F2FS.
fn suits_a_ring(parent: &Path) -> bool {
    let output =
        Command::new("stat").args(["-f", "-c", "%t"]).arg(parent).output().expect("stat, of coreutils");
    let magic = String::from_utf8_lossy(&output.stdout);
    let suits = ["ef53", "58465342", "9123683e", "1021994", "f2f52010"].contains(&magic.trim());
    if !suits {
        println!("{}: attributes are asked for plainly there", parent.display());
    }
    suits
}

/// Without `..`, in which others may be at work.
fn assert_same_in_a_ring(dir: &Path, options: &str) {
    let run = |mode| listed(dir, &[options, mode]).output().expect("dls starts").stdout;
    assert!(run("--mode=iou") == run("--mode=classic"), "{options} {}", dir.display());
}

/// Fewer calls than any other lister, with marks of ACLs, for every size.
#[test]
fn a_ring_makes_the_fewest() {
    let shm = Path::new("/dev/shm");
    // With exit_group, which `strace -c` leaves out, and the close of standard output, without which an error of a server is lost.
    for (count, most) in [(10, 17), (100, 17), (1000, 18), (10_000, 35), (100_000, 165)] {
        let temporary = std::env::temp_dir();
        for parent in
            [temporary.as_path(), shm].into_iter().filter(|parent| parent.is_dir() && suits_a_ring(parent))
        {
            let dir = plain(parent, count).expect("fixture");
            let trace = counted(&listed(dir.path(), &["-al", "--mode=iou"]));
            if trace.count("io_uring_enter") == 0 {
                println!("io_uring is refused here");
                return;
            }
            assert_same_in_a_ring(dir.path(), "-Al");
            assert_eq!(stats(&trace), 0, "{count}");
            assert!(trace.total() <= most, "{count} files: {} calls: {:?}", trace.total(), trace.by_name());
        }
    }
}

/// A tree uses one ring, and closing its directories costs no call.
#[test]
fn a_ring_for_a_whole_tree() {
    let dir = files(0);
    for sub in 0..50 {
        let sub = dir.path().join(format!("sub{sub}"));
        std::fs::create_dir(&sub).expect("directory");
        for file in 0..40 {
            std::fs::write(sub.join(format!("file{file}")), "").expect("file");
        }
    }
    let trace = counted(&listed(dir.path(), &["-alR", "--mode=iou"]));
    assert_same_in_a_ring(dir.path(), "-AlR");
    if trace.count("io_uring_enter") == 0 || !suits_a_ring(dir.path()) {
        println!("no ring here");
        return;
    }
    // For each directory: open, identify, two reads, its path, one batch of requests; one write for several. The path
    // halves the kernel's work for attributes.
    assert_eq!((trace.count("io_uring_setup"), trace.count("fstatfs")), (1, 1), "{:?}", trace.by_name());
    assert!(trace.total() <= 51 * 7 + 30, "{} calls: {:?}", trace.total(), trace.by_name());
    assert!(trace.count("close") == 1, "standard output: {:?}", trace.by_name());
}

/// Four hundred directories in twenty, without a link upwards.
fn branches(name: &str) -> TempDir {
    let dir = TempDir::new(name).expect("directory");
    for nth in 0..400 {
        let path = dir.path().join(format!("a{:02}/b{:02}", nth / 20, nth % 20));
        std::fs::create_dir_all(path).expect("directory");
    }
    dir
}

/// If directories form a tree and nothing is mounted below the operand, none contains itself: none is identified once
/// workers have started.
#[test]
fn a_tree_is_not_searched_for_loops() {
    let dir = branches("no-loops");
    if !suits_a_ring(dir.path()) {
        return;
    }
    let stats_of = |args: &[&str]| stats(&counted(&listed(dir.path(), args)));
    let identified = stats_of(&["-R", "--mode=classic"]);
    assert_eq!(identified, 421, "one for each directory without workers");
    let few = stats_of(&["-R", "--threads=2"]);
    assert!(few < 30, "{few} requests about 421 directories");
    let several = stats_of(&["-R", "--threads=2", "a00", "a01", "."]);
    assert!(several > 400, "{several}: one operand may contain another");
    let followed = stats_of(&["-RL", "--threads=2"]);
    assert!(followed > 420, "{followed}: links may lead back up");
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

/// One stat for an entry, and not one more, whichever columns, keys and colours need it.
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

/// Unsorted names stream: the first byte is out before the last is read, and memory stays flat. The figure of
/// PERFORMANCE.md is for a million files, which `DLS_FILES=1000000` repeats.
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

/// The flow of ARCHITECTURE.md: after the last answer about an entry come the files of the owners and of the zone, and the
/// writing. No order, colour, icon or column asks.
#[test]
fn after_stat_a_listing_asks_nothing() {
    const ASKED: [&str; 6] = ["statx", "listxattr", "listxattrat", "readlinkat", "getdents64", "newfstatat"];
    const AFTER: [&str; 12] = [
        "close",
        "openat",
        "pread64",
        "read",
        "clock_gettime",
        "write",
        "exit_group",
        "exit",
        "mmap",
        "munmap",
        "brk",
        "madvise",
    ];
    let dir = files(20);
    let colored = ["--color=always", "--mode=classic"];
    let is_zone = |text: &str| text.contains("/etc/localtime") || text.contains("/zoneinfo/");
    for options in [
        &["-l"][..],
        &["-alS"],
        &["-ltr", "--icons=always"],
        &["-lX", "--header"],
        &["-C", "--sort=width"],
        &["--json"],
    ] {
        let run = listed(dir.path(), &[options, &colored[..], &["--numeric-uid-gid"]].concat());
        let trace = counted(&run.env("LS_COLORS", CHEAP).env("LC_ALL", "C"));
        let last = trace.calls().iter().rposition(|call| ASKED.contains(&call.name.as_str()));
        let after = &trace.calls()[last.expect("it asks") + 1..];
        for call in after {
            assert!(AFTER.contains(&call.name.as_str()), "{options:?}: {}", call.text);
            assert!(call.name != "openat" || is_zone(&call.text), "{options:?}: {}", call.text);
        }
    }
}

/// The functions of short listings are linked side by side (`crates/dls/listing.ld`): if their names no longer match,
/// nothing breaks, but a start touches a dozen pages more.
#[test]
fn what_short_listings_run_stands_together() {
    let elf = std::fs::read(release().path()).expect("dls is there");
    let elf = object::File::parse(&*elf).expect("dls is an ELF file");
    let size = |name| elf.section_by_name(name).map_or(0, |section| section.size());
    let [listing, rest] = [".text.listing", ".text"].map(size);
    println!("{listing} bytes of code together, {rest} others");
    assert!((150_000..350_000).contains(&listing), "{listing} of {rest}");
}

/// Page faults of a short listing, the least of many runs. With a list made from other code, functions that each start
/// executes are in fault-around windows of their own: 20 or 21 faults become 27 to 29.
#[test]
fn a_short_listing_touches_few_pages() {
    const MOST: u64 = 24;
    let dir = files(10);
    for options in [&["-al"][..], &[]] {
        let run = listed(dir.path(), options);
        let least = (0..30).map(|_| faults(&run).expect("dls runs")).min().expect("it ran");
        println!("{least} page faults of dls {}", options.join(" "));
        assert!(
            least <= MOST,
            "{least} page faults of dls {}, {MOST} expected: `cargo xtask listing` writes crates/dls/listing.ld anew",
            options.join(" ")
        );
    }
}

/// The magic number of ext4. Older kernels' tmpfs has no positions that suit.
const EXT4: i64 = 0xef53;

/// Several workers read a huge directory from different positions. If they cannot, one does, and shows the same.
#[test]
fn a_huge_directory_is_read_by_several() {
    for parent in [std::env::temp_dir(), "/dev/shm".into()].iter().filter(|parent| parent.is_dir()) {
        let dir = plain(parent, 60_000).expect("fixture");
        let list = |args: &[&str]| listed(dir.path(), args);
        let trace = counted(&list(&["-C", "-U"]));
        let alone = counted(&list(&["-C", "-U", "--mode=classic"]));
        assert_eq!((alone.count("lseek"), alone.count("statmount")), (0, 0), "one worker looks nothing up");
        assert!(trace.outcome.stdout == alone.outcome.stdout, "{}", parent.display());
        let stuck = trace_with(&list(&["-C", "-U"]), &["lseek:error=EINVAL"]).expect("strace");
        assert!(stuck.outcome.stdout == alone.outcome.stdout && stuck.outcome.stderr.is_empty(), "no seek");
        let limited = list(&["-C", "-U"]).under(&["sh", "-c", "ulimit -n 4; exec \"$0\" \"$@\""]);
        let outcome = limited.output().expect("dls starts");
        assert!(outcome.stdout == alone.outcome.stdout && outcome.stderr.is_empty(), "no descriptor is left");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores > 1 && rustix::fs::statfs(parent).expect("statfs").f_type == EXT4 {
            // On a busy machine the second worker may begin when the first has read all.
            let seeks = || counted(&list(&["-C", "-U"])).count("lseek") > 0;
            assert!((0..20).any(|_| seeks()), "{:?}", trace.by_name());
        }
    }
}

/// What another reader would cost is paid only where names are left: the last of the buffers that are read alone was full.
#[test]
fn a_directory_that_ends_in_the_buffers_read_alone_has_one_reader() {
    let long = TempDir::new("longer").expect("fixture");
    for nth in 0..10_000 {
        std::fs::write(long.path().join(format!("file-name-{nth:05}.txt")), "").expect("fixture");
    }
    let short = files(10_000);
    for dir in [&short, &long] {
        for args in [&["-1"][..], &["-1", "--color"]] {
            let mut run = listed(dir.path(), args);
            run = run.env("LS_COLORS", "di=01:ex=0:su=0:sg=0:ca=0:or=0:mi=0:tw=0:ow=0:st=0:mh=0");
            let trace = counted(&run);
            let others = ["lseek", "statmount", "clone", "sched_getaffinity"].map(|name| trace.count(name));
            assert_eq!(others, [0; 4], "{args:?}");
            assert!(trace.total() <= 30, "{} calls: {:?}", trace.total(), trace.by_name());
        }
    }
}
