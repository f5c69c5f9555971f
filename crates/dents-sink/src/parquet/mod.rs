//! Parquet: a column for each fact, in a file that DuckDB, Polars, Spark and pandas read as it stands.
//!
//! # The schema, version 2
//!
//! | column | type | value |
//! |---|---|---|
//! | `path`, `parent`, `name` | STRING | null where it is not UTF-8; the parent of an operand is empty |
//! | `path_bytes`, `parent_bytes` | BYTE_ARRAY | exact bytes. The name is what follows the parent and a slash |
//! | `depth` | UINT_32 | 0 for operands |
//! | `type` | STRING | `file`, `directory`, `link`, `fifo`, `socket`, `char`, `block`, `whiteout`, `unknown` |
//! | `ino`, `dev` | UINT_64 | `dev` as `stat(2)` numbers devices (`makedev(3)`) |
//! | `nlink`, `uid`, `gid` | UINT_32 | |
//! | `mode` | UINT_16 | with its type bits |
//! | `user`, `group` | STRING | null if the id has no name, or one that is not UTF-8 |
//! | `user_bytes`, `group_bytes` | BYTE_ARRAY | null if the id has no name |
//! | `size`, `allocated` | UINT_64 | bytes |
//! | `atime`, `btime`, `ctime`, `mtime` | TIMESTAMP(MICROS, UTC) | or NANOS, see below |
//! | `target` | STRING | where a symbolic link leads; null where it is not UTF-8 |
//! | `target_bytes` | BYTE_ARRAY | where a symbolic link leads |
//! | `asked` | STRING | what could not be found out: `stat`, `link`, `open`, `read`, `loop` |
//! | `errno` | INT_32 | what the kernel said |
//! | `lazy` | BOOLEAN | whether the values may be out of date |
//! | `far_times` | STRING | see below |
//!
//! What is not known is null; `path_bytes`, `parent_bytes`, `depth` and `type` are always there.
//!
//! **Text and bytes.** Names are bytes, and a column of text that held one that is not UTF-8 would make readers refuse the file.
//! So each has two columns: text for people and their queries, bytes for all else. Columns have one type here; SQLite, where
//! each value has a type of its own, does with one (`sqlite`), and NDJSON writes either the one or the other (`ndjson`).
//!
//! **Times** are microseconds, rounded down, as Spark, Iceberg and others refuse nanoseconds; a file is written with
//! [nanoseconds](crate::time::Unit) if that is asked for. Microseconds of 64 bits reach 292,000 years, nanoseconds from
//! September 1677 to April 2262. A time beyond is there as the nearest of these, so that comparisons stay right, and `far_times`
//! has it in full: `mtime=+300000-01-01T00:00:00.000000000Z`, several with a space between them, in the form of [`crate::time`].
//!
//! Version 1 had bytes alone, in columns called `path`, `parent`, `user`, `group` and `target`, and nanoseconds. It is read too.
//!
//! The file's metadata has `dents.schema` (2), `dents.program`, `dents.begun`, `dents.ended` (RFC 3339), `dents.complete` (`true`,
//! or `false` if a root could not be opened or the walk was stopped) and `dents.crc32` (`checksum.rs`).
//!
//! # How it is written
//!
//! Each part encodes a row group of its own, in memory, while rows come in; under the lock its bytes are only copied. A group
//! has 131,072 rows, of which about 5 MB are held back; with more than eight parts fewer, so that all of them together hold
//! about a million rows, but no fewer than 8,192 each.
//!
//! What each encoding costs, in nanoseconds of one core and bytes for a row, 1,000,000 invented rows (`examples/export.rs`), least
//! of five runs on a busy machine; 70 ns of them make the row up:
//!
//! | | user | system | bytes |
//! |---|---|---|---|
//! | **times delta, lz4_raw** | 606 | 33 | 36.5 |
//! | times delta, snappy | 624 | 28 | 36.2 |
//! | times delta, zstd level 1 | 834 | 37 | 29.0 |
//! | times plain, not compressed | 612 | 64 | 59.8 |
//! | times plain, lz4_raw | 688 | 51 | 46.9 |
//! | … and path plain | 641 | 78 | 49.7 |
//! | … and path delta length | 660 | 102 | 49.3 |
//! | … and inodes plain | 627 | 39 | 50.7 |
//! | … and sizes delta | 699 | 35 | 45.9 |
//! | … and sizes in a dictionary | 665 | 56 | 46.7 |
//! | … without statistics of paths | 658 | 54 | 46.9 |
//!
//! These are of version 1, which had bytes alone. Text beside them costs on `/usr` (153,309 entries, two workers, a busy machine,
//! medians of 5 in turns) 0.66 s of processor time in place of 0.56 s for the whole scan, and a file of 6.02 MB in place of
//! 3.64 MB: 1.24 MB for each of the two columns of paths, 1.15 MB for the names; microseconds spare 0.23 MB.
//!
//! The times of a directory's files are near each other, so their differences are small: written faster than compressed. Paths
//! share their beginning with the one before, and most parents all of it. All others have few values and go into dictionaries; to look each value up there
//! is what costs most.
//!
//! Version 1 against a walk with all of `statx` (`dents scan --format=parquet -o FILE` and `dents scan --count` with the same facts, 2,012,004
//! entries, warm, two cores): the walk 2.7 s, with Parquet 3.4 s, a file of 42 MiB.

