//! The character at a position in a name: how many bytes, whether it can be printed, how many columns it takes.

use crate::width_table::RUNS;

/// The character at a position in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Char {
    /// A character that can be printed.
    Printable {
        /// Length in bytes.
        len: usize,
        /// Width in columns: 0, 1 or 2.
        width: usize,
    },
    /// A control character.
    Control {
        /// Length in bytes.
        len: usize,
    },
    /// A character that is neither: unassigned, a surrogate, beyond Unicode.
    Unprintable {
        /// Length in bytes.
        len: usize,
    },
    /// A byte that begins no character.
    Invalid,
    /// The name ends within a character.
    Incomplete {
        /// Bytes left.
        len: usize,
    },
}

impl Char {
    /// Length in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Char::Printable { len, .. }
            | Char::Control { len }
            | Char::Unprintable { len }
            | Char::Incomplete { len } => len,
            Char::Invalid => 1,
        }
    }

    /// Whether it can be printed.
    #[must_use]
    pub fn is_printable(self) -> bool {
        matches!(self, Char::Printable { .. })
    }
}

/// A character of Unicode whose sequence has `len` bytes.
pub(crate) fn of_unicode(char: u32, len: usize) -> Char {
    let run = RUNS.partition_point(|word| word >> 3 <= char) - 1;
    match RUNS[run] & 7 {
        width @ 0..=2 => Char::Printable { len, width: width as usize },
        3 => Char::Unprintable { len },
        _ => Char::Control { len },
    }
}
