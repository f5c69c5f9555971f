//! Detects workers that are stuck in the kernel, and shows the file that each waits for.
//!
//! A worker marks its seat when a request begins and ends. The watchdog thread looks at the seats every few milliseconds; the
//! seat of a stuck worker does not change. So a worker reads no clock for the watchdog: marking costs 10 ns for each entry, and
//! nothing without a watchdog.

use crate::lock::Plain as Mutex;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use dents_sys::sched;

/// Seats of a [`Watch`]: the lister's, and those of 256 workers and as many replacements. Further workers have no seat.
pub const SEATS: usize = 513;

/// How often a watchdog looks at a listing.
pub const LOOK_NS: u64 = 30_000_000;

/// Shown at a seat while names are read.
pub const READING: &[u8] = b"the names themselves";

/// Most replacements of a listing at a time, including stuck ones.
const MOST_REPLACEMENTS: u32 = 256;

/// Bytes of a name that a seat keeps.
const KEPT: usize = 63;

/// A worker's state as the watchdog sees it.
#[derive(Debug, Default)]
pub struct Seat {
    /// Odd while a request is in flight. Changes when a request begins and when it ends.
    turn: AtomicU32,
    /// The worker's thread id, set by [`Seat::take`]. Without it the worker is never considered stuck.
    thread: AtomicU32,
}

impl Seat {
    /// A free seat.
    #[must_use]
    pub const fn new() -> Seat {
        Seat { turn: AtomicU32::new(0), thread: AtomicU32::new(0) }
    }

    /// The calling thread takes the seat: one system call.
    pub fn take(&self) {
        self.thread.store(sched::thread_id(), Ordering::Relaxed);
    }

    /// A request begins, possibly directly after another.
    pub fn begin(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn.wrapping_add(1 + (turn & 1)), Ordering::Release);
    }

    /// The request ended.
    pub fn end(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn.wrapping_add(turn & 1), Ordering::Release);
    }

    /// The request in flight. The same number means the same request.
    fn request(&self) -> Option<u32> {
        Some(self.turn.load(Ordering::Acquire)).filter(|turn| turn & 1 == 1)
    }
}

/// The watchdog's memory of earlier looks.
#[derive(Debug)]
pub struct Watchdog {
    /// For each seat: the request, and the number of looks that saw it.
    seen: Vec<(u32, u32)>,
    /// Looks after which a request counts as stuck.
    looks: u32,
}

impl Watchdog {
    /// A worker is stuck once `looks` looks after the first saw the same request in flight.
    #[must_use]
    pub fn new(looks: u32) -> Watchdog {
        Watchdog { seen: Vec::new(), looks: looks.max(1) }
    }

    /// How many workers are stuck. A thread that waits for a core is not stuck: more threads would only delay it.
    ///
    /// Costs three system calls for each worker that seems stuck, once.
    pub fn look<'s>(&mut self, seats: impl Iterator<Item = &'s Seat>) -> u32 {
        self.look_by(seats, sched::is_runnable)
    }

    fn look_by<'s>(
        &mut self,
        seats: impl Iterator<Item = &'s Seat>,
        is_runnable: impl Fn(u32) -> bool,
    ) -> u32 {
        let mut stuck = 0;
        for (number, seat) in seats.enumerate() {
            if self.seen.len() <= number {
                self.seen.push((0, 0));
            }
            let (last, same) = &mut self.seen[number];
            let thread = seat.thread.load(Ordering::Relaxed);
            let Some(request) = seat.request().filter(|_| thread != 0) else {
                *same = 0;
                continue;
            };
            *same = if request == *last { same.saturating_add(1) } else { 0 };
            *last = request;
            if *same == self.looks && is_runnable(thread) {
                *same -= 1;
            }
            stuck += u32::from(*same >= self.looks);
        }
        stuck
    }
}

/// Seats with names, and counters, for the progress line and the watchdog of a listing. Its initial value is all
/// zero, so an unused static costs nothing.
pub struct Watch {
    read: AtomicU64,
    answered: AtomicU64,
    /// Entries that were asked about again, and the nanoseconds that it took.
    again: [AtomicU64; 2],
    /// Replacements that are wanted even if no worker is stuck.
    wanted: AtomicU32,
    seats: [Named; SEATS],
}

