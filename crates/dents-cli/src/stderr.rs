//! Lines on standard error, above the line of progress.

use indicatif::ProgressBar;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The line of progress that is on the terminal now.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes a line to standard error, in one `write`, with the name of the program before it. Errors of that are ignored.
pub(crate) fn say(text: &[u8]) {
    let line = [b"dents: ", text, b"\n"].concat();
    let write = || {
        let _ = std::io::stderr().lock().write_all(&line);
    };
    match &*BAR.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// From now on this line of progress is below all lines, or none is.
pub(crate) fn put_below(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}
