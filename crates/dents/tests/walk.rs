//! Walks and listings against `walkdir` and std, entry by entry.
#![allow(missing_docs, reason = "tests")]

mod playground;

use dents::{Batch, Cancel, Needs, Step, Walk, read_dir, scandir};
use playground::Playground;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

impl Playground {
    /// Directories, files, links, hidden names, names that are not UTF-8, a loop and a dangling link.
    fn tree() -> Playground {
        let playground = Playground::new();
        let root = &playground.0;
        for directory in ["a/b/c", "a/.hidden/x", "empty", "many", "z/y"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for (file, bytes) in
            [("a/1", 1), ("a/b/22", 22), ("a/b/c/333", 333), ("a/.hidden/x/4", 4), (".dot", 5)]
        {
            fs::write(root.join(file), vec![b'x'; bytes]).unwrap();
        }
        (0..700).for_each(|number| fs::write(root.join(format!("many/f{number:03}")), b"").unwrap());
        fs::write(root.join(OsString::from_vec(b"z/\xff\xfe".to_vec())), b"not UTF-8").unwrap();
        symlink("../..", root.join("a/b/loop")).unwrap();
        symlink("../z", root.join("a/to-z")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("1", root.join("a/to-1")).unwrap();
        playground
    }
}

/// Path, depth, and whether it is a directory.
type Seen = (PathBuf, usize, bool);

fn ours(walk: Walk) -> (Vec<Seen>, usize) {
    let (mut seen, mut errors) = (Vec::new(), 0);
    for entry in walk {
        match entry {
            Ok(entry) => seen.push((entry.path(), entry.depth(), entry.file_type().is_dir())),
            Err(_) => errors += 1,
        }
    }
    (seen, errors)
}

fn theirs(walk: walkdir::WalkDir) -> (Vec<Seen>, usize) {
    let (mut seen, mut errors) = (Vec::new(), 0);
    for entry in walk {
        match entry {
            Ok(entry) => seen.push((entry.path().to_owned(), entry.depth(), entry.file_type().is_dir())),
            Err(_) => errors += 1,
        }
    }
    (seen, errors)
}

fn sorted((mut seen, errors): (Vec<Seen>, usize)) -> (Vec<Seen>, usize) {
    seen.sort();
    (seen, errors)
}

#[test]
fn all_of_a_tree_as_walkdir_finds_it() {
    let tree = Playground::tree();
    let expected = sorted(theirs(walkdir::WalkDir::new(&tree.0)));
    for threads in [None, Some(1), Some(2), Some(7)] {
        let walk = Walk::new(&tree.0);
        let walk = threads.map_or(walk.clone(), |threads| walk.threads(threads));
        assert_eq!(sorted(ours(walk)), expected, "{threads:?}");
    }
}

#[test]
fn an_order_is_that_of_walkdir() {
    let tree = Playground::tree();
    let theirs_sorted = || walkdir::WalkDir::new(&tree.0).sort_by_file_name();
    let ours_sorted = || Walk::new(&tree.0).sort_by_file_name();
    assert_eq!(ours(ours_sorted()), theirs(theirs_sorted()));
    assert_eq!(
        ours(ours_sorted().contents_first(true)),
        theirs(theirs_sorted().contents_first(true)),
        "contents first"
    );
    assert_eq!(
        ours(ours_sorted().min_depth(1).max_depth(2).contents_first(true)),
        theirs(theirs_sorted().min_depth(1).max_depth(2).contents_first(true)),
    );
    let by_length = |walk: Walk| ours(walk.sort_by_key(|entry| entry.file_name().len()));
    let lengths: Vec<_> = by_length(Walk::new(tree.0.join("a")).max_depth(1)).0;
    assert!(lengths.is_sorted_by_key(|(path, depth, _)| (*depth, path.as_os_str().len())), "{lengths:?}");
}

#[test]
fn depths_and_links_as_walkdir_has_them() {
    let tree = Playground::tree();
    for (min, max) in [(0, 0), (1, 1), (0, 2), (2, 3), (3, 99), (5, 2)] {
        let theirs = walkdir::WalkDir::new(&tree.0).max_depth(max).min_depth(min.min(max));
        let ours_walk = Walk::new(&tree.0).max_depth(max).min_depth(min.min(max));
        assert_eq!(sorted(ours(ours_walk.clone())), sorted(theirs_of(theirs)), "{min} {max}");
        assert_eq!(
            ours(ours_walk.threads(1)).0.len(),
            ours(Walk::new(&tree.0).max_depth(max).min_depth(min.min(max))).0.len()
        );
    }
    // walkdir gives an error for a dangling link; this crate yields the link.
    let follow = |threads: Option<usize>| {
        let walk = Walk::new(&tree.0).follow_links(true);
        ours(threads.map_or(walk.clone(), |threads| walk.threads(threads)))
    };
    let (expected, _) = sorted(theirs_of(walkdir::WalkDir::new(&tree.0).follow_links(true)));
    for threads in [None, Some(1), Some(3)] {
        let (seen, errors) = sorted(follow(threads));
        let others = |(path, ..): &&Seen| !path.ends_with("dangling") && !path.ends_with("loop");
        assert_eq!(
            seen.iter().filter(others).collect::<Vec<_>>(),
            expected.iter().filter(others).collect::<Vec<_>>(),
            "{threads:?}"
        );
        assert_eq!(errors, 1, "only the loop fails");
    }
}

fn theirs_of(walk: walkdir::WalkDir) -> (Vec<Seen>, usize) {
    theirs(walk)
}

#[test]
fn a_loop_is_an_error_that_names_it() {
    let tree = Playground::tree();
    for threads in [1, 2] {
        let walk = Walk::new(&tree.0).follow_links(true).threads(threads);
        let errors: Vec<_> = walk.into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].is_loop() && errors[0].path().ends_with("a/b/loop"), "{errors:?}");
        assert_eq!(errors[0].depth(), 3);
        assert!(errors[0].to_string().contains("a/b/loop: "));
    }
}

