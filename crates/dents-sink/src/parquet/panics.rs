//! Panics of the decoder become errors of the file.
//!
//! Checksums detect accidental damage. A file with forged contents and checksums can make the decoder panic. If panics unwind, the
//! panic is caught. In a program that is built to abort, the panic hook writes the message before the program ends.

use crate::message;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

/// The problem, for the message.
pub(super) const PROBLEM: &str = "its columns cannot be decoded";

thread_local! {
    /// The file that this thread is decoding.
    static FILE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Installs a panic hook for a program that reads Parquet. It handles panics while a file is decoded: if panics unwind, it is silent,
/// because the reader returns an error; if they abort, `end` gets the message of that error and ends the program. Other panics go to the
/// previous hook.
pub fn on_panic(end: fn(&str)) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| match FILE.with_borrow(Option::clone) {
        None => before(info),
        Some(path) if cfg!(panic = "abort") => end(&message::damaged(&path, PROBLEM).to_string()),
        Some(_) => {}
    }));
}

/// Calls the decoder; `None` if it panics.
pub(super) fn during<T>(path: &Path, act: impl FnOnce() -> T) -> Option<T> {
    FILE.set(Some(path.to_path_buf()));
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    FILE.set(None);
    result.ok()
}
