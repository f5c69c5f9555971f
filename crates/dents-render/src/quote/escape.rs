//! What the quoting styles share: which characters they change, and escape sequences.

use super::style::{Quotes, Quoting};
use crate::invisible;
use crate::width::Char;
use alloc::vec::Vec;
use dents_locale::Charset;

/// Which characters a name needs quotes for, and how it gets them.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) style: Quoting,
    pub(super) charset: Charset,
    /// Whether invisible characters ([`crate::invisible`]) are treated as control characters.
    pub(super) invisible: bool,
    /// ASCII characters to be quoted beside those that the style quotes.
    pub(super) extra: u128,
    /// For the styles of the locale: the marks of the user's language, if it has some.
    pub(super) quotes: Option<Quotes>,
}

impl Rules {
    /// The character at this position.
    pub(super) fn char(&self, text: &[u8], at: usize) -> Char {
        match Char::first(&text[at..], self.charset) {
            Char::Printable { len, .. }
                if self.invisible && len > 1 && invisible::must_escape(text, at, len) =>
            {
                Char::Unprintable { len }
            }
            char => char,
        }
    }

    /// The marks before and after a quoted name.
    pub(super) fn marks(&self) -> (&[u8], &[u8]) {
        match &self.quotes {
            Some(quotes) => (&quotes.open, &quotes.close),
            None => self.style.forced().marks(self.charset.is_utf8()),
        }
    }

    pub(super) fn is_extra(&self, byte: u8) -> bool {
        byte.is_ascii() && self.extra >> byte & 1 == 1
    }
}

/// The letter of an escape sequence like `\n`.
pub(super) fn escape_letter(byte: u8) -> Option<u8> {
    const LETTERS: &[u8; 7] = b"abtnvfr";
    byte.checked_sub(7).and_then(|nth| LETTERS.get(usize::from(nth))).copied()
}

pub(super) fn push_octal(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
}
