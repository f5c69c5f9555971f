//! Walks that share the threads of a pool, and take turns.
#![allow(missing_docs, reason = "tests")]

mod playground;

use dents::{Needs, Pool, Walk};
use playground::Playground;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

impl Playground {
    /// More than a walk reads ahead: 4,000 files in small directories, and 10,000 in one that is read in pieces.
    fn tree() -> Playground {
        let tree = Playground::new();
        for number in 0..200 {
            let directory = tree.0.join(format!("a{}/b{}/c{number}", number % 5, number % 25));
            fs::create_dir_all(&directory).unwrap();
            (0..20).for_each(|file| fs::write(directory.join(file.to_string()), b"").unwrap());
        }
        let many = tree.0.join("a1/many");
        fs::create_dir(&many).unwrap();
        (0..10_000).for_each(|file| fs::write(many.join(file.to_string()), b"").unwrap());
        tree
    }

    fn paths(&self) -> HashSet<PathBuf> {
        walkdir::WalkDir::new(&self.0).into_iter().map(|entry| entry.unwrap().into_path()).collect()
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Walks that pause all the time, because their entries are taken a few at a time and in turns.
#[test]
fn each_entry_is_found_once_whatever_pauses() {
    let tree = Playground::tree();
    let expected = tree.paths();
    for (pool, threads, needs) in
        [(1, 4, Needs::TYPE), (2, 2, Needs::SIZE), (3, 3, Needs::TYPE), (4, 2, Needs::SIZE)]
    {
        let pool = Pool::new(pool);
        let walk =
            || (Walk::new(&tree.0).threads(threads).needs(needs).pool(&pool).into_iter(), HashSet::new());
        let mut walks: Vec<_> = (0..5).map(|_| walk()).collect();
        let mut open = 5;
        while open > 0 {
            open = 0;
            for (nth, (walk, seen)) in walks.iter_mut().enumerate() {
                let few = walk.by_ref().take(150 + 211 * nth);
                let before = seen.len();
                for entry in few {
                    let path = entry.unwrap().into_path();
                    let parent = path.parent().unwrap();
                    assert!(path == tree.0 || seen.contains(parent), "{} comes too early", path.display());
                    assert!(seen.insert(path.clone()), "{} comes twice", path.display());
                }
                open += usize::from(seen.len() > before);
            }
        }
        assert!(walks.iter().all(|(_, seen)| *seen == expected), "{pool:?}");
    }
}

/// A gate that filters wait at.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
    waiting: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let open = self.is_open.lock().unwrap();
        drop(self.changed.wait_while(open, |is_open| !*is_open).unwrap());
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// A walk holds all threads of its pool for ever, as on a server that does not answer. Others go on.
#[test]
fn no_walk_waits_for_another() {
    let tree = Playground::tree();
    let (pool, gate) = (Pool::new(1), Arc::new(Gate::default()));
    let held = {
        let gate = Arc::clone(&gate);
        Walk::new(&tree.0).pool(&pool).filter_entry(move |_| {
            gate.pass();
            true
        })
    };
    let held = held.into_iter();
    until("the thread is held", || gate.waiting.load(Ordering::SeqCst) == 1);
    let began = Instant::now();
    let expected = tree.paths().len();
    let walks: Vec<_> = (0..3).map(|_| Walk::new(&tree.0).pool(&pool).into_iter()).collect();
    walks.into_iter().for_each(|walk| assert_eq!(walk.flatten().count(), expected));
    // Dropped in the queue.
    drop(Walk::new(&tree.0).pool(&pool).into_iter());
    assert!(began.elapsed() < Duration::from_secs(30));
    gate.open();
    assert_eq!(held.flatten().count(), expected);
}

/// One thread, which a walk could keep busy: another one, whose entries are not taken, has its turn.
#[test]
fn walks_take_turns() {
    let tree = Playground::tree();
    let pool = Pool::new(1);
    let slow = Walk::new(&tree.0).pool(&pool).filter_entry(|_| {
        std::thread::sleep(Duration::from_micros(200));
        true
    });
    let mut slow = slow.into_iter();
    let was_seen = Arc::new(AtomicBool::new(false));
    let mark = Arc::clone(&was_seen);
    assert!(slow.next().is_some());
    let unread = Walk::new(&tree.0).pool(&pool).filter_entry(move |_| {
        mark.store(true, Ordering::SeqCst);
        true
    });
    let unread = unread.into_iter();
    let found = slow.by_ref().take_while(|_| !was_seen.load(Ordering::SeqCst)).count();
    assert!(slow.next().is_some(), "the other one came only after all {found} entries");
    drop((slow, unread));
}

/// A directory with more subdirectories than wait at a time is left half read, and so is one with more files than a piece.
#[test]
fn a_paused_walk_keeps_its_place_in_wide_directories() {
    let tree = Playground::new();
    (0..20_000).for_each(|number| fs::create_dir(tree.0.join(number.to_string())).unwrap());
    let pool = Pool::new(2);
    let mut walk = Walk::new(&tree.0).threads(2).pool(&pool).into_iter();
    let mut seen = HashSet::new();
    for nth in 0.. {
        let Some(entry) = walk.next() else { break };
        assert!(seen.insert(entry.unwrap().into_path()));
        if nth % 1500 == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    assert_eq!(seen.len(), 20_001);
}

#[test]
fn a_pool_limits_the_threads_of_all_its_walks() {
    let tree = Playground::tree();
    let pool = Pool::new(2);
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    // The thread of the test walks, too, where no other is free.
    let test = std::thread::current().id();
    let walk = {
        let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
        Walk::new(&tree.0).threads(8).pool(&pool).filter_entry(move |_| {
            if std::thread::current().id() != test {
                most.fetch_max(1 + inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
            }
            true
        })
    };
    let expected = tree.paths().len();
    let walks: Vec<_> = (0..6).map(|_| walk.clone().into_iter()).collect();
    walks.into_iter().for_each(|walk| assert_eq!(walk.flatten().count(), expected));
    let most = most.load(Ordering::SeqCst);
    assert!((1..=2).contains(&most), "{most} threads at a time");
}
