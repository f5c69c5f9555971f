//! Threads for work that makes no system call: sorting, drawing.

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

    /// `threads` threads, the calling one among them.
    #[must_use]
    pub fn new(workers: &'a dyn Workers, threads: usize) -> Team<'a> {
        Team { workers: Some(workers), threads: threads.max(1) }
    }

    /// How many there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Does `job` for each item; an idle thread takes the next one. Starting a thread costs some 30 µs: for less
    /// work than ten times that, one is enough.
    pub fn each<T: Send>(&self, items: &mut [T], job: &(dyn Fn(&mut T) + Sync)) {
        let threads = self.threads.min(items.len());
        match self.workers {
            Some(workers) if threads > 1 => {
                let items = Mutex::new(items.iter_mut());
                workers.run(threads, &|_| {
                    loop {
                        // In a statement of its own, so that the lock is open while the job is done.
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
