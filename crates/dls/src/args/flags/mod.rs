//! The table of all options: each defined once, with the tests of its parsing in the same file.
//!
//! A new option is a [`Flag`] and a [`Definition`] in the file of its group; getopt's rules, `--help` and whatever
//! else is generated (man page, completions) follow from that.

use super::bad_value::BadValue;
use super::words::{Words, lookup};

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
    (Group::Found, git_and_trees::FLAGS),
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

/// An option. Its letter and its long name are the same flag. The help of its definition documents it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the definition says what each one means")]
pub enum Flag {
    All,
    AlmostAll,
    IgnoreBackups,
    Directory,
    OnlyDirs,
    OnlyFiles,
    Hide,
    Ignore,
    Recursive,
    Dereference,
    DereferenceCommandLine,
    DereferenceCommandLineSymlinkToDir,
    OnePerLine,
    Columns,
    Across,
    Commas,
    Format,
    Dired,
    TabSize,
    Width,
    Zero,
    Long,
    Author,
    BlockSize,
    Context,
    FullTime,
    LongWithoutOwner,
    LongWithoutGroup,
    NoGroup,
    HumanReadable,
    Si,
    Inode,
    Kibibytes,
    NumericUidGid,
    Size,
    Time,
    TimeStyle,
    Ctime,
    Atime,
    Escape,
    Color,
    Classify,
    FileType,
    Hyperlink,
    IndicatorStyle,
    Slash,
    Literal,
    HideControlChars,
    ShowControlChars,
    QuoteName,
    QuotingStyle,
    AllUnsorted,
    GroupDirectoriesFirst,
    Reverse,
    SortBySize,
    Sort,
    SortByTime,
    Unsorted,
    SortByVersion,
    SortByExtension,
    Json,
    Ndjson,
    Csv,
    Top,
    Count,
    Summary,
    Git,
    Gitignore,
    Tree,
    TreeLimit,
    TotalSize,
    Header,
    ColumnList,
    Mounts,
    Xattr,
    SmartGroup,
    NoOwner,
    NoTime,
    NoMode,
    NoSize,
    NoLinks,
    Init,
    NoConfig,
    Icons,
    Mode,
    Threads,
    MaxInflight,
    Timeout,
    Timing,
    Explain,
    NoHints,
    Acl,
    Lazy,
    Help,
    Version,
}

/// A section of `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Which entries are listed.
    Entries,
    /// How symbolic links are treated.
    Links,
    /// The shape of the output.
    Format,
    /// What is shown of each entry.
    Long,
    /// How names are drawn.
    Names,
    /// In which order.
    Sort,
    /// Appearance. GNU `ls` has neither this group nor the next three.
    Look,
    /// Facts beside the metadata of entries.
    Found,
    /// Output for programs, and of large directories.
    Programs,
    /// How the kernel is asked.
    Speed,
    /// About the program.
    About,
}

impl Group {
    /// The heading in `--help`.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Entries => "Which entries:",
            Self::Links => "Symbolic links:",
            Self::Format => "Layout:",
            Self::Long => "Details:",
            Self::Names => "Names:",
            Self::Sort => "Order:",
            Self::Look => "Look (not in GNU ls):",
            Self::Found => "Git and trees (not in GNU ls):",
            Self::Programs => "For programs and large directories (not in GNU ls):",
            Self::Speed => "Speed (not in GNU ls):",
            Self::About => "About:",
        }
    }
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// None.
    None,
    /// Always: attached, after `=`, or the next word.
    Required,
    /// Of the long form only, and only after `=`.
    Optional,
}

/// The definition of an option.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The option.
    pub flag: Flag,
    /// Its letter.
    pub letter: Option<u8>,
    /// Its long name, without dashes.
    pub long: Option<&'static str>,
    /// Whether it has a value.
    pub arity: Arity,
    /// The value's name in `--help`; empty without one.
    pub value_name: &'static str,
    /// The words that the value may be, one slice per meaning; empty if the value is not a word.
    pub words: &'static [&'static [&'static str]],
    /// The check made on a value when the option is reached.
    pub(super) check: fn(&[u8]) -> Result<(), BadValue>,
    /// The text in `--help`: one phrase, because completions show it alone.
    pub help: &'static str,
    /// The text that follows it in the manual page; may be empty. `code` is in backticks; an empty line separates
    /// paragraphs.
    #[cfg(feature = "docs")]
    pub more: &'static str,
}

/// Each option has one definition.
impl PartialEq for Definition {
    fn eq(&self, other: &Definition) -> bool {
        self.flag == other.flag
    }
}

impl Definition {
    const fn new(flag: Flag, help: &'static str) -> Self {
        Self {
            flag,
            letter: None,
            long: None,
            arity: Arity::None,
            value_name: "",
            words: &[],
            check: |_| Ok(()),
            help,
            #[cfg(feature = "docs")]
            more: "",
        }
    }

    /// An option without a long name.
    const fn letter(letter: u8, flag: Flag, help: &'static str) -> Self {
        Self { letter: Some(letter), ..Self::new(flag, help) }
    }

    /// An option without a letter.
    const fn long(long: &'static str, flag: Flag, help: &'static str) -> Self {
        Self { long: Some(long), ..Self::new(flag, help) }
    }

    /// An option with both.
    const fn both(letter: u8, long: &'static str, flag: Flag, help: &'static str) -> Self {
        Self { letter: Some(letter), long: Some(long), ..Self::new(flag, help) }
    }

    /// It needs a value, which may be anything that `check` lets through.
    const fn value(self, name: &'static str, check: fn(&[u8]) -> Result<(), BadValue>) -> Self {
        Self { arity: Arity::Required, value_name: name, check, ..self }
    }

    /// It needs a value, which must be a word.
    const fn word<W: Words>(self, name: &'static str) -> Self {
        self.value(name, |value| Ok(lookup::<W>(value).map(drop)?)).suggests::<W>()
    }

    /// Its value may be one of these words.
    const fn suggests<W: Words>(self) -> Self {
        self.suggests_all(W::SPELLINGS)
    }

    /// The same, with these words.
    const fn suggests_all(self, words: &'static [&'static [&'static str]]) -> Self {
        Self { words, ..self }
    }

    /// Its long form may have a value, which must be a word.
    const fn optional_word<W: Words>(self, name: &'static str) -> Self {
        Self { arity: Arity::Optional, ..self.word::<W>(name) }
    }

    /// Its long form may have a value, which may be anything that `check` lets through.
    const fn optional(self, name: &'static str, check: fn(&[u8]) -> Result<(), BadValue>) -> Self {
        Self { arity: Arity::Optional, ..self.value(name, check) }
    }

    /// Adds the text of the manual page. The program never prints it, so only the feature `docs` keeps it.
    const fn more(self, text: &'static str) -> Self {
        #[cfg(feature = "docs")]
        return Self { more: text, ..self };
        #[cfg(not(feature = "docs"))]
        {
            let _ = text;
            self
        }
    }
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
