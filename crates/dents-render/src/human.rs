//! Sizes as text: in bytes, in blocks of some size, or with a suitable unit.
//!
//! In any unit a size is rounded up, as GNU does, so the text never shows less than the size.

use crate::number::Text;
use crate::width::known_width;
use dents_locale::Charset;

/// Letters for the powers of the base, the first of them for the base itself.
const BINARY: &[u8; 8] = b"KMGTPEZY";
const DECIMAL: &[u8; 8] = b"kMGTPEZY";

/// How a size is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeFormat {
    /// In blocks of `size` bytes, rounded up; `suffix` follows every number (`--block-size=K` shows `4K`,
    /// `--block-size=1K` shows `4`).
    Blocks {
        /// Bytes in a block; 0 counts as 1.
        size: u64,
        /// At most two letters.
        suffix: &'static str,
        /// How digits are grouped, if they are (`--block-size="'1"`).
        grouping: Option<Grouping>,
    },
    /// `-h`: powers of 1024.
    Human {
        /// The decimal point of the locale.
        point: Separator,
    },
    /// `--si`: powers of 1000.
    Si {
        /// The decimal point of the locale.
        point: Separator,
    },
}

/// A character of a locale between digits: its decimal point, or the separator of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separator {
    bytes: [u8; 4],
    len: u8,
    /// Its width on the screen; `None` if it cannot be printed.
    columns: Option<u8>,
}

impl Separator {
    /// A decimal point as in C.
    pub const POINT: Separator = Separator { bytes: [b'.', 0, 0, 0], len: 1, columns: Some(1) };

    /// A character of at most four bytes. It has no width where it cannot be printed in this charset, which may be another than that of
    /// the locale of numbers.
    #[must_use]
    pub fn new(text: &[u8], charset: Charset) -> Option<Separator> {
        let mut bytes = [0; 4];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let columns = known_width(text, charset).map(|columns| columns as u8);
        Some(Separator { bytes, len: text.len() as u8, columns })
    }

    fn is_empty(self) -> bool {
        self.len == 0
    }

    fn prepend_to(self, text: &mut Text) {
        text.prepend_wide(&self.bytes[..usize::from(self.len)], self.columns);
    }
}

/// How a locale groups the digits of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The separator between groups. If it is empty, as in C, there are no groups.
    pub separator: Separator,
    /// The number of digits in the last group, in the one before it, and so on. A zero repeats the number before it.
    pub sizes: [u8; 4],
}

impl Grouping {
    /// From `thousands_sep` and `grouping` of localeconv(3).
    #[must_use]
    pub fn new(separator: Separator, sizes: &[u8]) -> Grouping {
        let mut grouping = Grouping { separator, ..Grouping::default() };
        grouping.sizes.iter_mut().zip(sizes).for_each(|(to, from)| *to = *from);
        grouping
    }

    /// The number of digits in the group at an index, counted from the last group. A very large number means all
    /// remaining digits.
    fn size(&self, nth: usize) -> u8 {
        let sizes = &self.sizes[..=nth.min(self.sizes.len() - 1)];
        sizes.iter().copied().take_while(|size| *size != 0).last().unwrap_or(u8::MAX)
    }
}

impl SizeFormat {
    /// Bytes.
    pub const BYTES: SizeFormat = SizeFormat::Blocks { size: 1, suffix: "", grouping: None };
    /// Blocks of 1024 bytes.
    pub const KIBI: SizeFormat = SizeFormat::Blocks { size: 1024, suffix: "", grouping: None };
    /// `-h` with a point.
    pub const HUMAN: SizeFormat = SizeFormat::Human { point: Separator::POINT };
    /// `--si` with a point.
    pub const SI: SizeFormat = SizeFormat::Si { point: Separator::POINT };
    /// Blocks of 512 bytes: `POSIXLY_CORRECT` without `-k`.
    pub const POSIX: SizeFormat = SizeFormat::Blocks { size: 512, suffix: "", grouping: None };

    /// Whether the digits of sizes are grouped.
    #[must_use]
    pub fn has_groups(self) -> bool {
        matches!(self, SizeFormat::Blocks { grouping: Some(_), .. })
    }

