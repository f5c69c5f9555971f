//! Chooses a strategy: a pure function of signals, tested with a table.

use super::policy::{Far, Policy};

/// The facts that a choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// Entries that need a request.
    pub entries: usize,
    /// Cores the process may use.
    pub cores: usize,
    /// The number of threads that the user set.
    pub fixed: Option<usize>,
    /// Most requests in flight, if each is a round trip.
    pub in_flight: usize,
    /// Average time for an entry since the previous look at the clock ([`Policy::looks`]); zero if too few entries were probed.
    pub latency_ns: u64,
    /// The policy of the file system.
    pub policy: &'static Policy,
}

impl Signals {
    /// The signals of a listing too short to probe.
    #[must_use]
    pub fn few(entries: usize) -> Signals {
        Signals {
            entries,
            cores: 1,
            fixed: None,
            in_flight: IN_FLIGHT,
            latency_ns: 0,
            policy: Policy::of(None),
        }
    }
}

/// A strategy and its reason, in words for `--timing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// The reason, as a phrase.
    pub reason: &'static str,
}

/// The choice where the whole directory was read and asked about in turns.
pub const ALTERNATED: Choice = Choice {
    strategy: Strategy::Classic,
    reason: "attributes come with names, if one thread asks between its reads",
};

/// A strategy with its number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The calling thread alone.
    Classic,
    /// On this many threads.
    Par(usize),
    /// Up to this many threads; `search.rs` finds the number that pays off.
    Flight(usize),
    /// io_uring.
    Iou,
}

/// Below this many entries there is no probe and a single thread: starting a second one costs about as much as 40 warm `statx`.
pub const PROBE_FROM: usize = 128;

/// From this latency on an answer is a round trip. A warm `statx` with its `listxattrat` takes 2 µs, a cold one on a local disk
/// 20 to 100 µs, a round trip to a server more.
const ROUND_TRIP_NS: u64 = 100_000;

/// A faster answer came from memory: even the fastest disk takes longer.
pub const FROM_MEMORY_NS: u64 = 10_000;

/// Default for the most requests in flight, if each is a round trip. The search begins far below it.
pub const IN_FLIGHT: usize = 256;

/// Whether an answer with this latency was a round trip.
#[must_use]
pub fn is_round_trip(latency_ns: u64) -> bool {
    latency_ns >= ROUND_TRIP_NS
}

/// The latency of one of `entries`, without the time that any system call takes. Under a tracer, or in a sandbox, that time is as
/// long as a round trip. Three calls are subtracted: two for an entry, and a clock reading.
#[must_use]
pub fn latency_ns(elapsed_ns: u64, entries: usize, any_call_ns: u64) -> u64 {
    (elapsed_ns / entries.max(1) as u64).saturating_sub(3 * any_call_ns)
}

/// A rotating disk takes longer for a directory: until its block is under the head, half a turn takes 4 ms on average at 7,200 turns per minute, 2 ms
/// at 15,000. A network disk takes 1 ms, an SSD 0.1 ms.
const TURN_NS: u64 = 2_000_000;

/// From this latency on a file system is remote.
const FAR_NS: u64 = 2_000_000;

/// The number of workers for a tree with this median latency. Each has one request in flight: one worker for each core where
/// answers come from memory, many where they are round trips, and never more than the policy allows.
///
/// Measured on a file system that takes 20 ms for each request, 5,000 directories of 5 files: 256 workers walk it in 3.0 s,
/// GNU `find` in 1,023 s.
#[must_use]
pub fn workers(cores: usize, latency_ns: u64, policy: &Policy) -> usize {
    match latency_ns {
        FAR_NS.. => cores.max(IN_FLIGHT).min(policy.most),
        ROUND_TRIP_NS.. => cores.max(64).min(policy.most),
        _ => policy.cores(cores).max(1),
    }
}

/// Whether a tree with these times may be on a rotating disk, if the kernel says that the disk rotates. It says so of many virtual disks,
/// too, but only a rotating one makes both an entry and a directory take that long.
///
/// On such a disk one worker reads the directories in the order of their inodes: `docs/DISK.md` has the figures.
#[must_use]
pub fn may_rotate(latency_ns: u64, directory_ns: u64, policy: &Policy) -> bool {
    policy.far == Far::No && is_round_trip(latency_ns) && directory_ns >= TURN_NS
}

