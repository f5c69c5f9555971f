//! The table of [`super::Icons`]. The compiler makes it from `icons.tsv`, so the program neither reads nor sorts anything at
//! run time.
//!
//! A line of the file is a class, a key, a code point in hexadecimal and the name in Nerd Fonts. Keys are in lower
//! case. They are in one hash table with open addressing. Its hash uses five bytes and the length of a key, not the
//! whole key: most names are looked up twice and not found, which costs two or three loads.

/// The text of the file. The program itself does not contain it.
const SOURCE: &[u8] = include_bytes!("icons.tsv");

/// The text with which a key is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// The type of an entry.
    Type,
    /// The name of a directory.
    Directory,
    /// The name of a file.
    Name,
    /// The text after the last dot in the name of a file.
    Extension,
}

/// A line of the file.
#[derive(Clone, Copy)]
struct Row {
    class: Class,
    /// The position of the key in [`KEYS`].
    start: u16,
    len: u8,
    glyph: char,
}

impl Row {
    const NONE: Row = Row { class: Class::Type, start: 0, len: 0, glyph: ' ' };

    const fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        keys.split_at(self.start as usize).1.split_at(self.len as usize).0
    }
}

/// The number of lines, and of the bytes of all keys.
const SIZES: (usize, usize) = {
    let (mut lines, mut bytes, mut at) = (0, 0, 0);
    while at < SOURCE.len() {
        let (_, after) = field(at);
        let (key, after) = field(after);
        bytes += key.len();
        at = field(field(after).1).1;
        lines += 1;
    }
    (lines, bytes)
};

static ROWS: [Row; SIZES.0] = ROWS_AND_KEYS.0;
static KEYS: [u8; SIZES.1] = ROWS_AND_KEYS.1;

const ROWS_AND_KEYS: ([Row; SIZES.0], [u8; SIZES.1]) = {
    let (mut rows, mut keys) = ([Row::NONE; SIZES.0], [0; SIZES.1]);
    let (mut nth, mut end, mut at) = (0, 0, 0);
    while at < SOURCE.len() {
        let (class, after) = field(at);
        let (key, after) = field(after);
        let (glyph, after) = field(after);
        at = field(after).1;
        rows[nth] =
            Row { class: class_of(class), start: end as u16, len: key.len() as u8, glyph: code_point(glyph) };
        let mut byte = 0;
        while byte < key.len() {
            keys[end] = key[byte];
            (end, byte) = (end + 1, byte + 1);
        }
        nth += 1;
    }
    (rows, keys)
};

/// The field at a position, and the position of the next one.
const fn field(start: usize) -> (&'static [u8], usize) {
    let mut end = start;
    while !matches!(SOURCE[end], b'\t' | b'\n') {
        end += 1;
    }
    (SOURCE.split_at(start).1.split_at(end - start).0, end + 1)
}

const fn class_of(field: &[u8]) -> Class {
    match field {
        b"type" => Class::Type,
        b"directory" => Class::Directory,
        b"name" => Class::Name,
        b"extension" => Class::Extension,
        _ => panic!("icons.tsv: a class is type, directory, name or extension"),
    }
}

const fn code_point(hex: &[u8]) -> char {
    let (mut value, mut at) = (0, 0);
    while at < hex.len() {
        match (hex[at] as char).to_digit(16) {
            Some(digit) => value = value * 16 + digit,
            None => panic!("icons.tsv: a code point is a number in hexadecimal"),
        }
        at += 1;
    }
    match char::from_u32(value) {
        Some(glyph) => glyph,
        None => panic!("icons.tsv: no such code point"),
    }
}

/// The number of slots is 2 to this power, so that three quarters of them are empty.
const BITS: u32 = 12;
const EMPTY: u16 = u16::MAX;

/// The numbers of rows, by hash.
static SLOTS: [u16; 1 << BITS] = {
    let (rows, keys) = (&ROWS_AND_KEYS.0, &ROWS_AND_KEYS.1);
    let mut slots = [EMPTY; 1 << BITS];
    let mut nth = 0;
    while nth < rows.len() {
        let mut slot = hash(rows[nth].class, rows[nth].key(keys));
        while slots[slot] != EMPTY {
            slot = next(slot);
        }
        slots[slot] = nth as u16;
        nth += 1;
    }
    slots
};

/// The length of the longest key.
const LONGEST: usize = {
    let (rows, mut longest, mut nth) = (&ROWS_AND_KEYS.0, 0, 0);
    while nth < rows.len() {
        let len = rows[nth].len as usize;
        longest = if len > longest { len } else { longest };
        nth += 1;
    }
    longest
};

const fn next(slot: usize) -> usize {
    (slot + 1) % (1 << BITS)
}

/// The slot where the search for a key begins. The key must not be empty.
const fn hash(class: Class, key: &[u8]) -> usize {
    let len = key.len();
    let word = byte(key, 0)
        | byte(key, len / 4) << 8
        | byte(key, len / 2) << 16
        | byte(key, len - 1) << 24
        | byte(key, if len > 1 { len - 2 } else { 0 }) << 32
        | (len as u64) << 40
        | (class as u64) << 48;
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as usize
}

