//! The exit status.

/// The result of a listing: GNU's three exit statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// All was listed.
    #[default]
    Ok = 0,
    /// Something below an operand could not be listed.
    Minor = 1,
    /// An operand could not be listed, the command line is invalid, or output or a message was lost.
    Serious = 2,
}

impl Status {
    /// Keeps the worse of the two.
    pub fn raise(&mut self, other: Status) {
        *self = (*self).max(other);
    }
}
