//! Times of any age in one format.

use super::{Clock, Zone};
use crate::style::Style;
use alloc::vec::Vec;
use dents_core::batch::Time;

/// Writes times as `date` writes them: in the format of the style for times that are not recent, whatever their age.
pub struct Stamp<'s>(Clock<'s>);

impl<'s> Stamp<'s> {
    /// With the style's [`crate::TimeStyle`] and names.
    #[must_use]
    pub fn new(style: &'s Style, zone: &'s Zone) -> Self {
        Stamp(Clock::new(style, zone))
    }

    /// Appends a time. One that no calendar reaches is shown as its seconds since the epoch.
    pub fn write(&mut self, time: Time, out: &mut Vec<u8>) {
        self.0.write_as(1, time, out);
    }
}
