//! Sizes as people read them: in bytes, in blocks of some size, or with the unit that fits.
//!
//! Whatever the unit, a size is rounded up: a listing never shows less than there is.

use crate::number::Text;

/// Letters for the powers of the base, the first of them for the base itself.
const BINARY: &[u8; 8] = b"KMGTPEZY";
const DECIMAL: &[u8; 8] = b"kMGTPEZY";

/// How a size is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeFormat {
    /// In blocks of `size` bytes, rounded up; `suffix` follows every number (`--block-size=K` shows `4K`,
    /// `--block-size=1K` shows `4`).
    Blocks {
        /// Bytes a block; 0 counts as 1.
        size: u64,
        /// At most two letters.
        suffix: &'static str,
    },
    /// `-h`: powers of 1024.
    Human {
        /// The decimal point of the locale, where it is one byte.
        point: u8,
    },
    /// `--si`: powers of 1000.
    Si {
        /// The decimal point of the locale, where it is one byte.
        point: u8,
    },
}

impl SizeFormat {
    /// Bytes.
    pub const BYTES: SizeFormat = SizeFormat::Blocks { size: 1, suffix: "" };
    /// Blocks of 1024 bytes.
    pub const KIBI: SizeFormat = SizeFormat::Blocks { size: 1024, suffix: "" };
    /// `-h` with a point.
    pub const HUMAN: SizeFormat = SizeFormat::Human { point: b'.' };
    /// `--si` with a point.
    pub const SI: SizeFormat = SizeFormat::Si { point: b'.' };
    /// Blocks of 512 bytes: `POSIXLY_CORRECT` without `-k`.
    pub const POSIX: SizeFormat = SizeFormat::Blocks { size: 512, suffix: "" };

    /// Whether sizes are shown with a decimal point.
    #[must_use]
    pub fn has_point(self) -> bool {
        matches!(self, SizeFormat::Human { .. } | SizeFormat::Si { .. })
    }

    /// The same with the decimal point of a locale.
    #[must_use]
    pub fn with_point(self, point: u8) -> SizeFormat {
        match self {
            SizeFormat::Human { .. } => SizeFormat::Human { point },
            SizeFormat::Si { .. } => SizeFormat::Si { point },
            blocks @ SizeFormat::Blocks { .. } => blocks,
        }
    }

    /// A size in bytes.
    #[must_use]
    #[inline]
    pub fn bytes(self, n: u64) -> Text {
        if self == SizeFormat::BYTES { Text::number(n) } else { self.scaled(u128::from(n)) }
    }

    /// A size in blocks of 512 bytes, the unit of `st_blocks`.
    #[must_use]
    #[inline]
    pub fn blocks(self, n: u64) -> Text {
        if self == SizeFormat::KIBI { Text::number(n.div_ceil(2)) } else { self.scaled(u128::from(n) * 512) }
    }

    fn scaled(self, bytes: u128) -> Text {
        match self {
            SizeFormat::Blocks { size, suffix } => {
                let mut text = Text::empty();
                text.prepend(suffix.as_bytes());
                prepend_number(&mut text, bytes.div_ceil(u128::from(size.max(1))));
                text
            }
            SizeFormat::Human { point } => with_unit::<1024>(bytes, BINARY, point),
            SizeFormat::Si { point } => with_unit::<1000>(bytes, DECIMAL, point),
        }
    }
}

/// The size in the largest unit of which there is at least one: with one decimal below ten, else without,
/// rounded up either way. Rounding may reach the next unit: 1023.5K is shown as `1.0M`.
fn with_unit<const BASE: u64>(mut bytes: u128, units: &[u8; 8], point: u8) -> Text {
    let (mut unit, mut power) = (1, 0);
    // Rounding up twice is the same as rounding up once, so what is too large for 64 bits may be cut in advance.
    while bytes > u128::from(u64::MAX / 16) {
        bytes = bytes.div_ceil(u128::from(BASE));
        power += 1;
    }
    let size = bytes as u64;
    while power < units.len() && size / unit >= BASE {
        unit *= BASE;
        power += 1;
    }
    if power == 0 {
        return Text::number(size);
    }
    let mut whole = size.div_ceil(unit);
    let mut tenths = None;
    if size / unit < 10 {
        let in_tenths = (size * 10).div_ceil(unit);
        whole = in_tenths / 10;
        tenths = (whole < 10).then_some((in_tenths % 10) as u8);
    } else if whole == BASE && power < units.len() {
        (whole, tenths, power) = (1, Some(0), power + 1);
    }
    let mut text = Text::empty();
    text.prepend(&[units[power - 1]]);
    if let Some(tenths) = tenths {
        text.prepend(&[point, b'0' + tenths]);
    }
    text.prepend(Text::number(whole).as_bytes());
    text
}

fn prepend_number(text: &mut Text, mut n: u128) {
    loop {
        text.prepend(&[b'0' + (n % 10) as u8]);
        n /= 10;
        if n == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn show(text: Text) -> String {
        String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    /// Sizes made with `truncate -s` and shown by GNU `ls -lh` and `ls -l --si` 9.1.
    #[test]
    fn units_as_gnu_shows_them() {
        let seen = [
            (0, "0", "0"),
            (999, "999", "999"),
            (1000, "1000", "1.0k"),
            (1001, "1001", "1.1k"),
            (1023, "1023", "1.1k"),
            (1024, "1.0K", "1.1k"),
            (1025, "1.1K", "1.1k"),
            (9999, "9.8K", "10k"),
            (10_137, "9.9K", "11k"),
            (10_138, "10K", "11k"),
            (10_240, "10K", "11k"),
            (10_241, "11K", "11k"),
            (999_001, "976K", "1.0M"),
            (999_999, "977K", "1.0M"),
            (1_047_552, "1023K", "1.1M"),
            (1_047_553, "1.0M", "1.1M"),
            (1_048_577, "1.1M", "1.1M"),
            (9_223_372_036_854_775_807, "8.0E", "9.3E"),
        ];
        for (n, human, si) in seen {
            assert_eq!(show(SizeFormat::HUMAN.bytes(n)), human, "{n} -h");
            assert_eq!(show(SizeFormat::SI.bytes(n)), si, "{n} --si");
        }
        assert_eq!(show(SizeFormat::HUMAN.blocks(u64::MAX)), "8.0Z");
        assert_eq!(show(SizeFormat::HUMAN.blocks((10 << 51) - 1)), "10E");
        assert_eq!(show(SizeFormat::SI.blocks(u64::MAX)), "9.5Z");
    }

    #[test]
    fn blocks_round_up() {
        assert_eq!(show(SizeFormat::KIBI.blocks(1)), "1");
        assert_eq!(show(SizeFormat::KIBI.blocks(8)), "4");
        assert_eq!(show(SizeFormat::POSIX.blocks(9)), "9");
        assert_eq!(show(SizeFormat::Blocks { size: 1 << 20, suffix: "M" }.bytes((1 << 20) + 1)), "2M");
        assert_eq!(show(SizeFormat::Blocks { size: 0, suffix: "" }.bytes(7)), "7");
        assert_eq!(show(SizeFormat::BYTES.blocks(u64::MAX)), "9444732965739290426880");
    }
}
