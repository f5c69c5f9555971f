//! `[+-]N`: more than, less than or exactly a number, as `find` takes numbers.

use std::cmp::Ordering;

/// A test of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    order: Ordering,
    number: u64,
}

impl Count {
    /// Parses a word.
    pub(crate) fn parse(text: &str) -> Result<Count, String> {
        let (order, number) = signed(text);
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number);
        let number =
            number.ok_or("write it as N, +N (more than) or -N (less than), with N from 0 to 2^64-1")?;
        Ok(Count { order, number })
    }

    /// Whether a number fits.
    pub(crate) fn fits(self, number: u64) -> bool {
        number.cmp(&self.number) == self.order
    }
}

/// The sign, and the rest.
pub(super) fn signed(text: &str) -> (Ordering, &str) {
    match text.as_bytes() {
        [b'+', ..] => (Ordering::Greater, &text[1..]),
        [b'-', ..] => (Ordering::Less, &text[1..]),
        _ => (Ordering::Equal, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, number, expected) in [
            ("2", 2, true),
            ("2", 3, false),
            ("+1", 2, true),
            ("+1", 1, false),
            ("-2", 1, true),
            ("-2", 2, false),
        ] {
            assert_eq!(Count::parse(text).map(|one| one.fits(number)), Ok(expected), "{text} {number}");
        }
        for text in ["", "+", "-", "+-1", "1.5", "1k", " 1", "18446744073709551616", "\u{661}"] {
            assert!(Count::parse(text).is_err(), "{text:?}");
        }
    }
}
