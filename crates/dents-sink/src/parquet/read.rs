//! The reader of Parquet files: chooses the row groups, and the thread that reads each. [`super::decode`] decodes their rows.

use super::decode::{Rows, details_of, may_have};
use super::error::io_error;
use super::section::Section;
use super::{panics, schema};
use crate::dir::{Dir, Named};
use crate::format::{Extent, Format};
use crate::manifest::{self, Manifest};
use crate::row::Row;
use crate::scan_file::{Below, Columns, Give, Limits, RowGroups, ScanFile, Selection, Span};
use crate::{message, subvolumes};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use dents_core::bulk::Subvolume;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::{io, mem};

/// A value of the file's metadata.
fn value<'f>(metadata: &'f ParquetMetaData, key: &str) -> Option<&'f str> {
    let all = metadata.file_metadata().key_value_metadata()?;
    all.iter().find(|one| one.key == key)?.value.as_deref()
}

/// Where the bytes are.
enum Opened {
    File(File),
    /// A shard is opened for each row group, because there may be more shards than descriptors.
    Shard(Named),
}

/// A Parquet file that this crate wrote.
struct Table {
    path: PathBuf,
    file: Opened,
    metadata: ParquetMetaData,
    /// The checksum of each row group.
    checksums: Vec<u32>,
    extent: Option<Extent>,
}

impl Table {
    /// Reads the footer, and checks that this crate wrote the file.
    fn open(path: &Path, opened: Opened) -> io::Result<Table> {
        let kept;
        let file = match &opened {
            Opened::File(file) => file,
            Opened::Shard(shard) => {
                kept = shard.open().map_err(|error| message::cannot_read(path, &error))?;
                &kept
            }
        };
        let not_ours = || {
            let way_out = "name one that `dents scan` wrote";
            message::bad_file(path, "a Parquet file, but not of a scan", way_out)
        };
        let footer = Section::footer(file).map_err(|error| wrong(path, error))?.ok_or_else(not_ours)?;
        let metadata = decode(path, || ParquetMetaDataReader::new().parse_and_finish(&footer))?;
        let value = |key: &str| value(&metadata, key);
        let version: u64 =
            value(schema::VERSION).and_then(|version| version.parse().ok()).ok_or_else(not_ours)?;
        if version > u64::from(schema::NUMBER) {
            return Err(message::too_new(path, version, schema::NUMBER));
        }
        let checksums = value(schema::CHECKSUMS).unwrap_or_default().split_ascii_whitespace();
        let checksums: Vec<u32> = checksums.flat_map(|one| u32::from_str_radix(one, 16)).collect();
        if checksums.len() != metadata.num_row_groups() {
            return Err(message::damaged(path, "not every row group has a checksum"));
        }
        let extent = value(schema::COMPLETE).map(|complete| match complete {
            "true" => Extent::Complete,
            _ => Extent::Partial,
        });
        Ok(Table { path: path.to_path_buf(), file: opened, metadata, checksums, extent })
    }

    /// Opens a shard. It must have this number of rows, and be complete if the scan is.
    fn shard(named: Named, rows: u64, extent: Extent) -> io::Result<Table> {
        let path = &named.path();
        let way_out = "copy the whole directory again, or scan again";
        let wrong = |problem: &str| message::bad_file(path, problem, way_out);
        let table = Table::open(path, Opened::Shard(named)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => wrong("the manifest names this shard, and it is missing"),
            _ => error,
        })?;
        let there = table.rows();
        if there != rows {
            return Err(wrong(&format!("{there} rows, and the manifest says {rows}")));
        }
        if extent == Extent::Complete && table.extent != Some(extent) {
            return Err(wrong("not complete, and the manifest says that the scan is"));
        }
        Ok(table)
    }

    fn rows(&self) -> u64 {
        self.metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64).sum()
    }

    /// The row groups that may have wanted paths.
    fn selected(&self, below: &Below) -> impl Iterator<Item = usize> {
        let groups = self.metadata.row_groups().iter().enumerate();
        groups.filter(|(_, group)| may_have(group, below)).map(|(index, _)| index)
    }

    /// Passes the wanted rows of a row group on. `buffer` is memory that the next row group uses again.
    fn each(
        &self,
        group: usize,
        wanted: &Selection<'_>,
        buffer: &mut Vec<u8>,
        give: &mut impl FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let metadata = self.metadata.row_group(group);
        let (section, mut rows) = decode(&self.path, || {
            let section = Arc::new(self.load(metadata, self.checksums[group], mem::take(buffer))?);
            let rows = Rows::new(&section, metadata, wanted)?;
            Ok((section, rows))
        })?;
        let mut limits = Limits::new(wanted.columns);
        loop {
            let batch = decode(&self.path, || rows.fill())?;
            if batch.is_empty() {
                break;
            }
            for number in batch.clone() {
                let damaged = |problem: &str| {
                    message::damaged(
                        &self.path,
                        &format!("row {} of row group {group}: {problem}", number + 1),
                    )
                };
                let is_wanted = rows.is_wanted(number - batch.start);
                let row = rows.row().map_err(damaged)?;
                if is_wanted {
                    limits.check(&row).map_err(|problem| damaged(&problem))?;
                    give(&row)?;
                }
            }
        }
        drop(rows);
        *buffer = Arc::into_inner(section).map(Section::into_buffer).unwrap_or_default();
        Ok(())
    }

    /// Reads a row group into memory and checks it. Its columns are contiguous.
    fn load(
        &self,
        group: &RowGroupMetaData,
        checksum: u32,
        buffer: Vec<u8>,
    ) -> Result<Section, ParquetError> {
        let ranges = group.columns().iter().map(|column| column.byte_range());
        let start = ranges.clone().map(|(start, _)| start).min().unwrap_or(0);
        let opened;
        let file = match &self.file {
            Opened::File(file) => file,
            Opened::Shard(shard) => {
                opened = shard.open()?;
                &opened
            }
        };
        Section::group(file, start, ranges.map(|(_, len)| len).sum(), checksum, buffer)
    }
}

