//! The boards with std's threads as the agent. Requests that are stuck are tested in dents-lab.

use super::*;
use crate::batch::Entry;
use crate::needs::Needs;
use crate::path::below;
use crate::stat::{self, Asking, Mode, Resources, Threads};
use crate::test_threads;
use dents_sys::{CWD, Result, clock};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::{Duration, Instant};

/// Threads; a `getent` that takes its time.
struct Std;

impl Agent for Std {
    fn start(&self, job: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.thread(job)
    }

    fn thread(&self, job: Box<dyn FnOnce() + Send>) -> Result<()> {
        std::thread::Builder::new().spawn(job).map(drop).map_err(|_| Errno::AGAIN)
    }
}

impl Getent for Std {
    fn getent(&self, database: &CStr, _: &[u32]) -> Option<Vec<u8>> {
        if database == c"slow" {
            std::thread::sleep(Duration::from_secs(30));
        }
        Some(database.to_bytes().to_vec())
    }
}

/// No threads at all.
struct Refused;

impl Agent for Refused {
    fn start(&self, _: Box<dyn FnOnce() + Send>) -> Result<()> {
        Err(Errno::AGAIN)
    }

    fn thread(&self, _: Box<dyn FnOnce() + Send>) -> Result<()> {
        Err(Errno::AGAIN)
    }
}