#[test]
fn entries_that_are_left_out_are_not_entered() {
    let tree = Playground::tree();
    for threads in [1, 4] {
        let walk = Walk::new(&tree.0).threads(threads);
        let (seen, _) = ours(walk.clone().hidden(true));
        assert!(!seen.iter().any(|(path, ..)| path.to_string_lossy().contains("/.")), "{seen:?}");
        assert!(seen.iter().any(|(path, ..)| path.ends_with("a/b/22")));
        let (seen, _) = ours(walk.filter_entry(|entry| entry.file_name() != "b"));
        assert!(!seen.iter().any(|(path, ..)| path.to_string_lossy().contains("/b")), "{seen:?}");
        assert!(seen.iter().any(|(path, ..)| path.ends_with("a/1")));
    }
}

#[test]
fn facts_are_those_of_std() {
    let tree = Playground::tree();
    let needs =
        Needs::SIZE | Needs::MODE | Needs::INODE | Needs::NLINK | Needs::UID | Needs::GID | Needs::BLOCKS;
    let needs = needs | Needs::MTIME | Needs::CTIME | Needs::ATIME | Needs::BTIME | Needs::LINK;
    for threads in [1, 3] {
        for entry in Walk::new(&tree.0).needs(needs).threads(threads) {
            let entry = entry.unwrap();
            let known = entry.metadata().unwrap();
            assert_eq!(
                (entry.size(), entry.mode(), entry.ino(), entry.nlink(), entry.uid(), entry.gid()),
                (known.len(), known.mode(), known.ino(), known.nlink(), known.uid(), known.gid()),
                "{entry:?}"
            );
            assert_eq!(entry.allocated(), known.blocks() * 512);
            assert_eq!(entry.modified(), known.modified().ok());
            assert_eq!(entry.created(), known.created().ok());
            assert_eq!(entry.link().map(Path::to_owned), fs::read_link(entry.path()).ok());
            assert_eq!(entry.file_type().is_symlink(), known.is_symlink());
        }
    }
}