mod checksum;
mod column;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod group;
mod panics;
mod read;
mod schema;

pub use panics::on_panic;
pub(crate) use read::Columns;

use crate::{About, Extent, Output, Part, Sink, time};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::writer::SerializedFileWriter;
use checksum::Sealed;
use column::Chunk;
use schema::Schema;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rows of a group, at most.
const GROUP: usize = 128 << 10;
/// Rows that all parts together hold back, at most, as long as each may hold [`GROUP_LEAST`].
const HELD: usize = 1 << 20;
/// Rows of a group, at least, but for the last ones.
const GROUP_LEAST: usize = 8 << 10;

/// A Parquet file that is being written.
pub struct Parquet {
    schema: Schema,
    state: Mutex<State>,
    parts: AtomicUsize,
}

struct State {
    file: SerializedFileWriter<Sealed>,
    /// The checksum of each row group.
    checksums: Vec<u32>,
    /// What went wrong, for the parts that come after.
    failed: Option<(io::ErrorKind, String)>,
}

impl Parquet {
    /// Begins to write; program and begin are told in the file's metadata.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(output: Output, about: &About<'_>) -> io::Result<Self> {
        let schema = Schema::new(about.timestamps);
        let file = Sealed::new(output);
        let mut file =
            SerializedFileWriter::new(file, schema.root(), schema.properties()).map_err(io_error)?;
        file.append_key_value_metadata(key_value(schema::VERSION, schema::NUMBER.to_string()));
        file.append_key_value_metadata(key_value(schema::PROGRAM, about.program.to_string()));
        file.append_key_value_metadata(key_value(schema::BEGUN, time::text(about.begun)));
        let state = Mutex::new(State { file, checksums: Vec::new(), failed: None });
        Ok(Parquet { schema, state, parts: AtomicUsize::new(0) })
    }

    /// How many rows a part may hold back: the more parts, the fewer.
    fn rows_of_a_part(&self) -> usize {
        (HELD / self.parts.load(Ordering::Relaxed).max(1)).clamp(GROUP_LEAST, GROUP)
    }

    /// Appends a row group. Its bytes are copied under the lock, and nothing more is done there.
    fn append(&self, chunks: Vec<Chunk>) -> io::Result<()> {
        let mut checksum = crc32fast::Hasher::new();
        chunks.iter().for_each(|chunk| checksum.update(&chunk.bytes));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((kind, message)) = &state.failed {
            return Err(io::Error::new(*kind, message.clone()));
        }
        let appended = append(&mut state.file, chunks).map_err(io_error);
        state.failed = appended.as_ref().err().map(|error| (error.kind(), error.to_string()));
        state.checksums.push(checksum.finalize());
        appended
    }
}

fn append(file: &mut SerializedFileWriter<Sealed>, chunks: Vec<Chunk>) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for chunk in chunks {
        group.append_column(&chunk.bytes, chunk.close)?;
    }
    group.close().map(|_| ())
}

fn key_value(key: &str, value: String) -> KeyValue {
    KeyValue::new(key.to_string(), value)
}

impl Sink for Parquet {
    fn part(&self) -> Box<dyn Part + '_> {
        self.parts.fetch_add(1, Ordering::Relaxed);
        Box::new(group::Writer::new(self))
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let State { mut file, checksums, failed } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((kind, message)) = failed {
            return Err(io::Error::new(kind, message));
        }
        let checksums: Vec<String> = checksums.iter().map(|checksum| format!("{checksum:08x}")).collect();
        file.append_key_value_metadata(key_value(schema::CHECKSUMS, checksums.join(" ")));
        file.append_key_value_metadata(key_value(schema::ENDED, time::text(time::now())));
        let complete = extent == Extent::Complete;
        file.append_key_value_metadata(key_value(schema::COMPLETE, complete.to_string()));
        file.flush()?;
        file.inner_mut().begin_footer();
        file.into_inner().map_err(io_error)?.commit(extent)
    }
}

/// The error of the output, if that is what it is about; it names the file already.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}
