//! Prefetched directories have the content that a later read would find. Each directory is read once, for any number of workers, and
//! also if workers start late.

use super::*;
use crate::test_threads::{Refused, Std};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::{format, fs, vec};

/// A tree of directories with ten subdirectories each, three levels deep. Some are large; one was removed.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let root = std::env::temp_dir().join(format!("dents-ahead-{name}-{}", std::process::id()));
        for nth in 0..200 {
            let path = root.join(format!("a{}/b{}/c{}", nth / 100, nth / 10 % 10, nth % 10));
            fs::create_dir_all(&path).expect("a directory");
            let files = if nth % 70 == 3 { SMALL + 1 } else { nth % 4 };
            (0..files).for_each(|file| fs::write(path.join(format!("f{file}")), "").expect("a file"));
        }
        Tree(root)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes the turns as a listing of a tree does.
struct Lister<'a> {
    prefetch: &'a Prefetch,
    wanted: Wanted<'a>,
    resources: &'a Resources<'a>,
    turns: Vec<Arc<Directory>>,
    shown: Vec<CString>,
    ahead: usize,
}

impl Lister<'_> {
    fn take_all(&mut self, starts: &[Start]) {
        let Some((Start { numbers, far, .. }, later)) = starts.split_first() else { return };
        let (prefetch, wanted, resources) = (self.prefetch, self.wanted, self.resources);
        let start = Start { numbers: numbers.clone(), far: *far, lists: Lists::WithMetadata };
        prefetch.run(start, wanted, resources, None, &mut |_| {
            while let Some(directory) = self.turns.pop() {
                self.take(&directory);
                if self.shown.len() == 30 && !later.is_empty() {
                    return self.take_all(later);
                }
            }
        });
    }

    fn take(&mut self, directory: &Arc<Directory>) {
        let path = directory.payload();
        self.shown.push(path.clone());
        match self.prefetch.take(directory, None) {
            Turn::Found(Ahead::Small(mut small)) => {
                let names =
                    small.order.iter().flatten().map(|place| small.batch.entry(*place as usize).name());
                assert_eq!(names.collect::<Vec<_>>(), sorted(path), "{path:?}");
                self.turns.extend(small.below.take().into_iter().flatten().rev());
                self.ahead += 1;
                self.prefetch.reuse(small);
            }
            Turn::Found(Ahead::Closed(errno)) => assert_eq!(errno, Errno::NOENT),
            Turn::Found(Ahead::Later) | Turn::Yours => {
                let below = sorted(path).into_iter().filter(|name| name[0] != b'f');
                let path = |name: Vec<u8>| CString::new(super::below(path.to_bytes(), &name));
                let below: Vec<_> = below.map(|name| Directory::new(path(name).expect("no NUL"))).collect();
                self.prefetch.offer(&below);
                self.turns.extend(below.into_iter().rev());
            }
            Turn::Late => unreachable!("it waits for as long as it takes"),
        }
    }
}

fn sorted(path: &CStr) -> Vec<Vec<u8>> {
    let read = fs::read_dir(Path::new(OsStr::from_bytes(path.to_bytes()))).expect("it is there");
    let mut names: Vec<_> =
        read.map(|entry| entry.expect("it reads").file_name().into_encoded_bytes()).collect();
    names.sort();
    names
}

fn resources<'a>(threads: &'a Threads, workers: &'a dyn Workers) -> Resources<'a> {
    let (mode, counter, rings, mounts) = (Mode::Auto, None, None, None);
    Resources { mode, threads, workers, mounts, rings, lazy: false, counter }
}

/// Lists the tree; returns the paths shown, and the number of prefetched directories.
fn list(tree: &Tree, workers: &dyn Workers, starts: &[Start]) -> (Vec<CString>, usize) {
    let threads = Threads::new(Some(1));
    let resources = resources(&threads, workers);
    let (filter, needs, order, prefetch) =
        (Filter::default(), NeedsByKind::default(), Order::default(), Prefetch::default());
    let wanted = Wanted {
        filter: &filter,
        needs: &needs,
        follow: false,
        order: Some(&order),
        recursive: true,
        identity: false,
    };
    let path =
        |name: &str| CString::new(tree.0.join(name).into_os_string().into_encoded_bytes()).expect("no NUL");
    let operands = ["a0", "a1", "gone"].map(|name| Directory::new(path(name)));
    prefetch.offer(&operands);
    let turns = operands.into_iter().rev().filter(|one| !one.payload().to_bytes().ends_with(b"gone"));
    let turns = turns.collect();
    let mut lister =
        Lister { prefetch: &prefetch, wanted, resources: &resources, turns, shown: vec![], ahead: 0 };
    lister.take_all(starts);
    (lister.shown, lister.ahead)
}

#[test]
fn each_directory_once_in_its_turn() {
    let start = |numbers: Range<usize>, far| Start { numbers, far, lists: Lists::WithMetadata };
    let tree = Tree::new("turns");
    let (expected, none) = list(&tree, &Refused, &[start(1..1, false)]);
    assert_eq!((expected.len(), none), (222, 0));
    for far in [false, true] {
        // In the last case some workers start later, when thirty directories have been shown.
        for starts in
            [vec![start(1..2, far)], vec![start(1..5, far)], vec![start(1..2, far), start(2..6, far)]]
        {
            for _ in 0..5 {
                assert_eq!(list(&tree, &Std, &starts).0, expected, "{starts:?}");
            }
        }
    }
    assert_eq!(list(&tree, &Refused, &[start(1..9, false)]).0, expected);
}

/// The number of workers that are started, by the number of known directories.
#[test]
fn there_are_as_many_workers_as_there_is_work_for() {
    let counts = |threads: &Threads, known: usize, reads_ahead: bool| {
        let (prefetch, mut started) = (Prefetch::default(), Started::default());
        let resources = resources(threads, &Refused);
        let known: Vec<_> = (0..known).map(|_| Directory::new(c"/".into())).collect();
        prefetch.offer(&known[..known.len().min(WORTH)]);
        let first = started.more(&prefetch, &resources, || reads_ahead).map(|start| start.numbers);
        prefetch.offer(&known[known.len().min(WORTH)..]);
        (first, started.more(&prefetch, &resources, || reads_ahead).map(|start| start.numbers))
    };
    let numbers = |threads: &Threads, known| counts(threads, known, false);
    assert_eq!(numbers(&Threads::new(None), WORTH - 1), (None, None), "too few to be worth a thread");
    assert_eq!(numbers(&Threads::new(Some(1)), MANY), (None, None), "the thread that lists is the one");
    assert_eq!(numbers(&Threads::new(Some(6)), MANY), (Some(1..7), None), "as many as were asked for");
    let beside_the_lister = counts(&Threads::new(Some(6)), MANY, true);
    assert_eq!(beside_the_lister, (Some(1..6), None), "the thread that lists is one of them");
    let cores = dents_sys::sched::available_cores();
    if dents_sys::sched::affinity() >= 2 && cores >= 2 {
        let later = (cores > 2).then_some(3..cores + 1);
        assert_eq!(numbers(&Threads::new(None), MANY - 1), (Some(1..3), None), "two at first");
        assert_eq!(numbers(&Threads::new(None), MANY), (Some(1..3), later), "later all cores");
    }
}
