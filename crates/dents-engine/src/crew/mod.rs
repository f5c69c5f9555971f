//! Workers, which execute tasks: the calling thread alone, threads, or the threads of the agent process.
//!
//! Every worker runs the same loop ([`Crew::work`]): take the next task of the order, execute it, again; without a task, or
//! where the limit leaves no room, sleep until there may be one.
//!
//! ```text
//!            ┌──────────── task ────────────┐
//!            ▼                              │
//!   [ active ] ── order.next() ── End ──► ended: all workers return
//!            │
//!          Later, or no room in the limit
//!            ▼
//!   [ idle ]  the last active worker that goes idle ends the crew: no task is left that could bring forth another
//! ```
//!
//! - A worker is *active* from before it looks for a task until it found none. So when no worker is active, and no producer
//!   outside ([`Crew::new`]), nothing can come any more.
//! - Tasks are published first and [announced](Crew::announce) afterwards.
//! - A task that panics ends the crew: its worker never becomes idle.
//! - With one worker there is no crew: [`alone`] executes an order without atomics of its own.
//!
//! Replacement: a worker that is stuck in the kernel keeps its task, and the [`watchdog`] finds it. It raises the
//! limit by two for each ([`Crew::set_stuck`]), and other workers take what the stuck one has not begun.

pub mod growing;
pub mod watchdog;

use crate::limit::Limit;
use crate::sync::{AtomicBool, AtomicU32, Fault, Ordering, broken};
use crate::wait::{Events, SPINS};
use watchdog::Watch;

/// What an order answers to a worker that looks for a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// A task, which is now this worker's.
    Task(T),
    /// None for now: other workers, or a producer, may bring forth some.
    Later,
    /// None, and there will be none: the crew ends.
    End,
}

impl<T> Next<T> {
    /// The same with another kind of task.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Next::Task(task) => Next::Task(with(task)),
            Next::Later => Next::Later,
            Next::End => Next::End,
        }
    }
}

/// Which task is next.
pub trait Order: Sync {
    /// What is taken.
    type Task;
    /// What each worker keeps for itself: buffers, a stack of its own. Nothing that others wait for may stay in it while the
    /// worker is idle.
    type Local;

    /// Takes the next task. Called by workers that are active, and by those about to sleep: it must not sleep itself.
    fn next(&self, local: &mut Self::Local) -> Next<Self::Task>;
}

/// Executes tasks on the calling thread until the order has none: no atomics, no lock, no clock but the order's own.
pub fn alone<O: Order>(order: &O, local: &mut O::Local, mut execute: impl FnMut(&mut O::Local, O::Task)) {
    while let Next::Task(task) = order.next(local) {
        execute(local, task);
    }
}

/// Workers that share an order.
#[derive(Debug)]
pub struct Crew {
    /// How many tasks may be in flight.
    pub limit: Limit,
    /// Tasks were published, the limit was raised, or the crew ended.
    work: Events,
    /// Workers and producers that may bring forth tasks.
    active: AtomicU32,
    /// Replacements that may wait for a task, whatever room the limit has.
    beyond: AtomicU32,
    ended: AtomicBool,
}

impl Crew {
    /// No worker yet. `producers` of tasks are not workers: the crew then lasts until [`Crew::end`], or until the order says
    /// so. A crew whose limit may fall needs one: a worker that leaves for want of room may leave a task behind, which the last
    /// active worker has not seen.
    #[must_use]
    pub fn new(limit: Limit, producers: u32) -> Crew {
        Crew {
            limit,
            work: Events::default(),
            active: AtomicU32::new(producers),
            beyond: AtomicU32::new(0),
            ended: AtomicBool::new(false),
        }
    }

    /// So many tasks were published: wakes as many workers, if any sleep and the limit has room. A barrier and a load if none does.
    #[inline]
    pub fn announce(&self, tasks: usize) {
        // More would find no room and sleep on. A worker that takes room only while it looks does so again: it has been notified
        // before room is counted.
        // Which sleeper is woken is the kernel's choice: where replacements wait, all are.
        self.work.notify_by(|| match self.beyond.load(Ordering::SeqCst) {
            0 => tasks.min(self.limit.room()),
            _ => usize::MAX,
        });
    }

    /// Whether a worker has nothing to do at this moment: then it is worth to share work.
    #[must_use]
    pub fn has_idle(&self) -> bool {
        self.work.has_waiters()
    }

