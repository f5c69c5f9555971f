//! A POSIX `TZ` string, as glibc reads and applies it (`EST5EDT,M3.2.0,M11.1.0`).
//!
//! jiff reads such strings too, but not all that glibc takes: an offset of 24:59:59, words behind the second rule. And for
//! glibc the changes of 1970 are those of all earlier years.

use super::civil::{Civil, DAY, days_before, is_leap};
use super::period::Period;
use alloc::vec::Vec;
use core::ops::Range;

/// The year whose changes apply to all earlier times.
const FIRST_YEAR: i64 = 1970;
/// The rules of a summer time without rules, as in the USA: from the second Sunday of March to the first one of November.
const DEFAULT: [Rule; 2] = [
    Rule { day: Day::Weekday { month: 3, week: 2, weekday: 0 }, time: TWO },
    Rule { day: Day::Weekday { month: 11, week: 1, weekday: 0 }, time: TWO },
];
/// When the clocks change, if a rule does not say it.
const TWO: i32 = 2 * 3600;

/// The largest hour of a rule: 167 is a week less an hour.
const MOST_HOURS: i32 = 167;

/// What a `TZ` string says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Posix {
    /// One offset, in seconds east of UTC, for all times; and its name.
    Fixed(i32, Vec<u8>),
    /// Summer time.
    Rules(Rules),
}

/// Standard time and summer time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rules {
    /// Of both: the name, and the seconds east of UTC.
    halves: [(Vec<u8>, i32); 2],
    /// When summer time begins, and when it ends.
    changes: [Rule; 2],
}

/// A change of the clocks in each year.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    day: Day,
    /// Seconds after midnight, by the clocks before the change.
    time: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Day {
    /// `J60`: from 1 on; February 29 is not counted.
    Julian(i64),
    /// `59`: from 0 on.
    Yearday(i64),
    /// `M3.2.0`: the second Sunday of March; week 5 is the last one.
    Weekday { month: i64, week: i64, weekday: i64 },
}

impl Posix {
    /// Parses a string without the leading `:`, as glibc does: of a string that makes no sense from some place on, what
    /// was read before it counts. Numbers that are too large are reduced; a summer time without rules has those of the USA; a
    /// name without an offset is UTC under that name.
    pub(super) fn new(text: &[u8]) -> Posix {
        let mut parser = Parser { rest: text };
        let Some(name) = parser.name() else { return Posix::Fixed(0, Vec::new()) };
        let Some(west) = parser.time(24) else { return Posix::Fixed(0, name.to_vec()) };
        if parser.rest.is_empty() {
            return Posix::Fixed(-west, name.to_vec());
        }
        let mut rules =
            Rules { halves: [(name.to_vec(), -west), (Vec::new(), 0)], changes: [Rule::NEW_YEAR; 2] };
        if let Some(summer) = parser.name() {
            let summer_west = parser.time(24).unwrap_or(west - 3600);
            rules.halves[1] = (summer.to_vec(), -summer_west);
            let [first, second] = &mut rules.changes;
            let _ = parser.rule(first, DEFAULT[0]).and_then(|()| parser.rule(second, DEFAULT[1]));
        }
        Posix::Rules(rules)
    }
}

impl Rule {
    /// The rule of which nothing was read.
    const NEW_YEAR: Rule = Rule { day: Day::Yearday(0), time: 0 };
}

impl Rules {
    /// The offset at a second since the epoch.
    pub(super) fn at(&self, second: i64) -> Period {
        let year = Civil::of(second).year.max(FIRST_YEAR);
        let (is_summer, mut range) = self.in_year(year, second);
        // Most periods of winter in the north, and of summer in the south, pass a new year.
        if range.start == year_start(year) && year > FIRST_YEAR {
            let (same, last) = self.in_year(year - 1, range.start - 1);
            range.start = if same == is_summer { last.start } else { range.start };
        }
        if range.end == year_start(year + 1) {
            let (same, next) = self.in_year(year + 1, range.end);
            range.end = if same == is_summer { next.end } else { range.end };
        }
        let (name, offset) = &self.halves[usize::from(is_summer)];
        Period { offset: *offset, name: name.clone(), range, ..Period::default() }
    }

