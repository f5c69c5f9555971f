//! Characters of a name: how many bytes, whether they can be printed, how many columns they take.
//!
//! GNU uses the C library for this (`mbrtowc`, `iswprint`, `wcwidth`), so this module returns the same as glibc, also
//! for incomplete sequences. The classes are in a table that `tools/width_table.py` makes from glibc's data, so that
//! quoting and columns agree with GNU `ls`.

pub use crate::character::Char;
use crate::character::of_unicode;
use crate::multibyte;
use dents_locale::Charset;

impl Char {
    /// The character at the beginning of `bytes`, which must not be empty.
    #[must_use]
    #[inline]
    pub fn first(bytes: &[u8], charset: Charset) -> Char {
        match bytes[0] {
            0x20..=0x7e => Char::Printable { len: 1, width: 1 },
            0..=0x1f | 0x7f => Char::Control { len: 1 },
            0x80.. if charset == Charset::Utf8 => decode(bytes),
            _ => Char::of_other(bytes, charset),
        }
    }

    /// The same where the first byte is not ASCII, and the charset is not UTF-8.
    #[cold]
    fn of_other(bytes: &[u8], charset: Charset) -> Char {
        match charset {
            Charset::Bytes(printable) if printable >> (bytes[0] & 0x7f) & 1 == 1 => {
                Char::Printable { len: 1, width: 1 }
            }
            Charset::Multibyte(set) => multibyte::decode(bytes, set),
            Charset::Ascii | Charset::Bytes(_) | Charset::Utf8 => Char::Unprintable { len: 1 },
        }
    }
}

/// UTF-8 as glibc reads it: sequences of up to six bytes, without surrogates and overlong forms. A sequence that is
/// truncated by the end of the name is incomplete, never invalid, whatever bytes might follow.
fn decode(bytes: &[u8]) -> Char {
    let lead = bytes[0];
    let len = match lead {
        0xc2..=0xfd => lead.leading_ones() as usize,
        _ => return Char::Invalid,
    };
    let mut char = u32::from(lead) & (0x7f >> len);
    for at in 1..len {
        match bytes.get(at) {
            Some(byte @ 0x80..=0xbf) => char = char << 6 | u32::from(byte & 0x3f),
            Some(_) => return Char::Invalid,
            None => return Char::Incomplete { len: at },
        }
    }
    let least = if len == 2 { 0x80 } else { 1 << (5 * len - 4) };
    if char < least || (0xd800..0xe000).contains(&char) {
        return Char::Invalid;
    }
    of_unicode(char, len)
}

/// Whether every byte is a printable ASCII character: then the width is the length.
#[must_use]
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |plain, byte| plain & (0x20..0x7f).contains(byte))
}

/// The width of a text on the screen in columns. `None` if a character cannot be printed, or if bytes are no
/// character: it is not known how far they move the cursor.
#[must_use]
pub fn known_width(name: &[u8], charset: Charset) -> Option<usize> {
    if is_plain(name) {
        return Some(name.len());
    }
    let mut rest = name;
    let mut width = 0;
    while !rest.is_empty() {
        let char = Char::first(rest, charset);
        let Char::Printable { width: columns, .. } = char else { return None };
        width += columns;
        rest = &rest[char.bytes()..];
    }
    Some(width)
}

/// The same, with a number in place of `None`: 0 in UTF-8, and the number of printable bytes in the C locale.
#[must_use]
pub fn width(text: &[u8], charset: Charset) -> usize {
    let is_printable = |byte: &&u8| Char::first(&[**byte], charset).is_printable();
    let printable = || if charset.is_multibyte() { 0 } else { text.iter().filter(is_printable).count() };
    known_width(text, charset).unwrap_or_else(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_as_gnu_counts_them() {
        for (name, utf8, c) in [
            (&b"plain"[..], 5, 5),
            ("caf\u{e9}".as_bytes(), 4, 3),
            ("\u{6f22}\u{5b57}".as_bytes(), 4, 0),
            ("e\u{301}".as_bytes(), 1, 1),
            (b"a\x01b\n", 0, 2),
            (b"\xff\xfe", 0, 0),
            (b"a\xe2\x82", 0, 1),
            ("\u{ad}\u{1f600}".as_bytes(), 3, 0),
            ("\u{e0080}".as_bytes(), 0, 0),
            ("\u{85}".as_bytes(), 0, 0),
        ] {
            assert_eq!(width(name, Charset::Utf8), utf8, "{name:x?}");
            assert_eq!(width(name, Charset::Ascii), c, "{name:x?}");
        }
    }

    /// Sequences, and the results of `mbrtowc` of glibc 2.36 for them.
    #[test]
    fn sequences_as_glibc_reads_them() {
        let char = |bytes: &[u8]| Char::first(bytes, Charset::Utf8);
        assert_eq!(char(b"\xe0\x80"), Char::Incomplete { len: 2 });
        assert_eq!(char(b"\xe0\x80\x80"), Char::Invalid);
        assert_eq!(char(b"\xed\xa0\x80"), Char::Invalid);
        assert_eq!(char(b"\xe2\x28\xa1"), Char::Invalid);
        assert_eq!(char(b"\xc0\x80"), Char::Invalid);
        assert_eq!(char(b"\xf4\x90\x80\x80"), Char::Unprintable { len: 4 });
        assert_eq!(char(b"\xf8\x87\xbf\xbf\xbf"), Char::Invalid);
        assert_eq!(char(b"\xf8\x88\x80\x80\x80"), Char::Unprintable { len: 5 });
        assert_eq!(char(b"\xfd\xbf\xbf\xbf\xbf\xbf"), Char::Unprintable { len: 6 });
        assert_eq!(char(b"\xfe"), Char::Invalid);
        assert_eq!(char("\u{e9}".as_bytes()), Char::Printable { len: 2, width: 1 });
    }
}
