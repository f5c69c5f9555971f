//! Paths as bytes.

use alloc::vec::Vec;

/// The separator between the path of a directory and the name of an entry: a slash, or nothing if the path is empty
/// (for operands) or ends with a slash.
#[inline]
#[must_use]
pub fn separator(directory: &[u8]) -> &'static [u8] {
    if directory.is_empty() || directory.ends_with(b"/") { b"" } else { b"/" }
}

/// Appends the path of an entry.
#[inline]
pub fn push(directory: &[u8], name: &[u8], path: &mut Vec<u8>) {
    path.extend_from_slice(directory);
    if !separator(directory).is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The path of an entry.
#[must_use]
pub fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    // With room for a NUL: most become a C string.
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len() + 1);
    push(directory, name, &mut path);
    path
}

/// The path of an entry below a directory, without the slashes at the end of the directory's path.
#[must_use]
pub fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(path.len(), |last| last + 1);
    join(&path[..end], name)
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
