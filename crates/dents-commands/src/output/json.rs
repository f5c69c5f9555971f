//! The output of `--json`: one object, which always has the same fields.
//!
//! It begins with [`Head`]. Names are byte-exact: a name in UTF-8 is in `"path"`, any other name is in `"path_bytes"`, in Base64. Sizes
//! are bytes. [`SCHEMA`] is incremented when a field changes its meaning or is removed; fields may be added.

use super::Completion;
use dents_render::record::text::{exact, push_escaped};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// The version of the schema of all objects.
const SCHEMA: u32 = 1;

/// The first fields of each object.
#[derive(Serialize)]
pub(crate) struct Head {
    /// `du`, `top`, `count` or `stats`.
    pub(crate) dents: &'static str,
    pub(crate) schema: u32,
    /// False if the work was interrupted, or if a scan file is partial. Entries that could not be read count in `errors`.
    pub(crate) complete: bool,
    /// Entries and directories that could not be read.
    pub(crate) errors: u64,
}

impl Head {
    pub(crate) fn new(command: &'static str, completion: &Completion<'_>) -> Head {
        Head { dents: command, schema: SCHEMA, complete: completion.complete, errors: completion.errors }
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
        let (path, path_bytes) = exact(path);
        Named { path, path_bytes }
    }
}

/// Writes an object and a newline.
pub(crate) fn write_json(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    object.serialize(&mut Serializer::with_formatter(&mut *out, Escaping))?;
    out.write_all(b"\n")
}

/// Escapes strings as all other output does. JSON allows DEL, C1 controls and marks of direction, but terminals obey them, so these are
/// escaped too.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut escaped = Vec::with_capacity(text.len());
        push_escaped(text.as_bytes(), &mut escaped);
        out.write_all(&escaped)
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
