//! Times as text and as numbers.
//!
//! Text is RFC 3339 in UTC with nine digits of a second, `2026-11-22T02:51:09.123456789Z`. RFC 3339 has only the years 0000–9999; the
//! kernel's `tv_sec` has others too. These are written in the extended form of ISO 8601 and ECMAScript, with a sign and at least six
//! digits: `+010000-01-01T00:00:00.000000000Z`, `-000001-12-31T23:59:59.999999999Z`. All 64 bits of seconds are read back exactly.
//!
//! A number is microseconds or nanoseconds since 1970, in 64 bits ([`Unit`]). Nanoseconds reach from
//! 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z, microseconds a thousand times as far: 292,000 years.

use dents_core::batch::Time;

const DAY: i64 = 86_400;
const NANOS: u32 = 1_000_000_000;

pub use dents_render::record::time::write;

/// Parses the text of [`write()`], also with fewer or no decimals. `None` for any other text.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (date, clock) = text.split_once('T')?;
    let (rest, day) = date.rsplit_once('-')?;
    let (year, month) = rest.rsplit_once('-')?;
    let (month, day) = (two_digits(month)?, two_digits(day)?);
    let days = days(parse_year(year)?, month, day)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').map(two_digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let sec = days * i128::from(DAY) + i128::from(hour * 3600 + minute * 60 + second);
    Some(Time { sec: i64::try_from(sec).ok()?, nsec: parse_fraction(fraction)? })
}

fn two_digits(text: &str) -> Option<u32> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn parse_year(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let extended = digits.len() < text.len();
    let width = if extended { digits.len() >= 6 } else { digits.len() == 4 };
    (width && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn parse_fraction(text: &str) -> Option<u32> {
    if text.len() > 9 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(0) * 10_u32.pow(9 - text.len() as u32))
}

/// Days since 1970 of a date; `None` if there is no such day.
fn days(year: i64, month: u32, day: u32) -> Option<i128> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return None,
    };
    if day == 0 || day > last {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let (era, of_era) = (i128::from(year.div_euclid(400)), i128::from(year.rem_euclid(400)));
    let of_year = i128::from((153 * month + 2) / 5 + day - 1);
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The unit of times that are one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Millionths of a second, which Spark, Iceberg and most databases know.
    #[default]
    Micros,
    /// Billionths of a second, as in the kernel.
    Nanos,
}

impl Unit {
    fn per_second(self) -> u32 {
        match self {
            Unit::Micros => 1_000_000,
            Unit::Nanos => NANOS,
        }
    }

    /// Units since 1970, rounded down, or the nearest value of 64 bits. The second result says whether the time fits.
    #[must_use]
    pub fn count(self, time: Time) -> (i64, bool) {
        let per_second = self.per_second();
        let beyond = time.nsec.min(NANOS - 1) / (NANOS / per_second);
        let count = i128::from(time.sec) * i128::from(per_second) + i128::from(beyond);
        match i64::try_from(count) {
            Ok(count) => (count, true),
            Err(_) => (if time.sec < 0 { i64::MIN } else { i64::MAX }, false),
        }
    }

    /// The time that is this number of units after 1970.
    #[must_use]
    pub fn time(self, count: i64) -> Time {
        let per_second = i64::from(self.per_second());
        let beyond = count.rem_euclid(per_second) as u32;
        Time { sec: count.div_euclid(per_second), nsec: beyond * (NANOS / self.per_second()) }
    }
}

/// Now, by the system's clock: one call into the vDSO.
#[must_use]
pub fn now() -> Time {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Time { sec: since.as_secs() as i64, nsec: since.subsec_nanos() }
}

/// The same as a string.
#[must_use]
pub fn text(time: Time) -> String {
    let mut out = Vec::with_capacity(30);
    write(time, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> impl Iterator<Item = Time> {
        let edges = [
            0,
            1,
            59,
            DAY,
            951_782_400,
            1_709_164_800,
            253_402_300_799,
            62_167_219_200,
            i64::MAX / 2,
            i64::MAX,
        ];
        let near = |sec: i64| (-2..=2).map(move |by: i64| sec.saturating_add(by));
        let spread =
            (0..5_000_i64).map(|nth| nth.wrapping_mul(nth).wrapping_mul(0x0123_4567_89ab_cdef) >> (nth % 60));
        let all = edges.into_iter().flat_map(near).chain(spread).flat_map(|sec| [sec, sec.wrapping_neg()]);
        all.enumerate().map(|(nth, sec)| Time { sec, nsec: (nth as u32).wrapping_mul(0x9e37_79b9) % NANOS })
    }

    #[test]
    fn every_time_comes_back() {
        for time in times() {
            assert_eq!(parse(text(time).as_bytes()), Some(time), "{time:?} {}", text(time));
        }
    }

    #[test]
    fn common_years_are_as_a_library_writes_them() {
        for time in times() {
            if let Ok(stamp) = jiff::Timestamp::new(time.sec, time.nsec as i32)
                && time.sec > -62_167_219_200
            {
                assert_eq!(text(time), format!("{stamp:.9}"));
            }
        }
    }

    #[test]
    fn years_beyond_four_digits_are_extended() {
        let at = |sec| text(Time { sec, nsec: 999_999_999 });
        assert_eq!(at(0), "1970-01-01T00:00:00.999999999Z");
        assert_eq!(at(-62_167_219_200), "0000-01-01T00:00:00.999999999Z");
        assert_eq!(at(-62_167_219_201), "-000001-12-31T23:59:59.999999999Z");
        assert_eq!(at(253_402_300_799), "9999-12-31T23:59:59.999999999Z");
        assert_eq!(at(253_402_300_800), "+010000-01-01T00:00:00.999999999Z");
        assert_eq!(at(i64::MAX), "+292277026596-12-04T15:30:07.999999999Z");
        assert_eq!(at(i64::MIN), "-292277022657-01-27T08:29:52.999999999Z");
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "Z",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-02-29T00:00:00Z",
            "1970-13-01T00:00:00Z",
            "970-01-01T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:60:00Z",
            "1970-01-01T00:00:60Z",
            "1970-01-01T00:00:00.1234567890Z",
            "+9999999999999999999-01-01T00:00:00Z",
            "+292277026597-01-01T00:00:00Z",
            "1970-01-01T00:00Z",
            "+1-01-01T00:00:00Z",
            "1970-1-1T00:00:00Z",
            "-9223372036854775808-01-01T00:00:00Z",
            "1970-01-01T+1:00:00Z",
            "é970-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"1970-01-01T00:00:01.5Z"), Some(Time { sec: 1, nsec: 500_000_000 }));
    }

    #[test]
    fn numbers_saturate() {
        for unit in [Unit::Micros, Unit::Nanos] {
            assert_eq!(unit.count(Time { sec: -1, nsec: 999_999_999 }), (-1, true));
            assert_eq!(unit.count(Time { sec: i64::MAX, nsec: 0 }), (i64::MAX, false));
            assert_eq!(unit.count(Time { sec: i64::MIN, nsec: 0 }), (i64::MIN, false));
            for count in [i64::MIN, -1, 0, 1, i64::MAX] {
                assert_eq!(unit.count(unit.time(count)), (count, true));
            }
        }
    }

    #[test]
    fn microseconds_are_rounded_down() {
        let count = |sec, nsec| Unit::Micros.count(Time { sec, nsec });
        assert_eq!(count(1, 1_999), (1_000_001, true));
        assert_eq!(count(-1, 999), (-1_000_000, true));
        assert_eq!(Unit::Micros.time(-1), Time { sec: -1, nsec: 999_999_000 });
    }
}
