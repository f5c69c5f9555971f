//! The characters that an equivalence class of a pattern (`[=e=]`) has, from the tables of a compiled `LC_COLLATE`: those with the same
//! first weight, such as `é` and `E`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::sync::atomic::AtomicU8;

use super::tables::{Element, Tables};
use crate::class::{END, push};
use crate::file::{Byte, Category, File, Levels, word};

/// The numbers of fields, as `langinfo.h` counts them: the number of levels, and the tables of characters.
const RULES: usize = 0;
const ELEMENTS: usize = 9;
const WEIGHTS: usize = 10;
const EXTRA: usize = 11;

/// The most words of a first weight that are compared; glibc's locales have one or two.
const LONGEST: u32 = 64;

/// The tables of characters. They are those of bytes (`tables.rs`), but all numbers are words, and a table of three levels has the
/// elements.
struct Characters<'d, B> {
    elements: Levels<'d, B>,
    weights: &'d [B],
    extra: &'d [B],
}

impl<B: Byte> Characters<'_, B> {
    /// The element of a character alone: `last` and `char` as [`Levels::value`] takes them. `None` if it has none.
    fn element(&self, last: u32, char: u32) -> Option<u32> {
        let entry = self.elements.value(last, char)?;
        if entry.cast_signed() >= 0 {
            return (entry > 0).then_some(entry);
        }
        // Longer elements begin with the character. The last of the list is the character alone.
        let mut at = (entry.cast_signed().unsigned_abs() as usize).checked_mul(4)?;
        loop {
            let (number, length) = (word(self.extra, at)?, word(self.extra, at.checked_add(4)?)? as usize);
            if length == 0 {
                return (number.cast_signed() > 0).then_some(number);
            }
            let stored = if number.cast_signed() < 0 { length.checked_mul(2)? } else { length };
            at = stored.checked_add(2)?.checked_mul(4)?.checked_add(at)?;
        }
    }

    /// Whether two elements have the same first weight and rule set.
    fn are_equal(&self, one: u32, other: u32) -> bool {
        let at = |element: u32| (element & 0x00ff_ffff) as usize * 4;
        let equal = |nth: usize| {
            let weight = word(self.weights, at(one) + nth);
            weight.filter(|_| weight == word(self.weights, at(other) + nth))
        };
        let Some(length) = equal(0).filter(|_| one >> 24 == other >> 24) else { return false };
        (1..=length.min(LONGEST) as usize).all(|nth| equal(4 * nth).is_some())
    }
}

/// The characters whose first weight is that of `char`, as ranges of code points, ascending; none if the locale does not order it. `None`
/// if the locale has no order of its own. It reads the element of each character once: 55,000 in en_US.
pub(crate) fn characters<B: Byte>(collate: &[B], char: u32) -> Option<Vec<RangeInclusive<u32>>> {
    let file = File::new(Category::Collate, collate)?;
    if word(file.field(RULES)?, 0)? == 0 {
        return None;
    }
    let elements = Levels::new(file.field(ELEMENTS)?)?;
    let tables = Characters { elements, weights: file.field(WEIGHTS)?, extra: file.field(EXTRA)? };
    let mut ranges = Vec::new();
    let last = tables.elements.last(char)?;
    let element = if last == 0 { None } else { tables.element(last, char) };
    let Some(element) = element else { return Some(ranges) };
    let length = tables.elements.length().filter(|length| length.is_power_of_two() && *length <= END)?;
    for start in (0..END).step_by(length as usize) {
        let last = tables.elements.last(start)?;
        if last == 0 {
            continue;
        }
        for other in start..END.min(start + length) {
            if tables.element(last, other).is_some_and(|other| tables.are_equal(element, other)) {
                push(&mut ranges, other);
            }
        }
    }
    Some(ranges)
}

/// The bytes whose first weight is that of `byte`, in a charset of bytes. `None` if the locale has no order of its own.
pub(crate) fn bytes(collate: &[AtomicU8], byte: u8) -> Option<Vec<u8>> {
    let tables = Tables::new(collate)?;
    let weight = |byte| {
        let (element, _) = tables.next(&[byte]);
        (element != Element::default()).then(|| (element.rule_set(), tables.weight(element, 0)))
    };
    let Some((rule_set, wanted)) = weight(byte) else { return Some(Vec::new()) };
    let wanted = wanted.iter().map(Byte::get);
    let same = |other: &u8| {
        weight(*other)
            .is_some_and(|(set, weight)| set == rule_set && weight.iter().map(Byte::get).eq(wanted.clone()))
    };
    Some((0..=u8::MAX).filter(same).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, words};

    /// `a`, `A` and U+E9 have the first weight 7 8, though `A` begins a longer element; `b` has 7; other characters have none.
    fn collate() -> Vec<u8> {
        let mut elements = [0u32; 256];
        (elements[0x61], elements[0x41], elements[0xe9], elements[0x62]) = (1, (-1i32).cast_unsigned(), 4, 7);
        let table = words(&[&[16, 1, 8, 0xff, 0xff, 24][..], &[24 + 256 * 4], &[0; 255], &elements].concat());
        let weights = words(&[0, 2, 7, 8, 2, 7, 8, 1, 7]);
        // After an unused word: `A` and then `x`; `A` and then one of `y` to `z`; `A`.
        let extra = words(&[0, 7, 1, 0x78, (-3i32).cast_unsigned(), 1, 0x79, 0x7a, 1, 0]);
        let (mut fields, rules) = ([&[][..]; 19], words(&[4]));
        (fields[RULES], fields[ELEMENTS], fields[WEIGHTS], fields[EXTRA]) =
            (&rules, &table, &weights, &extra);
        file(Category::Collate, &fields)
    }

    #[test]
    fn a_class_is_of_one_first_weight() {
        let collate = collate();
        let of = |char: char| characters(&collate, char.into());
        let three = Some([0x41..=0x41, 0x61..=0x61, 0xe9..=0xe9].to_vec());
        assert_eq!([of('a'), of('A'), of('é')], [three.clone(), three.clone(), three]);
        assert_eq!(
            (of('b'), of('c'), of('宽')),
            (Some([0x62..=0x62].to_vec()), Some(Vec::new()), Some(Vec::new()))
        );
        for length in 0..collate.len() {
            let _ = characters(&collate[..length], 0x41);
        }
        for at in 0..collate.len() {
            let mut bytes = collate.clone();
            bytes[at] ^= 0xff;
            let _ = characters(&bytes, 0x41);
        }
    }
}
