//! How many questions to have in flight, where each answer is a round trip.
//!
//! A server that answers many at once should be asked many at once; one that is saturated answers none of them sooner
//! for being asked more, and everybody else later. Which of the two it is shows only by trying: the number doubles
//! while the rate of answers grows with it, and goes back when answers only take longer. And what was slow at first may
//! come from memory later on: a disk reads ahead, a client fetches attributes by the page. Then there is nothing to
//! wait for, more threads than cores are in each other's way, and they take many entries at a time.

use super::auto::FROM_MEMORY_NS;
use crate::batch::Metas;
use crate::lock::Mutex;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use dents_sys::{clock, futex};

/// In flight at first: more than any disk needs, less than what hurts a server.
pub(crate) const FIRST: u32 = 32;

/// Twice as many must bring at least this much more, in percent, to be worth it.
const WORTH: u64 = 20;

/// Windows to stay at a number that was found to be right before more is tried again.
const REST: u32 = 16;

/// What was measured over some answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    answers: u64,
    /// Those so fast that only memory can have given them.
    quick: u64,
    /// How long they all took together, each from question to answer.
    waited_ns: u64,
    elapsed_ns: u64,
}

impl Window {
    /// Answers in a second.
    fn rate(&self) -> u64 {
        self.answers.saturating_mul(1_000_000_000) / self.elapsed_ns.max(1)
    }

    fn latency_ns(&self) -> u64 {
        self.waited_ns / self.answers.max(1)
    }
}

/// The number in flight, found step by step. Pure: what it decides follows from what it was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    limit: u32,
    most: u32,
    /// In flight while answers come from memory, and whether they do.
    cores: u32,
    near: bool,
    /// Rate and latency at half the limit, while it is not known whether the other half pays.
    before: Option<(u64, u64)>,
    /// Windows to go before more is tried.
    rest: u32,
}

impl Search {
    pub(crate) fn new(most: u32, cores: u32) -> Search {
        let cores = cores.clamp(1, most);
        Search { limit: FIRST.min(most), most, cores, near: false, before: None, rest: 0 }
    }

    /// Takes a window into account, and says how many there shall be in flight from now on.
    pub(crate) fn step(&mut self, window: &Window) -> u32 {
        // Nearly all to get there, since one that waits for a core seems slow; a half to stay.
        let enough = if self.near { 4 } else { 7 };
        if window.quick * 8 >= window.answers * enough {
            *self = Search { limit: self.cores, near: true, ..Search::new(self.most, self.cores) };
            return self.limit;
        }
        if self.near {
            *self = Search::new(self.most, self.cores);
            return self.limit;
        }
        let (rate, latency) = (window.rate(), window.latency_ns());
        if let Some((old_rate, old_latency)) = self.before.take() {
            let pays = rate * 100 >= old_rate * (100 + WORTH);
            let waits = latency * 100 >= old_latency * (100 + WORTH);
            if !pays {
                // Saturated, if answers take longer; otherwise there is simply no more to be had.
                self.limit /= if waits { 2 } else { 1 };
                self.rest = REST;
                return self.limit;
            }
        }
        if self.rest > 0 {
            self.rest -= 1;
        } else if self.limit < self.most {
            self.before = Some((rate, latency));
            self.limit = (self.limit * 2).min(self.most);
        }
        self.limit
    }
}

/// Shared by the threads that ask: each waits for its turn while there are more threads than questions wanted.
pub(crate) struct Flight {
    limit: AtomicU32,
    near: AtomicBool,
    state: Mutex<State>,
}

struct State {
    search: Search,
    window: Window,
    since_ns: u64,
    /// Answers to questions asked before the limit changed say nothing about it.
    skip: u64,
    /// The highest limit so far.
    highest: u32,
}

impl Flight {
    /// At most this many in flight.
    pub(crate) fn new(most: usize, cores: usize) -> Flight {
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let search = Search::new(count(most), count(cores));
        let window = Window::default();
        let since_ns = clock::monotonic_ns();
        Flight {
            limit: AtomicU32::new(search.limit),
            near: AtomicBool::new(false),
            state: Mutex::new(State { search, window, since_ns, skip: 0, highest: search.limit }),
        }
    }

    /// How many entries to take at a time.
    pub(crate) fn step(&self) -> usize {
        if self.near.load(Ordering::Relaxed) { Metas::CHUNK } else { 1 }
    }

    /// Waits until this thread may ask. Returns when the question begins.
    pub(crate) fn enter(&self, worker: usize, ended: &dyn Fn() -> bool) -> u64 {
        loop {
            let limit = self.limit.load(Ordering::Acquire);
            if (worker as u64) < u64::from(limit) || ended() {
                return clock::monotonic_ns();
            }
            let _ = futex::wait(&self.limit, limit, None);
        }
    }

