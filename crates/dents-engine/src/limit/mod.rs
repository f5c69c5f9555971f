//! Limits the tasks in flight: to a fixed number, or to one that a search finds.
//!
//! Listings, `-R`, trees and deadlines use the same type. [`policy`] is the table of file systems, [`choose`] decides between a
//! fixed number and a search, `search` is the search.
//!
//! A limit counts tasks only if it must. A fixed limit does not count: there are no more workers than tasks allowed. A counted
//! limit costs two atomic additions for each task. A searched limit also costs a lock and a clock reading; it is used where an
//! answer takes 100 µs or more, or where a deadline needs the clock anyway.

pub mod choose;
pub mod policy;
mod search;

pub use search::FIRST;

use crate::lock::Mutex;
use crate::sync::{AtomicBool, AtomicU32, Fault, Ordering, broken};
use search::{Search, Window};

/// This many slow answers of one worker in a row count as round trips. After a single one, the worker may just have lost its core.
const SLOW: u32 = 3;

/// Entries that a worker takes at a time where answers come from memory: at 2 µs for an answer it returns every 130 µs, so no
/// worker waits long for another at the end.
pub const CHUNK: usize = 64;

/// The most tasks in flight.
#[derive(Debug)]
pub struct Limit {
    /// The most, including stuck workers.
    most: u32,
    /// The most at a time, not counting stuck workers.
    cap: AtomicU32,
    counted: bool,
    /// The current number, not counting stuck workers.
    allowed: AtomicU32,
    stuck: AtomicU32,
    running: AtomicU32,
    /// Whether answers are known to be round trips, so that the search has begun.
    searching: AtomicBool,
    /// Whether answers came from memory later.
    near: AtomicBool,
    rate: Option<Mutex<Rate>>,
}

#[derive(Debug)]
struct Rate {
    search: Search,
    window: Window,
    since_ns: u64,
    /// Answers to requests made before the limit changed: they do not count.
    skip: u64,
    highest: u32,
}

/// Consecutive slow answers of one worker.
#[derive(Debug, Default)]
pub struct Streak(u32);

impl Limit {
    /// No limit beyond the number of workers: tasks are not counted.
    #[must_use]
    pub fn fixed() -> Limit {
        Limit::new(u32::MAX, u32::MAX, false)
    }

    /// A given number; up to `most` if workers are stuck.
    #[must_use]
    pub fn counted(allowed: usize, most: usize) -> Limit {
        let most = number(most);
        Limit::new(most, number(allowed).min(most), true)
    }

    /// The number that a search finds, up to `most`, and `cores` while answers come from memory. The search begins at `now_ns`.
    #[must_use]
    pub fn searched(most: usize, cores: usize, now_ns: u64) -> Limit {
        let limit = Limit::unknown(FIRST as usize, most, cores);
        limit.begin_search(now_ns);
        limit
    }

    /// All workers, until [`Limit::search`] lowers it.
    #[must_use]
    pub fn open() -> Limit {
        Limit::unknown(usize::MAX, usize::MAX, 1)
    }

    /// Begins a search, like [`Limit::searched`]. No answer may have been noted before.
    pub fn search(&self, most: usize, cores: usize, now_ns: u64) {
        if let Some(rate) = &self.rate {
            let search = Search::new(number(most), number(cores));
            self.allowed.store(search.limit, Ordering::Relaxed);
            rate.lock().search = search;
        }
        self.begin_search(now_ns);
    }

    /// `begin` tasks until a worker has three slow answers in a row; then a search.
    #[must_use]
    pub fn unknown(begin: usize, most: usize, cores: usize) -> Limit {
        let most = number(most);
        let search = Search::new(most, number(cores));
        let rate = Rate { search, window: Window::default(), since_ns: 0, skip: 0, highest: 0 };
        Limit { rate: Some(Mutex::new(rate)), ..Limit::new(most, number(begin).min(most), true) }
    }

    fn new(most: u32, allowed: u32, counted: bool) -> Limit {
        Limit {
            most,
            cap: AtomicU32::new(u32::MAX),
            counted,
            allowed: AtomicU32::new(allowed),
            stuck: AtomicU32::new(0),
            running: AtomicU32::new(0),
            searching: AtomicBool::new(false),
            near: AtomicBool::new(false),
            rate: None,
        }
    }

    /// From now on at most this many tasks are in flight, without stuck workers: the limit of a file system's policy.
    /// With several file systems the smallest limit applies.
    pub fn cap(&self, most: usize) {
        self.cap.fetch_min(number(most), Ordering::Relaxed);
    }

    fn begin_search(&self, now_ns: u64) {
        if let Some(rate) = &self.rate {
            let mut rate = rate.lock();
            rate.since_ns = now_ns;
            rate.highest = rate.highest.max(rate.search.limit);
            self.allowed.fetch_max(rate.search.limit, Ordering::Relaxed);
        }
        self.searching.store(true, Ordering::Relaxed);
    }

