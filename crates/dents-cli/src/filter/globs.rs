//! `--include` and `--exclude`: globs that match names; a glob with a slash matches paths below the PATH.

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// One glob.
#[derive(Clone, Debug)]
pub(crate) struct One {
    glob: Glob,
    is_path: bool,
}

impl One {
    /// Parses a word. A slash at its beginning only makes it match paths.
    pub(crate) fn parse(text: &str) -> Result<One, String> {
        let is_path = text.contains('/');
        let glob = GlobBuilder::new(text.trim_start_matches('/')).literal_separator(is_path).build();
        let glob =
            glob.map_err(|error| format!("{}; known are ‘*’, ‘?’, ‘[a-z]’, ‘{{a,b}}’, ‘**/’", error.kind()))?;
        Ok(One { glob, is_path })
    }
}

/// Globs, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    names: GlobSet,
    paths: GlobSet,
}

impl Globs {
    /// `None` if there are none; an error if they are too many for one automaton.
    pub(crate) fn new(globs: &[One]) -> Result<Option<Globs>, String> {
        let set = |of_paths: bool| {
            let mut builder = GlobSetBuilder::new();
            globs.iter().filter(|one| one.is_path == of_paths).for_each(|one| {
                builder.add(one.glob.clone());
            });
            builder.build().map_err(|error| error.to_string())
        };
        if globs.is_empty() { Ok(None) } else { Ok(Some(Globs { names: set(false)?, paths: set(true)? })) }
    }

    /// Whether one matches the name.
    pub(crate) fn match_name(&self, name: &[u8]) -> bool {
        matches(&self.names, name)
    }

    /// Whether one matches the path below the operand.
    pub(crate) fn match_path(&self, below: &[u8]) -> bool {
        matches(&self.paths, below)
    }
}

fn matches(set: &GlobSet, bytes: &[u8]) -> bool {
    !set.is_empty() && set.is_match_candidate(&Candidate::new(Path::new(OsStr::from_bytes(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(texts: &[&str]) -> Globs {
        let parsed: Vec<One> = texts.iter().map(|text| One::parse(text).expect("a glob")).collect();
        Globs::new(&parsed).expect("few").expect("some")
    }

    #[test]
    fn names_and_paths() {
        let globs = globs(&["*.o", "src/*.c", "/top", "**/deep/x"]);
        assert!(globs.match_name(b"a.o") && globs.match_name(b"\xff.o") && globs.match_name(b"\n.o"));
        assert!(!globs.match_name(b"top") && globs.match_path(b"top") && !globs.match_path(b"a/top"));
        assert!(globs.match_path(b"src/a.c") && !globs.match_path(b"src/a/b.c"));
        assert!(globs.match_path(b"a/b/deep/x") && globs.match_path(b"deep/x"));
    }

    #[test]
    fn what_is_no_glob() {
        for text in ["[", "{a", "a[z-a]"] {
            assert!(One::parse(text).is_err(), "{text:?}");
        }
        assert!(Globs::new(&[]).expect("none").is_none());
    }
}
