//! Chooses the number of workers: the calling thread walks the first directories and measures the latency.

use super::rotation;
use super::shared::Shared;
use super::visitor::Visitor;
use super::worker::Worker;
use core::sync::atomic::Ordering::Relaxed;
use dents_engine::crew::{Next, Order};
use dents_engine::limit::choose;
use dents_engine::limit::policy::Policy;
use dents_sys::{clock, sched, statfs};

/// Batches to measure: at least, at most, and the longest time. Starting a thread costs as much as reading two or three
/// directories.
const LEAST: usize = 3;
const MOST: usize = 24;
const NANOSECONDS: u64 = 3_000_000;

/// What the first directories showed.
pub(super) enum Probed {
    /// The number of workers.
    Workers(usize),
    /// The visitor paused the walk before.
    Paused,
    /// There are no more directories.
    Ended,
}

/// Walks the first directories, and chooses the number of workers.
pub(super) fn workers<V: Visitor>(
    worker: &mut Worker<V::State>,
    shared: &mut Shared<'_, V::State>,
    visitor: &mut V,
) -> Probed {
    let mut latencies = [0; MOST];
    let mut batches = 0;
    let started = clock::monotonic_ns();
    let (mut from, mut requests) = (started, worker.tally.requests);
    while batches < MOST && (batches < LEAST || from - started <= NANOSECONDS) {
        let Next::Task(task) = shared.next(worker) else { return Probed::Ended };
        if worker.step(task, shared, visitor) {
            let now = clock::monotonic_ns();
            latencies[batches] = (now - from) / (worker.tally.requests - requests).max(1);
            (from, requests) = (now, worker.tally.requests);
            batches += 1;
            if visitor.pauses() {
                return Probed::Paused;
            }
        }
        // The first entries of a large directory showed the latency.
        let told = shared.latency_ns.load(Relaxed);
        if told > 0 {
            return Probed::Workers(choose(worker, shared, told, (from - started) / batches.max(1) as u64));
        }
    }
    let latencies = &mut latencies[..batches];
    latencies.sort_unstable();
    let latency_ns = latencies[latencies.len() / 2];
    shared.set_latency(latency_ns);
    Probed::Workers(choose(worker, shared, latency_ns, (from - started) / batches as u64))
}

/// The number of workers for these times of an entry and of a directory; on a rotating disk one, which continues in the order of
/// inode numbers.
fn choose<S: Clone + Default + Send + Sync>(
    worker: &mut Worker<S>,
    shared: &mut Shared<'_, S>,
    latency_ns: u64,
    directory_ns: u64,
) -> usize {
    let policy = policy(worker, shared);
    if choose::may_rotate(latency_ns, directory_ns, policy) {
        worker.tally.requests += 1;
        if worker.highest_open().is_some_and(rotation::is_on_rotating_disk) {
            shared.continue_by_inode();
            return 1;
        }
    }
    choose::workers(sched::available_cores(), latency_ns, policy)
}

/// The policy of the file system where the walk began: that of the highest open directory. One `fstatfs`.
fn policy<S: Clone + Default + Send + Sync>(
    worker: &mut Worker<S>,
    shared: &mut Shared<'_, S>,
) -> &'static Policy {
    shared.options.policy.unwrap_or_else(|| {
        shared.fs = worker.highest_open().and_then(|dir| statfs::fstatfs(dir).ok());
        worker.tally.requests += 1;
        Policy::of(shared.fs)
    })
}
