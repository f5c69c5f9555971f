//! The rate and the deadline of a walk, and the reason of its end.
//!
//! A worker counts all its requests, and passes their number with each call of [`Bounds::may_ask`]. So requests that
//! follow another at once (the text of a link and the attributes after a `statx`, the steps of a long path) are paid
//! for before its next request.

use super::{End, Flag, Options};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use dents_engine::wait;
use dents_sys::clock;

/// State that all workers of a walk share.
pub(super) struct Bounds<'a> {
    cancel: Option<Flag<'a>>,
    deadline_ns: Option<u64>,
    /// Nanoseconds between two requests; 0 for no limit.
    interval_ns: u64,
    /// The earliest time of the next request.
    next_ns: AtomicU64,
    /// An [`End`]; [`End::Complete`] while the walk is running.
    end: AtomicU8,
}

/// Requests between two clock readings, while answers come fast: a reading costs a tenth of a microsecond.
const STRIDE: u32 = 16;
/// From this latency on, the clock is read at each request.
const SLOW_NS: u64 = 1_000_000;
/// A worker that waits for its turn checks for the end this often.
const NAP_NS: u64 = 20_000_000;

/// One worker's time and requests.
#[derive(Default)]
pub(super) struct Clock {
    left: u32,
    seen_ns: u64,
    /// Requests already counted by the rate.
    paid: u64,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(options: &Options<'a>) -> Self {
        Bounds {
            cancel: options.cancel.clone(),
            deadline_ns: options.deadline_ns,
            interval_ns: options.rate.map_or(0, |rate| 1_000_000_000 / u64::from(rate.get())),
            next_ns: AtomicU64::new(0),
            end: AtomicU8::new(End::Complete as u8),
        }
    }

    /// Call it before a request with the number of requests that the worker has made. Waits if the rate requires it,
    /// and returns whether to continue.
    #[inline]
    pub(super) fn may_ask(&self, clock: &mut Clock, made: u64) -> bool {
        let timed = self.deadline_ns.is_some() || self.interval_ns > 0;
        self.in_time(0) && (!timed || self.consult(clock, made))
    }

    #[cold]
    fn consult(&self, clock: &mut Clock, made: u64) -> bool {
        if self.interval_ns == 0 && clock.left > 0 {
            clock.left -= 1;
            return true;
        }
        let mut now = clock::monotonic_ns();
        clock.left = if now.saturating_sub(clock.seen_ns) < SLOW_NS { STRIDE } else { 0 };
        clock.seen_ns = now;
        let due = (made + 1).saturating_sub(clock.paid);
        clock.paid += due;
        if self.interval_ns > 0 && due > 0 {
            let turn = self.turn(now, due);
            while now < turn && self.in_time(now) {
                wait::sleep((turn - now).min(NAP_NS));
                now = clock::monotonic_ns();
            }
        }
        self.in_time(now)
    }

    /// The time for the last of `due` requests. Unused turns are not saved.
    fn turn(&self, now: u64, due: u64) -> u64 {
        let last = |next: u64| next.max(now).saturating_add((due - 1).saturating_mul(self.interval_ns));
        let after = |next: u64| Some(last(next).saturating_add(self.interval_ns));
        last(self.next_ns.fetch_update(Relaxed, Relaxed, after).unwrap_or(now))
    }

    #[inline]
    fn in_time(&self, now: u64) -> bool {
        if self.cancel.as_ref().is_some_and(Flag::is_set) {
            self.stop(End::Cancelled);
        } else if self.deadline_ns.is_some_and(|deadline| now >= deadline) {
            self.stop(End::Deadline);
        }
        !self.stopped()
    }

    /// Records the reason; the first one counts.
    pub(super) fn stop(&self, end: End) {
        let _ = self.end.compare_exchange(End::Complete as u8, end as u8, Relaxed, Relaxed);
    }

    pub(super) fn stopped(&self) -> bool {
        self.end.load(Relaxed) != End::Complete as u8
    }

    pub(super) fn end(&self) -> End {
        match self.end.load(Relaxed) {
            0 => End::Complete,
            1 => End::Stopped,
            2 => End::Cancelled,
            _ => End::Deadline,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;
    use core::sync::atomic::AtomicBool;

    #[test]
    fn requests_keep_their_distance() {
        let bounds = Bounds::new(&Options { rate: NonZeroU32::new(1000), ..Options::default() });
        let mut clock = Clock::default();
        let started = clock::monotonic_ns();
        assert!((0..21).all(|made| bounds.may_ask(&mut clock, made)));
        assert!(clock::monotonic_ns() - started >= 20_000_000, "20 intervals of a millisecond");
        // 30 requests were made at once after that, and are paid for now.
        assert!(bounds.may_ask(&mut clock, 51));
        assert!(clock::monotonic_ns() - started >= 51_000_000, "51 intervals");
        let asked_again = clock::monotonic_ns();
        assert!((0..100).all(|_| bounds.may_ask(&mut clock, 51)));
        assert!(clock::monotonic_ns() - asked_again < 1_000_000_000, "no request, no wait");
    }

    #[test]
    fn the_first_reason_counts() {
        let cancel = AtomicBool::new(false);
        let mut clock = Clock::default();
        let options =
            Options { cancel: Some(Flag::Borrowed(&cancel)), deadline_ns: Some(1), ..Options::default() };
        let bounds = Bounds::new(&options);
        assert!(!bounds.may_ask(&mut clock, 0) && bounds.stopped());
        cancel.store(true, Relaxed);
        assert!(!bounds.may_ask(&mut clock, 0));
        assert_eq!(bounds.end(), End::Deadline);
    }
}
