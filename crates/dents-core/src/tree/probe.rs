//! Chooses the number of workers: the calling thread walks the first directories and measures the latency.

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

/// Walks the first directories, and chooses the number of workers; `None` if there are no more directories.
pub(super) fn workers<V: Visitor>(
    worker: &mut Worker<V::State>,
    shared: &mut Shared<'_, V::State>,
    visitor: &mut V,
) -> Option<usize> {
    let mut latencies = [0; MOST];
    let mut batches = 0;
    let started = clock::monotonic_ns();
    let (mut from, mut requests) = (started, worker.tally.requests);
    while batches < MOST && (batches < LEAST || from - started <= NANOSECONDS) {
        let Next::Task(task) = shared.next(worker) else { return None };
        if worker.step(task, shared, visitor) {
            let now = clock::monotonic_ns();
            latencies[batches] = (now - from) / (worker.tally.requests - requests).max(1);
            (from, requests) = (now, worker.tally.requests);
            batches += 1;
        }
        // The first entries of a large directory showed the latency.
        let told = shared.latency_ns.load(Relaxed);
        if told > 0 {
            return Some(choose::workers(sched::available_cores(), told, policy(worker, shared)));
        }
    }
    let latencies = &mut latencies[..batches];
    latencies.sort_unstable();
    let latency_ns = latencies[latencies.len() / 2];
    shared.set_latency(latency_ns);
    Some(choose::workers(sched::available_cores(), latency_ns, policy(worker, shared)))
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
