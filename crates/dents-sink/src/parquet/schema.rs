//! The columns.

use crate::details::Detail;
use crate::scan_file::Columns;
use crate::time::Unit;
use ::parquet::file::metadata::SortingColumn;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
use dents_core::facts::{Access, FACTS, Fact, Type};
use std::sync::Arc;

/// The version of the schema. Version 1 had only columns of bytes, called `path` and so on, and times in nanoseconds. Version 2 had no
/// extensions and no order.
pub(super) const NUMBER: u32 = 3;

/// Keys of the file's metadata.
pub(super) const VERSION: &str = "dents.schema";
pub(super) const PROGRAM: &str = "dents.program";
pub(super) const BEGUN: &str = "dents.begun";
pub(super) const CHECKSUMS: &str = "dents.crc32";
pub(super) const ENDED: &str = "dents.ended";
pub(super) const COMPLETE: &str = "dents.complete";
pub(super) const SUBVOLUMES: &str = "dents.subvolumes";
/// Of a shard: what its task left over, see [`crate::parts`].
pub(super) const PART: &str = "dents.part";
pub(super) const ORDER: &str = "dents.order";
/// The value of [`ORDER`]: by path, bytewise, over the whole file.
pub(super) const BY_PATH: &str = "path";

/// The columns before those of facts.
const FIRST: [&str; 8] = [
    "optional binary path (STRING)",
    "required binary path_bytes",
    "optional binary parent (STRING)",
    "required binary parent_bytes",
    "optional binary name (STRING)",
    "optional binary extension (STRING)",
    "required int32 depth (INTEGER(32,false))",
    "required binary type (STRING)",
];

/// The columns between those of facts and `lazy`, the last fact.
const BETWEEN: [&str; 4] = [
    "optional binary target (STRING)",
    "optional binary target_bytes",
    "optional binary asked (STRING)",
    "optional int32 errno (INTEGER(32,true))",
];

/// The column after them.
const LAST: &str = "optional binary far_times (STRING)";

/// The number of columns, without those of details. A text has two.
pub(super) const COLUMNS: usize = {
    let (mut columns, mut nth) = (FIRST.len() + BETWEEN.len() + 1, 0);
    while nth < FACTS.len() {
        columns += if let Access::Text(..) = FACTS[nth].access { 2 } else { 1 };
        nth += 1;
    }
    columns
};

/// The declarations of a fact.
fn declarations(fact: &Fact, unit: Unit) -> Vec<String> {
    let Fact { word, access, .. } = fact;
    let unit = if unit == Unit::Nanos { "NANOS" } else { "MICROS" };
    let declaration = match access {
        Access::Wide(..) => format!("int64 {word} (INTEGER(64,false))"),
        Access::Narrow(..) => format!("int32 {word} (INTEGER(32,false))"),
        Access::Short(..) => format!("int32 {word} (INTEGER(16,false))"),
        Access::Time(..) => format!("int64 {word} (TIMESTAMP({unit},true))"),
        Access::Flag(..) => format!("boolean {word}"),
        Access::Text(..) => {
            return vec![format!("optional binary {word} (STRING)"), format!("optional binary {word}_bytes")];
        }
    };
    vec![format!("optional {declaration}")]
}

/// The schema as text.
fn message(unit: Unit, details: &[Detail]) -> String {
    let mut all: Vec<String> = FIRST.map(String::from).into();
    for fact in &FACTS {
        if fact.column == Columns::LAZY {
            all.extend(BETWEEN.map(String::from));
        }
        all.extend(declarations(fact, unit));
    }
    all.push(LAST.to_owned());
    all.extend(details.iter().map(|detail| match detail.kind() {
        Type::Narrow => format!("optional int32 {} (INTEGER(32,false))", detail.name()),
        Type::Wide => format!("optional int64 {} (INTEGER(64,false))", detail.name()),
        Type::Text => format!("optional binary {} (STRING)", detail.name()),
    }));
    format!("message entries {{ {}; }}", all.join("; "))
}

/// The schema and the properties of the writer.
pub(super) struct Schema {
    descriptor: SchemaDescriptor,
    properties: WriterPropertiesPtr,
    unit: Unit,
    /// The details, whose columns come last.
    details: Vec<Detail>,
}

impl Schema {
    pub(super) fn new(unit: Unit, details: Columns) -> Schema {
        let details: Vec<Detail> = Detail::of(details).collect();
        let root = parse_message_type(&message(unit, &details))
            .expect("the message is made of constants that the tests parse");
        let properties = WriterProperties::builder()
            .set_created_by(concat!("dents ", env!("CARGO_PKG_VERSION")).to_string())
            .set_sorting_columns(Some(vec![SortingColumn {
                column_idx: 1,
                descending: false,
                nulls_first: false,
            }]))
            // The offset index serves readers that select single rows of a group; scans are read as a whole.
            .set_offset_index_disabled(true);
        let descriptor = SchemaDescriptor::new(Arc::new(root));
        Schema { descriptor, properties: Arc::new(properties.build()), unit, details }
    }

    pub(super) fn root(&self) -> TypePtr {
        self.descriptor.root_schema_ptr()
    }

    pub(super) fn properties(&self) -> WriterPropertiesPtr {
        self.properties.clone()
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    pub(super) fn details(&self) -> &[Detail] {
        &self.details
    }

    pub(super) fn column(&self, index: usize) -> ColumnDescPtr {
        self.descriptor.column(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readers know the columns by name, type and place.
    #[test]
    fn columns_keep_their_places() {
        let schema = Schema::new(Unit::Micros, Columns::PROJECT | Columns::ACL);
        let names: Vec<String> =
            schema.root().get_fields().iter().map(|field| field.name().to_owned()).collect();
        let expected = "path path_bytes parent parent_bytes name extension depth type ino dev nlink mode uid gid user user_bytes \
            group group_bytes size allocated atime btime ctime mtime target target_bytes asked errno lazy far_times project acl";
        assert_eq!(names.join(" "), expected);
        assert_eq!(names.len(), COLUMNS + 2);
        let nanos = message(Unit::Nanos, &[]);
        assert!(nanos.contains("optional int64 btime (TIMESTAMP(NANOS,true));") && !nanos.contains("MICROS"));
        assert!(
            nanos
                .contains("optional int32 mode (INTEGER(16,false)); optional int32 uid (INTEGER(32,false));")
        );
    }
}
