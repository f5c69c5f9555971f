//! Sections of a file (the footer, a row group), read into memory and checked by their checksums. The decoder can read nothing else.

use super::checksum::{MAGIC, SEAL, TAIL};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;

/// The largest footer. The footer of 400 million rows has about ten megabytes.
const LONGEST: usize = 1 << 30;

/// The footer, or a row group.
pub(super) struct Section {
    /// Its offset in the file.
    start: u64,
    bytes: Bytes,
    /// The length of the file.
    len: u64,
}

fn wrong(problem: &str) -> ParquetError {
    ParquetError::General(problem.to_string())
}

impl Section {
    /// Reads and checks the footer. `None` if there is no seal: another program wrote the file.
    pub(super) fn footer(file: &File) -> Result<Option<Section>> {
        let len = file.metadata()?.len();
        let mut tail = [0; TAIL];
        let at = len.checked_sub(TAIL as u64).ok_or_else(|| wrong("it ends before it has begun"))?;
        file.read_exact_at(&mut tail, at)?;
        let (size, magic) = tail.split_at(4);
        if magic != b"PAR1" {
            return Err(wrong("the end is missing"));
        }
        let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize + TAIL;
        let start = len.checked_sub((size + SEAL) as u64).filter(|_| size < LONGEST);
        let start = start.ok_or_else(|| wrong("the table of contents is larger than the file"))?;
        let mut bytes = vec![0; SEAL + size];
        file.read_exact_at(&mut bytes, start)?;
        let mut seal = Bytes::from(bytes);
        let footer = seal.split_off(SEAL);
        if !seal.starts_with(MAGIC) {
            return Ok(None);
        }
        if seal[MAGIC.len()..] != crc32fast::hash(&footer).to_le_bytes() {
            return Err(wrong("the checksum of the table of contents is another"));
        }
        Ok(Some(Section { start: start + SEAL as u64, bytes: footer, len }))
    }

    /// Reads and checks a row group. `buffer` is used for its bytes; [`Self::into_buffer`] returns it.
    pub(super) fn group(
        file: &File,
        start: u64,
        size: u64,
        crc: u32,
        mut buffer: Vec<u8>,
    ) -> Result<Section> {
        let len = file.metadata()?.len();
        let end = start.checked_add(size).filter(|end| *end <= len);
        end.ok_or_else(|| wrong("a row group is beyond the end"))?;
        // New memory costs as much as reading. Only the bytes beyond the length of the last row group are set to 0.
        buffer.resize(usize::try_from(size)?, 0);
        file.read_exact_at(&mut buffer, start)?;
        if crc32fast::hash(&buffer) != crc {
            return Err(wrong("the checksum of a row group is another"));
        }
        Ok(Section { start, bytes: buffer.into(), len })
    }

    /// The memory; it is copied if a part of it is still used.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes.into()
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Section {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Cursor<Bytes>> {
        let offset = start.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.filter(|offset| *offset <= self.bytes.len());
        let offset = offset.ok_or_else(|| wrong("a column is elsewhere than its row group"))?;
        Ok(Cursor::new(self.bytes.slice(offset..)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.get_read(start)?.into_inner();
        if length > bytes.len() {
            return Err(wrong("a column is larger than its row group"));
        }
        Ok(bytes.slice(..length))
    }
}
