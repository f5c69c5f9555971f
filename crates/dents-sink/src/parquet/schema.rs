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

/// Columns without a dictionary: values that hardly repeat.
const ENCODED: [(&str, Encoding); 8] = [
    ("path", Encoding::DELTA_BYTE_ARRAY),
    ("ino", Encoding::DELTA_BINARY_PACKED),
    ("size", Encoding::PLAIN),
    ("atime", Encoding::PLAIN),
    ("btime", Encoding::PLAIN),
    ("ctime", Encoding::PLAIN),
    ("mtime", Encoding::PLAIN),
    ("target", Encoding::PLAIN),
];

/// The schema with what follows from it.
pub(super) struct Schema {
    descriptor: SchemaDescriptor,
    properties: WriterPropertiesPtr,
}

impl Schema {
    pub(super) fn new() -> Schema {
        let root = parse_message_type(MESSAGE).expect("the message is a constant, and a test parses it");
        let compression = match std::env::var("PQ_COMP").as_deref() {
            Ok("none") => Compression::UNCOMPRESSED,
            Ok("snappy") => Compression::SNAPPY,
            Ok("zstd") => Compression::ZSTD(::parquet::basic::ZstdLevel::try_new(1).unwrap()),
            _ => Compression::LZ4_RAW,
        };
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("dents ", env!("CARGO_PKG_VERSION")).to_string())
            .set_compression(compression)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        let enc = |name: &str, default: Encoding| match std::env::var(format!("PQ_{name}")).as_deref() {
            Ok("plain") => Some(Encoding::PLAIN),
            Ok("delta") => Some(Encoding::DELTA_BINARY_PACKED),
            Ok("dlba") => Some(Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Ok("dba") => Some(Encoding::DELTA_BYTE_ARRAY),
            Ok("dict") => None,
            _ => Some(default),
        };
        for (name, encoding) in ENCODED {
            let path = ColumnPath::from(name);
            if let Some(encoding) = enc(name, encoding) {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, encoding);
            }
        }
        for name in std::env::var("PQ_NOSTAT").unwrap_or_default().split(',').filter(|n| !n.is_empty()) {
            properties =
                properties.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::None);
        }
        for name in std::env::var("PQ_RAW").unwrap_or_default().split(',').filter(|n| !n.is_empty()) {
            properties = properties.set_column_compression(ColumnPath::from(name), Compression::UNCOMPRESSED);
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
