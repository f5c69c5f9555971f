//! Decodes the rows of a row group in batches, only the wanted columns.

use super::pages::Pages;
use super::section::Section;
use crate::details::{Detail, Draft, Value};
use crate::row::Row;
use crate::scan_file::{Below, Columns, Selection};
use crate::time::Unit;
use crate::words::Problem;
use crate::{time, words};
use ::parquet::basic::{LogicalType, TimeUnit, TimestampType};
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;
use dents_core::batch::Time;
use dents_core::facts::{Facts, Type, device_halves};
use dents_core::needs::Kind;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are decoded at once, few enough to stay in the cache.
const BATCH: usize = 1024;
/// Rows of the first batch of a row group. The next one may have four times as many.
const FIRST: usize = 64;
/// Bytes of paths that are decoded at once, unless paths become much longer from one batch to the next.
const PATHS: usize = 8 << 20;

fn missing(name: &str) -> ParquetError {
    ParquetError::General(format!("column \"{name}\" is missing, or of another type"))
}

/// The position of a column.
fn index_of(group: &RowGroupMetaData, name: &str) -> Option<usize> {
    group.columns().iter().position(|column| column.column_path().parts() == [name])
}

/// The name of the column of exact bytes. In version 1 it had no suffix.
fn exact(group: &RowGroupMetaData, name: &str) -> String {
    let bytes = format!("{name}_bytes");
    if index_of(group, &bytes).is_some() { bytes } else { name.to_string() }
}

/// Whether wanted paths may be in a row group, by its statistics. The least and the greatest value may be cut off; then the least is smaller
/// and the greatest is larger than the real ones.
pub(super) fn may_have(group: &RowGroupMetaData, below: &Below) -> bool {
    let column = index_of(group, &exact(group, "path"));
    let statistics = column.and_then(|index| group.column(index).statistics());
    // The deprecated statistics compare bytes as signed numbers.
    let statistics = statistics.filter(|statistics| !statistics.is_min_max_deprecated());
    let bounds = statistics.and_then(|all| Some((all.min_bytes_opt()?, all.max_bytes_opt()?)));
    bounds.is_none_or(|(least, greatest)| below.may_have(least, greatest))
}

/// A row group whose columns can be opened.
struct Source<'p> {
    section: &'p Arc<Section>,
    metadata: &'p RowGroupMetaData,
    rows: usize,
    wanted: Columns,
}

impl Source<'_> {
    /// The column, if one of the columns `of` is wanted.
    fn column<T: DataType>(&self, name: &str, of: Columns) -> Result<Column<T>, ParquetError> {
        if self.wanted.intersects(of) { self.always(name) } else { Ok(Column::unwanted()) }
    }

    /// The column of exact bytes.
    fn bytes(&self, name: &str, of: Columns) -> Result<Column<ByteArrayType>, ParquetError> {
        self.column(&exact(self.metadata, name), of)
    }

    fn always<T: DataType>(&self, name: &str) -> Result<Column<T>, ParquetError> {
        let missing = || missing(name);
        let metadata = self.metadata.column(index_of(self.metadata, name).ok_or_else(missing)?);
        let descriptor = metadata.column_descr_ptr();
        let levels = (descriptor.max_rep_level(), descriptor.max_def_level());
        if !matches!(levels, (0, 0 | 1)) || descriptor.physical_type() != T::get_physical_type() {
            return Err(missing());
        }
        let pages = SerializedPageReader::new(self.section.clone(), metadata, self.rows, None)?;
        let optional = descriptor.max_def_level() == 1;
        let pages = Pages::new(pages, optional);
        Ok(Column {
            reader: Some(ColumnReaderImpl::new(descriptor, Box::new(pages))),
            optional,
            ..Column::unwanted()
        })
    }

    /// The unit of times; version 1 had nanoseconds only.
    fn unit(&self) -> Result<Unit, ParquetError> {
        let column = index_of(self.metadata, "mtime").map(|index| self.metadata.column(index).column_descr());
        match column.and_then(|column| column.logical_type_ref()) {
            Some(LogicalType::Timestamp(TimestampType { unit: TimeUnit::MICROS, .. })) => Ok(Unit::Micros),
            Some(LogicalType::Timestamp(TimestampType { unit: TimeUnit::NANOS, .. })) => Ok(Unit::Nanos),
            _ => Err(missing("mtime")),
        }
    }
}

