//! The order of a worker's tasks: what it has begun, parts of large directories, subdirectories that wait.

use super::{Paused, Worker};
use crate::tree::shared::{Part, Shared};
use crate::tree::subdirectories::Subdirectories;
use alloc::boxed::Box;
use dents_engine::crew::{self, Next};
use dents_engine::order::steal;

/// A worker's next task; `None` to continue what it has begun.
pub(in crate::tree) type Task<S> = Option<steal::Task<Subdirectories<S>, Paused<S>, Box<Part<S>>>>;

impl<S: Clone + Default + Send + Sync> crew::Order for Shared<'_, S> {
    type Task = Task<S>;
    type Local = Worker<S>;

    fn next(&self, worker: &mut Worker<S>) -> Next<Task<S>> {
        if self.bounds.stopped() {
            return Next::End;
        }
        if worker.has_begun() {
            // While this worker reads a directory, it takes a part only if enough are queued.
            let part = if self.tasks.has_enough_parts() { self.tasks.pop_part() } else { None };
            return Next::Task(part.map(steal::Task::Part));
        }
        worker.next(self)
    }
}