    /// The same with the groups of a locale.
    #[must_use]
    pub fn with_groups(self, groups: Grouping) -> SizeFormat {
        match self {
            SizeFormat::Blocks { size, suffix, grouping: Some(_) } => {
                SizeFormat::Blocks { size, suffix, grouping: Some(groups) }
            }
            other => other,
        }
    }

    /// Whether sizes are shown with a decimal point.
    #[must_use]
    pub fn has_point(self) -> bool {
        matches!(self, SizeFormat::Human { .. } | SizeFormat::Si { .. })
    }

    /// The same with the decimal point of a locale.
    #[must_use]
    pub fn with_point(self, point: Separator) -> SizeFormat {
        match self {
            SizeFormat::Human { .. } => SizeFormat::Human { point },
            SizeFormat::Si { .. } => SizeFormat::Si { point },
            blocks @ SizeFormat::Blocks { .. } => blocks,
        }
    }

    /// Whether sizes are plain numbers in units of this many bytes. (It is called for each entry, and to compare the
    /// whole format would take longer.)
    #[must_use]
    #[inline]
    pub(crate) fn is_in_units_of(self, unit: u64) -> bool {
        matches!(self, SizeFormat::Blocks { size, suffix, grouping: None } if size == unit && suffix.is_empty())
    }

    /// Whether numbers may have more bytes than columns, or columns that are not known.
    #[must_use]
    pub(crate) fn is_wide(self) -> bool {
        let is_wide =
            |separator: Separator| separator.len > 1 || separator.len == 1 && separator.columns.is_none();
        match self {
            SizeFormat::Human { point } | SizeFormat::Si { point } => is_wide(point),
            SizeFormat::Blocks { grouping, .. } => grouping.is_some_and(|groups| is_wide(groups.separator)),
        }
    }

    /// A size in bytes.
    #[must_use]
    #[inline]
    pub fn bytes(self, n: u64) -> Text {
        if self.is_in_units_of(1) { Text::number(n) } else { self.scaled(u128::from(n)) }
    }

    /// A size in blocks of 512 bytes, the unit of `st_blocks`.
    #[must_use]
    #[inline]
    pub fn blocks(self, n: u64) -> Text {
        if self.is_in_units_of(1024) { Text::number(n.div_ceil(2)) } else { self.scaled(u128::from(n) * 512) }
    }

    /// A sum of sizes in bytes, which may not fit into 64 bits.
    #[must_use]
    pub fn sum(self, bytes: u128) -> Text {
        self.scaled(bytes)
    }

    fn scaled(self, bytes: u128) -> Text {
        match self {
            SizeFormat::Blocks { size, suffix, grouping } => {
                let mut text = Text::empty();
                text.prepend(suffix.as_bytes());
                let blocks = bytes.div_ceil(u128::from(size.max(1)));
                prepend_number(&mut text, blocks, grouping.unwrap_or_default());
                text
            }
            SizeFormat::Human { point } => with_unit::<1024>(bytes, BINARY, point),
            SizeFormat::Si { point } => with_unit::<1000>(bytes, DECIMAL, point),
        }
    }
}

/// The size in the largest unit of which there is at least one: with one decimal below ten, else without,
/// rounded up either way. Rounding may reach the next unit: 1023.5K is shown as `1.0M`.
fn with_unit<const BASE: u64>(mut bytes: u128, units: &[u8; 8], point: Separator) -> Text {
    let (mut unit, mut power) = (1, 0);
    // Rounding up twice is the same as rounding up once, so a number that is too large for 64 bits may be reduced first.
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
        text.prepend(&[b'0' + tenths]);
        point.prepend_to(&mut text);
    }
    text.prepend(Text::number(whole).as_bytes());
    text
}

