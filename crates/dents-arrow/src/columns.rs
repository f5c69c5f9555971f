//! The columns of a scan, and their builders.

use crate::records;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Int32Builder, StringBuilder, TimestampNanosecondBuilder,
    UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dents_core::facts::{Access, FACTS, Fact, Type};
use dents_render::record::words;
use dents_sink::read::Columns as Wanted;
use dents_sink::time::Unit;
use dents_sink::{Detail, Row, extension};
use std::fmt::Write;
use std::sync::Arc;

/// A column of a scan. The names are those of the Parquet files that `dents` writes.
#[derive(Clone, Copy, Debug)]
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
    Fact(&'static Fact),
    Target,
    TargetBytes,
    Asked,
    Errno,
    Detail(Detail),
}

/// The columns before those of facts, each with its name and what it needs.
const FIRST: [(&str, Column, Wanted); 9] = [
    ("path", Column::Path, Wanted::PATH),
    ("path_bytes", Column::PathBytes, Wanted::PATH),
    ("parent", Column::Parent, Wanted::PARENT),
    ("parent_bytes", Column::ParentBytes, Wanted::PARENT),
    ("name", Column::Name, Wanted::NAME),
    ("name_bytes", Column::NameBytes, Wanted::NAME),
    ("extension", Column::Extension, Wanted::NAME),
    ("depth", Column::Depth, Wanted::empty()),
    ("type", Column::Type, Wanted::empty()),
];

/// The columns before `lazy`, the last of the facts.
const BETWEEN: [(&str, Column, Wanted); 4] = [
    ("target", Column::Target, Wanted::TARGET),
    ("target_bytes", Column::TargetBytes, Wanted::TARGET),
    ("asked", Column::Asked, Wanted::empty()),
    ("errno", Column::Errno, Wanted::empty()),
];

/// The columns that every scan has.
fn usual() -> impl Iterator<Item = (&'static str, Column, Wanted)> {
    // The name of an owner follows from the number.
    let column = |fact: &'static Fact| (fact.word, Column::Fact(fact), fact.column | Wanted::of(fact.needs));
    let (facts, lazy) = FACTS.split_at(FACTS.len() - 1);
    FIRST.into_iter().chain(facts.iter().map(column)).chain(BETWEEN).chain(lazy.iter().map(column))
}

/// All columns; those of details come last.
fn all() -> impl Iterator<Item = (&'static str, Column, Wanted)> {
    usual().chain(Detail::ALL.map(|detail| (detail.name(), Column::Detail(detail), detail.column())))
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
        Columns::new(usual().collect())
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
            Column::Depth => DataType::UInt32,
            Column::Errno => DataType::Int32,
            Column::Detail(detail) => match detail.kind() {
                Type::Narrow => DataType::UInt32,
                Type::Wide => DataType::UInt64,
                Type::Text => DataType::Utf8,
            },
            Column::Fact(fact) => match fact.access {
                Access::Wide(..) => DataType::UInt64,
                Access::Narrow(..) => DataType::UInt32,
                Access::Short(..) => DataType::UInt16,
                Access::Time(..) => records::time(),
                Access::Text(..) => DataType::Utf8,
                Access::Flag(..) => DataType::Boolean,
            },
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
    fn push(&mut self, column: Column, row: &Row<'_>, names: &Names<'_>) {
        let known = |fact: &Fact| row.facts.as_ref().filter(|facts| facts.knows(fact.column));
        match (self, column) {
            (Values::Text(values), Column::Path) => path(values, row, names),
            (Values::Text(values), _) => values.append_option(text(column, row, names)),
            (Values::Bytes(values), Column::PathBytes) => values.append_value(names.path),
            (Values::Bytes(values), Column::ParentBytes) => values.append_value(row.parent),
            (Values::Bytes(values), Column::NameBytes) => values.append_value(row.name),
            (Values::Bytes(values), _) => values.append_option(row.target),
            (Values::Signed(values), _) => values.append_option(row.fault.map(|fault| fault.errno)),
            (Values::Narrow(values), Column::Depth) => values.append_value(row.depth),
            (Values::Narrow(values), Column::Detail(detail)) => {
                values.append_option(row.details.number(detail).map(|number| number as u32))
            }
            (Values::Wide(values), Column::Detail(detail)) => {
                values.append_option(row.details.number(detail))
            }
            (values, Column::Fact(fact)) => match (values, fact.access) {
                (Values::Wide(values), Access::Wide(get, _)) => values.append_option(known(fact).map(get)),
                (Values::Narrow(values), Access::Narrow(get, _)) => {
                    values.append_option(known(fact).map(get))
                }
                (Values::Short(values), Access::Short(get, _)) => values.append_option(known(fact).map(get)),
                (Values::Flag(values), Access::Flag(get, _)) => values.append_option(known(fact).map(get)),
                (Values::Time(values), Access::Time(get, _)) => {
                    values.append_option(known(fact).and_then(get).map(|time| Unit::Nanos.count(time).0));
                }
                _ => unreachable!("the builder has the type of the fact"),
            },
            _ => unreachable!("the builder has the type of the column"),
        }
    }
}

fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// The path, written into the builder in pieces.
fn path(values: &mut StringBuilder, row: &Row<'_>, names: &Names<'_>) {
    let Some((parent, name)) = names.parent.zip(names.name) else { return values.append_null() };
    let slash = if row.parent.is_empty() || row.parent.ends_with(b"/") { "" } else { "/" };
    // A write to memory never fails.
    let _ = [parent, slash, name].iter().try_for_each(|piece| values.write_str(piece));
    values.append_value("");
}

fn text<'r>(column: Column, row: &Row<'r>, names: &Names<'r>) -> Option<&'r str> {
    match column {
        Column::Parent => names.parent,
        Column::Name => names.name,
        Column::Extension => as_text(extension(row.name)).filter(|extension| !extension.is_empty()),
        Column::Type => Some(words::of_kind(row.kind)),
        Column::Fact(Fact { access: Access::Text(get, _), .. }) => {
            row.facts.as_ref().and_then(get).and_then(as_text)
        }
        Column::Detail(detail) => row.details.text(detail),
        Column::Asked => row.fault.map(|fault| fault.asked.word()),
        _ => row.target.and_then(as_text),
    }
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
        if self.values.iter().any(|(column, _)| matches!(column, Column::PathBytes)) {
            row.path(path);
        }
        let names = Names { parent: as_text(row.parent), name: as_text(row.name), path };
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
