//! How a scan ended, and its exit status.

use crate::message;
use crate::session::{Session, Status};
use dents_core::tree::{End, Tally};
use dents_sink::Extent;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The result of a walk, or of reading a scan file.
pub(super) struct Done {
    pub(super) end: End,
    pub(super) tally: Tally,
    /// Entries by type, if they were counted.
    pub(super) kinds: [u64; 16],
    /// A PATH could not be opened, or not read to its end; or the scan file is partial.
    pub(super) root_failed: bool,
    /// The final path of the output, if it was renamed.
    pub(super) renamed: Option<PathBuf>,
    /// Whether the entries are those of a scan file.
    pub(super) from_file: bool,
}

impl Done {
    pub(super) fn extent(&self) -> Extent {
        if self.end == End::Complete && !self.root_failed { Extent::Complete } else { Extent::Partial }
    }
}

/// The exit status of a walk whose output arrived. A signal that came after the end of the walk changed nothing.
pub(super) fn status(done: &Done, file: &Path, session: &Session) -> Status {
    let (why, status) = match done.end {
        End::Complete if !done.root_failed && done.tally.faults == 0 => return Status::SUCCESS,
        End::Complete if !done.root_failed => return Status::FAILURE,
        // That the scan file is partial was reported, or accepted.
        End::Complete if done.from_file && done.renamed.is_none() => {
            return if done.tally.faults == 0 { Status::SUCCESS } else { Status::FAILURE };
        }
        End::Complete if done.from_file => ("the scan is not complete", Status::FAILURE),
        End::Complete => ("not every PATH could be opened", Status::FAILURE),
        End::Deadline => ("timed out", Status::FAILURE),
        End::Cancelled | End::Stopped => ("interrupted", session.stopped().unwrap_or(Status::FAILURE)),
    };
    match &done.renamed {
        Some(partial) => {
            let [partial, file] = [partial, file].map(|path| message::quoted(path.as_os_str().as_bytes()));
            let found = [why.as_bytes(), b": the incomplete result is in ", &partial].concat();
            session.say(&[&found[..], b", and ", &file, b" is unchanged"].concat());
        }
        // The PATH was reported already, and nothing else is missing.
        None if done.end == End::Complete => {}
        None => session.say(format!("{why}: the output is incomplete").as_bytes()),
    }
    status
}

/// Reports an error of the output. A closed pipe is no error.
pub(super) fn cannot_write(error: &io::Error, session: &Session) -> Status {
    if error.kind() == ErrorKind::BrokenPipe {
        return session.closed_pipe();
    }
    session.say(message::plain(error).as_bytes());
    Status::FAILURE
}
