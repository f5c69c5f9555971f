//! `--size [+-]NUNIT`, with the meaning that it has in `find -size`, and with the other units and fractions that GNU programs accept.

use super::count::signed;
use dents_render::quantity::{Decimal, Unit};
use std::cmp::Ordering;

/// More than, less than or exactly a number of units. Sizes are rounded up to whole units; a number with a fraction compares bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    order: Ordering,
    number: u64,
    unit: u64,
}

/// How a size is written.
const FORM: &str =
    "write it as [+-]N and c, w, b, K, M, G, T, P (1024) or KB, MB, … (1000): +10M, -1.5GB, 0c";

impl Size {
    /// Parses a word.
    pub(crate) fn parse(text: &str) -> Result<Size, String> {
        let (order, rest) = signed(text);
        let (number, unit) = Decimal::parse(rest.as_bytes()).ok_or(FORM)?;
        let unit = match unit {
            b"c" => Some(1),
            b"w" => Some(2),
            b"" | b"b" => Some(512),
            unit => Unit::parse(unit).and_then(|unit| unit.size()),
        };
        let unit = unit.ok_or(FORM)?;
        let bytes = number.bytes(unit).ok_or("this is over 2^64-1 bytes")?;
        Ok(match number.has_point() {
            true => Size { order, number: bytes, unit: 1 },
            false => Size { order, number: bytes / unit, unit },
        })
    }

    /// Whether a size in bytes fits.
    pub(crate) fn fits(self, bytes: u64) -> bool {
        bytes.div_ceil(self.unit).cmp(&self.number) == self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of `find` 4.9 for files of these sizes.
    #[test]
    fn units_begun_count() {
        let fits = |text, bytes| Size::parse(text).map(|size| size.fits(bytes));
        for (text, bytes, expected) in [
            ("1", 512, true),
            ("1", 513, false),
            ("2b", 513, true),
            ("-1M", 1, false),
            ("-1M", 0, true),
            ("+1k", 1024, false),
            ("+1k", 1025, true),
            ("1025c", 1025, true),
            ("3w", 5, true),
            ("+0c", 0, false),
            ("1G", 1 << 30, true),
            ("-2T", u64::MAX, false),
            ("1K", 1024, true),
            ("+10MB", 10_000_001, true),
            ("+10MB", 10_000_000, false),
            ("+1.5M", (3 << 19) + 1, true),
            ("+1.5M", 3 << 19, false),
            ("-1.5M", (3 << 19) - 1, true),
            ("1P", 1 << 50, true),
        ] {
            assert_eq!(fits(text, bytes), Ok(expected), "{text} {bytes}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for text in
            ["", "+", "k", "1kk", "++1", "1.5.5k", "-", "99999999999999999999", "16E", "1 k", "\u{661}"]
        {
            assert!(Size::parse(text).is_err(), "{text:?}");
        }
    }
}
