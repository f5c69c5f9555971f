//! Where rendered bytes go.

use alloc::vec::Vec;

/// Where rendered bytes go.
pub trait Sink {
    /// The buffer to append to. Renderers never look at, or change, what is in it already.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// The bytes that have gone this way so far, those in the buffer included.
    fn position(&self) -> u64;

    /// Takes bytes that were rendered elsewhere, after what is in the buffer.
    fn append(&mut self, bytes: &[u8]) {
        self.buffer().extend_from_slice(bytes);
        self.checkpoint();
    }

    /// Called between lines (and between the names of `-m`): the moment to write the buffer out if it has
    /// grown large. Must be cheap when it has not.
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
