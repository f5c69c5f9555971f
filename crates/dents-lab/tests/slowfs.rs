//! The slow file system, as its clients see it: which requests are sent, how long each takes, how many are in flight.
//!
//! Times have sharp lower bounds, which the file system promises, and wide upper ones, for a busy machine.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dents_lab::slowfs::{Kind, Mounted, Readdirplus, Request, SlowFs};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};

const MS: Duration = Duration::from_millis(1);

/// `lstat` of every path on so many threads; how long that took.
fn stat_all(paths: &[PathBuf], threads: usize) -> Duration {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    fs::symlink_metadata(path).expect("it is there");
                }
            });
        }
    });
    start.elapsed()
}

fn paths(far: &Mounted, count: usize) -> Vec<PathBuf> {
    (0..count).map(|n| far.path().join(format!("e{n:05}"))).collect()
}

fn names(far: &Mounted) -> Vec<String> {
    let entries = fs::read_dir(far.path()).expect("it can be opened");
    entries.map(|entry| entry.expect("it reads").file_name().into_string().expect("plain names")).collect()
}

#[test]
fn latency_is_real_and_counted() {
    let Some(far) = SlowFs::builder().entries(3, &[Kind::File]).latency(20 * MS).mount_or_skip() else {
        return;
    };
    let took = stat_all(&paths(&far, 3), 1);
    assert!((120 * MS..1200 * MS).contains(&took), "{took:?}");
    assert_eq!(far.counts().to_string(), "lookup 3, getattr 3: 6 in all");
    assert_eq!(far.counts_of("e00001").sum(Request::STAT), 2);
    assert_eq!(far.peak_in_flight(), 1);
    far.reset_counts();
    assert_eq!((far.counts().total(), far.peak_in_flight(), far.in_flight()), (0, 0, 0));
}

#[test]
fn latency_can_be_that_of_one_kind_and_change() {
    let builder = SlowFs::builder().entries(2, &[Kind::File]).latency_of(&[Request::Getattr], 50 * MS);
    let Some(far) = builder.mount_or_skip() else { return };
    let took = stat_all(&paths(&far, 2), 1);
    assert!((100 * MS..1000 * MS).contains(&took), "{took:?}");
    far.set_latency(50 * MS);
    let took = stat_all(&paths(&far, 2), 1);
    assert!((200 * MS..2000 * MS).contains(&took), "{took:?}");
}

#[test]
fn what_is_in_flight_overlaps() {
    let Some(far) = SlowFs::builder().entries(640, &[Kind::File]).latency(10 * MS).mount_or_skip() else {
        return;
    };
    let took = stat_all(&paths(&far, 640), 64);
    // Ten rounds of two requests each; one after the other they would take 12.8 s.
    assert!((200 * MS..3000 * MS).contains(&took), "{took:?}");
    assert!((33..=64).contains(&far.peak_in_flight()), "{}", far.peak_in_flight());
    assert_eq!(far.counts().sum(Request::STAT), 1280);
}

#[test]
fn slots_are_respected() {
    let builder = SlowFs::builder().entries(64, &[Kind::File]).latency(10 * MS).slots(4);
    let Some(far) = builder.mount_or_skip() else { return };
    let took = stat_all(&paths(&far, 64), 32);
    assert!((320 * MS..3000 * MS).contains(&took), "{took:?}");
    assert!(far.peak_in_flight() > 8, "{}", far.peak_in_flight());
    far.set_slots(None);
    let free = stat_all(&paths(&far, 64), 32);
    assert!(free < took, "{free:?} without a limit, {took:?} with one");
}

#[test]
fn a_saturated_server_gets_slower() {
    let builder = SlowFs::builder().entries(64, &[Kind::File]).latency(2 * MS);
    let Some(far) = builder.saturates_at(4, 2).mount_or_skip() else { return };
    let gently = stat_all(&paths(&far, 64), 4);
    let hard = stat_all(&paths(&far, 64), 32);
    assert!(hard > 2 * gently, "{hard:?} with 32 at once, {gently:?} with 4");
}

#[test]
fn a_serial_directory_answers_one_lookup_at_a_time() {
    let builder = SlowFs::builder().entries(20, &[Kind::File]).latency_of(&[Request::Lookup], 10 * MS);
    let Some(far) = builder.serial().mount_or_skip() else { return };
    let took = stat_all(&paths(&far, 20), 20);
    assert!(took > 200 * MS, "{took:?}");
    assert_eq!(far.counts().of(Request::Lookup), 20);
}

#[test]
fn the_kernel_keeps_what_it_may() {
    let hour = Duration::from_secs(3600);
    for (entry, attributes, first, second) in [
        (Duration::ZERO, Duration::ZERO, [5, 5], [5, 5]),
        (Duration::ZERO, hour, [5, 0], [5, 0]),
        (hour, Duration::ZERO, [5, 5], [0, 5]),
        (hour, hour, [5, 0], [0, 0]),
    ] {
        let builder = SlowFs::builder().entries(5, &[Kind::File]).ttl(entry, attributes);
        let Some(far) = builder.mount_or_skip() else { return };
        for expected in [first, second] {
            far.reset_counts();
            stat_all(&paths(&far, 5), 1);
            let counts = far.counts();
            let told = [counts.of(Request::Lookup), counts.of(Request::Getattr)];
            assert_eq!(told, expected, "entries hold {entry:?}, attributes {attributes:?}");
        }
    }
}

