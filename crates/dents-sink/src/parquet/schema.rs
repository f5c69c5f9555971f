//! The columns, and how each is encoded.

use ::parquet::basic::{Compression, Encoding};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor, TypePtr};
use std::sync::Arc;

/// Keys of the file's metadata.
pub(super) const VERSION: &str = "dents.schema";
pub(super) const PROGRAM: &str = "dents.program";
pub(super) const BEGUN: &str = "dents.begun";
pub(super) const CHECKSUMS: &str = "dents.crc32";
pub(super) const ENDED: &str = "dents.ended";
pub(super) const COMPLETE: &str = "dents.complete";

/// The columns in their order.
const MESSAGE: &str = "message entries {
    required binary path;
    required binary parent;
    required int32 depth (INTEGER(32,false));
    required binary type (STRING);
    optional int64 ino (INTEGER(64,false));
    optional int64 dev (INTEGER(64,false));
    optional int32 nlink (INTEGER(32,false));
    optional int32 mode (INTEGER(16,false));
    optional int32 uid (INTEGER(32,false));
    optional int32 gid (INTEGER(32,false));
    optional binary user;
    optional binary group;
    optional int64 size (INTEGER(64,false));
    optional int64 allocated (INTEGER(64,false));
    optional int64 atime (TIMESTAMP(NANOS,true));
    optional int64 btime (TIMESTAMP(NANOS,true));
    optional int64 ctime (TIMESTAMP(NANOS,true));
    optional int64 mtime (TIMESTAMP(NANOS,true));
    optional binary target;
    optional binary asked (STRING);
    optional int32 errno (INTEGER(32,true));
    optional boolean lazy;
    optional binary far_times (STRING);
}";

/// How many columns there are.
pub(super) const COLUMNS: usize = 23;

/// Columns without a dictionary: values that hardly repeat. The figures are in the documentation of [`crate::parquet`].
const ENCODED: [(&str, Encoding); 8] = [
    ("path", Encoding::DELTA_BYTE_ARRAY),
    ("ino", Encoding::DELTA_BINARY_PACKED),
    ("size", Encoding::PLAIN),
    ("atime", Encoding::DELTA_BINARY_PACKED),
    ("btime", Encoding::DELTA_BINARY_PACKED),
    ("ctime", Encoding::DELTA_BINARY_PACKED),
    ("mtime", Encoding::DELTA_BINARY_PACKED),
    ("target", Encoding::PLAIN),
];

/// Columns whose least and greatest value would let no reader pass over a row group, since each holds some of everything.
const WITHOUT_STATISTICS: [&str; 2] = ["path", "target"];

/// The schema with what follows from it.
pub(super) struct Schema {
    descriptor: SchemaDescriptor,
    properties: WriterPropertiesPtr,
}

impl Schema {
    pub(super) fn new() -> Schema {
        let root = parse_message_type(MESSAGE).expect("the message is a constant that the tests parse");
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("dents ", env!("CARGO_PKG_VERSION")).to_string())
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            // Where each page begins: for readers that pick rows out of a group, which is not how scans are read.
            .set_offset_index_disabled(true);
        for (name, encoding) in ENCODED {
            let path = ColumnPath::from(name);
            properties = properties.set_column_dictionary_enabled(path.clone(), false);
            properties = properties.set_column_encoding(path, encoding);
        }
        for name in WITHOUT_STATISTICS {
            let path = ColumnPath::from(name);
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        Schema { descriptor: SchemaDescriptor::new(Arc::new(root)), properties: Arc::new(properties.build()) }
    }

    pub(super) fn root(&self) -> TypePtr {
        self.descriptor.root_schema_ptr()
    }

    pub(super) fn properties(&self) -> WriterPropertiesPtr {
        self.properties.clone()
    }

    pub(super) fn column(&self, index: usize) -> ColumnDescPtr {
        self.descriptor.column(index)
    }
}
