//! One column of a row group, encoded in memory.

use super::schema::Schema;
use ::parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use ::parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::Result;
use ::parquet::file::statistics::{Statistics, ValueStatistics};
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A finished column chunk.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// The smallest and the largest value, and the number of nulls.
#[derive(Default)]
pub(super) struct Bounds {
    ends: Option<(ByteArray, ByteArray)>,
    nulls: u64,
}

impl Bounds {
    /// Takes the values of the next rows, which come in order.
    pub(super) fn take_sorted(&mut self, values: &[ByteArray], rows: usize) {
        self.nulls += (rows - values.len()) as u64;
        values.first().into_iter().chain(values.last()).for_each(|value| self.widen(value));
    }

    /// Takes the values of the next rows. Most share the bytes of the value before.
    pub(super) fn take(&mut self, values: &[ByteArray], rows: usize) {
        self.nulls += (rows - values.len()) as u64;
        let mut last = None;
        for value in values {
            let here = (value.data().as_ptr(), value.len());
            if last.replace(here) != Some(here) {
                self.widen(value);
            }
        }
    }

    fn widen(&mut self, value: &ByteArray) {
        // A copy: the value may share one buffer with all others of the batch.
        let own = || ByteArray::from(value.data().to_vec());
        let (min, max) = self.ends.get_or_insert_with(|| (own(), own()));
        if value.data() < min.data() {
            *min = own();
        } else if value.data() > max.data() {
            *max = own();
        }
    }
}

impl Chunk {
    /// With these statistics. The encoder would compare each value with the next, and cut off long ones.
    pub(super) fn with(self, bounds: Bounds) -> Result<Chunk> {
        let Chunk { bytes, close } = self;
        let Some((min, max)) = bounds.ends else { return Ok(Chunk { bytes, close }) };
        let statistics = ValueStatistics::new(Some(min), Some(max), None, Some(bounds.nulls), false);
        let metadata =
            close.metadata.into_builder().set_statistics(Statistics::ByteArray(statistics)).build()?;
        Ok(Chunk { bytes, close: ColumnCloseResult { metadata, ..close } })
    }
}

/// The pages of one chunk. They are shared with the page writer, on the same thread, so the lock is always free.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Pages {
    fn new() -> Pages {
        Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))))
    }

    fn with<T>(&self, act: impl FnOnce(&mut TrackedWrite<Vec<u8>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        self.with(|bytes| SerializedPageWriter::new(bytes).write_page(page))
    }

    fn close(&mut self) -> Result<()> {
        self.with(|bytes| SerializedPageWriter::new(bytes).close())
    }
}

/// A column, with the values that are not encoded yet.
pub(super) struct Column<T: DataType> {
    /// Values, without nulls.
    pub(super) values: Vec<T::T>,
    open: Option<(ColumnWriterImpl<'static, T>, Pages)>,
}

impl<T: DataType> Default for Column<T> {
    fn default() -> Self {
        Column { values: Vec::new(), open: None }
    }
}

/// A column of any type.
pub(super) trait AnyColumn {
    /// Encodes the values. `levels` has 1 for each row with a value and 0 for each null; `None` for a required column.
    fn encode(&mut self, schema: &Schema, index: usize, levels: Option<&[i16]>) -> Result<()>;

    /// Ends the chunk; `None` if nothing was encoded.
    fn close(&mut self) -> Result<Option<Chunk>>;
}

impl<T: DataType> AnyColumn for Column<T> {
    fn encode(&mut self, schema: &Schema, index: usize, levels: Option<&[i16]>) -> Result<()> {
        let (writer, _) = self.open.get_or_insert_with(|| {
            let pages = Pages::new();
            let writer =
                get_column_writer(schema.column(index), schema.properties(), Box::new(pages.clone()));
            (get_typed_column_writer(writer), pages)
        });
        writer.write_batch(&self.values, levels, None)?;
        self.values.clear();
        Ok(())
    }

    fn close(&mut self) -> Result<Option<Chunk>> {
        let Some((writer, pages)) = self.open.take() else { return Ok(None) };
        let close = writer.close()?;
        let bytes = pages.with(|bytes| std::mem::take(bytes.inner_mut()));
        Ok(Some(Chunk { bytes: bytes.into(), close }))
    }
}
