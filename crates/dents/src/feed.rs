//! What a walk has found and its caller has not taken: messages in order, and who continues the walk when there is room for more.
//!
//! ```text
//!            submit            a thread begins            no room, or others' turn
//! parked ────────────► queued ────────────────► running ────────────────────────► parked
//!                        └──── the caller itself, if no thread is free ─┘    └──► ended
//! ```
//!
//! - No thread waits for a caller that takes nothing: a walk without room is parked, after two milliseconds at most (`search.rs`), and its
//!   threads do something else. The caller submits it again.
//! - The caller waits only for a thread that runs the walk, or is [promised](super::jobs). Otherwise it runs a turn itself: no walk waits
//!   for another one.
//! - The walk reads ahead as many entries as were taken, within bounds: so a walk of which little is taken costs little.
//!
//! `tests/feed.rs` executes this file under loom, with loom's `sync`.

use super::sync::{AtomicBool, Condvar, Mutex, MutexGuard, PoisonError, Relaxed, broken};
use std::collections::VecDeque;

/// Entries that a walk reads ahead: at first, and at most.
pub(crate) const LEAST: usize = 2048;
const MOST: usize = 64 * 1024;

pub(crate) struct Feed<M> {
    state: Mutex<State<M>>,
    /// The caller waits for a message, or for a change of the phase.
    changed: Condvar,
    /// Whether there is no room, to look at without the lock.
    is_full: AtomicBool,
}

struct State<M> {
    /// With their numbers of entries.
    messages: VecDeque<(usize, M)>,
    /// Entries that are there, and those taken before.
    entries: usize,
    taken: usize,
    phase: Phase,
    is_caller_waiting: bool,
    is_abandoned: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Parked,
    Queued { is_promised: bool },
    Running { by_caller: bool },
    Ended,
}

/// The pool, for one walk.
pub(crate) trait Queue {
    /// Queues the walk. Returns whether a thread is free for it.
    fn submit(&self) -> bool;

    /// Takes the walk out of the queue. Returns false if a thread has it.
    fn withdraw(&self) -> bool;
}

/// What the caller gets.
pub(crate) enum Taken<M> {
    Message(M),
    /// The caller must run a turn itself.
    Turn,
    End,
}

impl<M> Feed<M> {
    /// A walk that is parked and has found nothing.
    pub(crate) fn new() -> Feed<M> {
        let state = State {
            messages: VecDeque::new(),
            entries: 0,
            taken: 0,
            phase: Phase::Parked,
            is_caller_waiting: false,
            is_abandoned: false,
        };
        Feed { state: Mutex::new(state), changed: Condvar::new(), is_full: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the threads of the walk should leave it.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }

    /// Whether the caller may take something meanwhile: it does not, if it runs the walk itself or has dropped it.
    pub(crate) fn may_get_room(&self) -> bool {
        let state = self.lock();
        !state.is_abandoned && state.phase != (Phase::Running { by_caller: true })
    }

    /// Adds a message. Returns false if nobody will take it.
    pub(crate) fn push(&self, entries: usize, message: M) -> bool {
        let mut state = self.lock();
        if state.is_abandoned {
            return false;
        }
        state.messages.push_back((entries, message));
        state.entries += entries;
        self.changed(&state);
        true
    }

    /// A thread takes the walk over. Returns false if it must not.
    pub(crate) fn begin(&self) -> bool {
        let mut state = self.lock();
        let begins = !state.is_abandoned;
        state.phase = if begins { Phase::Running { by_caller: false } } else { Phase::Ended };
        self.changed(&state);
        begins
    }

    /// The last thread of a turn has left. If there is room again, the next turn follows.
    pub(crate) fn pause(&self, queue: &impl Queue) {
        let mut state = self.lock();
        state.phase = if state.is_abandoned { Phase::Ended } else { Phase::Parked };
        if !broken("a pause without a look") {
            state.submit(queue);
            self.changed(&state);
        }
    }

    /// Submits the walk for its first turn.
    pub(crate) fn start(&self, queue: &impl Queue) {
        self.lock().submit(queue);
    }

    /// The walk is over.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.phase = Phase::Ended;
        self.changed(&state);
    }

    /// Takes the next message, and waits for it if a thread is at work.
    pub(crate) fn take(&self, queue: &impl Queue) -> Taken<M> {
        let mut state = self.lock();
        loop {
            if let Some((entries, message)) = state.messages.pop_front() {
                (state.entries, state.taken) = (state.entries - entries, state.taken + entries);
                state.submit(queue);
                self.is_full.store(state.is_full(), Relaxed);
                return Taken::Message(message);
            }
            state.submit(queue);
            let is_promised = broken("a walk waits for another");
            match state.phase {
                Phase::Ended => return Taken::End,
                Phase::Queued { is_promised: false } if !is_promised && queue.withdraw() => {
                    state.phase = Phase::Running { by_caller: true };
                    self.is_full.store(false, Relaxed);
                    return Taken::Turn;
                }
                // A thread is at work, or has just taken the walk.
                _ => {}
            }
            state.is_caller_waiting = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.is_caller_waiting = false;
        }
    }

    /// Nothing more is taken. Waits until no thread is at work.
    pub(crate) fn abandon(&self, queue: &impl Queue) {
        let mut state = self.lock();
        state.is_abandoned = true;
        let messages = std::mem::take(&mut state.messages);
        self.is_full.store(true, Relaxed);
        if matches!(state.phase, Phase::Queued { .. }) && queue.withdraw() {
            state.phase = Phase::Ended;
        }
        let is_at_work = |phase| matches!(phase, Phase::Queued { .. } | Phase::Running { .. });
        while is_at_work(state.phase) && !broken("a walk goes on without its caller") {
            state.is_caller_waiting = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        drop(messages);
    }

    fn changed(&self, state: &State<M>) {
        self.is_full.store(state.is_full(), Relaxed);
        if state.is_caller_waiting {
            self.changed.notify_one();
        }
    }
}

impl<M> State<M> {
    fn most(&self) -> usize {
        if self.phase == (Phase::Running { by_caller: true }) { 1 } else { self.taken.clamp(LEAST, MOST) }
    }

    fn is_full(&self) -> bool {
        self.is_abandoned || self.entries >= self.most()
    }

    /// Submits a parked walk if half of the room is free.
    fn submit(&mut self, queue: &impl Queue) {
        if self.phase == Phase::Parked && self.entries <= self.most() / 2 {
            self.phase = Phase::Queued { is_promised: queue.submit() };
        }
    }
}
