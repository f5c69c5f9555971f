//! The quoting styles of GNU, for unusual names.
//!
//! [`Quoter::write`] writes a name. Most names need no quotes: one pass over a table of 256 booleans shows that, and
//! the name is copied. Other names go to `shell` (quotes that a shell understands) or to `c` (backslash escapes).
//! With `-q`, characters that are still not printable become `?` at the end.
//!
//! [`quoteaf`], [`quotef`] and [`quote`] write names into messages; they have the names of GNU's functions.

mod c;
mod escape;
mod shell;
mod style;

pub use style::{Quotes, Quoting};

use alloc::vec::Vec;
use dents_locale::Locale;
use escape::Rules;

/// A quoting style, prepared: which bytes it changes.
#[derive(Clone, Debug)]
pub struct Quoter {
    rules: Rules,
    qmark: bool,
    /// For each byte, whether a name that contains it may be copied.
    plain: [bool; 256],
}

impl Quoter {
    /// `extra` are ASCII characters to be quoted beside those that the style quotes; `qmark` is `-q`.
    #[must_use]
    pub fn new(style: Quoting, locale: &Locale, qmark: bool, extra: &[u8]) -> Quoter {
        let qmark = qmark && !style.escapes();
        let bits = extra.iter().filter(|byte| byte.is_ascii()).fold(0, |bits, byte| bits | 1 << byte);
        let rules = Rules { style, charset: locale.charset, invisible: false, extra: bits, quotes: None };
        let mut quoter = Quoter { rules, qmark, plain: [false; 256] };
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
        if self.rules.style.is_of_locale() {
            self.rules.quotes = quotes.cloned();
            for byte in 1..=255u8 {
                self.plain[usize::from(byte)] = self.is_plain(byte);
            }
        }
        self
    }

    /// The same outside GNU's format: invisible characters ([`crate::invisible`]) are escaped as control characters are.
    #[must_use]
    pub fn and_invisible(mut self) -> Quoter {
        self.rules.invisible = self.rules.charset.is_utf8();
        self
    }

    fn is_plain(&self, byte: u8) -> bool {
        let printable = (0x20..0x7f).contains(&byte);
        if (self.rules.style.escapes() || self.qmark) && !printable {
            return false;
        }
        if self.rules.is_extra(byte) && (self.rules.style.escapes() || self.rules.style.is_variable()) {
            return false;
        }
        match self.rules.style {
            Quoting::Literal => true,
            _ if self.rules.style.is_shell() => shell::is_safe(byte),
            _ => byte != b'\\' && !self.rules.marks().1.contains(&byte),
        }
    }

    /// Appends the name. Returns whether the style changes it (without regard to `-q`).
    #[inline]
    pub fn write(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        if (self.rules.style == Quoting::Literal && !self.qmark) || self.copies(name) {
            out.extend_from_slice(name);
            return false;
        }
        self.write_slowly(name, out)
    }

    /// Whether the table shows that the name may be copied.
    #[inline]
    fn copies(&self, name: &[u8]) -> bool {
        let bare =
            self.rules.style.is_variable() || matches!(self.rules.style, Quoting::Literal | Quoting::Escape);
        bare && !name.is_empty()
            && name.iter().fold(true, |plain, byte| plain & self.plain[usize::from(*byte)])
    }

    #[cold]
    fn write_slowly(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if self.rules.style == Quoting::Literal || (self.rules.style.is_variable() && !self.must_quote(name))
        {
            out.extend_from_slice(name);
        } else if self.rules.style.is_shell() {
            shell::write(&self.rules, name, out);
        } else {
            c::write(&self.rules, name, out);
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
        if self.rules.style == Quoting::Literal || self.copies(name) {
            return false;
        }
        if self.rules.style.is_variable() {
            return self.must_quote(name);
        }
        let mut out = Vec::new();
        self.write(name, &mut out)
    }

    /// In a variable style: whether the name needs quotes.
    fn must_quote(&self, name: &[u8]) -> bool {
        match self.rules.style {
            Quoting::CMaybe => c::must_quote(&self.rules, name),
            _ => shell::must_quote(&self.rules, name),
        }
    }

    /// Replaces characters in `out[start..]` that cannot be printed: one `?` for each character, invalid byte or
    /// truncated end.
    fn put_question_marks(&self, out: &mut Vec<u8>, start: usize) {
        let (mut from, mut to) = (start, start);
        while from < out.len() {
            let char = self.rules.char(&out[..], from);
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
