//! The characters of a range of a pattern (`[a-z]`), from the tables of a compiled `LC_COLLATE`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::class::{END, push};
use crate::file::{Byte, Category, File, Levels, word};

/// The numbers of fields, as `langinfo.h` counts them: the number of levels, and the places of characters in the order.
const RULES: usize = 0;
const PLACES: usize = 17;

/// The number of the field with the places of bytes.
const BYTES: usize = 16;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// The characters from one to another in the order of a locale, as ranges of code points, ascending: `é` is between `a` and `z`. If the
/// last one has no place in the order, it is the characters at the place of the first one. `None` if the locale has no order of its own:
/// then ranges are those of code points. It reads the place of each character once: 55,000 in en_US.
pub(crate) fn range<B: Byte>(collate: &[B], from: u32, to: u32) -> Option<Vec<RangeInclusive<u32>>> {
    let file = File::new(Category::Collate, collate)?;
    if word(file.field(RULES)?, 0)? == 0 {
        return None;
    }
    let table = Levels::new(file.field(PLACES)?)?;
    let place = |char| match table.last(char)? {
        0 => Some(NOWHERE),
        last => table.value(last, char),
    };
    let (first, last) = (place(from)?, place(to)?);
    let places = first..=if last == NOWHERE { first } else { last };
    let mut ranges = Vec::new();
    let length = table.length().filter(|length| length.is_power_of_two() && *length <= END)?;
    for start in (0..END).step_by(length as usize) {
        let level = table.last(start)?;
        if level == 0 {
            continue;
        }
        for char in start..END.min(start + length) {
            let place = table.value(level, char)?;
            if place != NOWHERE && places.contains(&place) {
                push(&mut ranges, char);
            }
        }
    }
    Some(ranges)
}

/// The places of bytes in the order of a locale, by which a pattern and names that are not text are matched. Bytes that are no character
/// alone have the place 0. `None` if the locale has no order of its own.
pub(crate) fn bytes<B: Byte>(collate: &[B]) -> Option<[u8; 256]> {
    let file = File::new(Category::Collate, collate)?;
    if word(file.field(RULES)?, 0)? == 0 {
        return None;
    }
    let places = file.field(BYTES)?.first_chunk::<256>()?;
    Some(core::array::from_fn(|byte| places[byte].get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, words};

    /// The order a, U+E9, Z, z; other characters have no place.
    fn collate() -> Vec<u8> {
        let mut places = [NOWHERE; 256];
        (places[0x61], places[0xe9], places[0x5a], places[0x7a]) = (1, 2, 3, 4);
        let table = words(&[&[16, 1, 8, 0xff, 0xff, 24][..], &[24 + 256 * 4], &[0; 255], &places].concat());
        let (mut fields, rules) = ([&[][..]; 18], words(&[4]));
        let bytes: Vec<u8> = (0..=u8::MAX).map(|byte| byte ^ 0x20).collect();
        (fields[RULES], fields[BYTES], fields[PLACES]) = (&rules, &bytes, &table);
        file(Category::Collate, &fields)
    }

    #[test]
    fn a_range_is_of_the_order_not_of_code_points() {
        let collate = collate();
        let of = |from: char, to: char| range(&collate, from.into(), to.into());
        assert_eq!(of('a', 'z'), Some([0x5a..=0x5a, 0x61..=0x61, 0x7a..=0x7a, 0xe9..=0xe9].to_vec()));
        assert_eq!(of('a', 'Z'), Some([0x5a..=0x5a, 0x61..=0x61, 0xe9..=0xe9].to_vec()));
        assert_eq!((of('z', 'a'), of('0', 'z')), (Some(Vec::new()), Some(Vec::new())));
        assert_eq!(of('a', '0'), Some([0x61..=0x61].to_vec()));
        assert_eq!(bytes(&collate).map(|places| (places[0], places[0x61])), Some((0x20, 0x41)));
        for length in 0..collate.len() {
            assert!(bytes(&collate[..length]).is_none_or(|places| places[0] == 0x20));
            let _ = range(&collate[..length], 0x61, 0x7a);
        }
    }
}
