//! What can be wrong with an option's value.

use super::numbers::BadNumber;
use super::words::BadWord;

/// What a definition's check finds wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadValue {
    /// Not one of the words.
    Word(BadWord),
    /// Not one of the words, where the value is a list: which item.
    Item {
        /// Where in the value it begins.
        start: usize,
        /// Its length.
        len: usize,
        /// What is wrong with it.
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
