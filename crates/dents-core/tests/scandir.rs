//! `scandir` compared with std: with every set of tricks, and in directories that change during the scan.

mod common;

use common::{Playground, Rng, Threads, c_path};
use dents_core::scandir::{Options, Scan, Tricks, links, scandir};
use dents_sys::{AsFd, CWD, dir, statfs};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Names = BTreeSet<String>;

fn names<'a>(entries: impl Iterator<Item = dents_core::batch::Entry<'a>>) -> Names {
    entries.map(|entry| String::from_utf8_lossy(entry.name()).into_owned()).collect()
}

/// Directories and other entries, from std.
fn truth(path: &Path) -> (Names, Names) {
    let entries = fs::read_dir(path).expect("reads").map(|entry| entry.expect("reads"));
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let (directories, others): (Vec<_>, Vec<_>) =
        entries.partition(|entry| entry.metadata().expect("is there").is_dir());
    (directories.into_iter().map(name).collect(), others.into_iter().map(name).collect())
}

fn scan(path: &Path, options: &Options<'_>) -> Scan {
    scandir(&c_path(path), options).expect("scans")
}

fn counts(path: &Path) -> bool {
    let dir = dir::open(CWD, &c_path(path)).expect("opens");
    links::counts_subdirectories(statfs::fstatfs(dir.as_fd()).expect("has a type"))
}

/// Waits until no directory counts as recently changed.
fn let_it_rest() {
    std::thread::sleep(Duration::from_millis(2200));
}

#[test]
fn every_set_of_tricks_tells_the_truth() {
    let playground = Playground::new("tricks");
    let path = &playground.0;
    for name in ["src", "a.d", ".git", "very-long-name-of-a-directory", "x"] {
        fs::create_dir(path.join(name)).expect("directory");
    }
    for number in 0..700 {
        fs::write(path.join(format!("file{number}{}", [".c", ".txt", ""][number % 3])), "").expect("file");
    }
    for (text, name) in [("src", "to-dir"), ("nowhere", "dangling"), ("file0.c", "to-file"), ("loop", "loop")]
    {
        symlink(text, path.join(name)).expect("link");
    }
    let (directories, others) = truth(path);
    let check = |rested: bool| {
        for bits in 0..=Tricks::all().bits() {
            let tricks = Tricks::from_bits_truncate(bits);
            for workers in [None, Some(&Threads as &dyn dents_core::stat::Workers)] {
                if !rested {
                    // The change must be recent, however long the earlier rounds took.
                    fs::rename(path.join("x"), path.join("y")).expect("renamed");
                    fs::rename(path.join("y"), path.join("x")).expect("renamed");
                }
                let scan = scan(path, &Options { tricks, workers, ..Options::default() });
                assert_eq!(names(scan.directories()), directories, "{tricks:?}");
                assert_eq!(names(scan.others()), others, "{tricks:?}");
                assert_eq!(scan.unknown().len(), 0, "{tricks:?}");
                let all = scan.savings;
                assert_eq!(all.entries, 709);
                assert_eq!(all.by_d_type + all.by_nlink + all.by_dot + all.stats, 709, "{tricks:?} {all:?}");
                assert!(rested || all.by_nlink == 0, "the directory changed just now");
                if !tricks.contains(Tricks::DOT) {
                    assert_eq!((all.dots, all.by_dot), (0, 0));
                }
                if !tricks.contains(Tricks::NLINK) {
                    assert_eq!(all.by_nlink, 0);
                }
            }
        }
    };
    check(false);
    let_it_rest();
    check(true);
}

#[test]
fn where_types_are_told_nothing_is_asked() {
    let playground = Playground::new("typed");
    fs::create_dir(playground.0.join("d")).expect("directory");
    fs::write(playground.0.join("f"), "").expect("file");
    let savings = scan(&playground.0, &Options::default()).savings;
    assert_eq!((savings.entries, savings.by_d_type), (2, 2));
    assert_eq!((savings.stats, savings.dots, savings.directory_stats), (0, 0, 0));
}

#[test]
fn three_directories_among_twenty_thousand_files_are_found_by_a_few_questions() {
    let playground = Playground::new("savings");
    let path = &playground.0;
    for name in ["a", "b", ".thumbnails"] {
        fs::create_dir(path.join(name)).expect("directory");
    }
    for number in 0..20_000 {
        fs::File::create(path.join(format!("{number}.jpg"))).expect("file");
    }
    let_it_rest();
    let asked = |tricks| {
        let savings = scan(path, &Options { tricks, ..Options::default() }).savings;
        savings.stats + savings.dots
    };
    assert_eq!(asked(Tricks::empty()), 20_003);
    if counts(path) {
        assert_eq!(asked(Tricks::NLINK | Tricks::LIKELY_FIRST), 3);
        assert_eq!(asked(Tricks::all().difference(Tricks::D_TYPE)), 6);
    }
    assert_eq!(asked(Tricks::all()), 0);
}

