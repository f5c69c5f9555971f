//! One column of a row group: its pages, encoded and compressed in memory.

use super::encode::Encode;
use super::pack;
use super::schema::Schema;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use bytes::Bytes;
use std::mem::take;

/// A finished column chunk.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// A column, with the values that are not in a page yet.
#[derive(Default)]
pub(super) struct Column<E> {
    pub(super) values: E,
    pages: Vec<CompressedPage>,
    rows: u64,
    nulls: u64,
}

/// Memory that all columns use in turns: for a page, and for the compressed page.
#[derive(Default)]
pub(super) struct Scratch {
    plain: Vec<u8>,
    compressed: Vec<u8>,
}

/// A column of any type.
pub(super) trait AnyColumn {
    /// Ends a page with this number of rows. `has` says for each row whether it has a value; `None` for a required column.
    fn end_page(&mut self, rows: usize, has: Option<&[bool]>, scratch: &mut Scratch) -> Result<()>;

    /// Ends the chunk.
    fn close(&mut self, schema: &Schema, index: usize) -> Result<Chunk>;
}

impl<E: Encode> AnyColumn for Column<E> {
    fn end_page(&mut self, rows: usize, has: Option<&[bool]>, scratch: &mut Scratch) -> Result<()> {
        let Scratch { plain, compressed } = scratch;
        plain.clear();
        if let Some(has) = has {
            self.nulls += has.iter().filter(|has| !**has).count() as u64;
            plain.extend_from_slice(&[0; 4]);
            pack::runs(plain, has, 1);
            let len = plain.len() as u32 - 4;
            plain[..4].copy_from_slice(&len.to_le_bytes());
        }
        let encoding = self.values.page(plain);
        self.rows += rows as u64;
        let page = Page::DataPage {
            buf: compress(plain, compressed)?,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push(CompressedPage::new(page, plain.len()));
        Ok(())
    }

    fn close(&mut self, schema: &Schema, index: usize) -> Result<Chunk> {
        let Column { values, pages, rows, nulls } = self;
        let (rows, nulls) = (take(rows), take(nulls));
        let mut writer = Writer::new();
        let mut encodings = vec![Encoding::RLE];
        for page in pages.iter() {
            if !encodings.contains(&page.encoding()) {
                encodings.push(page.encoding());
            }
        }
        let dictionary = values.dictionary();
        let data_at = match dictionary {
            Some((plain, count)) => {
                encodings.push(Encoding::PLAIN);
                let buf = compress(&plain, &mut Vec::new())?;
                let page = Page::DictionaryPage {
                    buf,
                    num_values: count,
                    encoding: Encoding::PLAIN,
                    is_sorted: false,
                };
                writer.page(CompressedPage::new(page, plain.len()))?;
                Some(writer.compressed)
            }
            None => None,
        };
        pages.drain(..).try_for_each(|page| writer.page(page))?;
        let Writer { out, compressed, uncompressed } = writer;
        let bytes = out.into_inner()?;
        let mut metadata = ColumnChunkMetaData::builder(schema.column(index))
            .set_compression(Compression::LZ4_RAW)
            .set_encodings(encodings)
            .set_total_compressed_size(compressed)
            .set_total_uncompressed_size(uncompressed)
            .set_num_values(rows as i64)
            .set_data_page_offset(data_at.unwrap_or(0))
            .set_dictionary_page_offset(data_at.map(|_| 0));
        if let Some(statistics) = values.statistics(nulls) {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: compressed as u64,
            rows_written: rows,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes: bytes.into(), close })
    }
}

fn compress(bytes: &[u8], scratch: &mut Vec<u8>) -> Result<Bytes> {
    scratch.resize(lz4_flex::block::get_maximum_output_size(bytes.len()).max(scratch.len()), 0);
    let len = lz4_flex::block::compress_into(bytes, scratch);
    let len = len.map_err(|error| ParquetError::External(Box::new(error)))?;
    Ok(Bytes::copy_from_slice(&scratch[..len]))
}

/// The bytes of a chunk, with the headers of its pages.
struct Writer {
    out: TrackedWrite<Vec<u8>>,
    compressed: i64,
    uncompressed: i64,
}

impl Writer {
    fn new() -> Writer {
        Writer { out: TrackedWrite::new(Vec::new()), compressed: 0, uncompressed: 0 }
    }

    fn page(&mut self, page: CompressedPage) -> Result<()> {
        let written = SerializedPageWriter::new(&mut self.out).write_page(page)?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok(())
    }
}
