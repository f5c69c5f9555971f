//! Colours by the end of a name: `*.tar=01;31`.
//!
//! Every regular file is looked up, and distributions ship 200 patterns. So the last eight bytes of a name are compared as
//! one number, and only with the patterns that end with the same letter.

use super::span::Span;
use alloc::vec;
use alloc::vec::Vec;

/// A pattern and its colour as they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub suffix: Span,
    pub value: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Suffix {
    /// Up to eight bytes of the suffix in lower case, its last byte in the highest place.
    tail: u64,
    /// Which bytes of a name's tail are compared.
    mask: u64,
    suffix: Span,
    value: Span,
    /// Whether upper and lower case differ.
    exact: bool,
}

/// The patterns, arranged for look-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Suffixes {
    /// By last byte in lower case, and for equal bytes the newest first: the first that matches wins.
    sorted: Vec<Suffix>,
    /// Where the suffixes that end in each byte begin in `sorted`; empty if there are none.
    begins: Vec<u16>,
    /// `*=…` matches every name that no newer pattern matches.
    any: Option<Span>,
}

impl Suffixes {
    /// `patterns` are in their order in the variable. Those beyond 65,535 are ignored: the kernel limits `LS_COLORS`
    /// to 128 KiB, and a pattern takes at least three bytes.
    pub(super) fn new(patterns: &[Pattern], text: &[u8]) -> Suffixes {
        let from = patterns.iter().rposition(|pattern| pattern.suffix.len == 0);
        let any = from.map(|at| patterns[at].value);
        let patterns = &patterns[from.map_or(0, |at| at + 1)..];
        if patterns.is_empty() {
            return Suffixes { any, ..Suffixes::default() };
        }
        let newest = patterns.iter().rev().take(usize::from(u16::MAX));
        let mut sorted: Vec<Suffix> = newest.map(|pattern| Suffix::new(*pattern, text)).collect();
        sorted.sort_by_key(|suffix| suffix.last());
        let sorted = settle_cases(&sorted, text);
        let begins =
            (0..=256).map(|last| sorted.partition_point(|suffix| usize::from(suffix.last()) < last) as u16);
        Suffixes { begins: begins.collect(), sorted, any }
    }

    /// The colour of the first pattern that matches.
    #[inline]
    pub(super) fn find<'a>(&self, name: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
        if self.begins.is_empty() {
            return self.any.map(|value| value.of(text));
        }
        let tail = tail(name);
        let last = (tail >> 56) as usize;
        let bucket = usize::from(self.begins[last])..usize::from(self.begins[last + 1]);
        let found = self.sorted[bucket].iter().find(|suffix| suffix.fits(name, tail, text));
        found.map(|suffix| suffix.value).or(self.any).map(|value| value.of(text))
    }
}

/// Removes patterns that an earlier one always hides, and finds those that are compared by case: only patterns that
/// differ in nothing but case and have different colours (coreutils 9.3 and later).
fn settle_cases(sorted: &[Suffix], text: &[u8]) -> Vec<Suffix> {
    let mut exact = vec![false; sorted.len()];
    let mut hidden = exact.clone();
    for (nth, one) in sorted.iter().enumerate() {
        let mut rest_hidden = false;
        for (mth, other) in sorted.iter().enumerate().skip(nth + 1) {
            if other.last() != one.last() {
                break;
            }
            if hidden[nth] || hidden[mth] || !one.has_the_letters_of(other, text) {
                continue;
            }
            if one.suffix.of(text) == other.suffix.of(text) || rest_hidden {
                hidden[mth] = true;
            } else if one.value.of(text) == other.value.of(text) {
                hidden[mth] = true;
                rest_hidden = true;
            } else {
                exact[nth] = true;
                exact[mth] = true;
            }
        }
    }
    let settled = sorted.iter().zip(exact).map(|(suffix, exact)| Suffix { exact, ..*suffix });
    settled.zip(hidden).filter(|(_, hidden)| !hidden).map(|(suffix, _)| suffix).collect()
}

impl Suffix {
    fn new(Pattern { suffix, value }: Pattern, text: &[u8]) -> Suffix {
        let mask = if suffix.len >= 8 { !0 } else { !(!0 >> (8 * suffix.len)) };
        Suffix { tail: tail(suffix.of(text)), mask, suffix, value, exact: false }
    }

    fn last(&self) -> u8 {
        (self.tail >> 56) as u8
    }

    fn has_the_letters_of(&self, other: &Suffix, text: &[u8]) -> bool {
        (self.tail, self.suffix.len) == (other.tail, other.suffix.len)
            && self.suffix.of(text).eq_ignore_ascii_case(other.suffix.of(text))
    }

    #[inline]
    fn fits(&self, name: &[u8], tail: u64, text: &[u8]) -> bool {
        if tail & self.mask != self.tail || name.len() < self.suffix.len as usize {
            return false;
        }
        if !self.exact && self.suffix.len <= 8 {
            return true;
        }
        let (suffix, end) = (self.suffix.of(text), &name[name.len() - self.suffix.len as usize..]);
        if self.exact { end == suffix } else { end.eq_ignore_ascii_case(suffix) }
    }
}

/// The last eight bytes in lower case, the last one in the highest place; zeros where there are fewer.
#[inline]
fn tail(bytes: &[u8]) -> u64 {
    let word = match bytes.last_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => bytes.iter().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56),
    };
    // Eight bytes at once: a byte below 0x80 gets its high bit set by the first sum if it is at least `A`, by
    // the second if it is beyond `Z`.
    const ONES: u64 = u64::MAX / 255;
    let low = word & (ONES * 0x7f);
    let from_a = low + ONES * (0x80 - b'A' as u64);
    let beyond_z = low + ONES * (0x7f - b'Z' as u64);
    let upper = (from_a ^ beyond_z) & !word & (ONES * 0x80);
    word | upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_lower_case() {
        assert_eq!(tail(b"ABCDEFGH"), u64::from_le_bytes(*b"abcdefgh"));
        assert_eq!(tail(b"x@[`{AZ\xc1"), u64::from_le_bytes(*b"x@[`{az\xc1"));
        assert_eq!(tail(b".Z"), u64::from_le_bytes(*b"\0\0\0\0\0\0.z"));
    }
}
