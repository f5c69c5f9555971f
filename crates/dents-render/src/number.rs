//! Decimal numbers without `core::fmt`: a long listing prints five of them on each line.

use alloc::vec::Vec;

/// The two digits of each number below 100.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// The two digits of a number below 100.
///
/// # Panics
/// If `n` is 100 or more.
#[must_use]
pub fn pair(n: u32) -> [u8; 2] {
    PAIRS[n as usize]
}

/// A short text on the stack: a number, with a unit after it at most.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes: [u8; Text::CAPACITY],
    start: u8,
    /// The number of bytes minus the number of columns.
    excess: u8,
}

impl Text {
    /// Room for the largest `u64` in groups, and two letters of unit.
    const CAPACITY: usize = 46;

    /// The excess of a text with characters that cannot be printed.
    const UNKNOWN: u8 = u8::MAX;

    /// No characters.
    #[must_use]
    pub const fn empty() -> Text {
        Text { bytes: [0; Text::CAPACITY], start: Text::CAPACITY as u8, excess: 0 }
    }

    /// The digits of a number.
    #[must_use]
    #[inline]
    pub fn number(mut n: u64) -> Text {
        let mut text = Text::empty();
        let mut at = Text::CAPACITY;
        while n >= 100 {
            at -= 2;
            text.bytes[at..at + 2].copy_from_slice(&PAIRS[(n % 100) as usize]);
            n /= 100;
        }
        at -= 2;
        text.bytes[at..at + 2].copy_from_slice(&PAIRS[n as usize]);
        text.start = (at + usize::from(n < 10)) as u8;
        text
    }

    /// The digits of a signed number.
    #[must_use]
    pub fn signed(n: i64) -> Text {
        let mut text = Text::number(n.unsigned_abs());
        if n < 0 {
            text.prepend(b"-");
        }
        text
    }

    /// Puts bytes before the text. Bytes that do not fit are left out.
    pub fn prepend(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().rev() {
            if self.start > 0 {
                self.start -= 1;
                self.bytes[usize::from(self.start)] = *byte;
            }
        }
    }

    /// Puts a character before the text whose columns differ from its bytes. `None` for the columns means that it
    /// cannot be printed.
    pub(crate) fn prepend_wide(&mut self, bytes: &[u8], columns: Option<u8>) {
        self.prepend(bytes);
        self.excess = match columns {
            Some(columns) => self.excess.saturating_add((bytes.len() as u8).saturating_sub(columns)),
            None => Text::UNKNOWN,
        };
    }

    /// The text.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[usize::from(self.start)..]
    }

    /// Its length in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        Text::CAPACITY - usize::from(self.start)
    }

    /// The width in columns: 0 if a character cannot be printed.
    #[must_use]
    #[inline]
    pub fn width(&self) -> usize {
        if self.excess == Text::UNKNOWN { 0 } else { self.len() - usize::from(self.excess) }
    }

    /// The number of spaces before it in a column of `width`: none if its own width is not known.
    #[must_use]
    #[inline]
    pub fn padding(&self, width: usize) -> usize {
        if self.excess == Text::UNKNOWN { 0 } else { width.saturating_sub(self.width()) }
    }

    /// Whether it has more bytes than columns.
    #[must_use]
    #[inline]
    pub(crate) fn is_wide(&self) -> bool {
        self.excess != 0
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The number of digits of a number.
#[must_use]
#[inline]
pub fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Appends `count` spaces.
#[inline]
pub fn push_spaces(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b' ');
}

/// Appends text, right-aligned in a column of `width`.
#[inline]
pub fn push_right(out: &mut Vec<u8>, text: &[u8], width: usize) {
    if width > text.len() {
        push_spaces(out, width - text.len());
    }
    out.extend_from_slice(text);
}

/// Appends text, left-aligned in a column of `width`.
#[inline]
pub fn push_left(out: &mut Vec<u8>, text: &[u8], width: usize) {
    out.extend_from_slice(text);
    if width > text.len() {
        push_spaces(out, width - text.len());
    }
}

/// Appends a number, right-aligned in a column of `width`.
#[inline]
pub fn push_number(out: &mut Vec<u8>, n: u64, width: usize) {
    push_right(out, Text::number(n).as_bytes(), width);
}

/// Writes text right-aligned into a slice as wide as its column. Bytes that do not fit are left out.
#[inline]
pub fn put_right(place: &mut [u8], text: &[u8]) {
    if let Some(start) = place.len().checked_sub(text.len()) {
        place[start..].copy_from_slice(text);
    }
}

/// Writes a number right-aligned into a slice as wide as its column. Of a number with more digits it writes the last.
#[inline]
pub fn put_number(place: &mut [u8], mut n: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn numbers_look_as_fmt_makes_them() {
        let mut n = 1u64;
        while let Some(next) = n.checked_mul(3) {
            for n in [n - 1, n, n + 1] {
                assert_eq!(Text::number(n).as_bytes(), n.to_string().as_bytes());
                assert_eq!(digits(n), n.to_string().len());
            }
            n = next;
        }
        assert_eq!(Text::number(u64::MAX).as_bytes(), b"18446744073709551615");
        assert_eq!(Text::signed(i64::MIN).as_bytes(), b"-9223372036854775808");
    }

    #[test]
    fn columns_are_aligned() {
        let mut out = Vec::new();
        push_number(&mut out, 42, 5);
        push_left(&mut out, b"ab", 4);
        push_right(&mut out, b"toolong", 3);
        assert_eq!(out, b"   42ab  toolong");
        let mut place = *b"......";
        put_number(&mut place, 307);
        assert_eq!(&place, b"...307");
        put_right(&mut place, b"1.5K");
        assert_eq!(&place, b"..1.5K");
        put_right(&mut place[..2], b"abc");
        put_number(&mut place[..2], 1234);
        assert_eq!(&place, b"341.5K");
    }
}
