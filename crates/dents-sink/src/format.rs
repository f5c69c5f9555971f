//! Which format, and the sink that writes it.

use crate::time::Unit;
use crate::{Output, Sink, ndjson};
use dents_core::batch::Time;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::{fs, io};

/// A format of scan files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line: [`crate::ndjson`].
    Ndjson,
    /// Columns: [`crate::parquet`].
    #[cfg(feature = "parquet")]
    Parquet,
    /// A database: [`crate::sqlite`].
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl Format {
    /// The formats that this build can write.
    pub const ALL: &[Format] = &[
        Format::Ndjson,
        #[cfg(feature = "parquet")]
        Format::Parquet,
        #[cfg(feature = "sqlite")]
        Format::Sqlite,
    ];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Ndjson => "ndjson",
            #[cfg(feature = "parquet")]
            Format::Parquet => "parquet",
            #[cfg(feature = "sqlite")]
            Format::Sqlite => "sqlite",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format that a file's suffix asks for: `.ndjson`, `.jsonl`, `.json`; `.parquet`; `.sqlite`, `.sqlite3`, `.db`.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "ndjson" | "jsonl" | "json" => Some(Format::Ndjson),
            #[cfg(feature = "parquet")]
            "parquet" => Some(Format::Parquet),
            #[cfg(feature = "sqlite")]
            "sqlite" | "sqlite3" | "db" => Some(Format::Sqlite),
            _ => None,
        }
    }
}

/// What a file says of its scan as a whole, and how.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What wrote it: `dents 0.1.0`.
    pub program: &'a str,
    /// When the scan was begun: of one that was killed and went on, for the first time.
    pub begun: Time,
    /// What times are counted in, in Parquet. The other formats have room for nanoseconds that every reader knows.
    pub timestamps: Unit,
}

/// Begins a file. Its readers are told what `about` says.
///
/// # Errors
/// If the file cannot be created, or cannot be of this format: the message names it, the problem and the way out.
pub fn create(path: &Path, format: Format, about: &About<'_>) -> io::Result<Box<dyn Sink>> {
    let output = Output::create(path)?;
    Ok(match format {
        Format::Ndjson => Box::new(ndjson::Ndjson::new(output, about)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Parquet::new(output, about)?),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => Box::new(crate::sqlite::Sqlite::new(output, about)?),
    })
}

/// Creates a file as [`create`] would and removes it again: for a caller that has hours of work to do before it calls that.
/// Costs a file in the same directory for a moment. Of a FIFO only the format is checked: to open one waits for its reader.
///
/// # Errors
/// Those of [`create`].
pub fn check(path: &Path, format: Format) -> io::Result<()> {
    let waits = fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo());
    let output = if waits { None } else { Some(Output::create(path)?) };
    match format {
        #[cfg(feature = "sqlite")]
        Format::Sqlite if output.is_none_or(|output| output.temporary_path().is_none()) => {
            Err(crate::sqlite::needs_a_file(path))
        }
        _ => Ok(()),
    }
}
