//! Runs the same walks with `dents`, `walkdir`, `ignore` and `jwalk`, in turns: `compare [ROUNDS] TREE [DIRECTORY]`.
//!
//! Prints the median time of each, and its ratio to `dents`. TREE is walked for names and for sizes; DIRECTORY, one
//! large directory, is listed with sizes. Every library must count and sum the same.

use dents::{Batch, Needs, Step, Walk};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Program = (&'static str, fn(&str) -> (u64, u64));

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    let rounds =
        args.next_if(|text| text.parse::<usize>().is_ok()).map_or(7, |text| text.parse().unwrap_or(7));
    let tree = args.next().unwrap_or_else(|| "/usr".to_owned());
    compare("names", rounds, &tree, NAMES);
    compare("sizes", rounds, &tree, SIZES);
    if let Some(directory) = args.next() {
        compare("one directory, sizes", rounds, &directory, DIRECTORY);
    }
}

fn compare(title: &str, rounds: usize, path: &str, programs: &[Program]) {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); programs.len()];
    let mut answers = vec![(0, 0); programs.len()];
    // The first round fills caches.
    for round in 0..=rounds {
        for (at, (_, program)) in programs.iter().enumerate() {
            let started = Instant::now();
            answers[at] = black_box(program(path));
            if round > 0 {
                times[at].push(started.elapsed());
            }
        }
    }
    println!("{title} of {path}, {rounds} rounds");
    let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
    for (at, (name, _)) in programs.iter().enumerate() {
        let ratio = medians[0].as_secs_f64() / medians[at].as_secs_f64();
        let (entries, bytes) = answers[at];
        println!(
            "  {name:<24} {:>9.1?}  dents takes {ratio:.2} of it  {entries} entries, {bytes} bytes",
            medians[at]
        );
        assert_eq!(answers[at], answers[0], "{name} found something else");
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

const NAMES: &[Program] = &[
    ("dents", |path| (Walk::new(path).into_iter().flatten().count() as u64, 0)),
    ("dents, by batches", |path| {
        let count = AtomicU64::new(0);
        Walk::new(path).run(|| {
            |batch: &Batch| {
                count.fetch_add(batch.iter().count() as u64, Ordering::Relaxed);
                Step::Enter
            }
        });
        (count.into_inner(), 0)
    }),
    ("dents, sorted", |path| (Walk::new(path).sort_by_file_name().into_iter().flatten().count() as u64, 0)),
    ("walkdir", |path| (walkdir::WalkDir::new(path).into_iter().flatten().count() as u64, 0)),
    ("ignore, one thread", |path| (plain(path).build().flatten().count() as u64, 0)),
    ("ignore, parallel", |path| {
        let count = AtomicU64::new(0);
        plain(path).build_parallel().run(|| {
            Box::new(|entry| {
                count.fetch_add(u64::from(entry.is_ok()), Ordering::Relaxed);
                ignore::WalkState::Continue
            })
        });
        (count.into_inner(), 0)
    }),
    ("jwalk", |path| (jwalk::WalkDir::new(path).skip_hidden(false).into_iter().flatten().count() as u64, 0)),
];

const SIZES: &[Program] = &[
    ("dents", |path| sum(Walk::new(path).needs(Needs::SIZE).into_iter().flatten().map(|entry| entry.size()))),
    ("dents, by batches", |path| {
        let (count, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Walk::new(path).needs(Needs::SIZE).run(|| {
            |batch: &Batch| {
                let (entries, size) = sum(batch.iter().map(|entry| entry.size()));
                count.fetch_add(entries, Ordering::Relaxed);
                bytes.fetch_add(size, Ordering::Relaxed);
                Step::Enter
            }
        });
        (count.into_inner(), bytes.into_inner())
    }),
    ("walkdir", |path| {
        let entries = walkdir::WalkDir::new(path).into_iter().flatten();
        sum(entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()))
    }),
    ("ignore, parallel", |path| {
        let (count, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        plain(path).build_parallel().run(|| {
            Box::new(|entry| {
                if let Some(metadata) = entry.ok().and_then(|entry| entry.metadata().ok()) {
                    count.fetch_add(1, Ordering::Relaxed);
                    bytes.fetch_add(metadata.len(), Ordering::Relaxed);
                }
                ignore::WalkState::Continue
            })
        });
        (count.into_inner(), bytes.into_inner())
    }),
    ("jwalk", |path| {
        let entries = jwalk::WalkDir::new(path).skip_hidden(false).into_iter().flatten();
        sum(entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()))
    }),
];

const DIRECTORY: &[Program] = &[
    ("dents", |path| match dents::read_dir(path) {
        Ok(entries) => sum(entries.needs(Needs::SIZE).flatten().map(|entry| entry.size())),
        Err(_) => (0, 0),
    }),
    ("std", |path| match std::fs::read_dir(path) {
        Ok(entries) => {
            let entries = entries.flatten();
            sum(entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()))
        }
        Err(_) => (0, 0),
    }),
];

/// Without filters, as the other libraries walk.
fn plain(path: &str) -> ignore::WalkBuilder {
    let mut builder = ignore::WalkBuilder::new(path);
    builder.standard_filters(false);
    builder
}

fn sum(sizes: impl Iterator<Item = u64>) -> (u64, u64) {
    sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size))
}
