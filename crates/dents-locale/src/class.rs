//! The characters of a class (`alpha`, `space`), from the tables of a compiled `LC_CTYPE`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::file::{Byte, Category, File, Levels, until_nul, word};

/// The numbers of fields, as `langinfo.h` counts them: the names of the classes, and the number of the field with the first table.
const NAMES: usize = 10;
const FIRST: usize = 17;

/// The end of Unicode.
pub(crate) const END: u32 = 0x11_0000;
/// Characters of a word of a table: one bit each.
const BITS: u32 = 32;

/// The ranges of the characters of a class, ascending; `None` if there is no class of that name, or no table. It reads each word
/// of the table once.
#[must_use]
pub fn class<B: Byte>(ctype: &[B], name: &[u8]) -> Option<Vec<RangeInclusive<u32>>> {
    let file = File::new(Category::Ctype, ctype)?;
    let mut names = file.field(NAMES)?;
    let mut nth = word(file.field(FIRST)?, 0)? as usize;
    loop {
        let one = until_nul(names);
        if one.is_empty() {
            return None;
        }
        if one.iter().map(Byte::get).eq(name.iter().copied()) {
            break;
        }
        (names, nth) = (names.get(one.len() + 1..)?, nth.checked_add(1)?);
    }
    let table = Levels::new(file.field(nth)?)?;
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for start in (0..END).step_by(BITS as usize) {
        let last = table.last(start)?;
        let bits = if last == 0 { 0 } else { table.value(last, start / BITS)? };
        (start..start + BITS)
            .filter(|char| bits >> (char - start) & 1 == 1)
            .for_each(|char| push(&mut ranges, char));
    }
    Some(ranges)
}

/// The bytes of a class, in a charset where each of them is a character; the others are in no class. `None` if there is no class of
/// that name, or no table.
///
/// The table has 16 bits for each of the characters from -128 on, in the same place of memory in either order of bytes.
pub(crate) fn bytes<B: Byte>(ctype: &[B], name: &[u8]) -> Option<Vec<u8>> {
    const TABLE: usize = 0;
    /// The classes of the second byte, and then of the first, from the lowest bit on.
    const ORDER: [&[u8]; 12] = [
        b"upper", b"lower", b"alpha", b"digit", b"xdigit", b"space", b"print", b"graph", b"blank", b"cntrl",
        b"punct", b"alnum",
    ];
    let nth = ORDER.iter().position(|known| *known == name)?;
    let (byte, bit) = (usize::from(nth < 8), 1 << (nth % 8));
    let table = File::new(Category::Ctype, ctype)?.field(TABLE)?.get(2 * 128..2 * 384)?;
    let has = |char: &u8| table[2 * usize::from(*char) + byte].get() & bit != 0;
    Some((0..=u8::MAX).filter(has).collect())
}

/// Appends a character that is above all others.
pub(crate) fn push(ranges: &mut Vec<RangeInclusive<u32>>, char: u32) {
    match ranges.last_mut() {
        Some(last) if last.end() + 1 == char => *last = *last.start()..=char,
        _ => ranges.push(char..=char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, words};
    use alloc::vec;

    /// A class `one`, and a class `two` with A to Z, `_` and U+E9.
    fn ctype() -> Vec<u8> {
        let level3 = [0, 0, 0x87ff_fffe, 0, 0, 0, 0, 1 << 9];
        let head = [8, 1, 8, 0, 7, 24, 28];
        let table = words(&[&head[..], &level3].concat());
        let mut fields: [&[u8]; 20] = [&[]; 20];
        let first = words(&[18]);
        (fields[NAMES], fields[FIRST], fields[19]) = (b"one\0two\0\0", &first, &table);
        file(Category::Ctype, &fields)
    }

    #[test]
    fn a_class_is_a_list_of_ranges() {
        let ctype = ctype();
        assert_eq!(class(&ctype, b"two"), Some([0x41..=0x5a, 0x5f..=0x5f, 0xe9..=0xe9].to_vec()));
        assert_eq!(class(&ctype, b"three"), None);
        assert_eq!(class(&ctype, b""), None);
        for length in 0..ctype.len() {
            let _ = class(&ctype[..length], b"two");
        }
        for at in 0..ctype.len() {
            let mut bytes = ctype.clone();
            bytes[at] ^= 0xff;
            let _ = class(&bytes, b"two");
        }
    }

    /// A charset where `A` is a letter and U+E9 a lower one, which is in a class of the second byte too.
    #[test]
    fn a_class_of_bytes() {
        let mut table = vec![0; 2 * 384];
        table[2 * (128 + 0x41)..][..2].copy_from_slice(&[0x08, 0x05]);
        table[2 * (128 + 0xe9)..][..2].copy_from_slice(&[0x09, 0x06]);
        let ctype = file(Category::Ctype, &[&table]);
        let of = |name: &[u8]| bytes(&ctype, name);
        assert_eq!([of(b"alpha"), of(b"alnum")], [Some(vec![0x41, 0xe9]), Some(vec![0x41, 0xe9])]);
        assert_eq!(
            [of(b"upper"), of(b"lower"), of(b"blank")],
            [vec![0x41], vec![0xe9], vec![0xe9]].map(Some)
        );
        assert_eq!((of(b"digit"), of(b"number")), (Some(vec![]), None));
        for length in 0..ctype.len() {
            assert_eq!(bytes(&ctype[..length], b"alpha"), None);
        }
    }
}
