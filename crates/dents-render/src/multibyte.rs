//! Characters of the charsets of several bytes beside UTF-8: GB18030, Big5, EUC.
//!
//! The forms of the sequences are here, and which of them are characters is in a table that `tools/multibyte_table.py` makes from
//! glibc's data.

use crate::character::{Char, of_unicode};
use crate::multibyte_table as table;
use dents_locale::Multibyte;

/// The first number of a sequence of four bytes in GB18030.
const FOUR: u32 = 0x1_0000;
/// The place of U+10000 among these sequences.
const ASTRAL: u32 = 15 * 12_600;

/// What the bytes begin with, by their form.
enum Form {
    /// A sequence of so many bytes, and its number in the table.
    Sequence(usize, u32),
    /// A character of Unicode in four bytes.
    Unicode(u32),
    Invalid,
    /// The bytes end within a sequence.
    Incomplete,
}

/// The character at the beginning of `bytes`, the first of which is beyond ASCII.
pub(crate) fn decode(bytes: &[u8], set: Multibyte) -> Char {
    match form(bytes, set) {
        Form::Sequence(len, number) => {
            let runs = runs(set);
            let run = runs.partition_point(|word| word >> 3 <= number).checked_sub(1);
            match run.map_or(0, |run| runs[run] & 7) {
                0 => Char::Invalid,
                width @ 1..=2 => Char::Printable { len, width: width as usize },
                3 => Char::Printable { len, width: 0 },
                _ => Char::Unprintable { len },
            }
        }
        Form::Unicode(char) => of_unicode(char, 4),
        Form::Invalid => Char::Invalid,
        Form::Incomplete => Char::Incomplete { len: bytes.len() },
    }
}

fn form(bytes: &[u8], set: Multibyte) -> Form {
    let of = |places: core::ops::Range<usize>| {
        let bytes = &bytes[places];
        bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
    };
    let len = match (set, bytes[0], bytes.get(1)) {
        (_, 0xff, _) => return Form::Invalid,
        (_, 0x80, _) => 1,
        (_, _, None) => return Form::Incomplete,
        (Multibyte::EucJp | Multibyte::EucTw, _, Some(..0xa1)) => return Form::Invalid,
        (Multibyte::EucJp, 0x8f, _) => 3,
        (Multibyte::EucTw, 0x8e, _) | (Multibyte::Gb18030, _, Some(b'0'..=b'9')) => 4,
        _ => 2,
    };
    if bytes.len() < len {
        return Form::Incomplete;
    }
    match (set, len) {
        (Multibyte::EucTw, 4) => Form::Sequence(4, of(1..4)),
        (Multibyte::Gb18030, 4) => four(bytes),
        _ => Form::Sequence(len, of(0..len)),
    }
}

/// Four bytes of GB18030, of which the second is a digit: one of the characters that two bytes do not have, in the order of Unicode.
fn four(bytes: &[u8]) -> Form {
    let (Some(third @ 0..126), Some(fourth @ 0..10)) =
        (bytes[2].checked_sub(0x81), bytes[3].checked_sub(b'0'))
    else {
        return Form::Invalid;
    };
    let [first, second] = [bytes[0] - 0x81, bytes[1] - b'0'].map(u32::from);
    let nth = ((first * 10 + second) * 126 + u32::from(third)) * 10 + u32::from(fourth);
    match nth {
        ASTRAL.. if nth - ASTRAL < 0x10_0000 => Form::Unicode(0x1_0000 + nth - ASTRAL),
        ASTRAL.. => Form::Invalid,
        _ => Form::Sequence(4, FOUR + nth),
    }
}

fn runs(set: Multibyte) -> &'static [u32] {
    match set {
        Multibyte::Big5 => &table::BIG5,
        Multibyte::Big5Hkscs => &table::BIG5_HKSCS,
        Multibyte::EucCn => &table::EUC_CN,
        Multibyte::EucJp => &table::EUC_JP,
        Multibyte::EucKr => &table::EUC_KR,
        Multibyte::EucTw => &table::EUC_TW,
        Multibyte::Gbk => &table::GBK,
        Multibyte::Gb18030 => &table::GB18030,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_columns_of_glibc() {
        let wide = |len| Char::Printable { len, width: 2 };
        let narrow = |len| Char::Printable { len, width: 1 };
        for (set, bytes, char) in [
            (Multibyte::Gb18030, &b"\xd4\xc2x"[..], wide(2)),
            (Multibyte::Gb18030, b"\x81\x30\x81\x30", Char::Unprintable { len: 4 }),
            (Multibyte::Gb18030, b"\x81\x30\x84\x36", narrow(4)),
            (Multibyte::Gb18030, b"\x94\x39\xda\x33", wide(4)),
            (Multibyte::Gb18030, b"\xe3\x32\x9a\x36", Char::Invalid),
            (Multibyte::Gb18030, b"\x81\x30\x81", Char::Incomplete { len: 3 }),
            (Multibyte::Gb18030, b"\xff\x30", Char::Invalid),
            (Multibyte::Gbk, b"\x81\x5c", wide(2)),
            (Multibyte::Gbk, b"\x80", narrow(1)),
            (Multibyte::Gb18030, b"\x80", Char::Invalid),
            (Multibyte::EucJp, b"\xb7\xee", wide(2)),
            (Multibyte::EucJp, b"\x8e\xb1", narrow(2)),
            (Multibyte::EucJp, b"\x8f\xb0\xa1", wide(3)),
            (Multibyte::EucJp, b"\xb7", Char::Incomplete { len: 1 }),
            (Multibyte::EucJp, b"\xb7a", Char::Invalid),
            (Multibyte::EucJp, b"\x8fp", Char::Invalid),
            (Multibyte::EucJp, b"\x8f\xb0", Char::Incomplete { len: 2 }),
            (Multibyte::EucKr, b"\xb0\xa1", wide(2)),
            (Multibyte::Big5, b"\xa4\xeb", wide(2)),
            (Multibyte::Big5Hkscs, b"\x88\x62", Char::Printable { len: 2, width: 1 }),
            (Multibyte::EucTw, b"\x8e\xa2\xa1\xa1", wide(4)),
            (Multibyte::EucCn, b"\xd4\xc2", wide(2)),
            (Multibyte::EucCn, b"\xff\xff", Char::Invalid),
        ] {
            assert_eq!(decode(bytes, set), char, "{set:?} {}", bytes.escape_ascii());
        }
    }

    #[test]
    fn no_bytes_are_too_many_or_too_few() {
        for set in [Multibyte::Gb18030, Multibyte::EucJp, Multibyte::EucTw, Multibyte::Big5] {
            for first in 0x80..=0xff {
                for second in 0..=0xff {
                    for tail in [&b""[..], b"\x00", b"\x81\x30", b"\xfe\x39", b"\xff\xff\xff"] {
                        let bytes = [&[first, second], tail].concat();
                        let length = decode(&bytes, set).bytes();
                        assert!((1..=bytes.len()).contains(&length), "{set:?} {bytes:x?}");
                    }
                }
            }
        }
    }
}