/// A batch of one column.
struct Column<T: DataType> {
    /// `None` if the column is not wanted; then no row has a value.
    reader: Option<ColumnReaderImpl<T>>,
    optional: bool,
    /// The values, without nulls.
    values: Vec<T::T>,
    /// For each row 1 if it has a value; empty for a required column.
    levels: Vec<i16>,
    /// The next row of `levels`, and the next of `values`.
    row: usize,
    value: usize,
    /// The next row of the row group.
    position: usize,
}

impl<T: DataType> Column<T> {
    fn unwanted() -> Column<T> {
        Column {
            reader: None,
            optional: true,
            values: Vec::new(),
            levels: Vec::new(),
            row: 0,
            value: 0,
            position: 0,
        }
    }

    /// Decodes these rows of the row group, which come after all rows decoded before.
    fn fill(&mut self, batch: &Range<usize>) -> Result<(), ParquetError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        self.values.clear();
        self.levels.clear();
        (self.row, self.value) = (0, 0);
        let (skipped, levels) = (batch.start - self.position, self.optional.then_some(&mut self.levels));
        self.position = batch.end;
        let there = reader.skip_records(skipped)? == skipped
            && reader.read_records(batch.len(), levels, None, &mut self.values)?.0 == batch.len();
        let ends_early = || ParquetError::EOF("a column ends before its row group".to_string());
        if there { Ok(()) } else { Err(ends_early()) }
    }

    /// Whether the column is wanted and all rows have a value.
    fn is_full(&self) -> bool {
        self.reader.is_some() && !self.levels.contains(&0)
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

    /// Returns to the first row of the batch.
    fn rewind(&mut self) {
        (self.row, self.value) = (0, 0);
    }
}

/// The paths of a row group. The exact name is the part of the path after the parent. If only names are wanted, the column of text has
/// them and is decoded in a third of the time, unless a name of the batch is not UTF-8.
struct Paths<'w> {
    wanted: &'w Selection<'w>,
    path: Column<ByteArrayType>,
    parent: Column<ByteArrayType>,
    name: Column<ByteArrayType>,
    /// Whether the names of this batch are in `name`, and the others are not decoded.
    by_name: bool,
    /// For each row of the batch, whether its path is wanted; empty if all paths are.
    is_wanted: Vec<bool>,
}

impl<'w> Paths<'w> {
    fn new(source: &Source<'_>, wanted: &'w Selection<'w>) -> Result<Paths<'w>, ParquetError> {
        let names_alone = wanted.columns & Columns::PATH == Columns::NAME;
        let has_names = index_of(source.metadata, "name").is_some();
        Ok(Paths {
            wanted,
            path: match wanted.below.is_all() {
                true => source.bytes("path", Columns::NAME)?,
                false => source.always(&exact(source.metadata, "path"))?,
            },
            parent: source.bytes("parent", Columns::PATH)?,
            name: if names_alone && has_names { source.always("name")? } else { Column::unwanted() },
            by_name: false,
            is_wanted: Vec::new(),
        })
    }

    /// The bytes of the longest path or parent of the batch.
    fn longest(&self) -> usize {
        let all = self.path.values.iter().chain(&self.parent.values);
        all.map(|value| value.data().len()).max().unwrap_or(0)
    }

    /// Decodes a batch. Returns false, without decoding it, if none of its paths is wanted.
    fn fill(&mut self, batch: &Range<usize>) -> Result<bool, ParquetError> {
        let below = self.wanted.below;
        if !below.is_all() {
            self.path.fill(batch)?;
            self.is_wanted.clear();
            let path = &mut self.path;
            self.is_wanted.extend(batch.clone().map(|_| below.has(bytes(path.next()).unwrap_or_default())));
            path.rewind();
            if !self.is_wanted.contains(&true) {
                return Ok(false);
            }
        }
        self.name.fill(batch)?;
        self.by_name = self.name.is_full();
        if !self.by_name {
            self.parent.fill(batch)?;
            if below.is_all() {
                self.path.fill(batch)?;
            }
        }
        Ok(true)
    }

    /// Parent and name of the next row, as far as they are wanted.
    fn next(&mut self) -> Result<[&[u8]; 2], Problem> {
        const NO_PARENT: Problem = "a row has no parent";
        if self.by_name {
            return Ok([b"", bytes(self.name.next()).ok_or("a row has no name")?]);
        }
        let (path, parent) = (bytes(self.path.next()), bytes(self.parent.next()));
        let has = |column| self.wanted.columns.contains(column);
        let name = match has(Columns::NAME) {
            true => {
                let (path, parent) = (path.ok_or("a row has no path")?, parent.ok_or(NO_PARENT)?);
                Row::name_in(parent, path).ok_or("a path does not begin with its parent")?
            }
            false => b"",
        };
        Ok([if has(Columns::PARENT) { parent.ok_or(NO_PARENT)? } else { b"" }, name])
    }
}

/// The rows of a row group.
pub(super) struct Rows<'w> {
    /// Rows that are not decoded yet.
    left: Range<usize>,
    /// Rows of the next batch.
    next: usize,
    paths: Paths<'w>,
    depth: Column<Int32Type>,
    kind: Column<ByteArrayType>,
    last_kind: Kind,
    facts: FactColumns,
    target: Column<ByteArrayType>,
    asked: Column<ByteArrayType>,
    errno: Column<Int32Type>,
    details: Vec<(Detail, DetailColumn)>,
    /// The details of the last row.
    draft: Draft,
}

