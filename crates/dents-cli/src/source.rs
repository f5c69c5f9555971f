//! `--from`: a scan file in place of a tree.

use crate::entry::AnyEntry;
use crate::report::Diagnostics;
use crate::{interrupt, message};
use dents_core::tree::End;
use dents_sink::Extent;
use dents_sink::read::{self, Reader, Span};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

/// The options of it.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// Read a file that `dents scan -o` wrote, instead of a tree
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    from: Option<OsString>,
    /// Accept a FILE of an incomplete scan without a warning, with exit status 0
    #[arg(long, requires = "from")]
    partial: bool,
}

/// The scan file that was named.
#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    path: &'a OsStr,
    may_be_partial: bool,
}

impl Source {
    /// The file, if there is one.
    pub(crate) fn file(&self) -> Option<File<'_>> {
        self.from.as_deref().map(|path| File { path, may_be_partial: self.partial })
    }
}

/// A scan file, opened.
pub(crate) struct Opened<'a> {
    file: File<'a>,
    reader: Reader,
}

impl<'a> File<'a> {
    /// Opens it. Errors are reported.
    pub(crate) fn open(self) -> Result<Opened<'a>, ExitCode> {
        // Signals are handled from here on, also while opening a FIFO waits for its writer.
        interrupt::flag();
        match read::open(Path::new(self.path)) {
            Ok(reader) => Ok(Opened { file: self, reader }),
            Err(error) => {
                message::say(error.to_string().as_bytes());
                Err(ExitCode::FAILURE)
            }
        }
    }
}

impl Opened<'_> {
    /// Start and end of the scan, as far as the file has them.
    pub(crate) fn span(&self) -> Span {
        self.reader.span()
    }

    /// Gives every entry of the file. How many entries the scan could not read is reported at the end, in one line, and so is
    /// that the file is partial. An error of the file itself ends the command.
    pub(crate) fn each(
        self,
        diagnostics: &Diagnostics,
        mut give: impl FnMut(&AnyEntry<'_>),
    ) -> Result<End, ExitCode> {
        let cancel = interrupt::flag();
        let mut unread = 0;
        let File { path, may_be_partial } = self.file;
        let outcome = self.reader.for_each(&mut |row| {
            if cancel.load(Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // With --partial, a root that could not be opened counts as a reason why the file is partial, not as an error.
            unread += u64::from(row.fault.is_some() && !(may_be_partial && row.is_failed_root()));
            // A directory that could not be read has two rows; one of them is its entry.
            if !row.fault.is_some_and(|fault| fault.is_of_directory()) {
                give(&AnyEntry::row(row));
            }
            Ok(())
        });
        if unread > 0 {
            diagnostics.unread(path, unread);
        }
        match outcome {
            Ok(extent) => {
                if extent != Some(Extent::Complete) {
                    diagnostics.partial(path, extent, may_be_partial);
                }
                Ok(End::Complete)
            }
            Err(_) if cancel.load(Relaxed) => Ok(End::Cancelled),
            Err(error) => {
                message::say(error.to_string().as_bytes());
                Err(ExitCode::FAILURE)
            }
        }
    }
}
