//! Signals: Ctrl-C stops the walk and keeps its results; a closed pipe ends the program by SIGPIPE.
//!
//! ```text
//! 1st signal ─► flag ─► workers stop, the results are written ─► exit status 130, 143, 129
//!            └► watchdog thread: stuck for 2 s, or still computing after 10 s ─► the signal kills the process
//! 2nd signal ─► kills the process at once
//! ```
//!
//! A worker that is stuck in the kernel (a pipe that no process reads, a server that does not answer, a FIFO) does not look at the
//! flag. So the watchdog thread measures the processor time of the process: a process that uses none is stuck.
//!
//! The kernel gives a signal to the main thread, if that does not block it, also while that thread is stuck; then no handler runs. So all
//! threads but the watchdog's block these signals.

use dents_commands::Status;
use dents_sys::{clock, signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// After a signal, a process that uses no processor time for this long is killed. A worker that is not stuck sees the flag within
/// milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// A process that uses a twentieth of that time counts as computing; drawing progress uses less.
const MOVES_NS: u64 = GRACE.as_nanos() as u64 / 20;

/// A process that computes has this many times [`GRACE`], for example to add up sums, or to compile the rules of a hostile ignore file.
const ROUNDS: u32 = 5;

/// The number of running operations that must not be interrupted, even if they take long.
static HOLDS: AtomicUsize = AtomicUsize::new(0);

/// The flag that a signal sets, and the number of the signal.
#[derive(Default)]
struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// The flag that the first SIGINT, SIGTERM or SIGHUP sets, for [`dents_core::tree::Options::cancel`]; from the first call on. The
/// second signal has its default action and ends the program at once, even if a worker is stuck.
pub(crate) fn flag() -> &'static Arc<AtomicBool> {
    &SIGNALS.get_or_init(|| install(&[SIGINT, SIGTERM, SIGHUP])).stop
}

/// For a command that runs other programs on its terminal: Ctrl-C and Ctrl-\ there are for those alone. Other signals end it
/// ([`dents_sys::fatal`]). To be called before [`flag()`].
pub(crate) fn leave_keys_to_programs() {
    SIGNALS.get_or_init(Signals::default);
    for signal in [SIGINT, SIGQUIT] {
        // A handler, because a program that is started would inherit that they are ignored.
        let _ = flag::register(signal, Arc::default());
    }
}

fn install(all: &[i32]) -> Signals {
    let signals = Signals::default();
    let watchdog = watchdog(Arc::clone(&signals.which)).ok();
    if watchdog.is_some() {
        // This thread and those that it starts from now on. (Std unblocks all signals for the programs that it starts.)
        signal::block(true);
    }
    // Ignored signals stay ignored: SIGINT for a job that a shell started in the background, SIGHUP under nohup(1).
    let wanted = |signal: &i32| !signal::is_ignored(signal.unsigned_abs());
    for signal in all.iter().copied().filter(wanted) {
        // In this order: the first signal finds the flag unset. Refused only for signals that cannot be caught.
        let _ = flag::register_conditional_default(signal, Arc::clone(&signals.stop));
        let _ = flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize);
        let _ = flag::register(signal, Arc::clone(&signals.stop));
        if let Some(wake) = watchdog.as_ref().and_then(|wake| wake.try_clone().ok()) {
            let _ = low_level::pipe::register(signal, wake);
        }
    }
    signals
}

/// Starts the watchdog thread, which kills the process if it does not end by itself. Returns the socket that wakes the thread. If no
/// thread can be started, only a second signal ends a stuck process.
fn watchdog(which: Arc<AtomicUsize>) -> io::Result<UnixStream> {
    let (mut woken, wake) = UnixStream::pair()?;
    let watch = move || {
        if woken.read_exact(&mut [0]).is_ok() {
            wait_for_stillness();
            // Returns only under a debugger.
            let _ = low_level::emulate_default_handler(which.load(Relaxed) as i32);
        }
    };
    std::thread::Builder::new().name("watchdog".to_owned()).stack_size(64 << 10).spawn(watch)?;
    Ok(wake)
}

/// Returns when the process has used no processor time for [`GRACE`], or still computes after [`ROUNDS`] of it, and there is no [`Hold`].
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

/// While this value exists, a first signal does not kill the process: a file is being completed, and the disk may be slow.
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

/// The exit status after a signal: 128 plus its number, 130 for Ctrl-C.
pub(crate) fn status() -> Option<Status> {
    let signals = SIGNALS.get()?;
    let which = signals.which.load(Relaxed) as u8;
    signals.stop.load(Relaxed).then(|| Status(128 + which))
}

/// Ends the process by SIGPIPE, without a message: the reader of the output has closed it. A shell shows 141, as for `find`.
pub(crate) fn die_of_closed_pipe() -> Status {
    // Returns only under a debugger or a seccomp filter.
    let _ = low_level::emulate_default_handler(SIGPIPE);
    Status(141)
}
