//! The columns of a scan, and their builders.

use crate::records;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Int32Builder, StringBuilder, TimestampNanosecondBuilder,
    UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dents_core::batch::Time;
use dents_render::record::words;
use dents_sink::read::Columns as Wanted;
use dents_sink::time::Unit;
use dents_sink::{Detail, Facts, Row, extension};
use std::fmt::Write;
use std::sync::Arc;

/// A column of a scan. The names are those of the Parquet files that `dents` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Path,
    PathBytes,
    Parent,
    ParentBytes,
    Name,
    NameBytes,
    Extension,
    Depth,
    Type,
    Ino,
    Dev,
    Nlink,
    Mode,
    Uid,
    Gid,
    User,
    Group,
    Size,
    Allocated,
    Atime,
    Btime,
    Ctime,
    Mtime,
    Target,
    TargetBytes,
    Asked,
    Errno,
    Lazy,
    Detail(Detail),
}

/// Each usual column with its name and the facts that it needs.
const TABLE: [(&str, Column, Wanted); 28] = [
    ("path", Column::Path, Wanted::PATH),
    ("path_bytes", Column::PathBytes, Wanted::PATH),
    ("parent", Column::Parent, Wanted::PARENT),
    ("parent_bytes", Column::ParentBytes, Wanted::PARENT),
    ("name", Column::Name, Wanted::NAME),
    ("name_bytes", Column::NameBytes, Wanted::NAME),
    ("extension", Column::Extension, Wanted::NAME),
    ("depth", Column::Depth, Wanted::empty()),
    ("type", Column::Type, Wanted::empty()),
    ("ino", Column::Ino, Wanted::INODE),
    ("dev", Column::Dev, Wanted::INODE),
    ("nlink", Column::Nlink, Wanted::NLINK),
    ("mode", Column::Mode, Wanted::MODE),
    ("uid", Column::Uid, Wanted::UID),
    ("gid", Column::Gid, Wanted::GID),
    ("user", Column::User, Wanted::UID.union(Wanted::USER)),
    ("group", Column::Group, Wanted::GID.union(Wanted::GROUP)),
    ("size", Column::Size, Wanted::SIZE),
    ("allocated", Column::Allocated, Wanted::ALLOCATED),
    ("atime", Column::Atime, Wanted::ATIME),
    ("btime", Column::Btime, Wanted::BTIME),
    ("ctime", Column::Ctime, Wanted::CTIME),
    ("mtime", Column::Mtime, Wanted::MTIME),
    ("target", Column::Target, Wanted::TARGET),
    ("target_bytes", Column::TargetBytes, Wanted::TARGET),
    ("asked", Column::Asked, Wanted::empty()),
    ("errno", Column::Errno, Wanted::empty()),
    ("lazy", Column::Lazy, Wanted::LAZY),
];

/// The same for all columns; those of details come last.
fn all() -> impl Iterator<Item = (&'static str, Column, Wanted)> {
    let details =
        Detail::ALL.into_iter().map(|detail| (detail.name(), Column::Detail(detail), detail.column()));
    TABLE.into_iter().chain(details)
}

/// The columns that a program asks for, in its order.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    schema: SchemaRef,
    wanted: Wanted,
}

impl Default for Columns {
    /// The columns that every scan has.
    fn default() -> Columns {
        Columns::new(TABLE.to_vec())
    }
}

