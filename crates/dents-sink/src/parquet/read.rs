//! The reader of Parquet files.

use super::checksum::Checked;
use super::{io_error, panics, schema};
use crate::read::Span;
use crate::row::{Facts, Row};
use crate::time::Unit;
use crate::words::Problem;
use crate::{Extent, message, time, words};
use ::parquet::basic::{LogicalType, TimeUnit, TimestampType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use dents_core::batch::Time;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Rows that are decoded at once.
const BATCH: usize = 1024;

/// A value of the file's metadata.
fn value<'f>(file: &'f SerializedFileReader<Checked>, key: &str) -> Option<&'f str> {
    let all = file.metadata().file_metadata().key_value_metadata()?;
    all.iter().find(|one| one.key == key)?.value.as_deref()
}

/// A Parquet file that this crate wrote.
pub(crate) struct Columns {
    path: PathBuf,
    source: Checked,
    file: SerializedFileReader<Checked>,
    /// The checksum of each row group.
    checksums: Vec<u32>,
    extent: Option<Extent>,
}

impl Columns {
    /// Reads the footer, and checks that this crate wrote the file.
    pub(crate) fn open(path: &Path, file: File) -> io::Result<Columns> {
        let not_ours = || {
            let way_out = "name one that `dents scan` wrote";
            message::bad_file(path, "a Parquet file, but not of a scan", way_out)
        };
        let source = Checked::open(file).map_err(|error| wrong(path, error))?.ok_or_else(not_ours)?;
        let file = decode(path, || SerializedFileReader::new(source.clone()))?;
        let value = |key: &str| value(&file, key);
        let version: u64 =
            value(schema::VERSION).and_then(|version| version.parse().ok()).ok_or_else(not_ours)?;
        if version > u64::from(schema::NUMBER) {
            return Err(message::too_new(path, version, schema::NUMBER));
        }
        let checksums = value(schema::CHECKSUMS).unwrap_or_default().split_ascii_whitespace();
        let checksums: Vec<u32> = checksums.flat_map(|one| u32::from_str_radix(one, 16)).collect();
        if checksums.len() != file.num_row_groups() {
            return Err(message::damaged(path, "not every row group has a checksum"));
        }
        let extent = value(schema::COMPLETE).map(|complete| match complete {
            "true" => Extent::Complete,
            _ => Extent::Partial,
        });
        Ok(Columns { path: path.to_path_buf(), source, file, checksums, extent })
    }

    /// From the metadata of the file.
    pub(crate) fn span(&self) -> Span {
        Span::of(value(&self.file, schema::BEGUN), value(&self.file, schema::ENDED))
    }

    pub(crate) fn for_each(
        self,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        for (index, checksum) in self.checksums.iter().enumerate() {
            let mut cursors = decode(&self.path, || {
                self.load(index, *checksum)?;
                self.cursors(index)
            })?;
            let mut left = usize::try_from(self.file.metadata().row_group(index).num_rows()).unwrap_or(0);
            while left > 0 {
                let rows = left.min(BATCH);
                decode(&self.path, || cursors.fill(rows))?;
                for _ in 0..rows {
                    let row = cursors.row().map_err(|problem| message::damaged(&self.path, problem))?;
                    give(&row)?;
                }
                left -= rows;
            }
        }
        Ok(self.extent)
    }

    /// Reads a row group into memory and checks it. Its columns are contiguous.
    fn load(&self, index: usize, checksum: u32) -> Result<(), ParquetError> {
        let group = self.file.metadata().row_group(index);
        let ranges = group.columns().iter().map(|column| column.byte_range());
        let start = ranges.clone().map(|(start, _)| start).min().unwrap_or(0);
        self.source.load(start, ranges.map(|(_, len)| len).sum(), checksum)
    }

    fn cursors(&self, group: usize) -> Result<Cursors, ParquetError> {
        let group = self.file.get_row_group(group)?;
        let group = &*group;
        Ok(Cursors {
            path: Cursor::of_bytes(group, "path")?,
            parent: Cursor::of_bytes(group, "parent")?,
            depth: Cursor::of(group, "depth")?,
            kind: Cursor::of(group, "type")?,
            facts: FactCursors::of(group)?,
            target: Cursor::of_bytes(group, "target")?,
            asked: Cursor::of(group, "asked")?,
            errno: Cursor::of(group, "errno")?,
        })
    }
}

/// Calls the decoder, which may panic at a forged file with correct checksums.
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

