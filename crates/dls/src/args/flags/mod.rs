//! The table of all options: each defined once, with the tests of its parsing in the same file.
//!
//! A new option is a [`Flag`] and a [`Definition`] in the file of its group; getopt's rules, `--help` and whatever
//! else is generated (man page, completions) follow from that.

mod definition;
mod entries;
mod format;
mod git_and_trees;
mod gnu;
mod long;
mod names;
mod other;
mod programs;
mod sort;
mod view;

pub use definition::{Arity, Definition, Flag, Group};
pub(super) use gnu::{GNU_ORDER, is_gnu};

/// The definitions, group by group in the order of `--help`.
pub const TABLE: [(Group, &[Definition]); 11] = [
    (Group::Entries, entries::ENTRIES),
    (Group::Links, entries::LINKS),
    (Group::Format, format::FLAGS),
    (Group::Long, long::FLAGS),
    (Group::Names, names::FLAGS),
    (Group::Sort, sort::FLAGS),
    (Group::Look, view::FLAGS),
    (Group::GitAndTrees, git_and_trees::FLAGS),
    (Group::Programs, programs::FLAGS),
    (Group::Speed, other::SPEED),
    (Group::About, other::ABOUT),
];

/// Every definition, in the order of `--help`.
pub fn all() -> impl Iterator<Item = &'static Definition> {
    const { &TABLE }.iter().flat_map(|(_, definitions)| definitions.iter())
}

/// The option of a letter.
#[must_use]
pub fn by_letter(letter: u8) -> Option<&'static Definition> {
    all().find(|definition| definition.letter == Some(letter))
}

#[cfg(test)]
pub(super) mod testing {
    //! Shorthand for the tests beside the definitions.

    extern crate std;
    use core::ffi::CStr;
    use std::string::String;
    use std::vec::Vec;

    use super::super::{Args, Said, UsageError, getopt};
    use super::Flag;
    use crate::locale::Language;

    pub(in super::super) fn read<'a>(argv: &[&'a CStr]) -> Result<Args<'a>, UsageError<'a>> {
        getopt::read(argv.iter().copied(), false)
    }

    /// The options in `argv`, which must have no operand.
    pub(in super::super) fn said<'a>(argv: &[&'a CStr]) -> Vec<(Flag, Option<&'a [u8]>)> {
        let args = read(argv).unwrap();
        assert!(args.operands.is_empty());
        args.said.into_iter().map(|Said { flag, value }| (flag, value)).collect()
    }

    /// Each of `spellings` alone is `flag` without a value.
    pub(super) fn plain(flag: Flag, spellings: &[&CStr]) {
        for spelling in spellings {
            assert_eq!(said(&[spelling]), [(flag, None)]);
        }
    }

    /// Each of `spellings`, a whole command line, is `flag` with this value.
    pub(super) fn valued(flag: Flag, value: &str, spellings: &[&[&CStr]]) {
        for spelling in spellings {
            assert_eq!(said(spelling), [(flag, Some(value.as_bytes()))]);
        }
    }

    /// The first line of the message of `ls` about `argv` in the C locale.
    pub(in super::super) fn complaint(argv: &[&CStr]) -> String {
        let message =
            read(argv).unwrap_err().message(b"ls", &Language::english(dents_locale::Charset::Ascii));
        String::from_utf8_lossy(&message).lines().next().unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_option_is_defined_once() {
        let mut flags = HashSet::new();
        let mut letters = HashSet::new();
        let mut names = HashSet::new();
        for definition in all() {
            assert!(flags.insert(definition.flag), "{:?}", definition.flag);
            assert!(definition.letter.is_none_or(|letter| letters.insert(letter)), "{:?}", definition.flag);
            assert!(definition.long.is_none_or(|long| names.insert(long)), "{:?}", definition.flag);
            assert!(definition.letter.is_some() || definition.long.is_some());
            assert_eq!(definition.arity == Arity::None, definition.value_name.is_empty());
        }
        assert_eq!(flags.len(), Flag::Version as usize + 1, "a flag without definition");
    }
}
