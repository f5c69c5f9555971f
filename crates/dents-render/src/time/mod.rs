//! Times in the long format.
//!
//! A `Clock` is a style, a zone and the present, prepared. Neighbouring entries of a directory often have the same
//! minute, so the text that depends only on the minute is rendered once. An offset is looked up once for each period
//! between two changes of the clocks.

pub(crate) mod civil;
mod leap;
mod period;
mod rules;
mod stamp;
mod strftime;
mod zone;

pub use stamp::Stamp;
pub use zone::Zone;

use crate::number::{Text, push_right};
use crate::width::known_width;
use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use civil::Civil;
use core::ops::Range;
use dents_core::batch::Time;
use dents_locale::{Charset, TimeNames};
use period::Period;
use strftime::{CalendarNames, Format, Moment};

/// The maximum age of a recent time in seconds: half a mean Gregorian year.
const RECENT: i64 = 31_556_952 / 2;

/// The maximum length of a time in bytes. If the text is longer, GNU shows the seconds since the epoch.
const MOST: usize = 1000;

/// The number of offsets that a clock keeps: those of 34 years; at first those of two.
const PERIODS: usize = 128;
const FEW_PERIODS: usize = 8;

/// How times are shown. Each style is two formats: of recent times and of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeStyle {
    /// `2023-11-14 22:13:20.012345678 +0000`.
    FullIso,
    /// `2023-11-14 22:13`.
    LongIso,
    /// `11-14 22:13`, and `2023-11-14 ` for times that are not recent.
    Iso,
    /// `Nov 14 22:13`, and `Nov 14  2023` for times that are not recent.
    #[default]
    Locale,
    /// `+FORMAT`: formats of `strftime`.
    Custom {
        /// The format of times in the last six months.
        recent: Vec<u8>,
        /// The format of older and of future times.
        other: Vec<u8>,
    },
}

impl TimeStyle {
    /// The formats of recent and of other times.
    fn formats(&self) -> [&[u8]; 2] {
        match self {
            TimeStyle::FullIso => [b"%Y-%m-%d %H:%M:%S.%N %z"; 2],
            TimeStyle::LongIso => [b"%Y-%m-%d %H:%M"; 2],
            TimeStyle::Iso => [b"%m-%d %H:%M", b"%Y-%m-%d "],
            TimeStyle::Locale => [b"%b %e %H:%M", b"%b %e  %Y"],
            TimeStyle::Custom { recent, other } => [recent, other],
        }
    }
}

/// Renders times.
pub(crate) struct Clock {
    /// `None` for UTC.
    zone: Option<Arc<Zone>>,
    now: Time,
    /// For recent times, and for others.
    faces: [Face; 2],
    /// The offsets looked up so far, each at the index of a period of some 97 days.
    periods: Vec<Period>,
    names: CalendarNames<'static>,
    /// The width of a time, for the text in place of an unknown one.
    width: usize,
}

/// A format with a month in it is shorter than this, or GNU `ls` aligns no months.
const LONGEST_WITH_MONTH: usize = 128;