    /// Notes some answers to what began at `began_ns`.
    pub(crate) fn answered(&self, answers: usize, began_ns: u64) {
        let now = clock::monotonic_ns();
        let mut state = self.state.lock();
        let State { search, window, since_ns, skip, highest } = &mut *state;
        if *skip > 0 {
            *skip = skip.saturating_sub(answers as u64);
            *since_ns = now;
            return;
        }
        let waited_ns = now - began_ns;
        window.answers += answers as u64;
        if waited_ns < FROM_MEMORY_NS * answers as u64 {
            window.quick += answers as u64;
        }
        window.waited_ns += waited_ns * answers as u64;
        // Two rounds of all that are in flight.
        if window.answers < 2 * u64::from(search.limit) {
            return;
        }
        // Another thread may have read a later time before it got the lock.
        window.elapsed_ns = now.saturating_sub(*since_ns);
        let old = search.limit;
        let limit = search.step(window);
        *highest = limit.max(*highest);
        *window = Window::default();
        *since_ns = now;
        *skip = if limit == old { 0 } else { u64::from(old) };
        self.near.store(search.near, Ordering::Relaxed);
        drop(state);
        if limit != old {
            self.set(limit);
        }
    }

    /// The highest limit there was.
    pub(crate) fn highest(&self) -> u32 {
        self.state.lock().highest
    }

    /// Lets all go on: there is nothing left to ask.
    pub(crate) fn end(&self) {
        self.set(u32::MAX);
    }

    fn set(&self, limit: u32) {
        // What has ended has ended: a late answer must not close the door on those who have yet to leave.
        let open = |old| (old != u32::MAX).then_some(limit);
        let _ = self.limit.fetch_update(Ordering::Release, Ordering::Relaxed, open);
        let _ = futex::wake(&self.limit, u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that does `slots` at once, each in a millisecond: where the search comes to rest within this many
    /// windows, and the highest number it tried.
    fn settles(slots: u64, most: u32, windows: usize) -> (u32, u32) {
        let mut search = Search::new(most, 2);
        let mut highest = search.limit;
        for _ in 0..windows {
            let in_flight = u64::from(search.limit);
            let latency_ns = 1_000_000 * in_flight.div_ceil(slots).max(1);
            let answers = 2 * in_flight;
            let elapsed_ns = answers * 1_000_000 / in_flight.min(slots);
            search.step(&Window { answers, quick: 0, waited_ns: answers * latency_ns, elapsed_ns });
            highest = highest.max(search.limit);
        }
        (search.limit, highest)
    }

    #[test]
    fn grows_as_long_as_it_pays() {
        assert_eq!(settles(10_000, 256, 10), (256, 256));
        assert_eq!(settles(10_000, 1000, 10), (1000, 1000));
        assert_eq!(settles(10_000, 8, 10), (8, 8), "never more than allowed");
        assert_eq!(settles(10_000, 1, 10), (1, 1));
    }

    #[test]
    fn goes_back_from_a_saturated_server() {
        assert_eq!(settles(32, 256, 10), (32, 64));
        assert_eq!(settles(128, 256, 10), (128, 256));
        let (limit, highest) = settles(48, 256, 12);
        assert!((48..=64).contains(&limit) && highest <= 128, "{limit} {highest}");
    }

    #[test]
    fn tries_again_later() {
        let mut search = Search { rest: 2, ..Search::new(256, 2) };
        let window = Window { answers: 64, quick: 0, waited_ns: 64_000_000, elapsed_ns: 2_000_000 };
        assert_eq!((search.step(&window), search.step(&window), search.step(&window)), (32, 32, 64));
    }

    #[test]
    fn what_comes_from_memory_is_left_to_the_cores() {
        let mut search = Search::new(256, 4);
        let window = |quick| Window { answers: 64, quick, waited_ns: 64_000_000, elapsed_ns: 2_000_000 };
        assert_eq!(search.step(&window(32)), 64, "some of a disk's answers do");
        assert_eq!((search.step(&window(60)), search.near), (4, true));
        assert_eq!(
            (search.step(&window(40)), search.near),
            (4, true),
            "a thread that lost its core is no disk"
        );
        assert_eq!((search.step(&window(3)), search.near), (32, false), "from the disk again");
        assert_eq!(search.step(&window(3)), 64);
        assert_eq!(Search::new(1, 8).step(&window(64)), 1, "never more than allowed");
    }
}
