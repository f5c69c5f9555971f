//! Bytes as JSON strings, as all of the project writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dents_render::record::text;

pub(super) use text::push_escaped;

/// Appends `,"name":"text"`; or, if it is not UTF-8, `,"name_bytes":"base64"`.
pub(super) fn push_field(name: &str, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    let key = out.len();
    out.extend_from_slice(b"\":");
    if !text::push_string(bytes, out) {
        out.truncate(key);
        out.extend_from_slice(b"_bytes\":");
        push_base64(bytes, out);
    }
}

/// Appends base64 in quotes.
pub(super) fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    text::push_base64(bytes, out);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = Vec::new();
        push_escaped(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
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
