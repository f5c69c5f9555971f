//! Sizes and durations as users write them: `10MB`, `1.5G`, `90d`, `1h30m`. The only parser, for all options of both
//! programs.
//!
//! | size | bytes | | duration | |
//! |---|---|---|---|---|
//! | `K`, `KiB` | 1024 | | `ms` | a millisecond |
//! | `KB` | 1000 | | none, `s` | a second |
//! | `M`, `G`, `T`, `P`, `E`, … | its powers, the same way | | `m`, `h`, `d`, `w` | 60 s, 60 m, 24 h, 7 d |
//! | | | | `y` | 365.25 days |

use alloc::string::{String, ToString};
use core::time::Duration;

const SECOND_NS: u128 = 1_000_000_000;
const DAY: u64 = 24 * 60 * 60;

/// A Julian year in seconds: 365.25 days.
pub const YEAR: u64 = 365 * DAY + DAY / 4;

/// The words for a unit of time, and its nanoseconds.
const TIMES: [(&[&[u8]], u128); 7] = [
    (&[b"ms"], SECOND_NS / 1000),
    (&[b"s", b"sec", b"secs", b"second", b"seconds"], SECOND_NS),
    (&[b"m", b"min", b"mins", b"minute", b"minutes"], 60 * SECOND_NS),
    (&[b"h", b"hour", b"hours"], 3600 * SECOND_NS),
    (&[b"d", b"day", b"days"], DAY as u128 * SECOND_NS),
    (&[b"w", b"week", b"weeks"], 7 * DAY as u128 * SECOND_NS),
    (&[b"y", b"year", b"years"], YEAR as u128 * SECOND_NS),
];

/// A number with commas between thousands: `12,345`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Decimal digits with at most one point among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    whole: u64,
    /// The [`Decimal::PLACES`] digits after the point.
    fraction: u64,
    has_point: bool,
}

impl Decimal {
    /// Digits after the point that are used. More would be finer than a nanosecond of a year.
    const PLACES: u32 = 18;

    /// The number at the beginning of a text, and the rest of the text. `None` if there is no number, or one beyond
    /// 64 bits.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<(Decimal, &[u8])> {
        let (before, rest) = digits(text);
        let (after, end) = rest.strip_prefix(b".").map_or((&b""[..], rest), digits);
        if before.len() + after.len() == 0 {
            return None;
        }
        let add = |sum: u64, digit: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        let whole = before.iter().try_fold(0, add)?;
        let padded = after.iter().chain(core::iter::repeat(&b'0')).take(Self::PLACES as usize);
        let fraction = padded.fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
        Some((Decimal { whole, fraction, has_point: rest.len() > end.len() }, end))
    }

    /// Whether there is a point in it.
    #[must_use]
    pub fn has_point(self) -> bool {
        self.has_point
    }

    /// The number times a unit, rounded down.
    fn times(self, unit: u128) -> Option<u128> {
        let fraction = u128::from(self.fraction).checked_mul(unit)? / 10_u128.pow(Self::PLACES);
        u128::from(self.whole).checked_mul(unit)?.checked_add(fraction)
    }

    /// The number times a unit in bytes, rounded down; `None` beyond 64 bits.
    #[must_use]
    pub fn bytes(self, unit: u64) -> Option<u64> {
        u64::try_from(self.times(u128::from(unit))?).ok()
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// A duration: seconds, or numbers with units. `None` for anything else, such as `1 month`, which has no fixed
/// length.
#[must_use]
pub fn duration(text: &[u8]) -> Option<Duration> {
    match Decimal::parse(text) {
        Some((seconds, b"")) => nanoseconds(seconds.times(SECOND_NS)?),
        _ => span(text),
    }
}

/// Numbers with units, each of which may be a fraction: `90d`, `1h30m`, `1.5h`, `2 days`.
#[must_use]
pub fn span(text: &[u8]) -> Option<Duration> {
    let (mut rest, mut sum) = (text, 0_u128);
    loop {
        let (number, after) = Decimal::parse(rest)?;
        let after = after.trim_ascii_start();
        let (word, end) = after.split_at(after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
        let (_, unit) = TIMES.iter().find(|(words, _)| words.contains(&word))?;
        sum = sum.checked_add(number.times(*unit)?)?;
        if end.is_empty() {
            return nanoseconds(sum);
        }
        rest = end.trim_ascii_start();
    }
}

fn nanoseconds(number: u128) -> Option<Duration> {
    let seconds = u64::try_from(number / SECOND_NS).ok()?;
    Some(Duration::new(seconds, (number % SECOND_NS) as u32))
}

/// The unit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The exponent of the base: 0 without a letter, 1 for K, 2 for M …
    power: u32,
    spelling: Spelling,
}

/// How a unit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// `K`: 1024.
    Letter,
    /// `KiB`: 1024.
    Binary,
    /// `KB`: 1000.
    Decimal,
    /// `KD`: 1000 under an old name. Alone it counts by 1000, yet is printed `K`.
    OldDecimal,
}

