//! Time zones: the offset from UTC at any second, read from a TZif file or a POSIX `TZ` string.
//!
//! jiff reads the files. This module adds what glibc does beyond that: times beyond the range of calendars. `TZ` strings
//! are in `rules`.

use super::leap::Leaps;
use super::period::Period;
use super::rules::{Posix, Rules};
use alloc::vec::Vec;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Seconds in 400 Gregorian years, after which rules repeat to the day of the week.
const CYCLE: i64 = 400 * 31_556_952;
/// A time beyond this (the year 9892) is looked up whole cycles earlier, because jiff's calendar ends with 9999.
const LATEST: i64 = 250_000_000_000;
/// Before this (the year -9755) no file has transitions.
const EARLIEST: i64 = -370_000_000_000;

/// A time zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(Inner);

#[derive(Clone, Debug, PartialEq)]
enum Inner {
    /// One offset, in seconds east of UTC, for all times.
    Fixed(i32, Vec<u8>),
    /// A TZif file.
    File(TimeZone, Leaps),
    /// A `TZ` string with rules.
    Rules(Rules),
}

impl Zone {
    /// The maximum size of a zone's file in bytes. The largest files of the tz database have 4 KiB.
    pub const MOST: usize = 1 << 20;

    /// UTC: also what an empty `TZ` means.
    #[must_use]
    pub fn utc() -> Zone {
        Zone(Inner::Fixed(0, b"UTC".to_vec()))
    }

    /// Reads the contents of a file of `/usr/share/zoneinfo`, or of `/etc/localtime`; `None` if it is not a zone
    /// file.
    #[must_use]
    pub fn tzif(data: &[u8]) -> Option<Zone> {
        // The name does not matter: nothing here prints it.
        TimeZone::tzif("TZif", data).ok().map(|zone| Zone(Inner::File(zone, Leaps::tzif(data))))
    }

    /// Parses a POSIX `TZ` string (without the leading `:`), for a `TZ` that names no file. It follows glibc: numbers
    /// that are too large are reduced; a summer time without valid rules has those of the USA; a name without an
    /// offset is UTC under that name; anything else is UTC without a name.
    #[must_use]
    pub fn posix(text: &[u8]) -> Zone {
        if text.is_empty() {
            return Zone::utc();
        }
        match Posix::new(text) {
            Posix::Fixed(offset, name) => Zone(Inner::Fixed(offset, name)),
            Posix::Rules(rules) => Zone(Inner::Rules(rules)),
        }
    }

    /// The offset at a second since the epoch.
    pub(crate) fn at(&self, second: i64) -> Period {
        match self {
            Zone(Inner::Fixed(offset, name)) => {
                Period { offset: *offset, name: name.clone(), range: i64::MIN..i64::MAX, ..Period::default() }
            }
            Zone(Inner::File(zone, leaps)) => {
                let mut period = in_cycle(zone, second);
                let correction = leaps.at(second);
                period.leaps = correction.seconds;
                period.is_leap = correction.is_leap;
                period.range.start = period.range.start.max(correction.range.start);
                period.range.end = period.range.end.min(correction.range.end);
                period
            }
            Zone(Inner::Rules(rules)) => rules.at(second),
        }
    }
}

