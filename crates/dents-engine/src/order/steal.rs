//! Work stealing for trees: each worker goes depth first; an idle worker steals from the far end of another worker's
//! offers.
//!
//! ```text
//!   worker 0                                   worker 1, idle
//!   stack: highest ... deepest ─► claims       stack: empty
//!             │                                   ▲
//!   offers 0: front ... back                      │
//!               └────────── steals ───────────────┘
//! ```
//!
//! - Tasks that appear together are a [`Group`]: the subdirectories of one directory. Each worker with the group on its
//!   [`Stack`] claims members one by one: one `fetch_add` each, no lock.
//! - A group of more than one member is offered to the other workers, under the lock of its owner's offers. A thief
//!   takes the oldest offer that has unclaimed members, because it is the highest in the tree.
//! - A paused task stays in the stack of its worker, and resumes when all tasks above it are done. No other worker
//!   takes it.
//! - Parts of a huge task, and members sorted by a key, go to any worker. Sorted members are taken twice, as the head of a
//!   disk passes them (`elevator.rs`): a worker looks where the member is, and later a worker executes it.
//!
//! A worker without a task has an empty stack. So when all workers are idle, no group, paused task or part is left, and
//! the [`Crew`] detects the end. Tasks are published first and announced afterwards: one barrier and one load if no
//! worker sleeps.
//!
//! - Workers may leave tasks behind and come back ([`Steal::gather`]).

mod gather;

use super::elevator::Elevator;
use crate::crew::{Crew, Next};
use crate::limit::Limit;
use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering::Relaxed, broken};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Tasks that appear together.
#[derive(Debug)]
pub struct Group<G> {
    /// The data that all members share.
    pub common: G,
    len: usize,
    next: AtomicUsize,
}

impl<G> Group<G> {
    /// A group of `len` unclaimed members.
    pub fn new(common: G, len: usize) -> Arc<Group<G>> {
        Arc::new(Group { common, len, next: AtomicUsize::new(0) })
    }

    /// The number of unclaimed members.
    #[must_use]
    pub fn unclaimed(&self) -> usize {
        self.len.saturating_sub(self.next.load(Relaxed))
    }

    /// Claims the next member. Each is claimed once.
    fn claim(&self) -> Option<usize> {
        let index = if broken(Fault::ClaimTwice) {
            let index = self.next.load(Relaxed);
            self.next.store(index + 1, Relaxed);
            index
        } else {
            self.next.fetch_add(1, Relaxed)
        };
        (index < self.len).then_some(index)
    }
}

/// A worker's own groups, deepest last, and its paused tasks.
#[derive(Debug)]
pub struct Stack<G, R> {
    worker: usize,
    levels: Vec<Level<G, R>>,
}

#[derive(Debug)]
enum Level<G, R> {
    Group(Arc<Group<G>>),
    Paused(R),
}

impl<G, R> Stack<G, R> {
    /// The empty stack of a worker; workers are numbered from 0.
    #[must_use]
    pub fn new(worker: usize) -> Stack<G, R> {
        Stack { worker, levels: Vec::new() }
    }

    /// The worker's number.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// The number of levels.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The group of a level; `None` if the level is a paused task.
    #[must_use]
    pub fn group(&self, level: usize) -> Option<&Arc<Group<G>>> {
        match self.levels.get(level)? {
            Level::Group(group) => Some(group),
            Level::Paused(_) => None,
        }
    }

    /// Unclaimed members of this level and the levels above.
    #[must_use]
    pub fn unclaimed(&self, from: usize) -> usize {
        (from..self.levels()).filter_map(|level| self.group(level)).map(|group| group.unclaimed()).sum()
    }

    /// Puts a task below this level. It resumes when this level and those above it are done.
    pub fn pause(&mut self, level: usize, task: R) {
        self.levels.insert(level.min(self.levels()), Level::Paused(task));
    }
}

/// A worker's next task.
#[derive(Debug)]
pub enum Task<G, R, P> {
    /// A member of the topmost group on the worker's own stack.
    Own(Arc<Group<G>>, usize),
    /// A member of a sorted group: look where it is, and [place](Steal::place) it.
    Found(Arc<Group<G>>, usize),
    /// A member of a sorted group.
    Sorted(Arc<Group<G>>, usize),
    /// Another worker's group: [push](Steal::push) it and claim from it.
    Stolen(Arc<Group<G>>),
    /// A paused task to continue.
    Resume(R),
    /// A part of a huge task.
    Part(P),
}

