//! The line of progress, on stderr if that is a terminal, for listings that take longer than a second. It is erased
//! before anything else is written. If such a listing is interrupted, a message says how far it came.
//!
//! A system call that is stuck holds its thread in the kernel, so another thread draws the line. It reads the seats of
//! the workers ([`dents_core::watchdog`]) and makes no request about files. It starts with the listing, because any
//! request may get stuck, even the first `openat`. While the lister waits for the kernel, all other threads block
//! SIGINT and similar signals, and the drawing thread waits for them without a handler: it erases the line before the
//! process ends or stops. While the lister writes, it takes the signals itself, as if there were no other thread.
//! `turn.rs` decides which of the two may write.
//!
//! This thread is also the watchdog of the listing: it starts replacements of stuck workers ([`Watchdog`]).

use crate::turn::{State, TURN};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::sync::atomic::{AtomicBool, Ordering};
use dents_core::watchdog::{LOOK_NS, SEATS, Watch, Watchdog};
use dents_render::quantity::grouped;
use dents_sys::stat::{self, Mask};
use dents_sys::stdio::{STDERR, STDOUT};
use dents_sys::{AsFd, BorrowedFd, OwnedFd, clock, file, signal, tty};

/// The time before the line appears.
const PATIENCE_NS: u64 = 1_000_000_000;
/// How often the line is drawn; also how long before its first appearance the seats are first read.
const TICK_NS: u64 = 200_000_000;
/// The number of ticks over which the rate is computed.
const RATE_TICKS: usize = 10;

/// Shared by the lister and the drawing thread.
pub struct Progress {
    watch: &'static Watch,
    program: Vec<u8>,
    /// Whether the output so far ends in the middle of a line, which may be on this terminal.
    mid_line: AtomicBool,
    /// Whether the line of progress was ever drawn.
    shown: AtomicBool,
    /// Starts replacements until there are as many as the argument, if tasks remain.
    replace: fn(u32),
}

/// Erases the line.
const ERASE: &[u8] = b"\r\x1b[K";

/// The state between two ticks.
struct Rounds {
    started_ns: u64,
    /// For each seat: the number of its request, and the time when it was first seen.
    desks: Vec<(u32, u64)>,
    /// For the last ticks: the time, and the number of answers.
    answers: [(u64, u64); RATE_TICKS],
}

/// The oldest unanswered request.
struct Longest {
    name: Vec<u8>,
    since_ns: u64,
}

