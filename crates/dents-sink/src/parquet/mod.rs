//! Parquet: a column for each field, in a file that DuckDB, Polars, Spark and pandas read.
//!
//! # The schema, version 3
//!
//! | column | type | value |
//! |---|---|---|
//! | `path`, `parent`, `name` | STRING | null where it is not UTF-8; the parent of an operand is empty |
//! | `path_bytes`, `parent_bytes` | BYTE_ARRAY | exact bytes. The name is what follows the parent and a slash |
//! | `extension` | STRING | the end of the name as [`crate::extension()`] has it; null if there is none |
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
//! | `asked` | STRING | the request that failed: `stat`, `link`, `open`, `read`, `loop` |
//! | `errno` | INT_32 | the error of the kernel |
//! | `lazy` | BOOLEAN | whether the values may be out of date |
//! | `far_times` | STRING | see below |
//!
//! Details ([`crate::Detail`]) have columns with their names after these: UINT_32 or STRING.
//!
//! Unknown values are null; `path_bytes`, `parent_bytes`, `depth` and `type` are never null.
//!
//! **Order.** The whole file is in the order of `path_bytes`, compared byte by byte: the entries below a directory `P` are from `P/` on
//! and before `P0`. Row groups have about 32,000 rows, and their statistics have the exact minimum and maximum of `path_bytes`, `path` and
//! `parent`, unless one is longer than 4 KiB; so a reader finds a subtree without reading the other row groups. `dents.order` is `path` in such files.
//!
//! **Text and bytes.** Names are bytes, and readers refuse a file if a text column contains a name that is not UTF-8.
//! So each name has two columns: text for queries, bytes for exactness. SQLite needs only one column, because each of its values
//! has a type of its own (`sqlite`), and NDJSON has one of the two fields (`ndjson`).
//!
//! **Times** are microseconds, rounded down, because Spark, Iceberg and others refuse nanoseconds; a file has
//! [nanoseconds](crate::time::Unit) if they are requested. Microseconds of 64 bits reach 292,000 years, nanoseconds from
//! September 1677 to April 2262. A time beyond that is stored as the nearest of these, so that comparisons stay right. `far_times` has
//! the exact time: `mtime=+300000-01-01T00:00:00.000000000Z`, in the form of [`crate::time`]; several times are separated by a space.
//!
//! Older files are read too: version 2 had no `extension` and no order; version 1 had only bytes, in columns called `path`,
//! `parent`, `user`, `group` and `target`, and nanoseconds.
//!
//! The file's metadata has `dents.schema` (3), `dents.order`, `dents.program`, `dents.begun`, `dents.ended` (RFC 3339), `dents.complete`
//! (`true`, or `false` if a root could not be opened or the walk was stopped) and `dents.crc32` (`checksum.rs`); on btrfs also
//! `dents.subvolumes`: `UUID:GENERATION` of each subvolume where the scan began, separated by spaces, before the start.
//!
//! # How it is written
//!
//! First the rows are sorted (`sorted`), in bounded memory; many rows need a temporary file beside the output. Then up to four threads each
//! encode a row group, about 4 MB in memory (`groups.rs`). The columns of a group encode values when they get them (`encode.rs`). All
//! columns end a page at the same row, 16,384 rows or 1 MiB of names after the last page. Times, inodes and names are encoded as
//! differences, sizes and targets of links plain, all other columns with dictionaries. All columns are compressed by LZ4.
//!
//! The table shows a scan of 2,012,007 entries with random names on ext4, on two cores: the CPU time for each row beyond that of the walk
//! alone (median of three runs in turns on a busy machine), and the bytes for each row, also for the 153,359 entries of a `/usr`:
//!
//! | | user | bytes | bytes, `/usr` |
//! |---|---|---|---|
//! | **lz4_raw** | 870 ns | 40.9 | 29.8 |
//! | zstd level 1 | 1,020 ns | 29.1 | 22.7 |
//! | not compressed | 940 ns | 67.0 | 80.2 |
//!
//! So LZ4 takes less time than to write the bytes that it saves. Zstd would make the file a quarter smaller and take a sixth more time, and it
//! is written in C. Row groups of 16,000, 32,000 and 64,000 rows take 41.1, 40.9 and 40.9 bytes for each row, and the same time to write and
//! to read.

mod checksum;
mod column;
mod decode;
mod encode;
mod error;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod group;
mod groups;
mod pack;
mod pages;
mod panics;
mod read;
mod schema;
mod section;

pub use panics::on_panic;
pub(crate) use read::{Groups, Shard};

use crate::format::{About, Extent};
use crate::output::{Output, Own};
use crate::sink::{Part, Sink};
use crate::sorted::Sorter;
use crate::{subvolumes, time};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::writer::SerializedFileWriter;
use checksum::Sealed;
use dents_core::batch::Time;
use error::io_error;
use schema::Schema;
use std::io;
use std::path::PathBuf;

/// A Parquet file that is being written.
pub struct Parquet {
    schema: Schema,
    ended: Option<Time>,
    rows: Sorter,
    file: SerializedFileWriter<Sealed>,
    own: Option<Own>,
}

impl Parquet {
    /// Begins the file. Its metadata will have program and start.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(output: Output, about: &About<'_>) -> io::Result<Self> {
        let schema = Schema::new(about.timestamps, about.details);
        let rows = Sorter::new(output.scratch());
        let own = output.own();
        let file = Sealed::new(output);
        let mut file =
            SerializedFileWriter::new(file, schema.root(), schema.properties()).map_err(io_error)?;
        file.append_key_value_metadata(key_value(schema::VERSION, schema::NUMBER.to_string()));
        file.append_key_value_metadata(key_value(schema::PROGRAM, about.program.to_string()));
        file.append_key_value_metadata(key_value(schema::BEGUN, time::text(about.begun)));
        if !about.subvolumes.is_empty() {
            let text = subvolumes::text(about.subvolumes);
            file.append_key_value_metadata(key_value(schema::SUBVOLUMES, text));
        }
        file.append_key_value_metadata(key_value(schema::ORDER, schema::BY_PATH.to_string()));
        Ok(Parquet { schema, ended: about.ended, rows, file, own })
    }

    /// Says in the metadata which part of a scan this is.
    pub(crate) fn note(&mut self, part: String) {
        self.file.append_key_value_metadata(key_value(schema::PART, part));
    }
}

fn key_value(key: &str, value: String) -> KeyValue {
    KeyValue::new(key.to_string(), value)
}

impl Sink for Parquet {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(self.rows.worker())
    }

    fn own(&self) -> Option<Own> {
        self.own.clone()
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let Parquet { schema, ended, rows, file, .. } = *self;
        let (mut file, checksums) = groups::write(&rows.finish()?, &schema, file)?;
        let checksums: Vec<String> = checksums.iter().map(|checksum| format!("{checksum:08x}")).collect();
        file.append_key_value_metadata(key_value(schema::CHECKSUMS, checksums.join(" ")));
        file.append_key_value_metadata(key_value(schema::ENDED, time::text(ended.unwrap_or_else(time::now))));
        let complete = extent == Extent::Complete;
        file.append_key_value_metadata(key_value(schema::COMPLETE, complete.to_string()));
        file.flush()?;
        file.inner_mut().begin_footer();
        file.into_inner().map_err(io_error)?.commit(extent)
    }
}
