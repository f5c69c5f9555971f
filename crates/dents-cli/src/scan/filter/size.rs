//! `--size [+-]N[cwbkMG]`, as `find -size` takes it.

use std::cmp::Ordering;

/// More than, less than or just so many units, counted in units begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    order: Ordering,
    number: u64,
    unit: u64,
}

impl Size {
    /// From a word.
    pub(crate) fn parse(text: &str) -> Result<Size, String> {
        let (order, rest) = match text.as_bytes().first() {
            Some(b'+') => (Ordering::Greater, &text[1..]),
            Some(b'-') => (Ordering::Less, &text[1..]),
            _ => (Ordering::Equal, text),
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let unit = match &rest[digits..] {
            "c" => 1,
            "w" => 2,
            "" | "b" => 512,
            "k" => 1 << 10,
            "M" => 1 << 20,
            "G" => 1 << 30,
            "T" => 1 << 40,
            _ => return Err("write it as [+-]N and c, w, b, k, M, G or T: +10M, -1k, 0c".to_owned()),
        };
        let number = rest[..digits].parse().map_err(|_| "a number from 0 to 2^64-1 is missing".to_owned())?;
        Ok(Size { order, number, unit })
    }

    /// Whether a size in bytes is one of these.
    pub(crate) fn fits(self, bytes: u64) -> bool {
        bytes.div_ceil(self.unit).cmp(&self.number) == self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `find` 4.9 on files of these sizes.
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
        ] {
            assert_eq!(fits(text, bytes), Ok(expected), "{text} {bytes}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for text in ["", "+", "k", "1K", "1kk", "++1", "1.5k", "-", "99999999999999999999", "1 k", "\u{661}"]
        {
            assert!(Size::parse(text).is_err(), "{text:?}");
        }
    }
}