/// The kernel decides what an entry costs: a lookup returns attributes, but they may only be used if they have a time
/// to live, or if the caller accepts cached values.
#[test]
fn attributes_that_a_lookup_brought_can_do() {
    let statx = |dir: &OwnedFd, name: &str, flags| {
        let flags = flags | AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::statx(dir, name, flags, StatxFlags::BASIC_STATS).expect("it is there");
    };
    let Some(far) = SlowFs::builder().entries(10, &[Kind::File]).mount_or_skip() else { return };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let dir = rustix::fs::open(far.path(), flags, Mode::empty()).expect("it opens");
    for (sync, getattr) in [(AtFlags::STATX_SYNC_AS_STAT, 10), (AtFlags::STATX_DONT_SYNC, 0)] {
        far.reset_counts();
        (0..10).for_each(|n| statx(&dir, &format!("e{n:05}"), sync));
        let counts = far.counts();
        assert_eq!((counts.of(Request::Lookup), counts.of(Request::Getattr)), (10, getattr), "{sync:?}");
    }
    // A descriptor keeps the lookup for further questions.
    far.reset_counts();
    for n in 0..10 {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let entry = rustix::fs::openat(&dir, format!("e{n:05}"), flags, Mode::empty()).expect("it is there");
        statx(&entry, "", AtFlags::STATX_DONT_SYNC | AtFlags::EMPTY_PATH);
        let path = format!("/proc/self/fd/{}", entry.as_raw_fd());
        rustix::fs::listxattr(path, &mut [0; 8]).expect("it has none");
    }
    assert_eq!(far.counts().to_string(), "lookup 10, listxattr 10: 20 in all");
}

#[test]
fn listing_tells_types_and_asks_for_nothing_else() {
    let kinds: Vec<Kind> = Kind::ALL.iter().map(|row| row.1).collect();
    let Some(far) = SlowFs::builder().names("x##").entries(16, &kinds).mount_or_skip() else { return };
    let entries: Vec<_> = fs::read_dir(far.path()).expect("it opens").map(|e| e.expect("it reads")).collect();
    let told: Vec<String> = entries.iter().map(|e| e.file_name().into_string().expect("plain")).collect();
    assert_eq!(told, (0..16).map(|n| format!("x{n:02}")).collect::<Vec<_>>());
    let types: Vec<_> = entries.iter().map(|entry| entry.file_type().expect("it is told")).collect();
    assert!(types[0].is_file() && types[3].is_dir() && types[4].is_symlink() && types[11].is_dir());
    // All requests were about the directory; opendir(3) has its attributes too.
    assert_eq!(far.counts(), far.counts_of("."), "{}", far.counts());
    assert_eq!((far.counts().of(Request::Opendir), far.counts().of(Request::Getattr)), (1, 1));
    assert_eq!(fs::read_link(far.path().join("x05")).expect("a link"), PathBuf::from("nowhere"));
    assert!(fs::metadata(far.path().join("x04")).expect("it leads somewhere").is_dir());
    assert_eq!(fs::read(far.path().join("x01")).expect("it reads").len(), 3 * 37);
}

#[test]
fn two_mounts_of_one_description_are_alike() {
    use std::os::unix::fs::MetadataExt;
    let builder = SlowFs::builder().entries(50, &[Kind::File, Kind::Directory]).shuffled(3);
    let builder = builder.owners(&[(0, 0), (1000, 100)]);
    let (Some(one), Some(two)) = (builder.clone().mount_or_skip(), builder.mount_or_skip()) else { return };
    assert_eq!(names(&one), names(&two));
    assert_ne!(names(&one)[..4], ["e00000", "e00001", "e00002", "e00003"]);
    for name in names(&one) {
        let [a, b] =
            [&one, &two].map(|far| fs::symlink_metadata(far.path().join(&name)).expect("it is there"));
        let facts =
            |m: &fs::Metadata| (m.mode(), m.uid(), m.gid(), m.size(), m.mtime(), m.mtime_nsec(), m.ino());
        assert_eq!(facts(&a), facts(&b), "{name}");
    }
}

#[test]
fn readdirplus_brings_the_attributes_along() {
    let hour = Duration::from_secs(3600);
    let builder = SlowFs::builder().entries(500, &[Kind::File]).ttl(hour, hour);
    let Some(far) = builder.readdirplus(Readdirplus::Always).mount_or_skip() else { return };
    assert_eq!(names(&far).len(), 500);
    stat_all(&paths(&far, 500), 2);
    let counts = far.counts();
    assert_eq!((counts, counts.of(Request::Readdir)), (far.counts_of("."), 0), "{counts}");
    assert!(counts.of(Request::Readdirplus) > 1, "{counts}");
}

#[test]
fn a_tree_is_walked_to_its_leaves() {
    fn walk(dir: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("it opens").map(|entry| entry.expect("it reads")) {
            match entry.file_type().expect("it is told").is_dir() {
                true => walk(entry.path(), found),
                false => found.push(entry.path()),
            }
        }
    }
    let Some(far) = SlowFs::builder().tree(30, 3).mount_or_skip() else { return };
    let mut found = Vec::new();
    walk(far.path().to_path_buf(), &mut found);
    assert_eq!((found.len(), far.counts().of(Request::Opendir)), (90, 31));
    assert_eq!(fs::read_dir(far.path()).expect("it opens").count(), 8);
}

#[test]
fn nothing_is_left_behind() {
    let Some(far) = SlowFs::builder().entries(10, &[Kind::File]).mount_or_skip() else { return };
    let path = far.path().to_path_buf();
    // An open directory keeps a plain unmount from succeeding.
    let open = fs::read_dir(&path).expect("it opens");
    drop(far);
    assert!(!path.exists());
    let table = fs::read_to_string("/proc/self/mountinfo").expect("it reads");
    assert!(!table.contains(&*path.to_string_lossy()));
    drop(open);
}
