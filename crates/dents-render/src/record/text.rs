//! Bytes as JSON strings and as cells of CSV.
//!
//! Text is exact: UTF-8 is a string; bytes that are not UTF-8 are base64 under another name, `name_bytes` for `name`.
//! Characters that a terminal takes for a command are never written raw, nor are those that are not visible or change
//! the direction of writing, with which a name can look like another one ([`invisible`](crate::invisible)). JSON escapes them. CSV has no escapes, so a text with such
//! characters is written as base64 too.

use crate::invisible::must_escape;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Appends base64 (RFC 4648, with padding).
pub fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // There is room: four characters for each three bytes begun.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

/// The text if it is UTF-8, else its bytes in base64.
#[must_use]
pub fn exact(bytes: &[u8]) -> (Option<&str>, Option<String>) {
    match core::str::from_utf8(bytes) {
        Ok(text) => (Some(text), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}

/// The bytes of a base64 text; `None` if the text is not base64.
#[must_use]
pub fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Appends a member of a JSON object: `"name":"text"` or `"name":null`; where the text is not UTF-8, `"name_bytes":"base64"`.
pub fn push_member(name: &str, text: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    let start = out.len();
    out.extend_from_slice(b"\":");
    match text {
        None => out.extend_from_slice(b"null"),
        Some(text) if push_string(text, out) => {}
        Some(text) => {
            out.truncate(start);
            out.extend_from_slice(b"_bytes\":\"");
            push_base64(text, out);
            out.push(b'"');
        }
    }
}

/// Appends text as a JSON string, with quotes, if it is UTF-8; else nothing. Returns whether it did.
///
/// Almost all names need no escapes. The check for that is one pass, which the compiler vectorizes.
#[inline]
pub fn push_string(text: &[u8], out: &mut Vec<u8>) -> bool {
    if !text.iter().all(|byte| is_plain(*byte)) {
        return push_unusual(text, out);
    }
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
    true
}

#[cold]
fn push_unusual(text: &[u8], out: &mut Vec<u8>) -> bool {
    if core::str::from_utf8(text).is_err() {
        return false;
    }
    out.push(b'"');
    push_escaped(text, out);
    out.push(b'"');
    true
}

fn is_plain(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte) & (byte != b'"') & (byte != b'\\')
}

/// Appends UTF-8 as the inside of a JSON string. It escapes control characters (also DEL and U+0080–U+009F) and
/// [those that are not visible or change the direction](crate::invisible), so the result is safe on a terminal.
pub fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    if text.iter().all(|byte| is_plain(*byte)) {
        return out.extend_from_slice(text);
    }
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        match (*byte, after) {
            (b'"' | b'\\', _) => out.extend([b'\\', *byte]),
            (b'\n', _) => out.extend_from_slice(b"\\n"),
            (b'\t', _) => out.extend_from_slice(b"\\t"),
            (b'\r', _) => out.extend_from_slice(b"\\r"),
            (0..b' ' | 0x7f, _) => push_code((*byte).into(), out),
            // U+0080 to U+009F: terminals take them for commands.
            (0xc2, [next @ ..0xa0, after @ ..]) => {
                push_code((*next).into(), out);
                rest = after;
            }
            (0xc2..=0xf4, _) => {
                let (at, len) = (text.len() - after.len() - 1, byte.leading_ones() as usize);
                let Some(char) = text.get(at..at + len).filter(|_| must_escape(text, at, len)) else {
                    out.push(*byte);
                    continue;
                };
                // One or two UTF-16 units.
                let units = char.utf8_chunks().flat_map(|chunk| chunk.valid().encode_utf16());
                units.for_each(|unit| push_code(unit, out));
                rest = &text[at + len..];
            }
            _ => out.push(*byte),
        }
    }
}

fn push_code(code: u16, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(code >> shift & 15)]));
}

