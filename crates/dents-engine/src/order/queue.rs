//! Tasks by priority: those that the consumer waits for go first; other reads are prefetched up to a limit.
//!
//! ```text
//! push ─►┌──────────────────────────┐◄─ push_last (what will be wanted later)
//!        │ wide task, task, task, … │
//!        └──┬────────────────▲──────┘
//!         next             release: the consumer took entries, or waits for more
//!           ├─► a worker      │
//!           └─► parked: a read that no consumer awaits, while `most` entries are untaken
//! ```
//!
//! - A wide task ([`Task::width`]) stays at the front, and each worker gets a share of it, until all of its entries are
//!   claimed. A late share finds nothing to claim.
//! - Parking and unparking a read take the same lock. So either the read is parked first and the consumer finds it, or
//!   its worker sees that the consumer waits.
//! - Tasks are dropped outside the lock: dropping the last task of a directory closes it, which may block.

use crate::crew::{Next, Order};
use crate::lock::Mutex;
use crate::sync::{Fault, broken};
use crate::task::{Kind, Task};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Tasks of any number of directories.
#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<State<T>>,
    /// Reads are parked while this many entries are untaken.
    most: usize,
}

#[derive(Debug)]
struct State<T> {
    tasks: VecDeque<T>,
    parked: Vec<T>,
    /// Entries that the consumer has not taken.
    untaken: usize,
}

impl<T: Task> Queue<T> {
    /// An empty queue. Reads are parked while `most` entries are untaken.
    #[must_use]
    pub fn new(most: usize) -> Queue<T> {
        let state = State { tasks: VecDeque::new(), parked: Vec::new(), untaken: 0 };
        Queue { state: Mutex::new(state), most }
    }

    /// Adds a task at the front.
    pub fn push(&self, task: T) {
        self.state.lock().tasks.push_front(task);
    }

    /// Adds a task at the back.
    pub fn push_last(&self, task: T) {
        self.state.lock().tasks.push_back(task);
    }

    /// Moves the first wanted task to the front: the consumer waits for it.
    pub fn hurry(&self, is_wanted: impl Fn(&T) -> bool) {
        let mut state = self.state.lock();
        let at = state.tasks.iter().position(is_wanted);
        if let Some(task) = at.and_then(|at| state.tasks.remove(at)) {
            state.tasks.push_front(task);
        }
    }

    /// How many workers would find a task, counted up to `enough`.
    #[must_use]
    pub fn width(&self, enough: usize) -> usize {
        let (state, mut width) = (self.state.lock(), 0);
        for task in &state.tasks {
            if width >= enough {
                break;
            }
            width += task.width();
        }
        width.min(enough)
    }

    /// Counts entries that were found.
    pub fn add(&self, entries: usize) {
        self.state.lock().untaken += entries;
    }

    /// Whether `most` entries are untaken, so that reads are parked.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state.lock().untaken >= self.most
    }

    /// The consumer took this many entries, or none and waits for more: parked reads are queued again. Returns their
    /// number.
    pub fn release(&self, entries: usize) -> usize {
        let mut state = self.state.lock();
        state.untaken = state.untaken.saturating_sub(entries);
        let parked = core::mem::take(&mut state.parked);
        let count = parked.len();
        parked.into_iter().for_each(|task| state.tasks.push_front(task));
        count
    }

    fn take(&self) -> Option<T> {
        let mut finished = Vec::new();
        let mut state = self.state.lock();
        loop {
            let first = state.tasks.front()?;
            if let Some(share) = first.share() {
                if first.width() > 0 || broken(Fault::KeepFinished) {
                    return Some(share);
                }
                finished.extend([Some(share), state.tasks.pop_front()].into_iter().flatten());
                continue;
            }
            let is_ahead = first.kind() == Kind::Read && !first.is_awaited();
            let task = state.tasks.pop_front()?;
            if !is_ahead || state.untaken < self.most {
                return Some(task);
            }
            if broken(Fault::ParkAfterLook) {
                drop(state);
                state = self.state.lock();
            }
            state.parked.push(task);
        }
    }
}

impl<T: Task + Send> Order for Queue<T> {
    type Task = T;
    type Local = ();

