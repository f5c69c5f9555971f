//! Row groups on all cores: each thread takes a range of paths, encodes its rows, and appends them when it is its turn.

use super::checksum::Sealed;
use super::column::Chunk;
use super::error::io_error;
use super::group::Group;
use super::schema::Schema;
use crate::sorted::{Range, Sorted};
use ::parquet::errors::ParquetError;
use ::parquet::file::writer::SerializedFileWriter;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The approximate rows of a group. A small subtree may cross a boundary; then a reader reads two groups, which is 3 % of 2,000,000 rows. Half
/// as many rows cost 0.5 % more bytes; twice as many save 0.1 %.
const ROWS: u64 = 32 << 10;
/// The most threads. Each has a row group in memory, about 4 MB.
const THREADS: usize = 4;

type File = SerializedFileWriter<Sealed>;

/// Writes all rows. Returns the file, and the checksum of each row group.
pub(super) fn write(rows: &Sorted, schema: &Schema, file: File) -> io::Result<(File, Vec<u32>)> {
    let Some(ranges) = rows.ranges(ROWS) else { return one_by_one(rows, schema, file) };
    let state = State { file, checksums: Vec::new(), turn: 0, failed: None };
    let groups = Groups {
        rows,
        schema,
        ranges,
        next: AtomicUsize::new(0),
        state: Mutex::new(state),
        turned: Condvar::new(),
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 1..cores.min(THREADS).min(groups.ranges.len()) {
            // If no other thread can be started, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, || groups.work());
        }
        groups.work();
    });
    let State { file, checksums, failed, .. } =
        groups.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed {
        None => Ok((file, checksums)),
        Some(error) => Err(error),
    }
}

/// The same on one thread, which has one row group in memory.
fn one_by_one(rows: &Sorted, schema: &Schema, mut file: File) -> io::Result<(File, Vec<u32>)> {
    let (mut group, mut count, mut checksums) = (Group::new(schema), 0, Vec::new());
    let mut end = |group: &mut Group<'_>, checksums: &mut Vec<u32>| {
        let chunks = group.finish()?;
        if !chunks.is_empty() {
            checksums.push(checksum(&chunks));
            append(&mut file, &chunks).map_err(io_error)?;
        }
        Ok::<_, io::Error>(())
    };
    rows.all(&mut |row| {
        group.row(row)?;
        count += 1;
        if count % ROWS == 0 { end(&mut group, &mut checksums) } else { Ok(()) }
    })?;
    end(&mut group, &mut checksums)?;
    Ok((file, checksums))
}

fn checksum(chunks: &[Chunk]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    chunks.iter().for_each(|chunk| checksum.update(&chunk.bytes));
    checksum.finalize()
}

/// State that the threads share.
struct Groups<'g> {
    rows: &'g Sorted,
    schema: &'g Schema,
    ranges: Vec<Range>,
    /// The range that the next thread takes.
    next: AtomicUsize,
    state: Mutex<State>,
    /// Notified when a range is in the file, or has failed.
    turned: Condvar,
}

struct State {
    file: File,
    checksums: Vec<u32>,
    /// The range whose rows come next in the file.
    turn: usize,
    /// The first error, which ends the work of all threads.
    failed: Option<io::Error>,
}

impl Groups<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encodes and appends ranges until there are no more.
    fn work(&self) {
        let _end = EndAll(self);
        let mut group = Group::new(self.schema);
        loop {
            let turn = self.next.fetch_add(1, Relaxed);
            let Some(range) = self.ranges.get(turn) else { return };
            let result = self.encode(range, &mut group).and_then(|chunks| self.append(turn, &chunks));
            if let Err(error) = result {
                self.fail(error);
            }
            if self.lock().failed.is_some() {
                return;
            }
        }
    }

    fn fail(&self, error: io::Error) {
        self.lock().failed.get_or_insert(error);
        self.turned.notify_all();
    }

    fn encode(&self, range: &Range, group: &mut Group<'_>) -> io::Result<Vec<Chunk>> {
        self.rows.each(range, &mut |row| group.row(row))?;
        group.finish()
    }

    /// Appends a row group after those before it. Every range before was taken by a thread that appends it or fails.
    fn append(&self, turn: usize, chunks: &[Chunk]) -> io::Result<()> {
        let checksum = checksum(chunks);
        let waits = |state: &mut State| state.turn < turn && state.failed.is_none();
        let mut state = self.turned.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_some() {
            return Ok(());
        }
        if !chunks.is_empty() {
            append(&mut state.file, chunks).map_err(io_error)?;
            state.checksums.push(checksum);
        }
        state.turn += 1;
        self.turned.notify_all();
        Ok(())
    }
}

/// Ends the work of all threads if this one panics: the others would wait for its turn.
struct EndAll<'g>(&'g Groups<'g>);

impl Drop for EndAll<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(io::Error::other("a thread has panicked"));
        }
    }
}

fn append(file: &mut File, chunks: &[Chunk]) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for chunk in chunks {
        group.append_column(&chunk.bytes, chunk.close.clone())?;
    }
    group.close().map(|_| ())
}
