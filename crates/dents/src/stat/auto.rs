//! Choosing a strategy: a pure function of signals, tested as a table.

/// What is known when the choice is made.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// Entries that must be asked.
    pub entries: usize,
    /// Cores the process may use.
    pub cores: usize,
    /// The number of threads the user named, if any.
    pub fixed: Option<usize>,
    /// Requests in flight at most, where each is a round trip.
    pub in_flight: usize,
    /// How long one entry took, on average over the first [`PROBE`]; zero if too few to probe.
    pub latency_ns: u64,
}

impl Signals {
    /// The signals of a listing too short to probe.
    #[must_use]
    pub fn few(entries: usize) -> Signals {
        Signals { entries, cores: 1, fixed: None, in_flight: IN_FLIGHT, latency_ns: 0 }
    }
}

/// What will be done, and why, in words for `--timing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// The reason, as a phrase.
    pub reason: &'static str,
}

/// A strategy with its number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// On the calling thread.
    Classic,
    /// On this many threads.
    Par(usize),
    /// On up to this many threads, as many at once as turns out to pay (`flight.rs`).
    Flight(usize),
    /// Through a ring.
    Iou,
}

/// Below this many entries nothing is measured and one thread does it: starting a second one costs about as
/// much as 40 warm `statx`.
pub const PROBE_FROM: usize = 128;

/// Entries asked on one thread while the clock runs.
pub const PROBE: usize = 32;

/// Entries after which a look at the clock may end that: on the far side of a network, 32 in a row are half of the time.
pub const FIRST_LOOK: usize = 4;

/// A warm `statx` with its `listxattrat` takes 2 µs, a cold one on a local disk 20 to 100 µs, a round trip to
/// a server more than that.
pub(super) const ROUND_TRIP_NS: u64 = 100_000;

/// Requests in flight at most where each is a round trip, unless the user says otherwise. The search for the right
/// number begins far below.
pub const IN_FLIGHT: usize = 256;

/// Whether an answer that took so long was a round trip.
#[must_use]
pub fn is_round_trip(latency_ns: u64) -> bool {
    latency_ns >= ROUND_TRIP_NS
}

/// Chooses. io_uring is never chosen: the kernel hands each `statx` of a ring to a worker thread of its own
/// (io_uring/statx.c forces async), and our threads do the same for less.
#[must_use]
pub fn choose(signals: &Signals) -> Choice {
    let Signals { entries, cores, fixed, in_flight, latency_ns } = *signals;
    if entries < PROBE_FROM {
        return Choice { strategy: Strategy::Classic, reason: "few entries" };
    }
    if is_round_trip(latency_ns) {
        // Who names a number of threads has them.
        let strategy = fixed.map_or(Strategy::Flight(in_flight.min(entries)), Strategy::Par);
        return Choice { strategy, reason: "each answer is a round trip" };
    }
    if fixed.unwrap_or(cores) < 2 {
        return Choice { strategy: Strategy::Classic, reason: "one core" };
    }
    // A thread is worth its start from some hundred answers on.
    let threads = fixed.unwrap_or(cores.min(entries / 64)).max(1);
    Choice { strategy: Strategy::Par(threads), reason: "answers come from memory, on several cores" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let us = 1_000;
        #[rustfmt::skip]
        let table = [
            // entries, cores, fixed, latency, strategy
            (0,         2,  None,    0,          Strategy::Classic),
            (127,       64, None,    0,          Strategy::Classic),
            (128,       1,  None,    2 * us,     Strategy::Classic),
            (128,       2,  None,    2 * us,     Strategy::Par(2)),
            (128,       64, None,    2 * us,     Strategy::Par(2)),
            (1_000_000, 64, None,    2 * us,     Strategy::Par(64)),
            (1_000_000, 64, Some(3), 2 * us,     Strategy::Par(3)),
            (1_000_000, 64, Some(1), 2 * us,     Strategy::Classic),
            (10_000,    2,  None,    1_200 * us, Strategy::Flight(256)),
            (10_000,    1,  None,    1_200 * us, Strategy::Flight(256)),
            (10_000,    2,  Some(8), 1_200 * us, Strategy::Par(8)),
            (128,       2,  None,    1_200 * us, Strategy::Flight(128)),
        ];
        for (entries, cores, fixed, latency_ns, strategy) in table {
            let signals = Signals { entries, cores, fixed, in_flight: 256, latency_ns };
            assert_eq!(choose(&signals).strategy, strategy, "{signals:?}");
        }
    }
}