#[test]
fn a_directory_without_subdirectories_is_not_asked_about_at_all() {
    let playground = Playground::new("flat");
    for number in 0..100 {
        fs::File::create(playground.0.join(format!("{number}"))).expect("file");
    }
    let_it_rest();
    let savings = scan(&playground.0, &Options::default().distrust_d_type()).savings;
    if counts(&playground.0) {
        assert_eq!((savings.by_nlink, savings.stats, savings.dots), (100, 0, 0));
        assert!(!savings.changed);
    }
}

/// Adds, removes and replaces entries until `stop` is set. The name of an entry tells its possible types: `new-d…` only
/// directories, `new-f…` only files, `swap…` both.
fn change(path: &Path, seed: u64, stop: &AtomicBool) {
    let mut rng = Rng(seed);
    std::thread::sleep(Duration::from_micros(rng.below(400)));
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        match rng.below(4) {
            0 => drop(fs::create_dir(path.join(format!("new-d{number}")))),
            1 => drop(fs::write(path.join(format!("new-f{number}")), "")),
            2 => drop(fs::remove_dir(path.join(format!("new-d{}", rng.below(number))))),
            _ => {
                let name = path.join(format!("swap{}", rng.below(10)));
                if fs::remove_file(&name).is_ok() {
                    drop(fs::create_dir(&name));
                } else if fs::remove_dir(&name).is_ok() {
                    drop(fs::write(&name, ""));
                }
            }
        }
    }
}

fn make(path: &Path, rng: &mut Rng) {
    fs::create_dir(path).expect("directory");
    for number in 0..rng.below(12) {
        fs::create_dir(path.join(format!("dir{number}"))).expect("directory");
    }
    for number in 0..20 + rng.below(80) {
        let end = [".c", "", ".tar.gz"][rng.below(3) as usize];
        fs::File::create(path.join(format!("file{number}{end}"))).expect("file");
    }
    for number in 0..10 {
        fs::File::create(path.join(format!("swap{number}"))).expect("file");
    }
}

/// Trees; nine of ten change while they are scanned.
const TREES: usize = 1000;

/// Each tree is scanned twice while it changes: with types trusted, and with all types unknown.
#[test]
fn no_directory_is_taken_for_a_file_in_a_changing_tree() {
    // 70,000 files take a second on a tmpfs, and half a minute on a busy disk.
    let playground = Playground::in_memory("changing");
    let mut rng = Rng(11);
    let paths: Vec<_> = (0..TREES).map(|tree| playground.0.join(format!("{tree}"))).collect();
    paths.iter().for_each(|path| make(path, &mut rng));
    let_it_rest();
    let (mut changed, mut saved, mut told) = (0, 0, 0);
    for (tree, path) in paths.iter().enumerate() {
        let truth = truth(path);
        let stop = AtomicBool::new(tree % 10 == 0);
        let believe = [tree % 2 == 0, tree % 2 != 0];
        let scans = std::thread::scope(|scope| {
            scope.spawn(|| change(path, tree as u64, &stop));
            std::thread::sleep(Duration::from_micros(rng.below(300)));
            let workers = (tree % 3 == 0).then_some(&Threads as &dyn dents_core::stat::Workers);
            let mut options = Options { workers, ..Options::default() };
            options.tricks.set(Tricks::LIKELY_FIRST, tree % 4 != 0);
            options.tricks.set(Tricks::DOT, tree % 5 != 0);
            let scans =
                believe.map(|believe| scan(path, &if believe { options } else { options.distrust_d_type() }));
            stop.store(true, Ordering::Relaxed);
            scans
        });
        for (scan, believe) in scans.iter().zip(believe) {
            changed += u64::from(scan.savings.changed);
            saved += scan.savings.by_nlink;
            told += scan.savings.by_d_type;
            tells_the_truth(scan, &truth, &format!("tree {tree}, types believed: {believe}"));
        }
    }
    assert!(told > 0, "this file system tells types");
    if counts(&playground.0) {
        assert!(changed > 0 && saved > 0, "{changed} changed, {saved} questions saved: both must occur");
    }
}

/// Entries that do not change are found with their type, and no entry has a type that it never had.
fn tells_the_truth(scan: &Scan, (directories, others): &(Names, Names), which: &str) {
    let (found, rest) = (names(scan.directories()), names(scan.others()));
    let stable = |name: &&String| !name.starts_with("swap");
    assert!(directories.iter().filter(stable).all(|name| found.contains(name)), "{which}");
    assert!(others.iter().filter(stable).all(|name| rest.contains(name)), "{which}");
    let wrong = rest.iter().find(|name| name.starts_with("dir") || name.starts_with("new-d"));
    assert_eq!(wrong, None, "{which}: a directory among the others");
    let wrong = found.iter().find(|name| name.starts_with("file") || name.starts_with("new-f"));
    assert_eq!(wrong, None, "{which}: a file among the directories");
}

#[test]
fn a_path_to_no_directory_is_an_error() {
    let playground = Playground::new("errors");
    fs::write(playground.0.join("f"), "").expect("file");
    let errno = |name: &str| scandir(&c_path(&playground.0.join(name)), &Options::default()).err();
    assert_eq!(errno("f"), Some(dents_sys::Errno::NOTDIR));
    assert_eq!(errno("gone"), Some(dents_sys::Errno::NOENT));
}