/// A type of column that is read.
trait Kind: DataType {
    fn reader(reader: ColumnReader) -> Option<ColumnReaderImpl<Self>>
    where
        Self: Sized;
}

macro_rules! kind {
    ($type:ty, $variant:ident) => {
        impl Kind for $type {
            fn reader(reader: ColumnReader) -> Option<ColumnReaderImpl<Self>> {
                match reader {
                    ColumnReader::$variant(reader) => Some(reader),
                    _ => None,
                }
            }
        }
    };
}

kind!(ByteArrayType, ByteArrayColumnReader);
kind!(BoolType, BoolColumnReader);
kind!(Int32Type, Int32ColumnReader);
kind!(Int64Type, Int64ColumnReader);

/// The values of one column, one after the other.
struct Cursor<T: DataType> {
    reader: ColumnReaderImpl<T>,
    optional: bool,
    values: Vec<T::T>,
    levels: Vec<i16>,
    /// The next row of `levels`, and the next of `values`.
    row: usize,
    value: usize,
}

fn index_of(group: &dyn RowGroupReader, name: &str) -> Option<usize> {
    group.metadata().columns().iter().position(|column| column.column_path().parts() == [name])
}

fn missing(name: &str) -> ParquetError {
    ParquetError::General(format!("column \"{name}\" is missing, or of another type"))
}

/// The unit of times; version 1 had nanoseconds only.
fn unit_of(group: &dyn RowGroupReader) -> Result<Unit, ParquetError> {
    let column = index_of(group, "mtime").map(|index| group.metadata().column(index).column_descr());
    match column.and_then(|column| column.logical_type_ref()) {
        Some(LogicalType::Timestamp(TimestampType { unit: TimeUnit::MICROS, .. })) => Ok(Unit::Micros),
        Some(LogicalType::Timestamp(TimestampType { unit: TimeUnit::NANOS, .. })) => Ok(Unit::Nanos),
        _ => Err(missing("mtime")),
    }
}

impl Cursor<ByteArrayType> {
    /// The column of exact bytes. In version 1 it had the name without a suffix.
    fn of_bytes(group: &dyn RowGroupReader, name: &str) -> Result<Self, ParquetError> {
        let bytes = format!("{name}_bytes");
        let name = if index_of(group, &bytes).is_some() { &bytes } else { name };
        Cursor::of(group, name)
    }
}

impl<T: Kind> Cursor<T> {
    fn of(group: &dyn RowGroupReader, name: &str) -> Result<Cursor<T>, ParquetError> {
        let columns = group.metadata().columns();
        let missing = || missing(name);
        let index = index_of(group, name).ok_or_else(missing)?;
        let descriptor = columns[index].column_descr();
        if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
            return Err(missing());
        }
        Ok(Cursor {
            optional: descriptor.max_def_level() == 1,
            reader: T::reader(group.get_column_reader(index)?).ok_or_else(missing)?,
            values: Vec::with_capacity(BATCH),
            levels: Vec::with_capacity(BATCH),
            row: 0,
            value: 0,
        })
    }

    fn fill(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.values.clear();
        self.levels.clear();
        (self.row, self.value) = (0, 0);
        let levels = self.optional.then_some(&mut self.levels);
        let (read, ..) = self.reader.read_records(rows, levels, None, &mut self.values)?;
        if read < rows {
            return Err(ParquetError::EOF("a column ends before its row group".to_string()));
        }
        Ok(())
    }

    /// The value of the next row, if it has one.
    fn next(&mut self) -> Option<&T::T> {
        if self.optional {
            let level = self.levels.get(self.row).copied();
            self.row += 1;
            if level != Some(1) {
                return None;
            }
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }
}

struct Cursors {
    path: Cursor<ByteArrayType>,
    parent: Cursor<ByteArrayType>,
    depth: Cursor<Int32Type>,
    kind: Cursor<ByteArrayType>,
    facts: FactCursors,
    target: Cursor<ByteArrayType>,
    asked: Cursor<ByteArrayType>,
    errno: Cursor<Int32Type>,
}

impl Cursors {
    fn fill(&mut self, rows: usize) -> Result<(), ParquetError> {
        let Cursors { path, parent, kind, target, asked, .. } = self;
        for column in [path, parent, kind, target, asked] {
            column.fill(rows)?;
        }
        self.depth.fill(rows)?;
        self.errno.fill(rows)?;
        self.facts.fill(rows)
    }

