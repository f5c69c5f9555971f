//! A walk whose workers leave and come back, so that a walk whose entries are not taken needs no thread.
//!
//! ```text
//!           lead ──────────────► help        all have left
//! waiting ────────► turn: the crew works ───────────────────► waiting (a visitor paused it), or the end
//!    ▲                                                           │
//!    └───────────────── what is left, on one stack ◄─────────────┘
//! ```
//!
//! In a turn it is a walk like any other. A pause ends the crew: workers leave between two tasks. The last to leave gathers what all have
//! left ([`Steal::gather`](dents_engine::order::steal::Steal::gather)); the first worker of the next turn begins with it. Between turns
//! the walk has open only directories that are read in part: at most one for each worker of the last turn, and very wide ones.
//!
//! The number of workers may differ from turn to turn. A helper that comes late finds the turn ended.

use super::probe::{self, Probed};
use super::shared::Shared;
use super::worker::{Rest, Worker};
use super::{End, Options, Visitor};
use crate::lock::Mutex;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;

/// A walk that any threads carry on in turns. It borrows nothing, and no thread belongs to it. Never in bulk.
pub struct Pausable<S>(Mutex<State<S>>);

enum State<S> {
    New(Vec<CString>, Box<Options<'static>>),
    /// The number of workers is not known yet.
    Probing(Box<Begun<S>>),
    Waiting(Arc<Shared<'static, S>>, Rest<S>),
    /// A thread that is about to put another state here has it.
    Taken,
    Turn(Turn<S>),
    Ended,
}

type Begun<S> = (Shared<'static, S>, Worker<S>);
type Started<S> = (Arc<Shared<'static, S>>, Worker<S>);

struct Turn<S> {
    shared: Arc<Shared<'static, S>>,
    /// Workers that have entered, and those that have not left yet.
    joined: usize,
    inside: usize,
    left: Vec<Rest<S>>,
}

/// How a worker left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Others are still at work, or there was nothing to do.
    Others,
    /// It was the last of the turn. Another turn continues.
    Paused,
    /// It was the last, and the walk is over.
    Ended(End),
}

impl<S: Clone + Default + Send + Sync + 'static> Pausable<S> {
    /// A walk of these operands. Nothing is requested before the first turn.
    #[must_use]
    pub fn new(operands: Vec<CString>, options: Options<'static>) -> Pausable<S> {
        Pausable(Mutex::new(State::New(operands, Box::new(options))))
    }

    fn put(&self, state: State<S>) -> State<S> {
        core::mem::replace(&mut *self.0.lock(), state)
    }

    /// A turn, begun on the calling thread, until all its workers have left or others go on; no other turn may be going on. `call` gets
    /// the number of workers that could [help](Self::help). `make` makes the visitor of a worker. It is dropped when the worker leaves,
    /// before another turn can begin.
    pub fn lead<V: Visitor<State = S>>(&self, make: &dyn Fn(usize) -> V, call: &dyn Fn(usize)) -> Left {
        let mut visitor = make(0);
        let started = match self.put(State::Taken) {
            State::New(operands, options) => self.probe(begin(&operands, &options), &mut visitor),
            State::Probing(begun) => self.probe(*begun, &mut visitor),
            State::Waiting(shared, rest) => {
                shared.tasks.crew.begin_again(1);
                let worker = Worker::with_rest(rest, &shared);
                Ok((shared, worker))
            }
            other => {
                self.put(other);
                return Left::Others;
            }
        };
        let (shared, mut worker) = match started {
            Ok(started) => started,
            Err((state, left)) => {
                drop(visitor);
                self.put(state);
                return left;
            }
        };
        let turn = Turn { shared: Arc::clone(&shared), joined: 1, inside: 1, left: Vec::new() };
        self.put(State::Turn(turn));
        call(shared.tasks.workers() - 1);
        worker.run(&shared, &mut visitor);
        drop(visitor);
        self.leave(Some(worker.into_rest()))
    }

    /// Walks the first directories, and chooses the number of workers. Fails with the next state if the turn ends before.
    fn probe<V: Visitor<State = S>>(
        &self,
        (mut shared, mut worker): Begun<S>,
        visitor: &mut V,
    ) -> Result<Started<S>, (State<S>, Left)> {
        let probed = match shared.options.workers {
            Some(count) => Probed::Workers(count),
            None => probe::workers(&mut worker, &mut shared, visitor),
        };
        match probed {
            Probed::Workers(count) => {
                shared.probing = false;
                shared.set_workers(count);
                Ok((Arc::new(shared), worker))
            }
            Probed::Paused if !shared.bounds.stopped() => {
                let worker = Worker::with_rest(worker.into_rest(), &shared);
                Err((State::Probing(Box::new((shared, worker))), Left::Paused))
            }
            Probed::Paused | Probed::Ended => Err((State::Ended, Left::Ended(shared.bounds.end()))),
        }
    }

    /// Joins the turn that is going on, if any.
    pub fn help<V: Visitor<State = S>>(&self, make: &dyn Fn(usize) -> V) -> Left {
        let (shared, number) = {
            let mut state = self.0.lock();
            let State::Turn(turn) = &mut *state else { return Left::Others };
            if turn.joined >= turn.shared.tasks.workers() || turn.shared.tasks.crew.has_ended() {
                return Left::Others;
            }
            (turn.joined, turn.inside) = (turn.joined + 1, turn.inside + 1);
            (Arc::clone(&turn.shared), turn.joined - 1)
        };
        let (mut worker, mut visitor) = (Worker::new(number, &shared), make(number));
        worker.run(&shared, &mut visitor);
        drop(visitor);
        self.leave(Some(worker.into_rest()))
    }

    /// Gives up what is left. No turn may be going on.
    pub fn end(&self) {
        self.put(State::Ended);
    }

    /// Call it after a panic of [`lead`](Self::lead) or [`help`](Self::help): the walk is stopped.
    pub fn leave_in_panic(&self) -> Left {
        self.leave(None)
    }

    /// The last worker that leaves a turn ends it.
    fn leave(&self, rest: Option<Rest<S>>) -> Left {
        let turn = {
            let mut state = self.0.lock();
            if let State::Turn(turn) = &mut *state {
                if rest.is_none() {
                    turn.shared.stop();
                }
                turn.left.extend(rest);
                turn.inside -= 1;
                if turn.inside > 0 {
                    return Left::Others;
                }
            }
            core::mem::replace(&mut *state, State::Taken)
        };
        let (state, left) = match turn {
            State::Turn(Turn { shared, left, .. }) if !shared.bounds.stopped() && shared.take_pause() => {
                let rest = shared.tasks.gather(left);
                (State::Waiting(shared, rest), Left::Paused)
            }
            State::Turn(turn) => (State::Ended, Left::Ended(turn.shared.bounds.end())),
            _ => (State::Ended, Left::Ended(End::Stopped)),
        };
        self.put(state);
        left
    }
}

fn begin<S: Clone + Default + Send + Sync>(operands: &[CString], options: &Options<'static>) -> Begun<S> {
    let shared = Shared::new(options);
    let mut worker = Worker::new(0, &shared);
    let operands: Vec<&CStr> = operands.iter().map(CString::as_c_str).collect();
    worker.push_operands(&operands, &shared);
    (shared, worker)
}