/// The names of the style's locale, with aligned months. Months are not aligned in C, if one of them cannot be
/// printed, because its width is not known, or has a `%`, and if one of the formats is long.
fn names(names: Option<TimeNames<'static>>, charset: Charset, formats: [&[u8]; 2]) -> CalendarNames<'static> {
    let Some(names) = names else {
        return CalendarNames {
            names: TimeNames::C,
            months: TimeNames::C.short_months.map(Cow::Borrowed),
            library: false,
        };
    };
    let has_width = |name: &&[u8]| known_width(name, charset).is_some() && !name.contains(&b'%');
    if names.short_months.iter().all(has_width) {
        let months = names.aligned_months(&|name| known_width(name, charset).unwrap_or(0));
        let fits = |format: &[u8]| {
            let widest = months.iter().map(Vec::len).max().unwrap_or(0);
            let length = if has_month(format) { format.len() - 2 + widest } else { format.len() };
            length < LONGEST_WITH_MONTH
        };
        if formats.into_iter().all(fits) {
            return CalendarNames { names, months: months.map(Cow::Owned), library: false };
        }
    }
    CalendarNames { months: names.short_months.map(Cow::Borrowed), names, library: false }
}

/// Whether there is a `%b` in a format, without flags.
fn has_month(format: &[u8]) -> bool {
    let mut bytes = format.iter();
    while bytes.any(|byte| *byte == b'%') {
        match bytes.as_slice().first() {
            Some(b'b') => return true,
            Some(b'%') => bytes = bytes.as_slice()[1..].iter(),
            _ => {}
        }
    }
    false
}

/// A format, and its text for the last minute.
struct Face {
    format: Format,
    /// The seconds to which the other fields apply; empty at first.
    minute: Range<i64>,
    text: Vec<u8>,
    civil: Option<Civil>,
    /// The index of its period in the clock.
    period: usize,
}

impl Clock {
    /// A clock that shows times in this style, with the names of a locale; `None` for C.
    pub(crate) fn new(
        style: &TimeStyle,
        time_names: Option<TimeNames<'static>>,
        charset: Charset,
        now: Time,
        zone: Option<&Arc<Zone>>,
    ) -> Clock {
        let faces = style.formats().map(|text| Face {
            format: Format::new(text),
            minute: 0..0,
            text: Vec::new(),
            civil: None,
            period: 0,
        });
        let names = names(time_names, charset, style.formats());
        let mut clock = Clock { zone: zone.cloned(), now, faces, periods: Vec::new(), names, width: 0 };
        clock.periods.resize_with(FEW_PERIODS, Period::default);
        let mut epoch = Vec::new();
        clock.write_as(1, Time::default(), &mut epoch);
        clock.width = known_width(&epoch, charset).unwrap_or(0);
        clock
    }

    /// The width of a time in columns, in a style whose times have the same width.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Sets another present. If the zone is another one than before, it clears its caches.
    pub(crate) fn set(&mut self, now: Time, zone: Option<&Arc<Zone>>) {
        self.now = now;
        if self.zone.as_ref().map(Arc::as_ptr) != zone.map(Arc::as_ptr) {
            self.zone = zone.cloned();
            self.periods.fill_with(Period::default);
            self.faces.iter_mut().for_each(|face| face.minute = 0..0);
        }
    }

    /// Appends a time. A time beyond the calendar, or whose text is too long, is shown as its seconds since the
    /// epoch.
    #[inline]
    pub(crate) fn write(&mut self, time: Time, out: &mut Vec<u8>) {
        let half_a_year_ago = Time { sec: self.now.sec.saturating_sub(RECENT), nsec: self.now.nsec };
        let recent = half_a_year_ago < time && time <= self.now;
        self.write_as(usize::from(!recent), time, out);
    }

    #[inline]
    fn write_as(&mut self, nth: usize, time: Time, out: &mut Vec<u8>) {
        if !self.faces[nth].minute.contains(&time.sec) {
            self.turn_to(nth, time.sec);
        }
        let face = &self.faces[nth];
        let Some(civil) = face.civil else {
            return self.write_seconds(time, out);
        };
        out.extend_from_slice(&face.text);
        if !face.format.is_steady() {
            let second = (time.sec - face.minute.start) as u32 + civil.second;
            let civil = Civil { second, ..civil };
            let moment = Moment {
                civil,
                second: time.sec,
                nanosecond: time.nsec,
                offset: self.periods[face.period].offset,
                zone: &self.periods[face.period].name,
            };
            let start = out.len() - face.text.len();
            face.format.write(&moment, &self.names, false, out);
            if out.len() - start > MOST {
                out.truncate(start);
                self.write_seconds(time, out);
            }
        }
    }

    #[cold]
    fn write_seconds(&self, time: Time, out: &mut Vec<u8>) {
        push_right(out, Text::signed(time.sec).as_bytes(), self.width);
    }

    /// The period that contains this second, from the cache or from the zone.
    fn period(&mut self, second: i64) -> usize {
        let mut place = (second >> 23) as usize % self.periods.len();
        if !self.periods[place].range.contains(&second) {
            if self.periods.len() < PERIODS && !self.periods[place].range.is_empty() {
                self.periods.clear();
                self.periods.resize_with(PERIODS, Period::default);
                place = (second >> 23) as usize % PERIODS;
            }
            self.periods[place] = match &self.zone {
                Some(zone) => zone.at(second),
                None => Zone::utc().at(second),
            };
            // No face may continue with the period that was at this index before.
            self.faces.iter_mut().for_each(|face| face.minute = 0..0);
        }
        place
    }

    /// Renders a face for the minute that contains this second.
    fn turn_to(&mut self, nth: usize, second: i64) {
        let place = self.period(second);
        let Period { offset, name: zone, range, leaps, is_leap } = &self.periods[place];
        let face = &mut self.faces[nth];
        face.text.clear();
        face.period = place;
        face.civil = second.checked_add(i64::from(*offset) - i64::from(*leaps)).and_then(Civil::new);
        face.minute = second..second.saturating_add(1);
        if let Some(civil) = &mut face.civil {
            // A change of the clocks may be in the middle of the minute.
            let start = second.saturating_sub(i64::from(civil.second));
            civil.second += u32::from(*is_leap);
            face.minute = start.max(range.start)..start.saturating_add(60).min(range.end);
            civil.second -= (second - face.minute.start) as u32;
            let moment = Moment { civil: *civil, second, nanosecond: 0, offset: *offset, zone };
            face.format.write(&moment, &self.names, true, &mut face.text);
            if face.text.len() > MOST {
                face.civil = None;
            }
        }
    }

    /// Appends the text in place of a time that is not known.
    pub(crate) fn write_unknown(&self, out: &mut Vec<u8>) {
        push_right(out, b"?", self.width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn show(style: &TimeStyle, times: &[(i64, u32)]) -> Vec<String> {
        show_in(style, None, times)
    }

    fn show_in(style: &TimeStyle, zone: Option<&Arc<Zone>>, times: &[(i64, u32)]) -> Vec<String> {
        let mut clock = Clock::new(style, None, Charset::Ascii, Time { sec: 1_700_000_000, nsec: 500 }, zone);
        let show = |(sec, nsec): &(i64, u32)| {
            let mut out = Vec::new();
            clock.write(Time { sec: *sec, nsec: *nsec }, &mut out);
            String::from_utf8(out).unwrap()
        };
        times.iter().map(show).collect()
    }

    #[test]
    fn recent_is_six_months_to_the_nanosecond() {
        let old = 1_700_000_000 - 15_778_476;
        let times = [(1_700_000_000, 500), (1_700_000_000, 501), (old, 500), (old, 501)];
        let seen = show(&TimeStyle::Locale, &times);
        assert_eq!(seen, ["Nov 14 22:13", "Nov 14  2023", "May 16  2023", "May 16 07:18"]);
        let seen = show(&TimeStyle::Iso, &times);
        assert_eq!(seen, ["11-14 22:13", "2023-11-14 ", "2023-05-16 ", "05-16 07:18"]);
    }

    /// As GNU `ls` 9.7 does it.
    #[test]
    fn months_are_aligned_beside_short_formats() {
        let mut short_months = TimeNames::C.short_months;
        short_months[0] = b"month of January";
        let padded = |recent: &str, other: &str| {
            let formats = [recent, other].map(str::as_bytes);
            let found = names(Some(TimeNames { short_months, ..TimeNames::C }), Charset::Ascii, formats);
            found.months[1].len()
        };
        let long = |length| "x".repeat(length);
        assert_eq!(padded("%b %e", "%b"), 16);
        // A format with the longest month has 127 bytes, and then 128.
        assert_eq!(padded(&(long(111) + "%b"), "%b"), 16);
        assert_eq!(padded(&(long(112) + "%b"), "%b"), 3);
        assert_eq!((padded("%b", &long(127)), padded("%b", &long(128))), (16, 3));
        assert_eq!((padded("%b", &(long(125) + "%%b")), padded("%b", &(long(122) + "%5b"))), (3, 16));
        short_months[0] = b"month of %b";
        let found = names(Some(TimeNames { short_months, ..TimeNames::C }), Charset::Ascii, [b"%b"; 2]);
        assert_eq!(found.months[2].len(), 3);
    }

    /// As GNU `ls` 9.1 showed files with these times on tmpfs.
    #[test]
    fn times_beyond_the_calendar_are_numbers() {
        let times = [
            (i64::MAX, 0),
            (67_768_036_191_676_800, 0),
            (67_768_036_191_676_799, 0),
            (-62_167_219_201, 0),
            (-67_768_040_609_740_801, 0),
            (1_000_000_000_000, 0),
        ];
        let seen = show(&TimeStyle::FullIso, &times);
        assert_eq!(seen[0], "                9223372036854775807");
        assert_eq!(seen[1], "                  67768036191676800");
        assert_eq!(seen[2], "2147485547-12-31 23:59:59.000000000 +0000");
        assert_eq!(seen[3], "-001-12-31 23:59:59.000000000 +0000");
        assert_eq!(seen[4], "                 -67768040609740801");
        assert_eq!(seen[5], "33658-09-27 01:46:40.000000000 +0000");
        assert_eq!(show(&TimeStyle::Locale, &[(i64::MAX, 0)]), ["9223372036854775807"]);
    }

    /// As GNU `ls` 9.10 does. To 9.7, a `-` made any width 0.
    #[test]
    fn a_time_of_more_than_a_thousand_bytes_is_its_seconds() {
        let shown = |format: &str| {
            let format = Vec::from(format);
            let style = TimeStyle::Custom { recent: format.clone(), other: format };
            show(&style, &[(1_700_000_000, 0)]).remove(0)
        };
        for format in ["%1000d", "%995d%R", "%998m%S", "%1000Q"] {
            assert_eq!(shown(format).len(), 1000, "{format}");
        }
        for format in [
            "%1001d",
            "%996d%R",
            "%999m%S",
            "%99999999999999999999Q",
            "%-9223372036854775808d",
            "%-9223372036854775808Q",
        ] {
            assert_eq!(shown(format), "1700000000", "{format}");
        }
        assert_eq!(shown("%-9223372036854775807d"), "14");
    }

    #[test]
    fn the_minute_at_hand_changes_nothing() {
        let zone = Arc::new(Zone::posix(b"AAA5:30:15BBB,M3.2.0/2:00:10,M11.1.0"));
        let show = |times: &[(i64, u32)]| show_in(&TimeStyle::FullIso, Some(&zone), times);
        let mut state = 1u64;
        let times: Vec<_> = (0..4000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Around the change of 2023-03-12, seconds apart.
                (1_678_606_200 + (state >> 40) as i64 % 900, (state >> 34) as u32 % 1_000_000_000)
            })
            .collect();
        let fresh: Vec<_> = times.iter().flat_map(|time| show(&[*time])).collect();
        assert_eq!(show(&times), fresh);
        assert!(
            fresh.iter().any(|text| text.ends_with("-0530"))
                && fresh.iter().any(|text| text.ends_with("-0430"))
        );
    }
}
