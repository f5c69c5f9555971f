//! The agent: a head that does nothing that could hang, and threads that do everything else.
//!
//! How many ask at once is found as without a deadline (`flight.rs`), but what hangs does not count: a thread that
//! has waited in the kernel for [`STUCK_NS`] is replaced by others, up to the most that may be in flight. The head looks after
//! that every [`TICK_NS`], while anybody is at work, and starts the threads; they cannot all be started at once, for
//! most listings need one or two.

use super::Board;
use super::job::Job;
use crate::lock::Mutex;
use crate::stat::choose::is_round_trip;
use crate::stat::flight::{FIRST, Search, Window};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use dents_sys::{clock, futex, sched};

/// One that has waited so long is not counted on any more.
const STUCK_NS: u64 = 50_000_000;

/// How often the head looks for such ones.
const TICK_NS: u64 = 10_000_000;

/// So many slow answers in a row are round trips. One alone may have lost its core meanwhile.
const SLOW: u32 = 3;

/// In flight before anything is known: one reads, one asks.
const BEGIN: u32 = 2;

/// How many there are, and how many there should be.
pub(super) struct Crew {
    /// Never more threads than this.
    most: u32,
    /// Whether the number was named: then nothing is found out.
    fixed: bool,
    /// At work at a time, those that hang not counted.
    limit: AtomicU32,
    stuck: AtomicU32,
    running: AtomicU32,
    idle: AtomicU32,
    /// Threads that were started and have not begun.
    coming: AtomicU32,
    /// One for each thread there may be.
    seats: Vec<Seat>,
    /// Counts what may give the idle something to do.
    work: AtomicU32,
    /// Counts what the head should look at.
    alarm: AtomicU32,
    rate: Mutex<Rate>,
}

/// What a thread shows of itself.
#[derive(Default)]
struct Seat {
    /// When what it is doing began; 0 for nothing.
    began: AtomicU64,
    /// Its number, once it has one.
    thread: AtomicU32,
}

struct Rate {
    search: Search,
    window: Window,
    since_ns: u64,
    skip: u64,
}

impl Crew {
    pub(super) fn new(threads: Option<usize>, in_flight: usize) -> Crew {
        let most = in_flight.max(threads.unwrap_or(1)).max(1);
        let limit = threads.map_or(BEGIN, |threads| threads as u32).min(most as u32);
        let rate =
            Rate { search: Search::new(most as u32, 1), window: Window::default(), since_ns: 0, skip: 0 };
        Crew {
            most: most as u32,
            fixed: threads.is_some(),
            limit: AtomicU32::new(limit),
            stuck: AtomicU32::new(0),
            running: AtomicU32::new(0),
            idle: AtomicU32::new(0),
            coming: AtomicU32::new(0),
            seats: (0..most).map(|_| Seat::default()).collect(),
            work: AtomicU32::new(0),
            alarm: AtomicU32::new(0),
            rate: Mutex::new(rate),
        }
    }

    /// At work now.
    pub(super) fn running(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    pub(super) fn most(&self) -> usize {
        self.most as usize
    }

    /// Whether answers have turned out to be round trips.
    pub(super) fn is_far(&self) -> bool {
        !self.fixed && self.limit.load(Ordering::Relaxed) >= FIRST.min(self.most)
    }

    /// How many may be at work now, those that hang among them. For each of those there are two others: where many hang,
    /// those that take their place will hang as well, and the number must grow faster than by one at a time.
    fn allowed(&self) -> u32 {
        (self.limit.load(Ordering::Relaxed) + 2 * self.stuck.load(Ordering::Relaxed)).min(self.most)
    }

    /// There is something to do. Counted before anybody is looked for: whoever is about to rest then does not.
    pub(super) fn call(&self) {
        self.work.fetch_add(1, Ordering::SeqCst);
        if self.idle.load(Ordering::SeqCst) > 0 {
            let _ = futex::wake(&self.work, 1);
        } else {
            self.alert();
        }
    }

    fn alert(&self) {
        self.alarm.fetch_add(1, Ordering::Release);
        let _ = futex::wake(&self.alarm, 1);
    }

    /// Whether one more may be at work; then it is.
    fn enter(&self) -> bool {
        let one_more = |running| (running < self.allowed()).then_some(running + 1);
        self.running.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok()
    }

    fn leave(&self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
    }

    /// Sleeps until there may be something to do that was not there when `seen` was read.
    fn rest(&self, seen: u32) {
        self.idle.fetch_add(1, Ordering::SeqCst);
        if self.work.load(Ordering::SeqCst) == seen {
            let _ = futex::wait(&self.work, seen, None);
        }
        self.idle.fetch_sub(1, Ordering::SeqCst);
    }

    /// Takes the time of an answer into account.
    fn learn(&self, now_ns: u64, took_ns: u64, slow: u32) {
        if self.fixed {
            return;
        }
        let limit = self.limit.load(Ordering::Relaxed);
        if limit < FIRST.min(self.most) {
            if slow >= SLOW {
                self.limit.fetch_max(FIRST.min(self.most), Ordering::Relaxed);
                self.rate.lock().since_ns = now_ns;
                self.alert();
            }
            return;
        }
        let mut rate = self.rate.lock();
        let Rate { search, window, since_ns, skip } = &mut *rate;
        if *skip > 0 {
            *skip -= 1;
            *since_ns = now_ns;
            return;
        }
        if window.add(took_ns) < 2 * u64::from(limit) {
            return;
        }
        // Another thread may have read a later time before it got the lock.
        let new = search.step(&window.end(now_ns.saturating_sub(*since_ns)));
        *since_ns = now_ns;
        *skip = if new == limit { 0 } else { u64::from(limit) };
        self.limit.store(new, Ordering::Relaxed);
        drop(rate);
        if new > limit {
            self.alert();
        }
    }
}

impl Seat {
    /// Whether its thread hangs. One that waits for a core does not: on a busy machine, where each gets its turn late,
    /// more threads would only make it later. `hung` remembers what was found out.
    fn hangs(&self, now: u64, hung: &mut u64) -> bool {
        let began = self.began.load(Ordering::Relaxed);
        if began == 0 || now.saturating_sub(began) <= STUCK_NS {
            return false;
        }
        if *hung != began && !sched::is_runnable(self.thread.load(Ordering::Relaxed)) {
            *hung = began;
        }
        *hung == began
    }
}

/// A thread's place: what it is doing, since when.
pub(super) struct Desk<'a> {
    /// Where whoever looks on sees it.
    pub(super) number: usize,
    began: &'a AtomicU64,
    /// Answers in a row that took as long as round trips.
    slow: Cell<u32>,
}

