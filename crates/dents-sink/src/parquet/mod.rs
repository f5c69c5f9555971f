//! Parquet: a column for each fact, in a file that DuckDB, Polars, Spark and pandas read as it stands.
//!
//! WIP-DOCS

mod column;
mod group;
mod read;
mod schema;

pub(crate) use read::Columns;

use crate::{Output, Part, Sink, time};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::writer::SerializedFileWriter;
use column::Chunk;
use schema::Schema;
use std::io::{self, BufWriter};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rows of a group, at most.
const GROUP: usize = 128 << 10;
/// Rows that all parts together hold back, at most, as long as each may hold [`GROUP_LEAST`].
const HELD: usize = 1 << 20;
/// Rows of a group, at least, but for the last ones.
const GROUP_LEAST: usize = 8 << 10;

type File = SerializedFileWriter<BufWriter<Output>>;

/// A Parquet file that is being written.
pub struct Parquet {
    schema: Schema,
    file: Mutex<File>,
    parts: AtomicUsize,
}

impl Parquet {
    /// Begins to write; `program` is told in the file's metadata.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(output: Output, program: &str) -> io::Result<Self> {
        let schema = Schema::new();
        let file = BufWriter::with_capacity(1 << 20, output);
        let mut file =
            SerializedFileWriter::new(file, schema.root(), schema.properties()).map_err(io_error)?;
        for (key, value) in [
            (schema::VERSION, crate::SCHEMA.to_string()),
            (schema::PROGRAM, program.to_string()),
            (schema::BEGUN, time::text(time::now())),
        ] {
            file.append_key_value_metadata(KeyValue::new(key.to_string(), value));
        }
        Ok(Parquet { schema, file: Mutex::new(file), parts: AtomicUsize::new(0) })
    }

    /// How many rows a part may hold back: the more parts, the fewer.
    fn rows_of_a_part(&self) -> usize {
        (HELD / self.parts.load(Ordering::Relaxed).max(1)).clamp(GROUP_LEAST, GROUP)
    }

    /// Appends a row group. Only its bytes are copied under the lock.
    fn append(&self, chunks: Vec<Chunk>) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let append = |file: &mut File| {
            let mut group = file.next_row_group()?;
            for chunk in chunks {
                group.append_column(&chunk.bytes, chunk.close)?;
            }
            group.close().map(|_| ())
        };
        append(&mut file).map_err(io_error)
    }
}

impl Sink for Parquet {
    fn part(&self) -> Box<dyn Part + '_> {
        self.parts.fetch_add(1, Ordering::Relaxed);
        Box::new(group::Writer::new(self))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let mut file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.append_key_value_metadata(KeyValue::new(schema::ENDED.to_string(), time::text(time::now())));
        let buffered = file.into_inner().map_err(io_error)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
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