impl Columns {
    /// The names of all columns.
    pub fn names() -> impl Iterator<Item = &'static str> {
        all().map(|(name, ..)| name)
    }

    /// The columns with these names. `path`, `path_bytes`, `parent`, `name`, `extension`, `depth` and `type` cost no `statx` where `readdir` returns
    /// types.
    /// The documentation of `dents scan --columns` has the cost of each detail ([`Detail`]).
    ///
    /// # Errors
    /// A name that no column has; the message lists the names of all columns.
    pub fn of(names: &[impl AsRef<str>]) -> Result<Columns, String> {
        let find = |name: &str| {
            all().find(|(one, ..)| *one == name).ok_or_else(|| {
                let all: Vec<&str> = Columns::names().collect();
                format!("there is no column {name:?}: name some of {}", all.join(", "))
            })
        };
        let found: Result<Vec<_>, String> = names.iter().map(|name| find(name.as_ref())).collect();
        Ok(Columns::new(found?))
    }

    fn new(chosen: Vec<(&'static str, Column, Wanted)>) -> Columns {
        let field = |(name, column, _): &(&'static str, Column, Wanted)| {
            Field::new(*name, column.data_type(), column.is_nullable())
        };
        let schema = Arc::new(Schema::new(chosen.iter().map(field).collect::<Vec<_>>()));
        let wanted = chosen.iter().fold(Wanted::empty(), |all, (_, _, wanted)| all | *wanted);
        Columns { columns: chosen.into_iter().map(|(_, column, _)| column).collect(), schema, wanted }
    }

    /// Names and types.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    pub(crate) fn wanted(&self) -> Wanted {
        self.wanted
    }

    pub(crate) fn builder(&self) -> Builder {
        let values = self.columns.iter().map(|column| (*column, Values::new(*column))).collect();
        Builder { schema: self.schema(), values, rows: 0 }
    }
}

impl Column {
    fn data_type(self) -> DataType {
        match self {
            Column::PathBytes | Column::ParentBytes | Column::NameBytes | Column::TargetBytes => {
                DataType::Binary
            }
            Column::Ino | Column::Dev | Column::Size | Column::Allocated => DataType::UInt64,
            Column::Depth | Column::Nlink | Column::Uid | Column::Gid => DataType::UInt32,
            Column::Mode => DataType::UInt16,
            Column::Errno => DataType::Int32,
            Column::Lazy => DataType::Boolean,
            Column::Detail(detail) if detail.is_number() => DataType::UInt32,
            Column::Atime | Column::Btime | Column::Ctime | Column::Mtime => records::time(),
            _ => DataType::Utf8,
        }
    }

    fn is_nullable(self) -> bool {
        use Column::{Depth, NameBytes, ParentBytes, PathBytes, Type};
        !matches!(self, PathBytes | ParentBytes | NameBytes | Depth | Type)
    }
}

/// The values of a column.
enum Values {
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Wide(UInt64Builder),
    Narrow(UInt32Builder),
    Short(UInt16Builder),
    Signed(Int32Builder),
    Flag(BooleanBuilder),
    Time(TimestampNanosecondBuilder),
}

impl Values {
    fn new(column: Column) -> Values {
        match column.data_type() {
            DataType::Binary => Values::Bytes(BinaryBuilder::new()),
            DataType::UInt64 => Values::Wide(UInt64Builder::new()),
            DataType::UInt32 => Values::Narrow(UInt32Builder::new()),
            DataType::UInt16 => Values::Short(UInt16Builder::new()),
            DataType::Int32 => Values::Signed(Int32Builder::new()),
            DataType::Boolean => Values::Flag(BooleanBuilder::new()),
            DataType::Timestamp(..) => {
                Values::Time(TimestampNanosecondBuilder::new().with_timezone(records::UTC))
            }
            _ => Values::Text(StringBuilder::new()),
        }
    }

    fn builder(&mut self) -> &mut dyn ArrayBuilder {
        match self {
            Values::Text(values) => values,
            Values::Bytes(values) => values,
            Values::Wide(values) => values,
            Values::Narrow(values) => values,
            Values::Short(values) => values,
            Values::Signed(values) => values,
            Values::Flag(values) => values,
            Values::Time(values) => values,
        }
    }