#[test]
fn batches_are_the_same_entries() {
    let tree = Playground::tree();
    let found = Mutex::new(BTreeSet::new());
    let summary = Walk::new(&tree.0).threads(3).run(|| {
        |batch: &Batch| {
            assert!(batch.error().is_none() && batch.errors().next().is_none());
            found.lock().unwrap().extend(batch.iter().map(|entry| entry.path()));
            Step::Enter
        }
    });
    let expected: BTreeSet<_> =
        theirs(walkdir::WalkDir::new(&tree.0)).0.into_iter().map(|(path, ..)| path).collect();
    assert_eq!(found.into_inner().unwrap(), expected);
    assert_eq!((summary.entries as usize, summary.errors, summary.is_complete()), (expected.len(), 0, true));
    let stopped = Walk::new(&tree.0).run(|| |_: &Batch| Step::Stop);
    assert!(!stopped.is_complete() && stopped.entries < 10);
}

#[test]
fn one_directory() {
    let tree = Playground::tree();
    let many = tree.0.join("many");
    let names = |entries: dents::ReadDir| -> BTreeSet<OsString> {
        entries.map(|entry| entry.unwrap().file_name().to_owned()).collect()
    };
    let expected: BTreeSet<_> =
        fs::read_dir(&many).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names(read_dir(&many).unwrap()), expected);
    assert_eq!(names(read_dir(&many).unwrap().needs(Needs::SIZE).threads(2)), expected);
    let sizes: u64 =
        read_dir(tree.0.join("a")).unwrap().needs(Needs::SIZE).flatten().map(|entry| entry.size()).sum();
    let known =
        fs::read_dir(tree.0.join("a")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(sizes, known);
    let (mut directories, others) = scandir(tree.0.join("a")).unwrap();
    directories.sort();
    assert_eq!(directories, [".hidden", "b"]);
    assert_eq!(others.len(), 3);
    assert_eq!(read_dir(tree.0.join("empty")).unwrap().count(), 0);
}

#[test]
fn errors_name_their_file_and_end_nothing() {
    let tree = Playground::tree();
    let error = read_dir(tree.0.join("missing")).map(drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(error.errno(), Some(2));
    assert!(error.to_string().starts_with(&*tree.0.join("missing").to_string_lossy()), "{error}");
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
    assert!(read_dir(tree.0.join(".dot")).is_err());
    assert!(read_dir("a\0b").is_err() && scandir("a\0b").is_err());
    for threads in [1, 2] {
        let walk = Walk::new(tree.0.join("missing")).add(tree.0.join("a")).threads(threads);
        let (seen, errors) = ours(walk);
        assert_eq!(errors, 1);
        assert!(seen.len() > 5, "{seen:?}");
    }
}

#[test]
fn a_root_that_is_a_link_is_walked() {
    let tree = Playground::tree();
    let root = tree.0.join("a/to-z");
    let paths = |seen: Vec<Seen>| seen.into_iter().map(|(path, depth, _)| (path, depth)).collect::<Vec<_>>();
    let expected = paths(sorted(theirs(walkdir::WalkDir::new(&root))).0);
    assert!(expected.len() > 2);
    let sizes = Walk::new(&root).needs(Needs::SIZE);
    for walk in [sizes.clone().threads(1), sizes.clone().threads(3), sizes.clone().sort_by_file_name(), sizes]
    {
        let (seen, errors) = sorted(ours(walk));
        assert!(seen[0].2, "the directory, not the link");
        assert_eq!((paths(seen), errors), (expected.clone(), 0));
    }
    let (seen, errors) = ours(Walk::new(tree.0.join("dangling")).threads(1));
    assert_eq!((seen.len(), errors), (1, 0), "the link that it is");
}

/// An entry that is left out gives no error, even if its `statx` fails.
#[test]
fn entries_that_are_left_out_give_no_errors() {
    let tree = Playground::tree();
    let walk = Walk::new(tree.0.join("missing")).add(tree.0.join("a"));
    let errors = |walk: Walk, threads| {
        let count = AtomicUsize::new(0);
        walk.threads(threads).run(|| {
            |batch: &Batch<'_>| {
                count.fetch_add(
                    batch.errors().count() + usize::from(batch.error().is_some()),
                    Ordering::Relaxed,
                );
                Step::Enter
            }
        });
        count.into_inner()
    };
    for threads in [1, 2] {
        assert_eq!(errors(walk.clone(), threads), 1);
        let filtered =
            walk.clone().filter_entry(|entry| !entry.file_name().as_encoded_bytes().ends_with(b"missing"));
        assert_eq!(ours(filtered.clone().threads(threads)).1, 0, "by entries");
        assert_eq!(errors(filtered, threads), 0, "by batches");
    }
}

