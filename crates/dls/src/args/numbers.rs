//! The numbers that options take: widths, tab sizes, block sizes, threads.
//!
//! GNU reads them with strtoumax and base 0: blanks and a `+` may lead, `0x` makes a number hexadecimal, `0` octal.

use super::words::{Human, lookup};
use dents_render::quantity::{self, Unit};

/// Why a number was not taken. The message is [`super::UsageError`]'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadNumber {
    /// `-w`: not a number.
    Width,
    /// `-T`: not a number.
    TabSize,
    /// `-T`: over `i64::MAX`.
    TabSizeTooLarge,
    /// `--threads`: not a number, or not within [`THREADS`].
    Threads,
    /// `--max-inflight`: not a number, or not within [`THREADS`].
    InFlight,
    /// `--top`: no number from 1.
    Top,
    /// `--timeout`: the value is not a number of seconds or a number with a unit.
    Timeout,
    /// `--git`: the same.
    GitBudget,
    /// `--tree`: not a number, or not within [`COUNTS`].
    Depth,
    /// `--tree-limit`: the same.
    Limit,
    /// `--total-size`: the value is not a number of seconds or a number with a unit.
    Budget,
    /// `--block-size`: the value is not a number or a word, or it is zero.
    BlockSize,
    /// `--block-size`: the text after the number is not a unit.
    BlockSizeSuffix,
    /// `--block-size`: over `u64::MAX`.
    BlockSizeTooLarge,
}

/// The values that `--threads` takes.
pub const THREADS: core::ops::RangeInclusive<usize> = 1..=1024;

/// The values that `--tree` and `--tree-limit` take.
pub const COUNTS: core::ops::RangeInclusive<u32> = 1..=u32::MAX;

/// An unsigned number at the beginning of some bytes.
struct Prefix<'a> {
    /// `u64::MAX` if it does not fit.
    value: u64,
    fits: bool,
    rest: &'a [u8],
}

/// Reads the number at the beginning of `bytes`, as strtoumax does with base 0. `None`: no digit, or a minus sign.
fn number(bytes: &[u8]) -> Option<Prefix<'_>> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let bytes = &bytes[bytes.iter().take_while(|byte| blank(byte)).count()..];
    let bytes = bytes.strip_prefix(b"+").unwrap_or(bytes);
    let (base, digits) = match bytes {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, &bytes[2..]),
        [b'0', ..] => (8, bytes),
        _ => (10, bytes),
    };
    let count = digits.iter().take_while(|&&byte| (byte as char).is_digit(base)).count();
    if count == 0 {
        return None;
    }
    let (digits, rest) = digits.split_at(count);
    let add = |sum: u64, &digit: &u8| {
        let digit = (digit as char).to_digit(base)?;
        sum.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
    };
    let value = digits.iter().try_fold(0, add);
    Some(Prefix { value: value.unwrap_or(u64::MAX), fits: value.is_some(), rest })
}

/// Reads `bytes` if they are a number and nothing more.
fn whole_number(bytes: &[u8]) -> Option<Prefix<'_>> {
    number(bytes).filter(|number| number.rest.is_empty())
}

/// `-w`, and the variable COLUMNS: columns of the output. 0 means no limit, and so does a number that `isize` cannot
/// hold.
///
/// # Errors
/// [`BadNumber::Width`].
pub fn parse_width(value: &[u8]) -> Result<usize, BadNumber> {
    let number = whole_number(value).ok_or(BadNumber::Width)?;
    let width = usize::try_from(number.value).unwrap_or(usize::MAX);
    Ok(if width > isize::MAX as usize { 0 } else { width })
}

/// `-T`: columns between tab stops. 0 is no tabs.
///
/// # Errors
/// [`BadNumber::TabSize`], [`BadNumber::TabSizeTooLarge`].
pub fn parse_tab_size(value: &[u8]) -> Result<usize, BadNumber> {
    let number = whole_number(value).ok_or(BadNumber::TabSize)?;
    let size = isize::try_from(number.value).map_err(|_| BadNumber::TabSizeTooLarge)?;
    Ok(size.unsigned_abs())
}

/// The environment's TABSIZE, which may be twice as large.
///
/// # Errors
/// [`BadNumber::TabSize`].
pub fn parse_tab_size_variable(value: &[u8]) -> Result<usize, BadNumber> {
    let number = whole_number(value).filter(|number| number.fits).ok_or(BadNumber::TabSize)?;
    usize::try_from(number.value).map_err(|_| BadNumber::TabSize)
}

/// `--threads`: how many workers, within [`THREADS`], in decimal digits only.
///
/// # Errors
/// [`BadNumber::Threads`].
pub fn parse_threads(value: &[u8]) -> Result<usize, BadNumber> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = if digits_only { core::str::from_utf8(value).ok() } else { None };
    number.and_then(|text| text.parse().ok()).filter(|n| THREADS.contains(n)).ok_or(BadNumber::Threads)
}

