//! Formats for the rows of a scan: writers and readers.
//!
//! ```text
//! walk ─► Row ─► Part ─┐                                     ┌─► Row ─► Take
//! walk ─► Row ─► Part ─┼─► Sink ─► Output ─► FILE ─► Reader ─┼─► Row ─► Take
//! walk ─► Row ─► Part ─┘  a lock   renamed           wanted  └─► Row ─► Take
//!                encodes           when whole        columns, paths
//! ```
//!
//! A [`Sink`] is one output. Each worker of a walk writes to a [`Part`] of its own, so rows are encoded on all cores, and only writing to the
//! file takes a lock; Parquet sorts all rows first. [`create()`] makes the sink of a [`Format`]. A file appears under its name when it is
//! complete; the result of an incomplete scan gets another name ([`Output`]). [`read::open`] recognises the format, and passes the rows,
//! or the part of them that a program [wants](read::Wanted), to several workers. Every format records whether it has all rows
//! ([`Extent`]). A scan may be a directory of Parquet files, with a [`manifest`].
//!
//! Each format is described in its module: [`ndjson`], [`mod@parquet`], [`sqlite`], [`ncdu`]. All of them but ncdu's keep rows exactly, bytes and
//! nanoseconds; only Parquet has microseconds unless nanoseconds are requested. Names that are UTF-8 are text, other names are
//! bytes. The rows of Parquet are in the order of their paths; in other formats their order has no meaning.

mod bytes;
mod checksum;
pub mod coding;
mod create;
mod details;
mod dir;
mod extension;
mod format;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod journal;
#[cfg(feature = "parquet")]
pub mod manifest;
mod message;
#[cfg(feature = "parquet")]
pub mod ncdu;
pub mod ndjson;
mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
pub mod parts;
pub mod read;
mod root;
mod row;
mod scan_file;
mod sink;
#[cfg(feature = "parquet")]
mod sorted;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod subvolumes;
pub mod time;
mod words;

pub use create::{check, create};
pub use dents_core::facts::Facts;
pub use dents_render::record::errno_name;
pub use details::{Detail, Details, Draft, Value};
pub use extension::extension;
pub use format::{About, Extent, Format};
pub use message::plain;
pub use output::{Output, Own, Scratch, Temporary};
pub use row::{Asked, Fault, Row};
pub use sink::{Part, Sink};

/// The version of the schema that NDJSON and SQLite share: the fields, their names and their meaning. A reader takes files of this
/// version and of older ones; a field that is added does not change the version. Parquet has a version of its own, as its columns have
/// changed.
pub const SCHEMA: u32 = 1;
