//! Times as ages: `3m`, `2h`, `5d`, `8mo`, `2y`; with a `+` before it, a time in the future.

use crate::number::Text;
use crate::view::Paint;
use dents_core::batch::Time;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
/// Leap years and the lengths of months are ignored.
const YEAR: u64 = 365 * DAY;
const MONTH: u64 = YEAR / 12;

/// Units from the largest, seconds each.
const UNITS: [(u64, &[u8]); 6] =
    [(YEAR, b"y"), (MONTH, b"mo"), (DAY, b"d"), (HOUR, b"h"), (MINUTE, b"m"), (1, b"s")];

/// Whole seconds between a time and now, and whether the time is in the future.
fn distance(time: Time, now: Time) -> (u64, bool) {
    let future = time > now;
    let (from, to) = if future { (now, time) } else { (time, now) };
    (to.sec.abs_diff(from.sec) - u64::from(to.nsec < from.nsec), future)
}

/// The age of a time, in the largest unit that is not longer than the age, rounded down.
pub(super) fn text(time: Time, now: Time) -> Text {
    let (seconds, future) = distance(time, now);
    let (unit, letter) = UNITS.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, b"s"));
    let mut text = Text::empty();
    text.prepend(letter);
    text.prepend(Text::number(seconds / unit).as_bytes());
    if future {
        text.prepend(b"+");
    }
    text
}

/// The colour of an age.
pub(super) fn paint(time: Time, now: Time) -> Paint {
    match distance(time, now) {
        (_, true) => Paint::Future,
        (..HOUR, _) => Paint::AgeHour,
        (..DAY, _) => Paint::AgeDay,
        (..WEEK, _) => Paint::AgeWeek,
        (..MONTH, _) => Paint::AgeMonth,
        (..YEAR, _) => Paint::AgeYear,
        _ => Paint::AgeOld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    const NOW: Time = Time { sec: 1_700_000_000, nsec: 500 };

    fn show(sec: i64, nsec: u32) -> String {
        String::from_utf8(text(Time { sec, nsec }, NOW).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn ages_are_rounded_down() {
        let ago = |seconds: i64| show(NOW.sec - seconds, NOW.nsec);
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (30 * 86_400, "30d"),
            (31 * 86_400, "1mo"),
            (364 * 86_400, "11mo"),
            (365 * 86_400, "1y"),
            (NOW.sec, "53y"),
        ] {
            assert_eq!(ago(seconds), text);
        }
        assert_eq!(show(NOW.sec - 60, 501), "59s", "a nanosecond short");
        assert_eq!(show(NOW.sec - 60, 499), "1m");
    }

    #[test]
    fn what_is_to_come_has_a_plus() {
        assert_eq!(show(NOW.sec, 501), "+0s");
        assert_eq!(show(NOW.sec + 61, 499), "+1m");
        assert_eq!(show(i64::MAX, 0), "+292471208623y");
        assert_eq!(show(i64::MIN, 0), "292471208731y");
    }

    #[test]
    fn colours_by_age() {
        let at = |seconds: i64| paint(Time { sec: NOW.sec - seconds, nsec: NOW.nsec }, NOW);
        assert_eq!([at(0), at(3600), at(86_400)], [Paint::AgeHour, Paint::AgeDay, Paint::AgeWeek]);
        assert_eq!(
            [at(7 * 86_400), at(40 * 86_400), at(400 * 86_400), at(-1)],
            [Paint::AgeMonth, Paint::AgeYear, Paint::AgeOld, Paint::Future]
        );
    }
}
