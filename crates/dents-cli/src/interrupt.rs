//! Signals: Ctrl-C stops the walk and keeps what was found, a closed pipe ends the program as it ends others.

use dents_sys::signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::{flag, low_level};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// What is set when a signal came, and which one it was.
#[derive(Default)]
struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// The flag that the first SIGINT, SIGTERM or SIGHUP sets, for [`dents::tree::Options::cancel`]; from the first call on. The second
/// signal ends the program at once, as it would have without us: nothing that hangs can hold it.
pub(crate) fn flag() -> &'static AtomicBool {
    let signals = SIGNALS.get_or_init(|| {
        let signals = Signals::default();
        // What started us in the background may not want Ctrl-C to reach us, and nohup(1) no hangup.
        let interrupt = (!signal::ignores_interrupts()).then_some(SIGINT);
        let hangup = (!signal::ignores_hangups()).then_some(SIGHUP);
        for signal in interrupt.into_iter().chain(hangup).chain([SIGTERM]) {
            // In this order: the first signal finds the flag unset. Refused only for signals that cannot be caught.
            let _ = flag::register_conditional_default(signal, Arc::clone(&signals.stop));
            let _ = flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize);
            let _ = flag::register(signal, Arc::clone(&signals.stop));
        }
        signals
    });
    &signals.stop
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
