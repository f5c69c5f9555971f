//! What a time zone says of a second.

use alloc::vec::Vec;
use core::ops::Range;

/// An offset and the time in which it applies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Period {
    /// Seconds east of UTC.
    pub offset: i32,
    /// The abbreviation: `CEST`.
    pub name: Vec<u8>,
    /// Leap seconds that times count, to be subtracted.
    pub leaps: i32,
    /// Whether this is a leap second.
    pub is_leap: bool,
    /// The seconds since the epoch to which this is known to apply.
    pub range: Range<i64>,
}
