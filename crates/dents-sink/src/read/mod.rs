//! Readers of scan files of all formats.
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
//! The format is recognised by the first bytes: `PAR1`, `SQLite format 3`, `{`, or `[` (ncdu's). NDJSON and ncdu's JSON can also come from a pipe, or from stdin
//! as `-`; the other formats need a file. Rows come in the order of the file, one at a time, and memory does not grow with their
//! number. [`Reader::read`] reads only the wanted columns and paths ([`Wanted`]), on several threads if the format allows it:
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! use dents_sink::read::{Columns, Wanted, open};
//! let below = [b"/home/ann".to_vec()];
//! let wanted = Wanted { columns: Columns::SIZE, below: &below };
//! let sums = std::sync::atomic::AtomicU64::new(0);
//! open("scan.parquet".as_ref())?.read(&wanted, 2, |_| {
//!     |row: &dents_sink::Row<'_>| {
//!         let size = row.facts.map_or(0, |facts| facts.size);
//!         sums.fetch_add(size, std::sync::atomic::Ordering::Relaxed);
//!         Ok(())
//!     }
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! A file that no scan wrote, or that is empty, cut off, damaged or of a later version of the schema, is an error, never a panic. So is a
//! row that no directory has (`limits.rs`). At the end the reader knows whether the rows are complete.

pub use crate::scan_file::{Columns, RowGroups, Span, Wanted};

#[cfg(feature = "parquet")]
use crate::dir::Named;
use crate::format::{Extent, Format};
use crate::message;
use crate::ndjson::Lines;
use crate::row::Row;
use crate::scan_file::{Below, Give, ScanFile, Selection};
use dents_core::bulk::Subvolume;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A scan file.
pub struct Reader(Box<dyn ScanFile>);

/// Receives the rows of one worker. Closures implement it.
pub trait Take: Send {
    /// Takes a row. An error ends the reading, for all workers.
    ///
    /// # Errors
    /// The errors of the taker; [`Reader::read`] returns the first one.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;
}

impl<F: FnMut(&Row<'_>) -> io::Result<()> + Send> Take for F {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self(row)
    }
}

/// Opens a scan file; `-` is stdin. A directory is a scan in several files, which its [manifest](crate::manifest) lists.
///
/// # Errors
/// If it cannot be read, or is not a scan file; the message names the file, the problem and a remedy.
pub fn open(path: &Path) -> io::Result<Reader> {
    open_until(path, &Arc::default())
}

/// The same for a caller that may be stopped: after `cancel` was set, a query of SQLite ends with [`io::ErrorKind::Interrupted`], even if it finds
/// no row for ever. Other formats come back to the caller after each row.
///
/// # Errors
/// Those of [`open`].
pub fn open_until(path: &Path, cancel: &Arc<AtomicBool>) -> io::Result<Reader> {
    #[cfg(feature = "parquet")]
    if path.as_os_str() != "-" && path.is_dir() {
        return Ok(Reader(Box::new(crate::parquet::Groups::of_directory(path)?)));
    }
    let _ = cancel;
    let (file, begin) = begin_of(path).map_err(|error| message::cannot_read(path, &error))?;
    let file: Box<dyn ScanFile> = match &begin[..] {
        // Even a scan without rows writes its record.
        [] => return Err(message::bad_file(path, "empty, which no scan is", "copy it again, or scan again")),
        [b'{', ..] => Box::new(Lines::new(path, begin, file)),
        #[cfg(feature = "parquet")]
        [b'[', ..] => Box::new(crate::ncdu::Dump::new(path, begin, file)?),
        #[cfg(feature = "parquet")]
        begin if begin.starts_with(b"PAR1") => Box::new(crate::parquet::Groups::of_file(path, file)?),
        #[cfg(feature = "sqlite")]
        begin if begin.starts_with(b"SQLite format 3\0") => {
            Box::new(crate::sqlite::Table::open(path, cancel)?)
        }
        _ => {
            let way_out = "name one that `dents scan` wrote, as NDJSON, Parquet, SQLite or for ncdu";
            return Err(message::bad_file(path, "not a file of a scan", way_out));
        }
    };
    Ok(Reader(file))
}