/// Runs `body` on its own thread; panics if it takes over a minute.
fn within_a_minute<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> std::thread::Result<T> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))));
    receiver.recv_timeout(Duration::from_secs(60)).expect("ends within a minute")
}

#[test]
fn a_panic_of_a_filter_reaches_the_caller() {
    let tree = Arc::new(Playground::tree());
    for threads in [1, 2, 5] {
        let walk = Walk::new(&tree.0).threads(threads);
        let walk = walk.filter_entry(|entry| entry.file_name() != "c" || panic!("of a filter"));
        let (by_batches, by_entries) = (walk.clone(), walk);
        assert!(within_a_minute(|| by_entries.into_iter().count()).is_err(), "{threads}");
        let run = || by_batches.run(|| |_: &Batch<'_>| Step::Enter).is_complete();
        assert!(within_a_minute(run).is_err(), "{threads}");
    }
}

/// 200 files at 400 requests a second.
#[test]
fn a_rate_is_kept() {
    let tree = Playground::new();
    (0..200).for_each(|number| fs::write(tree.0.join(number.to_string()), b"").unwrap());
    let rate = std::num::NonZeroU32::new(400).unwrap();
    let walk = Walk::new(&tree.0).needs(Needs::SIZE).rate(rate);
    for walk in [walk.clone(), walk.clone().threads(1), walk.threads(1).sort_by_file_name()] {
        let began = std::time::Instant::now();
        assert_eq!(ours(walk).0.len(), 201);
        assert!(began.elapsed() > Duration::from_millis(450), "{:?}", began.elapsed());
    }
}

#[test]
fn a_walk_can_be_dropped_cancelled_and_timed_out() {
    let tree = Playground::tree();
    let mut walk = Walk::new(&tree.0).into_iter();
    assert!(walk.next().is_some());
    drop(walk);
    let cancel = Cancel::default();
    cancel.cancel();
    for threads in [1, 2] {
        let walk = Walk::new(&tree.0).threads(threads);
        let (seen, errors) = ours(walk.clone().cancel(&cancel));
        assert_eq!((seen.len(), errors), (0, 1), "cancelled before it began");
        let late = walk.clone().timeout(Duration::ZERO);
        assert!(ours(late.clone()).0.len() < 3);
        let last = |walk: Walk| walk.into_iter().last().unwrap().unwrap_err();
        let (cancelled, late) = (last(walk.cancel(&cancel)), last(late));
        assert_eq!((cancelled.is_cancelled(), cancelled.is_timeout()), (true, false), "{cancelled}");
        assert_eq!((late.is_cancelled(), late.is_timeout()), (false, true), "{late}");
        assert_eq!(late.path(), tree.0);
    }
}

/// The idiom of walkdir to leave out hidden files works for any spelling of the root.
#[test]
fn the_name_of_a_root_is_its_last_component() {
    let tree = Playground::tree();
    let text = tree.0.to_str().unwrap();
    let is_hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".") && name != ".";
    for root in [text.to_string(), format!("{text}/"), format!("{text}/a/.hidden/"), "/".into(), ".".into()] {
        let theirs = walkdir::WalkDir::new(&root).max_depth(0).into_iter().next().unwrap().unwrap();
        for threads in [1, 2] {
            let walk = Walk::new(&root).threads(threads).max_depth(0);
            let ours = walk.into_iter().next().unwrap().unwrap();
            assert_eq!(ours.file_name(), theirs.file_name(), "{root}");
        }
    }
    let visible = Walk::new(format!("{text}/./")).filter_entry(move |entry| !is_hidden(entry.file_name()));
    assert!(ours(visible).0.len() > 700);
}