    fn row(&mut self) -> Result<Row<'_>, Problem> {
        let path = bytes(self.path.next()).ok_or("a row has no path")?;
        let parent = bytes(self.parent.next()).ok_or("a row has no parent")?;
        let kind = bytes(self.kind.next()).ok_or("a row has no type")?;
        let fault = words::fault(bytes(self.asked.next()), self.errno.next().copied())?;
        Ok(Row {
            parent,
            name: Row::name_in(parent, path).ok_or("a path does not begin with its parent")?,
            depth: self.depth.next().map(|depth| *depth as u32).ok_or("a row has no depth")?,
            kind: words::kind(kind)?,
            facts: self.facts.next()?,
            target: bytes(self.target.next()),
            fault,
        })
    }
}

struct FactCursors {
    /// ino, dev, size, allocated.
    wide: [Cursor<Int64Type>; 4],
    /// nlink, mode, uid, gid.
    narrow: [Cursor<Int32Type>; 4],
    user: Cursor<ByteArrayType>,
    group: Cursor<ByteArrayType>,
    /// atime, btime, ctime, mtime.
    times: [Cursor<Int64Type>; 4],
    unit: Unit,
    lazy: Cursor<BoolType>,
    far_times: Cursor<ByteArrayType>,
}

impl FactCursors {
    fn of(group: &dyn RowGroupReader) -> Result<FactCursors, ParquetError> {
        let wide = |name| Cursor::of(group, name);
        let narrow = |name| Cursor::of(group, name);
        Ok(FactCursors {
            wide: [wide("ino")?, wide("dev")?, wide("size")?, wide("allocated")?],
            narrow: [narrow("nlink")?, narrow("mode")?, narrow("uid")?, narrow("gid")?],
            user: Cursor::of_bytes(group, "user")?,
            group: Cursor::of_bytes(group, "group")?,
            unit: unit_of(group)?,
            times: [wide("atime")?, wide("btime")?, wide("ctime")?, wide("mtime")?],
            lazy: Cursor::of(group, "lazy")?,
            far_times: Cursor::of(group, "far_times")?,
        })
    }

    fn fill(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.wide.iter_mut().chain(&mut self.times).try_for_each(|column| column.fill(rows))?;
        self.narrow.iter_mut().try_for_each(|column| column.fill(rows))?;
        for column in [&mut self.user, &mut self.group, &mut self.far_times] {
            column.fill(rows)?;
        }
        self.lazy.fill(rows)
    }

    /// The facts of the next row. All cursors advance, whether or not it has facts.
    fn next(&mut self) -> Result<Option<Facts<'_>>, Problem> {
        let [ino, dev, size, allocated] =
            self.wide.each_mut().map(|column| column.next().map(|value| *value as u64));
        let [nlink, mode, uid, gid] =
            self.narrow.each_mut().map(|column| column.next().map(|value| *value as u32));
        let unit = self.unit;
        let [atime, btime, ctime, mtime] =
            self.times.each_mut().map(|column| column.next().map(|count| unit.time(*count)));
        let (user, group) = (bytes(self.user.next()), bytes(self.group.next()));
        let (lazy, far_times) = (self.lazy.next().copied(), bytes(self.far_times.next()));
        let Some(ino) = ino else { return Ok(None) };
        let all = || {
            Some(Facts {
                dev: words::device_halves(dev?),
                ino,
                mode: u16::try_from(mode?).ok()?,
                nlink: nlink?,
                uid: uid?,
                gid: gid?,
                user,
                group,
                size: size?,
                allocated: allocated?,
                atime: atime?,
                btime,
                ctime: ctime?,
                mtime: mtime?,
                lazy: lazy?,
            })
        };
        with_far_times(all().ok_or("a fact is missing")?, far_times).map(Some)
    }
}

fn bytes(value: Option<&ByteArray>) -> Option<&[u8]> {
    value.map(ByteArray::data)
}

/// Replaces times that the columns cannot represent by the exact ones.
fn with_far_times<'a>(mut facts: Facts<'a>, far: Option<&[u8]>) -> Result<Facts<'a>, Problem> {
    for one in far.unwrap_or_default().split(|byte| *byte == b' ').filter(|one| !one.is_empty()) {
        let (name, at) = one.split_at_checked(6).ok_or("no time in \"far_times\"")?;
        let at: Time = time::parse(at).ok_or("no time in \"far_times\"")?;
        match name {
            b"atime=" => facts.atime = at,
            b"btime=" => facts.btime = Some(at),
            b"ctime=" => facts.ctime = at,
            b"mtime=" => facts.mtime = at,
            _ => return Err("an unknown time in \"far_times\""),
        }
    }
    Ok(facts)
}