    /// Tasks that may be in flight now. Each stuck worker allows two more: if many are stuck, replacements get stuck too, and the
    /// number must grow by more than one at a time.
    #[must_use]
    pub fn allowed(&self) -> u32 {
        let stuck = self.stuck.load(Ordering::Relaxed);
        let allowed = self.allowed.load(Ordering::Relaxed).min(self.cap.load(Ordering::Relaxed));
        allowed.saturating_add(2 * stuck).min(self.most)
    }

    /// Counts one more task in flight. Returns false if there is no room.
    pub(crate) fn enter(&self) -> bool {
        if !self.counted {
            return true;
        }
        let one_more = |running| (running < self.allowed()).then_some(running + 1);
        self.running.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok()
    }

    /// Counts one more task in flight, even without room: its worker leaves after this task.
    pub(crate) fn enter_anyway(&self) {
        if self.counted {
            self.running.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Counts one task less.
    pub(crate) fn leave(&self) {
        if self.counted && !broken(Fault::LeaveUncounted) {
            self.running.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Whether a worker may take another task.
    #[inline]
    pub(crate) fn may_stay(&self) -> bool {
        !self.counted || self.running.load(Ordering::Relaxed) <= self.allowed()
    }

    /// How many more tasks may be in flight now.
    pub(crate) fn room(&self) -> usize {
        if !self.counted {
            return usize::MAX;
        }
        self.allowed().saturating_sub(self.running()) as usize
    }

    /// Workers in flight now, if they are counted.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    /// The greatest possible number.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most as usize
    }

    /// The greatest number that the search tried.
    #[must_use]
    pub fn highest(&self) -> u32 {
        self.rate.as_ref().map_or(0, |rate| rate.lock().highest)
    }

    /// Whether [`Limit::answered`] has an effect.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.rate.is_some()
    }

    /// Whether answers are round trips.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.searching.load(Ordering::Relaxed) && !self.near.load(Ordering::Relaxed)
    }

    /// Entries that a worker takes at a time during a search.
    #[must_use]
    pub fn step(&self) -> usize {
        if self.near.load(Ordering::Relaxed) { CHUNK } else { 1 }
    }

    /// Adds answers of one worker, the first of which was requested at `began_ns`. Returns how many more tasks may be in flight.
    pub fn answered(&self, answers: usize, began_ns: u64, now_ns: u64, streak: &mut Streak) -> usize {
        let Some(rate) = &self.rate else { return 0 };
        let waited_ns = now_ns.saturating_sub(began_ns);
        if !self.searching.load(Ordering::Relaxed) {
            let is_slow = choose::is_round_trip(waited_ns / answers.max(1) as u64);
            streak.0 = if is_slow { streak.0 + answers as u32 } else { 0 };
            if streak.0 < SLOW {
                return 0;
            }
            let before = self.allowed();
            self.begin_search(now_ns);
            return self.allowed().saturating_sub(before) as usize;
        }
        let mut rate = rate.lock();
        let old = rate.search.limit;
        let new = rate.answered(answers as u64, waited_ns, now_ns);
        if new != old {
            self.allowed.store(new, Ordering::Relaxed);
        }
        self.near.store(rate.search.near, Ordering::Relaxed);
        new.saturating_sub(old) as usize
    }

    /// Raises the limit to the number of cores, unless the user set a number: answers come fast, and cores are free. Returns the
    /// increase.
    pub fn raise(&self, cores: impl FnOnce() -> usize) -> usize {
        let Some(rate) = &self.rate else { return 0 };
        let allowed = number(cores()).min(self.most);
        rate.lock().search.use_cores(allowed);
        allowed.saturating_sub(self.allowed.fetch_max(allowed, Ordering::Relaxed)) as usize
    }

    /// Sets the number of stuck workers, from the watchdog.
    pub fn set_stuck(&self, stuck: u32) {
        self.stuck.store(stuck, Ordering::Relaxed);
    }
}

impl Rate {
    /// Adds answers; returns the new limit.
    fn answered(&mut self, answers: u64, waited_ns: u64, now_ns: u64) -> u32 {
        let old = self.search.limit;
        if self.skip > 0 {
            self.skip = self.skip.saturating_sub(answers);
            self.since_ns = now_ns;
            return old;
        }
        self.window.add(answers, waited_ns);
        // Two rounds of all requests in flight.
        if self.window.answers < 2 * u64::from(old) {
            return old;
        }
        // Another worker may have read a later time before it got the lock.
        self.window.elapsed_ns = now_ns.saturating_sub(self.since_ns);
        let new = self.search.step(&core::mem::take(&mut self.window));
        self.highest = self.highest.max(new);
        self.since_ns = now_ns;
        self.skip = if new == old { 0 } else { u64::from(old) };
        new
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Answers of a server that each take a millisecond, all in flight at once, one after the other noted.
    fn round(limit: &Limit, now_ns: &mut u64) -> usize {
        let mut streak = Streak::default();
        let running = limit.allowed() as usize;
        *now_ns += MS;
        (0..running).map(|_| limit.answered(1, *now_ns - MS, *now_ns, &mut streak)).sum()
    }

    #[test]
    fn a_fixed_limit_counts_nothing() {
        let limit = Limit::fixed();
        assert!((0..1000).all(|_| limit.enter()) && limit.may_stay());
        limit.enter_anyway();
        assert_eq!((limit.running(), limit.step(), limit.is_far(), limit.highest()), (0, 1, false, 0));
        assert_eq!(limit.answered(1, 0, 10 * MS, &mut Streak::default()), 0);
    }

    #[test]
    fn a_counted_limit_is_kept() {
        let limit = Limit::counted(2, 8);
        assert_eq!((limit.enter(), limit.enter(), limit.enter()), (true, true, false));
        assert_eq!((limit.running(), limit.most(), limit.may_stay(), limit.room()), (2, 8, true, 0));
        limit.leave();
        assert!(limit.enter() && !limit.enter());
        limit.enter_anyway();
        assert_eq!((limit.running(), limit.may_stay()), (3, false));
        limit.leave();
        limit.set_stuck(1);
        assert_eq!(limit.allowed(), 4, "two more for one that is stuck");
        assert!(limit.enter() && limit.enter() && !limit.enter());
        limit.set_stuck(0);
        assert!(!limit.may_stay(), "one of the four must leave");
        limit.set_stuck(100);
        assert_eq!(limit.allowed(), 8, "never more than the most");
        assert_eq!(Limit::counted(9, 4).allowed(), 4);
    }

    #[test]
    fn it_is_found_out_whether_answers_are_round_trips() {
        let (limit, mut streak) = (Limit::unknown(2, 256, 2), Streak::default());
        assert_eq!((limit.allowed(), limit.is_far()), (2, false));
        assert_eq!(limit.answered(64, 0, 64 * 2_000, &mut streak), 0, "from memory");
        assert_eq!(limit.answered(1, 0, MS, &mut streak), 0);
        assert_eq!(limit.answered(1, 0, 2_000, &mut streak), 0, "one alone lost its core");
        assert_eq!(limit.answered(1, 0, MS, &mut streak), 0);
        assert_eq!(limit.answered(1, 0, MS, &mut streak), 0);
        assert_eq!(limit.answered(1, 0, MS, &mut streak), 30, "from 2 to 32");
        assert_eq!((limit.allowed(), limit.is_far(), limit.highest()), (32, true, 32));
    }

    #[test]
    fn the_search_moves_the_limit() {
        let (limit, mut now) = (Limit::searched(256, 2, MS), MS);
        assert_eq!((limit.allowed(), limit.is_far(), limit.step()), (32, true, 1));
        assert_eq!(round(&limit, &mut now), 0, "half a window");
        assert_eq!(round(&limit, &mut now), 32, "doubled");
        assert_eq!(limit.allowed(), 64);
        for _ in 0..20 {
            round(&limit, &mut now);
        }
        assert_eq!((limit.allowed(), limit.highest()), (256, 256));
        let mut streak = Streak::default();
        for _ in 0..1024 {
            limit.answered(1, now, now + 2_000, &mut streak);
        }
        assert_eq!((limit.allowed(), limit.is_far(), limit.step()), (2, false, CHUNK), "from memory");
        assert_eq!(limit.highest(), 256);
    }

    #[test]
    fn a_search_narrows_an_open_limit() {
        let (limit, mut now) = (Limit::open(), MS);
        assert!((0..1000).all(|_| limit.enter()) && limit.may_stay() && !limit.is_far());
        (0..1000).for_each(|_| limit.leave());
        limit.search(48, 2, now);
        assert_eq!((limit.allowed(), limit.is_far(), limit.highest()), (32, true, 32));
        assert_eq!((round(&limit, &mut now), round(&limit, &mut now)), (0, 16));
        assert_eq!(limit.allowed(), 48);
    }

    #[test]
    fn a_search_never_exceeds_its_most() {
        let limit = Limit::searched(8, 64, 0);
        assert_eq!(limit.allowed(), 8);
        assert_eq!(limit.raise(|| 100), 0);
        let limit = Limit::unknown(2, 8, 1);
        assert_eq!((limit.raise(|| 4), limit.raise(|| 3), limit.allowed()), (2, 0, 4));
        let limit = Limit::counted(2, 8);
        assert_eq!((limit.raise(|| 4), limit.allowed()), (0, 2), "the number was named");
    }

    #[test]
    fn a_cap_holds_for_workers_that_are_not_stuck() {
        let limit = Limit::unknown(2, 8, 4);
        limit.cap(1);
        limit.cap(5);
        assert_eq!((limit.allowed(), limit.enter(), limit.enter()), (1, true, false));
        limit.raise(|| 4);
        limit.begin_search(0);
        assert_eq!(limit.allowed(), 1);
        limit.set_stuck(1);
        assert_eq!(limit.allowed(), 3);
    }

    #[test]
    fn cores_that_become_known_later_are_used() {
        let (limit, mut streak) = (Limit::unknown(2, 256, 1), Streak::default());
        limit.raise(|| 4);
        limit.begin_search(0);
        (0..64).for_each(|_| {
            limit.answered(1, 0, 2_000, &mut streak);
        });
        assert_eq!((limit.allowed(), limit.is_far()), (4, false), "answers come from memory");
    }
}
