//! The tables of a compiled `LC_COLLATE`: the collating element at a position of a name, and its weight at each level.
//!
//! They are indexed by bytes of the locale's own charset, so one walk serves UTF-8, EUC-JP and ISO-8859-1, and bytes
//! that are not a character get the weights that the C library gives them.
//!
//! The entry of a byte in `table` is the number of an element, or, negated, an offset in `extra`: a list of byte
//! strings that may follow that byte, longest first. Its last item is the empty string, which always matches. An item
//! is a number, a length and that many bytes; or, with the number negated, a range: a length and the bytes of its
//! first and last member, whose elements are in `indirect`. The number of an element is eight bits of rule set, then
//! an offset in `weights`, where each level has a length and that many bytes.

use core::sync::atomic::AtomicU8;

use crate::file::{Byte, Category, File, word};

const RULES: usize = 0;
const RULE_SETS: usize = 1;
const TABLE: usize = 2;
const WEIGHTS: usize = 3;
const EXTRA: usize = 4;
const INDIRECT: usize = 5;

/// How one level reads the elements of a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule(u8);

impl Rule {
    /// The level is read from the name's end.
    pub(super) fn backward(self) -> bool {
        self.0 & 2 != 0
    }

    /// The number of elements without weight before it precedes each weight.
    pub(super) fn position(self) -> bool {
        self.0 & 4 != 0
    }
}

/// A collating element: one character, or several that sort as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Element(u32);

impl Element {
    /// The number of its rule set.
    pub(super) fn rule_set(self) -> u8 {
        (self.0 >> 24) as u8
    }
}

/// Bytes that may follow a byte: from `first` to `last`, which are equal where it is not a range.
struct Item<'d> {
    number: i32,
    first: &'d [AtomicU8],
    last: &'d [AtomicU8],
    /// How far the next item is.
    size: usize,
}

impl Item<'_> {
    /// Whether these bytes are in its range.
    fn fits(&self, tail: &[u8]) -> bool {
        let tail = || tail.iter().copied();
        self.first.iter().map(Byte::get).le(tail()) && self.last.iter().map(Byte::get).ge(tail())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tables<'d> {
    levels: usize,
    rule_sets: &'d [AtomicU8],
    table: &'d [AtomicU8],
    weights: &'d [AtomicU8],
    extra: &'d [AtomicU8],
    indirect: &'d [AtomicU8],
}

/// The number at `at`. Its sign says what it means.
fn signed(bytes: &[AtomicU8], at: usize) -> Option<i32> {
    word(bytes, at).map(u32::cast_signed)
}

impl<'d> Tables<'d> {
    /// `None` if these are not the bytes of an `LC_COLLATE`, or of one without rules: the order is that of bytes.
    pub(super) fn new(bytes: &'d [AtomicU8]) -> Option<Tables<'d>> {
        let file = File::new(Category::Collate, bytes)?;
        let levels = word(file.field(RULES)?, 0)? as usize;
        let tables = Tables {
            levels,
            rule_sets: file.field(RULE_SETS)?,
            table: file.field(TABLE)?,
            weights: file.field(WEIGHTS)?,
            extra: file.field(EXTRA)?,
            indirect: file.field(INDIRECT)?,
        };
        // POSIX's COLL_WEIGHTS_MAX is 255 in glibc; more than that is no LC_COLLATE.
        ((1..=255).contains(&levels) && tables.table.len() >= 256 * 4).then_some(tables)
    }

    /// The number of levels, at least 1.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// How `level` reads this element.
    pub(super) fn rule(&self, element: Element, level: usize) -> Rule {
        let at = usize::from(element.rule_set()) * self.levels + level;
        Rule(self.rule_sets.get(at).map_or(1, Byte::get))
    }

    /// The element's weights at `level`; none if the level ignores it.
    pub(super) fn weight(&self, element: Element, level: usize) -> &'d [AtomicU8] {
        let mut rest = self.weights.get((element.0 & 0x00ff_ffff) as usize..).unwrap_or_default();
        for _ in 0..level {
            let Some((length, after)) = rest.split_first() else { return &[] };
            rest = after.get(usize::from(length.get())..).unwrap_or_default();
        }
        rest.split_first()
            .and_then(|(length, after)| after.get(..usize::from(length.get())))
            .unwrap_or_default()
    }

    /// The element that `byte` is alone; `None` if a longer one may begin with it.
    pub(super) fn single(&self, byte: u8) -> Option<Element> {
        let entry = signed(self.table, usize::from(byte) * 4)?;
        (entry >= 0).then_some(Element(entry.cast_unsigned()))
    }

    /// The element that `byte` is unless a longer one begins with it, and the ASCII bytes that may follow it in a
    /// longer one, as a set of bits.
    pub(super) fn alone(&self, byte: u8) -> Option<(Element, u128)> {
        if let Some(element) = self.single(byte) {
            return Some((element, 0));
        }
        let mut at = signed(self.table, usize::from(byte) * 4)?.unsigned_abs() as usize;
        let mut followers = 0;
        loop {
            let item = self.item(at)?;
            let (Some(low), Some(high)) = (item.first.first(), item.last.first()) else {
                return Some((Element(item.number.cast_unsigned()), followers));
            };
            for follower in (low.get()..=high.get()).filter(u8::is_ascii) {
                followers |= 1 << follower;
            }
            at += item.size;
        }
    }

    /// The element that the name begins with, and the rest of the name. `name` is not empty.
    pub(super) fn next<'n>(&self, name: &'n [u8]) -> (Element, &'n [u8]) {
        let Some((byte, after)) = name.split_first() else { return (Element::default(), name) };
        if let Some(element) = self.single(*byte) {
            return (element, after);
        }
        let entry = signed(self.table, usize::from(*byte) * 4).unwrap_or_default();
        self.longest(entry.unsigned_abs() as usize, after).unwrap_or((Element::default(), after))
    }

    /// Searches the list at `at` for the longest string that the bytes after the first begin with. `None` if the list
    /// is truncated, as only in a broken file.
    fn longest<'n>(&self, mut at: usize, after: &'n [u8]) -> Option<(Element, &'n [u8])> {
        loop {
            let item = self.item(at)?;
            if let Some((tail, rest)) = after.split_at_checked(item.first.len())
                && item.fits(tail)
            {
                if item.number >= 0 {
                    return Some((Element(item.number.cast_unsigned()), rest));
                }
                let place = item.number.unsigned_abs() as usize;
                let place = place.checked_add(distance(item.first, tail))?.checked_mul(4)?;
                return Some((Element(word(self.indirect, place)?), rest));
            }
            at += item.size;
        }
    }

    /// The item at `at` of a list; items begin at multiples of four.
    fn item(&self, at: usize) -> Option<Item<'d>> {
        let number = signed(self.extra, at)?;
        let length = usize::from(self.extra.get(at + 4)?.get());
        let bytes = self.extra.get(at + 5..)?;
        let first = bytes.get(..length)?;
        let (last, stored) =
            if number < 0 { (bytes.get(length..2 * length)?, 2 * length) } else { (first, length) };
        Some(Item { number, first, last, size: 4 + (1 + stored).next_multiple_of(4) })
    }
}

/// The distance of `tail` from `first` in a range. Both are big-endian numbers.
fn distance(first: &[AtomicU8], tail: &[u8]) -> usize {
    let same = first.iter().zip(tail).take_while(|(a, b)| a.get() == **b).count();
    first[same..].iter().zip(&tail[same..]).fold(0usize, |sum, (low, byte)| {
        (sum << 8).wrapping_add(usize::from(*byte)).wrapping_sub(usize::from(low.get()))
    })
}
