//! Frames: rows of one directory in the order of their names, encoded one after the other.
//!
//! ```text
//! length 8 │ number of rows, depth, path of the directory, rows
//! ```
//!
//! The first row of a frame depends on no row before it, so frames can be moved.

use crate::Row;
use crate::coding::{Before, Bytes, Rows, put_bytes, put_number, put_row};

/// Bytes of rows in a frame, unless one row has more.
const FULL: usize = 16 << 10;

/// An encoded frame.
pub(super) struct Frame<'a> {
    /// All of its bytes.
    pub(super) raw: &'a [u8],
    pub(super) path: &'a [u8],
    /// The number of its rows, at least one.
    pub(super) count: u64,
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
        let (count, depth, path) = (bytes.number()?, bytes.small()?, bytes.bytes()?);
        Some(Frame { raw, path, count, rows: Rows::new(bytes, path, depth) })
    }
}

/// A frame that is being made.
#[derive(Default)]
pub(super) struct Builder {
    path: Vec<u8>,
    depth: u32,
    count: u64,
    rows: Vec<u8>,
    before: Before,
}

impl Builder {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the next row belongs to the same frame.
    pub(super) fn takes(&self, parent: &[u8]) -> bool {
        self.rows.len() < FULL && self.path == parent
    }

    pub(super) fn begin(&mut self, parent: &[u8], depth: u32) {
        self.path.clear();
        self.path.extend_from_slice(parent);
        self.depth = depth;
        self.count = 0;
        self.rows.clear();
        self.before.forget();
    }

    pub(super) fn row(&mut self, row: &Row<'_>) {
        put_row(&mut self.rows, row, &self.path, self.depth, &mut self.before);
        self.count += 1;
    }

    /// Appends a row that was encoded for this directory, after a row with the device and the owner of the last row here.
    pub(super) fn encoded(&mut self, row: &[u8]) {
        self.rows.extend_from_slice(row);
        self.count += 1;
    }

    /// Appends the frame. Returns the number of its rows; 0 if there is no frame.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) -> u64 {
        let count = std::mem::take(&mut self.count);
        if count > 0 {
            let start = out.len();
            out.extend_from_slice(&[0; 8]);
            put_number(out, count);
            put_number(out, u64::from(self.depth));
            put_bytes(out, &self.path);
            out.extend_from_slice(&self.rows);
            let len = (out.len() - start - 8) as u64;
            out[start..start + 8].copy_from_slice(&len.to_le_bytes());
        }
        count
    }
}
