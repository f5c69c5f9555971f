//! What the process gives to a listing: threads, children, an io_uring.

use crate::git::Programs;
use crate::progress::Progress;
use dents_core::deadline::Agent;
use dents_core::owners::Getent;
use dents_core::ring::Rings;
use dents_core::stat::Workers;

/// The only access to threads and other processes: `dents-rt` in the program, substitutes in tests.
#[derive(Clone, Copy)]
pub struct System<'a> {
    /// Starts threads.
    pub workers: &'a dyn Workers,
    /// Finds names of users and groups that are not in the files.
    pub getent: &'a dyn Getent,
    /// Starts the agent: the process that is abandoned if its threads are stuck. Called only for a deadline.
    pub agent: &'a dyn Fn() -> Option<&'static dyn Agent>,
    /// Starts the watchdog that draws a line of progress, with the program's name.
    pub progress: &'a dyn Fn(&[u8]) -> Option<&'static Progress>,
    /// Starts programs that run during the listing.
    pub programs: &'a dyn Programs,
    /// The io_uring, if the plan needs one, and the descriptors that it will close.
    pub rings: &'a Rings,
}