/// `--max-inflight`: how many questions, within [`THREADS`] too, since each takes a thread.
///
/// # Errors
/// [`BadNumber::InFlight`].
pub fn parse_in_flight(value: &[u8]) -> Result<usize, BadNumber> {
    parse_threads(value).map_err(|_| BadNumber::InFlight)
}

/// `--top`: how many entries, at least one.
///
/// # Errors
/// [`BadNumber::Top`].
pub fn parse_top(value: &[u8]) -> Result<usize, BadNumber> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = if digits_only { core::str::from_utf8(value).ok() } else { None };
    // A number that is too large means all.
    let number = number.map(|text| text.parse().unwrap_or(usize::MAX));
    number.filter(|n| *n > 0).ok_or(BadNumber::Top)
}

/// `--tree`: levels below an operand, within [`COUNTS`], in decimal digits only.
///
/// # Errors
/// [`BadNumber::Depth`].
pub fn parse_depth(value: &[u8]) -> Result<u32, BadNumber> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = if digits_only { core::str::from_utf8(value).ok() } else { None };
    number.and_then(|text| text.parse().ok()).filter(|n| COUNTS.contains(n)).ok_or(BadNumber::Depth)
}

/// `--tree-limit`: entries of a directory, the same.
///
/// # Errors
/// [`BadNumber::Limit`].
pub fn parse_limit(value: &[u8]) -> Result<u32, BadNumber> {
    parse_depth(value).map_err(|_| BadNumber::Limit)
}

/// `--total-size`: nanoseconds, as [`parse_timeout`] reads them.
///
/// # Errors
/// [`BadNumber::Budget`].
pub fn parse_budget(value: &[u8]) -> Result<u64, BadNumber> {
    parse_timeout(value).map_err(|_| BadNumber::Budget)
}

/// The longest timeout: thirty years.
const LONGEST_NS: u64 = 1_000_000_000 * 1_000_000_000;

/// What a time is, at the end of a message about another word.
pub(crate) const TIME: &[u8] = b" (must be a number of seconds, or end in ms, s, m, h, d, w or y)";

/// `--timeout`, and the environment's DLS_TIMEOUT: nanoseconds of a [`quantity::duration`].
///
/// # Errors
/// [`BadNumber::Timeout`], also for more than thirty years.
pub fn parse_timeout(value: &[u8]) -> Result<u64, BadNumber> {
    let time = quantity::duration(value).and_then(|time| u64::try_from(time.as_nanos()).ok());
    time.filter(|ns| *ns <= LONGEST_NS).ok_or(BadNumber::Timeout)
}

/// `--git`: nanoseconds, as [`parse_timeout`] reads them.
///
/// # Errors
/// [`BadNumber::GitBudget`].
pub fn parse_git_budget(value: &[u8]) -> Result<u64, BadNumber> {
    parse_timeout(value).map_err(|_| BadNumber::GitBudget)
}

/// How sizes are scaled when printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSize {
    /// The unit in bytes; 1 when [`BlockSize::human`] chooses one for each size.
    pub size: u64,
    /// A unit for each size, as with `-h`.
    pub human: Option<Human>,
    /// Thousands are grouped as the locale does it (a leading `'`).
    pub grouped: bool,
    /// Printed after each size: the unit if it was given without a number (`K`, `kB`, `KiB`); otherwise empty.
    pub suffix: &'static str,
}

impl BlockSize {
    /// `--block-size`, and the environment's LS_BLOCK_SIZE, BLOCK_SIZE and BLOCKSIZE.
    ///
    /// # Errors
    /// [`BadNumber::BlockSize`], [`BadNumber::BlockSizeSuffix`], [`BadNumber::BlockSizeTooLarge`].
    pub fn parse(value: &[u8]) -> Result<Self, BadNumber> {
        let (grouped, spec) = match value.strip_prefix(b"'") {
            Some(rest) => (true, rest),
            None => (false, value),
        };
        if let Ok(human) = lookup(spec) {
            return Ok(Self { size: 1, human: Some(human), grouped, suffix: "" });
        }
        let number = number(spec);
        let bare_unit = number.is_none();
        let count = match number {
            Some(number) => number,
            None if spec.first().is_some_and(|byte| MULTIPLIERS.contains(byte)) => {
                Prefix { value: 1, fits: true, rest: spec }
            }
            None => return Err(BadNumber::BlockSize),
        };
        // GNU refuses zero blocks before it reads the unit: `08` and `0x` are not bad suffixes.
        if count.value == 0 {
            return Err(BadNumber::BlockSize);
        }
        let unit = Unit::parse(count.rest).ok_or(BadNumber::BlockSizeSuffix)?;
        let size = unit.size().and_then(|unit| unit.checked_mul(count.value)).filter(|_| count.fits);
        let size = size.ok_or(BadNumber::BlockSizeTooLarge)?;
        let suffix = if bare_unit { unit.suffix() } else { "" };
        Ok(Self { size, human: None, grouped, suffix })
    }
}

