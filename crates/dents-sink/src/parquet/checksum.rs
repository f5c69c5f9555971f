//! Checksums of Parquet files.
//!
//! Decoders of Parquet trust their input, and some damage makes them panic. The format has optional checksums of pages, which few
//! programs write. So there are checksums of our own, in places that other readers ignore. Each row group has a CRC-32 of all its
//! bytes, in the metadata under `dents.crc32`. The metadata has one too, called the seal: the 12 bytes between the last row
//! group and the footer are `dentscrc` and the CRC-32 from the footer to the end of the file.

use crate::format::Extent;
use crate::output::Output;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

pub(super) const MAGIC: &[u8; 8] = b"dentscrc";
/// The magic and four bytes of checksum.
pub(super) const SEAL: usize = 12;
/// A footer ends with its own length in four bytes, and `PAR1`.
pub(super) const TAIL: usize = 8;

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
