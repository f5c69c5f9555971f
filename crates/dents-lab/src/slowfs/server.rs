//! When a request is answered: a model of a remote server, as in queueing theory.
//!
//! A request arrives ([`Server::accept`]), is counted, gets its fault and the time of its answer, and waits in a heap.
//! One thread sends all answers whose time has come. A request occupies no thread, so thousands may be in flight;
//! without latency a request is answered by the thread that received it.
//!
//! Slots are the times at which each of k servers is free again: the next request starts at the earliest of them, in
//! the order of arrival. These times are computed, not measured, so a late wake-up delays one answer but does not
//! change the throughput.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::fault::{Fault, Faults};
use super::request::{Counts, Request};
use crate::rng::Rng;

/// How often threads that wait for ever are checked for a fatal signal.
const WATCH: Duration = Duration::from_millis(20);

/// How long things take.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    pub(super) latency: Duration,
    pub(super) by_kind: HashMap<Request, Duration>,
    pub(super) jitter: Duration,
    pub(super) slots: Option<usize>,
    /// More than so many in flight, and latency grows with their number to this power.
    pub(super) saturation: Option<(usize, u32)>,
}

impl Pace {
    /// How long one request is worked on, while so many are in flight.
    fn service(&self, request: Request, in_flight: usize, rng: &mut Rng) -> Duration {
        if !request.is_awaited() {
            return Duration::ZERO;
        }
        let base = self.by_kind.get(&request).copied().unwrap_or(self.latency);
        let jitter = match self.jitter.as_nanos() as usize {
            0 => Duration::ZERO,
            nanos => Duration::from_nanos(rng.below(nanos) as u64),
        };
        match self.saturation {
            Some((limit, power)) if in_flight > limit => {
                (base + jitter).mul_f64((in_flight as f64 / limit as f64).powi(power as i32))
            }
            _ => base + jitter,
        }
    }
}

/// Sends the answer: the right one, or an error.
pub(super) type Answer = Box<dyn FnOnce(Option<Errno>) + Send>;

/// A request about an inode, by a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) request: Request,
    /// 0 for a missing name.
    pub(super) inode: u64,
    /// The thread that waits, as this process's `/proc` knows it.
    pub(super) thread: u32,
}

struct Due {
    at: Instant,
    number: u64,
    error: Option<Errno>,
    answer: Answer,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    /// The earliest is the greatest, as [`BinaryHeap`] wants it.
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

struct Held {
    question: Question,
    hard: bool,
    answer: Answer,
}

#[derive(Default)]
struct State {
    pace: Pace,
    faults: Faults,
    due: BinaryHeap<Due>,
    held: Vec<Held>,
    slots: BinaryHeap<Reverse<Instant>>,
    counts: Counts,
    by_inode: HashMap<u64, Counts>,
    in_flight: usize,
    peak: usize,
    number: u64,
    down: bool,
}

impl State {
    fn free_slots(&mut self) {
        let now = Instant::now();
        self.slots = self.pace.slots.into_iter().flat_map(|k| vec![Reverse(now); k]).collect();
    }

    fn count(&mut self, question: Question) {
        self.counts.add(question.request);
        self.by_inode.entry(question.inode).or_default().add(question.request);
        self.in_flight += usize::from(question.request.is_awaited());
        self.peak = self.peak.max(self.in_flight);
    }

    /// When a request that comes now is answered; `None` is at once.
    fn schedule(&mut self, request: Request, delay: Duration, rng: &mut Rng) -> Option<Instant> {
        let service = self.pace.service(request, self.in_flight, rng) + delay;
        if service.is_zero() {
            return None;
        }
        let now = Instant::now();
        let start = match self.slots.pop() {
            Some(Reverse(free)) => now.max(free),
            None => now,
        };
        if self.pace.slots.is_some() {
            self.slots.push(Reverse(start + service));
        }
        Some(start + service)
    }
}

/// The server behind a mount.
pub(super) struct Server {
    state: Mutex<State>,
    wake: Condvar,
    rng: Mutex<Rng>,
}

impl Server {
    /// A server with its one thread running.
    pub(super) fn start(pace: Pace, faults: Faults, seed: u64) -> std::io::Result<Arc<Server>> {
        let mut state = State { pace, faults, ..State::default() };
        state.free_slots();
        let rng = Mutex::new(Rng::new(seed));
        let server = Arc::new(Server { state: Mutex::new(state), wake: Condvar::new(), rng });
        let runner = server.clone();
        std::thread::Builder::new().name("slowfs".into()).spawn(move || runner.run())?;
        Ok(server)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes a request in, and answers it when its time has come.
    pub(super) fn accept(&self, question: Question, answer: Answer) {
        let mut state = self.state();
        state.count(question);
        if state.down {
            return self.reply(state, question.request, Some(Errno::IO), answer);
        }
        let fault = state.faults.strike(question.inode, question.request);
        let (error, delay) = match fault {
            Some(hang @ (Fault::Hang | Fault::HangHard)) => {
                state.held.push(Held { question, hard: hang == Fault::HangHard, answer });
                return self.wake.notify_one();
            }
            Some(Fault::Error(error)) => (Some(error), Duration::ZERO),
            Some(Fault::Delay(delay)) => (None, delay),
            None => (None, Duration::ZERO),
        };
        let mut rng = self.rng.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match state.schedule(question.request, delay, &mut rng) {
            None => self.reply(state, question.request, error, answer),
            Some(at) => {
                let number = state.number;
                state.number += 1;
                let first = state.due.peek().is_none_or(|due| at < due.at);
                state.due.push(Due { at, number, error, answer });
                if first {
                    self.wake.notify_one();
                }
            }
        }
    }

    fn reply(&self, mut state: MutexGuard<State>, request: Request, error: Option<Errno>, answer: Answer) {
        state.in_flight -= usize::from(request.is_awaited());
        drop(state);
        answer(error);
    }

    /// Sends answers whose time has come, until the server ends.
    fn run(&self) {
        // The usual 50 µs that the kernel may add to a sleep would be 5 % of a millisecond.
        // Where that is refused, latencies are so much longer.
        let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let mut ready = Vec::new();
            while state.down || state.due.peek().is_some_and(|due| due.at <= now) {
                let Some(due) = state.due.pop() else { break };
                ready.push((due.answer, due.error));
            }
            ready.extend(doomed(&mut state.held));
            if !ready.is_empty() {
                // Requests in the heap, or held, are awaited by threads: others are answered where they arrive.
                state.in_flight -= ready.len();
                drop(state);
                ready.into_iter().for_each(|(answer, error)| answer(error));
                state = self.state();
                continue;
            }
            if state.down {
                return;
            }
            let watch = (!state.held.is_empty()).then_some(WATCH);
            let due = state.due.peek().map(|due| due.at.saturating_duration_since(now));
            state = match due.into_iter().chain(watch).min() {
                Some(time) => self.wake.wait_timeout(state, time).unwrap_or_else(|p| p.into_inner()).0,
                None => self.wake.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            };
        }
    }