/// No path contains a NUL: an error that names the root, and the other roots are walked.
#[test]
fn a_root_with_a_nul_is_invalid() {
    let tree = Playground::tree();
    for threads in [1, 2] {
        let walk = Walk::new("a\0b").add(tree.0.join("empty")).threads(threads);
        let items: Vec<_> = walk.clone().into_iter().collect();
        let error = items.iter().find_map(|item| item.as_ref().err()).unwrap();
        assert_eq!((error.kind(), error.path()), (std::io::ErrorKind::InvalidInput, Path::new("a\0b")));
        assert_eq!(items.iter().filter(|item| item.is_ok()).count(), 1);
        let seen = AtomicUsize::new(0);
        let summary = walk.run(|| {
            |batch: &Batch<'_>| {
                seen.fetch_add(
                    usize::from(
                        batch.error().is_some_and(|error| error.kind() == std::io::ErrorKind::InvalidInput),
                    ),
                    Ordering::Relaxed,
                );
                Step::Enter
            }
        });
        assert_eq!((summary.errors, seen.into_inner()), (1, 1));
    }
}

/// Runs a test of this name again, in a process with so few descriptors.
fn with_descriptors(limit: usize, test: &str) -> Option<std::process::Output> {
    if std::env::var_os("DENTS_DESCRIPTORS").is_some() {
        return None;
    }
    let script = format!("ulimit -n {limit}; exec \"$0\" --exact {test} --nocapture");
    let mut command = std::process::Command::new("timeout");
    command
        .args(["60", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env("DENTS_DESCRIPTORS", "1");
    Some(command.output().unwrap())
}

fn more_than_a_walk_sends_ahead() -> Playground {
    let tree = Playground::new();
    for number in 0..8 {
        let directory = tree.0.join(number.to_string());
        fs::create_dir(&directory).unwrap();
        (0..520).for_each(|file| fs::write(directory.join(file.to_string()), b"").unwrap());
    }
    tree
}

/// Unread walks hold few descriptors. Where others hold all, a walk reports that it has none; it does not wait for others.
#[test]
fn a_walk_does_not_wait_for_unread_walks() {
    if let Some(output) = with_descriptors(48, "a_walk_does_not_wait_for_unread_walks") {
        return assert!(output.status.success(), "{output:?}");
    }
    let tree = more_than_a_walk_sends_ahead();
    let began = std::time::Instant::now();
    let first_two = |_| {
        let mut walk = Walk::new(&tree.0).threads(4).into_iter();
        let items = [walk.next(), walk.next()];
        (walk, items)
    };
    let unread: Vec<_> = (0..30).map(first_two).collect();
    assert!(unread.iter().flat_map(|(_, items)| items).all(|item| item.as_ref().unwrap().is_ok()));
    // Until all have paused, and close nothing more.
    std::thread::sleep(Duration::from_secs(1));
    let held: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
    assert!(held.len() > 4, "{} descriptors were left", held.len());
    let late: Vec<_> = (0..30).map(first_two).collect();
    let errors = late.iter().flat_map(|(_, items)| items).filter_map(|item| item.as_ref()?.as_ref().err());
    let errors: Vec<_> = errors.map(|error| error.errno()).collect();
    assert!(!errors.is_empty() && errors.iter().all(|errno| *errno == Some(24)), "EMFILE alone: {errors:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// Many open, unread walks share the threads of one walk, and each costs little. All can be read to their ends.
#[test]
fn a_hundred_open_walks_are_cheap() {
    if let Some(output) = with_descriptors(1024, "a_hundred_open_walks_are_cheap") {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        return assert!(output.status.success(), "{output:?}");
    }
    let tree = more_than_a_walk_sends_ahead();
    let count = |what: &str| fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
    let resident = || {
        let pages = fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap() * 4
    };
    // A busy machine may seem to have a slow disk, for which a walk that chooses itself starts many threads.
    let first_two = |_| {
        let mut walk = Walk::new(&tree.0).threads(4).into_iter();
        assert!(walk.next().unwrap().is_ok() && walk.next().unwrap().is_ok());
        walk
    };
    let before = (count("task"), count("fd"), resident());
    let mut unread: Vec<_> = (0..100).map(first_two).collect();
    std::thread::sleep(Duration::from_millis(300));
    let now = (count("task"), count("fd"), resident());
    println!("threads, descriptors, KiB: {before:?}, of 100 walks {now:?}");
    assert!(now.0 <= before.0 + 4, "threads: {before:?} {now:?}");
    assert!(now.1 <= before.1 + 100, "descriptors: {before:?} {now:?}");
    assert!(now.2 <= before.2 + 100 * 200, "KiB: {before:?} {now:?}");
    let last = unread.pop().unwrap();
    assert_eq!(last.filter(Result::is_ok).count(), 1 + 8 * 521 - 2);
    for walk in unread.drain(..3) {
        assert_eq!(walk.filter(Result::is_ok).count(), 1 + 8 * 521 - 2);
    }
    // Threads without work end.
    drop(unread);
    std::thread::sleep(Duration::from_secs(3));
    assert!(count("task") <= before.0, "{} threads", count("task"));
}

/// A sorted walk keeps ancestors open for speed alone.
#[test]
fn a_deep_sorted_walk_needs_few_descriptors() {
    if let Some(output) = with_descriptors(40, "a_deep_sorted_walk_needs_few_descriptors") {
        return assert!(output.status.success(), "{output:?}");
    }
    let tree = Playground::new();
    let mut deep = tree.0.clone();
    for _ in 0..300 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("f"), b"").unwrap();
    }
    let (seen, errors) = ours(Walk::new(&tree.0).sort_by_file_name());
    assert_eq!((seen.len(), errors), (601, 0));
}

/// Threads that read ahead take none that the caller needs.
#[test]
fn a_sorted_walk_needs_one_descriptor() {
    if let Some(output) = with_descriptors(40, "a_sorted_walk_needs_one_descriptor") {
        return assert!(output.status.success(), "{output:?}");
    }
    let tree = Playground::new();
    (0..3000)
        .for_each(|number| fs::create_dir_all(tree.0.join(format!("{}/{number}", number % 300))).unwrap());
    let caller = std::thread::current().id();
    let mut held: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
    for _ in 0..4 {
        held.pop();
        // A thread that reads ahead keeps its directory open meanwhile.
        let keep = move |_: &dents::View<'_>| {
            if std::thread::current().id() != caller {
                std::thread::sleep(Duration::from_micros(50));
            }
            true
        };
        let (seen, errors) = ours(Walk::new(&tree.0).sort_by_file_name().threads(4).filter_entry(keep));
        assert_eq!((seen.len(), errors), (3301, 0), "with {} descriptors", 40 - held.len());
    }
}

/// While a walk is read, and when it is not.
#[test]
fn no_more_directories_are_open_than_allowed() {
    if let Some(output) = with_descriptors(256, "no_more_directories_are_open_than_allowed") {
        return assert!(output.status.success(), "{output:?}");
    }
    let tree = Playground::new();
    let mut deep = tree.0.clone();
    for _ in 0..60 {
        deep.push("d");
        fs::create_dir_all(deep.join("e")).unwrap();
    }
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let walk = Walk::new(&tree.0);
    let sorted = walk.clone().sort_by_file_name();
    // The threads of a pool may be done before the first entry is taken.
    let walks = [(sorted.clone(), 1..=10), (sorted.max_open(4), 1..=4), (walk.max_open(8).threads(2), 0..=8)];
    for (walk, allowed) in walks {
        let mut most = 0;
        let found = walk.into_iter().inspect(|_| most = most.max(open() - before)).count();
        assert_eq!(found, 1 + 60 * 2);
        assert!(allowed.contains(&most), "{most} of {allowed:?}");
    }
}

#[test]
fn entries_outlive_their_walk() {
    let tree = Playground::tree();
    let entries: Vec<_> = Walk::new(tree.0.join("a")).needs(Needs::SIZE).into_iter().flatten().collect();
    let sizes: u64 =
        entries.iter().filter(|entry| entry.file_type().is_file()).map(|entry| entry.size()).sum();
    assert_eq!(sizes, 1 + 22 + 333 + 4);
}

#[test]
#[should_panic(expected = "add Needs::SIZE")]
fn reading_an_undeclared_field_panics() {
    let tree = Playground::tree();
    let _ = Walk::new(&tree.0).threads(1).into_iter().flatten().next().unwrap().size();
}

#[test]
fn one_file_system_is_not_left() {
    // /proc is a file system of its own on every machine.
    let walk = |same| Walk::new("/").add("/proc/self").max_depth(1).same_file_system(same).threads(1);
    assert!(
        walk(true).into_iter().flatten().any(|entry| entry.path() == Path::new("/proc")),
        "/proc is yielded"
    );
    let below = |same: bool, threads| {
        let walk = Walk::new("/").max_depth(2).same_file_system(same).threads(threads);
        let filtered = walk.filter_entry(|entry| entry.depth() != 1 || entry.file_name() == "proc");
        filtered.into_iter().flatten().filter(|entry| entry.depth() == 2).count()
    };
    for threads in [1, 2] {
        assert!(below(false, threads) > 0);
        assert_eq!(below(true, threads), 0, "/proc is not entered");
    }
}

#[cfg(feature = "gitignore")]
#[test]
fn files_that_git_ignores_are_left_out() {
    let tree = Playground::tree();
    fs::create_dir(tree.0.join(".git")).unwrap();
    fs::write(tree.0.join(".gitignore"), "many/\n*.o\n").unwrap();
    fs::write(tree.0.join("a/x.o"), "").unwrap();
    for threads in [1, 2] {
        let (seen, _) = ours(Walk::new(&tree.0).gitignore(true).threads(threads));
        let has = |name: &str| seen.iter().any(|(path, ..)| path.ends_with(name));
        assert!(has("a/1") && has(".gitignore") && !has("many") && !has("x.o") && !has(".git"), "{seen:?}");
    }
}

#[test]
fn the_current_directory_is_skipped_as_walkdir_skips_it() {
    let playground = Playground::tree();
    // After a directory, and after a file in the middle of one.
    for name in ["many", "f300", "b", "22", "x"] {
        let is_it = |path: &Path| path.file_name().is_some_and(|found| found == name);
        let mut expected = Vec::new();
        let mut entries = walkdir::WalkDir::new(&playground.0).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let path = entry.unwrap().into_path();
            if is_it(&path) {
                entries.skip_current_dir();
            }
            expected.push(path);
        }
        let mut found = Vec::new();
        let mut entries = Walk::new(&playground.0).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let path = entry.unwrap().into_path();
            if is_it(&path) {
                entries.skip_current_dir();
            }
            found.push(path);
        }
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_walk_on_threads_skips_what_is_left_of_a_directory() {
    let playground = Playground::tree();
    for (name, is_directory) in [("many", true), ("a", true), ("f300", false), ("22", false)] {
        let mut entries = Walk::new(&playground.0).threads(3).into_iter();
        let (mut found, mut skipped) = (Vec::new(), None);
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            let path = entry.path();
            let is_below = skipped.as_ref().is_some_and(|skipped: &PathBuf| path.starts_with(skipped));
            assert!(!is_below, "{} after {name}", path.display());
            if entry.file_name() == name {
                entries.skip_current_dir();
                skipped = Some(if is_directory { path.clone() } else { path.parent().unwrap().to_owned() });
            }
            found.push(path);
        }
        let skipped = skipped.expect("it was found");
        for (path, _, _) in ours(Walk::new(&playground.0)).0 {
            assert!(path.starts_with(&skipped) || found.contains(&path), "{} is missing", path.display());
        }
        assert!(found.iter().all(|path| fs::symlink_metadata(path).is_ok()));
    }
}

