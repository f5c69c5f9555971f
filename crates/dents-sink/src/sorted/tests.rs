//! The order of rows, and the memory that the sort takes.

use super::*;
use crate::Facts;
use crate::output::Output;
use crate::sink::Part;
use dents_core::batch::Time;
use dents_core::needs::Kind;
use std::path::PathBuf;

/// A generator of numbers, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Parent, name and owner.
type Entry = (Vec<u8>, Vec<u8>, u32);

/// Entries of nested directories. Their names have another order than their paths: `a`, `a-b`, `a.c` and `a/d`.
fn entries(count: usize) -> Vec<Entry> {
    let mut random = Random(0x9e37_79b9);
    let (mut directories, mut entries) = (vec![Vec::new(), b"/".to_vec(), b"root".to_vec()], Vec::new());
    while entries.len() < count {
        let parent = directories[random.below(directories.len() as u64) as usize].clone();
        for _ in 0..random.below(40) {
            let len = 1 + random.below(12);
            let name: Vec<u8> = (0..len).map(|_| b"ab\x01-.0\xff"[random.below(7) as usize]).collect();
            if random.below(12) == 0 {
                directories.push(dents_core::path::join(&parent, &name));
            }
            entries.push((parent.clone(), name, random.below(3) as u32));
        }
    }
    entries
}

fn row<'a>((parent, name, uid): &'a Entry) -> Row<'a> {
    let (time, user) = (Time { sec: 1_700_000_000, nsec: 1 }, (*uid > 0).then_some(&b"ann"[..]));
    let facts = Facts {
        dev: (8, *uid),
        ino: 12_345,
        mode: 0o100_644,
        nlink: 1,
        uid: *uid,
        gid: 100,
        user,
        group: None,
        size: 4711,
        allocated: 8192,
        atime: time,
        btime: None,
        ctime: time,
        mtime: time,
        lazy: false,
        unknown: crate::scan_file::Columns::empty(),
    };
    Row {
        parent,
        name,
        depth: 1,
        kind: Kind::Reg,
        facts: Some(facts),
        target: None,
        details: Default::default(),
        fault: None,
    }
}

/// A sorter, and the directory of its output, which is removed with it.
fn sorter(limits: Limits) -> (Sorter, Output) {
    let path: PathBuf = std::env::temp_dir().join(format!("dents-sorted-{}", std::process::id()));
    let output = Output::create(&path).expect("a temporary directory");
    (Sorter::within(limits, output.scratch()), output)
}

/// Passes the entries to workers in turns. Returns the most bytes that were allocated at once.
fn fill(sorter: &Sorter, entries: &[Entry], workers: usize) -> usize {
    let mut workers: Vec<_> = (0..workers).map(|_| sorter.worker()).collect();
    let mut most = 0;
    for (turn, entries) in entries.chunks(100).enumerate() {
        let at = turn % workers.len();
        entries.iter().for_each(|entry| workers[at].row(&row(entry)).expect("room"));
        if turn % 64 == 0 {
            let held: usize = workers.iter().map(super::block::Worker::held).sum();
            most = most.max(held + lock(&sorter.frames).capacity());
        }
    }
    workers.iter_mut().for_each(|worker| worker.flush().expect("room"));
    most
}

/// The entries of each range, in order.
fn sorted(sorter: Sorter, rows: u64) -> Vec<Vec<Entry>> {
    let sorted = sorter.finish().expect("sorted");
    let ranges = sorted.ranges(rows).expect("marks");
    let each = |range: &Range| {
        let mut entries = Vec::new();
        let mut give = |given: &Row<'_>| {
            let uid = given.facts.map_or(0, |facts| facts.uid);
            let entry = (given.parent.to_vec(), given.name.to_vec(), uid);
            assert_eq!(*given, row(&entry));
            entries.push(entry);
            Ok(())
        };
        sorted.each(range, &mut give).expect("read");
        entries
    };
    let ranges: Vec<Vec<Entry>> = ranges.iter().map(each).collect();
    let mut one_by_one = ranges.iter().flatten();
    let mut compare = |given: &Row<'_>| {
        assert_eq!(Some(given), one_by_one.next().map(row).as_ref());
        Ok(())
    };
    sorted.all(&mut compare).expect("read");
    assert_eq!(one_by_one.next(), None);
    ranges
}

fn path((parent, name, _): &Entry) -> Vec<u8> {
    dents_core::path::join(parent, name)
}

