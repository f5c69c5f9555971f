//! Where the rows of a scan go, and where they are read again.
//!
//! ```text
//! walk ─► Row ─► Part ─┐                               ┌─► Row
//! walk ─► Row ─► Part ─┼─► Sink ─► Output ─► FILE ─► Reader
//! walk ─► Row ─► Part ─┘  a lock   renamed
//!                encodes           when whole
//! ```
//!
//! A [`Sink`] is one output; each worker of a walk writes to a [`Part`] of its own, so that rows are encoded on all cores
//! and meet only where a finished piece is handed to the file. [`create`] makes the sink of a [`Format`]; a file appears
//! under its name when it is whole, and the result of a walk that did not end beside it ([`Output`]). [`read::open`]
//! recognises what was written and gives the same rows again; every format records whether they are all ([`Extent`]).
//!
//! The formats are described where they are written: [`ndjson`], [`mod@parquet`], [`sqlite`]. What a row can say, they
//! all keep, byte for byte and nanosecond for nanosecond, but for Parquet, where a file has microseconds unless it is asked
//! for more. What is UTF-8 is text in all of them, and what is not is bytes; the order of rows is that in which workers hand
//! over, and means nothing.

mod format;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod journal;
mod message;
pub mod ndjson;
mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod read;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod time;
mod words;

pub use dents_render::record::errno_name;
pub use format::{About, Format, check, create};
pub use message::plain;
pub use output::Output;
pub use row::{Asked, Facts, Fault, Row};

use std::io;
use std::path::PathBuf;

/// The version of the schema that NDJSON and SQLite share: which facts there are, what they are called and what they mean. A
/// reader takes files of this version and of older ones; what is only added does not make a new version. Parquet counts its
/// own, as its columns have changed.
pub const SCHEMA: u32 = 1;

/// How much of a scan an output holds. Each format records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All: every root was opened, and the walk reached its end. Directories below the roots that could not be read have a
    /// row that says so.
    Complete,
    /// What was found until the walk was stopped, or without the roots that could not be opened.
    Partial,
}

/// One output of a scan, shared by its workers.
pub trait Sink: Sync {
    /// What one worker writes to.
    fn part(&self) -> Box<dyn Part + '_>;

    /// Ends the output, after all parts have been flushed and dropped: only now does a file appear, as
    /// [`Output::commit`] says. Gives the path where it did.
    ///
    /// # Errors
    /// That of the output; then no file appears.
    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>>;
}

/// One worker's way into a [`Sink`].
pub trait Part: Send {
    /// Takes a row. An error is that of the output, and ends the scan.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;

    /// Hands over what is still held back. Dropping a part without it loses rows.
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
