//! The programs of the system, of which git is one.

use core::ffi::CStr;
use dents_rt::Running;
use dents_sys::Errno;

/// Starts programs that run beside the listing.
pub trait Programs {
    /// Starts `argv[0]`, searched in PATH, with our environment except the variables in `without`, and with the
    /// variables in `with`. Its standard input and error are /dev/null. `confined`: it may start no process.
    ///
    /// # Errors
    /// The reason why it could not be started.
    fn start(
        &self,
        argv: &[&CStr],
        without: &[&[u8]],
        with: &[&CStr],
        confined: bool,
    ) -> Result<Running, Errno>;
}