    fn next(&self, (): &mut ()) -> Next<T> {
        self.take().map_or(Next::Later, Next::Task)
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Job {
        number: u32,
        kind: Kind,
        awaited: bool,
        /// Unclaimed entries of a wide task.
        left: Option<Arc<AtomicUsize>>,
        _dropped: Option<Dropped>,
    }

    /// Its drop checks that the queue is not locked.
    struct Dropped(Arc<Queue<Job>>);

    impl Task for Job {
        fn kind(&self) -> Kind {
            self.kind
        }

        fn width(&self) -> usize {
            self.left.as_ref().map_or(1, |left| left.load(Ordering::Relaxed))
        }

        fn is_awaited(&self) -> bool {
            self.awaited
        }

        fn share(&self) -> Option<Job> {
            let left = Some(self.left.clone()?);
            Some(Job { number: self.number, left, ..job(Kind::Ask, 0) })
        }
    }

    impl Drop for Dropped {
        fn drop(&mut self) {
            assert!(self.0.state.try_lock().is_some(), "dropped unlocked");
        }
    }

    fn job(kind: Kind, number: u32) -> Job {
        Job { number, kind, awaited: false, left: None, _dropped: None }
    }

    fn next(queue: &Queue<Job>) -> Option<u32> {
        queue.take().map(|job| job.number)
    }

    #[test]
    fn wanted_tasks_go_first() {
        let queue = Queue::new(10);
        queue.push(job(Kind::Open, 1));
        queue.push(job(Kind::Open, 2));
        [3, 4, 5].into_iter().for_each(|number| queue.push_last(job(Kind::Open, number)));
        queue.hurry(|job| job.number == 4);
        queue.hurry(|job| job.number == 9);
        assert_eq!((queue.width(3), queue.width(9), queue.width(0)), (3, 5, 0));
        let order: Vec<u32> = core::iter::from_fn(|| next(&queue)).collect();
        assert_eq!(order, [4, 2, 1, 3, 5]);
        assert_eq!(queue.width(9), 0);
        assert!(matches!(queue.next(&mut ()), Next::Later));
    }

    #[test]
    fn a_task_is_for_one_worker_and_awaited_unless_it_says_otherwise() {
        struct Plain;
        impl Task for Plain {
            fn kind(&self) -> Kind {
                Kind::Read
            }
        }
        let queue = Queue::new(1);
        queue.add(1);
        queue.push(Plain);
        assert_eq!(queue.width(9), 1);
        assert!(matches!(queue.next(&mut ()), Next::Task(Plain)), "it is not parked");
        assert!(matches!(queue.next(&mut ()), Next::Later));
    }

    #[test]
    fn a_wide_task_stays_until_its_last_entry_is_claimed() {
        let (queue, left) = (Arc::new(Queue::new(10)), Arc::new(AtomicUsize::new(2)));
        queue.push(job(Kind::Open, 1));
        queue.push(Job {
            left: Some(left.clone()),
            _dropped: Some(Dropped(queue.clone())),
            ..job(Kind::Ask, 2)
        });
        assert_eq!((queue.width(2), queue.width(9)), (2, 3));
        assert_eq!((next(&queue), next(&queue)), (Some(2), Some(2)));
        left.store(0, Ordering::Relaxed);
        assert_eq!((queue.width(9), next(&queue), next(&queue)), (1, Some(1), None));
    }

    #[test]
    fn reads_are_parked_while_enough_is_untaken() {
        let queue = Queue::new(10);
        queue.add(9);
        assert!(!queue.is_full());
        queue.add(1);
        assert!(queue.is_full());
        queue.push(job(Kind::Read, 1));
        queue.push(job(Kind::Open, 2));
        queue.push(Job { awaited: true, ..job(Kind::Read, 3) });
        assert_eq!((next(&queue), next(&queue), next(&queue)), (Some(3), Some(2), None));
        assert_eq!((queue.release(0), next(&queue)), (1, None), "still too far ahead");
        assert_eq!((queue.release(1), queue.is_full(), next(&queue)), (1, false, Some(1)));
        assert_eq!((queue.release(99), queue.is_full()), (0, false));
    }
}
