//! The end of a command: it writes the result to standard output, a message if the result is partial, and gives the exit status.

use super::Diagnostics;
use crate::{interrupt, message};
use dents_core::tree::End;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

/// How the work ended.
#[derive(Clone, Copy)]
pub(crate) struct Completion {
    end: End,
    /// Whether the walk reached its end, or the scan file is complete.
    pub(super) complete: bool,
    /// How many entries and directories could not be read.
    pub(super) errors: u64,
    fails: bool,
}

impl Completion {
    /// Ends the line of progress.
    pub(crate) fn new(end: End, diagnostics: Diagnostics) -> Completion {
        let (errors, partial) = (diagnostics.errors(), diagnostics.may_be_partial());
        let complete = end == End::Complete && partial.is_none();
        Completion { end, complete, errors, fails: errors > 0 || partial == Some(false) }
    }

    /// Writes the result, and gives the exit status: 0; 1 if something could not be read or written, or if a scan file is
    /// partial without `--partial`; 128 and the number of the signal that stopped the work, 130 for Ctrl-C. If the output is a closed
    /// pipe it does not return.
    pub(crate) fn finish(self, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ExitCode {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        if let Err(error) = draw(&mut out).and_then(|()| out.flush()) {
            // Dropping the writer would write the rest of the buffer again.
            let _ = out.into_parts();
            if error.kind() == ErrorKind::BrokenPipe {
                return interrupt::die_of_closed_pipe();
            }
            message::say(format!("cannot write to standard output: {}", message::plain(&error)).as_bytes());
            return ExitCode::FAILURE;
        }
        match self.end {
            End::Cancelled => {
                message::say(b"interrupted: the result is incomplete");
                interrupt::status().unwrap_or(ExitCode::FAILURE)
            }
            End::Deadline => {
                message::say(b"timed out: the result is incomplete");
                ExitCode::FAILURE
            }
            _ if self.fails => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }
}
