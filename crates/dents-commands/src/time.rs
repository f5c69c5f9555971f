//! Times and durations on the command line, and the clock.

use crate::message;
use dents_core::batch::Time;
use dents_render::quantity;
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{CWD, clock};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, civil};
use std::cell::Cell;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

thread_local! {
    static START: Cell<Option<Time>> = const { Cell::new(None) };
}

/// The start of the command that this thread runs, by the system's clock. Ages are counted up to it. The first call costs one call into the vDSO.
pub fn start() -> Time {
    START.with(|start| {
        let time = start.get().unwrap_or_else(now);
        start.set(Some(time));
        time
    })
}

/// Sets the start of the next command to now.
pub(crate) fn restart() {
    START.set(None);
    start();
}

/// The start of this command is that of a scan that it continues.
pub(crate) fn start_at(time: Time) {
    START.set(Some(time));
}

/// The time now, by the system's clock: one call into the vDSO.
pub(crate) fn now() -> Time {
    let now = clock::realtime();
    Time { sec: now.sec, nsec: now.nsec }
}

/// A duration: `90s`, `1.5h`, `2 days`, or seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = quantity::duration(text.as_bytes());
    parsed.ok_or_else(|| "write it as 90s, 5m, 1h30m, 2 days, 2w or 1y".to_owned())
}

/// A point in time, or the time of a file's last change. A word with a slash is a file, and so is a word that is not a time.
///
/// `@SECONDS`, `2026-01-31`, `2026-01-31T12:00`, with `Z` or an offset or in the local zone; what date(1) and `stat -c %y` print; or a duration,
/// counted back from the start of the program. Costs one `statx` for a file.
pub(crate) fn point(word: &OsStr) -> Result<Time, String> {
    if let Some(time) = as_written(word) {
        return time;
    }
    let quoted = || message::quoted_text(word.as_bytes());
    let path = CString::new(word.as_bytes()).map_err(|_| "a file name cannot contain a NUL".to_owned())?;
    match stat::statx(CWD, &path, Flags::empty(), Mask::MTIME) {
        Ok(statx) => Ok(Time { sec: statx.mtime().sec, nsec: statx.mtime().nsec }),
        Err(errno) => Err(format!(
            "{}: {}; nor is it a time as 2026-01-31, 2026-01-31T12:00, @1769817600 or 7d (ago)",
            quoted(),
            message::errno_text(errno.raw_os_error())
        )),
    }
}

/// The time that a word means as it is written, not as a file.
fn as_written(word: &OsStr) -> Option<Result<Time, String>> {
    word.to_str().filter(|text| !text.contains('/')).and_then(written)
}

/// The time of a word that means a file.
pub(crate) fn of_file(word: &OsStr) -> Option<Time> {
    if as_written(word).is_some() { None } else { point(word).ok() }
}

fn written(text: &str) -> Option<Result<Time, String>> {
    if let Some(seconds) = text.strip_prefix('@') {
        return epoch(seconds).map(Ok);
    }
    if let Some(ago) = quantity::span(text.as_bytes()) {
        return before_start(ago).map(Ok);
    }
    let moment = text.parse::<Timestamp>().ok().or_else(|| printed(text));
    if let Some(moment) = moment {
        return Some(Ok(time_of(moment)));
    }
    let date =
        text.parse::<civil::DateTime>().or_else(|_| text.parse::<civil::Date>().map(Into::into)).ok()?;
    let local = TimeZone::system().to_ambiguous_zoned(date);
    if let AmbiguousOffset::Gap { before, .. } = local.offset() {
        return Some(Err(format!(
            "{date} does not exist in the local time zone, which goes forward there: write it with an offset, as {date}{before}"
        )));
    }
    Some(Ok(time_of(local.compatible().ok()?.timestamp())))
}

/// This long before the start.
fn before_start(ago: Duration) -> Option<Time> {
    let now = start();
    let sec = now.sec.checked_sub(i64::try_from(ago.as_secs()).ok()?)?;
    Some(match now.nsec.checked_sub(ago.subsec_nanos()) {
        Some(nsec) => Time { sec, nsec },
        None => Time { sec: sec - 1, nsec: now.nsec + 1_000_000_000 - ago.subsec_nanos() },
    })
}

fn time_of(moment: Timestamp) -> Time {
    let nanoseconds = moment.as_nanosecond();
    let nsec = nanoseconds.rem_euclid(1_000_000_000) as u32;
    Time { sec: nanoseconds.div_euclid(1_000_000_000) as i64, nsec }
}

/// The forms with an offset: of `stat -c %y`, and of `date -R`.
const WITH_OFFSET: [&str; 2] = ["%Y-%m-%d %H:%M:%S%.f %z", "%a, %d %b %Y %H:%M:%S %z"];