    /// Whether summer time applies at a second of this year, and the part of the year in which that is so.
    fn in_year(&self, year: i64, second: i64) -> (bool, Range<i64>) {
        let start = if year <= FIRST_YEAR { i64::MIN } else { year_start(year) };
        let mut range = start..year_start(year + 1);
        let change = |nth: usize| {
            let Rule { day, time } = self.changes[nth];
            let local = day.in_year(year).saturating_mul(DAY).saturating_add(i64::from(time));
            local.saturating_sub(i64::from(self.halves[nth].1))
        };
        let (begin, end) = (change(0), change(1));
        for edge in [begin, end] {
            if edge <= second {
                range.start = range.start.max(edge);
            } else {
                range.end = range.end.min(edge);
            }
        }
        let (begun, ended) = (begin <= second, end <= second);
        (if begin > end { begun || !ended } else { begun && !ended }, range)
    }
}

fn year_start(year: i64) -> i64 {
    days_before(year).saturating_mul(DAY)
}

impl Day {
    /// Days since the epoch.
    fn in_year(self, year: i64) -> i64 {
        let first = days_before(year);
        match self {
            Day::Julian(day) => first + day - 1 + i64::from(day >= 60 && is_leap(year)),
            Day::Yearday(day) => first + day,
            Day::Weekday { month, week, weekday } => {
                let leap = i64::from(is_leap(year));
                let lengths = [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
                let (before, rest) = lengths.split_at((month - 1).clamp(0, 12) as usize);
                let first = first + before.iter().sum::<i64>();
                // The epoch was a Thursday.
                let ahead = weekday.max(0) - (first + 4).rem_euclid(7);
                let day = if ahead < 0 { ahead + 7 } else { ahead };
                let weeks = (rest.first().map_or(0, |length| length - 1) - day).div_euclid(7);
                first + day + 7 * (week - 1).clamp(0, weeks.max(0))
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        self.take(self.rest.iter().position(|byte| !fits(*byte)).unwrap_or(self.rest.len()))
    }

    fn take_if(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        self.take(usize::from(found));
        found
    }

    /// At least three letters, or in angle brackets three letters, digits and signs.
    fn name(&mut self) -> Option<&'a [u8]> {
        let name = if self.take_if(b'<') {
            let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'-');
            self.take_if(b'>').then_some(name)?
        } else {
            self.take_while(|byte| byte.is_ascii_alphabetic())
        };
        (name.len() >= 3).then_some(name)
    }

    /// `[+-]hh[:mm[:ss]]` in seconds; `None` without digits.
    fn time(&mut self, most_hours: i32) -> Option<i32> {
        let sign = if self.take_if(b'-') { -1 } else { 1 };
        if sign > 0 {
            self.take_if(b'+');
        }
        let mut seconds = self.number()?.min(most_hours) * 3600;
        for unit in [60, 1] {
            if !matches!(self.rest, [b':', digit, ..] if digit.is_ascii_digit()) {
                break;
            }
            self.take(1);
            seconds += self.number()?.min(59) * unit;
        }
        Some(sign * seconds)
    }

    /// A rule behind its comma; `default` if there is none. `None` if it is invalid: then what was read of it is in `rule`.
    fn rule(&mut self, rule: &mut Rule, default: Rule) -> Option<()> {
        if matches!(self.rest, b"" | b",") {
            self.rest = b"";
            *rule = default;
            return Some(());
        }
        self.take_if(b',').then_some(())?;
        if self.rest.first().is_some_and(u8::is_ascii_digit) {
            rule.day = Day::Yearday(self.number_in(0, 365)?);
        } else if self.take_if(b'J') {
            rule.day = Day::Julian(0);
            let day = self.rest.first().is_some_and(u8::is_ascii_digit).then(|| self.number_in(1, 365));
            rule.day = Day::Julian(day??);
        } else if self.take_if(b'M') {
            rule.day = self.weekday();
            let Day::Weekday { month: 1..=12, week: 1..=5, weekday: 0..=6 } = rule.day else { return None };
        } else {
            return None;
        }
        rule.time = TWO;
        if self.take_if(b'/') && !matches!(self.rest, [] | [b',', ..]) {
            rule.time = 0;
            rule.time = self.time(MOST_HOURS)?;
        }
        Some(())
    }

    /// `month.week.weekday`, as much as there is of it; a weekday of -1 tells that something is missing.
    fn weekday(&mut self) -> Day {
        let mut fields = [0, 0, -1];
        for (nth, field) in fields.iter_mut().enumerate() {
            if nth > 0 && !self.take_if(b'.') {
                break;
            }
            let Some(number) = self.number() else { break };
            *field = i64::from(number);
        }
        let [month, week, weekday] = fields;
        Day::Weekday { month, week, weekday }
    }

    fn number_in(&mut self, least: i64, most: i64) -> Option<i64> {
        self.number().map(i64::from).filter(|number| (least..=most).contains(number))
    }

    /// As `scanf` reads it: behind blanks.
    fn number(&mut self) -> Option<i32> {
        let blanks = self.rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if self.rest.get(blanks).is_some_and(u8::is_ascii_digit) {
            self.take(blanks);
        }
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let number =
            digits.iter().fold(0i32, |n, digit| n.saturating_mul(10).saturating_add(i32::from(digit - b'0')));
        (!digits.is_empty()).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::zone::Zone;
    use std::string::String;
    use std::vec::Vec;

    /// Which half applies on the first of each month of a year at noon UTC: `s` for standard time, else `D`.
    fn months(text: &str, year: i64) -> String {
        let zone = Zone::posix(text.as_bytes());
        let days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let noon = |day: i64| (super::days_before(year) + day) * super::DAY + super::DAY / 2;
        let standard = zone.at(noon(0)).offset.min(zone.at(noon(180)).offset);
        days.map(|day| if zone.at(noon(day)).offset == standard { 's' } else { 'D' }).iter().collect()
    }

    /// As GNU `ls` 9.7 prints `%Z` with glibc 2.41, of strings that make sense up to some place only.
    #[test]
    fn what_was_read_before_an_error_counts() {
        for (text, offset, name) in [
            ("ABC+5:30:", 0, ""),
            ("ABC+5:30:DEF", 0, ""),
            ("ABC3DE,M3.2.0,M11.1.0", 0, ""),
            ("EST5 EDT", 0, ""),
            ("EST5EDT4:30:,M3.2.0,M11.1.0", -16_200, "EDT"),
            ("EST5EDT;M3.2.0;M11.1.0", -14_400, "EDT"),
            ("EST5EDTM3.2.0,M11.1.0", -10_800, "EDTM"),
            ("EST5EDT,,", -14_400, "EDT"),
            ("EST5EDT,366,300", -14_400, "EDT"),
            ("EST5EDT,J366,J300", -18_000, "EST"),
            ("EST5EDT,M13.1.0,M11.1.0", -18_000, "EST"),
        ] {
            for second in [1_341_100_800, 1_700_000_000] {
                let period = Zone::posix(text.as_bytes()).at(second);
                assert_eq!((period.offset, &period.name[..]), (offset, name.as_bytes()), "{text}");
            }
        }
        for (text, year) in [
            ("EST5EDT,M1.1.1,M2.2.2,", "sDssssssssss"),
            ("EST5EDT,M1.1.1,M2.2.2x", "sDssssssssss"),
            ("EST5EDT,M1.1.1", "sDDDDDDDDDDs"),
            ("EST5EDT,M3.2.0,M13.1.0", "sssDDDDDDDDD"),
            ("EST5EDT,M3.6.0,M11.1.0", "sssDDDDDDDDD"),
            ("EST5EDT,M3.2.0/x,M11.1.0", "sssDDDDDDDDD"),
            ("EST5EDT,M3.2.0/,M11.1.0", "sssDDDDDDDDs"),
        ] {
            assert_eq!(months(text, 2010), year, "{text}");
        }
    }

    /// The changes of 1970 are those of all earlier years, and the last hour of a year may be the first of summer.
    #[test]
    fn the_first_year_holds_for_all_before_it() {
        let zone = Zone::posix(b"CET-1CEST,0/0,J365/24");
        let shown: Vec<String> = [-60_000_000_000, -3601, -3600, 0, 1_700_000_000]
            .iter()
            .map(|second| String::from_utf8(zone.at(*second).name).unwrap())
            .collect();
        assert_eq!(shown, ["CET", "CET", "CEST", "CEST", "CEST"]);
        let zone = Zone::posix(b"AAA-24:59:59BBB");
        assert_eq!([0, 1_341_100_800].map(|second| zone.at(second).offset), [89_999, 93_599]);
    }

    /// Each period holds from its first second to its last, and the next one begins there.
    #[test]
    fn periods_hold_as_long_as_they_say() {
        for text in [
            "EST5EDT",
            "CET-1CEST,0/0,J365/24",
            "AAA-10BBB,M10.1.0,M4.1.0/3",
            "A-B3",
            "XXX3YYY,J1/-3,J365/30",
        ] {
            let zone = Zone::posix(text.as_bytes());
            for second in (-90_000_000..400_000_000).step_by(86_399 * 5) {
                let period = zone.at(second);
                for edge in [period.range.start, period.range.end.saturating_sub(1)] {
                    let same = zone.at(edge);
                    assert_eq!(same.offset, period.offset, "{text} {second} {edge}");
                }
            }
        }
    }
}