/// Looks up a second. A second before [`EARLIEST`] is looked up as that, one beyond [`LATEST`] whole cycles
/// earlier.
fn in_cycle(zone: &TimeZone, second: i64) -> Period {
    let cycles = if second > LATEST { (second - LATEST).div_euclid(CYCLE) + 1 } else { 0 };
    let shift = cycles * CYCLE;
    let asked = (second - shift).max(EARLIEST);
    let Ok(timestamp) = Timestamp::from_second(asked) else {
        return Period { range: second..second, ..Period::default() };
    };
    let info = zone.to_offset_info(timestamp);
    // `preceding` does not include a transition at the given second, so this passes the next second.
    let before = Timestamp::from_second(asked + 1).ok().and_then(|next| zone.preceding(next).next());
    let start =
        before.map_or(i64::MIN, |transition| transition.timestamp().as_second().saturating_add(shift));
    let after = zone.following(timestamp).next();
    let end = after.map_or(i64::MAX, |transition| transition.timestamp().as_second().saturating_add(shift));
    Period {
        offset: info.offset().seconds(),
        name: info.abbreviation().as_bytes().to_vec(),
        range: if asked <= EARLIEST { i64::MIN..end } else { start..end },
        ..Period::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    fn at(zone: &Zone, second: i64) -> (String, i32) {
        let period = zone.at(second);
        assert!(period.range.contains(&second), "{second} {:?}", period.range);
        (String::from_utf8(period.name.clone()).unwrap(), period.offset)
    }

    /// The output of glibc 2.36 for these values (`ls -l --time-style='+%Z %z'`).
    #[test]
    fn strings_as_glibc_reads_them() {
        let july_2012 = 1_341_100_800;
        for (text, name, offset) in [
            ("", "UTC", 0),
            ("ABC", "ABC", 0),
            ("Nonsense/Bad", "Nonsense", 0),
            ("AA5", "", 0),
            ("<A1>+3", "", 0),
            ("A1B5", "", 0),
            ("XXX5:30:15", "XXX", -19_815),
            ("<-0001>0:01:30", "-0001", -90),
            ("AAA5:99", "AAA", -21_540),
            ("AAA25", "AAA", -86_400),
            ("AAA5BBB", "BBB", -14_400),
            ("AAA5BBB,M3.2.0,M11.1.0", "BBB", -14_400),
            ("AAA5BBB4,J60,J300", "BBB", -14_400),
            ("AAA5BBB,59/-3,299/25", "BBB", -14_400),
            ("AAA-10BBB,M10.1.0,M4.1.0/3", "AAA", 36_000),
            ("AAA+5:00:00BBB", "BBB", -14_400),
        ] {
            assert_eq!(at(&Zone::posix(text.as_bytes()), july_2012), (name.to_string(), offset), "{text}");
        }
    }

    #[test]
    fn rules_begin_in_1970_and_never_end() {
        let north = Zone::posix(b"AAA5BBB,M3.2.0,M11.1.0");
        let south = Zone::posix(b"AAA-10BBB,M10.1.0,M4.1.0/3");
        for july in [-615_686_400, -3_771_360_000] {
            assert_eq!(at(&north, july).0, "AAA");
            assert_eq!(at(&south, july).0, "BBB");
        }
        assert_eq!(at(&north, 1_000_000_000_000), ("BBB".to_string(), -14_400));
        assert_eq!(at(&north, i64::MIN).0, "AAA");
        let _ = north.at(i64::MAX);
    }

    #[test]
    fn files_know_their_past() {
        let data = std::fs::read("/usr/share/zoneinfo/America/New_York").expect("tzdata is installed");
        let zone = Zone::tzif(&data).unwrap();
        assert_eq!(at(&zone, 0), ("EST".to_string(), -18_000));
        assert_eq!(at(&zone, -99_999_999_999), ("LMT".to_string(), -17_762));
        assert_eq!(at(&zone, 1_000_000_000_000), ("EDT".to_string(), -14_400));
        assert_eq!(at(&zone, 10_000_000_000_000).1, -14_400);
        assert_eq!(at(&zone, i64::MIN + 1).0, "LMT");
        assert!(Zone::tzif(b"TZif").is_none());
        assert!(Zone::tzif(b"").is_none());
    }

    /// The second of a transition belongs to the new offset, and the ranges say so.
    #[test]
    fn periods_meet_without_a_gap() {
        let zone = Zone::posix(b"AAA5BBB,M3.2.0,M11.1.0");
        let mut second = 1_300_000_000;
        for _ in 0..50 {
            let period = zone.at(second);
            let next = zone.at(period.range.end);
            assert_eq!(next.range.start, period.range.end);
            assert_ne!(next.offset, period.offset);
            assert_eq!(zone.at(period.range.end - 1).offset, period.offset);
            second = period.range.end;
        }
    }

    /// Any `TZ`, and any damage to a file, gives a zone or none, and every zone has an offset at any time.
    #[test]
    fn any_bytes_are_a_zone_or_none() {
        let mut state = 5u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let probe = |zone: &Zone| {
            for second in [i64::MIN, -1 << 40, 0, 1_700_000_000, 1 << 40, i64::MAX] {
                let _ = zone.at(second);
            }
        };
        const PIECES: [&[u8]; 12] = [
            b"AAA",
            b"<+03>",
            b"-3",
            b"25",
            b":99",
            b"BBB",
            b",M3.2.0",
            b",J60",
            b"/2",
            b",",
            b"/-167:30",
            b"\xff",
        ];
        for _ in 0..5000 {
            let text: Vec<u8> = (0..next(8)).flat_map(|_| PIECES[next(PIECES.len())]).copied().collect();
            probe(&Zone::posix(&text));
        }
        let data = std::fs::read("/usr/share/zoneinfo/Europe/Amsterdam").expect("tzdata is installed");
        for _ in 0..3000 {
            let mut damaged = data.clone();
            for _ in 0..=next(4) {
                let at = if next(2) == 0 { next(100) } else { next(damaged.len()) };
                damaged[at] = next(256) as u8;
            }
            damaged.truncate(damaged.len() - next(2) * next(damaged.len()));
            if let Some(zone) = Zone::tzif(&damaged) {
                probe(&zone);
            }
        }
    }
}
