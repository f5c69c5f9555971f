//! What `--json` writes: one object, whose fields are the same whatever was found.
//!
//! It begins with [`Head`]. Names are byte-exact: `"path"` holds the text of one that is valid UTF-8; for one that is not,
//! `"path_bytes"` stands in its place and holds the bytes in Base64. Sizes are bytes. [`SCHEMA`] counts up when a field
//! changes its meaning or goes; new fields may come.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::Ending;

/// The version of all objects.
const SCHEMA: u32 = 1;

/// How each object begins.
#[derive(Serialize)]
pub(crate) struct Head {
    /// `du`, `top`, `count` or `stats`.
    pub(crate) dents: &'static str,
    pub(crate) schema: u32,
    /// False if it was interrupted, or is from a scan file that is partial. What could not be read counts in `errors`.
    pub(crate) complete: bool,
    /// Entries and directories that could not be read.
    pub(crate) errors: u64,
}

impl Head {
    pub(crate) fn new(command: &'static str, ending: &Ending) -> Head {
        Head { dents: command, schema: SCHEMA, complete: ending.complete, errors: ending.errors }
    }
}

/// A path, byte-exact.
#[derive(Serialize)]
pub(crate) struct Named<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
}

impl<'a> Named<'a> {
    pub(crate) fn new(path: &'a [u8]) -> Named<'a> {
        match str::from_utf8(path) {
            Ok(text) => Named { path: Some(text), path_bytes: None },
            Err(_) => Named { path: None, path_bytes: Some(STANDARD.encode(path)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact() {
        let json = |path| serde_json::to_string(&Named::new(path)).unwrap();
        assert_eq!(json("a\n\u{fc}\"".as_bytes()), "{\"path\":\"a\\n\u{fc}\\\"\"}");
        assert_eq!(json(b"\xff\x00"), r#"{"path_bytes":"/wA="}"#);
    }
}