/// Chooses a strategy. Never io_uring: the kernel hands each `statx` of a ring to a worker thread (io_uring/statx.c forces
/// async). Our threads do the same in less time from memory, and in the same time on a remote file system with as many requests
/// in flight (see the table in dents-core/src/stat/iou.rs); they also search for the best number.
#[must_use]
pub fn choose(signals: &Signals) -> Choice {
    let Signals { entries, cores, fixed, in_flight, latency_ns, policy } = *signals;
    let cores = policy.cores(cores);
    if entries < PROBE_FROM {
        return Choice { strategy: Strategy::Classic, reason: "few entries" };
    }
    if is_round_trip(latency_ns) {
        // A number set by the user is used.
        let most = in_flight.min(policy.most).min(entries);
        let strategy = fixed.map_or(Strategy::Flight(most), Strategy::Par);
        return Choice { strategy, reason: "each answer is a round trip" };
    }
    if policy.far == Far::AskedAhead && fixed.is_none() {
        return Choice { strategy: Strategy::Classic, reason: "the client asks ahead for one in this order" };
    }
    if fixed.unwrap_or(cores) < 2 {
        return Choice { strategy: Strategy::Classic, reason: "one core" };
    }
    // Starting a thread pays off from some hundred answers on.
    let threads = fixed.unwrap_or(cores.min(entries / 64)).max(1);
    Choice { strategy: Strategy::Par(threads), reason: "answers come from memory, on several cores" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_sys::statfs::FsType;

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
            for fs in [None, Some(FsType::NFS), Some(FsType::FUSE)] {
                let policy = Policy::of(fs);
                let signals = Signals { entries, cores, fixed, in_flight: 256, latency_ns, policy };
                assert_eq!(choose(&signals).strategy, strategy, "{signals:?}");
            }
        }
    }

    #[test]
    fn workers_of_a_tree() {
        let us = 1_000;
        let one = Policy { most: 1, ..*Policy::of(None) };
        let (unknown, fuse) = (Policy::of(None), Policy::of(Some(FsType::FUSE)));
        let (ext4, lustre) = (Policy::of(Some(FsType::EXT)), Policy::of(Some(FsType::LUSTRE)));
        #[rustfmt::skip]
        let table = [
            // cores, latency, policy, workers
            (0,   2 * us,      unknown, 1),
            (1,   2 * us,      unknown, 1),
            (2,   2 * us,      fuse,    2),
            (2,   99 * us,     unknown, 2),
            (2,   100 * us,    unknown, 64),
            (128, 100 * us,    unknown, 128),
            (2,   1_999 * us,  fuse,    64),
            (2,   2_000 * us,  fuse,    256),
            (2,   20_000 * us, fuse,    256),
            (2,   100 * us,    ext4,    32),
            (128, 2 * us,      ext4,    128),
            (2,   20_000 * us, lustre,  64),
            (2,   20_000 * us, &one,    1),
            (2,   2 * us,      &one,    1),
        ];
        for (cores, latency_ns, policy, count) in table {
            assert_eq!(
                workers(cores, latency_ns, policy),
                count,
                "{cores} cores, {latency_ns} ns, {policy:?}"
            );
        }
    }

    #[test]
    fn only_slow_entries_of_slow_directories_may_rotate() {
        let (us, ms) = (1_000, 1_000_000);
        #[rustfmt::skip]
        let table = [
            // file system, an entry, a directory, may rotate
            (FsType::EXT, 600 * us, 9 * ms,   true),   // a rotating disk
            (FsType::XFS, 100 * us, 2 * ms,   true),
            (FsType::EXT, 2 * us,   30 * us,  false),  // memory
            (FsType::EXT, 2 * us,   9 * ms,   false),  // memory, 4,000 entries
            (FsType::EXT, 40 * us,  160 * ms, false),  // an SSD, 4,000 entries
            (FsType::EXT, 150 * us, ms,       false),  // a network disk
            (FsType::NFS, 600 * us, 9 * ms,   false),
        ];
        for (fs, latency_ns, directory_ns, expected) in table {
            let policy = Policy::of(Some(fs));
            assert_eq!(
                may_rotate(latency_ns, directory_ns, policy),
                expected,
                "{fs:?} {latency_ns} {directory_ns}"
            );
        }
    }

    #[test]
    fn a_tracer_is_no_server() {
        let us = 1_000;
        assert!(!is_round_trip(latency_ns(4 * 210 * us, 4, 90 * us)), "strace: each call takes 90 µs");
        assert!(is_round_trip(latency_ns(4 * 1_200 * us, 4, us / 5)));
        assert!(is_round_trip(latency_ns(4 * 1_500 * us, 4, 90 * us)), "a server, traced");
    }

    #[test]
    fn what_the_file_system_has_to_say() {
        let (us, classic) = (1_000, Strategy::Classic);
        #[rustfmt::skip]
        let table = [
            // file system, fixed, latency, strategy
            (FsType::LUSTRE, None,    20 * us,    classic),
            (FsType::LUSTRE, Some(8), 20 * us,    Strategy::Par(8)),
            (FsType::LUSTRE, None,    800 * us,   Strategy::Flight(64)),
            (FsType::CIFS,   None,    800 * us,   Strategy::Flight(128)),
            (FsType::CIFS,   Some(9), 800 * us,   Strategy::Par(9)),
            (FsType::CEPH,   None,    2 * us,     Strategy::Par(2)),
            (FsType::V9FS,   None,    100 * us,   Strategy::Flight(64)),
            (FsType::EXT,    None,    2 * us,     Strategy::Par(2)),
            (FsType::EXT,    None,    300 * us,   Strategy::Flight(32)),
        ];
        for (fs, fixed, latency_ns, strategy) in table {
            let policy = Policy::of(Some(fs));
            let signals = Signals { entries: 10_000, cores: 2, fixed, in_flight: 256, latency_ns, policy };
            assert_eq!(choose(&signals).strategy, strategy, "{signals:?}");
        }
    }

    #[test]
    fn one_at_a_time_is_one_at_a_time() {
        let policy: &'static Policy =
            std::boxed::Box::leak(std::boxed::Box::new(Policy { most: 1, ..*Policy::of(None) }));
        for (latency_ns, strategy) in [(2_000, Strategy::Classic), (1_200_000, Strategy::Flight(1))] {
            let signals =
                Signals { entries: 10_000, cores: 8, fixed: None, in_flight: 256, latency_ns, policy };
            assert_eq!(choose(&signals).strategy, strategy);
        }
    }
}