struct Named {
    seat: Seat,
    name: Mutex<Name>,
}

impl Named {
    const fn new() -> Named {
        Named { seat: Seat::new(), name: Mutex::new(Name { len: 0, bytes: [0; KEPT] }) }
    }
}

#[derive(Clone, Copy)]
struct Name {
    len: u8,
    bytes: [u8; KEPT],
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub struct RequestInFlight {
    /// Identifies the request.
    pub turn: u32,
    name: [u8; KEPT],
    len: u8,
}

impl RequestInFlight {
    /// The beginning of the name of its file.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.len)]
    }
}

impl Watch {
    /// No request is in flight.
    #[must_use]
    pub const fn new() -> Watch {
        Watch {
            read: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            again: [const { AtomicU64::new(0) }; 2],
            wanted: AtomicU32::new(0),
            seats: [const { Named::new() }; SEATS],
        }
    }

    /// Counts names that were read.
    pub fn add_read(&self, count: usize) {
        self.read.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts entries that were answered to a worker without a seat.
    pub fn add_answered(&self, count: usize) {
        self.answered.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Entries that were answered are asked about again, for other facts: they count once, when these are known.
    pub fn ask_again(&self, count: usize) {
        self.answered.fetch_sub(count as u64, Ordering::Relaxed);
    }

    /// The second answers about so many entries took so long.
    pub fn asked_again(&self, count: usize, took_ns: u64) {
        self.again[0].fetch_add(count as u64, Ordering::Relaxed);
        self.again[1].fetch_add(took_ns, Ordering::Relaxed);
    }

    /// The number of second answers, and the nanoseconds that they took.
    #[must_use]
    pub fn again(&self) -> (u64, u64) {
        (self.again[0].load(Ordering::Relaxed), self.again[1].load(Ordering::Relaxed))
    }

    /// Requests this many replacements, even if no worker is stuck.
    pub fn want(&self, replacements: u32) {
        self.wanted.store(replacements, Ordering::Relaxed);
    }

    /// The calling thread takes a seat, and may be replaced from now on: one system call.
    pub fn take(&self, seat: usize) {
        self.seats.get(seat).into_iter().for_each(|named| named.seat.take());
    }

    /// A request about this file begins. Seat 0 is the lister's.
    pub fn begin(&self, seat: usize, name: &[u8]) {
        let Some(named) = self.seats.get(seat) else { return };
        let len = name.len().min(KEPT);
        let mut kept = named.name.lock();
        kept.len = len as u8;
        kept.bytes[..len].copy_from_slice(&name[..len]);
        drop(kept);
        named.seat.begin();
    }

    /// The request ended, and answered this many entries.
    pub fn end(&self, seat: usize, answered: u64) {
        self.answered.fetch_add(answered, Ordering::Relaxed);
        self.seats.get(seat).into_iter().for_each(|named| named.seat.end());
    }

    /// The number of names read, and of entries answered.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.answered.load(Ordering::Relaxed))
    }

    /// The request in flight at a seat.
    #[must_use]
    pub fn request(&self, seat: usize) -> Option<RequestInFlight> {
        let named = self.seats.get(seat)?;
        let turn = named.seat.request()?;
        let name = *named.name.lock();
        Some(RequestInFlight { turn, name: name.bytes, len: name.len })
    }

    /// How many replacements there should be, for a watchdog that looks every [`LOOK_NS`]: two for each stuck worker or stuck
    /// replacement. So if many workers are stuck, the number of others grows by more than one at a time.
    pub fn replacements(&self, watchdog: &mut Watchdog) -> u32 {
        self.replacements_by(watchdog, sched::is_runnable)
    }

    /// The loop of a watchdog thread: reports at each look how many replacements there should be.
    #[cfg(not(feature = "model"))]
    pub fn guard(&self, replace: impl Fn(u32)) -> ! {
        let mut watchdog = Watchdog::new(1);
        loop {
            crate::wait::sleep(LOOK_NS);
            replace(self.replacements(&mut watchdog));
        }
    }

    fn replacements_by(&self, watchdog: &mut Watchdog, is_runnable: impl Fn(u32) -> bool) -> u32 {
        // Not the lister's seat: only the lister opens and reads its directory.
        let seats = self.seats.iter().skip(1).map(|named| &named.seat);
        let stuck = watchdog.look_by(seats, is_runnable);
        (2 * stuck + self.wanted.load(Ordering::Relaxed)).min(MOST_REPLACEMENTS)
    }
}

impl Default for Watch {
    fn default() -> Watch {
        Watch::new()
    }
}

impl core::fmt::Debug for Watch {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Watch{:?}", self.counts())
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::boxed::Box;

