//! Names as a shell reads them back.
//!
//! Inside single quotes every character stands for itself, except the quote, which becomes `'\''`. In the styles that
//! escape, characters that cannot be printed become `$'\n'` between closed quotes. If a single quote is the only
//! special character of a name, double quotes are more readable, and are used.

use super::escape::{Rules, escape_letter, push_octal};
use alloc::vec::Vec;

/// Whether a byte has no special meaning for a shell anywhere in a word. Bytes above ASCII have none as long as
/// nothing is escaped.
pub(super) fn is_safe(byte: u8) -> bool {
    match byte {
        b'\t' | b'\n' | b'\r' => false,
        b'#' | b'~' | b'{' | b'}' => false, // only in some places, see `is_special`
        _ => !is_always_special(byte),
    }
}

fn is_always_special(byte: u8) -> bool {
    matches!(byte, b' ' | b'!' | b'"' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b';' | b'<' | b'=')
        || matches!(byte, b'>' | b'?' | b'[' | b'\\' | b'^' | b'`' | b'|')
}

/// Whether the byte at `at` must be quoted: braces when they are the whole word, `#` and `~` at its beginning.
fn is_special(name: &[u8], at: usize) -> bool {
    match name[at] {
        b'{' | b'}' => name.len() == 1,
        b'#' | b'~' => at == 0,
        b'\t' | b'\n' | b'\r' => true,
        byte => is_always_special(byte),
    }
}

/// Whether the byte at `at` means itself in double quotes, both in C and in a shell.
fn fits_double_quotes(name: &[u8], at: usize) -> bool {
    match name[at] {
        b' ' | b'\'' | b'%' | b'+' | b',' | b'-' | b'.' | b'/' | b':' | b'@' | b']' | b'_' => true,
        b'#' | b'~' => at == 0,
        byte => byte.is_ascii_alphanumeric(),
    }
}

/// Whether the name needs quotes.
pub(super) fn must_quote(rules: &Rules, name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        let char = rules.char(name, at);
        if is_special(name, at) || rules.is_extra(name[at]) {
            return true;
        }
        if !char.is_printable() && rules.style.escapes() {
            return true;
        }
        // Old shells take the second byte of a character for one of these.
        let rest = &name[at + 1..at + char.bytes()];
        if rest.iter().any(|byte| matches!(byte, b'[' | b'\\' | b'^' | b'`' | b'|')) {
            return true;
        }
        at += char.bytes();
    }
    name.is_empty()
}

/// Writes the name in quotes.
pub(super) fn write(rules: &Rules, name: &[u8], out: &mut Vec<u8>) {
    if wants_double_quotes(rules, name) {
        out.push(b'"');
        for byte in name {
            // In the styles that always quote, GNU writes backslashes before the extra characters, as in C. A shell
            // would keep these backslashes.
            if rules.is_extra(*byte) && !rules.style.is_variable() {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.push(b'"');
        return;
    }
    out.push(b'\'');
    let mut escaping = false;
    let mut at = 0;
    while at < name.len() {
        let char = rules.char(name, at);
        let bytes = &name[at..at + char.bytes()];
        if !char.is_printable() && rules.style.escapes() {
            if !escaping {
                out.extend_from_slice(b"'$'");
                escaping = true;
            }
            write_escaped(bytes, out);
        } else if bytes == b"'" {
            out.extend_from_slice(b"'\\''");
            escaping = false;
        } else {
            if escaping {
                out.extend_from_slice(b"''");
                escaping = false;
            }
            out.extend_from_slice(bytes);
        }
        at += char.bytes();
    }
    out.push(b'\'');
}

fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(b'\\');
        match escape_letter(*byte) {
            Some(letter) => out.push(letter),
            None => push_octal(out, *byte),
        }
    }
}

fn wants_double_quotes(rules: &Rules, name: &[u8]) -> bool {
    if !name.contains(&b'\'') {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        let char = rules.char(name, at);
        let fits = if name[at].is_ascii() { fits_double_quotes(name, at) } else { char.is_printable() };
        if !fits {
            return false;
        }
        at += char.bytes();
    }
    true
}