    /// Takes the value of a row.
    fn push(&mut self, column: Column, row: &Row<'_>, bytes: &Names<'_>) {
        let facts = row.facts.as_ref();
        match self {
            Values::Text(values) => text(values, column, row, bytes),
            Values::Bytes(values) => match column {
                Column::PathBytes => values.append_value(bytes.path),
                Column::ParentBytes => values.append_value(row.parent),
                Column::NameBytes => values.append_value(row.name),
                _ => values.append_option(row.target),
            },
            Values::Wide(values) => values.append_option(facts.map(|facts| match column {
                Column::Ino => facts.ino,
                Column::Dev => words::device(facts.dev),
                Column::Size => facts.size,
                _ => facts.allocated,
            })),
            Values::Narrow(values) => match column {
                Column::Depth => values.append_value(row.depth),
                Column::Nlink => values.append_option(facts.map(|facts| facts.nlink)),
                Column::Uid => {
                    values.append_option(facts.and_then(|facts| facts.known(Wanted::UID, facts.uid)));
                }
                Column::Detail(detail) => values.append_option(row.details.number(detail)),
                _ => values.append_option(facts.and_then(|facts| facts.known(Wanted::GID, facts.gid))),
            },
            Values::Short(values) => {
                values.append_option(facts.and_then(|facts| facts.known(Wanted::MODE, facts.mode)));
            }
            Values::Signed(values) => values.append_option(row.fault.map(|fault| fault.errno)),
            Values::Flag(values) => values.append_option(facts.map(|facts| facts.lazy)),
            Values::Time(values) => values.append_option(
                facts.and_then(|facts| time(column, facts)).map(|time| Unit::Nanos.count(time).0),
            ),
        }
    }
}

fn time(column: Column, facts: &Facts<'_>) -> Option<Time> {
    match column {
        Column::Atime => facts.known(Wanted::ATIME, facts.atime),
        Column::Btime => facts.btime,
        Column::Ctime => facts.known(Wanted::CTIME, facts.ctime),
        _ => facts.known(Wanted::MTIME, facts.mtime),
    }
}

fn text(values: &mut StringBuilder, column: Column, row: &Row<'_>, names: &Names<'_>) {
    let as_text = |bytes| std::str::from_utf8(bytes).ok();
    let value = match column {
        Column::Path => {
            let Some((parent, name)) = names.parent.zip(names.name) else { return values.append_null() };
            // The path is written into the builder in two parts. A write to memory never fails.
            let slash = if row.parent.is_empty() || row.parent.ends_with(b"/") { "" } else { "/" };
            let _ = [parent, slash, name].iter().try_for_each(|piece| values.write_str(piece));
            return values.append_value("");
        }
        Column::Parent => names.parent,
        Column::Name => names.name,
        Column::Extension => as_text(extension(row.name)).filter(|extension| !extension.is_empty()),
        Column::Type => Some(words::of_kind(row.kind)),
        Column::User => row.facts.and_then(|facts| facts.user).and_then(as_text),
        Column::Group => row.facts.and_then(|facts| facts.group).and_then(as_text),
        Column::Detail(detail) => row.details.text(detail),
        Column::Asked => row.fault.map(|fault| fault.asked.word()),
        _ => row.target.and_then(as_text),
    };
    values.append_option(value);
}

/// The names of a row, as text if they are UTF-8.
struct Names<'r> {
    parent: Option<&'r str>,
    name: Option<&'r str>,
    /// The whole path; empty where no column has it.
    path: &'r [u8],
}

/// Makes batches of rows.
pub(crate) struct Builder {
    schema: SchemaRef,
    values: Vec<(Column, Values)>,
    rows: usize,
}

impl Builder {
    /// Takes a row.
    pub(crate) fn push(&mut self, row: &Row<'_>, path: &mut Vec<u8>) {
        path.clear();
        if self.values.iter().any(|(column, _)| *column == Column::PathBytes) {
            row.path(path);
        }
        let names = Names {
            parent: std::str::from_utf8(row.parent).ok(),
            name: std::str::from_utf8(row.name).ok(),
            path,
        };
        self.values.iter_mut().for_each(|(column, values)| values.push(*column, row, &names));
        self.rows += 1;
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The rows so far.
    pub(crate) fn finish(&mut self) -> RecordBatch {
        let arrays: Vec<ArrayRef> =
            self.values.iter_mut().map(|(_, values)| values.builder().finish()).collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        self.rows = 0;
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .expect("the columns are those of the schema, and equally long")
    }
}
