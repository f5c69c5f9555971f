//! Metadata of variable length: texts of links, extended attributes, security contexts.

use super::Extra;
use alloc::vec::Vec;
use dents_sys::{Errno, Result};

/// The texts that one asker read.
#[derive(Clone, Default)]
pub(crate) struct Texts {
    /// The texts of symbolic links and lists of extended attributes, one after the other.
    pub(crate) links: Vec<u8>,
    /// The extras of slots.
    pub(crate) extras: Vec<Extra>,
    /// The security contexts, each once.
    pub(crate) contexts: Vec<Vec<u8>>,
}

/// Bytes of texts that a slot can address. Less in this crate's tests, which exceed it.
pub(super) const MOST_TEXT: usize = if cfg!(test) { 1 << 20 } else { u32::MAX as usize };

impl Texts {
    /// The start of the next text among the links, if it has this many bytes.
    ///
    /// # Errors
    /// `EOVERFLOW` if a slot could not address the text. It must then be left out, or another text would appear in its
    /// place.
    pub(crate) fn room(&self, more: usize) -> Result<u32> {
        let start = self.links.len();
        if start + more > MOST_TEXT { Err(Errno::OVERFLOW) } else { Ok(start as u32) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.contexts.is_empty() && self.extras.is_empty()
    }
}

/// The format of a list of extended attributes: name, NUL, four bytes of size.
pub(crate) mod xattr_list {
    use alloc::vec::Vec;

    const UNKNOWN: u32 = u32::MAX;

    pub(crate) fn write(name: &[u8], size: Option<u32>, to: &mut Vec<u8>) {
        to.extend_from_slice(name);
        to.push(0);
        to.extend_from_slice(&size.unwrap_or(UNKNOWN).to_le_bytes());
    }

    pub(crate) fn read(mut list: &[u8]) -> impl Iterator<Item = (&[u8], Option<u32>)> {
        core::iter::from_fn(move || {
            let end = memchr::memchr(0, list)?;
            let (size, rest) = list[end + 1..].split_first_chunk()?;
            let (name, size) = (&list[..end], u32::from_le_bytes(*size));
            list = rest;
            Some((name, (size != UNKNOWN).then_some(size)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_text_beyond_the_range_of_slots_is_refused() {
        let texts = Texts { links: vec![b'x'; MOST_TEXT - 4], ..Texts::default() };
        assert_eq!((texts.room(4), texts.room(5)), (Ok(MOST_TEXT as u32 - 4), Err(Errno::OVERFLOW)));
    }
}
