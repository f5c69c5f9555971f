//! Checksums of Parquet files.
//!
//! Decoders of Parquet trust their input, and some damage makes them panic. The format has optional checksums of pages, which few
//! programs write. So there are checksums of our own, in places that other readers ignore. Each row group has a CRC-32 of all its
//! bytes, in the metadata under `dents.crc32`. The metadata has one too, called the seal: the 12 bytes between the last row
//! group and the footer are `dentscrc` and the CRC-32 from the footer to the end of the file.

use crate::{Extent, Output};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MAGIC: &[u8; 8] = b"dentscrc";
/// The magic and four bytes of checksum.
pub(super) const SEAL: usize = 12;
/// A footer ends with its own length in four bytes, and `PAR1`.
pub(super) const TAIL: usize = 8;
/// The largest footer: that of 400 million rows has about ten megabytes.
const LONGEST: usize = 1 << 30;

/// The file under the writer. It buffers the footer, so that the seal can be written before it.
pub(super) struct Sealed {
    output: BufWriter<Output>,
    footer: Option<Vec<u8>>,
}

impl Sealed {
    pub(super) fn new(output: Output) -> Sealed {
        // Row groups come in pieces of 8 KiB.
        Sealed { output: BufWriter::with_capacity(1 << 20, output), footer: None }
    }

    /// The footer begins here.
    pub(super) fn begin_footer(&mut self) {
        self.footer = Some(Vec::new());
    }

    /// Writes seal and footer, and gives the file its name.
    pub(super) fn commit(mut self, extent: Extent) -> io::Result<Option<PathBuf>> {
        let footer = self.footer.take().unwrap_or_default();
        self.output.write_all(MAGIC)?;
        self.output.write_all(&crc32fast::hash(&footer).to_le_bytes())?;
        self.output.write_all(&footer)?;
        self.output.into_inner().map_err(io::IntoInnerError::into_error)?.commit(extent)
    }
}

impl Write for Sealed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.footer {
            Some(footer) => footer.write(bytes),
            None => self.output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// A file for the decoder: its footer, and one row group at a time in memory, both checked. The decoder can read nothing
/// else.
#[derive(Clone)]
pub(super) struct Checked(Arc<Inside>);

struct Inside {
    file: File,
    len: u64,
    piece: Mutex<Piece>,
}

/// Bytes of the file, and their offset.
struct Piece {
    start: u64,
    bytes: Bytes,
}

fn wrong(problem: &str) -> ParquetError {
    ParquetError::General(problem.to_string())
}

impl Checked {
    /// Reads and checks the footer. `None` if there is no seal: another program's file.
    pub(super) fn open(file: File) -> Result<Option<Checked>> {
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
        let piece = Mutex::new(Piece { start: start + SEAL as u64, bytes: footer });
        Ok(Some(Checked(Arc::new(Inside { file, len, piece }))))
    }

    /// Reads and checks a row group, which replaces the previous one in memory.
    pub(super) fn load(&self, start: u64, len: u64, crc: u32) -> Result<()> {
        let end = start.checked_add(len).filter(|end| *end <= self.0.len);
        end.ok_or_else(|| wrong("a row group is beyond the end"))?;
        let mut bytes = vec![0; usize::try_from(len)?];
        self.0.file.read_exact_at(&mut bytes, start)?;
        if crc32fast::hash(&bytes) != crc {
            return Err(wrong("the checksum of a row group is another"));
        }
        *self.0.piece.lock().unwrap_or_else(PoisonError::into_inner) = Piece { start, bytes: bytes.into() };
        Ok(())
    }
}

impl Length for Checked {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for Checked {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Cursor<Bytes>> {
        let piece = self.0.piece.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = start.checked_sub(piece.start).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.filter(|offset| *offset <= piece.bytes.len());
        Ok(Cursor::new(
            piece.bytes.slice(offset.ok_or_else(|| wrong("a column is elsewhere than its row group"))?..),
        ))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.get_read(start)?.into_inner();
        if length > bytes.len() {
            return Err(wrong("a column is larger than its row group"));
        }
        Ok(bytes.slice(..length))
    }
}
