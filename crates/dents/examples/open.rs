//! What walks cost while they are open and their entries are not taken: `open LIBRARY [WALKS] [TREE]`.
//!
//! Takes two entries of each of WALKS walks of TREE, waits a second, and prints the threads, descriptors and resident memory that they
//! added. LIBRARY is `dents`, `dents-sizes`, `dents-sorted`, `walkdir`, `ignore` or `jwalk`: one a process, because pools of threads stay.

use dents::{Needs, Walk};
use std::any::Any;
use std::fs;
use std::time::{Duration, Instant};

fn main() {
    let mut args = std::env::args().skip(1);
    let library = args.next().unwrap_or_else(|| "dents".to_owned());
    let walks = args.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let tree = args.next().unwrap_or_else(|| "/usr".to_owned());
    // The first walk starts what a library starts once.
    drop(open(&library, &tree));
    let (before, began) = (cost(), Instant::now());
    let open: Vec<_> = (0..walks).map(|_| open(&library, &tree)).collect();
    let opened = began.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    let now = cost();
    println!(
        "{library:<12} {walks} walks: {} threads, +{} descriptors, +{} KiB, opened in {opened:.1?}",
        now.0,
        now.1.saturating_sub(before.1),
        now.2.saturating_sub(before.2),
    );
    drop(open);
}

/// Threads, descriptors, and resident memory in KiB.
fn cost() -> (usize, usize, usize) {
    let count = |what: &str| fs::read_dir(format!("/proc/self/{what}")).map_or(0, Iterator::count);
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    (count("task"), count("fd"), pages * 4)
}

/// A walk of which two entries were taken.
fn open(library: &str, tree: &str) -> Box<dyn Any> {
    match library {
        "dents" => begun(Walk::new(tree).into_iter()),
        "dents-sizes" => begun(Walk::new(tree).needs(Needs::SIZE).into_iter()),
        "dents-sorted" => begun(Walk::new(tree).sort_by_file_name().into_iter()),
        "walkdir" => begun(walkdir::WalkDir::new(tree).into_iter()),
        "ignore" => begun(ignore::WalkBuilder::new(tree).standard_filters(false).build()),
        "jwalk" => begun(jwalk::WalkDir::new(tree).skip_hidden(false).into_iter()),
        other => panic!("{other:?} is none of dents, dents-sizes, dents-sorted, walkdir, ignore, jwalk"),
    }
}

fn begun<I: Iterator + 'static>(mut walk: I) -> Box<dyn Any> {
    let _ = (walk.next(), walk.next());
    Box::new(walk)
}
