//! Times of any age in one format.

use super::Clock;
use alloc::vec::Vec;
use dents_core::batch::Time;

/// Writes times of any age in one format: that of the style for times that are not recent. Made by
/// [`crate::Style::stamp`].
pub struct Stamp(Clock);

impl Stamp {
    pub(crate) fn new(clock: Clock) -> Self {
        Stamp(clock)
    }

    /// Appends a time. A time beyond the calendar is shown as its seconds since the epoch.
    pub fn write(&mut self, time: Time, out: &mut Vec<u8>) {
        self.0.write_as(1, time, out);
    }
}
