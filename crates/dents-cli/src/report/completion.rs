//! The end: the result on standard output, a word if it is partial, the exit status.

use super::Diagnostics;
use crate::{interrupt, message};
use dents_core::tree::End;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

/// How the gathering ended.
#[derive(Clone, Copy)]
pub(crate) struct Completion {
    end: End,
    /// Whether all was seen, but for what could not be read.
    pub(super) complete: bool,
    /// What could not be read.
    pub(super) errors: u64,
    fails: bool,
}

impl Completion {
    /// Progress is no longer shown.
    pub(crate) fn new(end: End, diagnostics: Diagnostics) -> Completion {
        let (errors, partial) = (diagnostics.errors(), diagnostics.may_be_partial());
        let complete = end == End::Complete && partial.is_none();
        Completion { end, complete, errors, fails: errors > 0 || partial == Some(false) }
    }

    /// Writes the result, and gives the exit status: 0; 1 if something could not be read or written, or a scan file is
    /// partial that may not be; 128 and its number if a signal stopped it, 130 for Ctrl-C. Where no reader is left for what is
    /// written it does not return.
    pub(crate) fn finish(self, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ExitCode {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        if let Err(error) = draw(&mut out).and_then(|()| out.flush()) {
            // What is left in the buffer would be tried again.
            let _ = out.into_parts();
            if error.kind() == ErrorKind::BrokenPipe {
                return interrupt::die_of_closed_pipe();
            }
            message::say(format!("cannot write to standard output: {}", message::plain(&error)).as_bytes());
            return ExitCode::FAILURE;
        }
        match self.end {
            End::Cancelled => {
                message::say(b"interrupted: this is what was found until then");
                interrupt::status().unwrap_or(ExitCode::FAILURE)
            }
            End::Deadline => {
                message::say(b"out of time: this is what was found until then");
                ExitCode::FAILURE
            }
            _ if self.fails => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }
}
