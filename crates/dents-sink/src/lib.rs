//! Formats for the rows of a scan: writers and readers.
//!
//! ```text
//! walk ─► Row ─► Part ─┐                                     ┌─► Row ─► Take
//! walk ─► Row ─► Part ─┼─► Sink ─► Output ─► FILE ─► Reader ─┼─► Row ─► Take
//! walk ─► Row ─► Part ─┘  a lock   renamed           wanted  └─► Row ─► Take
//!                encodes           when whole        columns, paths
//! ```
//!
//! A [`Sink`] is one output. Each worker of a walk writes to a [`Part`] of its own, so rows are encoded on all cores, and only writing to the
//! file takes a lock; Parquet sorts all rows first. [`create`] makes the sink of a [`Format`]. A file appears under its name when it is
//! complete; the result of an incomplete scan gets another name ([`Output`]). [`read::open`] recognises the format, and passes the rows,
//! or the part of them that a program [wants](read::Wanted), to several workers. Every format records whether it has all rows
//! ([`Extent`]). A scan may be a directory of Parquet files, with a [`manifest`].
//!
//! Each format is described in its module: [`ndjson`], [`mod@parquet`], [`sqlite`], [`ncdu`]. All of them but ncdu's keep rows exactly, bytes and
//! nanoseconds; only Parquet has microseconds unless nanoseconds are requested. Names that are UTF-8 are text, other names are
//! bytes. The rows of Parquet are in the order of their paths; in other formats their order has no meaning.

mod checksum;
pub mod coding;
mod details;
mod dir;
mod extension;
mod format;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod journal;
#[cfg(feature = "parquet")]
pub mod manifest;
mod message;
#[cfg(feature = "parquet")]
pub mod ncdu;
pub mod ndjson;
mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
pub mod parts;
pub mod read;
mod root;
mod row;
#[cfg(feature = "parquet")]
mod sorted;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod subvolumes;
pub mod time;
mod words;

pub use dents_core::facts::Facts;
pub use dents_render::record::errno_name;
pub use details::{Detail, Details, Draft, Value};
pub use extension::extension;
pub use format::{About, Format, check, create};
pub use message::plain;
pub use output::{Output, Own, Scratch, Temporary};
pub use row::{Asked, Fault, Row};

use std::io;
use std::path::PathBuf;

/// The version of the schema that NDJSON and SQLite share: the fields, their names and their meaning. A reader takes files of this
/// version and of older ones; a field that is added does not change the version. Parquet has a version of its own, as its columns have
/// changed.
pub const SCHEMA: u32 = 1;

/// Whether an output has the whole scan. Each format records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All: every root was opened, and the walk reached its end. Directories below the roots that could not be read have a
    /// row with the error.
    Complete,
    /// The walk was stopped, or roots could not be opened.
    Partial,
}

/// One output of a scan, shared by its workers.
pub trait Sink: Sync {
    /// A part, for one worker.
    fn part(&self) -> Box<dyn Part + '_>;

    /// Where the file is written, if there is one.
    fn own(&self) -> Option<Own> {
        None
    }

    /// Completes the output, after all parts were flushed and dropped. Then the file appears, see [`Output::commit`]. Returns its
    /// path if it was renamed.
    ///
    /// # Errors
    /// An error of the output; then no file appears.
    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>>;
}

/// Receives the rows of one worker for a [`Sink`].
pub trait Part: Send {
    /// Takes a row. An error of the output ends the scan.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;

    /// Writes the rows that are still in memory. Dropping a part without this loses them.
    fn flush(&mut self) -> io::Result<()>;
}

impl<P: Part + ?Sized> Part for Box<P> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        (**self).row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }
}
