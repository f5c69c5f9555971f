//! Scans of file trees, and the reports of `dents`, as Arrow record batches.
//!
//! ```text
//! words ─► dents-commands ─► scan ─► rows, by worker ─► Batches ─► channel ─► Stream ─► RecordBatch, RecordBatch, …
//!                    └► du, top, count, stats, diff ─► Records ─────────────────► RecordBatch
//! ```
//!
//! The bindings to Python and C use this crate: they pass the words of a command line and get batches. So options, filters and messages are those
//! of the program, and a binding makes one call for each batch, not for each row.
//!
//! ```
//! use dents_arrow::{Columns, Run};
//!
//! let words = ["scan", "--type", "f", "src"].map(Into::into);
//! for batch in Run::default().stream(&words, &Columns::of(&["path", "size"])?)? {
//!     println!("{} files", batch?.num_rows());
//! }
//! let table = Run::default().table(&["du", "--max-depth", "1", "src"].map(Into::into))?;
//! assert_eq!(table.schema().field(0).name(), "bytes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod columns;
mod records;
mod run;
mod stream;

pub use arrow_array;
pub use arrow_schema;
pub use columns::Columns;
pub use run::{Failure, Run, Told};
pub use stream::{Next, Query, Stream};
