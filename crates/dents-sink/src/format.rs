//! The formats, and the sink of each.

use crate::read::Columns;
use crate::time::Unit;
use crate::{Output, Own, Sink, ndjson};
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
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
    /// The JSON of ncdu: [`crate::ncdu`].
    #[cfg(feature = "parquet")]
    Ncdu,
}

impl Format {
    /// The formats that this build can write and that keep rows exactly: all but [`crate::ncdu`].
    pub const ALL: &[Format] = &[
        Format::Ndjson,
        #[cfg(feature = "parquet")]
        Format::Parquet,
        #[cfg(feature = "sqlite")]
        Format::Sqlite,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Ndjson => "ndjson",
            #[cfg(feature = "parquet")]
            Format::Parquet => "parquet",
            #[cfg(feature = "sqlite")]
            Format::Sqlite => "sqlite",
            #[cfg(feature = "parquet")]
            Format::Ncdu => "ncdu",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Format> {
        #[cfg(feature = "parquet")]
        if name == "ncdu" {
            return Some(Format::Ncdu);
        }
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format by the extension of a file: `.ndjson`, `.jsonl`, `.json`; `.parquet`; `.sqlite`, `.sqlite3`, `.db`.
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

/// The metadata of a scan, which its file keeps.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The program that wrote it: `dents 0.1.0`.
    pub program: &'a str,
    /// The start of the scan; of a resumed scan the first start.
    pub begun: Time,
    /// The end of a scan that has ended, for example when its file is converted. `None`: the scan ends when the output is finished.
    pub ended: Option<Time>,
    /// The unit of times in Parquet. All other formats have nanoseconds.
    pub timestamps: Unit,
    /// Whether SQLite makes indexes. The other formats have none.
    pub index: bool,
    /// The details that have a column ([`Columns::DETAILS`]).
    pub details: Columns,
    /// The subvolumes of btrfs where the scan began, as they were before its start.
    pub subvolumes: &'a [Subvolume],
}

/// Begins a file, with the metadata of `about`.
///
/// # Errors
/// If the file cannot be created, or cannot have this format: the message names the file, the problem and a remedy.
pub fn create(path: &Path, format: Format, about: &About<'_>) -> io::Result<Box<dyn Sink>> {
    let output = Output::create(path)?;
    Ok(match format {
        Format::Ndjson => Box::new(ndjson::Ndjson::new(output, about)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Parquet::new(output, about)?),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => Box::new(crate::sqlite::Sqlite::new(output, about)?),
        #[cfg(feature = "parquet")]
        Format::Ncdu => Box::new(crate::ncdu::Ncdu::new(output, about)),
    })
}

/// Checks whether [`create`] would succeed, before a caller works for hours. Creates a file in the same directory and removes it
/// again. For a FIFO it checks only the format, because to open the FIFO would wait for a reader. Returns where the file will be.
///
/// # Errors
/// Those of [`create`].
pub fn check(path: &Path, format: Format) -> io::Result<Option<Own>> {
    let waits = fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo());
    let output = if waits { None } else { Some(Output::create(path)?) };
    let own = output.and_then(|output| output.own());
    match format {
        #[cfg(feature = "sqlite")]
        Format::Sqlite if own.is_none() => Err(crate::sqlite::needs_a_file(path)),
        _ => Ok(own),
    }
}
