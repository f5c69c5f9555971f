//! Where the rows of a scan go, and where they are read again.
//!
//! A [`Sink`] is one output; each worker of a walk writes to a [`Part`] of its own, so that rows are encoded on all cores
//! and meet only where a finished piece is handed to the file.

pub mod journal;
mod row;

pub use row::{Asked, Facts, Fault, Row};

use std::io;

/// One output of a scan, shared by its workers.
pub trait Sink: Sync {
    /// What one worker writes to.
    fn part(&self) -> Box<dyn Part + '_>;

    /// Ends the output, after all parts have been flushed and dropped: only now does a file appear under its name.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// One worker's way into a [`Sink`].
pub trait Part: Send {
    /// Takes a row. An error is that of the output, and ends the scan.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;

    /// Hands over what is still held back. Dropping a part without it loses rows.
    fn flush(&mut self) -> io::Result<()>;
}