    /// Answers everything with `EIO` at once, now and from now on, and ends the thread.
    pub(super) fn go_down(&self) {
        let mut state = self.state();
        state.down = true;
        let held = std::mem::take(&mut state.held);
        state.in_flight -= held.len();
        drop(state);
        self.wake.notify_one();
        held.into_iter().for_each(|held| (held.answer)(Some(Errno::IO)));
    }

    /// The server is back: from now on all requests are answered, also those that were held. Returns how many those were.
    pub(super) fn release(&self) -> usize {
        let mut state = self.state();
        state.faults.clear_hangs();
        let held = std::mem::take(&mut state.held);
        state.in_flight -= held.len();
        drop(state);
        let count = held.len();
        held.into_iter().for_each(|held| (held.answer)(None));
        count
    }

    pub(super) fn change_pace(&self, change: impl FnOnce(&mut Pace)) {
        let mut state = self.state();
        change(&mut state.pace);
        state.free_slots();
    }

    pub(super) fn change_faults(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.state().faults);
    }

    pub(super) fn counts(&self) -> Counts {
        self.state().counts
    }

    pub(super) fn counts_of(&self, inode: u64) -> Counts {
        self.state().by_inode.get(&inode).copied().unwrap_or_default()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.state().in_flight
    }

    pub(super) fn peak(&self) -> usize {
        self.state().peak
    }

    pub(super) fn hung(&self) -> usize {
        self.state().held.len()
    }

    pub(super) fn reset_counts(&self) {
        let mut state = self.state();
        state.counts = Counts::default();
        state.by_inode.clear();
        state.peak = state.in_flight;
    }
}

/// Removes the requests whose waiting thread was killed; their answer is `EINTR`.
fn doomed(held: &mut Vec<Held>) -> Vec<(Answer, Option<Errno>)> {
    let (dying, waiting): (Vec<Held>, Vec<Held>) = std::mem::take(held)
        .into_iter()
        .partition(|held| !held.hard && has_fatal_signal(held.question.thread));
    *held = waiting;
    dying.into_iter().map(|held| (held.answer, Some(Errno::INTR))).collect()
}

/// Whether SIGKILL is pending for a thread; the kernel turns every signal that ends a process into that.
fn has_fatal_signal(thread: u32) -> bool {
    const SIGKILL: u64 = 1 << 8;
    let Ok(status) = std::fs::read_to_string(format!("/proc/{thread}/status")) else { return false };
    let pending =
        status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:")));
    pending.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).any(|mask| mask & SIGKILL != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(pace: Pace) -> State {
        let mut state = State { pace, ..State::default() };
        state.free_slots();
        state
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn without_latency_the_answer_is_immediate() {
        let at = paced(Pace::default()).schedule(Request::Lookup, Duration::ZERO, &mut Rng::new(1));
        assert_eq!(at, None);
    }

    #[test]
    fn slots_queue_in_order_of_arrival() {
        let mut state = paced(Pace { latency: 100 * MS, slots: Some(2), ..Pace::default() });
        let start = Instant::now();
        let mut due =
            || state.schedule(Request::Lookup, Duration::ZERO, &mut Rng::new(1)).expect("it takes time");
        let rounds: Vec<u128> = (0..6).map(|_| due().duration_since(start).as_millis() / 100).collect();
        assert_eq!(rounds, [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn saturation_slows_everyone_down() {
        let pace = Pace { latency: MS, saturation: Some((10, 2)), ..Pace::default() };
        let mut rng = Rng::new(1);
        assert_eq!(pace.service(Request::Lookup, 10, &mut rng), MS);
        assert_eq!(pace.service(Request::Lookup, 20, &mut rng), 4 * MS);
        assert_eq!(pace.service(Request::Releasedir, 20, &mut rng), Duration::ZERO);
    }

    #[test]
    fn jitter_is_added_and_bounded() {
        let pace = Pace { latency: MS, jitter: MS, ..Pace::default() };
        let mut rng = Rng::new(1);
        let times: Vec<Duration> = (0..100).map(|_| pace.service(Request::Lookup, 1, &mut rng)).collect();
        assert!(times.iter().all(|time| (MS..2 * MS).contains(time)));
        assert!(times.iter().max() > times.iter().min());
    }
}
