//! Leap seconds of the zones below `right/`, which count them (RFC 8536, 3.2 "leap-second records"); jiff does not.

use alloc::vec::Vec;
use core::ops::Range;

/// From this second on, this many leap seconds were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leap {
    at: i64,
    total: i32,
}

/// The leap seconds of a zone: none, except for zones below `right/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaps(Vec<Leap>);

/// The correction of a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    /// Seconds to subtract.
    pub(super) seconds: i32,
    /// Whether this very second is a leap second: the 60th of its minute.
    pub(super) is_leap: bool,
    /// The seconds to which this applies.
    pub(super) range: Range<i64>,
}

impl Leaps {
    /// Reads a TZif file that jiff has accepted.
    pub(super) fn tzif(data: &[u8]) -> Leaps {
        Leaps(read(data).unwrap_or_default())
    }

    pub(super) fn at(&self, second: i64) -> Correction {
        let passed = self.0.partition_point(|leap| leap.at <= second);
        let end = self.0.get(passed).map_or(i64::MAX, |leap| leap.at);
        let Some(last) = passed.checked_sub(1).map(|index| self.0[index]) else {
            return Correction { seconds: 0, is_leap: false, range: i64::MIN..end };
        };
        let before = if passed > 1 { self.0[passed - 2].total } else { 0 };
        let is_leap = second == last.at && last.total > before;
        let range = if is_leap {
            second..second.saturating_add(1)
        } else {
            last.at.saturating_add(1).min(second)..end
        };
        Correction { seconds: last.total, is_leap, range }
    }
}

/// The counts in the header of a block, and the length of the data before its leap seconds.
struct Block<'a> {
    body: &'a [u8],
    leaps: usize,
    before: usize,
    len: usize,
}

const HEADER: usize = 44;

impl<'a> Block<'a> {
    /// `size` is that of a time: 4 bytes in the first block, 8 in the second.
    fn read(data: &'a [u8], size: usize) -> Option<Block<'a>> {
        let count = |nth: usize| {
            let bytes = data.get(20 + 4 * nth..24 + 4 * nth)?.first_chunk::<4>()?;
            usize::try_from(u32::from_be_bytes(*bytes)).ok()
        };
        let [utc, standard, leaps, times, types, letters] =
            [count(0)?, count(1)?, count(2)?, count(3)?, count(4)?, count(5)?];
        let before = times.checked_mul(size + 1)?.checked_add(types.checked_mul(6)?)?.checked_add(letters)?;
        let after = leaps.checked_mul(size + 4)?.checked_add(standard)?.checked_add(utc)?;
        Some(Block { body: data.get(HEADER..)?, leaps, before, len: before.checked_add(after)? })
    }
}

fn read(data: &[u8]) -> Option<Vec<Leap>> {
    let first = Block::read(data, 4)?;
    // Version 1 files have no second block; they are no longer shipped.
    let second = Block::read(first.body.get(first.len..)?, 8)?;
    let records = second.body.get(second.before..)?.chunks_exact(12).take(second.leaps);
    let leap = |record: &[u8]| {
        let at = i64::from_be_bytes(*record.first_chunk()?);
        Some(Leap { at, total: i32::from_be_bytes(*record.last_chunk()?) })
    };
    records.map(leap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_itself_and_those_around_it() {
        let leaps = Leaps([Leap { at: 100, total: 1 }, Leap { at: 200, total: 2 }].into());
        let seen = [99, 100, 101, 199, 200, 201].map(|second| {
            let correction = leaps.at(second);
            assert!(correction.range.contains(&second), "{second} {correction:?}");
            (correction.seconds, correction.is_leap)
        });
        assert_eq!(seen, [(0, false), (1, true), (1, false), (1, false), (2, true), (2, false)]);
        assert_eq!(leaps.at(150).range, 101..200);
        // Found by fuzzing: nothing is after the last second that there is.
        let last = Leaps([Leap { at: i64::MAX, total: 1 }].into());
        assert_eq!(last.at(i64::MAX), Correction { seconds: 1, is_leap: true, range: i64::MAX..i64::MAX });
    }

    #[test]
    fn no_file_is_too_short() {
        assert_eq!(Leaps::tzif(b""), Leaps::default());
        for len in 0..200 {
            let bytes: Vec<u8> = (0..len).map(|n| (n * 37 % 256) as u8).collect();
            let _ = Leaps::tzif(&bytes);
        }
    }
}