/// Threads send entries in messages, and one may read a directory whose entry another thread has not sent yet.
#[test]
fn a_directory_comes_before_its_contents_on_threads_too() {
    let playground = Playground::new();
    for number in 0..300 {
        fs::create_dir_all(playground.0.join(format!("a{}/b{}/c{number}", number % 7, number % 31))).unwrap();
    }
    for round in 0..200 {
        let mut seen = std::collections::HashSet::new();
        for entry in Walk::new(&playground.0).threads(4) {
            let path = entry.unwrap().into_path();
            let parent = path.parent().unwrap();
            assert!(path == playground.0 || seen.contains(parent), "round {round}: {}", path.display());
            seen.insert(path);
        }
    }
}

#[test]
fn a_skip_of_the_first_root_leaves_the_second() {
    let playground = Playground::tree();
    for sorted in [false, true] {
        let walk = Walk::new(playground.0.join("a")).add(playground.0.join("many"));
        let walk = if sorted { walk.sort_by_file_name() } else { walk };
        let (mut entries, mut found) = (walk.into_iter(), 0);
        while let Some(entry) = entries.next() {
            if entry.unwrap().file_name() == "a" {
                entries.skip_current_dir();
            }
            found += 1;
        }
        assert_eq!(found, 2 + 700, "sorted: {sorted}");
    }
}

