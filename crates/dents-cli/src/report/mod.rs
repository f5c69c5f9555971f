//! What the commands that sum up share: messages on the way, one place that writes at the end, and the exit status.
//!
//! ```text
//! walk ─► Troubles (stderr, counted)        sums ─► Ending::finish ─► stdout, exit status
//! ```

mod bar;
mod json;
mod screen;
mod table;
mod units;

pub(crate) use bar::{bar, percent};
pub(crate) use json::{Head, Named};
pub(crate) use screen::{Paint, Screen};
pub(crate) use table::{Column, Table};
pub(crate) use units::Units;

use crate::interrupt;
use dents::batch::{Batch, Entry};
use dents::tree::{End, Failure, Place, Problem};
use dents_locale::Locale;
use dents_render::quote::quoteaf;
use dents_sys::Errno;
use std::ffi::OsStr;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Tells at once of what could not be read, and counts it.
pub(crate) struct Troubles {
    locale: Locale,
    count: AtomicU64,
}

impl Troubles {
    pub(crate) fn new() -> Troubles {
        Troubles { locale: screen::locale(), count: AtomicU64::new(0) }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// An entry that `statx` did not answer for.
    pub(crate) fn access(&self, path: &[u8], errno: i32) {
        self.tell("cannot access", path, errno);
    }

    /// An entry of a batch that `statx` did not answer for.
    pub(crate) fn entry(&self, place: &Place<'_>, entry: &Entry<'_>, errno: Errno) {
        let mut path = Vec::new();
        place.join(entry.name(), &mut path);
        self.access(&path, errno.raw_os_error());
    }

    /// All of a batch.
    #[cold]
    pub(crate) fn entries(&self, place: &Place<'_>, batch: &Batch) {
        for entry in batch.iter() {
            if let Some((_, errno)) = entry.fault() {
                self.entry(place, &entry, errno);
            }
        }
    }

    /// What a scan could not read, by the file that it wrote.
    pub(crate) fn unread(&self, file: &OsStr, count: u64) {
        self.count.fetch_add(count, Relaxed);
        let file = String::from_utf8_lossy(&quoteaf(file.as_bytes(), &self.locale)).into_owned();
        complain(&format!("{file}: {count} entries or directories could not be read when it was written"));
    }

    /// A directory that could not be opened or not be read to its end.
    pub(crate) fn directory(&self, failure: &Failure<'_>) {
        let problem = match failure.problem {
            Problem::Open => "cannot read directory",
            Problem::Read => "error reading directory",
            Problem::Loop => "not entered, it is within itself:",
        };
        self.tell(problem, failure.path, failure.errno.raw_os_error());
    }

    /// One line, in one write: workers do not cut into each other's.
    fn tell(&self, problem: &str, path: &[u8], errno: i32) {
        self.count.fetch_add(1, Relaxed);
        let mut line = format!("dents: {problem} ").into_bytes();
        line.extend_from_slice(&quoteaf(path, &self.locale));
        line.extend_from_slice(format!(": {}\n", reason(errno)).as_bytes());
        // Where nobody can be told, there is nothing to do about it either.
        let _ = io::stderr().write_all(&line);
    }
}

/// What the C library calls an error number.
fn reason(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    // std adds the number.
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&text).to_owned()
}

/// How the gathering ended.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) end: End,
    /// What could not be read.
    pub(crate) errors: u64,
}

impl Ending {
    pub(crate) fn new(end: End, troubles: &Troubles) -> Ending {
        Ending { end, errors: troubles.count() }
    }

    /// Writes the result to standard output, says if it is partial, and gives the exit status: 0; 1 if something could
    /// not be read or written; 130 if interrupted by Ctrl-C. Where nobody reads what is written it does not return.
    pub(crate) fn finish(self, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ExitCode {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        if let Err(error) = draw(&mut out).and_then(|()| out.flush()) {
            // What is left in the buffer would be tried again.
            let _ = out.into_parts();
            if error.kind() == ErrorKind::BrokenPipe {
                return interrupt::die_of_closed_pipe();
            }
            let text = error.raw_os_error().map_or_else(|| error.to_string(), reason);
            complain(&format!("cannot write to standard output: {text}"));
            return ExitCode::FAILURE;
        }
        match self.end {
            End::Cancelled => {
                complain("interrupted: this is what was found until then");
                interrupt::status().unwrap_or(ExitCode::FAILURE)
            }
            End::Deadline => {
                complain("out of time: this is what was found until then");
                ExitCode::FAILURE
            }
            _ if self.errors > 0 => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }
}

/// A sentence on standard error.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "dents: {sentence}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sentences_without_numbers() {
        assert_eq!(reason(2), "No such file or directory");
        assert_eq!(reason(13), "Permission denied");
    }
}
