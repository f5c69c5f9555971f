//! The columns.

use crate::Detail;
use crate::read::Columns;
use crate::time::Unit;
use ::parquet::file::metadata::SortingColumn;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
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

/// The columns in their order. For nanoseconds the unit is replaced.
const MESSAGE: &str = "message entries {
    optional binary path (STRING);
    required binary path_bytes;
    optional binary parent (STRING);
    required binary parent_bytes;
    optional binary name (STRING);
    optional binary extension (STRING);
    required int32 depth (INTEGER(32,false));
    required binary type (STRING);
    optional int64 ino (INTEGER(64,false));
    optional int64 dev (INTEGER(64,false));
    optional int32 nlink (INTEGER(32,false));
    optional int32 mode (INTEGER(16,false));
    optional int32 uid (INTEGER(32,false));
    optional int32 gid (INTEGER(32,false));
    optional binary user (STRING);
    optional binary user_bytes;
    optional binary group (STRING);
    optional binary group_bytes;
    optional int64 size (INTEGER(64,false));
    optional int64 allocated (INTEGER(64,false));
    optional int64 atime (TIMESTAMP(MICROS,true));
    optional int64 btime (TIMESTAMP(MICROS,true));
    optional int64 ctime (TIMESTAMP(MICROS,true));
    optional int64 mtime (TIMESTAMP(MICROS,true));
    optional binary target (STRING);
    optional binary target_bytes;
    optional binary asked (STRING);
    optional int32 errno (INTEGER(32,true));
    optional boolean lazy;
    optional binary far_times (STRING);
}";

/// The number of columns, without those of details.
pub(super) const COLUMNS: usize = 30;

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
        let mut message = match unit {
            Unit::Micros => MESSAGE.to_owned(),
            Unit::Nanos => MESSAGE.replace("MICROS", "NANOS"),
        };
        let details: Vec<Detail> = Detail::of(details).collect();
        message.pop();
        for detail in &details {
            let (kind, of) =
                if detail.is_number() { ("int32", "INTEGER(32,false)") } else { ("binary", "STRING") };
            message += &format!("    optional {kind} {} ({of});\n", detail.name());
        }
        message.push('}');
        let root =
            parse_message_type(&message).expect("the message is made of constants that the tests parse");
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
