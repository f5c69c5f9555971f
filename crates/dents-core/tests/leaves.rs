//! Walks that leave directories over, and walks that begin there: together they are one walk.

mod common;

use common::{Playground, Threads, c_path};
use dents_core::batch::Batch;
use dents_core::tree::{self, Options, Order, Place, StartPoint, Step, Visitor};
use std::ffi::CStr;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Enters so many directories and leaves the others over.
struct Few<'s> {
    enters: &'s AtomicUsize,
    left: &'s Mutex<Vec<StartPoint>>,
    paths: Vec<Vec<u8>>,
}

impl Visitor for Few<'_> {
    type State = ();

    fn leaves(&mut self, parent: &[u8], name: &CStr, depth: u32) -> bool {
        let leaves = self.enters.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
        if leaves {
            let left = StartPoint { parent: parent.to_vec(), name: name.to_owned(), depth };
            self.left.lock().unwrap().push(left);
        }
        leaves
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        for entry in batch.iter() {
            let mut path = Vec::new();
            place.join(entry.name(), &mut path);
            path.extend(place.depth.to_le_bytes());
            self.paths.push(path);
        }
        Step::Enter
    }
}

/// The paths of a walk with their depths, the directories that it left over, and the number of `openat`.
fn walk(
    operands: &[&CStr],
    from: &[StartPoint],
    enters: usize,
    options: &Options<'_>,
) -> (Vec<Vec<u8>>, Vec<StartPoint>, u64) {
    let (enters, left) = (AtomicUsize::new(enters), Mutex::default());
    let make = |_| Few { enters: &enters, left: &left, paths: Vec::new() };
    let outcome = tree::walk_on(operands, from, options, &Threads, make);
    let directories = outcome.tally.directories;
    let paths = outcome.visitors.into_iter().flat_map(|one| one.paths).collect();
    (paths, left.into_inner().unwrap(), directories)
}

#[test]
fn directories_left_over_are_walked_later() {
    let playground = Playground::new("leaves");
    for number in 0..120 {
        let path = playground.0.join(format!("{}/{}/{number}/leaf", number % 3, number % 7));
        fs::create_dir_all(&path).expect("directories");
        fs::write(path.join("file"), "").expect("a file");
    }
    let operand = c_path(&playground.0);
    for (workers, order, descriptors) in
        [(1, Order::Any, None), (4, Order::Any, None), (1, Order::Any, Some(4)), (2, Order::Inode, None)]
    {
        let options = Options { workers: Some(workers), order, descriptors, ..Options::default() };
        let (mut truth, left, directories) = walk(&[&operand], &[], usize::MAX, &options);
        assert_eq!((left.len(), directories), (0, 1 + 3 + 21 + 240));
        for enters in [1, 10, 100] {
            let (mut paths, mut left, mut opened) = walk(&[&operand], &[], enters, &options);
            assert!(opened == enters as u64 && !left.is_empty());
            while !left.is_empty() {
                let (more, rest, directories) = walk(&[], &left, enters, &options);
                assert!(directories <= enters as u64, "those that are left over are not opened");
                paths.extend(more);
                opened += directories;
                left = rest;
            }
            truth.sort_unstable();
            paths.sort_unstable();
            assert_eq!(opened, directories);
            assert!(paths == truth, "{workers} workers, {enters} at once");
        }
    }
}
