//! By priority: what the consumer waits for goes first, and what nobody waits for yet is fetched only so far ahead.
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
//!   claimed. A share that comes too late finds nothing to claim.
//! - A read is parked under the lock that unparking takes as well. So it is either parked before the consumer comes, and the
//!   consumer finds it, or its worker sees that the consumer waits.
//! - Tasks are dropped outside the lock: with the last one a directory is closed, which may block.

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
    /// With so many untaken entries, no more are read ahead.
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
    /// No tasks. Reads are parked while there are `most` untaken entries.
    #[must_use]
    pub fn new(most: usize) -> Queue<T> {
        let state = State { tasks: VecDeque::new(), parked: Vec::new(), untaken: 0 };
        Queue { state: Mutex::new(state), most }
    }

    /// This is next.
    pub fn push(&self, task: T) {
        self.state.lock().tasks.push_front(task);
    }

    /// This comes after all that is wanted already.
    pub fn push_last(&self, task: T) {
        self.state.lock().tasks.push_back(task);
    }

    /// The consumer waits for these: the first of them is next.
    pub fn hurry(&self, is_wanted: impl Fn(&T) -> bool) {
        let mut state = self.state.lock();
        let at = state.tasks.iter().position(is_wanted);
        if let Some(task) = at.and_then(|at| state.tasks.remove(at)) {
            state.tasks.push_front(task);
        }
    }

    /// How many workers could find something to do, as far as it matters.
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

    /// So many more entries were found.
    pub fn add(&self, entries: usize) {
        self.state.lock().untaken += entries;
    }

    /// Whether so much was found that no more should be fetched ahead.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state.lock().untaken >= self.most
    }

    /// The consumer took so many entries, or none and waits for more: what was parked goes on. Returns how many tasks that
    /// are.
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
