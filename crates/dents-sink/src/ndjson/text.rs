//! Bytes as JSON strings.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Appends `,"name":"text"`; or, if it is not UTF-8, `,"name_bytes":"base64"`.
pub(super) fn push_field(name: &str, text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    if std::str::from_utf8(text).is_ok() {
        out.extend_from_slice(b"\":\"");
        push_escaped(text, out);
        out.push(b'"');
    } else {
        out.extend_from_slice(b"_bytes\":");
        push_base64(text, out);
    }
}

/// Appends base64 in quotes.
pub(super) fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
    out.push(b'"');
}

/// The bytes of a base64 text; `None` if it is none.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

pub(super) fn push_number(before: &[u8], number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends UTF-8 as the inside of a JSON string. Almost all names need no escapes, and seeing that is one pass that the
/// compiler makes of wide instructions.
pub(super) fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    if text.iter().all(|byte| is_plain(*byte)) {
        out.extend_from_slice(text);
    } else {
        push_escaped_slowly(text, out);
    }
}

fn is_plain(byte: u8) -> bool {
    (byte >= b' ') & (byte < 0x7f) & (byte != b'"') & (byte != b'\\')
}

fn push_escaped_slowly(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let control = match byte {
            b'"' | b'\\' => {
                out.extend([b'\\', byte]);
                continue;
            }
            b'\n' | b'\t' | b'\r' => {
                out.extend([
                    b'\\',
                    if byte == b'\n' {
                        b'n'
                    } else if byte == b'\t' {
                        b't'
                    } else {
                        b'r'
                    },
                ]);
                continue;
            }
            0..b' ' | 0x7f => byte,
            // U+0080 to U+009F: terminals take them for commands.
            0xc2 => match bytes.next_if(|next| *next < 0xa0) {
                Some(next) => next,
                None => {
                    out.push(byte);
                    continue;
                }
            },
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(b"\\u00");
        out.extend([HEX[usize::from(control >> 4)], HEX[usize::from(control & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = Vec::new();
        push_escaped(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escaped("a\"b\\c/"), "a\\\"b\\\\c/");
        assert_eq!(
            escaped("\n\t\r\u{1}\u{1b}\u{7f}\u{85}\u{9f}\u{a0}é"),
            "\\n\\t\\r\\u0001\\u001b\\u007f\\u0085\\u009f\u{a0}é"
        );
    }

    #[test]
    fn every_character_comes_back() {
        let all: String = (1..=0x11_0000).step_by(7).chain(1..0x900).filter_map(char::from_u32).collect();
        let back: String = serde_json::from_str(&format!("\"{}\"", escaped(&all))).expect("JSON");
        assert_eq!(back, all);
        assert!(!escaped(&all).chars().any(char::is_control));
    }

    #[test]
    fn bytes_that_are_no_text_are_base64() {
        let mut out = Vec::new();
        push_field("name", b"\xff\xfe", &mut out);
        push_field("target", b"", &mut out);
        assert_eq!(out, b",\"name_bytes\":\"//4=\",\"target\":\"\"");
        assert_eq!(from_base64("//4="), Some(vec![0xff, 0xfe]));
        assert_eq!(from_base64("//4"), None);
    }
}
