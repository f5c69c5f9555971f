//! A stuck worker delays no other entry: each is requested, wherever the stuck one is, with a deadline or without.
//!
//! An entry was requested if the file system saw it: with `-l` the last request about an entry is for its extended
//! attributes.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use dents_lab::process::{Run, Watch};
use dents_lab::shown::Shown;
use dents_lab::slowfs::{Builder, Fault, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::checked;

const PATIENCE: Duration = Duration::from_secs(20);
const MS: Duration = Duration::from_millis(1);

fn files(count: usize, latency: Duration) -> Builder {
    SlowFs::builder().entries(count, &[Kind::File]).latency(latency)
}

fn long(path: &Path) -> Run {
    Run::new(checked().path()).args(["-l"]).args([path])
}

fn name(number: usize) -> String {
    format!("e{number:05}")
}

/// Waits until so many entries have been asked for everything, while the others are stuck.
fn until_asked(far: &Mounted, count: usize, what: &str) {
    let start = Instant::now();
    while far.counts().of(Request::Listxattr) < count as u64 {
        assert!(start.elapsed() < PATIENCE, "{what}: {}, {} hang", far.counts(), far.hung());
        std::thread::sleep(MS);
    }
}

/// Lists it on a terminal while these are stuck; all others are asked, and when the server is back all are shown.
fn overtakes(far: &Mounted, run: &Run, hung: &[usize], count: usize) {
    far.clear_faults();
    far.reset_counts();
    for number in hung {
        far.fault(name(*number), Request::STAT, Fault::Hang).expect("it is there");
    }
    let shown = Shown::start(run, None);
    let what = format!("{} of {count}: {}", hung.len(), hung[0]);
    until_asked(far, count - hung.len(), &what);
    assert!(far.wait_hung(hung.len(), PATIENCE), "{what}");
    far.release();
    let (_, status, text) = shown.end();
    let lines = text.lines().filter(|line| line.contains(" e0") || line.contains("/e0")).count();
    assert_eq!((status, lines), (Some(0), count), "{what}");
}

#[test]
fn wherever_it_stands() {
    for (count, latency) in [(2, MS), (10, Duration::ZERO), (10, MS), (100, Duration::ZERO), (127, MS)] {
        let Some(far) = files(count, latency).mount_or_skip() else { return };
        for hung in [0, count / 2, count - 1] {
            overtakes(&far, &long(far.path()), &[hung], count);
        }
    }
    for (count, latency) in [(128, MS), (200, Duration::ZERO), (1000, Duration::ZERO), (1000, MS)] {
        let Some(far) = files(count, latency).mount_or_skip() else { return };
        // The first, some by which the latency is measured, one within a piece of those that answer fast, the last.
        for hung in [0, 1, 3, 20, count / 2 + 7, count - 1] {
            overtakes(&far, &long(far.path()), &[hung], count);
        }
    }
}

#[test]
fn while_names_are_still_read() {
    for latency in [Duration::ZERO, MS] {
        let Some(far) = files(6000, latency).mount_or_skip() else { return };
        for hung in [&[0][..], &[0, 1, 2, 3, 4], &[2000], &[1500, 1501, 3000, 5999]] {
            overtakes(&far, &long(far.path()), hung, 6000);
        }
    }
}

#[test]
fn on_one_core_and_under_par() {
    let Some(far) = files(1000, Duration::ZERO).mount_or_skip() else { return };
    for hung in [&[0][..], &[500], &[100, 200, 300, 900]] {
        overtakes(&far, &long(far.path()).under(&["taskset", "-c", "0"]), hung, 1000);
        overtakes(&far, &long(far.path()).args(["--mode=par"]), hung, 1000);
        overtakes(&far, &long(far.path()).args(["--mode=par", "--threads=1"]), hung, 1000);
    }
}

#[test]
fn where_many_hang() {
    for (count, every) in [(100, 3), (1000, 5)] {
        let Some(far) = files(count, MS).mount_or_skip() else { return };
        let hung: Vec<usize> = (0..count).step_by(every).collect();
        overtakes(&far, &long(far.path()), &hung, count);
    }
}

#[test]
fn while_it_streams_and_below() {
    let Some(far) = files(300, Duration::ZERO).mount_or_skip() else { return };
    overtakes(&far, &long(far.path()).args(["-U"]), &[0, 299], 300);
    overtakes(&far, &long(far.path()).args(["-L"]), &[0], 300);
    drop(far);
    let builder = SlowFs::builder().tree(3, 20).fault("dir1/file4", Request::STAT, Fault::Hang);
    let Some(far) = builder.mount_or_skip() else { return };
    let shown = Shown::start(&long(far.path()).args(["-R"]), None);
    // The root's three, and those of dir0 and dir1 except one. Later directories are not opened.
    until_asked(&far, 3 + 20 + 19, "below");
    far.release();
    let (_, status, text) = shown.end();
    assert_eq!((status, text.matches(" file").count()), (Some(0), 60));
}

/// Named on the command line, files may lie anywhere.
#[test]
fn operands() {
    let Some(far) = files(20, Duration::ZERO).mount_or_skip() else { return };
    let names = (0..20).map(|number| far.path().join(name(number)));
    let run = Run::new(checked().path()).args(["-l"]).args(names);
    overtakes(&far, &run, &[0], 20);
    overtakes(&far, &run, &[7, 8], 20);
}

fn start_in_pipes(run: &Run) -> (Child, Watch) {
    let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dls starts");
    let watch = Watch::over(&child);
    (child, watch)
}

/// Without a terminal there is no watchdog, except on a file system that is known to be remote.
#[test]
fn far_away_also_without_a_terminal() {
    for (count, latency) in [(128, MS), (1000, Duration::ZERO), (1000, MS), (6000, MS)] {
        let Some(far) = files(count, latency).mount_or_skip() else { return };
        for hung in [0, count / 2 + 7, count - 1] {
            far.clear_faults();
            far.reset_counts();
            far.fault(name(hung), Request::STAT, Fault::Hang).expect("it is there");
            let (child, watch) = start_in_pipes(&long(far.path()));
            until_asked(&far, count - 1, &format!("{hung} of {count} in a pipe"));
            far.release();
            let output = child.wait_with_output().expect("it ends");
            drop(watch);
            let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!((output.status.code(), lines), (Some(0), count + 1));
        }
    }
}