/// The column of a detail.
enum DetailColumn {
    Narrow(Column<Int32Type>),
    Wide(Column<Int64Type>),
    Text(Column<ByteArrayType>),
}

impl DetailColumn {
    fn new(source: &Source<'_>, detail: Detail) -> Result<DetailColumn, ParquetError> {
        Ok(match detail.kind() {
            Type::Narrow => DetailColumn::Narrow(source.always(detail.name())?),
            Type::Wide => DetailColumn::Wide(source.always(detail.name())?),
            Type::Text => DetailColumn::Text(source.always(detail.name())?),
        })
    }

    fn fill(&mut self, batch: &Range<usize>) -> Result<(), ParquetError> {
        match self {
            DetailColumn::Narrow(column) => column.fill(batch),
            DetailColumn::Wide(column) => column.fill(batch),
            DetailColumn::Text(column) => column.fill(batch),
        }
    }

    fn next(&mut self) -> Result<Option<Value<'_>>, Problem> {
        Ok(match self {
            DetailColumn::Narrow(column) => {
                column.next().map(|number| Value::Number((*number as u32).into()))
            }
            DetailColumn::Wide(column) => column.next().map(|number| Value::Number(*number as u64)),
            DetailColumn::Text(column) => match bytes(column.next()) {
                Some(text) => Some(Value::Text(str::from_utf8(text).map_err(|_| "a detail is not UTF-8")?)),
                None => None,
            },
        })
    }
}

/// The wanted details whose columns a row group has.
pub(super) fn details_of(group: &RowGroupMetaData, wanted: Columns) -> impl Iterator<Item = Detail> {
    Detail::of(wanted).filter(|detail| index_of(group, detail.name()).is_some())
}

impl<'w> Rows<'w> {
    pub(super) fn new(
        section: &Arc<Section>,
        metadata: &RowGroupMetaData,
        wanted: &'w Selection<'w>,
    ) -> Result<Rows<'w>, ParquetError> {
        // A number below 0 is invalid, and counts as 0.
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let source = Source { section, metadata, rows, wanted: wanted.columns };
        Ok(Rows {
            left: 0..rows,
            next: FIRST,
            paths: Paths::new(&source, wanted)?,
            depth: source.always("depth")?,
            kind: source.always("type")?,
            last_kind: Kind::Unknown,
            facts: FactColumns::new(&source)?,
            target: source.bytes("target", Columns::TARGET)?,
            asked: source.always("asked")?,
            errno: source.always("errno")?,
            details: details_of(metadata, wanted.columns)
                .map(|detail| Ok((detail, DetailColumn::new(&source, detail)?)))
                .collect::<Result<_, ParquetError>>()?,
            draft: Draft::default(),
        })
    }

    /// Decodes the next batch that has a wanted path, and returns its rows: none at the end.
    pub(super) fn fill(&mut self) -> Result<Range<usize>, ParquetError> {
        while !self.left.is_empty() {
            let batch = self.left.start..self.left.end.min(self.left.start + self.next);
            self.left.start = batch.end;
            let has_wanted = self.paths.fill(&batch)?;
            let most = (PATHS / self.paths.longest().max(1)).clamp(1, BATCH);
            self.next = most.min(4 * self.next);
            if has_wanted {
                self.fill_others(&batch)?;
                return Ok(batch);
            }
        }
        Ok(0..0)
    }

    fn fill_others(&mut self, batch: &Range<usize>) -> Result<(), ParquetError> {
        for column in [&mut self.kind, &mut self.target, &mut self.asked] {
            column.fill(batch)?;
        }
        self.depth.fill(batch)?;
        self.errno.fill(batch)?;
        self.details.iter_mut().try_for_each(|(_, column)| column.fill(batch))?;
        self.facts.fill(batch)
    }

    /// Whether the path of this row of the batch is wanted.
    pub(super) fn is_wanted(&self, row: usize) -> bool {
        self.paths.is_wanted.get(row).is_none_or(|wanted| *wanted)
    }

    /// The next row of the batch.
    pub(super) fn row(&mut self) -> Result<Row<'_>, Problem> {
        let [parent, name] = self.paths.next()?;
        let kind = bytes(self.kind.next()).ok_or("a row has no type")?;
        // Most rows have the type of the previous row.
        if kind != words::of_kind(self.last_kind).as_bytes() {
            self.last_kind = words::kind(kind)?;
        }
        self.draft.clear();
        for (detail, column) in &mut self.details {
            self.draft.push(*detail, column.next()?);
        }
        Ok(Row {
            parent,
            name,
            depth: self.depth.next().map(|depth| *depth as u32).ok_or("a row has no depth")?,
            kind: self.last_kind,
            facts: self.facts.next(self.last_kind)?,
            target: bytes(self.target.next()),
            details: self.draft.details(),
            fault: words::fault(bytes(self.asked.next()), self.errno.next().copied())?,
        })
    }
}

