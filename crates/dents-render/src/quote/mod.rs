//! How unusual names are written: the quoting styles of GNU.
//!
//! A name is drawn by [`Quoter::write`]. Most names need nothing: one pass over a table of 256 answers finds
//! that out, and the name is copied as it is. The others go to `shell` (what a shell reads back as the
//! name) or to `c` (backslash escapes). With `-q`, what is still not printable becomes `?` at the end.
//!
//! [`quoteaf`], [`quotef`] and [`quote`] write names into messages, called as GNU calls them.

mod c;
mod shell;

use crate::width::Char;
use alloc::vec::Vec;
use dents_locale::Locale;

/// The quoting styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// As it is: `-N`, and what a pipe gets.
    Literal,
    /// In single quotes where a shell needs them.
    Shell,
    /// In single quotes.
    ShellAlways,
    /// As `Shell`, with `$'\n'` for what cannot be printed: what a terminal gets.
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
    /// What `--quoting-style` calls it.
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

    /// Whether quotes stand around names only where they must.
    fn is_variable(self) -> bool {
        matches!(self, Quoting::Shell | Quoting::ShellEscape | Quoting::CMaybe)
    }

    /// The style of a name that must be quoted in a variable style.
    fn forced(self) -> Quoting {
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

    fn is_shell(self) -> bool {
        use Quoting::{Shell, ShellAlways, ShellEscape, ShellEscapeAlways};
        matches!(self, Shell | ShellAlways | ShellEscape | ShellEscapeAlways)
    }

    /// Whether what cannot be printed is written as an escape sequence.
    fn escapes(self) -> bool {
        !matches!(self, Quoting::Literal | Quoting::Shell | Quoting::ShellAlways)
    }

    /// What stands before and after a quoted name, unless the language has marks of its own.
    fn marks(self, utf8: bool) -> (&'static [u8], &'static [u8]) {
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

/// A quoting style made ready: what it does to each byte.
#[derive(Clone, Debug)]
pub struct Quoter {
    style: Quoting,
    utf8: bool,
    qmark: bool,
    /// ASCII characters to be quoted beyond what the style asks for.
    extra: u128,
    /// In the locale's styles: the marks of the user's language, if it has some.
    quotes: Option<Quotes>,
    /// Whether a byte can stand in a name that is copied as it is.
    plain: [bool; 256],
}

impl Quoter {
    /// `extra` are ASCII characters to be quoted though the style would let them be; `qmark` is `-q`.
    #[must_use]
    pub fn new(style: Quoting, locale: &Locale, qmark: bool, extra: &[u8]) -> Quoter {
        let qmark = qmark && !style.escapes();
        let bits = extra.iter().filter(|byte| byte.is_ascii()).fold(0, |bits, byte| bits | 1 << byte);
        let quotes = None;
        let mut quoter = Quoter { style, utf8: locale.utf8, qmark, extra: bits, quotes, plain: [false; 256] };
        // Written as they are, whatever is in them: the table is not used.
        if style != Quoting::Literal || qmark {
            for byte in 1..=255u8 {
                quoter.plain[usize::from(byte)] = quoter.is_plain(byte);
            }
        }
        quoter
    }

    /// The same with the marks of the user's language, if it has some and the style is one that follows the locale.
    #[must_use]
    pub fn with_quotes(mut self, quotes: Option<&Quotes>) -> Quoter {
        if self.style.is_of_locale() {
            self.quotes = quotes.cloned();
            for byte in 1..=255u8 {
                self.plain[usize::from(byte)] = self.is_plain(byte);
            }
        }
        self
    }

    fn is_plain(&self, byte: u8) -> bool {
        let printable = (0x20..0x7f).contains(&byte);
        if (self.style.escapes() || self.qmark) && !printable {
            return false;
        }
        if self.is_extra(byte) && (self.style.escapes() || self.style.is_variable()) {
            return false;
        }
        match self.style {
            Quoting::Literal => true,
            _ if self.style.is_shell() => shell::is_safe(byte),
            _ => byte != b'\\' && !self.marks().1.contains(&byte),
        }
    }

    /// What stands before and after a quoted name.
    fn marks(&self) -> (&[u8], &[u8]) {
        match &self.quotes {
            Some(quotes) => (&quotes.open, &quotes.close),
            None => self.style.forced().marks(self.utf8),
        }
    }

    fn is_extra(&self, byte: u8) -> bool {
        byte.is_ascii() && self.extra >> byte & 1 == 1
    }

    /// Appends the name. Returns whether the result differs from it (before `-q` had its way).
    #[inline]
    pub fn write(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        if (self.style == Quoting::Literal && !self.qmark) || self.copies(name) {
            out.extend_from_slice(name);
            return false;
        }
        self.write_slowly(name, out)
    }

    /// Whether the name is written as it is, for all that the table can say.
    #[inline]
    fn copies(&self, name: &[u8]) -> bool {
        let bare = self.style.is_variable() || matches!(self.style, Quoting::Literal | Quoting::Escape);
        bare && !name.is_empty()
            && name.iter().fold(true, |plain, byte| plain & self.plain[usize::from(*byte)])
    }

    #[cold]
    fn write_slowly(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if self.style == Quoting::Literal || (self.style.is_variable() && !self.must_quote(name)) {
            out.extend_from_slice(name);
        } else if self.style.is_shell() {
            shell::write(self, name, out);
        } else {
            c::write(self, name, out);
        }
        let differs = out.len() - start != name.len() || out.get(start) != name.first();
        if self.qmark {
            self.put_question_marks(out, start);
        }
        differs
    }

    /// Whether [`Quoter::write`] would change the name.
    #[must_use]
    #[inline]
    pub fn quotes(&self, name: &[u8]) -> bool {
        if self.style == Quoting::Literal || self.copies(name) {
            return false;
        }
        if self.style.is_variable() {
            return self.must_quote(name);
        }
        let mut out = Vec::new();
        self.write(name, &mut out)
    }

    /// In a variable style: whether the name must stand in quotes.
    fn must_quote(&self, name: &[u8]) -> bool {
        match self.style {
            Quoting::CMaybe => c::must_quote(self, name),
            _ => shell::must_quote(self, name),
        }
    }

    /// Replaces what cannot be printed in `out[start..]`: one mark a character, invalid byte or cut-off end.
    fn put_question_marks(&self, out: &mut Vec<u8>, start: usize) {
        let (mut from, mut to) = (start, start);
        while from < out.len() {
            let char = Char::first(&out[from..], self.utf8);
            if char.is_printable() {
                out.copy_within(from..from + char.bytes(), to);
                to += char.bytes();
            } else {
                out[to] = b'?';
                to += 1;
            }
            from += char.bytes();
        }
        out.truncate(to);
    }
}

/// The letter of an escape sequence like `\n`.
fn escape_letter(byte: u8) -> Option<u8> {
    const LETTERS: &[u8; 7] = b"abtnvfr";
    byte.checked_sub(7).and_then(|nth| LETTERS.get(usize::from(nth))).copied()
}

fn push_octal(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
}

/// A name within a sentence: always in quotes, ready to be pasted into a shell.
#[must_use]
pub fn quoteaf(name: &[u8], locale: &Locale) -> Vec<u8> {
    written(&Quoter::new(Quoting::ShellEscapeAlways, locale, false, b""), name)
}

/// A name before a colon: in quotes where a shell would need them or where there is a colon in it.
#[must_use]
pub fn quotef(name: &[u8], locale: &Locale) -> Vec<u8> {
    written(&Quoter::new(Quoting::ShellEscape, locale, false, b":"), name)
}

/// A word of the user's within a sentence, between the marks of the locale.
#[must_use]
pub fn quote(word: &[u8], locale: &Locale) -> Vec<u8> {
    quote_between(word, locale, None)
}

/// The same between the marks of the user's language, if it has some.
#[must_use]
pub fn quote_between(word: &[u8], locale: &Locale, quotes: Option<&Quotes>) -> Vec<u8> {
    written(&Quoter::new(Quoting::Locale, locale, false, b"").with_quotes(quotes), word)
}

fn written(quoter: &Quoter, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 8);
    quoter.write(name, &mut out);
    out
}

#[cfg(test)]
mod tests;
