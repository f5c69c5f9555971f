//! Which format, and the sink that writes it.

use crate::{Output, Sink, ndjson};
use std::io;
use std::path::Path;

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

/// Begins a file. `program` is told to its readers where the format has a place for it (`dents 0.1.0`); the scan begins now.
///
/// # Errors
/// If the file cannot be created, or cannot be of this format: the message names it, the problem and the way out.
pub fn create(path: &Path, format: Format, program: &str) -> io::Result<Box<dyn Sink>> {
    let _ = program; // NDJSON has no place for it.
    let output = Output::create(path)?;
    Ok(match format {
        Format::Ndjson => Box::new(ndjson::Ndjson::new(output)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Parquet::new(output, program)?),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => Box::new(crate::sqlite::Sqlite::new(output, program)?),
    })
}
