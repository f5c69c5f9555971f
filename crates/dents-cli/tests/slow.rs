//! Large directories on a file system where each answer is a round trip.

mod tools;

use dents_lab::slowfs::{Kind, Request, SlowFs};
use std::time::{Duration, Instant};
use tools::{dents, stdout};

/// An earlier version took 26 s for 10,000 files: one worker requested the metadata of thousands of entries while it measured the first answers.
#[test]
fn a_large_directory_is_asked_by_all_workers() {
    let (entries, latency) = (3000, Duration::from_millis(4));
    let builder = SlowFs::builder().entries(entries, &[Kind::File]).latency_of(Request::STAT, latency);
    let Some(slow) = builder.mount_or_skip() else { return };
    for words in ["du -s .", "du -s --threads 32 .", "scan --printf %s\\n ."] {
        slow.reset_counts();
        let start = Instant::now();
        stdout(&dents(slow.path(), words));
        let (peak, time) = (slow.peak_in_flight(), start.elapsed());
        assert!(peak >= 16, "{words}: {peak} in flight, {time:?}");
        assert!(time < latency * entries as u32 / 3, "{words}: {time:?}");
    }
}

/// With one worker there is one request at a time, and the directory is not split into parts.
#[test]
fn one_worker_asks_one_at_a_time() {
    let builder = SlowFs::builder().entries(300, &[Kind::File]).latency(Duration::from_millis(1));
    let Some(slow) = builder.mount_or_skip() else { return };
    stdout(&dents(slow.path(), "du -s --threads 1 ."));
    assert_eq!(slow.peak_in_flight(), 1);
}