impl Progress {
    /// Starts the thread. `None` if stderr is not a terminal or no thread can be started.
    pub fn start(
        watch: &'static Watch,
        program: &[u8],
        start: impl FnOnce(Box<dyn FnOnce() + Send>) -> bool,
        replace: fn(u32),
    ) -> Option<&'static Progress> {
        if !tty::isatty(STDERR) {
            return None;
        }
        let progress: &'static Progress = Box::leak(Box::new(Progress {
            watch,
            program: crate::program::base(program).to_vec(),
            mid_line: AtomicBool::new(false),
            shown: AtomicBool::new(false),
            replace,
        }));
        // From its start, the thread blocks the signals that could end the process in the middle of a colour.
        let held = signal::hold();
        let started = start(Box::new(move || progress.look_on()));
        drop(held);
        started.then_some(progress)
    }

    /// The seats of the lister's threads.
    #[must_use]
    pub fn watch(&self) -> &'static Watch {
        self.watch
    }

    /// The lister begins (`true`) or ends a wait for the kernel.
    pub(crate) fn set_waiting(&self, waiting: bool) {
        let before = TURN.change(|state| match (state, waiting) {
            (State::Shown, false) => State::Erasing,
            (_, true) if state.is_waiting() => state,
            (_, true) => State::Waiting,
            (_, false) => State::Busy,
        });
        if before == State::Shown && !waiting {
            write(ERASE);
            TURN.change(|_| State::Busy);
        }
        if before.is_waiting() != waiting {
            signal::block(waiting);
        }
    }

    /// Whether the listing took so long that the line of progress was drawn.
    pub(crate) fn was_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// Records whether the last byte written to stdout ends a line.
    pub(crate) fn wrote(&self, last: Option<&u8>) {
        if let Some(last) = last {
            self.mid_line.store(*last != b'\n', Ordering::Relaxed);
        }
    }

    /// The loop of the drawing thread.
    fn look_on(&self) {
        let started_ns = clock::monotonic_ns();
        let mut rounds = None;
        let mut quiet = false;
        let mut watchdog = Watchdog::new(1);
        let screen = Screen::default();
        let (mut next_ns, mut tick_ns) = (started_ns + LOOK_NS, started_ns + PATIENCE_NS - TICK_NS);
        loop {
            let now = clock::monotonic_ns();
            if now < next_ns {
                if let Some(signal) = signal::wait(next_ns - now) {
                    self.signalled(signal, clock::monotonic_ns() - started_ns, &screen);
                }
                continue;
            }
            next_ns = now + LOOK_NS;
            (self.replace)(self.watch.replacements(&mut watchdog));
            if now < tick_ns {
                continue;
            }
            tick_ns = now + TICK_NS;
            let rounds = rounds.get_or_insert_with(|| {
                // The type of stdout is not needed earlier. If it is a pipe, its reader may draw on the same terminal.
                let fifo = |mode| mode & 0o170_000 == 0o010_000;
                quiet = stat::fstat(STDOUT, Mask::TYPE).is_ok_and(|stdout| fifo(stdout.mode()));
                Rounds::new(started_ns)
            });
            let (longest, busy) = self.look(rounds, now);
            if now - started_ns >= PATIENCE_NS && !quiet && !self.mid_line.load(Ordering::Relaxed) {
                self.draw(&self.line(rounds, longest, busy, now), &screen);
            }
        }
    }

    /// Reads all seats: the oldest request, and the number of busy seats.
    fn look(&self, rounds: &mut Rounds, now: u64) -> (Option<Longest>, usize) {
        let (mut longest, mut busy): (Option<Longest>, usize) = (None, 0);
        for (number, (turn, since_ns)) in rounds.desks.iter_mut().enumerate() {
            let Some(request) = self.watch.request(number) else { continue };
            // A request that is there at the first tick may be as old as the listing. From the second tick on, a new
            // number means a new request.
            if *turn != request.turn && *turn != 0 {
                *since_ns = now;
            }
            *turn = request.turn;
            busy += 1;
            if longest.as_ref().is_none_or(|longest| *since_ns < longest.since_ns) {
                longest = Some(Longest { name: request.name().to_vec(), since_ns: *since_ns });
            }
        }
        (longest, busy)
    }

    fn line(&self, rounds: &mut Rounds, longest: Option<Longest>, busy: usize, now: u64) -> String {
        let (read, answered) = self.watch.counts();
        let mut line = if answered > 0 {
            format!("{} of {} answered, ", grouped(answered), grouped(read.max(answered)))
        } else {
            format!("{} names read, ", grouped(read))
        };
        let rate = rounds.rate(now, answered);
        if rate > 0 {
            line += &format!("{}/s, ", grouped(rate));
        }
        line += &format!("{busy} in flight");
        if let Some(Longest { name, since_ns }) = longest
            && now - since_ns >= PATIENCE_NS
        {
            line += &format!(", {}s for '{}'", (now - since_ns) / 1_000_000_000, printable(&name));
        }
        line
    }

    fn draw(&self, line: &str, screen: &Screen) {
        let columns = usize::from(tty::columns(STDERR).unwrap_or(80)).max(2) - 1;
        let mut text: String = line.chars().take(columns).collect();
        text.insert(0, '\r');
        text.push_str("\x1b[K");
        if TURN.take(State::is_waiting).is_some() {
            screen.write(text.as_bytes());
            self.shown.store(true, Ordering::Relaxed);
            TURN.give_back(State::Shown);
        }
    }

    /// Passes a signal on, after the line is erased.
    fn signalled(&self, signal: u32, elapsed_ns: u64, screen: &Screen) {
        let may = |state: State| state.is_waiting() || state == State::Erasing;
        let before = loop {
            if let Some(before) = TURN.take(may) {
                break before;
            }
            // While the lister writes, it blocks the signal and then handles it. If it began to wait for the kernel
            // before it got the signal, it still blocks it.
            signal::pass(signal);
            if !TURN.state().is_waiting() {
                return;
            }
        };
        if before == State::Shown {
            screen.write(ERASE);
        }
        let tells = before.is_waiting() && signal == signal::INT && elapsed_ns >= PATIENCE_NS;
        if tells && !signal::ignores_interrupts() {
            screen.write(&self.interrupted_after(elapsed_ns / 1_000_000_000));
        }
        signal::block(false);
        signal::raise(signal);
        signal::block(true);
        TURN.give_back(if before == State::Shown { State::Waiting } else { before });
    }

    fn interrupted_after(&self, after: u64) -> Vec<u8> {
        let (read, answered) = self.watch.counts();
        let (read, answered) = (grouped(read), grouped(answered));
        // An unfinished line of output may be on this terminal.
        let begin: &[u8] = if self.mid_line.load(Ordering::Relaxed) { b"\n" } else { b"" };
        let text = format!(": interrupted after {after}s: {read} names read, {answered} entries answered\n");
        [begin, &self.program, text.as_bytes()].concat()
    }
}