    /// How many workers have nothing to do at this moment: for decisions that may be wrong.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.work.waiters()
    }

    /// Nothing more is to be done: workers return when their tasks are done.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if !broken(Fault::EndInSilence) {
            self.work.notify_all();
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The watchdog found so many workers stuck: others may take their place.
    pub fn set_stuck(&self, stuck: u32) {
        let before = self.limit.allowed();
        self.limit.set_stuck(stuck);
        let more = self.limit.allowed().saturating_sub(before);
        if more > 0 {
            self.announce(more as usize);
        }
    }

    /// A worker's life: executes tasks until the crew ends. `local` is what the worker keeps for itself.
    pub fn work<O: Order>(
        &self,
        order: &O,
        local: &mut O::Local,
        mut execute: impl FnMut(&mut O::Local, O::Task),
    ) {
        let unwinding = EndOnUnwind(self);
        let mut task = self.first(order, local);
        while let Some(one) = task {
            execute(local, one);
            task = self.next(order, local);
        }
        core::mem::forget(unwinding);
    }

    /// The next task of a replacement, or `None` at the end. The limit does not count it: the stuck worker still has its place
    /// there. For crews whose producer outside says when the end has come.
    pub fn next_beyond_limit<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<O::Task> {
        let next = || match order.next(local) {
            Next::Task(task) => Some(Some(task)),
            Next::Later => self.has_ended().then_some(None),
            Next::End => Some(None),
        };
        self.beyond.fetch_add(1, Ordering::SeqCst);
        let task = self.work.wait(SPINS, None, next).flatten();
        self.beyond.fetch_sub(1, Ordering::SeqCst);
        task
    }

    /// The life of a worker that brings tasks along, in `local`: it was counted as a producer by [`Crew::new`], so that
    /// no other worker can end the crew before this one has begun.
    pub fn work_on<O: Order>(
        &self,
        order: &O,
        local: &mut O::Local,
        mut execute: impl FnMut(&mut O::Local, O::Task),
    ) {
        self.limit.enter_anyway();
        let unwinding = EndOnUnwind(self);
        while let Some(task) = self.next(order, local) {
            execute(local, task);
        }
        core::mem::forget(unwinding);
    }

    /// The first task of a worker, which is idle so far.
    fn first<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<O::Task> {
        self.work.wait(SPINS, None, || self.try_next(order, local)).flatten()
    }

    /// The next task of an active worker.
    #[inline]
    fn next<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<O::Task> {
        if broken(Fault::IdleWithTask) {
            return self.next_counted_too_late(order, local);
        }
        if self.limit.may_stay() && !self.ended.load(Ordering::Relaxed) {
            match order.next(local) {
                Next::Task(task) => return Some(task),
                Next::End => self.end(),
                Next::Later => {}
            }
        }
        self.go_idle();
        self.first(order, local)
    }

    /// The worker has no task; if none is active any more, there will be none.
    fn go_idle(&self) {
        self.limit.leave();
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.end();
        }
    }

    /// A task for an idle worker, which is active again then; the end; or nothing yet.
    fn try_next<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<Option<O::Task>> {
        if self.has_ended() {
            return Some(None);
        }
        if !self.limit.enter() {
            return None;
        }
        // Before the look: no task may be taken by a worker that is not counted.
        self.active.fetch_add(1, Ordering::SeqCst);
        match order.next(local) {
            Next::Task(task) => return Some(Some(task)),
            Next::End => self.end(),
            Next::Later => {}
        }
        self.go_idle();
        self.has_ended().then_some(None)
    }

    /// [`Fault::IdleWithTask`].
    #[cold]
    fn next_counted_too_late<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<O::Task> {
        self.go_idle();
        while !self.has_ended() {
            if let Next::Task(task) = order.next(local) {
                let _ = self.limit.enter();
                self.active.fetch_add(1, Ordering::SeqCst);
                return Some(task);
            }
        }
        None
    }
}

/// Ends the crew where a task panics: its worker stays counted as active, and the others would wait for its tasks for ever.
/// It is dropped by unwinding alone.
struct EndOnUnwind<'c>(&'c Crew);

impl Drop for EndOnUnwind<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The threads of the caller: the engine starts none.
pub trait Workers: Sync {
    /// Runs `job(0)` on the calling thread and `job(1)`, `job(2)` … `job(workers - 1)` on others, and returns when
    /// all have ended. A thread that cannot be started is left out; `job(0)` always runs.
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync));

    /// The same, but the calling thread runs `own` before `job(0)`. The default implementation runs `own` first and starts
    /// the others then.
    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        own();
        self.run(workers, job);
    }

    /// Whether the threads share one descriptor table. If they do, every call that takes the directory's
    /// descriptor also writes to its reference count, and a worker does better with one of its own.
    fn share_descriptors(&self) -> bool {
        true
    }

    /// Runs `during`. Meanwhile the watchdog may start replacements, threads that run `job` once each, while `wanted` says
    /// that there is work for them; this returns when they have ended too. The default implementation starts none. The first
    /// thread calls it: replacements find a directory by the number that its descriptor has there.
    fn with_replacements(
        &self,
        wanted: &(dyn Fn() -> bool + Sync),
        job: &(dyn Fn() + Sync),
        during: &mut dyn FnMut(),
    ) {
        let _ = (wanted, job);
        during();
    }

    /// The watch of a watchdog that runs from the first call on; for where answers are known to come from far away. `None` if
    /// there can be none.
    fn watchdog(&self) -> Option<&'static Watch> {
        None
    }
}
