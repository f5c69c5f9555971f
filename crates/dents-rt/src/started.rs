//! The state of the program after its start: which process this is, and that no libc is in it.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::process::getpid;

use crate::process::Process;

/// Written once, before there is a second thread.
struct Started {
    process: Cell<Option<Process>>,
    is: AtomicBool,
}

// SAFETY: `started` writes before it sets `is`; afterwards there are only readers.
unsafe impl Sync for Started {}

static STARTED: Started = Started { process: Cell::new(None), is: AtomicBool::new(false) };

/// Called by `_start`, once, on the only thread.
pub(crate) fn started(process: Process) {
    STARTED.process.set(Some(process));
    STARTED.is.store(true, Ordering::Release);
}

/// Whether `entry!` started this process, so that no libc is in it.
pub(crate) fn is_started() -> bool {
    STARTED.is.load(Ordering::Acquire)
}

/// The program's name, for its messages.
pub(crate) fn program() -> &'static [u8] {
    if is_started() { STARTED.process.get().as_ref().map(Process::program).unwrap_or_default() } else { b"" }
}

/// The process id of the [agent](crate::agent), once there is one.
static AGENT: AtomicU32 = AtomicU32::new(0);

/// The calling process is the agent.
pub(crate) fn is_now_agent() {
    AGENT.store(getpid().as_raw_nonzero().get().unsigned_abs(), Ordering::Relaxed);
}

/// Whether the calling process is the agent.
pub(crate) fn is_agent() -> bool {
    AGENT.load(Ordering::Relaxed) == getpid().as_raw_nonzero().get().unsigned_abs()
}