fn prepend_number(text: &mut Text, mut n: u128, grouping: Grouping) {
    let (mut group, mut digits) = (0, 0);
    loop {
        text.prepend(&[b'0' + (n % 10) as u8]);
        n /= 10;
        digits += 1;
        if n == 0 {
            break;
        }
        if !grouping.separator.is_empty() && digits == grouping.size(group) {
            grouping.separator.prepend_to(text);
            (group, digits) = (group + 1, 0);
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

    #[test]
    fn sums_beyond_64_bits() {
        let sum = 21u128 << 60;
        let formats = [SizeFormat::BYTES, SizeFormat::KIBI, SizeFormat::HUMAN, SizeFormat::SI];
        let shown = formats.map(|format| show(format.sum(sum)));
        assert_eq!(shown, ["24211351596743786496", "23643898043695104", "21E", "25E"]);
        assert_eq!(show(SizeFormat::HUMAN.sum(3000 << 60)), "3.0Z");
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
    fn groups() {
        let show = |separator: &[u8], sizes: &[u8], n| {
            let plain = SizeFormat::Blocks { size: 1, suffix: "K", grouping: Some(Grouping::default()) };
            let separator = Separator::new(separator, Charset::Utf8).unwrap();
            show(plain.with_groups(Grouping::new(separator, sizes)).bytes(n))
        };
        assert_eq!(show(b",", &[3, 3], 1_234_567), "1,234,567K");
        assert_eq!(show(b",", &[3, 3], 999), "999K");
        assert_eq!(show(b".", &[3, 2], 12_345_678), "1.23.45.678K");
        assert_eq!(show(b",", &[3, 127], 1_234_567), "1234,567K");
        assert_eq!(show(b"", &[], 1_234_567), "1234567K");
        assert_eq!(show(b",", &[], 1_234_567), "1234567K");
        assert_eq!(show(b",", &[1], u64::MAX).len(), 40);
    }

    /// Checks the alignment of GNU in fr_FR.UTF-8 and ps_AF.UTF-8, and in the C charset with the numbers of these locales.
    #[test]
    fn separators_of_several_bytes_are_one_column() {
        let narrow = |charset| Separator::new("\u{202f}".as_bytes(), charset).unwrap();
        let plain = SizeFormat::Blocks { size: 1, suffix: "", grouping: Some(Grouping::default()) };
        let grouped = |charset| plain.with_groups(Grouping::new(narrow(charset), &[3])).bytes(1_234_567);
        assert_eq!(show(grouped(Charset::Utf8)), "1\u{202f}234\u{202f}567");
        assert_eq!((grouped(Charset::Utf8).width(), grouped(Charset::Utf8).padding(12)), (9, 3));
        // If the character cannot be printed, GNU does not know the width, and does not pad.
        assert_eq!((grouped(Charset::Ascii).width(), grouped(Charset::Ascii).padding(12)), (0, 0));
        let no_break = |charset| Separator::new(b"\xa0", charset).unwrap().columns;
        let latin = Separator::new(b"\xa0", Charset::Ascii).unwrap();
        assert!(plain.with_groups(Grouping::new(latin, &[3])).is_wide());
        assert_eq!((no_break(Charset::Ascii), no_break(Charset::Bytes(u128::MAX))), (None, Some(1)));
        let human = SizeFormat::HUMAN.with_point(Separator::new("٫".as_bytes(), Charset::Utf8).unwrap());
        assert_eq!((show(human.bytes(1_234_567)), human.bytes(1_234_567).width()), ("1٫2M".into(), 4));
        let most = plain.with_groups(Grouping::new(narrow(Charset::Utf8), &[3])).bytes(u64::MAX);
        assert_eq!((most.width(), most.as_bytes().len()), (26, 38));
        assert_eq!(Separator::new(b"five!", Charset::Utf8), None);
    }

    #[test]
    fn blocks_round_up() {
        assert_eq!(show(SizeFormat::KIBI.blocks(1)), "1");
        assert_eq!(show(SizeFormat::KIBI.blocks(8)), "4");
        assert_eq!(show(SizeFormat::POSIX.blocks(9)), "9");
        let blocks = |size, suffix| SizeFormat::Blocks { size, suffix, grouping: None };
        assert_eq!(show(blocks(1 << 20, "M").bytes((1 << 20) + 1)), "2M");
        assert_eq!(show(blocks(0, "").bytes(7)), "7");
        assert_eq!(show(SizeFormat::BYTES.blocks(u64::MAX)), "9444732965739290426880");
    }
}