/// Opens a Parquet file of a scan in parts.
#[cfg(feature = "parquet")]
pub(crate) fn shard(named: &Named) -> io::Result<Reader> {
    let path = named.path();
    let file = named.open().map_err(|error| message::cannot_read(&path, &error))?;
    Ok(Reader(Box::new(crate::parquet::Groups::of_file(&path, file)?)))
}

/// The file and its first bytes, at most 16.
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
        self.0.format()
    }

    /// The columns of details that the file has ([`Columns::DETAILS`]). Lines of NDJSON may have different columns; the first line decides.
    #[must_use]
    pub fn details(&mut self) -> Columns {
        self.0.details()
    }

    /// Start and end of the scan. They are read before the rows; so NDJSON has them only if it is a file that ends with the record of
    /// the scan.
    #[must_use]
    pub fn span(&self) -> Span {
        self.0.span()
    }

    /// The subvolumes of btrfs where the scan began, as they were before its start. They are known where [`Self::span`] is; scans in several
    /// files and older files do not have them.
    #[must_use]
    pub fn subvolumes(&self) -> Vec<Subvolume> {
        self.0.subvolumes()
    }

    /// A flag that is set when all rows were read, if nothing shows whether they are those that were written: NDJSON and SQLite of earlier versions
    /// have no checksum. `None` if the format has checksums always (Parquet), or never (ncdu's).
    #[must_use]
    pub fn unchecked(&self) -> Option<Arc<AtomicBool>> {
        self.0.unchecked()
    }

    /// Passes every row to `give` once. An error of `give` ends the reading and is returned. Returns whether the rows are complete;
    /// `None` if the file does not say, for example NDJSON that was cut off at the end of a line.
    ///
    /// # Errors
    /// If the file cannot be read to its end, or contains an invalid row.
    pub fn for_each(
        mut self,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        self.0.each(&Selection { columns: Columns::all(), below: &Below::new(&[]) }, give)
    }

    /// Passes the wanted rows, each once, with the wanted columns, to takers on up to `workers` threads. `make` makes the takers, on the
    /// calling thread. Returns the takers, at least one, and whether the rows of the file are complete, as [`Self::for_each`] does.
    ///
    /// All workers decode Parquet, each a row group at a time; then the order of rows has no meaning. Other formats, and a single worker,
    /// use only the calling thread, and rows come in the order of the file. (Exception: if paths are given and a SQLite file has an index
    /// of its paths, rows come in the order of that index.)
    ///
    /// # Errors
    /// If the file cannot be read to its end, or contains an invalid value in a column that is read; or the first error of a taker.
    /// Then the takers have got some rows, and are dropped.
    pub fn read<T: Take>(
        mut self,
        wanted: &Wanted<'_>,
        workers: usize,
        make: impl FnMut(usize) -> T,
    ) -> io::Result<(Vec<T>, Option<Extent>)> {
        let below = Below::new(wanted.below);
        let selection = Selection { columns: wanted.columns, below: &below };
        let most = workers.min(self.0.row_groups(&below).read).max(1);
        let mut takers: Vec<T> = (0..most).map(make).collect();
        // One dynamic call for each row: a taker is known inside of its closure.
        let mut gives: Vec<_> = takers.iter_mut().map(|taker| move |row: &Row<'_>| taker.row(row)).collect();
        let mut shared: Vec<&mut Give<'_>> = gives.iter_mut().map(|give| give as &mut Give<'_>).collect();
        let extent = self.0.share(&selection, &mut shared)?;
        Ok((takers, extent))
    }

    /// The number of row groups that [`Self::read`] would read, and the number of the others. Formats other than Parquet are one group.
    #[must_use]
    pub fn row_groups(&self, wanted: &Wanted<'_>) -> RowGroups {
        self.0.row_groups(&Below::new(wanted.below))
    }
}