#[test]
fn all_rows_are_in_order_with_any_number_of_workers_and_runs() {
    let entries = entries(30_000);
    let mut expected = entries.clone();
    expected.sort_by_cached_key(|entry| (path(entry), entry.clone()));
    for workers in [1, 2, 40] {
        // All rows in memory; some runs; so many runs that they are merged twice.
        for (run, runs) in [(RUN, RUNS), (200 << 10, RUNS), (30 << 10, 5)] {
            let (sorter, output) = sorter(Limits { run, runs });
            fill(&sorter, &entries, workers);
            assert_eq!(lock(&sorter.spilled).runs.is_empty(), run == RUN);
            let ranges = sorted(sorter, 7_000);
            drop(output);
            assert_eq!(ranges.len(), 5);
            assert!(
                ranges.iter().all(|range| range.len().abs_diff(6_000) < 3_500),
                "{:?}",
                ranges.iter().map(Vec::len).collect::<Vec<_>>()
            );
            let mut all: Vec<Entry> = ranges.into_iter().flatten().collect();
            assert!(all.is_sorted_by_key(path), "{workers} workers, runs of {run}");
            all.sort_by_cached_key(|entry| (path(entry), entry.clone()));
            assert!(all == expected, "{workers} workers, runs of {run}");
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_workers() {
    let entries = entries(200_000);
    let limits = Limits { run: 1 << 20, runs: RUNS };
    for workers in [1, 2, 64, 256] {
        let (sorter, _output) = sorter(limits);
        let most = fill(&sorter, &entries, workers);
        // A run, and the shares of all workers: rows, their order, and finished frames.
        assert!(most < limits.run * 5 / 4 + 4 * SHARES, "{workers} workers: {most} bytes");
        assert!(lock(&sorter.spilled).runs.len() <= 20, "{}", lock(&sorter.spilled).runs.len());
    }
}

/// A chain of directories with long names: the paths of marks would have as many bytes as all frames.
#[test]
fn long_paths_are_not_kept_in_memory() {
    let mut entries: Vec<Entry> = Vec::new();
    let mut path = b"root".to_vec();
    for nth in 0..400 {
        let name = [&[b'n'; 250][..], format!("{:03}", nth % 7).as_bytes()].concat();
        entries.push((path.clone(), name.clone(), 0));
        entries.push((path.clone(), b"a".to_vec(), 1));
        path = dents_core::path::join(&path, &name);
    }
    let (sorter, _output) = sorter(Limits { run: 1 << 20, runs: 8 });
    fill(&sorter, &entries, 2);
    let sorted = sorter.finish().expect("sorted");
    let kept: usize =
        sorted.runs.iter().flat_map(|run| &run.marks).flatten().map(|mark| mark.path.len()).sum();
    assert!(kept < 1 << 20, "{kept} bytes of {} runs", sorted.runs.len());
    assert!(sorted.ranges(100).is_none());
    let written: u64 = sorted.runs.iter().map(|run| run.end - run.begin).sum();
    assert!(written < 4 << 20, "{written} bytes, not those of each path");
    let mut paths = Vec::new();
    let mut give = |row: &Row<'_>| {
        paths.push(dents_core::path::join(row.parent, row.name));
        Ok(())
    };
    sorted.all(&mut give).expect("read");
    let mut expected: Vec<Vec<u8>> = entries.iter().map(self::path).collect();
    expected.sort();
    assert!(paths == expected);
}

#[test]
fn a_directory_with_many_owners_and_a_second_row_is_sorted() {
    let mut entries: Vec<Entry> = (0..5_000)
        .map(|nth| (b"mail".to_vec(), format!("{:05}", nth * 7919 % 5_000).into_bytes(), nth))
        .collect();
    let (sorter, _output) = sorter(Limits { run: 64 << 10, runs: RUNS });
    fill(&sorter, &entries, 3);
    let all: Vec<Entry> = sorted(sorter, 1_000_000).into_iter().flatten().collect();
    entries.sort();
    assert!(all == entries);
}

#[test]
fn no_rows_have_no_ranges() {
    let (sorter, _output) = sorter(Limits { run: RUN, runs: RUNS });
    assert!(sorted(sorter, 10).is_empty());
}

#[test]
fn an_error_of_the_temporary_file_names_its_directory() {
    let (sorter, output) = sorter(Limits { run: 4096, runs: 4 });
    fill(&sorter, &entries(3000), 1);
    let sorted = sorter.finish().expect("sorted");
    let Storage::File(file) = &sorted.storage else { panic!("in memory") };
    file.cut_off(4096).expect("cut off");
    let read =
        sorted.ranges(1000).expect("marks").iter().try_for_each(|range| sorted.each(range, &mut |_| Ok(())));
    drop(output);
    let error = read.expect_err("rows are missing").to_string();
    let file = std::env::temp_dir().join("file");
    let dir = file.parent().expect("a directory").display();
    assert_eq!(
        error,
        format!(
            "cannot read a temporary file in '{dir}': it was cut off; write the output to another directory"
        )
    );
}
