//! Signals: Ctrl-C stops the walk and keeps what was found, a closed pipe ends the program as it ends others.
//!
//! ```text
//! 1st signal ─► flag ─► workers stop, what was found is written ─► exit status 130, 143, 129
//!            └► watchdog thread: nothing moves for 2 s, or all goes on for 10 s ─► dies of the signal
//! 2nd signal ─► dies of it at once
//! ```
//!
//! A worker that waits in the kernel does not see the flag: for a pipe that no process reads, a server that does not answer,
//! a FIFO. So a thread of its own watches whether the process moves, by the processor time that it takes.

use dents_sys::{clock, signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// After a signal, the process ends when it has not moved for so long: a worker that only needs to see the flag does so within
/// milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// To move is to compute for a twentieth of that time; waking up to draw progress takes less.
const MOVES_NS: u64 = GRACE.as_nanos() as u64 / 20;

/// A process that computes has this many times [`GRACE`]: it adds up sums, or compiles the rules of a hostile ignore file.
const ROUNDS: u32 = 5;

/// How many are at work that must not be ended, however long they take.
static HOLDS: AtomicUsize = AtomicUsize::new(0);

/// What is set when a signal came, and which one it was.
#[derive(Default)]
struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// The flag that the first SIGINT, SIGTERM or SIGHUP sets, for [`dents_core::tree::Options::cancel`]; from the first call on. The
/// second signal ends the program at once, as it would have without us: nothing that hangs can hold it.
pub(crate) fn flag() -> &'static AtomicBool {
    let signals = SIGNALS.get_or_init(|| {
        let signals = Signals::default();
        let watchdog = watchdog(Arc::clone(&signals.which)).ok();
        // What started us in the background may not want Ctrl-C to reach us, and nohup(1) no SIGHUP.
        let wanted = |signal: &i32| !signal::is_ignored(signal.unsigned_abs());
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(wanted) {
            // In this order: the first signal finds the flag unset. Refused only for signals that cannot be caught.
            let _ = flag::register_conditional_default(signal, Arc::clone(&signals.stop));
            let _ = flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize);
            let _ = flag::register(signal, Arc::clone(&signals.stop));
            if let Some(wake) = watchdog.as_ref().and_then(|wake| wake.try_clone().ok()) {
                let _ = low_level::pipe::register(signal, wake);
            }
        }
        signals
    });
    &signals.stop
}

/// Starts the thread that ends the process if it does not end by itself; gives what wakes it. Where no thread can be started
/// it takes a second signal to end a process that is stuck.
fn watchdog(which: Arc<AtomicUsize>) -> io::Result<UnixStream> {
    let (mut woken, wake) = UnixStream::pair()?;
    let watch = move || {
        if woken.read_exact(&mut [0]).is_ok() {
            wait_for_stillness();
            // Does not return, but for a debugger.
            let _ = low_level::emulate_default_handler(which.load(Relaxed) as i32);
        }
    };
    std::thread::Builder::new().name("watchdog".to_owned()).stack_size(64 << 10).spawn(watch)?;
    Ok(wake)
}

/// Returns when the process has stood still for [`GRACE`], or has gone on for all [`ROUNDS`] of it, and nothing holds it.
fn wait_for_stillness() {
    for round in 1.. {
        let before = clock::process_cpu_ns();
        std::thread::sleep(GRACE);
        let moved = clock::process_cpu_ns().saturating_sub(before) >= MOVES_NS;
        if (!moved || round >= ROUNDS) && HOLDS.load(Relaxed) == 0 {
            return;
        }
    }
}

/// While this is held, a first signal ends nothing, however long the disk takes: a file is being completed.
#[must_use]
pub(crate) struct Hold(());

impl Hold {
    pub(crate) fn begin() -> Hold {
        HOLDS.fetch_add(1, Relaxed);
        Hold(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDS.fetch_sub(1, Relaxed);
    }
}

/// What to exit with if a signal came: 128 and its number, 130 for Ctrl-C.
pub(crate) fn status() -> Option<ExitCode> {
    let signals = SIGNALS.get()?;
    let which = signals.which.load(Relaxed) as u8;
    signals.stop.load(Relaxed).then(|| ExitCode::from(128 + which))
}

/// Dies of SIGPIPE, without a word: what reads our output has seen enough. A shell shows 141, as for `find`.
pub(crate) fn die_of_closed_pipe() -> ExitCode {
    // Does not return, unless a debugger or a seccomp filter has its way.
    let _ = low_level::emulate_default_handler(SIGPIPE);
    ExitCode::from(141)
}
