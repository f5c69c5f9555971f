//! A piece of a text.

/// A piece of the text that all colours share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Span {
    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..(self.start + self.len) as usize]
    }
}
