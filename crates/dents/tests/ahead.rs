//! Sorted walks, whose directories threads of a pool read ahead.
#![allow(missing_docs, reason = "tests")]

mod playground;

use dents::{Needs, Pool, Walk};
use playground::Playground;
use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

impl Playground {
    /// 1,100 directories: wide ones, chains, and one with more entries than are read ahead.
    fn tree() -> Playground {
        let playground = Playground::new();
        let root = &playground.0;
        for number in 0..700 {
            let directory = root.join(format!("{}/{}/x{number}", number % 7, number % 350));
            fs::create_dir_all(directory.join(if number % 10 == 0 { "chain/of/some" } else { "" })).unwrap();
            (0..number % 5).for_each(|file| fs::write(directory.join(file.to_string()), "12").unwrap());
        }
        (0..700).for_each(|file| fs::write(root.join("3").join(format!("f{file}")), "").unwrap());
        playground
    }

    fn sorted(&self) -> Walk {
        Walk::new(&self.0).sort_by_file_name()
    }
}

fn paths(walk: Walk) -> Vec<PathBuf> {
    walk.into_iter().map(|entry| entry.unwrap().into_path()).collect()
}

fn theirs(walk: walkdir::WalkDir) -> Vec<PathBuf> {
    walk.into_iter().map(|entry| entry.unwrap().into_path()).collect()
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn the_order_is_exact_with_any_number_of_threads() {
    let tree = Playground::tree();
    let walkdir = || walkdir::WalkDir::new(&tree.0).sort_by_file_name();
    for threads in [1, 2, 3, 9] {
        for needs in [Needs::TYPE, Needs::SIZE] {
            let walk = || tree.sorted().threads(threads).needs(needs);
            assert_eq!(paths(walk()), theirs(walkdir()), "{threads}");
            assert_eq!(paths(walk().contents_first(true)), theirs(walkdir().contents_first(true)));
            let some = (walk().min_depth(2).max_depth(3), walkdir().min_depth(2).max_depth(3));
            assert_eq!(paths(some.0), theirs(some.1));
            assert_eq!(paths(walk().max_open(4).same_file_system(true)), theirs(walkdir()));
        }
        let sizes = tree.sorted().threads(threads).needs(Needs::SIZE).into_iter().flatten();
        let size = |entry: dents::Entry| if entry.file_type().is_file() { entry.size() } else { 0 };
        assert_eq!(sizes.map(size).sum::<u64>(), 700 * 2 * 2);
    }
}

#[test]
fn other_threads_read_ahead() {
    let tree = Playground::tree();
    for (threads, most) in [(1, 1), (3, 3)] {
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let of = Arc::clone(&seen);
        let walk = tree.sorted().threads(threads).pool(&Pool::new(2)).filter_entry(move |_| {
            of.lock().unwrap().insert(thread::current().id());
            true
        });
        // A caller that is slower than they are.
        let found = walk.into_iter().inspect(|_| thread::sleep(Duration::from_micros(20))).count();
        assert!(found > 2_000);
        let seen = seen.lock().unwrap().len();
        assert!(seen == 1 && most == 1 || (2..=most).contains(&seen), "{seen} threads of {most}");
    }
}

/// It keeps neither threads nor descriptors.
#[test]
fn an_unread_sorted_walk_is_cheap() {
    let tree = Playground::tree();
    let (began, filtered) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let own = threads();
    let mut walks: Vec<_> = (0..20)
        .map(|_| {
            let count = Arc::clone(&filtered);
            let walk = tree.sorted().threads(4).pool(&Pool::new(4)).filter_entry(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                true
            });
            let mut walk = walk.into_iter();
            assert_eq!(walk.by_ref().take(400).flatten().count(), 400);
            walk
        })
        .collect();
    // Threads of other tests come and go.
    while threads() > own + 20 {
        assert!(began.elapsed() < Duration::from_secs(20), "{} threads", threads());
        thread::sleep(Duration::from_millis(10));
    }
    let kept = filtered.load(Ordering::Relaxed) / 20;
    assert!(kept < 2_000, "{kept} entries of a walk whose first 400 were taken");
    assert!(walks.iter_mut().all(|walk| walk.flatten().count() > 1_000), "they continue");
}

#[test]
fn what_is_skipped_is_skipped_as_walkdir_skips_it() {
    let tree = Playground::tree();
    for every in [2, 3, 7, 40] {
        let mut ours = tree.sorted().threads(3).into_iter();
        let mut theirs = walkdir::WalkDir::new(&tree.0).sort_by_file_name().into_iter();
        let mut number = 0;
        while let Some(their) = theirs.next() {
            assert_eq!(ours.next().unwrap().unwrap().into_path(), their.unwrap().into_path());
            number += 1;
            if number % every == 0 && number > 60 {
                ours.skip_current_dir();
                theirs.skip_current_dir();
            }
        }
        assert!(ours.next().is_none());
    }
}

/// What was read ahead and is skipped takes no room from what follows.
#[test]
fn threads_read_ahead_after_many_skips() {
    let tree = Playground::tree();
    let counted = Arc::new(AtomicUsize::new(0));
    let (count, caller) = (Arc::clone(&counted), thread::current().id());
    let walk = tree.sorted().threads(3).filter_entry(move |entry| {
        let is_late = entry.path().components().any(|part| part.as_os_str() == "6");
        count.fetch_add(usize::from(is_late && thread::current().id() != caller), Ordering::Relaxed);
        true
    });
    let mut walk = walk.into_iter();
    while let Some(entry) = walk.next() {
        let entry = entry.unwrap();
        thread::sleep(Duration::from_micros(20));
        if entry.depth() == 2 && entry.path().parent().unwrap().file_name().unwrap() != "6" {
            // The first of its subdirectories is read by then, or being read.
            walk.next();
            walk.skip_current_dir();
        }
    }
    assert!(counted.load(Ordering::Relaxed) > 0);
}

/// Not later than in its turn, and the walk can be dropped afterwards.
#[test]
fn a_panic_on_another_thread_reaches_the_caller() {
    let tree = Playground::tree();
    let caller = thread::current().id();
    let walk = tree.sorted().threads(3).filter_entry(move |_| {
        assert!(thread::current().id() == caller, "a filter");
        true
    });
    let mut walk = walk.into_iter();
    let slow = || walk.by_ref().inspect(|_| thread::sleep(Duration::from_micros(20))).count();
    let panic = catch_unwind(AssertUnwindSafe(slow)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"a filter"));
    drop(walk);
}

#[test]
fn nothing_is_read_after_the_drop() {
    let tree = Playground::tree();
    for taken in [50, 120, 300, 900] {
        let is_dropped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_dropped);
        let is_late = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&is_late);
        let walk = tree.sorted().threads(4).filter_entry(move |_| {
            late.fetch_or(flag.load(Ordering::SeqCst), Ordering::SeqCst);
            thread::sleep(Duration::from_micros(10));
            true
        });
        let mut walk = walk.into_iter();
        assert_eq!(walk.by_ref().take(taken).count(), taken);
        drop(walk);
        is_dropped.store(true, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        assert!(!is_late.load(Ordering::SeqCst), "after {taken}");
    }
}