impl Unit {
    /// Parses the whole text after a number, by GNU's rules. An empty text is a unit of one byte.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let Some((letter, rest)) = text.split_first() else {
            return Some(Self { power: 0, spelling: Spelling::Letter });
        };
        let power = match letter {
            b'k' | b'K' => 1,
            b'm' | b'M' => 2,
            b'g' | b'G' => 3,
            b't' | b'T' => 4,
            b'P' => 5,
            b'E' => 6,
            b'Z' => 7,
            b'Y' => 8,
            _ => return None,
        };
        let spelling = match rest {
            b"" => Spelling::Letter,
            b"iB" => Spelling::Binary,
            b"B" => Spelling::Decimal,
            b"D" => Spelling::OldDecimal,
            _ => return None,
        };
        Some(Self { power, spelling })
    }

    /// In bytes; `None` if that is over `u64::MAX`, as all from `Z` on are.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let base: u64 = match self.spelling {
            Spelling::Letter | Spelling::Binary => 1024,
            Spelling::Decimal | Spelling::OldDecimal => 1000,
        };
        base.checked_pow(self.power)
    }

    /// As printed after a size. Only units that fit 64 bits get here.
    #[must_use]
    pub fn suffix(&self) -> &'static str {
        let names = match self.spelling {
            Spelling::Letter | Spelling::OldDecimal => ["", "K", "M", "G", "T", "P", "E"],
            Spelling::Binary => ["", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
            Spelling::Decimal => ["", "kB", "MB", "GB", "TB", "PB", "EB"],
        };
        names.get(self.power as usize).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups() {
        let numbers = [0, 7, 999, 1000, 12_345, 1_234_567, u64::MAX];
        let expected = ["0", "7", "999", "1,000", "12,345", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(grouped), expected);
    }

    #[test]
    fn durations() {
        let day = 86_400.0;
        for (text, seconds) in [
            ("10", 10.0),
            ("0.25", 0.25),
            (".5", 0.5),
            ("2.", 2.0),
            ("500ms", 0.5),
            ("90s", 90.0),
            ("1h30m", 5400.0),
            ("1.5h", 5400.0),
            ("1h 30min", 5400.0),
            ("2 days", 2.0 * day),
            ("90d", 90.0 * day),
            ("2w", 14.0 * day),
            ("1y", 365.25 * day),
            ("0.0000000001s", 0.0),
        ] {
            assert_eq!(duration(text.as_bytes()).map(|time| time.as_secs_f64()), Some(seconds), "{text:?}");
        }
        for wrong in [
            "",
            "s",
            ".",
            ".s",
            "-3",
            "-3s",
            "+1",
            " 1",
            "1 ",
            "1s ",
            "soon",
            "1 month",
            "1S",
            "1ss",
            "1.2.3",
            "1e3",
            "nan",
            "inf",
            "1h30",
            "99999999999999999999",
            "18446744073709551615y",
        ] {
            assert_eq!(duration(wrong.as_bytes()), None, "{wrong:?}");
        }
        assert_eq!((span(b"2026"), span(b"7d")), (None, Some(Duration::from_secs(7 * DAY))));
    }

    #[test]
    fn sizes() {
        let size = |text: &[u8]| {
            let (number, unit) = Decimal::parse(text)?;
            number.bytes(Unit::parse(unit)?.size()?)
        };
        for (text, bytes) in [
            ("1K", 1024),
            ("1k", 1024),
            ("1KiB", 1024),
            ("1KB", 1000),
            ("10MB", 10_000_000),
            ("1.5M", 3 << 19),
            ("1P", 1 << 50),
            ("15E", 15 << 60),
            ("7", 7),
        ] {
            assert_eq!(size(text.as_bytes()), Some(bytes), "{text}");
        }
        for wrong in ["", "K", "1kk", "1 K", "-1K", "16E", "1Z", "1p", "99999999999999999999"] {
            assert_eq!(size(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
