//! Threads that the tests of this crate pass in as workers.

use crate::stat::Workers;

/// std's scoped threads, as a std program passes them in.
pub(crate) struct Std;

impl Workers for Std {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        self.run_beside(workers, job, &mut || {});
    }

    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        std::thread::scope(|scope| {
            (1..workers).for_each(|worker| drop(scope.spawn(move || job(worker))));
            own();
            job(0);
        });
    }
}

/// Cannot start any thread.
pub(crate) struct Refused;

impl Workers for Refused {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}
