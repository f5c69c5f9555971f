//! The user's language: the messages of GNU `ls` and of the C library, from their own catalogs.
//!
//! Messages that GNU does not have are in English. The first message that a catalog may contain opens it, so a listing
//! without errors opens none, except for the word `total`. Charsets are not converted: in a locale that is not UTF-8
//! only ASCII translations are used.

use super::mapped::Mapped;
use crate::errno;
use alloc::vec::Vec;
use core::cell::OnceCell;
use dents_locale::{Catalog, Charset, Files, Locale, catalog};
use dents_render::quote::{self, Quotes};
use dents_sys::Errno;

/// The catalogs.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// The messages of `ls` itself.
    Coreutils,
    /// Messages about arguments and numbers, and quotation marks. They have a catalog of their own since coreutils
    /// 9.6, and were in that of coreutils before, which is used if the other is missing.
    Gnulib,
    /// getopt's messages and the names of errors.
    Libc,
}

/// The language of messages.
#[derive(Default)]
pub struct Language {
    charset: Charset,
    /// The locale of messages and the value of `LANGUAGE`; `None` where messages are English.
    wanted: Option<(Vec<u8>, Option<Vec<u8>>)>,
    coreutils: OnceCell<Option<Catalog<'static>>>,
    gnulib: OnceCell<Option<Catalog<'static>>>,
    libc: OnceCell<Option<Catalog<'static>>>,
}

impl Language {
    /// English, in a locale of this charset.
    #[must_use]
    pub fn english(charset: Charset) -> Language {
        Language { charset, ..Language::default() }
    }

    /// The language of the locale `messages` (`LC_MESSAGES`), unless `languages` (`LANGUAGE`) has others. Opens no
    /// file.
    #[must_use]
    pub fn new(charset: Charset, messages: &[u8], languages: Option<&[u8]>) -> Language {
        let languages = languages.filter(|languages| !languages.is_empty());
        // `LANGUAGE` has no effect in C, nor in C.UTF-8 with glibc 2.41 (it has with 2.36; both were tried).
        let is_c = matches!(messages, b"C" | b"POSIX") || messages.starts_with(b"C.");
        let wanted = (!is_c).then(|| (messages.to_vec(), languages.map(<[u8]>::to_vec)));
        Language { wanted, ..Language::english(charset) }
    }

    /// A message of coreutils.
    #[must_use]
    pub fn get(&self, id: &str) -> Vec<u8> {
        self.translate(Domain::Coreutils, id).unwrap_or_else(|| id.into())
    }

    /// A message with its arguments: `%s` and `%c` take the next of them, `%2$s` the second.
    #[must_use]
    pub fn format(&self, domain: Domain, id: &str, arguments: &[&[u8]]) -> Vec<u8> {
        let translated = self.translate(domain, id).and_then(|format| filled(&format, arguments));
        translated.or_else(|| filled(id.as_bytes(), arguments)).unwrap_or_else(|| id.into())
    }

    /// The text of an error, as strerror(3) has it.
    #[must_use]
    pub fn errno(&self, errno: Errno) -> Vec<u8> {
        let message = errno::message(errno);
        self.translate(Domain::Libc, message).unwrap_or_else(|| message.into())
    }

    /// The quotation marks, if the language has its own.
    #[must_use]
    pub fn quotes(&self) -> Option<Quotes> {
        let mark = |id| self.translate(Domain::Gnulib, id);
        Some(Quotes { open: mark("`")?, close: mark("'")? })
    }

    /// A word of the user's in a message: in the quotation marks of the language, with C's escapes for unprintable
    /// characters.
    #[must_use]
    pub fn quote(&self, word: &[u8]) -> Vec<u8> {
        let locale = Locale { charset: self.charset, ..Locale::C };
        quote::quote_between(word, &locale, self.quotes().as_ref())
    }

    fn translate(&self, domain: Domain, id: &str) -> Option<Vec<u8>> {
        self.wanted.as_ref()?;
        self.catalog(domain)?.get(id.as_bytes()).filter(|text| self.charset.is_utf8() || text.is_ascii())
    }

    #[cold]
    fn catalog(&self, domain: Domain) -> Option<Catalog<'static>> {
        let (cell, name) = match domain {
            Domain::Coreutils => (&self.coreutils, "coreutils"),
            Domain::Gnulib => (&self.gnulib, "gnulib"),
            Domain::Libc => (&self.libc, "libc"),
        };
        let found = *cell.get_or_init(|| {
            let (locale, languages) = self.wanted.as_ref()?;
            let paths = catalog::paths(locale, languages.as_deref(), "LC_MESSAGES", name);
            paths.iter().find_map(|path| Catalog::new(Mapped.open(path)?))
        });
        match domain {
            Domain::Gnulib if found.is_none() => self.catalog(Domain::Coreutils),
            _ => found,
        }
    }
}

/// The format with its arguments. `None` if it has a directive that no message of GNU `ls` has, or one without an
/// argument: a catalog is a file that anyone may have written.
fn filled(format: &[u8], arguments: &[&[u8]]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(format.len() + 32);
    let (mut rest, mut next) = (format, 0);
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let [b'%', after @ ..] = rest {
            out.push(b'%');
            rest = after;
            continue;
        }
        let place = match rest {
            [digit @ b'1'..=b'9', b'$', after @ ..] => {
                rest = after;
                usize::from(digit - b'1')
            }
            _ => {
                next += 1;
                next - 1
            }
        };
        let [b's' | b'c', after @ ..] = rest else { return None };
        out.extend_from_slice(arguments.get(place)?);
        rest = after;
    }
    out.extend_from_slice(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_where_the_format_puts_them() {
        let two: [&[u8]; 2] = [b"a", b"b"];
        let fill = |format: &str| {
            filled(format.as_bytes(), &two).map(|text| alloc::string::String::from_utf8(text).unwrap())
        };
        assert_eq!(fill("no %s, %c, 100 %%").as_deref(), Some("no a, b, 100 %"));
        assert_eq!(fill("%2$s %1$s").as_deref(), Some("b a"));
        for bad in ["%d", "%3$s", "%s%s%s", "%", "%1$", "%0$s", "%n"] {
            assert_eq!(fill(bad), None, "{bad}");
        }
    }

    #[test]
    fn english_is_what_is_left() {
        let language = Language::new(Charset::Utf8, b"xx_XX.UTF-8", None);
        assert_eq!(language.format(Domain::Coreutils, "cannot access %s", &[b"'x'"]), b"cannot access 'x'");
        assert_eq!(language.errno(Errno::NOENT), b"No such file or directory");
        assert_eq!(language.quote(b"x"), "\u{2018}x\u{2019}".as_bytes());
        assert_eq!(Language::english(Charset::Ascii).quote(b"x"), b"'x'");
        assert!(Language::new(Charset::Utf8, b"C.UTF-8", Some(b"")).wanted.is_none());
        assert!(Language::new(Charset::Utf8, b"C.UTF-8", Some(b"de")).wanted.is_none());
        assert!(Language::new(Charset::Utf8, b"de_DE.UTF-8", Some(b"fr")).wanted.is_some());
    }
}
