//! Where rendered bytes go.

use alloc::vec::Vec;

/// Where rendered bytes go.
pub trait Sink {
    /// The buffer to append to. Renderers neither read nor change the bytes in it.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// The number of bytes so far, with those in the buffer.
    fn position(&self) -> u64;

    /// Appends bytes that were rendered into another buffer.
    fn append(&mut self, bytes: &[u8]) {
        self.buffer().extend_from_slice(bytes);
        self.checkpoint();
    }

    /// Called between lines (and between the names of `-m`). The sink may write the buffer out then, if it is large;
    /// otherwise the call must be cheap.
    fn checkpoint(&mut self);
}

impl Sink for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn position(&self) -> u64 {
        self.len() as u64
    }

    fn checkpoint(&mut self) {}
}
