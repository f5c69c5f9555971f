//! The order of names in the user's locale: keys that compare by bytes as `strcoll` compares the names.
//!
//! The keys are made from the very tables that the machine's C library sorts by, its compiled `LC_COLLATE`, passed in
//! as bytes (`find.rs` says where they are). So the order is that of GNU `ls` by construction: in every locale and
//! charset, for tailorings, expansions, the place of ignored punctuation, and bytes that are no characters.
//! `COLLATION.md` has the agreement measured, and what was tried instead.
//!
//! A key is, level after level, the weights of the name's elements, levels apart by a zero byte (weights have none).
//! In ISO 14651's table, which most locales sort by, that is: the letters, then their accents, then their case, then
//! the punctuation with its place.

mod ascii;
pub(crate) mod equal;
pub(crate) mod range;
mod tables;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::AtomicU8;

use crate::file::Byte;
use ascii::Ascii;
use tables::{Element, Tables};

/// Separates levels. It is less than every byte of a weight and of a position.
const SEPARATOR: u8 = 0;

/// Makes the keys of one locale.
#[derive(Clone, Debug)]
pub struct Collator<'d> {
    tables: Tables<'d>,
    ascii: Ascii,
    /// The elements of the name at hand, kept for the room they have.
    elements: Vec<Element>,
}

impl<'d> Collator<'d> {
    /// A collator from the bytes of a compiled `LC_COLLATE`. `None` if the locale has no rules of its own, such as
    /// `C.UTF-8`, or if the bytes are not an `LC_COLLATE`: then names are ordered by bytes. Takes some microseconds,
    /// mostly for the first access to a mapped file.
    #[must_use]
    pub fn new(collate: &'d [AtomicU8]) -> Option<Collator<'d>> {
        let tables = Tables::new(collate)?;
        Some(Collator { ascii: Ascii::new(&tables), tables, elements: Vec::new() })
    }

    /// Appends the key of `name`: about eight bytes per byte of an ASCII name, and two fifths of a microsecond.
    ///
    /// Different names can have equal keys (all of Hangul weighs the same in glibc 2.36). GNU `ls` sorts stably and
    /// looks no further, so such names stay in the directory's order, under `-r` too; GNU `sort` goes on by bytes.
    pub fn key(&mut self, name: &[u8], out: &mut Vec<u8>) {
        self.levels(name, 0..self.tables.levels(), out);
    }

    /// Appends the first level of the key: it needs a fifth of the bytes and of the time, and decides the order of
    /// most pairs of names. Names that are equal here are ordered by [`rest`](Self::rest).
    pub fn first(&mut self, name: &[u8], out: &mut Vec<u8>) {
        self.levels(name, 0..1, out);
    }

    /// Appends the levels after the first one.
    pub fn rest(&mut self, name: &[u8], out: &mut Vec<u8>) {
        self.levels(name, 1..self.tables.levels(), out);
    }

    fn levels(&mut self, name: &[u8], levels: Range<usize>, out: &mut Vec<u8>) {
        if !self.ascii.key(name, levels.clone(), out) {
            self.by_elements(name, levels, out);
        }
    }

    /// The way for any name.
    fn by_elements(&mut self, name: &[u8], levels: Range<usize>, out: &mut Vec<u8>) {
        self.elements.clear();
        let mut rest = name;
        while !rest.is_empty() {
            let (element, after) = self.tables.next(rest);
            self.elements.push(element);
            rest = after;
        }
        for level in levels {
            if level > 0 {
                out.push(SEPARATOR);
            }
            self.level(level, out);
        }
    }

    /// One level of the key. Stretches of elements whose rule is backward are reversed.
    fn level(&self, level: usize, out: &mut Vec<u8>) {
        let backward = |element: &Element| self.tables.rule(*element, level).backward();
        let mut ignored = 0;
        let mut left = self.elements.len();
        let mut lost = 0;
        for stretch in self.elements.chunk_by(|a, b| backward(a) == backward(b)) {
            let begins = left == self.elements.len();
            left -= stretch.len();
            if stretch.first().is_some_and(backward) {
                for element in turned(stretch, lost + usize::from(left > 0)) {
                    self.weigh(*element, level, &mut ignored, out);
                }
                lost = 0;
            } else {
                for element in stretch {
                    self.weigh(*element, level, &mut ignored, out);
                }
                lost = self.weightless_tail(stretch, level, begins);
            }
        }
    }

    /// How many elements without weight a stretch that is read forward ends with; the first element does not count if a
    /// stretch read backward came before (`strcoll` has read it with that one).
    fn weightless_tail(&self, stretch: &[Element], level: usize, begins: bool) -> usize {
        let counted = &stretch[usize::from(!begins)..];
        counted.iter().rev().take_while(|element| self.tables.weight(**element, level).is_empty()).count()
    }

    fn weigh(&self, element: Element, level: usize, ignored: &mut usize, out: &mut Vec<u8>) {
        let weight = self.tables.weight(element, level);
        if weight.is_empty() {
            *ignored += 1;
            return;
        }
        if self.tables.rule(element, level).position() {
            let (bytes, length) = position(*ignored);
            out.extend_from_slice(&bytes[..length]);
        }
        *ignored = 0;
        out.extend(weight.iter().map(Byte::get));
    }
}

/// A stretch that is read backward: from its end, without `lost` elements next to the last one.
///
/// This is not a rule of a standard, and `strxfrm` does not do it, but `strcoll` does, and so `ls` sorts by it: a
/// stretch loses one element if another stretch follows, and one for each element without weight just before. In ISO
/// 14651's table punctuation and digits are read backward at the second level, letters forward; so `12o` comes before
/// `1_2o`, which has one more digit at that level, and `100` comes after `10_0`. Found by comparing strings in a
/// locale made for it (glibc 2.36).
fn turned<T>(stretch: &[T], lost: usize) -> impl Iterator<Item = &T> {
    let (head, last) = stretch.split_at(stretch.len().saturating_sub(1));
    last.iter().chain(head[..head.len().saturating_sub(lost)].iter().rev())
}

/// A position as bytes that sort by its value: one byte up to 126, otherwise two.
fn position(ignored: usize) -> ([u8; 2], usize) {
    let value = (ignored + 1).min(0x7fff);
    let [high, low] = (value as u16).to_be_bytes();
    if value < 0x80 { ([low, 0], 1) } else { ([0x80 | high, low], 2) }
}
