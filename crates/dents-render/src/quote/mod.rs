//! The quoting styles of GNU, for unusual names.
//!
//! [`Quoter::write`] writes a name. Most names need no quotes: one pass over a table of 256 booleans shows that, and
//! the name is copied. Other names go to `shell` (quotes that a shell understands) or to `c` (backslash escapes).
//! With `-q`, characters that are still not printable become `?` at the end.
//!
//! [`quoteaf`], [`quotef`] and [`quote`] write names into messages; they have the names of GNU's functions.

mod c;
mod shell;

use crate::invisible;
use crate::width::Char;
use alloc::vec::Vec;
use dents_locale::{Charset, Locale};

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

    /// Whether characters that cannot be printed are written as escape sequences.
    fn escapes(self) -> bool {
        !matches!(self, Quoting::Literal | Quoting::Shell | Quoting::ShellAlways)
    }

    /// The marks before and after a quoted name, unless the language has marks of its own.
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

/// A quoting style, prepared: which bytes it changes.
#[derive(Clone, Debug)]
pub struct Quoter {
    style: Quoting,
    charset: Charset,
    qmark: bool,
    /// Whether invisible characters ([`crate::invisible`]) are treated as control characters.
    invisible: bool,
    /// ASCII characters to be quoted beside those that the style quotes.
    extra: u128,
    /// For the styles of the locale: the marks of the user's language, if it has some.
    quotes: Option<Quotes>,
    /// For each byte, whether a name that contains it may be copied.
    plain: [bool; 256],
}

impl Quoter {
    /// `extra` are ASCII characters to be quoted beside those that the style quotes; `qmark` is `-q`.
    #[must_use]
    pub fn new(style: Quoting, locale: &Locale, qmark: bool, extra: &[u8]) -> Quoter {
        let qmark = qmark && !style.escapes();
        let bits = extra.iter().filter(|byte| byte.is_ascii()).fold(0, |bits, byte| bits | 1 << byte);
        let quotes = None;
        let (charset, invisible, plain) = (locale.charset, false, [false; 256]);
        let mut quoter = Quoter { style, charset, qmark, invisible, extra: bits, quotes, plain };
        // Without `-q`, literal names are always copied: the table is not used.
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

    /// The same outside GNU's format: invisible characters ([`crate::invisible`]) are escaped as control characters are.
    #[must_use]
    pub fn and_invisible(self) -> Quoter {
        Quoter { invisible: self.charset.is_utf8(), ..self }
    }

    /// The character at this position.
    fn char(&self, text: &[u8], at: usize) -> Char {
        match Char::first(&text[at..], self.charset) {
            Char::Printable { len, .. }
                if self.invisible && len > 1 && invisible::must_escape(text, at, len) =>
            {
                Char::Unprintable { len }
            }
            char => char,
        }
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

    /// The marks before and after a quoted name.
    fn marks(&self) -> (&[u8], &[u8]) {
        match &self.quotes {
            Some(quotes) => (&quotes.open, &quotes.close),
            None => self.style.forced().marks(self.charset.is_utf8()),
        }
    }

    fn is_extra(&self, byte: u8) -> bool {
        byte.is_ascii() && self.extra >> byte & 1 == 1
    }

    /// Appends the name. Returns whether the style changes it (without regard to `-q`).
    #[inline]
    pub fn write(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        if (self.style == Quoting::Literal && !self.qmark) || self.copies(name) {
            out.extend_from_slice(name);
            return false;
        }
        self.write_slowly(name, out)
    }

    /// Whether the table shows that the name may be copied.
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

    /// In a variable style: whether the name needs quotes.
    fn must_quote(&self, name: &[u8]) -> bool {
        match self.style {
            Quoting::CMaybe => c::must_quote(self, name),
            _ => shell::must_quote(self, name),
        }
    }

    /// Replaces characters in `out[start..]` that cannot be printed: one `?` for each character, invalid byte or
    /// truncated end.
    fn put_question_marks(&self, out: &mut Vec<u8>, start: usize) {
        let (mut from, mut to) = (start, start);
        while from < out.len() {
            let char = self.char(&out[..], from);
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

/// A name before a colon: in quotes if a shell needs them or if the name contains a colon.
#[must_use]
pub fn quotef(name: &[u8], locale: &Locale) -> Vec<u8> {
    written(&Quoter::new(Quoting::ShellEscape, locale, false, b":"), name)
}

/// A word of the user within a sentence, between the marks of the locale.
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
