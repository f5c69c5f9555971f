//! The characters of a class (`alpha`, `space`), from the tables of a compiled `LC_CTYPE`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::file::{Byte, Category, File, until_nul, word};

/// The numbers of fields, as `langinfo.h` counts them: the names of the classes, and the number of the field with the first table.
const NAMES: usize = 10;
const FIRST: usize = 17;

/// The end of Unicode. Characters of a word of a table: one bit each.
const END: u32 = 0x11_0000;
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
    let table = file.field(nth)?;
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for start in (0..END).step_by(BITS as usize) {
        let bits = bits(table, start)?;
        for char in (start..start + BITS).filter(|char| bits >> (char - start) & 1 == 1) {
            match ranges.last_mut() {
                Some(last) if last.end() + 1 == char => *last = *last.start()..=char,
                _ => ranges.push(char..=char),
            }
        }
    }
    Some(ranges)
}

/// The bits of 32 characters: a table has three levels, whose offsets count from its beginning; 0 stands for no characters.
fn bits<B: Byte>(table: &[B], start: u32) -> Option<u32> {
    let [shift1, bound, shift2, mask2, mask3] = [0, 4, 8, 12, 16].map(|at| word(table, at));
    let first = start.checked_shr(shift1?)?;
    if first >= bound? {
        return Some(0);
    }
    let at = |offset: u32, index: u32| word(table, (offset as usize).checked_add(4 * index as usize)?);
    let level2 = at(20, first)?;
    if level2 == 0 {
        return Some(0);
    }
    let level3 = at(level2, start.checked_shr(shift2?)? & mask2?)?;
    if level3 == 0 { Some(0) } else { at(level3, (start / BITS) & mask3?) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, words};

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
}
