//! The end of a command: writes the result to standard output, and a message if the result is partial; returns the exit status.

use super::Diagnostics;
use crate::message;
use crate::rows::{Records, RowWriter};
use crate::session::{Session, Status};
use dents_core::tree::End;
use dents_sys::{file, stdio};
use std::io::{self, BufWriter, ErrorKind, Write};

/// How the work ended.
#[derive(Clone, Copy)]
pub struct Completion<'s> {
    session: &'s Session,
    end: End,
    /// Whether the walk reached its end, or the scan file is complete.
    pub(super) complete: bool,
    /// The number of entries and directories that could not be read.
    pub(super) errors: u64,
    /// Whether a scan file is partial, and that was accepted.
    accepted: bool,
    fails: bool,
}

impl<'s> Completion<'s> {
    /// Ends the line of progress.
    pub(crate) fn new(end: End, diagnostics: Diagnostics<'s>) -> Completion<'s> {
        let (errors, partial) = (diagnostics.errors(), diagnostics.may_be_partial());
        let complete = end == End::Complete && partial.is_none();
        let session = diagnostics.session();
        let accepted = partial == Some(true);
        Completion { session, end, complete, errors, accepted, fails: errors > 0 || partial == Some(false) }
    }

    /// The same, with exit status 0 even if some entries could not be read.
    pub(crate) fn forgiving(self) -> Completion<'s> {
        Completion { fails: false, ..self }
    }

    /// Whether the result is that of the whole work: the walk reached its end, and a scan file is complete, or accepted as it is.
    pub(crate) fn is_whole(&self) -> bool {
        self.complete || (self.end == End::Complete && self.accepted)
    }

    /// The number of entries and directories that could not be read.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Writes the result, and returns the exit status: 0; 1 if something could not be read or written, or if a scan file is partial
    /// without `--partial`; 128 plus the number of the signal that stopped the work, 130 for Ctrl-C. If the output is a closed pipe, it
    /// does not return.
    pub(crate) fn finish(self, write: impl FnOnce(Destination<'_>) -> io::Result<()>) -> Status {
        let (written, stdout_failed) = match self.session.table() {
            Some(mut table) => (write(Destination::Rows(table.insert(Records::default()))), false),
            None => {
                let stdout = Stdout::default();
                let mut out = BufWriter::with_capacity(1 << 16, stdout);
                let written = write(Destination::Text(&mut out)).and_then(|()| out.flush());
                // Dropping the writer would write the rest of the buffer again.
                (written, out.into_parts().0.failed)
            }
        };
        let session = self.session;
        if let Err(error) = written {
            if error.kind() == ErrorKind::BrokenPipe {
                return session.closed_pipe();
            }
            // Any other error, for example that of a temporary file, names its file.
            let begin = if stdout_failed { "cannot write to standard output: " } else { "" };
            session.say(format!("{begin}{}", message::plain(&error)).as_bytes());
            return Status::FAILURE;
        }
        match self.end {
            End::Cancelled => {
                session.say(b"interrupted: the result is incomplete");
                session.stopped().unwrap_or(Status::FAILURE)
            }
            End::Deadline => {
                session.say(b"timed out: the result is incomplete");
                Status::FAILURE
            }
            _ if self.fails => Status::FAILURE,
            _ => Status::SUCCESS,
        }
    }
}

/// Standard output, unbuffered, and whether it failed. (Std's takes a write to a closed descriptor for done.)
#[derive(Default)]
pub struct Stdout {
    failed: bool,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = file::write(stdio::STDOUT, bytes);
        self.failed |= written.is_err();
        Ok(written?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The destination of the result.
pub enum Destination<'o> {
    /// Standard output, in the format of the options.
    Text(&'o mut dyn Write),
    /// A table for another program, with the rows of `--csv`.
    Rows(&'o mut dyn RowWriter),
}
