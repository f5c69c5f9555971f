//! What is read ahead is what would be read, each directory once, whoever comes to help and however late.

use super::*;
use crate::crews::{Refused, Std};
use crate::needs::NeedsByKind;
use crate::read::Filter;
use crate::sort::Order;
use crate::stat::{Threads, Workers};
use core::sync::atomic::AtomicUsize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::{format, fs, vec};

/// Directories in families of ten, three deep; some of them large, one of them gone.
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

/// What a listing of a tree does with its turns.
struct Lister<'a> {
    lookahead: &'a Lookahead,
    wanted: Wanted<'a>,
    means: &'a Means<'a>,
    turns: Vec<Arc<Directory>>,
    shown: Vec<CString>,
    ahead: usize,
}

impl Lister<'_> {
    fn take_all(&mut self, crews: &[Crew]) {
        let Some((crew, later)) = crews.split_first() else { return };
        let (lookahead, wanted, means) = (self.lookahead, self.wanted, self.means);
        lookahead.run(*crew, wanted, means, None, &mut |hand| {
            while let Some(directory) = self.turns.pop() {
                self.take(&directory, hand);
                if self.shown.len() == 30 && !later.is_empty() {
                    return self.take_all(later);
                }
            }
        });
    }

    fn take(&mut self, directory: &Arc<Directory>, hand: &mut Hand<'_>) {
        self.shown.push(directory.path().into());
        match self.lookahead.take(directory, hand) {
            Some(Ahead::Small(mut small)) => {
                let names =
                    small.order.iter().flatten().map(|place| small.batch.entry(*place as usize).name());
                assert_eq!(names.collect::<Vec<_>>(), sorted(directory.path()), "{:?}", directory.path());
                self.turns.extend(small.below.take().into_iter().flatten().rev());
                self.ahead += 1;
                self.lookahead.give_back(small);
            }
            Some(Ahead::Closed(errno)) => assert_eq!(errno, Errno::NOENT),
            Some(Ahead::Later) | None => {
                let below = sorted(directory.path()).into_iter().filter(|name| name[0] != b'f');
                let path = |name: Vec<u8>| CString::new(super::below(directory.path().to_bytes(), &name));
                let below: Vec<_> = below.map(|name| Directory::new(path(name).expect("no NUL"))).collect();
                self.lookahead.offer(below.iter());
                self.turns.extend(below.into_iter().rev());
            }
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

/// Lists the tree; returns the paths shown, and how many were read ahead.
fn list(tree: &Tree, workers: &dyn Workers, crews: &[Crew]) -> (Vec<CString>, usize) {
    let threads = Threads::new(Some(1));
    let (mode, ledger, rings, mounts) = (Mode::Auto, None, None, None);
    let means = Means { mode, threads: &threads, workers, mounts, rings, lazy: false, ledger };
    let (filter, needs, order, lookahead) =
        (Filter::default(), NeedsByKind::default(), Order::default(), Lookahead::default());
    let wanted =
        Wanted { filter: &filter, needs: &needs, follow: false, order: Some(&order), recursive: true };
    let path =
        |name: &str| CString::new(tree.0.join(name).into_os_string().into_encoded_bytes()).expect("no NUL");
    let operands = ["a0", "a1", "gone"].map(|name| Directory::new(path(name)));
    lookahead.offer(operands.iter());
    let turns = operands.into_iter().rev().filter(|one| !one.path().to_bytes().ends_with(b"gone"));
    let mut lister = Lister {
        lookahead: &lookahead,
        wanted,
        means: &means,
        turns: turns.collect(),
        shown: vec![],
        ahead: 0,
    };
    lister.take_all(crews);
    assert_eq!(Arc::strong_count(&lookahead.kept), 1, "nothing is kept for nobody");
    (lister.shown, lister.ahead)
}

const ALONE: Crew = Crew { already: 0, threads: 1, far: false, complete: true };

#[test]
fn each_directory_once_in_its_turn() {
    let tree = Tree::new("turns");
    let (expected, none) = list(&tree, &Refused, &[ALONE]);
    assert_eq!((expected.len(), none), (222, 0));
    for far in [false, true] {
        let (two, five) = (Crew { threads: 2, far, ..ALONE }, Crew { threads: 5, far, ..ALONE });
        // Some come later, when thirty have been shown.
        let late = Crew { already: 1, ..five };
        for crews in [&[two][..], &[five], &[two, late]] {
            for _ in 0..5 {
                assert_eq!(list(&tree, &Std, crews).0, expected, "{} of {far}", crews.len());
            }
        }
    }
    assert_eq!(list(&tree, &Refused, &[Crew { threads: 9, ..ALONE }]).0, expected);
}

/// Only so many are kept at a time, and helpers go on when some have been shown.
#[test]
fn helpers_stop_and_go_on() {
    let tree = Tree::new("stop");
    let lookahead = Lookahead::default();
    let path = CString::new(tree.0.as_os_str().as_bytes()).expect("no NUL");
    let many: Vec<_> = (0..KEPT * 2).map(|_| Directory::new(path.clone())).collect();
    lookahead.offer(many.iter());
    let threads = Threads::new(Some(1));
    let (mode, ledger, rings, mounts) = (Mode::Auto, None, None, None);
    let means = Means { mode, threads: &threads, workers: &Std, mounts, rings, lazy: false, ledger };
    let (filter, needs, order) = (Filter::default(), NeedsByKind::default(), Order::default());
    let wanted =
        Wanted { filter: &filter, needs: &needs, follow: false, order: Some(&order), recursive: false };
    let most = AtomicUsize::new(0);
    lookahead.run(Crew { threads: 3, ..ALONE }, wanted, &means, None, &mut |hand| {
        while lookahead.sleepers.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        for directory in &many {
            most.fetch_max(Arc::strong_count(&lookahead.kept), Ordering::Relaxed);
            if let Some(Ahead::Small(small)) = lookahead.take(directory, hand) {
                lookahead.give_back(small);
            }
        }
    });
    // One for the lookahead, and each thread may be reading one when there are enough.
    assert!((KEPT..=KEPT + 4).contains(&most.into_inner()));
    assert!(many.iter().all(|directory| !directory.is_unread()));
}
