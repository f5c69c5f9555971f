//! The turn to write to the terminal: the lister has it, or another thread.
//!
//! Three threads may write: the lister; the thread that draws the line of progress; the thread that reports the
//! agent's end. One atomic word says which of them may, and whether the line of progress is on the terminal. A
//! terminal can be stopped for hours (Ctrl-S), and then a `write` to it lasts as long. So a thread that waits for its
//! turn sleeps; it never spins.

use core::sync::atomic::{AtomicU32, Ordering};
use dents_sys::futex;

/// The turn to write to this process's terminal.
pub(crate) static TURN: Turn = Turn::new();

/// See the module.
pub(crate) struct Turn(AtomicU32);

/// What the lister does, or that another thread has the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum State {
    /// The lister neither writes nor waits for the kernel.
    Busy = 0,
    /// The lister writes.
    Writing = 1,
    /// The lister waits for the kernel.
    Waiting = 2,
    /// The lister waits for the kernel, and the line of progress is on the terminal.
    Shown = 3,
    /// The lister erases the line of progress.
    Erasing = 4,
    /// Another thread writes. Until it gives the turn back, the lister may wait for the kernel, but not write.
    Taken = 5,
}

/// How often a waiting thread other than the lister checks the state.
const LOOK_NS: u64 = 20_000_000;

impl Turn {
    const fn new() -> Turn {
        Turn(AtomicU32::new(State::Busy as u32))
    }

    pub(crate) fn state(&self) -> State {
        State::of(self.0.load(Ordering::Acquire))
    }

    /// For the lister: changes the state to `next` of it, and returns the state before. Sleeps while another thread
    /// has the turn.
    pub(crate) fn change(&self, next: impl Fn(State) -> State) -> State {
        loop {
            let state = self.state();
            if state == State::Taken {
                let _ = futex::wait(&self.0, State::Taken as u32, None);
            } else if self.exchange(state, next(state)) {
                return state;
            }
        }
    }

    /// For another thread: takes the turn if `may` allows the lister's state, and returns that state.
    pub(crate) fn take(&self, may: impl Fn(State) -> bool) -> Option<State> {
        let state = self.state();
        (state != State::Taken && may(state) && self.exchange(state, State::Taken)).then_some(state)
    }

    /// For another thread: takes the turn as soon as the lister is not writing.
    pub(crate) fn wait(&self) -> State {
        let may = |state| !matches!(state, State::Writing | State::Erasing);
        loop {
            if let Some(state) = self.take(may) {
                return state;
            }
            let _ = futex::wait(&self.0, self.0.load(Ordering::Relaxed), Some(LOOK_NS));
        }
    }

    /// Gives the turn back, with the state that the lister then has.
    pub(crate) fn give_back(&self, state: State) {
        self.0.store(state as u32, Ordering::Release);
        let _ = futex::wake(&self.0, u32::MAX);
    }

    fn exchange(&self, from: State, to: State) -> bool {
        let (from, to) = (from as u32, to as u32);
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl State {
    fn of(word: u32) -> State {
        [State::Busy, State::Writing, State::Waiting, State::Shown, State::Erasing]
            .into_iter()
            .find(|state| *state as u32 == word)
            .unwrap_or(State::Taken)
    }

    /// Whether the lister waits for the kernel, with the signals blocked.
    pub(crate) fn is_waiting(self) -> bool {
        matches!(self, State::Waiting | State::Shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_lister_waits_until_the_turn_is_given_back() {
        let turn = Arc::new(Turn::new());
        turn.change(|_| State::Waiting);
        assert_eq!(turn.take(State::is_waiting), Some(State::Waiting));
        assert_eq!(turn.take(|_| true), None, "it is taken");
        let lister = thread::spawn({
            let turn = turn.clone();
            move || turn.change(|_| State::Writing)
        });
        thread::sleep(Duration::from_millis(20));
        assert_eq!(turn.state(), State::Taken);
        turn.give_back(State::Shown);
        assert_eq!(lister.join().unwrap(), State::Shown);
        assert_eq!(turn.take(State::is_waiting), None, "the lister writes");
    }

    #[test]
    fn what_is_being_written_is_waited_for() {
        let turn = Arc::new(Turn::new());
        turn.change(|_| State::Writing);
        let other = thread::spawn({
            let turn = turn.clone();
            move || turn.wait()
        });
        thread::sleep(Duration::from_millis(50));
        assert_eq!(turn.state(), State::Writing);
        turn.change(|_| State::Busy);
        assert_eq!(other.join().unwrap(), State::Busy);
    }
}
