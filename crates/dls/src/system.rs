//! What the process lends to a listing: threads, children, an io_uring.

use crate::git::Programs;
use crate::progress::Progress;
use dents_core::deadline::Agent;
use dents_core::owners::Getent;
use dents_core::ring::Rings;
use dents_core::stat::Workers;

/// The only way to threads and other processes; `dents-rt` is behind it in the program, substitutes in tests.
#[derive(Clone, Copy)]
pub struct System<'a> {
    /// Threads.
    pub workers: &'a dyn Workers,
    /// Names of users and groups that no file knows.
    pub getent: &'a dyn Getent,
    /// The process that may be abandoned with its stuck threads; started only where there is a deadline.
    pub agent: &'a dyn Fn() -> Option<&'static dyn Agent>,
    /// Starts the watchdog that draws a line of progress, given the program's name.
    pub progress: &'a dyn Fn(&[u8]) -> Option<&'static Progress>,
    /// Programs that run beside the listing.
    pub programs: &'a dyn Programs,
    /// The io_uring, if one is wanted, and the descriptors it still has to close.
    pub rings: &'a Rings,
}
