//! A file that `dents scan -o` wrote, in place of a tree.

use crate::report::Meanwhile;
use crate::seen::Seen;
use crate::{interrupt, message};
use dents::tree::End;
use dents_sink::read::{self, Reader};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

/// Opens the file. What is wrong with it is told.
pub(crate) fn open(file: &OsStr) -> Result<Reader, ExitCode> {
    // From here on a signal is answered, also while a FIFO waits for its other end.
    interrupt::flag();
    read::open(Path::new(file)).map_err(|error| {
        message::say(error.to_string().as_bytes());
        ExitCode::FAILURE
    })
}

/// Gives every entry of the file. What could not be read when it was written is counted and told of at the end, in one
/// line; what is wrong with the file itself ends it all.
pub(crate) fn each(
    reader: Reader,
    file: &OsStr,
    meanwhile: &Meanwhile,
    mut give: impl FnMut(&Seen<'_>),
) -> Result<End, ExitCode> {
    let cancel = interrupt::flag();
    let mut unread = 0;
    let outcome = reader.for_each(&mut |row| {
        if cancel.load(Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        unread += u64::from(row.fault.is_some());
        // A directory that could not be read has a row of its own besides.
        if !row.fault.is_some_and(|fault| fault.is_of_directory()) {
            give(&Seen::row(row));
        }
        Ok(())
    });
    if unread > 0 {
        meanwhile.unread(file, unread);
    }
    match outcome {
        Ok(()) => Ok(End::Complete),
        Err(_) if cancel.load(Relaxed) => Ok(End::Cancelled),
        Err(error) => {
            message::say(error.to_string().as_bytes());
            Err(ExitCode::FAILURE)
        }
    }
}
