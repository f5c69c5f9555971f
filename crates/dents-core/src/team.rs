//! Threads for work without system calls: sorting, rendering.

use crate::lock::Mutex;
use crate::stat::Workers;

/// Some threads of the caller.
#[derive(Clone, Copy)]
pub struct Team<'a> {
    workers: Option<&'a dyn Workers>,
    threads: usize,
}

impl<'a> Team<'a> {
    /// The calling thread alone.
    pub const ALONE: Team<'static> = Team { workers: None, threads: 1 };

    /// `threads` threads, including the calling one.
    #[must_use]
    pub fn new(workers: &'a dyn Workers, threads: usize) -> Team<'a> {
        Team { workers: Some(workers), threads: threads.max(1) }
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` for each item; an idle thread takes the next item. Starting a thread costs some 30 µs, so work of
    /// less than 300 µs is best done by one thread.
    pub fn each<T: Send>(&self, items: &mut [T], job: &(dyn Fn(&mut T) + Sync)) {
        let threads = self.threads.min(items.len());
        match self.workers {
            Some(workers) if threads > 1 => {
                let items = Mutex::new(items.iter_mut());
                workers.run(threads, &|_| {
                    loop {
                        // A statement of its own, so that the lock is released before the job runs.
                        let next = items.lock().next();
                        let Some(item) = next else { break };
                        job(item);
                    }
                });
            }
            _ => items.iter_mut().for_each(job),
        }
    }
}
