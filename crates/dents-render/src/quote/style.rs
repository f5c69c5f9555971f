//! The quoting styles, by name.

use alloc::vec::Vec;

/// The quoting styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Unchanged: `-N`, and the default for a pipe.
    Literal,
    /// In single quotes where a shell needs them.
    Shell,
    /// In single quotes.
    ShellAlways,
    /// As `Shell`, with `$'\n'` for characters that cannot be printed: the default for a terminal.
    ShellEscape,
    /// As `ShellEscape`, in quotes always.
    ShellEscapeAlways,
    /// As a string of C: `-Q`.
    C,
    /// As `C`, in quotes only where something needs it.
    CMaybe,
    /// As `C` without the quotes: `-b`.
    Escape,
    /// As `C` with the quotes of the locale, single ones in the C locale.
    Locale,
    /// As `Locale`, with double quotes in the C locale.
    Clocale,
}

impl Quoting {
    /// Its word for `--quoting-style`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Quoting::Literal => "literal",
            Quoting::Shell => "shell",
            Quoting::ShellAlways => "shell-always",
            Quoting::ShellEscape => "shell-escape",
            Quoting::ShellEscapeAlways => "shell-escape-always",
            Quoting::C => "c",
            Quoting::CMaybe => "c-maybe",
            Quoting::Escape => "escape",
            Quoting::Locale => "locale",
            Quoting::Clocale => "clocale",
        }
    }

    /// Whether only names that need quotes get them.
    pub(super) fn is_variable(self) -> bool {
        matches!(self, Quoting::Shell | Quoting::ShellEscape | Quoting::CMaybe)
    }

    /// The style of a name that must be quoted in a variable style.
    pub(super) fn forced(self) -> Quoting {
        match self {
            Quoting::Shell => Quoting::ShellAlways,
            Quoting::ShellEscape => Quoting::ShellEscapeAlways,
            Quoting::CMaybe => Quoting::C,
            fixed => fixed,
        }
    }

    /// Whether the marks around names are those of the user's language.
    #[must_use]
    pub fn is_of_locale(self) -> bool {
        matches!(self, Quoting::Locale | Quoting::Clocale)
    }

    pub(super) fn is_shell(self) -> bool {
        use Quoting::{Shell, ShellAlways, ShellEscape, ShellEscapeAlways};
        matches!(self, Shell | ShellAlways | ShellEscape | ShellEscapeAlways)
    }

    /// Whether characters that cannot be printed are written as escape sequences.
    pub(super) fn escapes(self) -> bool {
        !matches!(self, Quoting::Literal | Quoting::Shell | Quoting::ShellAlways)
    }

    /// The marks before and after a quoted name, unless the language has marks of its own.
    pub(super) fn marks(self, utf8: bool) -> (&'static [u8], &'static [u8]) {
        match self {
            Quoting::Literal | Quoting::Escape => (b"", b""),
            Quoting::C | Quoting::CMaybe => (b"\"", b"\""),
            Quoting::Locale | Quoting::Clocale if utf8 => ("\u{2018}".as_bytes(), "\u{2019}".as_bytes()),
            Quoting::Clocale => (b"\"", b"\""),
            _ => (b"'", b"'"),
        }
    }
}

/// The marks that a language puts around quoted words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotes {
    /// Before the word.
    pub open: Vec<u8>,
    /// After it.
    pub close: Vec<u8>,
}