/// What the footer of a shard tells.
pub(crate) struct Shard {
    /// What its task left over.
    pub(crate) part: String,
    pub(crate) rows: u64,
    pub(crate) extent: Option<Extent>,
    pub(crate) span: Span,
}

impl Shard {
    pub(crate) fn open(named: Named) -> io::Result<Shard> {
        let table = Table::open(&named.path(), Opened::Shard(named))?;
        let value = |key| value(&table.metadata, key);
        Ok(Shard {
            part: value(schema::PART).unwrap_or_default().to_string(),
            rows: table.rows(),
            extent: table.extent,
            span: Span::of(value(schema::BEGUN), value(schema::ENDED)),
        })
    }
}

/// The row groups of a scan.
pub(crate) struct Groups {
    tables: Vec<Table>,
    span: Span,
    extent: Option<Extent>,
    subvolumes: Vec<Subvolume>,
}

impl Groups {
    /// The row groups of a file.
    pub(crate) fn of_file(path: &Path, file: File) -> io::Result<Groups> {
        let table = Table::open(path, Opened::File(file))?;
        let value = |key| value(&table.metadata, key);
        let (span, extent) = (Span::of(value(schema::BEGUN), value(schema::ENDED)), table.extent);
        let subvolumes = value(schema::SUBVOLUMES).map(subvolumes::parse).unwrap_or_default();
        Ok(Groups { tables: vec![table], span, extent, subvolumes })
    }

    /// The row groups of all shards in a directory. Reads their footers.
    pub(crate) fn of_directory(directory: &Path) -> io::Result<Groups> {
        let dir = Dir::any(directory).map_err(|error| message::cannot_read(directory, &error))?;
        let Manifest { extent, begun, ended, shards, .. } = Manifest::of_dir(&dir)?;
        let open = |shard: manifest::Shard| Table::shard(dir.file(shard.file)?, shard.rows, extent);
        let tables = shards.into_iter().map(open).collect::<io::Result<_>>()?;
        let (span, subvolumes) = (Span { begun: Some(begun), ended }, Vec::new());
        Ok(Groups { tables, span, extent: Some(extent), subvolumes })
    }

    /// The row groups that may have wanted paths, with their files.
    fn selected(&self, below: &Below) -> impl Iterator<Item = (&Table, usize)> {
        self.tables.iter().flat_map(|table| table.selected(below).map(move |group| (table, group)))
    }
}

impl ScanFile for Groups {
    fn format(&self) -> Format {
        Format::Parquet
    }

    /// Those of the first file; all shards of a scan have the same.
    fn details(&mut self) -> Columns {
        let group = self.tables.iter().find_map(|table| table.metadata.row_groups().first());
        let details = group.into_iter().flat_map(|group| details_of(group, Columns::DETAILS));
        details.fold(Columns::empty(), |all, detail| all | detail.column())
    }

    fn span(&self) -> Span {
        self.span
    }

    fn subvolumes(&self) -> Vec<Subvolume> {
        self.subvolumes.clone()
    }

    fn row_groups(&self, below: &Below) -> RowGroups {
        let all: usize = self.tables.iter().map(|table| table.checksums.len()).sum();
        let read = self.selected(below).count();
        RowGroups { read, skipped: all - read }
    }

    fn each(
        &mut self,
        wanted: &Selection<'_>,
        mut give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        let mut buffer = Vec::new();
        let mut groups = self.selected(wanted.below);
        groups.try_for_each(|(table, group)| table.each(group, wanted, &mut buffer, &mut give))?;
        Ok(self.extent)
    }

    /// One of the threads is the calling thread. Each takes row groups until none is left.
    fn share(&mut self, wanted: &Selection<'_>, workers: &mut [&mut Give<'_>]) -> io::Result<Option<Extent>> {
        let groups: Vec<_> = self.selected(wanted.below).collect();
        let crew = Crew { next: AtomicUsize::new(0), groups: &groups, wanted, failed: Mutex::new(None) };
        thread::scope(|scope| {
            let [first, others @ ..] = workers else { return };
            for give in others {
                // A thread that cannot be started is left out: it gets no rows.
                let _ = thread::Builder::new().spawn_scoped(scope, || crew.work(*give));
            }
            crew.work(*first);
        });
        match crew.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(self.extent),
        }
    }
}

/// State that the workers share.
struct Crew<'c> {
    groups: &'c [(&'c Table, usize)],
    /// The next row group.
    next: AtomicUsize,
    wanted: &'c Selection<'c>,
    /// The first error.
    failed: Mutex<Option<io::Error>>,
}

impl Crew<'_> {
    fn work(&self, mut give: &mut Give<'_>) {
        let mut buffer = Vec::new();
        while let Some((table, group)) = self.groups.get(self.next.fetch_add(1, Relaxed)) {
            if let Err(error) = table.each(*group, self.wanted, &mut buffer, &mut give) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                // No worker takes another one.
                self.next.store(self.groups.len(), Relaxed);
            }
        }
    }
}

/// Calls the decoder, which may panic on a forged file with correct checksums.
fn decode<T>(path: &Path, act: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    let result = panics::during(path, act).ok_or_else(|| message::damaged(path, panics::PROBLEM))?;
    result.map_err(|error| wrong(path, error))
}

fn wrong(path: &Path, error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(_) => message::cannot_read(path, &io_error(error)),
        error => message::damaged(path, &error.to_string()),
    }
}