const fn byte(key: &[u8], at: usize) -> u64 {
    key[at].to_ascii_lowercase() as u64
}

/// The glyph of a key, without regard to case.
#[inline]
pub(super) fn find(class: Class, key: &[u8]) -> Option<char> {
    if key.is_empty() || key.len() > LONGEST {
        return None;
    }
    let mut slot = hash(class, key);
    loop {
        let row = ROWS.get(usize::from(SLOTS[slot]))?;
        if row.class == class && row.key(&KEYS).eq_ignore_ascii_case(key) {
            return Some(row.glyph);
        }
        slot = next(slot);
    }
}

/// The glyph of a type, found by the compiler.
pub(super) const fn of_type(key: &[u8; 2]) -> char {
    let (rows, keys) = (&ROWS_AND_KEYS.0, &ROWS_AND_KEYS.1);
    let mut nth = 0;
    while nth < rows.len() {
        let start = rows[nth].start as usize;
        if matches!(rows[nth].class, Class::Type) && keys[start] == key[0] && keys[start + 1] == key[1] {
            return rows[nth].glyph;
        }
        nth += 1;
    }
    panic!("icons.tsv: a type is missing")
}

/// Kinds of files that have a colour outside of GNU's formats. Of each icon of the kind an extension stands here: archives and packages,
/// pictures and films, sound, documents, and what a program left over.
const KINDS: [(&[&str], &str); 5] = [
    (&["zip", "iso", "whl", "deb", "rpm"], "01;31"),
    (&["png", "raw", "svg", "xcf", "psd", "mp4"], "01;35"),
    (&["mp3", "m3u"], "00;36"),
    (&["pdf", "epub", "odt", "doc", "xls", "ppt"], "00;32"),
    (&["bak"], "00;90"),
];

/// The extensions of files that have a colour by their kind, and the colour.
pub(super) fn colored() -> impl Iterator<Item = (&'static [u8], &'static str)> {
    let like = |row: &Row, extension: &str| find(Class::Extension, extension.as_bytes()) == Some(row.glyph);
    ROWS.iter().filter(|row| row.class == Class::Extension).filter_map(move |row| {
        let kind = KINDS.iter().find(|(kind, _)| kind.iter().any(|extension| like(row, extension)));
        kind.map(|(_, color)| (row.key(&KEYS), *color))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::width::width;
    use std::prelude::v1::*;

    fn lines() -> impl Iterator<Item = Vec<&'static str>> {
        str::from_utf8(SOURCE).unwrap().lines().map(|line| line.split('\t').collect())
    }

    #[test]
    fn every_line_is_found() {
        for line in lines() {
            let (class, key, code, name) = (line[0], line[1], line[2], line[3]);
            let glyph = char::from_u32(u32::from_str_radix(code, 16).unwrap());
            let class = class_of(class.as_bytes());
            assert_eq!(find(class, key.as_bytes()), glyph, "{key} {name}: defined twice?");
            assert_eq!(find(class, key.to_ascii_uppercase().as_bytes()), glyph, "{key}");
            assert_eq!(key, key.to_ascii_lowercase());
        }
        let count = |class: &str| lines().filter(|line| line[0] == class).count();
        assert!(count("extension") >= 300 && count("name") >= 100 && count("directory") >= 100);
        assert_eq!(count("type"), super::super::TYPES.len());
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for key in ["", "x", "rst~", "no-such-name", "Cargo.toml.orig.of.somebody.else.in.another.place"] {
            for class in [Class::Directory, Class::Name] {
                assert_eq!(find(class, key.as_bytes()), None, "{key}");
            }
        }
        assert_eq!(find(Class::Name, b"rs"), None);
        assert_eq!(find(Class::Extension, b"makefile"), None);
        assert_eq!(find(Class::Extension, b"\xff\xfe"), None);
    }

    /// In the private use areas, where Nerd Fonts has its own, and one column wide for glibc.
    #[test]
    fn all_are_glyphs_of_one_column() {
        for row in &ROWS {
            let glyph = row.glyph;
            assert!(matches!(glyph, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}'), "{glyph:?}");
            assert_eq!(
                width(glyph.encode_utf8(&mut [0; 4]).as_bytes(), dents_locale::Charset::Utf8),
                1,
                "{glyph:?}"
            );
        }
    }

    #[test]
    fn kinds_have_colors() {
        let color = |name: &str| {
            colored().find(|(extension, _)| *extension == name.as_bytes()).map(|(_, color)| color)
        };
        for (extension, expected) in [
            ("tar", "01;31"),
            ("jpeg", "01;35"),
            ("mkv", "01;35"),
            ("flac", "00;36"),
            ("docx", "00;32"),
            ("swp", "00;90"),
        ] {
            assert_eq!(color(extension), Some(expected), "{extension}");
        }
        for extension in ["rs", "c", "txt", "json"] {
            assert_eq!(color(extension), None, "{extension}");
        }
        for (kind, _) in KINDS {
            assert!(
                kind.iter().all(|extension| find(Class::Extension, extension.as_bytes()).is_some()),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn searches_are_short() {
        let run = SLOTS.split(|slot| *slot == EMPTY).map(<[u16]>::len).max();
        assert!(run < Some(24), "{run:?} slots in a row are taken");
    }
}
