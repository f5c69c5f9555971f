//! Paths as bytes.

use alloc::vec::Vec;

/// The path of an entry below a directory.
#[must_use]
pub fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(path.len(), |last| last + 1);
    let slash: &[u8] = if path[..end].ends_with(b"/") { b"" } else { b"/" };
    // With room for a NUL: most paths become a C string.
    let mut below = Vec::with_capacity(end + slash.len() + name.len() + 1);
    [&path[..end], slash, name].iter().for_each(|part| below.extend_from_slice(part));
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::prelude::v1::*;

    #[test]
    fn paths_below() {
        for (path, joined) in
            [("a", "a/n"), ("a//", "a/n"), ("/", "/n"), ("//", "//n"), (".", "./n"), ("/a/b", "/a/b/n")]
        {
            assert_eq!(String::from_utf8_lossy(&below(path.as_bytes(), b"n")), joined);
        }
    }
}
