//! The sink of a stream: each worker makes batches of its own, and sends them.

use crate::columns::{Builder, Columns};
use arrow_array::RecordBatch;
use dents_sink::{Extent, Part, Row, Sink};
use dents_sys::clock;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// A worker sends a batch when it has this many rows.
const FULL: usize = 1 << 14;

/// A worker also sends a batch when its first row is this old, so that rows of a slow file system reach the reader soon.
const STALE_NS: u64 = 50_000_000;

/// Rows between two clock readings. A reading costs 50 ns.
const LOOK: usize = 64;

/// Sends batches to a reader. A worker waits while [`AHEAD`](crate::stream) batches wait for the reader.
pub(crate) struct Batches {
    pub(crate) columns: Columns,
    pub(crate) sender: SyncSender<RecordBatch>,
}

impl Sink for Batches {
    fn part(&self) -> Box<dyn Part + '_> {
        let builder = self.columns.builder();
        Box::new(WorkerRows { builder, sender: self.sender.clone(), path: Vec::new(), since: 0 })
    }

    fn finish(self: Box<Self>, _: Extent) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }
}

/// One worker's rows.
struct WorkerRows {
    builder: Builder,
    sender: SyncSender<RecordBatch>,
    path: Vec<u8>,
    /// The time of the first row.
    since: u64,
}

impl Part for WorkerRows {
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
        // The reader was dropped: the error is that of a closed pipe.
        self.sender.send(self.builder.finish()).map_err(|_| ErrorKind::BrokenPipe.into())
    }
}
