//! The memory of a walk does not grow with the size of its directories. The peak is that of the process, so these tests
//! run one at a time.

mod common;

use common::{Playground, Threads, c_path};
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{self, Options, Order, Place, Step, Visitor};
use std::fs;
use std::sync::Mutex;

static ALONE: Mutex<()> = Mutex::new(());

#[derive(Default)]
struct Count(u64);

impl Visitor for Count {
    type State = ();

    fn entries(&mut self, _: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.0 += batch.len() as u64;
        Step::Enter
    }
}

/// A line of `/proc/self/status`, in KiB.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it reads");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux has it");
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Walks a tree; returns the growth of the peak in KiB.
fn growth(playground: &Playground, options: &Options<'_>, entries: u64) -> u64 {
    // Resets the peak (proc(5), clear_refs).
    fs::write("/proc/self/clear_refs", "5").expect("Linux can");
    let before = status("VmRSS");
    let outcome = tree::walk(&[&c_path(&playground.0)], options, &Threads, |_| Count::default());
    let seen: u64 = outcome.visitors.iter().map(|count| count.0).sum();
    assert_eq!((seen, outcome.tally.faults), (entries, 0));
    status("VmHWM").saturating_sub(before)
}

/// The number of files; the environment may set larger numbers for an idle machine.
fn size(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

#[test]
fn files_of_one_directory() {
    let _alone = ALONE.lock();
    let files = size("DENTS_FILES", 100_000);
    let playground = Playground::in_memory("files");
    for number in 0..files {
        fs::File::create(playground.0.join(format!("file-with-a-name-{number}"))).expect("file");
    }
    for needs in [NeedsByKind::all(Needs::TYPE), NeedsByKind::all(Needs::TYPE | Needs::SIZE)] {
        for workers in [1, 2] {
            let options = Options { needs, workers: Some(workers), extra: true, ..Options::default() };
            let grown = growth(&playground, &options, files + 1);
            println!("{files} files, {workers} workers, {:?}: {grown} KiB", needs.any());
            assert!(grown < 8 * 1024, "{grown} KiB for {files} files");
        }
    }
}

#[test]
fn subdirectories_of_one_directory() {
    let _alone = ALONE.lock();
    let directories = size("DENTS_DIRECTORIES", 200_000);
    let playground = Playground::in_memory("wide");
    // Names of 200 bytes: all of them together would take 40 MiB.
    let long = "n".repeat(190);
    for number in 0..directories {
        fs::create_dir(playground.0.join(format!("{long}{number:010}"))).expect("directory");
    }
    // One of them is as wide.
    let within = directories / 4;
    for number in 0..within {
        let path = playground.0.join(format!("{long}{:010}/{long}{number:010}", directories / 2));
        fs::create_dir(path).expect("directory");
    }
    for (workers, order, sized) in [
        (1, Order::Any, false),
        (2, Order::Any, false),
        (2, Order::Any, true),
        (8, Order::Any, true),
        (2, Order::Inode, false),
    ] {
        let needs = NeedsByKind::all(if sized { Needs::TYPE | Needs::SIZE } else { Needs::TYPE });
        let options = Options { needs, order, workers: Some(workers), ..Options::default() };
        let grown = growth(&playground, &options, directories + within + 1);
        println!(
            "{directories} + {within} directories, {workers} workers, {order:?}, sizes {sized}: {grown} KiB"
        );
        assert!(grown < 32 * 1024, "{grown} KiB for {directories} directories");
    }
}
