//! One output, and its parts.

use crate::format::Extent;
use crate::output::Own;
use crate::row::Row;
use std::io;
use std::path::PathBuf;

/// One output of a scan, shared by its workers.
pub trait Sink: Sync {
    /// A part, for one worker.
    fn part(&self) -> Box<dyn Part + '_>;

    /// Where the file is written, if there is one.
    fn own(&self) -> Option<Own> {
        None
    }

    /// Completes the output, after all parts were flushed and dropped. Then the file appears, see [`Output::commit`](crate::Output::commit). Returns its
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
