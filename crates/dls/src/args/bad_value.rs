//! Errors in the value of an option.

use super::numbers::BadNumber;
use super::words::BadWord;

/// The error that the check of a definition found in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadValue {
    /// Not one of the words.
    Word(BadWord),
    /// Not one of the words, where the value is a list: which item.
    Item {
        /// Where the faulty part of the value begins.
        start: usize,
        /// Its length.
        len: usize,
        /// The error.
        why: BadWord,
    },
    /// Not a usable number.
    Number(BadNumber),
}

impl From<BadWord> for BadValue {
    fn from(bad: BadWord) -> Self {
        Self::Word(bad)
    }
}

impl From<BadNumber> for BadValue {
    fn from(bad: BadNumber) -> Self {
        Self::Number(bad)
    }
}
