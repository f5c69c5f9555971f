//! PATHs beside `--from`: parts of the scan.

use crate::walk::Walk;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::AtomicBool;

/// A PATH.
pub(super) struct Root {
    /// The PATH as the user gave it.
    pub(super) name: Vec<u8>,
    /// Without slashes at its end.
    pub(super) path: Vec<u8>,
    pub(super) was_met: AtomicBool,
}

impl Root {
    /// The PATHs that were given; none for the operands of the scan.
    pub(super) fn all(walk: &Walk) -> Vec<Root> {
        let of = |name: &[u8]| {
            let end = name.iter().rposition(|byte| *byte != b'/').map_or(1, |last| last + 1);
            Root {
                name: name.into(),
                path: name[..end.min(name.len())].into(),
                was_met: AtomicBool::new(false),
            }
        };
        walk.given().iter().map(|name| of(name.as_bytes())).collect()
    }

    /// The part of a path below this PATH: empty if both are the same, `None` if it is not below.
    pub(super) fn below<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        match path.strip_prefix(&self.path[..])? {
            [] => Some(b""),
            rest if self.path.ends_with(b"/") => Some(rest),
            [b'/', rest @ ..] => Some(rest),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below() {
        let root = |path: &str| Root { name: Vec::new(), path: path.into(), was_met: AtomicBool::new(false) };
        for (path, of, expected) in [
            ("/usr/lib", "/usr", Some("lib")),
            ("/usr", "/usr", Some("")),
            ("/usr2", "/usr", None),
            ("/", "/", Some("")),
            ("/usr", "/", Some("usr")),
            ("a/b/c", "a", Some("b/c")),
            ("b", "a", None),
        ] {
            assert_eq!(root(of).below(path.as_bytes()), expected.map(str::as_bytes), "{path} {of}");
        }
    }
}
