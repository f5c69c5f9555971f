//! The user's language: the messages of GNU `ls` and of the C library, from their own catalogs.
//!
//! Messages that GNU does not have are in English. The first message that a catalog may contain opens it, so a listing
//! without errors opens none, except for the word `total`. Charsets are not converted: where messages are not in UTF-8
//! only ASCII translations are used.

use super::mapped::Mapped;
use crate::errno;
use alloc::vec::{self, Vec};
use core::cell::{OnceCell, RefCell};
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
    /// Whether messages are in UTF-8.
    is_utf8: bool,
    /// The locale of messages and the value of `LANGUAGE`; `None` where messages are English.
    wanted: Option<(Vec<u8>, Option<Vec<u8>>)>,
    coreutils: OnceCell<Catalogs>,
    gnulib: OnceCell<Catalogs>,
    libc: OnceCell<Catalogs>,
}

/// The catalogs of one domain, best first. A message that one of them does not have may be in the next: in `pt` for `pt_BR`, or in
/// the next language of `LANGUAGE`. A catalog is opened when those before it do not have a message.
#[derive(Default)]
pub(super) struct Catalogs(RefCell<(vec::IntoIter<Vec<u8>>, Vec<Catalog<'static>>)>);

impl Catalogs {
    /// Those of these files that exist.
    pub(super) fn new(paths: Vec<Vec<u8>>) -> Catalogs {
        Catalogs(RefCell::new((paths.into_iter(), Vec::new())))
    }

    pub(super) fn get(&self, id: &[u8]) -> Option<Vec<u8>> {
        let mut nth = 0;
        loop {
            if let Some(text) = self.nth(nth)?.get(id) {
                return Some(text);
            }
            nth += 1;
        }
    }

    pub(super) fn are_missing(&self) -> bool {
        self.nth(0).is_none()
    }

    fn nth(&self, nth: usize) -> Option<Catalog<'static>> {
        let (paths, opened) = &mut *self.0.borrow_mut();
        if nth == opened.len() {
            opened.push(paths.find_map(|path| Catalog::new(Mapped.open(&path)?))?);
        }
        opened.get(nth).copied()
    }
}

impl Language {
    /// English, in a locale of this charset.
    #[must_use]
    pub fn english(charset: Charset) -> Language {
        Language { charset, is_utf8: charset.is_utf8(), ..Language::default() }
    }

    /// The same with messages in the charset that `OUTPUT_CHARSET` names, if it does.
    #[must_use]
    pub fn in_charset(self, name: Option<&[u8]>) -> Language {
        Language { is_utf8: is_utf8(name, self.charset), ..self }
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
        self.catalogs(domain).get(id.as_bytes()).filter(|text| self.is_utf8 || text.is_ascii())
    }

    #[cold]
    fn catalogs(&self, domain: Domain) -> &Catalogs {
        let (cell, name) = match domain {
            Domain::Coreutils => (&self.coreutils, "coreutils"),
            Domain::Gnulib => (&self.gnulib, "gnulib"),
            Domain::Libc => (&self.libc, "libc"),
        };
        let found = cell.get_or_init(|| {
            let paths = |(locale, languages): &(Vec<u8>, Option<Vec<u8>>)| {
                catalog::paths(locale, languages.as_deref(), "LC_MESSAGES", name)
            };
            Catalogs::new(self.wanted.as_ref().map(paths).unwrap_or_default())
        });
        match domain {
            Domain::Gnulib if found.are_missing() => self.catalogs(Domain::Coreutils),
            _ => found,
        }
    }
}

/// Whether translations are shown in UTF-8, in a locale of this charset: gettext converts to the charset that `OUTPUT_CHARSET` names, or
/// to that of the locale.
pub(super) fn is_utf8(output_charset: Option<&[u8]>, charset: Charset) -> bool {
    let named = output_charset.filter(|name| !name.is_empty());
    let is_utf8 = |name: &[u8]| name.eq_ignore_ascii_case(b"UTF-8") || name.eq_ignore_ascii_case(b"UTF8");
    named.map_or(charset.is_utf8(), is_utf8)
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

    /// A catalog with one message.
    fn catalog(id: &str, text: &str) -> Vec<u8> {
        let (ids, texts) = (36, 36 + id.len() + 1);
        let head = [0x9504_12de, 0, 1, 20, 28, id.len(), ids, text.len(), texts];
        let mut bytes: Vec<u8> = head.into_iter().flat_map(|word| (word as u32).to_ne_bytes()).collect();
        [id, "\0", text, "\0"].iter().for_each(|part| bytes.extend(part.bytes()));
        bytes
    }

    /// As gettext: a message that `pt_BR` lacks is that of `pt`.
    #[test]
    fn a_message_is_in_the_best_catalog_that_has_it() {
        let dir = std::env::temp_dir().join(std::format!("dls-catalogs-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let files = [("missing", None), ("br", Some(("a", "A"))), ("pt", Some(("b", "B")))];
        let paths = files.map(|(name, message)| {
            let path = dir.join(name);
            message.iter().for_each(|(id, text)| std::fs::write(&path, catalog(id, text)).unwrap());
            path.into_os_string().into_encoded_bytes()
        });
        let catalogs = Catalogs::new(paths.to_vec());
        let of = |id: &[u8]| catalogs.get(id);
        assert_eq!([of(b"b"), of(b"a"), of(b"c")], [Some(b"B".to_vec()), Some(b"A".to_vec()), None]);
        assert!(!catalogs.are_missing() && Catalogs::new(paths[..1].to_vec()).are_missing());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_charset_of_messages_is_named() {
        let latin = Charset::Bytes(0);
        for (name, charset, wanted) in [
            (None, Charset::Utf8, true),
            (None, latin, false),
            (Some(&b""[..]), latin, false),
            (Some(b"utf8"), latin, true),
            (Some(b"ISO-8859-1"), Charset::Utf8, false),
        ] {
            assert_eq!(Language::english(charset).in_charset(name).is_utf8, wanted, "{name:?}");
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
