//! Errors of journals; each message names a remedy.

use super::frame::VERSION;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason why a journal cannot be opened.
#[derive(Debug)]
pub enum Error {
    /// Another process uses it.
    InUse {
        /// The journal.
        dir: PathBuf,
        /// The process ID that it wrote; empty if it wrote none.
        by: String,
    },
    /// The directory contains other files.
    Foreign {
        /// The directory.
        dir: PathBuf,
        /// One of them.
        name: String,
    },
    /// The scan began with other options.
    OtherOptions {
        /// The journal.
        dir: PathBuf,
        /// The options of the first run.
        theirs: String,
        /// The options of this run.
        ours: String,
    },
    /// The scan has other paths.
    OtherPaths {
        /// The journal.
        dir: PathBuf,
        /// The paths of the first run.
        theirs: Vec<CString>,
    },
    /// The scan began in another working directory, where relative paths lead to other files.
    OtherDirectory {
        /// The journal.
        dir: PathBuf,
        /// The working directory of the first run.
        theirs: PathBuf,
        /// The present working directory.
        ours: PathBuf,
    },
    /// A path leads to another file than in the first run.
    OtherTree {
        /// The journal.
        dir: PathBuf,
        /// The path.
        path: CString,
        /// The difference, in words.
        change: &'static str,
    },
    /// A path is given twice, so its directories could not be distinguished.
    Twice {
        /// The path.
        path: CString,
    },
    /// It has another format.
    Version {
        /// The journal.
        dir: PathBuf,
        /// The number of its format.
        version: u32,
    },
    /// Its contents are invalid.
    Damaged {
        /// The invalid file.
        file: PathBuf,
    },
    /// It could not be read or written; names the file.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InUse { dir, by } => {
                write!(out, "{}: this journal is in use", dir.display())?;
                if !by.is_empty() {
                    write!(out, " by process {by}")?;
                }
                write!(out, ": wait for it, or name another directory")
            }
            Error::Foreign { dir, name } => write!(
                out,
                "{}: not a journal, since it contains {name:?}: name an empty directory, or one that does not exist yet",
                dir.display()
            ),
            Error::OtherOptions { dir, theirs, ours } => write!(
                out,
                "{}: this journal was begun with the options \"{theirs}\", which are \"{ours}\" now: run it with those, \
                 or remove the directory to begin anew",
                dir.display()
            ),
            Error::OtherPaths { dir, theirs } => {
                write!(out, "{}: this journal is of", dir.display())?;
                for path in theirs {
                    write!(out, " {:?}", String::from_utf8_lossy(path.to_bytes()))?;
                }
                write!(out, ": run it with the same, or remove the directory to begin anew")
            }
            Error::OtherDirectory { dir, theirs, ours } => write!(
                out,
                "{}: this journal was begun in {theirs:?}, not in {ours:?}: run it there, or remove {0} to begin anew",
                dir.display()
            ),
            Error::OtherTree { dir, path, change } => write!(
                out,
                "{}: {:?} is not what it was when this journal was begun, {change}: bring that back, or remove {0} to \
                 begin anew",
                dir.display(),
                String::from_utf8_lossy(path.to_bytes())
            ),
            Error::Twice { path } => {
                let path = String::from_utf8_lossy(path.to_bytes());
                write!(out, "{path:?} is given twice, which a journal cannot tell apart: name it once")
            }
            Error::Version { dir, version } => write!(
                out,
                "{}: this journal has format {version}, and this program reads format {}: finish it with the program \
                 that began it, or remove the directory to begin anew",
                dir.display(),
                VERSION
            ),
            Error::Damaged { file } => {
                let dir = file.parent().unwrap_or(file);
                write!(
                    out,
                    "{}: damaged, this journal cannot be used: remove {} to begin anew",
                    file.display(),
                    dir.display()
                )
            }
            Error::Io(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Io(error) => error,
            other => io::Error::other(other),
        }
    }
}
