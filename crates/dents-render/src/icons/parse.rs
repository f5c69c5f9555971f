//! The syntax of `DLS_ICONS`: `*.rs=e7a8:README*=f02d:src/=f07c:di=📁`.
//!
//! As in `LS_COLORS`, colons separate pairs of key and value. A key is the two letters of a type, or a name with at
//! most one `*` in it; with a slash at its end, it is for directories. A value is a code point in hexadecimal, or the
//! characters themselves, at most two columns wide. An empty value means no glyph. A backslash removes the special
//! meaning of the next character.

use super::{Glyph, Icons, Pattern, Span, TYPES};
use crate::width::{Char, width};
use alloc::vec::Vec;
use dents_locale::Charset;

/// An invalid pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadIcon<'a> {
    /// As it was written.
    pub pair: &'a [u8],
    /// Why it is invalid.
    pub why: Why,
}

/// Why a pair is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has no `=`.
    NoValue,
    /// Its key is empty, or has two stars.
    Key,
    /// Its value is neither a code point nor a character that could be drawn in two columns.
    Value,
}

impl Why {
    /// A phrase that says what is valid.
    #[must_use]
    pub fn way_out(self) -> &'static str {
        match self {
            Why::NoValue => "expected KEY=GLYPH",
            Why::Key => "a key is a type (di, ln, ex, ...), or a name with at most one *",
            Why::Value => {
                "a glyph is a code point in hexadecimal (e7a8), or characters of at most two columns"
            }
        }
    }
}

impl Icons {
    /// Adds the pairs of a text in the syntax of `DLS_ICONS`. A later pair wins over an earlier one, so the
    /// configuration is added first, then the environment.
    ///
    /// # Errors
    /// The first invalid pair. All valid pairs are added.
    pub fn add<'a>(&mut self, text: &'a [u8]) -> Result<(), BadIcon<'a>> {
        let mut result = Ok(());
        let mut rest = text;
        while !rest.is_empty() {
            let (pair, after) = cut(rest, b':');
            rest = after.unwrap_or_default();
            if let Err(why) = self.pair(pair) {
                result = result.and(Err(BadIcon { pair, why }));
            }
        }
        result
    }

    fn pair(&mut self, pair: &[u8]) -> Result<(), Why> {
        if pair.is_empty() {
            return Ok(());
        }
        let (key, value) = cut(pair, b'=');
        let glyph = self.glyph(value.ok_or(Why::NoValue)?)?;
        if let Some(nth) = TYPES.iter().position(|name| *name == key) {
            self.types[nth] = Some(glyph);
        } else {
            let pattern = self.pattern(key, glyph)?;
            self.patterns.push(pattern);
        }
        self.width = self.width.max(glyph.width);
        Ok(())
    }

    fn pattern(&mut self, key: &[u8], glyph: Glyph) -> Result<Pattern, Why> {
        let (key, directory) = match key {
            [key @ .., b'/'] => (key, true),
            key => (key, false),
        };
        let (prefix, suffix) = cut(key, b'*');
        if key.is_empty() || suffix.is_some_and(|suffix| cut(suffix, b'*').1.is_some()) {
            return Err(Why::Key);
        }
        let prefix = self.keep(&unescaped(prefix));
        let suffix = suffix.map(|suffix| self.keep(&unescaped(suffix)));
        Ok(Pattern { directory, prefix, suffix, glyph })
    }

    fn glyph(&mut self, value: &[u8]) -> Result<Glyph, Why> {
        let text = match code_point(value) {
            Some(code) => {
                let char = char::from_u32(code).ok_or(Why::Value)?;
                char.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
            }
            None => unescaped(value),
        };
        let mut rest = &text[..];
        while !rest.is_empty() {
            let char = Char::first(rest, Charset::Utf8);
            if !char.is_printable() {
                return Err(Why::Value);
            }
            rest = &rest[char.bytes()..];
        }
        // A character with the selector of its coloured picture is as wide as a picture, which wcwidth does not know.
        let is_picture = text.ends_with("\u{fe0f}".as_bytes());
        let columns = width(&text, Charset::Utf8);
        match if is_picture && columns == 1 { 2 } else { columns } {
            columns @ 0..=2 if columns > 0 || text.is_empty() => {
                Ok(Glyph { text: self.keep(&text), width: columns as u8 })
            }
            _ => Err(Why::Value),
        }
    }

    fn keep(&mut self, text: &[u8]) -> Span {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text);
        Span { start, len: text.len() as u32 }
    }
}

/// Four to six digits, perhaps with `U+` before them. Fewer could be the characters themselves.
fn code_point(value: &[u8]) -> Option<u32> {
    let digits = value.strip_prefix(b"U+").or(value.strip_prefix(b"u+")).unwrap_or(value);
    if !(4..=6).contains(&digits.len()) {
        return None;
    }
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

/// Splits a text at the first of these bytes that has no backslash before it.
fn cut(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            found if found == byte => return (&text[..at], Some(&text[at + 1..])),
            _ => {}
        }
        at += 1;
    }
    (text, None)
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        // A backslash at the end is one.
        plain.push(if *byte == b'\\' { *bytes.next().unwrap_or(byte) } else { *byte });
    }
    plain
}