/// The forms of date(1) in the locales C and `en_US`, without the abbreviation of the zone, and where it stands among the words.
const WITH_ABBREVIATION: [(&str, usize); 2] = [("%a %b %d %H:%M:%S %Y", 4), ("%a %d %b %Y %I:%M:%S %p", 6)];

/// A time as `stat -c %y` or date(1) prints it, in English.
fn printed(text: &str) -> Option<Timestamp> {
    let with_offset = WITH_OFFSET.iter().find_map(|form| Timestamp::strptime(form, text).ok());
    with_offset.or_else(|| {
        WITH_ABBREVIATION.iter().find_map(|(form, at)| {
            let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
            let zone = (words.len() > *at).then(|| words.remove(*at))?;
            in_zone(civil::DateTime::strptime(form, words.join(" ")).ok()?, zone)
        })
    })
}

/// The moment of this date in UTC or in the local zone, whichever has this abbreviation then.
fn in_zone(date: civil::DateTime, abbreviation: &str) -> Option<Timestamp> {
    [TimeZone::UTC, TimeZone::system()].into_iter().find_map(|zone| {
        let local = zone.to_ambiguous_timestamp(date);
        let moments = [local.earlier().ok()?, local.later().ok()?];
        moments.into_iter().find(|moment| zone.to_offset_info(*moment).abbreviation() == abbreviation)
    })
}

/// A time as `@SECONDS`.
pub(crate) fn since_epoch(Time { sec, nsec }: Time) -> String {
    match sec {
        // Decimals of a negative number count backwards.
        ..0 if nsec > 0 => format!("@-{}.{:09}", -(sec + 1), 1_000_000_000 - nsec),
        _ => format!("@{sec}.{nsec:09}"),
    }
}

/// Seconds since the epoch, with up to nine decimals.
fn epoch(text: &str) -> Option<Time> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let sec: i64 = whole.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nsec: u32 = format!("{fraction:0<9}")[..9].parse().ok()?;
    if nsec > 0 && whole.starts_with('-') {
        return Some(Time { sec: sec.checked_sub(1)?, nsec: 1_000_000_000 - nsec });
    }
    Some(Time { sec, nsec })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let time = |sec, nsec| Some(Ok(Time { sec, nsec }));
        assert_eq!(written("@1.5"), time(1, 500_000_000));
        assert_eq!(written("@-1.25"), time(-2, 750_000_000));
        for (sec, nsec) in [(0, 0), (7, 5), (-1, 750_000_000), (-2, 1), (-3, 0)] {
            assert_eq!(written(&since_epoch(Time { sec, nsec })), time(sec, nsec));
        }
        assert_eq!(written("2026-01-31T12:00Z"), time(1_769_860_800, 0));
        assert_eq!(written("2026-01-31T12:00:00.000000001+01:00"), time(1_769_857_200, 1));
        assert!(written("2026-01-31").is_some() && written("2026-01-31 12:00").is_some());
        for (text, ago) in [("1d", 86_400), ("90d", 90 * 86_400), ("2w", 14 * 86_400), ("1y", 31_557_600)] {
            assert_eq!(written(text), time(start().sec - ago, start().nsec), "{text}");
        }
        for wrong in ["", "@", "@x", "@1.x", "2026-13-01", "Cargo.toml", "d"] {
            assert_eq!(written(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_programs_print() {
        for printed in [
            "2026-11-26 18:11:29.000000005 +0000",
            "2026-11-26 19:11:29.000000005 +0100",
            "2026-11-26 18:11:29.000000005+00:00",
        ] {
            assert_eq!(written(printed), Some(Ok(Time { sec: 1_795_716_689, nsec: 5 })), "{printed}");
        }
        for printed in [
            "Thu Nov 26 18:11:29 UTC 2026",
            "Thu 26 Nov 2026 06:11:29 PM UTC",
            "Thu, 26 Nov 2026 18:11:29 +0000",
            "2026-11-26 18:11:29 +0000",
            "2026-11-26T18:11:29+00:00",
        ] {
            assert_eq!(written(printed), Some(Ok(Time { sec: 1_795_716_689, nsec: 0 })), "{printed}");
        }
        // Not a day of that name, and an unknown zone.
        for wrong in ["Wed Nov 26 18:11:29 UTC 2026", "Thu Nov 26 18:11:29 XYZT 2026"] {
            assert_eq!(written(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_time_is_a_file() {
        assert!(point(OsStr::new("/")).is_ok());
        let error = point(OsStr::new("/nowhere/2026-01-31")).expect_err("not there");
        assert!(error.contains("/nowhere/2026-01-31") && error.contains("No such file"), "{error}");
    }
}
