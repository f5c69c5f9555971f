//! Frames: rows of one directory in the order of their names, encoded one after the other.
//!
//! ```text
//! length 8 │ number of rows, depth, bytes that the path shares with that of the previous frame, its other bytes, rows
//! ```
//!
//! The first row of a frame depends on no row before it. A worker's frames share no bytes of the path, so they can be moved. The frames of a
//! run do where paths are long: a chain of 50,000 directories has 2.5 GB of paths, and 5 MB of rows.

use crate::bytes::{Bytes, put_bytes, put_number};
use crate::coding::{Before, Rows, put_row};
use crate::row::Row;
use std::borrow::Cow;
use std::io;

/// Bytes of rows in a frame, unless one row has more.
const FULL: usize = 16 << 10;

/// An encoded frame.
pub(super) struct Frame<'a> {
    /// All of its bytes.
    pub(super) raw: &'a [u8],
    /// Bytes of the path that are those of the previous frame, and the others.
    shared: usize,
    rest: &'a [u8],
    pub(super) depth: u32,
    /// The number of its rows, at least one.
    pub(super) count: u64,
    /// Rows without their parent, which is the path.
    pub(super) rows: Rows<'a>,
}

impl<'a> Frame<'a> {
    /// Takes a frame from the front; `None` if the bytes are invalid.
    pub(super) fn take(from: &mut &'a [u8]) -> Option<Frame<'a>> {
        let (len, rest) = from.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (payload, rest) = rest.split_at_checked(len)?;
        let raw = &from[..from.len() - rest.len()];
        *from = rest;
        let mut bytes = Bytes(payload);
        let (count, depth, shared, rest) = (bytes.number()?, bytes.small()?, bytes.small()?, bytes.bytes()?);
        Some(Frame { raw, shared, rest, depth, count, rows: Rows::new(bytes, b"", depth) })
    }

    /// Changes the path of the previous frame into that of this one.
    pub(super) fn follow(&self, path: &mut Cow<'a, [u8]>) -> io::Result<()> {
        if self.shared > path.len() {
            return Err(damaged());
        }
        if self.shared == 0 {
            *path = Cow::Borrowed(self.rest);
        } else {
            let path = path.to_mut();
            path.truncate(self.shared);
            path.extend_from_slice(self.rest);
        }
        Ok(())
    }

    /// The path, if it shares no bytes.
    pub(super) fn path(&self) -> Option<&'a [u8]> {
        (self.shared == 0).then_some(self.rest)
    }
}

/// Appends a frame whose path begins with `shared` bytes of the path before.
pub(super) fn put_frame(
    out: &mut Vec<u8>,
    (path, shared): (&[u8], usize),
    depth: u32,
    count: u64,
    rows: &[u8],
) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    put_number(out, count);
    put_number(out, u64::from(depth));
    put_number(out, shared as u64);
    put_bytes(out, &path[shared..]);
    out.extend_from_slice(rows);
    let len = (out.len() - start - 8) as u64;
    out[start..start + 8].copy_from_slice(&len.to_le_bytes());
}

/// The rows of a frame that is being made.
#[derive(Default)]
pub(super) struct Builder {
    depth: u32,
    count: u64,
    rows: Vec<u8>,
    before: Before,
}

impl Builder {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the next row needs another frame.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= FULL
    }

    pub(super) fn begin(&mut self, depth: u32) {
        self.depth = depth;
        self.count = 0;
        self.rows.clear();
        self.before.forget();
    }

    /// Appends a row of the directory.
    pub(super) fn row(&mut self, row: &Row<'_>) {
        put_row(&mut self.rows, &Row { parent: b"", ..*row }, b"", self.depth, &mut self.before);
        self.count += 1;
    }

    /// Appends a row that was encoded for this directory, after a row with the device and the owner of the last row here.
    pub(super) fn encoded(&mut self, row: &[u8]) {
        self.rows.extend_from_slice(row);
        self.count += 1;
    }

    /// Appends the frame, whose path begins with `shared` bytes of the path before. Returns the number of its rows; 0 if there is no frame.
    pub(super) fn end(&mut self, path: (&[u8], usize), out: &mut Vec<u8>) -> u64 {
        let count = std::mem::take(&mut self.count);
        if count > 0 {
            put_frame(out, path, self.depth, count, &self.rows);
        }
        count
    }
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the temporary file of the output has other bytes than were written",
    )
}

/// The order of rows with the same path: that of the entry comes first.
pub(super) fn is_second(row: &Row<'_>) -> bool {
    row.fault.is_some_and(|fault| fault.is_of_directory())
}