    #[test]
    fn a_question_is_seen_until_it_is_answered() {
        let watch = Box::new(Watch::new());
        assert!(watch.request(3).is_none());
        watch.begin(3, b"slow");
        let seen = watch.request(3).unwrap();
        assert_eq!((seen.name(), seen.turn), (&b"slow"[..], 1));
        watch.end(3, 1);
        assert!(watch.request(3).is_none());
        watch.begin(3, &[b'x'; 300]);
        assert_eq!((watch.request(3).unwrap().name().len(), watch.request(3).unwrap().turn), (KEPT, 3));
        watch.begin(3, b"the next");
        assert_eq!(watch.request(3).unwrap().turn, 5, "one may follow the other directly");
        watch.begin(SEATS, b"not seen");
        watch.end(SEATS, 1);
        watch.add_answered(2);
        watch.add_read(7);
        assert_eq!(watch.counts(), (7, 4));
        assert_eq!(std::format!("{watch:?}"), "Watch(7, 4)");
    }

    #[test]
    fn two_replacements_for_each_stuck_worker() {
        let (watch, mut watchdog) = (Box::new(Watch::new()), Watchdog::new(1));
        let mut look = || watch.replacements_by(&mut watchdog, |_| false);
        watch.begin(0, b"reading");
        assert_eq!((look(), look()), (0, 0), "the lister's own");
        watch.begin(3, b"elsewhere");
        assert_eq!((look(), look()), (0, 0), "a seat that was not taken");
        (1..SEATS).for_each(|seat| watch.take(seat));
        watch.begin(3, b"slow");
        assert_eq!((look(), look()), (0, 2), "seen twice");
        watch.end(3, 1);
        watch.begin(3, b"next");
        watch.begin(4, b"stuck");
        assert_eq!((look(), look()), (0, 4));
        watch.end(3, 1);
        watch.want(32);
        assert_eq!(look(), 34);
        (5..SEATS).for_each(|seat| watch.begin(seat, b"stuck"));
        assert_eq!((look(), look()), (34, MOST_REPLACEMENTS));
    }

    #[test]
    fn a_thread_that_sleeps_in_the_kernel_is_stuck() {
        let (watch, mut watchdog) = (Box::new(Watch::new()), Watchdog::new(1));
        let (release, stuck) = std::sync::mpsc::channel::<()>();
        let watch = &*watch;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                watch.take(1);
                watch.begin(1, b"slow");
                let _ = stuck.recv();
                watch.end(1, 1);
            });
            while watch.replacements(&mut watchdog) == 0 {
                std::thread::yield_now();
            }
            assert_eq!(watch.replacements(&mut watchdog), 2);
            drop(release);
        });
        assert_eq!(watch.replacements(&mut watchdog), 0);
    }

    #[test]
    fn a_thread_that_waits_for_a_core_is_not_stuck() {
        let (seats, mut watchdog) = ([Seat::new(), Seat::new()], Watchdog::new(3));
        seats.iter().for_each(Seat::take);
        seats[1].begin();
        let mut look = |runnable: bool| watchdog.look_by(seats.iter(), |_| runnable);
        assert_eq!((look(true), look(true), look(true), look(true)), (0, 0, 0, 0));
        assert_eq!(look(false), 1, "now it sleeps in the kernel");
        assert_eq!(look(true), 1, "what was found out is not asked again");
        seats[1].end();
        assert_eq!(look(false), 0);
        seats[1].begin();
        assert_eq!((look(false), look(false), look(false), look(false)), (0, 0, 0, 1), "another request");
    }

    #[test]
    fn a_request_ends_once() {
        let seat = Seat::new();
        seat.end();
        assert_eq!(seat.request(), None, "none began");
        seat.begin();
        assert!(seat.request().is_some());
        (0..2).for_each(|_| seat.end());
        assert_eq!(seat.request(), None);
    }
}