impl Desk<'_> {
    pub(super) fn begin(&self) {
        self.began.store(clock::monotonic_ns(), Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }

    /// One question is answered, the next begins. False if this thread is one too many by now.
    pub(super) fn answered(&self, crew: &Crew) -> bool {
        let now = clock::monotonic_ns();
        let began = self.began.swap(now, Ordering::Relaxed);
        let took = now.saturating_sub(began);
        self.slow.set(if is_round_trip(took) { self.slow.get() + 1 } else { 0 });
        crew.learn(now, took, self.slow.get());
        crew.running.load(Ordering::Relaxed) <= crew.allowed()
    }
}

impl Board {
    /// The next thing to do.
    fn take(&self) -> Option<Job> {
        // Dropped after the lock is open: with the last job a directory is closed.
        let mut done = Vec::new();
        let mut queue = self.queue.lock();
        loop {
            let first = queue.front()?;
            match first.share() {
                Some(_) if first.hands() == 0 => done.extend(queue.pop_front()),
                Some(shared) => return Some(shared),
                None => return queue.pop_front(),
            }
        }
    }

    /// How many could find something to do, as far as it matters.
    fn hands(&self, enough: usize) -> usize {
        let queue = self.queue.lock();
        let mut hands = 0;
        for job in queue.iter() {
            hands += job.hands();
            if hands >= enough {
                break;
            }
        }
        hands.min(enough)
    }
}

/// A thread's life. It ends with the agent.
fn work(board: &'static Board, number: usize) {
    let crew = &board.crew;
    let seat = &crew.seats[number];
    seat.thread.store(sched::thread_id(), Ordering::Relaxed);
    let desk = Desk { number: 1 + number, began: &seat.began, slow: Cell::new(0) };
    crew.coming.fetch_sub(1, Ordering::AcqRel);
    loop {
        let seen = crew.work.load(Ordering::SeqCst);
        if !crew.enter() {
            crew.rest(seen);
            continue;
        }
        match board.take() {
            Some(job) => {
                // Where there is more to do, somebody else is told.
                if board.hands(1) > 0 {
                    crew.call();
                }
                board.perform(job, &desk);
                crew.leave();
            }
            None => {
                crew.leave();
                crew.rest(seen);
            }
        }
    }
}

/// The head's life: the agent's first thread.
pub(super) fn lead(board: &'static Board) {
    let crew = &board.crew;
    let (mut started, mut ticks) = (0, 0_u32);
    // Of each thread, the beginning of what it was found to hang in.
    let mut hangs = Vec::new();
    loop {
        let seen = crew.alarm.load(Ordering::Acquire);
        hangs.resize(started, 0);
        let now = clock::monotonic_ns();
        let both = crew.seats.iter().zip(&mut hangs);
        let stuck: u32 = both.map(|(seat, hung)| u32::from(seat.hangs(now, hung))).sum();
        crew.stuck.store(stuck, Ordering::Relaxed);
        // Answers come fast, or there would be more in flight by now, and they still do: there are cores to use.
        if ticks == 1 && !crew.fixed {
            crew.limit.fetch_max((sched::available_cores() as u32).min(crew.most), Ordering::Relaxed);
        }
        started = start_some(board, started);
        let tick = crew.running.load(Ordering::Relaxed) > 0 || crew.coming.load(Ordering::Relaxed) > 0;
        if tick {
            let _ = futex::wait(&crew.alarm, seen, Some(TICK_NS));
            ticks = ticks.saturating_add(u32::from(crew.alarm.load(Ordering::Relaxed) == seen));
        } else {
            let _ = futex::wait(&crew.alarm, seen, None);
        }
    }
}

/// Starts threads, or wakes idle ones, where there is something to do for them. Returns how many there are then.
fn start_some(board: &'static Board, mut started: usize) -> usize {
    let crew = &board.crew;
    let running = crew.running.load(Ordering::Relaxed);
    let coming = crew.coming.load(Ordering::Relaxed);
    let room = crew.allowed().saturating_sub(running + coming) as usize;
    let mut wanted = board.hands(room + coming as usize).saturating_sub(coming as usize);
    if wanted > 0 && crew.idle.load(Ordering::SeqCst) > 0 {
        let idle = crew.idle.load(Ordering::SeqCst) as usize;
        crew.work.fetch_add(1, Ordering::SeqCst);
        let _ = futex::wake(&crew.work, u32::MAX);
        wanted = wanted.saturating_sub(idle);
    }
    while wanted > 0 && started < crew.most() {
        let number = started;
        crew.coming.fetch_add(1, Ordering::AcqRel);
        if board.aside.thread(Box::new(move || work(board, number))).is_err() {
            crew.coming.fetch_sub(1, Ordering::AcqRel);
            break;
        }
        started += 1;
        wanted -= 1;
    }
    started
}
