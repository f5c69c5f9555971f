//! Classes of files: by extension, size and age.

use crate::time;
use dents_core::batch::Time;
use dents_render::quantity;
use dents_sink::read::Span;

/// The largest number of different extensions. Files with further extensions count as files without one.
pub(crate) const EXTENSIONS: usize = 1 << 16;

/// The class of a value: the first whose limit is not below it.
fn class<T: PartialOrd>(limits: &[(T, &str)], value: &T) -> usize {
    limits.iter().position(|(limit, _)| value <= limit).unwrap_or(limits.len() - 1)
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sizes up to and including each limit.
pub(crate) const SIZES: [(u64, &str); 9] = [
    (0, "empty"),
    (4 * KIB, "to 4K"),
    (64 * KIB, "to 64K"),
    (MIB, "to 1M"),
    (16 * MIB, "to 16M"),
    (256 * MIB, "to 256M"),
    (4 * GIB, "to 4G"),
    (64 * GIB, "to 64G"),
    (u64::MAX, "over 64G"),
];

pub(crate) fn size(bytes: u64) -> usize {
    class(&SIZES, &bytes)
}

const DAY: i64 = 24 * 60 * 60;
const YEAR: i64 = quantity::YEAR as i64;

/// Seconds from the last change to the start of the scan, up to and including each limit.
pub(crate) const AGES: [(i64, &str); 10] = [
    (-1, "in the future"),
    (DAY, "to a day"),
    (7 * DAY, "to a week"),
    (30 * DAY, "to 30 days"),
    (90 * DAY, "to 90 days"),
    (YEAR, "to a year"),
    (2 * YEAR, "to 2 years"),
    (5 * YEAR, "to 5 years"),
    (10 * YEAR, "to 10 years"),
    (i64::MAX, "over 10 years"),
];

/// The time span of the scan: ages are counted up to its start.
#[derive(Clone, Copy)]
pub(crate) struct Now {
    begun: Time,
    /// The time of its end; `None` while it runs.
    ended: Option<Time>,
}

impl Now {
    /// The time span of a scan that begins now.
    pub(crate) fn live() -> Now {
        Now { begun: time::start(), ended: None }
    }

    /// The time span of a scan file. If the file does not have it, ages are counted up to now.
    pub(crate) fn recorded(span: Span) -> Now {
        let begun = span.begun.unwrap_or_else(time::start);
        Now { begun, ended: Some(span.ended.unwrap_or(begun)) }
    }

    /// The class of a file by its last change. A file that changed during the scan is in the youngest class. For a file that changed
    /// after the start this reads the clock.
    pub(crate) fn age(self, time: Time) -> usize {
        let age = self.begun.sec.saturating_sub(time.sec);
        let changed_meanwhile = time > self.begun && time <= self.ended.unwrap_or_else(time::now);
        class(&AGES, &if changed_meanwhile { 0 } else { age })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_begin_where_the_last_ends() {
        let label = |bytes| SIZES[size(bytes)].1;
        assert_eq!([label(0), label(1), label(4096), label(4097)], ["empty", "to 4K", "to 4K", "to 64K"]);
        assert_eq!(
            [label(64 * GIB), label(64 * GIB + 1), label(u64::MAX)],
            ["to 64G", "over 64G", "over 64G"]
        );
        let begun = Time { sec: 1_000_000_000, nsec: 0 };
        let now = Now { begun, ended: Some(begun) };
        let label = |age: i64| AGES[now.age(Time { sec: 1_000_000_000 - age, nsec: 0 })].1;
        assert_eq!(
            [label(-1), label(0), label(DAY), label(DAY + 1)],
            ["in the future", "to a day", "to a day", "to a week"]
        );
        let now = Now { begun, ended: Some(Time { sec: begun.sec + 60, nsec: 0 }) };
        let later = |seconds: i64| AGES[now.age(Time { sec: begun.sec + seconds, nsec: 0 })].1;
        assert_eq!([later(1), later(60), later(61)], ["to a day", "to a day", "in the future"]);
        assert_eq!(label(100 * YEAR), "over 10 years");
        assert_eq!(AGES[now.age(Time { sec: i64::MIN, nsec: 0 })].1, "over 10 years");
        assert_eq!(AGES[now.age(Time { sec: i64::MAX, nsec: 0 })].1, "in the future");
    }
}
