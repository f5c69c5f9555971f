//! Parquet: a column for each fact, in a file that DuckDB, Polars, Spark and pandas read as it stands.
//!
//! WIP-DOCS

mod column;
mod group;
mod read;
mod schema;
mod seal;

pub(crate) use read::Columns;

use crate::{Output, Part, Sink, time};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::writer::SerializedFileWriter;
use column::Chunk;
use schema::Schema;
use seal::Sealed;
use std::io;
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
    /// Begins to write; `program` is told in the file's metadata.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(output: Output, program: &str) -> io::Result<Self> {
        let schema = Schema::new();
        let file = Sealed::new(output);
        let mut file =
            SerializedFileWriter::new(file, schema.root(), schema.properties()).map_err(io_error)?;
        file.append_key_value_metadata(key_value(schema::VERSION, crate::SCHEMA.to_string()));
        file.append_key_value_metadata(key_value(schema::PROGRAM, program.to_string()));
        file.append_key_value_metadata(key_value(schema::BEGUN, time::text(time::now())));
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

    fn finish(self: Box<Self>) -> io::Result<()> {
        let State { mut file, checksums, failed } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((kind, message)) = failed {
            return Err(io::Error::new(kind, message));
        }
        let checksums: Vec<String> = checksums.iter().map(|checksum| format!("{checksum:08x}")).collect();
        file.append_key_value_metadata(key_value(schema::CHECKSUMS, checksums.join(" ")));
        file.append_key_value_metadata(key_value(schema::ENDED, time::text(time::now())));
        file.flush()?;
        file.inner_mut().begin_footer();
        file.into_inner().map_err(io_error)?.commit()
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
