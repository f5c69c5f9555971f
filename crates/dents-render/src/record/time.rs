//! Times as text: RFC 3339 in UTC with nine digits of a second, `2026-11-22T02:51:09.123456789Z`.
//!
//! RFC 3339 has only the years 0000–9999; the kernel's `tv_sec` has others too. These are written in the extended form of ISO 8601 and
//! ECMAScript, with a sign and at least six digits: `+010000-01-01T00:00:00.000000000Z`. All 64 bits of seconds are read back exactly.

use crate::number::{Text, pair};
use crate::time::civil::Civil;
use alloc::vec::Vec;
use dents_core::batch::Time;

const DAY: i64 = 86_400;
const NANOS: u32 = 1_000_000_000;

/// Appends a time as text.
pub fn write(time: Time, out: &mut Vec<u8>) {
    Writer::default().write(time, out);
}

/// Writes times and remembers the last date, because the times of a directory usually have few dates.
#[derive(Clone, Default)]
pub(crate) struct Writer {
    days: i64,
    date: Vec<u8>,
}

impl Writer {
    pub(crate) fn write(&mut self, time: Time, out: &mut Vec<u8>) {
        let (days, second) = (time.sec.div_euclid(DAY), time.sec.rem_euclid(DAY) as u32);
        if self.date.is_empty() || days != self.days {
            self.days = days;
            self.set_date(time.sec);
        }
        out.extend_from_slice(&self.date);
        let mut text = *b"T00:00:00.000000000Z";
        for (at, number) in [(1, second / 3600), (4, second / 60 % 60), (7, second % 60)] {
            text[at..at + 2].copy_from_slice(&pair(number));
        }
        // The kernel returns less than 1e9. A larger value must not change the second.
        let nanos = time.nsec.min(NANOS - 1);
        text[10] += (nanos / 100_000_000) as u8;
        for (at, unit) in [(11, 1_000_000), (13, 10_000), (15, 100), (17, 1)] {
            text[at..at + 2].copy_from_slice(&pair(nanos / unit % 100));
        }
        out.extend_from_slice(&text);
    }

    #[cold]
    fn set_date(&mut self, sec: i64) {
        let date = Civil::of(sec);
        self.date.clear();
        push_year(date.year, &mut self.date);
        for number in [date.month, date.day] {
            self.date.push(b'-');
            self.date.extend_from_slice(&pair(number));
        }
    }
}

fn push_year(year: i64, out: &mut Vec<u8>) {
    let digits = Text::number(year.unsigned_abs());
    let extended = !(0..=9999).contains(&year);
    if extended {
        out.push(if year < 0 { b'-' } else { b'+' });
    }
    let width = if extended { 6 } else { 4 };
    out.extend(core::iter::repeat_n(b'0', width - digits.len().min(width)));
    out.extend_from_slice(digits.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn text(sec: i64, nsec: u32) -> String {
        let mut out = Vec::new();
        write(Time { sec, nsec }, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn times() {
        for (sec, nsec, expected) in [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"),
            (1_795_314_069, 123_456_789, "2026-11-22T02:21:09.123456789Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59.000000000Z"),
            (253_402_300_800, 0, "+010000-01-01T00:00:00.000000000Z"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00.000000000Z"),
            (-62_167_219_201, 5, "-000001-12-31T23:59:59.000000005Z"),
            (i64::MAX, 0, "+292277026596-12-04T15:30:07.000000000Z"),
            (i64::MIN, u32::MAX, "-292277022657-01-27T08:29:52.999999999Z"),
        ] {
            assert_eq!(text(sec, nsec), expected);
        }
    }

    #[test]
    fn a_writer_remembers_no_wrong_date() {
        let mut writer = Writer::default();
        for sec in [0, 1, 86_399, 86_400, -1, 0, 5_000_000_000] {
            let mut out = Vec::new();
            writer.write(Time { sec, nsec: 7 }, &mut out);
            assert_eq!(String::from_utf8(out).expect("ASCII"), text(sec, 7));
        }
    }
}
