//! Absolute paths without symbolic links, for files that need not exist.

use alloc::ffi::CString;
use alloc::vec::Vec;
use dents_sys::{CWD, link};

/// Links that are followed before the search for loops begins.
const TRUSTED_LINKS: usize = 20;

/// Most links to follow. A link that leads below itself (`a -> a/b`) leads to a new path each time and never ends. The
/// kernel stops after 40. (GNU ls 9.1 continues until memory is exhausted.)
const MOST_LINKS: usize = 1000;

/// The canonical path of `path`, relative to the directory `base`, which is absolute and without symbolic links.
///
/// Components that do not exist or cannot be read are kept as they are, and so is a link that leads back to itself.
/// Costs one `readlinkat` for each component of `path` and of the links on the way.
#[must_use]
pub fn canonicalize(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut done = if path.starts_with(b"/") { Vec::new() } else { base.to_vec() };
    let mut rest = path.to_vec();
    let mut links = 0;
    // For each link, the path to it and the remaining components. The same pair again is a loop.
    let mut seen: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    while let Some(component) = next_component(&rest) {
        let (name, after) = (&rest[component.clone()], rest[component.end..].to_vec());
        match name {
            b"." => {}
            b".." => {
                let parent = memchr::memrchr(b'/', &done).unwrap_or(0);
                done.truncate(parent);
            }
            name => {
                let parent = done.len();
                if !done.ends_with(b"/") {
                    done.push(b'/');
                }
                done.extend_from_slice(name);
                if let Some(mut text) = read_link(&done) {
                    links += 1;
                    let here = (rest[component.start..].to_vec(), done[..parent].to_vec());
                    let circular = links > MOST_LINKS || links > TRUSTED_LINKS && seen.contains(&here);
                    if !circular {
                        if links > TRUSTED_LINKS {
                            seen.push(here);
                        }
                        done.truncate(if text.starts_with(b"/") { 0 } else { parent });
                        // Only the names of the remaining components count, so that the pair can be compared.
                        let after = next_component(&after).map_or(&[][..], |next| &after[next.start..]);
                        text.push(b'/');
                        text.extend_from_slice(after);
                        rest = text;
                        continue;
                    }
                }
            }
        }
        rest = after;
    }
    if done.is_empty() {
        done.push(b'/');
    }
    done
}

/// The range of the first component of a path.
fn next_component(path: &[u8]) -> Option<core::ops::Range<usize>> {
    let start = path.iter().position(|byte| *byte != b'/')?;
    let len = memchr::memchr(b'/', &path[start..]).unwrap_or(path.len() - start);
    Some(start..start + len)
}

fn read_link(path: &[u8]) -> Option<Vec<u8>> {
    let path = CString::new(path).ok()?;
    let mut text = [0; 4096];
    let text = link::readlinkat(CWD, &path, &mut text).ok()?;
    Some(text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::prelude::v1::*;

    #[test]
    fn links_dots_and_missing_files() {
        let dir = std::env::temp_dir().join(format!("dents-canonical-{}", std::process::id()));
        fs::create_dir_all(dir.join("d/e")).unwrap();
        for (text, name) in [
            ("d/e", "link"),
            ("loop", "loop"),
            ("grows/x", "grows"),
            ("b", "a"),
            ("a", "b"),
            ("../x/../missing", "d/up"),
            ("/usr/../etc", "abs"),
        ] {
            let _ = symlink(text, dir.join(name));
        }
        let base = fs::canonicalize(&dir).unwrap();
        let base = base.as_os_str().as_bytes();
        let below = |path: &str| {
            let found = canonicalize(base, path.as_bytes());
            String::from_utf8_lossy(found.strip_prefix(base).unwrap_or(&found)).into_owned()
        };
        assert_eq!(below("."), "");
        assert_eq!(below("link/../x//y/"), "/d/x/y");
        assert_eq!(below("loop"), "/loop");
        assert!(below("grows").starts_with("/grows/x/x/x"));
        assert_eq!((below("a"), below("b")), ("/a".into(), "/b".into()));
        assert_eq!(below("d/up"), "/missing");
        assert_eq!(below("abs/passwd"), "/etc/passwd");
        assert_eq!(canonicalize(b"/", b"../.."), b"/");
        assert_eq!(canonicalize(b"/usr", b"bin/.."), b"/usr");
        fs::remove_dir_all(&dir).unwrap();
    }
}
