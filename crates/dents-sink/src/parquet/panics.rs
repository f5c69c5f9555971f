//! A panic of the decoder is a damaged file.
//!
//! The seal shows damage, and no malice: whoever forges a file forges its checksums too, and such a file can make the decoder
//! panic. Where panics unwind that is caught. A program that is built to abort has the hook alone to say what is wrong before
//! it ends.

use crate::message;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

/// What is wrong with such a file.
pub(super) const PROBLEM: &str = "its columns cannot be decoded";

thread_local! {
    /// The file that this thread decodes.
    static FILE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Installs a panic hook for a program that reads Parquet. While a file is decoded it is silent if panics unwind, as the
/// reader then gives an error; if they abort, `end` is given the message of that error, and ends the program. Any other
/// panic goes to the hook that was there before.
pub fn on_panic(end: fn(&str)) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| match FILE.with_borrow(Option::clone) {
        None => before(info),
        Some(path) if cfg!(panic = "abort") => end(&message::damaged(&path, PROBLEM).to_string()),
        Some(_) => {}
    }));
}

/// Calls the decoder for a file; `None` if it panics.
pub(super) fn during<T>(path: &Path, act: impl FnOnce() -> T) -> Option<T> {
    FILE.set(Some(path.to_path_buf()));
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    FILE.set(None);
    result.ok()
}