/// The terminal for the drawing thread, which must not block on it: it may be stopped (Ctrl-S), or nothing reads from
/// it.
#[derive(Default)]
struct Screen(OnceCell<Option<OwnedFd>>);

impl Screen {
    /// Writes as many bytes as the terminal takes now.
    fn write(&self, bytes: &[u8]) {
        match self.0.get_or_init(|| tty::open_again(STDERR).ok()) {
            Some(own) => write_to(own.as_fd(), bytes),
            // The terminal belongs to another user and cannot be opened again: check first whether it takes output.
            None if tty::takes_output(STDERR) => write(bytes),
            None => {}
        }
    }
}

/// Takes the terminal until the process ends: between two writes of the lister, and without the line of progress.
/// Takes no lock and allocates no memory.
pub fn take_terminal() {
    if TURN.wait() == State::Shown {
        write(ERASE);
    }
}

impl Rounds {
    fn new(started_ns: u64) -> Rounds {
        let desks = (0..SEATS).map(|_| (0, started_ns)).collect();
        Rounds { started_ns, desks, answers: [(started_ns, 0); RATE_TICKS] }
    }

    /// Answers per second, over the last ticks.
    fn rate(&mut self, now: u64, answered: u64) -> u64 {
        let (then, before) = self.answers[0];
        self.answers.rotate_left(1);
        self.answers[RATE_TICKS - 1] = (now, answered);
        (answered - before).saturating_mul(1_000_000_000)
            / now.saturating_sub(then.max(self.started_ns)).max(1)
    }
}

/// Writes to stderr without the lister's buffer. An error cannot be reported anywhere.
fn write(bytes: &[u8]) {
    write_to(STDERR, bytes);
}

fn write_to(fd: BorrowedFd<'_>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(written @ 1..) = file::write(fd, rest) {
        rest = &rest[written..];
    }
}

/// A name with `?` in place of control characters.
fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_draw() {
        assert_eq!(printable(b"a\x1b[31mb\n\xff\xc2\x9b"), "a?[31mb?\u{fffd}?");
    }

    #[test]
    fn the_line_says_what_is_waited_for() {
        static WATCH: Watch = Watch::new();
        let progress = Progress {
            watch: &WATCH,
            program: b"dls".to_vec(),
            mid_line: AtomicBool::new(false),
            shown: AtomicBool::new(false),
            replace: |_| {},
        };
        WATCH.add_read(10_000);
        for _ in 0..4000 {
            WATCH.begin(1, b"quick");
            WATCH.end(1, 1);
        }
        WATCH.begin(2, b"hung");
        let second = 1_000_000_000;
        let mut rounds = Rounds::new(0);
        let (longest, busy) = progress.look(&mut rounds, second);
        let line = progress.line(&mut rounds, longest, busy, second);
        assert_eq!(line, "4,000 of 10,000 answered, 4,000/s, 1 in flight, 1s for 'hung'");
        WATCH.begin(3, b"newer");
        progress.look(&mut rounds, 2 * second);
        WATCH.begin(3, b"newest");
        let (longest, busy) = progress.look(&mut rounds, 3 * second);
        assert_eq!((longest.map(|longest| longest.since_ns), busy), (Some(0), 2));
        WATCH.end(2, 0);
        let (longest, _) = progress.look(&mut rounds, 3 * second);
        assert_eq!(longest.map(|longest| longest.since_ns), Some(3 * second));
    }
}
