//! The formats of scan files, and the metadata of a scan.

use crate::time::Unit;
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use dents_core::facts::Columns;
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

/// Whether an output has the whole scan. Each format records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All: every root was opened, and the walk reached its end. Directories below the roots that could not be read have a
    /// row with the error.
    Complete,
    /// The walk was stopped, or roots could not be opened.
    Partial,
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
