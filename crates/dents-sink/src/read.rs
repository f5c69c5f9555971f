//! A scan file is opened, whatever its format, and gives its rows again.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let mut bytes = 0;
//! dents_sink::read::open("scan.parquet".as_ref())?.for_each(&mut |row| {
//!     bytes += row.facts.map_or(0, |facts| facts.size);
//!     Ok(())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! The format is told by the first bytes: `PAR1`, `SQLite format 3`, or a `{`. Lines can also come from a pipe, or from stdin
//! as `-`; the others have their table of contents at the end, and need a file. Rows come as they stand in the file, one at
//! a time, and memory does not grow with their number. A file that is not ours, empty, cut off, damaged or of a later version of
//! the schema is an error that says so; never a panic. Whether the rows are all of the scan is told at the end.

use crate::ndjson::Lines;
use crate::{Extent, Format, Row, message, time};
use dents_core::batch::Time;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

/// A scan file.
pub struct Reader(Kind);

/// When a scan began and ended, by the clock of the machine that it ran on; `None` if its file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its start.
    pub begun: Option<Time>,
    /// Its end.
    pub ended: Option<Time>,
}

impl Span {
    /// From the texts that files keep.
    pub(crate) fn of(begun: Option<&str>, ended: Option<&str>) -> Span {
        let time = |text: Option<&str>| time::parse(text?.as_bytes());
        Span { begun: time(begun), ended: time(ended) }
    }
}

enum Kind {
    Lines(Lines),
    #[cfg(feature = "parquet")]
    Columns(crate::parquet::Columns),
    #[cfg(feature = "sqlite")]
    Table(crate::sqlite::Table),
}

/// Opens a scan file; `-` is stdin.
///
/// # Errors
/// If it cannot be read, or is not one of ours; the message names the file, the problem and the way out.
pub fn open(path: &Path) -> io::Result<Reader> {
    let (file, begin) = begin_of(path).map_err(|error| message::cannot_read(path, &error))?;
    let kind = match &begin[..] {
        // A scan that found nothing has its record all the same.
        [] => return Err(message::bad_file(path, "empty, which no scan is", "copy it anew, or scan again")),
        [b'{', ..] => Kind::Lines(Lines::new(path, begin, file)),
        #[cfg(feature = "parquet")]
        begin if begin.starts_with(b"PAR1") => Kind::Columns(crate::parquet::Columns::open(path, file)?),
        #[cfg(feature = "sqlite")]
        begin if begin.starts_with(b"SQLite format 3\0") => Kind::Table(crate::sqlite::Table::open(path)?),
        _ => {
            let way_out = "name one that `dents scan` wrote, as NDJSON, Parquet or SQLite";
            return Err(message::bad_file(path, "not a file of a scan", way_out));
        }
    };
    Ok(Reader(kind))
}

/// The file and its first 16 bytes, as far as there are so many.
fn begin_of(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let file = match path.as_os_str() == "-" {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        false => File::open(path)?,
    };
    let mut begin = Vec::with_capacity(16);
    (&file).take(16).read_to_end(&mut begin)?;
    Ok((file, begin))
}

impl Reader {
    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        match self.0 {
            Kind::Lines(_) => Format::Ndjson,
            #[cfg(feature = "parquet")]
            Kind::Columns(_) => Format::Parquet,
            #[cfg(feature = "sqlite")]
            Kind::Table(_) => Format::Sqlite,
        }
    }

    /// When the scan was: read before the rows, so from lines only if they are a file whose last one is the record of the scan.
    #[must_use]
    pub fn span(&self) -> Span {
        match &self.0 {
            Kind::Lines(lines) => lines.span,
            #[cfg(feature = "parquet")]
            Kind::Columns(columns) => columns.span(),
            #[cfg(feature = "sqlite")]
            Kind::Table(table) => table.span(),
        }
    }

    /// Gives every row, once; an error of `give` ends it and is passed on. Then tells whether they are all: `None` if the
    /// file does not say, as lines that were cut off at the end of one, and files of programs that kept no record of it.
    ///
    /// # Errors
    /// If the file cannot be read to its end, or says what no row can.
    pub fn for_each(self, give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<Option<Extent>> {
        match self.0 {
            Kind::Lines(mut lines) => lines.for_each(give),
            #[cfg(feature = "parquet")]
            Kind::Columns(columns) => columns.for_each(give),
            #[cfg(feature = "sqlite")]
            Kind::Table(table) => table.for_each(give),
        }
    }
}
