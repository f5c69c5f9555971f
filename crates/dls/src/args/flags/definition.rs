//! What the definition of an option says.

use super::super::bad_value::BadValue;
use super::super::words::{Words, lookup};

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
    ColorScale,
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
    GitAndTrees,
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
            Self::GitAndTrees => "Git and trees (not in GNU ls):",
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
    pub(in super::super) check: fn(&[u8]) -> Result<(), BadValue>,
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
    pub(super) const fn new(flag: Flag, help: &'static str) -> Self {
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
    pub(super) const fn letter(letter: u8, flag: Flag, help: &'static str) -> Self {
        Self { letter: Some(letter), ..Self::new(flag, help) }
    }

    /// An option without a letter.
    pub(super) const fn long(long: &'static str, flag: Flag, help: &'static str) -> Self {
        Self { long: Some(long), ..Self::new(flag, help) }
    }

    /// An option with both.
    pub(super) const fn both(letter: u8, long: &'static str, flag: Flag, help: &'static str) -> Self {
        Self { letter: Some(letter), long: Some(long), ..Self::new(flag, help) }
    }

    /// It needs a value, which may be anything that `check` lets through.
    pub(super) const fn value(self, name: &'static str, check: fn(&[u8]) -> Result<(), BadValue>) -> Self {
        Self { arity: Arity::Required, value_name: name, check, ..self }
    }

    /// It needs a value, which must be a word.
    pub(super) const fn word<W: Words>(self, name: &'static str) -> Self {
        self.value(name, |value| Ok(lookup::<W>(value).map(drop)?)).suggests::<W>()
    }

    /// Its value may be one of these words.
    pub(super) const fn suggests<W: Words>(self) -> Self {
        self.suggests_all(W::SPELLINGS)
    }

    /// The same, with these words.
    pub(super) const fn suggests_all(self, words: &'static [&'static [&'static str]]) -> Self {
        Self { words, ..self }
    }

    /// Its long form may have a value, which must be a word.
    pub(super) const fn optional_word<W: Words>(self, name: &'static str) -> Self {
        Self { arity: Arity::Optional, ..self.word::<W>(name) }
    }

    /// Its long form may have a value, which may be anything that `check` lets through.
    pub(super) const fn optional(self, name: &'static str, check: fn(&[u8]) -> Result<(), BadValue>) -> Self {
        Self { arity: Arity::Optional, ..self.value(name, check) }
    }

    /// Adds the text of the manual page. The program never prints it, so only the feature `docs` keeps it.
    pub(super) const fn more(self, text: &'static str) -> Self {
        #[cfg(feature = "docs")]
        return Self { more: text, ..self };
        #[cfg(not(feature = "docs"))]
        {
            let _ = text;
            self
        }
    }
}