impl Getent for Refused {
    fn getent(&self, _: &CStr, _: &[u32]) -> Option<Vec<u8>> {
        None
    }
}

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("dents-deadline-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("sub/below")).unwrap();
        for n in 0..3000 {
            fs::write(path.join(format!("f{n}")), [b'x'; 7]).unwrap();
        }
        for (text, name) in [("f1", "link"), ("nowhere", "dangling"), ("sub", "to-sub")] {
            std::os::unix::fs::symlink(text, path.join(name)).unwrap();
        }
        Dir(path)
    }

    fn c_path(&self) -> CString {
        CString::new(self.0.as_os_str().as_bytes()).unwrap()
    }

    fn c_name(&self, name: &str) -> CString {
        CString::new(self.0.join(name).as_os_str().as_bytes()).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn needs() -> NeedsByKind {
    NeedsByKind::all(Needs::TYPE | Needs::MODE | Needs::SIZE | Needs::MTIME | Needs::LINK | Needs::TARGET)
}

fn wanted(recursive: bool) -> Wanted {
    Wanted {
        needs: needs(),
        operand_needs: needs(),
        dereference: Dereference::OperandDirectories,
        filter: Filter::default(),
        lists_operands: true,
        recursive,
        watch: None,
        explains: false,
        lazy: false,
        policy: None,
    }
}

fn until(recursive: bool, ms: u64) -> Deadline {
    let until_ns = clock::monotonic_ns() + ms * 1_000_000;
    Deadline::start(&Std, wanted(recursive), (until_ns, 0), (None, 16)).unwrap()
}

/// An hour, so that no test reaches this deadline.
const LONG: u64 = 3_600_000;

fn facts(entry: Entry<'_>) -> String {
    let name = String::from_utf8_lossy(entry.name()).into_owned();
    let link = entry.link().map(<[u8]>::to_vec);
    format!("{name} {:?} {:o} {} {link:?} {:?}", entry.kind(), entry.mode(), entry.size(), entry.target())
}

fn as_classic(path: &CStr) -> Vec<String> {
    let mut batch = Batch::new(needs());
    let mut reader = crate::read::Reader::open(CWD, path, true).unwrap();
    reader.read_all(&Filter::default(), &mut batch).unwrap();
    let resources = Resources {
        mode: Mode::Classic,
        threads: &Threads::new(None),
        workers: &test_threads::Refused,
        mounts: None,
        rings: None,
        lazy: false,
        counter: None,
    };
    stat::fill(&mut batch, reader.dir(), &Asking { needs: &needs(), follow: false, resources: &resources });
    batch.iter().map(facts).collect()
}

fn open(until: &Deadline, path: &CStr, above: Option<&Arc<Board>>) -> Arc<Board> {
    match until.open(path, true, above) {
        Opened::Board(board) => board,
        _ => std::panic!("{path:?} does not open"),
    }
}

#[test]
fn all_at_once_or_piece_by_piece_it_is_what_classic_finds() {
    let dir = Dir::new("same");
    let expected = as_classic(&dir.c_path());
    let whole = until(false, LONG);
    let part = whole.whole(&open(&whole, &dir.c_path(), None));
    assert_eq!(part.batch.iter().map(facts).collect::<Vec<_>>(), expected);
    assert_eq!((part.unanswered, part.ended), (0, Some(Ok(()))));
    assert_eq!(part.report.tally.entries, 3004);
    let pieces = until(false, LONG);
    let (board, mut found, mut count) = (open(&pieces, &dir.c_path(), None), Vec::new(), 0);
    loop {
        let part = pieces.next(&board);
        if part.batch.is_empty() {
            assert_eq!(part.ended, Some(Ok(())));
            break;
        }
        found.extend(part.batch.iter().map(facts));
        count += 1;
    }
    assert!(count > 1, "more than one buffer");
    assert_eq!(found, expected);
}

#[test]
fn operands_are_followed_to_directories_only() {
    let dir = Dir::new("operands");
    let names = ["f1", "link", "to-sub", "dangling", "missing"].map(|name| dir.c_name(name));
    let part = until(false, LONG).operands(&names.each_ref().map(CString::as_c_str));
    let kinds: Vec<Kind> = part.batch.iter().map(|entry| entry.kind()).collect();
    assert_eq!(kinds, [Kind::Reg, Kind::Link, Kind::Dir, Kind::Link, Kind::Unknown]);
    assert_eq!(part.batch.entry(1).link(), Some(&b"f1"[..]));
    assert_eq!(part.batch.entry(4).fault().map(|(_, errno)| errno), Some(Errno::NOENT));
    assert_eq!(part.unanswered, 0);
}

#[test]
fn directories_below_are_opened_before_they_are_asked_for() {
    let dir = Dir::new("below");
    let until = until(true, LONG);
    let board = open(&until, &dir.c_path(), None);
    assert!(board.identity().is_some());
    assert!(!until.whole(&board).batch.is_empty());
    let path = below(dir.c_path().to_bytes(), b"sub");
    assert!(until.shared.boards.lock().contains_key(&path));
    let sub = open(&until, &dir.c_name("sub"), Some(&board));
    let part = until.whole(&sub);
    assert_eq!(part.batch.iter().map(|entry| entry.name()).collect::<Vec<_>>(), [b"below"]);
    assert!(!sub.is_its_own_descendant());
    assert!(matches!(until.open(&dir.c_name("f1"), true, None), Opened::Failed(Errno::NOTDIR)));
}

#[test]
fn a_directory_below_itself_is_not_read() {
    let dir = Dir::new("loop");
    let until = until(true, LONG);
    let board = open(&until, &dir.c_path(), None);
    let again = open(&until, &dir.c_name("."), Some(&board));
    assert!(again.is_its_own_descendant());
    assert!(until.whole(&again).batch.is_empty());
}

#[test]
fn what_takes_longer_is_not_waited_for() {
    let start = Instant::now();
    let until = until(false, 200);
    assert_eq!(until.getent(c"quick", &[0]), Some(b"quick".to_vec()));
    assert_eq!(until.getent(c"slow", &[0]), None);
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert_eq!(until.canonical(b"/", vec![b"usr".to_vec(); 3]).len(), 3);
    let never = until.operands(&[c"/"]);
    let fault = never.batch.entry(0).fault();
    assert!(never.unanswered == 0 || fault.is_some_and(|(_, errno)| errno == UNANSWERED));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn absolute_paths() {
    let dir = Dir::new("paths");
    let base = fs::canonicalize(&dir.0).unwrap();
    let names = ["link", "f2", "sub/.."].map(|name| name.as_bytes().to_vec());
    let found = until(false, LONG).canonical(base.as_os_str().as_bytes(), names.to_vec());
    let expected = [base.join("f1"), base.join("f2"), base.clone()];
    let found: Vec<&Path> = found
        .iter()
        .map(|path| Path::new(std::ffi::OsStr::from_bytes(path.as_deref().unwrap_or_default())))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn calls_have_deadlines_of_their_own() {
    let deadline = Deadline::for_calls(&Std).unwrap();
    let sleep = |ms| move || std::thread::sleep(Duration::from_millis(ms));
    let until = |ms: u64| Some(clock::monotonic_ns() + ms * 1_000_000);
    let start = Instant::now();
    assert_eq!(deadline.calls(until(100), [0, 20_000, 0].into_iter().map(sleep)), [Some(()), None, Some(())]);
    assert_eq!(
        deadline.calls(until(LONG), [0, 0].into_iter().map(sleep)),
        [Some(()); 2],
        "beside the stuck one"
    );
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn no_agent_is_an_error() {
    let refused = Deadline::start(&Refused, wanted(false), (u64::MAX, 0), (Some(3), 16));
    assert_eq!(refused.err(), Some(Errno::AGAIN));
}

/// On kernel 6.1 the first read of a directory on NFS fills the buffer. Reading and requests take turns from there on: a buffer at a time.
#[test]
fn reading_and_requests_take_turns_from_a_full_buffer_on() {
    let dir = Dir::new("turns");
    (0..6_000).for_each(|n| drop(fs::File::create(dir.0.join(format!("one-more-{n}"))).unwrap()));
    let largest = |interleave| {
        let policy: &'static Policy = Box::leak(Box::new(Policy { interleave, ..*Policy::of(None) }));
        let wanted = Wanted { policy: Some(policy), ..wanted(false) };
        let until_ns = clock::monotonic_ns() + LONG * 1_000_000;
        let deadline = Deadline::start(&Std, wanted, (until_ns, 0), (None, 16)).unwrap();
        let board = open(&deadline, &dir.c_path(), None);
        let pieces =
            core::iter::from_fn(|| Some(deadline.next(&board).batch.len()).filter(|names| *names > 0));
        pieces.max()
    };
    let buffer = 64 * 1024 / 24;
    assert!(largest(true) <= Some(buffer), "{:?} names at once", largest(true));
    assert!(largest(false) > Some(buffer), "{:?} names at once", largest(false));
}

/// If the policy of the file system allows one request in flight, there is only one, for any number of tasks and cores.
#[test]
fn the_policy_of_the_file_system_is_kept() {
    use core::sync::atomic::{AtomicUsize, Ordering};
    let policy: &'static Policy = Box::leak(Box::new(Policy { most: 1, ..*Policy::of(None) }));
    let wanted = Wanted { policy: Some(policy), ..wanted(false) };
    let until_ns = clock::monotonic_ns() + LONG * 1_000_000;
    let deadline = Deadline::start(&Std, wanted, (until_ns, 0), (None, 16)).unwrap();
    let running = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let running = running.clone();
            deadline.call(move |_| {
                let others = running.fetch_add(1, Ordering::SeqCst);
                // The task spins: a worker that sleeps for long counts as stuck, and is replaced.
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(5) {
                    core::hint::spin_loop();
                }
                running.fetch_sub(1, Ordering::SeqCst);
                others
            })
        })
        .collect();
    for call in calls {
        let others = deadline.wait(until_ns, || call.lock().take());
        assert_eq!(others, Some(0), "no other was in flight");
    }
}