/// A value of the environment that is not quite a block size, as GNU takes it: its valid beginning (1 of `1x`, 1024 of
/// `K1`), or the largest size if it is too large. `None` if it has no valid beginning.
#[must_use]
pub fn block_size_prefix(value: &[u8]) -> Option<u64> {
    let spec = value.strip_prefix(b"'").unwrap_or(value);
    let starts_with_unit = spec.first().is_some_and(|byte| MULTIPLIERS.contains(byte));
    let unit_alone = Prefix { value: 1, fits: true, rest: spec };
    let count = number(spec).or(Some(unit_alone).filter(|_| starts_with_unit))?;
    let unit = (0..=3).rev().find_map(|len| Unit::parse(count.rest.get(..len)?))?;
    let size = unit.size().and_then(|unit| unit.checked_mul(count.value)).filter(|_| count.fits);
    Some(size.unwrap_or(u64::MAX)).filter(|size| *size > 0)
}

/// Letters that are a size of their own if no number precedes them. The list is GNU's: the lower-case ones that are
/// not a unit (`e`) are bad suffixes; all other letters (`x`) are bad arguments. `Q` and `R`, which other programs of
/// coreutils know, are bad arguments too in `ls` 9.7.
const MULTIPLIERS: &[u8] = b"eEgGkKmMpPtTyYzZ0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        let good: &[(&[u8], usize)] = &[
            (b"0", 0),
            (b"80", 80),
            (b"010", 8),
            (b"0x10", 16),
            (b"0X1f", 31),
            (b" 5", 5),
            (b"\t\x0b+5", 5),
            (b"9223372036854775807", i64::MAX as usize),
            (b"9223372036854775808", 0),
            (b"18446744073709551616", 0),
            (b"99999999999999999999999", 0),
        ];
        for (text, width) in good {
            assert_eq!(parse_width(text), Ok(*width), "{text:?}");
        }
        for text in ["", "08", "0x", "0xg", "-5", " -5", "5 ", "5k", "++5", "+ 5", "99999999999999999999999x"]
        {
            assert_eq!(parse_width(text.as_bytes()), Err(BadNumber::Width), "{text:?}");
        }
    }

    #[test]
    fn tab_sizes() {
        assert_eq!(parse_tab_size(b"0"), Ok(0));
        assert_eq!(parse_tab_size(b"010"), Ok(8));
        assert_eq!(parse_tab_size(b"9223372036854775807"), Ok(i64::MAX as usize));
        assert_eq!(parse_tab_size(b"9223372036854775808"), Err(BadNumber::TabSizeTooLarge));
        assert_eq!(parse_tab_size(b"18446744073709551616"), Err(BadNumber::TabSizeTooLarge));
        assert_eq!(parse_tab_size(b"18446744073709551616x"), Err(BadNumber::TabSize));
        assert_eq!(parse_tab_size(b""), Err(BadNumber::TabSize));
        assert_eq!(parse_tab_size_variable(b"18446744073709551615"), Ok(usize::MAX));
        assert_eq!(parse_tab_size_variable(b"18446744073709551616"), Err(BadNumber::TabSize));
    }

    #[test]
    fn threads() {
        assert_eq!(parse_threads(b"1"), Ok(1));
        assert_eq!(parse_threads(b"010"), Ok(10), "decimal: this one is ours");
        assert_eq!(parse_threads(b"1024"), Ok(1024));
        for text in ["", "0", "1025", "+4", " 4", "4 ", "-1", "x", "0x4", "99999999999999999999"] {
            assert_eq!(parse_threads(text.as_bytes()), Err(BadNumber::Threads), "{text:?}");
        }
    }

    #[test]
    fn timeouts() {
        let ms = 1_000_000;
        for (text, ns) in [
            ("2s", 2000 * ms),
            ("500ms", 500 * ms),
            ("1.5s", 1500 * ms),
            ("1.5", 1500 * ms),
            (".5", 500 * ms),
            ("2.", 2000 * ms),
            ("1m", 60_000 * ms),
            ("0.5h", 1_800_000 * ms),
            ("1h30min", 5_400_000 * ms),
            ("1d", 86_400_000 * ms),
            ("0", 0),
            ("0.0000000001s", 0),
            ("1000000000", 1_000_000_000_000 * ms),
        ] {
            assert_eq!(parse_timeout(text.as_bytes()), Ok(ns), "{text:?}");
        }
        for text in [
            "",
            "s",
            ".",
            ".s",
            "-1",
            "+1",
            " 1",
            "1 ",
            "1x",
            "1 month",
            "1.2.3",
            "1e3",
            "1S",
            "1ss",
            "1000000001",
            "99999999999999999999999h",
        ] {
            assert_eq!(parse_timeout(text.as_bytes()), Err(BadNumber::Timeout), "{text:?}");
        }
    }

    /// Size and suffix as `ls -s --block-size=…` shows them (GNU 9.1).
    #[test]
    fn block_sizes() {
        let good: &[(&str, u64, &str)] = &[
            ("1", 1, ""),
            ("'1", 1, ""),
            ("K", 1 << 10, "K"),
            ("k", 1 << 10, "K"),
            ("kB", 1000, "kB"),
            ("KB", 1000, "kB"),
            ("KiB", 1 << 10, "KiB"),
            ("KD", 1000, "K"),
            ("MD", 1_000_000, "M"),
            ("1KD", 1000, ""),
            ("1K", 1 << 10, ""),
            ("1kB", 1000, ""),
            ("1KiB", 1 << 10, ""),
            ("m", 1 << 20, "M"),
            ("MB", 1_000_000, "MB"),
            ("G", 1 << 30, "G"),
            ("t", 1 << 40, "T"),
            ("P", 1 << 50, "P"),
            ("EB", 10_u64.pow(18), "EB"),
            ("15E", 15 << 60, ""),
            ("18EB", 18 * 10_u64.pow(18), ""),
            ("010K", 8 << 10, ""),
            ("0x1B", 27, ""),
            ("0x10K", 16 << 10, ""),
            (" +4096", 4096, ""),
            ("18446744073709551615", u64::MAX, ""),
        ];
        for &(text, size, suffix) in good {
            let grouped = text.starts_with('\'');
            let expected = BlockSize { size, human: None, grouped, suffix };
            assert_eq!(BlockSize::parse(text.as_bytes()), Ok(expected), "{text:?}");
        }
    }

    /// As `LS_BLOCK_SIZE=… ls -l` of GNU 9.1 shows a size.
    #[test]
    fn beginnings_of_block_sizes() {
        let seen = [
            ("1x", Some(1)),
            ("K1", Some(1024)),
            ("1KBx", Some(1000)),
            ("'5x", Some(5)),
            ("1Kb", Some(1024)),
            ("p", Some(1)),
            ("16E", Some(u64::MAX)),
            ("99999999999999999999x", Some(u64::MAX)),
            ("", None),
            ("x", None),
            ("-1", None),
            ("0", None),
            ("0x", None),
            ("'", None),
        ];
        for (text, size) in seen {
            assert_eq!(block_size_prefix(text.as_bytes()), size, "{text:?}");
        }
    }

    #[test]
    fn human_block_sizes() {
        let good: &[(&str, Human, bool)] = &[
            ("h", Human::Base1024, false),
            ("human-readable", Human::Base1024, false),
            ("'human", Human::Base1024, true),
            ("s", Human::Base1000, false),
            ("si", Human::Base1000, false),
        ];
        for &(text, human, grouped) in good {
            let expected = BlockSize { size: 1, human: Some(human), grouped, suffix: "" };
            assert_eq!(BlockSize::parse(text.as_bytes()), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn bad_block_sizes() {
        let bad: &[(BadNumber, &[&str])] = &[
            (
                BadNumber::BlockSize,
                &[
                    "", "0", "00", "0K", "08", "0x", "0xK", "B", "b", "w", "iB", "'", "''1", "'0", " ", " K",
                    "+K", "-K", "-1", "sI", "hx", "r", "q", "\\", "R", "Q", "RiB", "QB", "0Q",
                ],
            ),
            (
                BadNumber::BlockSizeSuffix,
                &[
                    "1x",
                    "1R",
                    "5QiB",
                    "1B",
                    "1b",
                    "Kb",
                    "Kib",
                    "KBi",
                    "KiBx",
                    "1Ki",
                    "1KK",
                    "1K0",
                    "K0",
                    "1.5",
                    "1D",
                    "p",
                    "e",
                    "z",
                    "y",
                    "KiD",
                    "1KDB",
                    "1\n",
                    "99999999999999999999x",
                ],
            ),
            (
                BadNumber::BlockSizeTooLarge,
                &["Z", "Y", "1Z", "16E", "19EB", "18446744073709551616", "99999999999999999999K"],
            ),
        ];
        for (error, texts) in bad {
            for text in *texts {
                assert_eq!(BlockSize::parse(text.as_bytes()), Err(*error), "{text:?}");
            }
        }
    }
}
