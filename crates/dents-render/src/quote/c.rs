//! Names with the escape sequences of C, with and without quotes around them.

use super::escape::{Rules, escape_letter, push_octal};
use super::style::Quoting;
use alloc::vec::Vec;

/// In the style that quotes only names that need it: whether the name needs quotes. A backslash alone is no reason.
pub(super) fn must_quote(rules: &Rules, name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        let char = rules.char(name, at);
        if !char.is_printable() || name[at] == b'"' || rules.is_extra(name[at]) {
            return true;
        }
        at += char.bytes();
    }
    false
}

/// Writes the name with escape sequences, between the marks of its style.
pub(super) fn write(rules: &Rules, name: &[u8], out: &mut Vec<u8>) {
    let (open, close) = rules.marks();
    // If a name of this style is quoted anyway, the extra characters need no escape.
    let extra = rules.style != Quoting::CMaybe;
    out.extend_from_slice(open);
    let mut at = 0;
    while at < name.len() {
        let rest = &name[at..];
        let char = rules.char(name, at);
        let ends_quotes = !close.is_empty() && rest.starts_with(close);
        if let Some(letter) = escape_letter(rest[0]) {
            out.extend_from_slice(&[b'\\', letter]);
        } else if !char.is_printable() {
            for byte in &rest[..char.bytes()] {
                out.push(b'\\');
                push_octal(out, *byte);
            }
        } else {
            if rest[0] == b'\\' || ends_quotes || (extra && rules.is_extra(rest[0])) {
                out.push(b'\\');
            }
            out.extend_from_slice(&rest[..char.bytes()]);
        }
        at += char.bytes();
    }
    out.extend_from_slice(close);
}