/// A column that has a value for each row with facts. All such columns have the same levels, but those of facts that may be unknown.
struct Fact<T: DataType> {
    column: Column<T>,
    of: Columns,
    /// For each row with facts whether this one is missing; empty if none is.
    missing: Vec<bool>,
}

impl<T: DataType> Fact<T> {
    fn of(source: &Source<'_>, name: &str, of: Columns) -> Result<Fact<T>, ParquetError> {
        Ok(Fact { column: source.column(name, of)?, of, missing: Vec::new() })
    }

    /// Decodes a batch, and checks that its levels are those of all such columns.
    fn fill(&mut self, batch: &Range<usize>, levels: &[i16]) -> Result<(), ParquetError> {
        let Fact { column, of, missing } = self;
        missing.clear();
        column.fill(batch)?;
        match column.reader {
            None => column.values.resize(batch.len(), T::T::default()),
            Some(_) if column.optional && column.levels == levels => {}
            Some(_) if !column.optional && !levels.contains(&0) => {}
            Some(_) if column.optional && Facts::UNKNOWABLE.contains(*of) => return self.spread(levels),
            Some(_) => return Err(fact_missing()),
        }
        Ok(())
    }

    /// Puts neutral values where this fact alone is missing.
    fn spread(&mut self, levels: &[i16]) -> Result<(), ParquetError> {
        let Fact { column, missing, .. } = self;
        let mut there = std::mem::take(&mut column.values).into_iter();
        for (has, has_facts) in column.levels.iter().zip(levels) {
            match (*has == 1, *has_facts == 1) {
                (true, true) => column.values.push(there.next().ok_or_else(fact_missing)?),
                (false, true) => column.values.push(T::T::default()),
                (false, false) => continue,
                (true, false) => return Err(fact_missing()),
            }
            missing.push(*has != 1);
        }
        Ok(())
    }

    /// The column, if this fact is missing.
    fn unknown(&self, index: usize) -> Columns {
        if self.missing.get(index) == Some(&true) { self.of } else { Columns::empty() }
    }

    fn get(&self, index: usize) -> &T::T {
        &self.column.values[index]
    }
}

fn fact_missing() -> ParquetError {
    ParquetError::General("a fact is missing".to_string())
}

/// The columns of the facts.
struct FactColumns {
    wanted: Columns,
    /// The levels of this column say which rows have facts.
    lazy: Column<BoolType>,
    /// The next row with facts.
    next: usize,
    /// ino, dev, size, allocated.
    wide: [Fact<Int64Type>; 4],
    /// nlink, mode, uid, gid.
    narrow: [Fact<Int32Type>; 4],
    user: Column<ByteArrayType>,
    group: Column<ByteArrayType>,
    /// atime, ctime, mtime.
    times: [Fact<Int64Type>; 3],
    btime: Column<Int64Type>,
    unit: Unit,
    far_times: Column<ByteArrayType>,
}