/// State that all workers share.
#[derive(Debug)]
pub struct Steal<G, P> {
    /// The workers; the first is counted from the start ([`Crew::work_on`]).
    pub crew: Crew,
    offers: Vec<Offers<G>>,
    parts: Mutex<VecDeque<P>>,
    /// The number of queued parts.
    waiting: AtomicUsize,
    sorted: Mutex<Elevator<Member<G>>>,
    /// Most members that may be sorted at a time; with 0 the lock is never taken.
    most_sorted: usize,
}

/// One worker's offers, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
struct Offers<G>(Mutex<VecDeque<Arc<Group<G>>>>);

/// A group and the index of one of its members.
type Member<G> = (Arc<Group<G>>, usize);

impl<G, P> Steal<G, P> {
    /// For one worker; see [`Steal::set_workers`].
    #[must_use]
    pub fn new(most_sorted: usize) -> Steal<G, P> {
        let mut steal = Steal {
            crew: Crew::new(Limit::fixed(), 1),
            offers: Vec::new(),
            parts: Mutex::new(VecDeque::new()),
            waiting: AtomicUsize::new(0),
            sorted: Mutex::new(Elevator::new()),
            most_sorted,
        };
        steal.set_workers(1);
        steal
    }

    /// Sets the number of workers; it never decreases.
    pub fn set_workers(&mut self, workers: usize) {
        self.offers.resize_with(workers.max(self.workers()), || Offers(Mutex::new(VecDeque::new())));
    }

    /// Sets the most members that may be sorted at a time.
    pub fn set_most_sorted(&mut self, most: usize) {
        self.most_sorted = most;
    }

