//! Workers execute tasks: the calling thread alone, threads, or the threads of the agent process.
//!
//! Every worker runs the same loop ([`Crew::work`]): it takes the next task of the order and executes it. Without a task, or if
//! the limit has no room, it sleeps until notified.
//!
//! ```text
//!            ┌──────────── task ────────────┐
//!            ▼                              │
//!   [ active ] ── order.next() ── End ──► ended: all workers return
//!            │
//!          Later, or no room in the limit
//!            ▼
//!   [ idle ]  the last active worker that goes idle ends the crew: no task is left that could produce another
//! ```
//!
//! - A worker becomes *active* before it looks for a task, and stays active until it finds none. So when no worker is active, and
//!   no producer outside ([`Crew::new`]), no more tasks can come.
//! - Tasks are published first and [announced](Crew::announce) afterwards.
//! - A task that panics ends the crew: its worker never becomes idle.
//! - With one worker there is no crew: [`alone`] executes an order without atomics of its own.
//!
//! Replacement: a worker that is stuck in the kernel keeps its task. The [`watchdog`] finds it and raises the limit by two
//! ([`Crew::set_stuck`]); other workers take the tasks that the stuck one has not begun.

pub mod watchdog;

use crate::limit::Limit;
use crate::sync::{AtomicBool, AtomicU32, Fault, Ordering, broken};
use crate::wait::{Events, SPINS};
use watchdog::Watch;

/// The answer of an order to a worker.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// A task for this worker.
    Task(T),
    /// No task now; other workers or a producer may publish more.
    Later,
    /// No task, now or later: the crew ends.
    End,
}

impl<T> Next<T> {
    /// Converts the task.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Next::Task(task) => Next::Task(with(task)),
            Next::Later => Next::Later,
            Next::End => Next::End,
        }
    }
}

/// Decides which task is next.
pub trait Order: Sync {
    /// The type of tasks.
    type Task;
    /// A worker's own state: buffers, its stack. An idle worker must not keep state in it that others wait for.
    type Local;

    /// Takes the next task. Called by active workers, and by workers about to sleep: it must not block.
    fn next(&self, local: &mut Self::Local) -> Next<Self::Task>;
}

/// Executes tasks on the calling thread until the order has none. Uses no atomics, locks or clock of its own.
pub fn alone<O: Order>(order: &O, local: &mut O::Local, mut execute: impl FnMut(&mut O::Local, O::Task)) {
    while let Next::Task(task) = order.next(local) {
        execute(local, task);
    }
}

/// Workers that share an order.
#[derive(Debug)]
pub struct Crew {
    /// The limit of tasks in flight.
    pub limit: Limit,
    /// Notified when tasks are published, the limit is raised, or the crew ends.
    work: Events,
    /// Workers and producers that may publish tasks.
    active: AtomicU32,
    /// Replacements that wait for a task; the limit does not apply to them.
    beyond: AtomicU32,
    ended: AtomicBool,
}

impl Crew {
    /// A crew without workers. `producers` that are not workers keep the crew alive until [`Crew::end`], or until the order
    /// reports the end. A crew whose limit may fall needs a producer: a worker that leaves because of the limit may leave a task
    /// that the last active worker has not seen.
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

    /// Announces tasks that were published: wakes as many workers, if any sleep and the limit has room. Otherwise one barrier and
    /// one load.
    #[inline]
    pub fn announce(&self, tasks: usize) {
        // Waking more workers is useless: the limit has no room for them. A worker that takes room only while it looks for a task will
        // look again, because it is notified before room is counted. If replacements wait, all sleepers are woken, because the
        // kernel chooses which.
        self.work.notify_by(|| match self.beyond.load(Ordering::SeqCst) {
            0 => tasks.min(self.limit.room()),
            _ => usize::MAX,
        });
    }

    /// Whether a worker is idle now, so that work should be shared.
    #[must_use]
    pub fn has_idle(&self) -> bool {
        self.work.has_waiters()
    }

    /// How many workers are idle now. The answer may be outdated at once.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.work.waiters()
    }

    /// Ends the crew: workers return after their current tasks.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if !broken(Fault::EndInSilence) {
            self.work.notify_all();
        }
    }

    /// Makes a crew that has ended new again, with so many producers. None of its workers may be left in [`Crew::work`] or
    /// [`Crew::work_on`], and none may enter meanwhile.
    pub fn begin_again(&self, producers: u32) {
        self.active.store(producers, Ordering::SeqCst);
        self.ended.store(false, Ordering::SeqCst);
    }

    /// Whether the crew has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Sets the number of workers that the watchdog found stuck. Others may take their place.
    pub fn set_stuck(&self, stuck: u32) {
        let before = self.limit.allowed();
        self.limit.set_stuck(stuck);
        self.announce(self.limit.allowed().saturating_sub(before) as usize);
    }

    /// The loop of a worker, until the crew ends. `local` is the worker's own state.
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

    /// The next task of a replacement, or `None` at the end. A replacement does not count towards the limit, because the stuck
    /// worker still does. For crews with an outside producer that reports the end.
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

    /// The loop of a worker that begins with tasks in `local`. [`Crew::new`] counted it as a producer, so that no other worker
    /// can end the crew before this one begins.
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

    /// The first task of a worker, which is idle at first.
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

    /// The worker is idle. The last active worker ends the crew.
    fn go_idle(&self) {
        self.limit.leave();
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.end();
        }
    }

    /// A task for an idle worker, which is then active; `Some(None)` at the end; `None` for not yet.
    fn try_next<O: Order>(&self, order: &O, local: &mut O::Local) -> Option<Option<O::Task>> {
        if self.has_ended() {
            return Some(None);
        }
        if !self.limit.enter() {
            return None;
        }
        // Counted first: a worker must be counted when it takes a task.
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

/// Ends the crew if a task panics: its worker stays counted as active, so the other workers would wait for ever. Only unwinding
/// drops this.
struct EndOnUnwind<'c>(&'c Crew);

impl Drop for EndOnUnwind<'_> {
    fn drop(&mut self) {
        // A model that has failed takes no more steps.
        if !cfg!(feature = "model") {
            self.0.end();
        }
    }
}

/// The threads of the caller; the engine starts none.
pub trait Workers: Sync {
    /// Runs `job(0)` on the calling thread and `job(1)` … `job(workers - 1)` on other threads, and returns when all have ended. A
    /// thread that cannot be started is skipped; `job(0)` always runs.
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync));

    /// Like [`run`](Self::run), but the calling thread runs `own` before `job(0)`. The default implementation runs `own` before
    /// it starts the other threads.
    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        own();
        self.run(workers, job);
    }

    /// Whether the threads share one descriptor table. If so, each call with the directory's descriptor writes its reference
    /// count, and each worker should open its own.
    fn share_descriptors(&self) -> bool {
        true
    }

    /// Runs `during`. Meanwhile the watchdog may start replacements, threads that run `job` once, while `wanted` says that there
    /// is work for them. Returns when all have ended. The default implementation starts none. The first thread must call it:
    /// replacements find a directory by its descriptor number in that thread.
    fn with_replacements(
        &self,
        wanted: &(dyn Fn() -> bool + Sync),
        job: &(dyn Fn() + Sync),
        during: &mut dyn FnMut(),
    ) {
        let _ = (wanted, job);
        during();
    }

    /// The watch of a watchdog that runs from the first call on, for remote file systems. `None` if no watchdog can be started.
    fn watchdog(&self) -> Option<&'static Watch> {
        None
    }
}
