//! Searches for the number of requests in flight, if each answer is a round trip.
//!
//! A server that handles many requests in parallel should get many at once. A saturated server answers none of them sooner, and
//! its other clients later. Only a trial can tell: the number doubles while the rate of answers grows with it, and is halved if
//! only the latency grows. Slow answers may come from memory later, because a disk reads ahead or a client fetches attributes by
//! the page. Then threads beyond the number of cores only compete for them, and each worker takes many entries at a time.

use super::choose::FROM_MEMORY_NS;

/// Requests in flight at first: more than any disk needs, too few to harm a server.
pub const FIRST: u32 = 32;

/// Doubling pays off if it raises the rate by at least this many percent.
const WORTH: u64 = 20;

/// Windows without a new trial after a number was found.
const REST: u32 = 16;

/// Measurements of some answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    pub(super) answers: u64,
    /// Answers so fast that they came from memory.
    quick: u64,
    /// The sum of their latencies.
    waited_ns: u64,
    pub(super) elapsed_ns: u64,
}

impl Window {
    /// Adds answers with a common latency: they were requested one after the other.
    pub(super) fn add(&mut self, answers: u64, waited_ns: u64) {
        self.answers += answers;
        if waited_ns < FROM_MEMORY_NS * answers {
            self.quick += answers;
        }
        self.waited_ns += waited_ns * answers;
    }

    /// Answers per second.
    fn rate(&self) -> u64 {
        self.answers.saturating_mul(1_000_000_000) / self.elapsed_ns.max(1)
    }

    fn latency_ns(&self) -> u64 {
        self.waited_ns / self.answers.max(1)
    }
}

/// The state of the search. Pure: decisions depend only on its input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) limit: u32,
    most: u32,
    /// The number in flight while answers come from memory, and whether they do.
    cores: u32,
    pub(super) near: bool,
    /// Rate and latency at half the limit, while doubling is being tried.
    before: Option<(u64, u64)>,
    /// Windows until the next trial.
    rest: u32,
}

impl Search {
    pub(super) fn new(most: u32, cores: u32) -> Search {
        let cores = cores.clamp(1, most);
        Search { limit: FIRST.min(most), most, cores, near: false, before: None, rest: 0 }
    }

    /// Sets the least number in flight while answers come from memory.
    pub(super) fn use_cores(&mut self, cores: u32) {
        self.cores = self.cores.max(cores);
    }

    /// Adds a window, and returns the new number in flight.
    pub(super) fn step(&mut self, window: &Window) -> u32 {
        // Nearly all answers must be fast to switch, since a thread that waits for a core seems slow; half of them to stay.
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
                // Saturated if the latency grew; otherwise more requests simply bring no more.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with `slots` requests in parallel, each a millisecond: the number found within this many windows, and the highest
    /// number tried.
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

    #[test]
    fn answers_are_counted_and_timed() {
        let mut window = Window::default();
        window.add(1, 1_000_000);
        window.add(4, 4 * (FROM_MEMORY_NS - 1));
        window.elapsed_ns = 1_000_000_000;
        assert_eq!((window.answers, window.quick, window.rate()), (5, 4, 5));
        assert_eq!(window.latency_ns(), (1_000_000 + 16 * (FROM_MEMORY_NS - 1)) / 5);
        assert_eq!(Window::default().latency_ns(), 0);
    }
}