impl FactColumns {
    fn new(source: &Source<'_>) -> Result<FactColumns, ParquetError> {
        let wide = |name, of| Fact::of(source, name, of);
        let narrow = |name, of| Fact::of(source, name, of);
        Ok(FactColumns {
            wanted: source.wanted,
            // One bit for each row: the cheapest column to decode.
            lazy: source.always("lazy")?,
            next: 0,
            wide: [
                wide("ino", Columns::INODE)?,
                wide("dev", Columns::INODE)?,
                wide("size", Columns::SIZE)?,
                wide("allocated", Columns::ALLOCATED)?,
            ],
            narrow: [
                narrow("nlink", Columns::NLINK)?,
                narrow("mode", Columns::MODE)?,
                narrow("uid", Columns::UID)?,
                narrow("gid", Columns::GID)?,
            ],
            user: source.bytes("user", Columns::USER)?,
            group: source.bytes("group", Columns::GROUP)?,
            unit: source.unit()?,
            times: [
                wide("atime", Columns::ATIME)?,
                wide("ctime", Columns::CTIME)?,
                wide("mtime", Columns::MTIME)?,
            ],
            btime: source.column("btime", Columns::BTIME)?,
            far_times: source.column("far_times", Columns::TIMES)?,
        })
    }

    fn fill(&mut self, batch: &Range<usize>) -> Result<(), ParquetError> {
        self.next = 0;
        self.lazy.fill(batch)?;
        if !self.lazy.optional {
            self.lazy.levels.resize(batch.len(), 1);
        }
        let levels = &self.lazy.levels[..];
        self.wide.iter_mut().chain(&mut self.times).try_for_each(|column| column.fill(batch, levels))?;
        self.narrow.iter_mut().try_for_each(|column| column.fill(batch, levels))?;
        for column in [&mut self.user, &mut self.group, &mut self.far_times] {
            column.fill(batch)?;
        }
        self.btime.fill(batch)
    }

    /// The facts of the next row. All columns advance, even if the row has no facts.
    fn next(&mut self, kind: Kind) -> Result<Option<Facts<'_>>, Problem> {
        let (user, group) = (bytes(self.user.next()), bytes(self.group.next()));
        let (btime, far_times) = (self.btime.next().copied(), bytes(self.far_times.next()));
        let Some(lazy) = self.lazy.next().copied() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let [ino, dev, size, allocated] = self.wide.each_ref().map(|column| *column.get(index) as u64);
        let [nlink, mode, uid, gid] = self.narrow.each_ref().map(|column| *column.get(index) as u32);
        let [atime, ctime, mtime] = self.times.each_ref().map(|column| self.unit.time(*column.get(index)));
        let unknown = self.narrow.iter().fold(Columns::empty(), |all, column| all | column.unknown(index));
        let unknown = self.times.iter().fold(unknown, |all, column| all | column.unknown(index));
        let facts = Facts {
            dev: device_halves(dev),
            ino,
            mode: u16::try_from(mode).map_err(|_| "a fact is missing")?,
            nlink,
            uid,
            gid,
            user,
            group,
            size,
            allocated,
            atime,
            btime: btime.map(|count| self.unit.time(count)),
            ctime,
            mtime,
            lazy: lazy && self.wanted.contains(Columns::LAZY),
            unknown,
        };
        let facts = if unknown.is_empty() { facts } else { facts.without(unknown, kind) };
        match far_times {
            None => Ok(Some(facts)),
            Some(far) => with_far_times(facts, far).map(|facts| Some(facts.only(self.wanted))),
        }
    }
}

fn bytes(value: Option<&ByteArray>) -> Option<&[u8]> {
    value.map(ByteArray::data)
}

/// Replaces times that the columns cannot represent by the exact ones.
fn with_far_times<'a>(mut facts: Facts<'a>, far: &[u8]) -> Result<Facts<'a>, Problem> {
    for one in far.split(|byte| *byte == b' ').filter(|one| !one.is_empty()) {
        let (name, at) = one.split_at_checked(6).ok_or("no time in \"far_times\"")?;
        let at: Time = time::parse(at).ok_or("no time in \"far_times\"")?;
        let (place, column) = match name {
            b"atime=" => (&mut facts.atime, Columns::ATIME),
            b"btime=" => (facts.btime.get_or_insert_default(), Columns::BTIME),
            b"ctime=" => (&mut facts.ctime, Columns::CTIME),
            b"mtime=" => (&mut facts.mtime, Columns::MTIME),
            _ => return Err("an unknown time in \"far_times\""),
        };
        // The column of a far time has the nearest one that it can represent.
        if facts.unknown.contains(column) {
            return Err("a time in \"far_times\" that its column does not have");
        }
        *place = at;
    }
    Ok(facts)
}