/// Appends text as a cell of CSV, if it is UTF-8 without control characters and [invisible ones](crate::invisible); else
/// nothing. Returns whether it did. It is quoted if RFC 4180 demands that: if it contains a comma or a quote.
pub(crate) fn push_cell(text: &[u8], out: &mut Vec<u8>) -> bool {
    let plain = |byte: &u8| is_plain(*byte) & (*byte != b',');
    if text.iter().all(plain) {
        out.extend_from_slice(text);
        return true;
    }
    let Ok(utf8) = core::str::from_utf8(text) else { return false };
    let is_hidden = |(at, char): (usize, char)| char.is_control() || must_escape(text, at, char.len_utf8());
    if utf8.char_indices().any(is_hidden) {
        return false;
    }
    push_quoted(text, out);
    true
}

fn push_quoted(text: &[u8], out: &mut Vec<u8>) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"')) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for byte in text {
        out.extend(core::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invisible::is_invisible;
    use std::string::ToString;

    fn escaped(text: &str) -> String {
        let mut out = Vec::new();
        push_escaped(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
    }

    fn cell(text: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        push_cell(text, &mut out).then(|| String::from_utf8(out).expect("UTF-8 stays UTF-8"))
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escaped("a\"b\\c/"), "a\\\"b\\\\c/");
        assert_eq!(
            escaped("\n\t\r\u{1}\u{1b}\u{7f}\u{85}\u{9f}\u{a0}é"),
            "\\n\\t\\r\\u0001\\u001b\\u007f\\u0085\\u009f\u{a0}é"
        );
        let all: String = (1..=0x11_0000).step_by(7).chain(1..0x900).filter_map(char::from_u32).collect();
        assert!(!escaped(&all).chars().any(char::is_control));
        let hidden: String = ('\0'..=char::MAX).filter(|one| is_invisible(*one)).collect();
        let written = escaped(&hidden);
        assert!(
            written.is_ascii() && written.contains("\\u061c\\u115f") && written.ends_with("\\udb40\\udc7f"),
            "{written}"
        );
        assert_eq!(escaped("a\u{200d}\u{200b}\u{202e}"), "a\\u200d\\u200b\\u202e");
        let shown = "\u{645}\u{200c}\u{645}\u{2010}\u{202f}\u{2065}\u{61b}\u{61d}\u{10348}";
        assert_eq!(escaped(shown), shown, "also the joiner between Arabic letters");
    }

    #[test]
    fn strings_are_utf8_or_nothing() {
        let mut out = Vec::new();
        assert!(push_string("é\"".as_bytes(), &mut out) && push_string(b"", &mut out));
        assert!(!push_string(b"\xff", &mut out) && !push_string(b"a\xc2", &mut out));
        assert_eq!(out, "\"é\\\"\"\"\"".as_bytes());
    }

    #[test]
    fn members_are_text_or_base64() {
        let mut out = Vec::new();
        for text in [Some(&b"a"[..]), Some(b"\xff\xfe"), Some(b""), None] {
            push_member("name", text, &mut out);
        }
        assert_eq!(out, br#""name":"a""name_bytes":"//4=""name":"""name":null"#);
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(cell(b"a b").as_deref(), Some("a b"));
        assert_eq!(cell(b"a,b").as_deref(), Some("\"a,b\""));
        assert_eq!(cell(b"a\"b").as_deref(), Some("\"a\"\"b\""));
        assert_eq!(cell("é\\".as_bytes()), Some("é\\".to_string()));
        for hostile in
            [&b"a\nb"[..], b"\x1b[31m", b"\xff", "\u{85}".as_bytes(), b"\x7f", "a\u{202e}b".as_bytes()]
        {
            assert_eq!(cell(hostile), None);
        }
    }

    #[test]
    fn base64_has_its_padding() {
        for (bytes, expected) in
            [(&b""[..], &b""[..]), (b"\xff\xfe", b"//4="), (b"abc", b"YWJj"), (b"a", b"YQ==")]
        {
            let mut out = b"x".to_vec();
            push_base64(bytes, &mut out);
            assert_eq!(out[1..], *expected);
            assert_eq!(from_base64(expected).as_deref(), Some(bytes));
        }
        assert_eq!(from_base64(b"//4"), None);
    }
}