#[test]
fn a_path_with_a_nul_is_invalid_everywhere() {
    let kinds = [read_dir("a\0b").map(drop), scandir("a\0b").map(drop)];
    for kind in kinds {
        assert_eq!(kind.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}

#[test]
fn types_may_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<dents::ReadDir>();
    shared::<dents::Entry>();
    shared::<dents::Error>();
    shared::<Walk>();
}

/// The message of a panic names the line of the program, not one of the library.
#[test]
fn a_panic_over_an_undeclared_fact_is_where_it_was_read() {
    static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let playground = Playground::tree();
    let entry = Walk::new(&playground.0).into_iter().next().unwrap().unwrap();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| place.file().to_owned()).unwrap_or_default();
        PLACES.lock().unwrap().push(place);
    }));
    let readers: [fn(&dents::Entry); 6] = [
        |entry| {
            let _ = entry.size();
        },
        |entry| {
            let _ = entry.view().size();
        },
        |entry| {
            let _ = entry.modified();
        },
        |entry| {
            let _ = entry.view().created();
        },
        |entry| drop(entry.link().map(Path::to_owned)),
        |entry| drop(entry.view().link().map(Path::to_owned)),
    ];
    for read in readers {
        let entry = std::panic::AssertUnwindSafe(&entry);
        assert!(std::panic::catch_unwind(move || read(*entry)).is_err());
    }
    std::panic::set_hook(before);
    let places = PLACES.lock().unwrap();
    let here = places.iter().filter(|place| *place == file!()).count();
    assert!(here >= 6 && !places.iter().any(|place| place.contains("src/entry.rs")), "{places:?}");
}