    /// The number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.offers.len()
    }

    /// Finds the worker's next task: a part, a member of its own deepest group, a sorted member, or another worker's
    /// group.
    pub fn next<R>(&self, stack: &mut Stack<G, R>) -> Next<Task<G, R, P>> {
        if let Some(part) = self.pop_part() {
            return Next::Task(Task::Part(part));
        }
        while let Some(level) = stack.levels.last() {
            if let Level::Group(group) = level
                && let Some(index) = group.claim()
            {
                return Next::Task(Task::Own(Arc::clone(group), index));
            }
            if broken(Fault::ForgetPaused) && matches!(level, Level::Paused(_)) {
                break;
            }
            if let Some(task) = self.pop(stack) {
                return Next::Task(Task::Resume(task));
            }
        }
        if let Some(((group, index), sweep)) = self.take_sorted() {
            return Next::Task(if sweep == 0 {
                Task::Found(group, index)
            } else {
                Task::Sorted(group, index)
            });
        }
        self.steal(stack.worker).map_or(Next::Later, |group| Next::Task(Task::Stolen(group)))
    }

    /// Pushes a group on the worker's stack, and offers it if it has more than one member.
    pub fn push<R>(&self, stack: &mut Stack<G, R>, group: Arc<Group<G>>) {
        if self.workers() > 1 && group.unclaimed() > 1 {
            self.offer(stack.worker, &group);
        }
        stack.levels.push(Level::Group(group));
    }

    /// Offers all groups that were pushed while there was one worker.
    pub fn offer_all<R>(&self, stack: &Stack<G, R>) {
        if self.workers() > 1 {
            let groups = (0..stack.levels()).filter_map(|level| stack.group(level));
            groups.for_each(|group| self.offer(stack.worker, group));
        }
    }

    fn offer(&self, worker: usize, group: &Arc<Group<G>>) {
        let members = group.unclaimed();
        if broken(Fault::NotifyBeforePublishing) {
            self.crew.announce(members);
        }
        self.offers[worker].0.lock().push_back(Arc::clone(group));
        if !broken(Fault::NotifyBeforePublishing) {
            self.crew.announce(members);
        }
    }

    /// Removes the topmost group if all its members are claimed. ([`Steal::next`] removes it only at its next call.)
    pub fn release<R>(&self, stack: &mut Stack<G, R>) {
        if let Some(Level::Group(group)) = stack.levels.last()
            && group.unclaimed() == 0
        {
            let _ = self.pop(stack);
        }
    }

    /// Removes the topmost level. If it is a group, its members are all claimed, and so may be those of the worker's
    /// last offer.
    fn pop<R>(&self, stack: &mut Stack<G, R>) -> Option<R> {
        match stack.levels.pop()? {
            Level::Paused(task) => Some(task),
            Level::Group(group) => {
                if self.workers() > 1 && group.len > 1 {
                    let mut offers = self.offers[stack.worker].0.lock();
                    while offers.back().is_some_and(|group| group.unclaimed() == 0) {
                        offers.pop_back();
                    }
                }
                None
            }
        }
    }

    /// Another worker's oldest offer that has unclaimed members.
    fn steal(&self, thief: usize) -> Option<Arc<Group<G>>> {
        let workers = self.workers();
        (1..workers).find_map(|step| {
            let mut offers = self.offers[(thief + step) % workers].0.lock();
            while offers.front().is_some_and(|group| group.unclaimed() == 0) {
                offers.pop_front();
            }
            offers.front().cloned()
        })
    }

    /// Publishes a part.
    pub fn push_part(&self, part: P) {
        if broken(Fault::NotifyBeforePublishing) {
            self.crew.announce(1);
        }
        let mut parts = self.parts.lock();
        parts.push_back(part);
        self.waiting.store(parts.len(), Relaxed);
        drop(parts);
        if !broken(Fault::NotifyBeforePublishing) {
            self.crew.announce(1);
        }
    }

    /// The oldest part. One load if there is none.
    pub fn pop_part(&self) -> Option<P> {
        if self.waiting.load(Relaxed) == 0 {
            return None;
        }
        let mut parts = self.parts.lock();
        let part = parts.pop_front();
        self.waiting.store(parts.len(), Relaxed);
        part
    }

    /// Whether enough parts are queued for all workers.
    #[must_use]
    pub fn has_enough_parts(&self) -> bool {
        self.waiting.load(Relaxed) >= 2 * self.workers()
    }

    /// Publishes all members of a group in the order of their keys, one key for each. The group must be on no stack.
    /// Returns false, and does nothing, if too many members are sorted already.
    pub fn sort(&self, group: &Arc<Group<G>>, keys: &[u64]) -> bool {
        if self.most_sorted == 0 {
            return false;
        }
        let mut sorted = self.sorted.lock();
        if sorted.len() + keys.len() > self.most_sorted {
            return false;
        }
        for (index, key) in keys.iter().enumerate() {
            sorted.add(0, *key, (Arc::clone(group), index));
        }
        drop(sorted);
        self.crew.announce(keys.len());
        true
    }

    /// Publishes a [found](Task::Found) member again, to be executed in the order of its place.
    pub fn place(&self, group: Arc<Group<G>>, index: usize, place: u64) {
        self.sorted.lock().add(1, place, (group, index));
        self.crew.announce(1);
    }

    fn take_sorted(&self) -> Option<(Member<G>, usize)> {
        if self.most_sorted == 0 { None } else { self.sorted.lock().take() }
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    type Shared = Steal<&'static str, char>;
    type Own = Stack<&'static str, &'static str>;

    /// The next task as a short text.
    fn next(steal: &Shared, stack: &mut Own) -> String {
        match steal.next(stack) {
            Next::Task(Task::Own(group, index)) => format!("{}{index}", group.common),
            Next::Task(Task::Found(group, index)) => {
                let name = format!("{}{index} found", group.common);
                steal.place(group, index, 10 - index as u64);
                name
            }
            Next::Task(Task::Sorted(group, index)) => format!("{}{index} placed", group.common),
            Next::Task(Task::Stolen(group)) => {
                let name = format!("stolen {}", group.common);
                steal.push(stack, group);
                name
            }
            Next::Task(Task::Resume(task)) => format!("resume {task}"),
            Next::Task(Task::Part(part)) => format!("part {part}"),
            Next::Later => "later".into(),
            Next::End => "end".into(),
        }
    }

    fn workers<const N: usize>() -> (Shared, [Own; N]) {
        let mut steal = Steal::new(0);
        steal.set_workers(N);
        (steal, std::array::from_fn(Stack::new))
    }

    #[test]
    fn a_worker_goes_depth_first() {
        let (steal, [mut own]) = workers();
        assert_eq!((own.levels(), own.worker()), (0, 0));
        steal.push(&mut own, Group::new("a", 2));
        assert_eq!(next(&steal, &mut own), "a0");
        steal.push(&mut own, Group::new("b", 2));
        assert_eq!((own.levels(), own.unclaimed(0), own.unclaimed(1)), (2, 3, 2));
        assert_eq!(own.group(1).map(|group| group.common), Some("b"));
        let rest: Vec<_> = (0..4).map(|_| next(&steal, &mut own)).collect();
        assert_eq!(rest, ["b0", "b1", "a1", "later"]);
        assert!(steal.offers[0].0.lock().is_empty(), "a single worker offers nothing");
    }

    #[test]
    fn a_paused_task_resumes_after_all_above_it() {
        let (steal, [mut own]) = workers();
        steal.push(&mut own, Group::new("a", 1));
        steal.push(&mut own, Group::new("b", 1));
        own.pause(1, "p");
        own.pause(9, "q");
        assert!(own.group(1).is_none() && own.unclaimed(0) == 2);
        let all: Vec<_> = (0..5).map(|_| next(&steal, &mut own)).collect();
        assert_eq!(all, ["resume q", "b0", "resume p", "a0", "later"]);
    }

    #[test]
    fn the_oldest_offer_is_stolen() {
        let (steal, [mut own, mut thief]) = workers();
        steal.push(&mut own, Group::new("alone", 1));
        assert_eq!(next(&steal, &mut thief), "later", "a group of one member is not offered");
        steal.push(&mut own, Group::new("a", 2));
        steal.push(&mut own, Group::new("b", 2));
        let stolen: Vec<_> = (0..4).map(|_| next(&steal, &mut thief)).collect();
        assert_eq!(stolen, ["stolen a", "a0", "a1", "stolen b"], "all members of a are claimed");
        assert_eq!((next(&steal, &mut own), next(&steal, &mut thief)), ("b0".into(), "b1".into()));
        assert_eq!(next(&steal, &mut own), "alone0");
        assert_eq!((next(&steal, &mut own), next(&steal, &mut thief)), ("later".into(), "later".into()));
        assert!(steal.offers.iter().all(|offers| offers.0.lock().is_empty()));
    }

    #[test]
    fn a_group_that_is_used_up_is_released() {
        let (steal, [mut own, _]) = workers();
        steal.push(&mut own, Group::new("a", 2));
        assert_eq!(next(&steal, &mut own), "a0");
        steal.release(&mut own);
        assert_eq!((own.levels(), steal.offers[0].0.lock().len()), (1, 1), "one member is left");
        assert_eq!(next(&steal, &mut own), "a1");
        steal.release(&mut own);
        assert_eq!((own.levels(), steal.offers[0].0.lock().len()), (0, 0));
        own.pause(0, "p");
        steal.release(&mut own);
        assert_eq!(next(&steal, &mut own), "resume p");
    }

    #[test]
    fn early_groups_are_offered_to_later_workers() {
        let (mut steal, [mut own]) = workers();
        steal.push(&mut own, Group::new("a", 1));
        steal.offer_all(&own);
        assert!(steal.offers[0].0.lock().is_empty());
        steal.set_workers(3);
        steal.set_workers(2);
        assert_eq!(steal.workers(), 3, "never fewer");
        steal.offer_all(&own);
        let mut thief = Stack::new(2);
        assert_eq!((next(&steal, &mut thief), next(&steal, &mut thief)), ("stolen a".into(), "a0".into()));
        assert_eq!(next(&steal, &mut own), "later");
    }

    #[test]
    fn parts_come_first_and_in_order() {
        let (steal, [mut own]) = workers();
        steal.push(&mut own, Group::new("a", 1));
        assert!(!steal.has_enough_parts());
        steal.push_part('x');
        assert!(!steal.has_enough_parts());
        steal.push_part('y');
        assert!(steal.has_enough_parts());
        let all: Vec<_> = (0..4).map(|_| next(&steal, &mut own)).collect();
        assert_eq!(all, ["part x", "part y", "a0", "later"]);
        assert!(!steal.has_enough_parts() && steal.pop_part().is_none());
    }

    #[test]
    fn sorted_members_are_found_and_placed() {
        let (mut steal, mut own) = (Shared::new(0), Own::new(0));
        assert!(!steal.sort(&Group::new("a", 0), &[]), "not sorted at all");
        steal.set_most_sorted(4);
        assert!(!steal.sort(&Group::new("long", 5), &[0; 5]), "too many");
        assert!(steal.sort(&Group::new("a", 3), &[20, 10, 20]));
        assert!(!steal.sort(&Group::new("b", 2), &[0; 2]), "too many with those of a");
        steal.push(&mut own, Group::new("own", 1));
        let some: Vec<_> = (0..4).map(|_| next(&steal, &mut own)).collect();
        assert_eq!(some, ["own0", "a1 found", "a0 found", "a2 found"]);
        assert!(!steal.sort(&Group::new("b", 2), &[0; 2]), "those that are placed still wait");
        assert!(steal.sort(&Group::new("c", 1), &[15]));
        let rest: Vec<_> = (0..6).map(|_| next(&steal, &mut own)).collect();
        assert_eq!(rest, ["c0 found", "a2 placed", "a1 placed", "a0 placed", "c0 placed", "later"]);
    }
}
