//! The roots of two scans, in pairs, and paths below them.
//!
//! If each scan has one root, paths are relative to it, and the roots may have different names: a scan of `/data` can be compared with
//! one of `/snapshots/data`. If a scan has several roots, roots of the same name are a pair, and a path begins with that name. Slashes at
//! the end of the name are ignored.

use dents_core::path;

/// Splits the path of a directory whose entries have this depth, which is not 0, into the root and the path below it.
pub(super) fn split(parent: &[u8], depth: u32) -> (&[u8], &[u8]) {
    let mut end = parent.len();
    for _ in 1..depth {
        let Some(slash) = parent[..end].iter().rposition(|byte| *byte == b'/') else {
            end = 0;
            break;
        };
        end = slash;
    }
    let below = parent[end..].strip_prefix(b"/").unwrap_or(&parent[end..]);
    let root = if end == 0 && parent.starts_with(b"/") { b"/" } else { trimmed(&parent[..end]) };
    (root, below)
}

/// A root without the slashes at its end.
pub(super) fn trimmed(root: &[u8]) -> &[u8] {
    let end = root.iter().rposition(|byte| *byte != b'/').map_or(root.len().min(1), |last| last + 1);
    &root[..end]
}

/// The roots of both scans.
pub(super) struct Roots {
    /// For each root of the old and of the new scan the number of its pair.
    pairs: [Vec<u32>; 2],
    /// The names of the pairs, if paths begin with them.
    names: Vec<Vec<u8>>,
}

impl Roots {
    pub(super) fn pair(old: &[Vec<u8>], new: &[Vec<u8>]) -> Roots {
        if old.len() <= 1 && new.len() <= 1 {
            return Roots { pairs: [vec![0; old.len()], vec![0; new.len()]], names: Vec::new() };
        }
        let mut names: Vec<Vec<u8>> = old.iter().chain(new).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let number = |root: &Vec<u8>| names.binary_search(root).unwrap_or_default() as u32;
        let pairs = [old, new].map(|roots| roots.iter().map(number).collect());
        Roots { pairs, names }
    }

    /// The pair of a root of the old scan (0) or of the new one (1).
    pub(super) fn of(&self, scan: usize, root: u32) -> u32 {
        self.pairs[scan].get(root as usize).copied().unwrap_or_default()
    }

    /// Writes the path for output into `path`, replacing its contents. Returns the length of the root in it.
    pub(super) fn path(&self, root: u32, below: &[u8], path: &mut Vec<u8>) -> usize {
        path.clear();
        let name = self.names.get(root as usize).map_or(&b""[..], Vec::as_slice);
        if below.is_empty() {
            path.extend_from_slice(name);
        } else {
            path::push(name, below, path);
        }
        name.len()
    }
}

/// A path, and the length of the root in it.
#[derive(Clone, Copy)]
pub(super) struct RootedPath<'a> {
    pub(super) path: &'a [u8],
    pub(super) root: usize,
}

impl<'a> RootedPath<'a> {
    /// The directories above, each with its depth; with `own`, the path itself too. The root first.
    pub(super) fn directories(self, own: bool) -> impl Iterator<Item = (u32, &'a [u8])> {
        let RootedPath { path, root } = self;
        let begin = root + usize::from(path.get(root) == Some(&b'/') && root > 0);
        let slashes = (begin..path.len()).filter(move |at| path[*at] == b'/');
        let is_root = path.len() == root;
        let first = (!is_root || own).then_some(root);
        let last = (own && !is_root).then_some(path.len());
        let ends = first.into_iter().chain(slashes).chain(last);
        ends.enumerate().map(move |(depth, end)| (depth as u32, &path[..end]))
    }
}

/// Appends a path as a key. Keys compare as bytes, and a directory comes directly before its contents. A name has no NUL.
pub(super) fn push_key(path: &[u8], key: &mut Vec<u8>) {
    key.extend(path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }));
}

/// The path of such a key.
pub(super) fn path_of(key: &[u8]) -> Vec<u8> {
    key.iter().map(|byte| if *byte == 0 { b'/' } else { *byte }).collect()
}

/// A path as it is shown: the only root is a dot.
pub(crate) fn shown(path: &[u8]) -> &[u8] {
    if path.is_empty() { b"." } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_tells_the_root() {
        for (parent, depth, root, below) in [
            ("a", 1, "a", ""),
            ("a/", 1, "a", ""),
            ("/", 1, "/", ""),
            ("//", 1, "/", ""),
            ("/usr", 2, "/", "usr"),
            ("/usr/lib", 3, "/", "usr/lib"),
            ("/usr/lib", 2, "/usr", "lib"),
            ("b//c", 2, "b", "c"),
            ("./x/y", 3, ".", "x/y"),
            ("", 1, "", ""),
            ("a", 9, "", "a"),
        ] {
            assert_eq!(split(parent.as_bytes(), depth), (root.as_bytes(), below.as_bytes()), "{parent}");
        }
    }

    #[test]
    fn directories_above_a_path() {
        let all = |path: &str, root, own| -> Vec<(u32, String)> {
            let rooted = RootedPath { path: path.as_bytes(), root };
            let text = |(depth, path)| (depth, String::from_utf8_lossy(path).into_owned());
            rooted.directories(own).map(text).collect()
        };
        let expected = |paths: &[&str]| -> Vec<(u32, String)> {
            paths.iter().enumerate().map(|(depth, path)| (depth as u32, (*path).to_owned())).collect()
        };
        assert_eq!(all("", 0, true), expected(&[""]));
        assert_eq!(all("", 0, false), []);
        assert_eq!(all("a", 0, false), expected(&[""]));
        assert_eq!(all("a/b/c", 0, false), expected(&["", "a", "a/b"]));
        assert_eq!(all("a/b/c", 0, true), expected(&["", "a", "a/b", "a/b/c"]));
        assert_eq!(all("r/s/b/c", 3, false), expected(&["r/s", "r/s/b"]));
        assert_eq!(all("/b/c", 1, true), expected(&["/", "/b", "/b/c"]));
        assert_eq!(all("r", 1, true), expected(&["r"]));
    }

    #[test]
    fn roots_are_paired() {
        let roots =
            |names: &[&str]| -> Vec<Vec<u8>> { names.iter().map(|name| name.as_bytes().to_vec()).collect() };
        let path = |pairs: &Roots, scan, root, below: &str| {
            let mut path = Vec::new();
            pairs.path(pairs.of(scan, root), below.as_bytes(), &mut path);
            String::from_utf8_lossy(&path).into_owned()
        };
        let alone = Roots::pair(&roots(&["/data"]), &roots(&["/snapshots/data"]));
        assert_eq!([path(&alone, 0, 0, "x"), path(&alone, 1, 0, "")], ["x", ""]);
        let several = Roots::pair(&roots(&["b", "/"]), &roots(&["/", "c"]));
        assert_eq!([path(&several, 0, 0, "x"), path(&several, 0, 1, "x")], ["b/x", "/x"]);
        assert_eq!([path(&several, 1, 0, "x"), path(&several, 1, 1, "")], ["/x", "c"]);
    }
}
