//! std's scoped threads for the engine's workers.

use dents_core::stat::Workers;
use std::thread::{Builder, scope};

/// std's threads, as the engine takes them.
pub struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        self.run_beside(workers, job, &mut || {});
    }

    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        scope(|scope| {
            for worker in 1..workers {
                // A thread that cannot be started is left out: the others do its work.
                let _ = Builder::new().spawn_scoped(scope, move || job(worker));
            }
            own();
            job(0);
        });
    }
}
