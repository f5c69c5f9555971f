//! The sink of a stream: each worker makes batches of its own, and sends them.

use crate::columns::{Builder, Columns};
use arrow_array::RecordBatch;
use dents_sink::{Extent, Part, Row, Sink};
use dents_sys::clock;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// A worker sends a batch when it has so many rows.
const FULL: usize = 1 << 14;

/// It also sends when its first row is this old, so that the reader of a slow file system gets rows soon.
const STALE_NS: u64 = 50_000_000;

/// After so many rows the clock is read: 50 ns.
const LOOK: usize = 64;

/// Sends batches to a reader; a worker waits while the reader has enough of them.
pub(crate) struct Batches {
    pub(crate) columns: Columns,
    pub(crate) sender: SyncSender<RecordBatch>,
}

impl Sink for Batches {
    fn part(&self) -> Box<dyn Part + '_> {
        let builder = self.columns.builder();
        Box::new(Piece { builder, sender: self.sender.clone(), path: Vec::new(), since: 0 })
    }

    fn finish(self: Box<Self>, _: Extent) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }
}

/// One worker's rows.
struct Piece {
    builder: Builder,
    sender: SyncSender<RecordBatch>,
    path: Vec<u8>,
    /// The time of the first row.
    since: u64,
}

impl Part for Piece {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.builder.push(row, &mut self.path);
        let rows = self.builder.rows();
        if rows >= FULL {
            return self.flush();
        }
        if rows == 1 {
            self.since = clock::monotonic_ns();
        } else if rows.is_multiple_of(LOOK) && clock::monotonic_ns().saturating_sub(self.since) > STALE_NS {
            return self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.builder.rows() == 0 {
            return Ok(());
        }
        // The reader has gone: as if a pipe were closed.
        self.sender.send(self.builder.finish()).map_err(|_| ErrorKind::BrokenPipe.into())
    }
}
