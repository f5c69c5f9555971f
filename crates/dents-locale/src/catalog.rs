//! GNU message catalogs (`.mo`): the messages of a program in the user's language. Format: the gettext manual, "The
//! Format of GNU MO Files".
//!
//! The order of day and month comes from a catalog: `ls` looks up its two time formats, `%b %e  %Y` and
//! `%b %e %H:%M`, in `coreutils.mo`, under the category `LC_TIME`.

use alloc::vec::Vec;

use core::sync::atomic::AtomicU8;

use crate::file::{Byte, copy, until_nul, word};
use crate::name::{Name, is_c};

/// A catalog's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Catalog<'d> {
    bytes: &'d [AtomicU8],
    /// The file is in the other byte order than this machine's.
    swapped: bool,
    count: usize,
    ids: usize,
    strings: usize,
}

const MAGIC: u32 = 0x9504_12de;

impl<'d> Catalog<'d> {
    /// Takes the content of a `.mo` file; `None` if it is none.
    #[must_use]
    pub fn new(bytes: &'d [AtomicU8]) -> Option<Catalog<'d>> {
        let magic = word(bytes, 0)?;
        if magic != MAGIC && magic != MAGIC.swap_bytes() {
            return None;
        }
        let mut catalog = Catalog { bytes, swapped: magic != MAGIC, count: 0, ids: 0, strings: 0 };
        // Major revisions 0 and 1 have their tables in the same places.
        if catalog.word(4)? >> 16 > 1 {
            return None;
        }
        catalog.count = catalog.word(8)?;
        catalog.ids = catalog.word(12)?;
        catalog.strings = catalog.word(16)?;
        Some(catalog)
    }

    /// The translation of a message, of a message's singular if it has a plural. A context goes before the message,
    /// with a byte 4 between them. Found by halving: the messages are sorted.
    #[must_use]
    pub fn get(&self, message: &[u8]) -> Option<Vec<u8>> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = until_nul(self.string(self.ids, middle)?).iter().map(Byte::get);
            match found.cmp(message.iter().copied()) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Greater => high = middle,
                core::cmp::Ordering::Equal => {
                    let text = copy(until_nul(self.string(self.strings, middle)?));
                    return Some(text).filter(|text| !text.is_empty());
                }
            }
        }
        None
    }

    /// The charset of the translations, as the catalog's head names it. gettext converts from it into the user's; a
    /// caller that does not convert can use a translation only if the charsets agree, or if it is ASCII.
    #[must_use]
    pub fn charset(&self) -> Option<Vec<u8>> {
        const KEY: &[u8] = b"charset=";
        let head = self.get(b"")?;
        let at = head.windows(KEY.len()).position(|part| part == KEY)? + KEY.len();
        head[at..].split(|byte| byte.is_ascii_whitespace()).next().map(<[u8]>::to_vec)
    }

    fn word(&self, at: usize) -> Option<usize> {
        let word = word(self.bytes, at)?;
        Some(if self.swapped { word.swap_bytes() } else { word } as usize)
    }

    fn string(&self, table: usize, index: usize) -> Option<&'d [AtomicU8]> {
        let at = table.checked_add(index.checked_mul(8)?)?;
        let (length, start) = (self.word(at)?, self.word(at + 4)?);
        self.bytes.get(start..start.checked_add(length)?)
    }
}

