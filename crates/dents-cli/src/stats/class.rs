//! The classes that files fall into: by extension, size and age.

use dents::batch::Time;
use dents_sys::clock;

/// Longer ones are no extensions: what follows the last dot of a name may be anything.
const LONGEST: usize = 12;

/// So many extensions are told apart; more are no extensions, but numbers by another name.
pub(super) const EXTENSIONS: usize = 1 << 16;

/// What follows the last dot of a name, if it is short, not all of the name but the dot, and not only digits: those
/// count the versions of a file, and there may be millions of them.
pub(super) fn extension(name: &[u8]) -> &[u8] {
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    let Some(dot) = base.iter().rposition(|byte| *byte == b'.') else { return b"" };
    let (stem, extension) = (&base[..dot], &base[dot + 1..]);
    let is_one = extension.len() <= LONGEST && !extension.iter().all(u8::is_ascii_digit);
    if stem.is_empty() || !is_one { b"" } else { extension }
}

/// The class of a value: the first whose limit is not below it.
fn class<T: PartialOrd>(limits: &[(T, &str)], value: &T) -> usize {
    limits.iter().position(|(limit, _)| value <= limit).unwrap_or(limits.len() - 1)
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sizes up to and including each limit.
pub(super) const SIZES: [(u64, &str); 9] = [
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

pub(super) fn size(bytes: u64) -> usize {
    class(&SIZES, &bytes)
}

const DAY: i64 = 24 * 60 * 60;
/// As astronomers have it, with its quarter of a day.
const YEAR: i64 = 365 * DAY + DAY / 4;

/// Seconds since the last change, up to and including each limit.
pub(super) const AGES: [(i64, &str); 10] = [
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

/// The moment that ages are counted to.
#[derive(Clone, Copy)]
pub(super) struct Now(i64);

impl Now {
    /// One look at the clock.
    pub(super) fn read() -> Now {
        Now(clock::realtime().sec)
    }

    pub(super) fn age(self, time: Time) -> usize {
        class(&AGES, &self.0.saturating_sub(time.sec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions() {
        for (name, expected) in [
            ("a.txt", "txt"),
            ("a.tar.gz", "gz"),
            (".bashrc", ""),
            (".a.b", "b"),
            ("a.", ""),
            ("a", ""),
            ("log.1", ""),
            ("x.mp3", "mp3"),
            ("song.7z", "7z"),
            ("a.averylongextension", ""),
            ("dir.d/file", ""),
            ("dir.d/file.c", "c"),
            ("", ""),
            (".", ""),
            ("..", ""),
        ] {
            assert_eq!(extension(name.as_bytes()), expected.as_bytes(), "{name}");
        }
        assert_eq!(extension(b"a.\xff"), b"\xff");
    }

    #[test]
    fn classes_begin_where_the_last_ends() {
        let label = |bytes| SIZES[size(bytes)].1;
        assert_eq!([label(0), label(1), label(4096), label(4097)], ["empty", "to 4K", "to 4K", "to 64K"]);
        assert_eq!(
            [label(64 * GIB), label(64 * GIB + 1), label(u64::MAX)],
            ["to 64G", "over 64G", "over 64G"]
        );
        let now = Now(1_000_000_000);
        let label = |age: i64| AGES[now.age(Time { sec: 1_000_000_000 - age, nsec: 0 })].1;
        assert_eq!(
            [label(-1), label(0), label(DAY), label(DAY + 1)],
            ["in the future", "to a day", "to a day", "to a week"]
        );
        assert_eq!(label(100 * YEAR), "over 10 years");
        assert_eq!(AGES[now.age(Time { sec: i64::MIN, nsec: 0 })].1, "over 10 years");
        assert_eq!(AGES[now.age(Time { sec: i64::MAX, nsec: 0 })].1, "in the future");
    }
}
