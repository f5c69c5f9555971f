//! A file that `dents scan -o` wrote, in place of a tree.

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

/// What was said about it.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// Of a file that `dents scan -o` wrote, instead of a tree
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    from: Option<OsString>,
    /// Accept a FILE of a scan that is not complete: no warning, and exit status 0
    #[arg(long, requires = "from")]
    partial: bool,
}

/// The file.
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

/// The same, opened.
pub(crate) struct Opened<'a> {
    file: File<'a>,
    reader: Reader,
}

impl<'a> File<'a> {
    /// Opens it. What is wrong with it is told.
    pub(crate) fn open(self) -> Result<Opened<'a>, ExitCode> {
        // From here on a signal is answered, also while a FIFO waits for its other end.
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
    /// When the scan was, as far as the file says.
    pub(crate) fn span(&self) -> Span {
        self.reader.span()
    }

    /// Gives every entry of the file. What could not be read when it was written is counted and told of at the end, in one
    /// line, and so is that it is partial; what is wrong with the file itself ends it all.
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
            // A root that could not be opened is what makes the file partial.
            unread += u64::from(row.fault.is_some() && !(may_be_partial && row.is_failed_root()));
            // A directory that could not be read has a row of its own besides.
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