/// The files that gettext tries for a category of a locale, best first; up to six for each language.
///
/// `locale` is the name of the category's locale; C has no files. `language` is the value of `LANGUAGE`, a list of
/// names separated by colons. It counts for every category and replaces the locale's own name; a `C` in it ends the
/// search.
#[must_use]
pub fn paths(locale: &[u8], language: Option<&[u8]>, category: &str, domain: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    if is_c(locale) {
        return paths;
    }
    let names = language.filter(|list| !list.is_empty()).unwrap_or(locale);
    for name in names.split(|byte| *byte == b':').filter(|name| !name.is_empty()) {
        if is_c(name) {
            break;
        }
        // A slash would leave the directory of translations.
        if name.contains(&b'/') {
            continue;
        }
        for candidate in Name::new(name).candidates() {
            let mut path = b"/usr/share/locale/".to_vec();
            for part in [&candidate[..], b"/", category.as_bytes(), b"/", domain.as_bytes(), b".mo"] {
                path.extend_from_slice(part);
            }
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::mapped;

    /// A catalog of these pairs, sorted by message.
    fn compiled(pairs: &[(&str, &str)], bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let count = pairs.len() as u32;
        let mut text = Vec::new();
        let mut tables = [Vec::new(), Vec::new()];
        let head = 28 + 16 * count;
        for (table, pick) in [(0, 0), (1, 1)] {
            for pair in pairs {
                let string = if pick == 0 { pair.0 } else { pair.1 };
                tables[table].extend(bytes(string.len() as u32));
                tables[table].extend(bytes(head + text.len() as u32));
                text.extend(string.bytes());
                text.push(0);
            }
        }
        let mut all: Vec<u8> =
            [MAGIC, 0, count, 28, 28 + 8 * count, 0, head].into_iter().flat_map(bytes).collect();
        all.extend(tables.concat());
        all.extend(text);
        all
    }

    const PAIRS: [(&str, &str); 4] = [
        ("", "Content-Type: text/plain; charset=UTF-8\nX: y\n"),
        ("%b %e  %Y", "%e %b  %Y"),
        ("file\0files", "Datei\0Dateien"),
        ("untranslated", ""),
    ];

    #[test]
    fn messages_are_found_in_either_byte_order() {
        for order in [u32::to_le_bytes as fn(u32) -> [u8; 4], u32::to_be_bytes] {
            let bytes = compiled(&PAIRS, order);
            let catalog = Catalog::new(mapped(&bytes)).unwrap();
            assert_eq!(catalog.get(b"%b %e  %Y"), Some(b"%e %b  %Y".to_vec()));
            assert_eq!(catalog.get(b"file"), Some(b"Datei".to_vec()));
            assert_eq!(catalog.get(b"untranslated"), None);
            assert_eq!(catalog.get(b"zzz"), None);
            assert_eq!(catalog.get(b"!"), None);
            assert_eq!(catalog.charset(), Some(b"UTF-8".to_vec()));
        }
    }

    #[test]
    fn broken_catalogs_answer_nothing() {
        let bytes = compiled(&PAIRS, u32::to_ne_bytes);
        for length in 0..bytes.len() {
            if let Some(catalog) = Catalog::new(mapped(&bytes[..length])) {
                let _ = catalog.get(b"file");
            }
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff;
            if let Some(catalog) = Catalog::new(mapped(&bytes)) {
                let _ = (catalog.get(b"file"), catalog.charset());
            }
        }
    }

    #[test]
    fn paths_follow_language_then_locale() {
        let listed = |locale: &str, language: Option<&str>| {
            let paths = paths(locale.as_bytes(), language.map(str::as_bytes), "LC_TIME", "coreutils");
            paths.into_iter().map(|path| std::string::String::from_utf8(path).unwrap()).collect::<Vec<_>>()
        };
        assert!(listed("C", Some("de")).is_empty());
        let french = listed("fr_FR.UTF-8", None);
        assert_eq!(french.len(), 6);
        assert_eq!(french[5], "/usr/share/locale/fr/LC_TIME/coreutils.mo");
        assert_eq!(listed("fr_FR.UTF-8", Some("")), french);
        let listed = listed("fr_FR.UTF-8", Some("de:../x:sv:C:fi"));
        assert_eq!(
            listed,
            ["/usr/share/locale/de/LC_TIME/coreutils.mo", "/usr/share/locale/sv/LC_TIME/coreutils.mo"]
        );
    }
}
