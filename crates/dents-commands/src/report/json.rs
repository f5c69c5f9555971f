//! The data of the page: JSON inside a `<script>`, which it cannot end, because every `<` is escaped.
//!
//! A name in UTF-8 is a string. Any other name is an array with one string, in which `\xff` is a byte that is not UTF-8, and `\\` a backslash.

use crate::output::write_json;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// A name or a path.
#[derive(Clone, Copy)]
pub(super) struct Name<'n>(pub(super) &'n [u8]);

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => [escaped(self.0)].serialize(serializer),
        }
    }
}

/// Bytes that are not UTF-8, as text.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// About as many bytes as a name takes in the page.
pub(super) fn written_length(name: &[u8]) -> usize {
    let unusual = |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b'<' | b'"' | b'\\');
    let escapes = match str::from_utf8(name) {
        Ok(text) => text.bytes().filter(|byte| byte.is_ascii() && unusual(byte)).count(),
        Err(_) => name.iter().filter(|byte| unusual(byte)).count(),
    };
    name.len() + 5 * escapes + 3
}

/// Writes the data.
pub(super) fn write(data: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_json(data, &mut Inside(out))
}

/// Escapes `<`, which occurs only in strings.
struct Inside<'o>(&'o mut dyn Write);

impl Write for Inside<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().position(|byte| *byte == b'<') {
            None => self.0.write(bytes),
            Some(0) => self.0.write_all(b"\\u003c").map(|()| 1),
            Some(at) => self.0.write(&bytes[..at]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(name: &[u8]) -> String {
        let mut out = Vec::new();
        write(&Name(name), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_name_ends_the_script() {
        for name in ["</script><script>alert(1)</script>", "<!--<script>", "<", "a<b", "]]>"] {
            let json = json(name.as_bytes());
            assert!(!json.contains('<'), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        }
    }

    #[test]
    fn names_that_are_not_utf8_are_exact() {
        assert_eq!(json(b"caf\xe9\\x"), "[\"caf\\\\xe9\\\\\\\\x\"]\n");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json(b"caf\xe9\\x")).unwrap(), [r"caf\xe9\\x"]);
    }

    #[test]
    fn lengths_are_not_too_small() {
        for name in [&b"plain"[..], b"<<<<\"\"\x01\n", b"\xff\xfe\\", "\u{fc}ber".as_bytes()] {
            assert!(written_length(name) + 4 >= json(name).len(), "{name:?}");
        }
    }
}
