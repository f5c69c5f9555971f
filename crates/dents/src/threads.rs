//! std's scoped threads for the engine's workers.

use dents_core::stat::Workers;
use std::thread::{Builder, scope};

/// Starts std threads for the engine.
pub struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        self.run_beside(workers, job, &mut || {});
    }

    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        scope(|scope| {
            for worker in 1..workers {
                // If a thread cannot be started, the others do its work.
                let _ = Builder::new().spawn_scoped(scope, move || job(worker));
            }
            own();
            job(0);
        });
    }
}
