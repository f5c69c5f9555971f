//! What git would not list: `.gitignore` and `.ignore` files, as a chain from each directory up to the top of its repository.
//!
//! The nearest file that says something about a path decides, the `.ignore` files before the `.gitignore` files; what is above
//! a repository does not hold within. Costs three system calls for each directory that has none of these files. What is
//! ignored is neither listed nor entered; PATHs are never ignored themselves, and `.git` always is.

use super::origin::Origin;
use crate::message;
use dents::tree::Place;
use dents_sys::AsRawFd;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::io::{ErrorKind, Result};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rules that one directory adds to those above it.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<Gitignore>,
    /// The `.gitignore`; at the top of a repository what holds for all of it comes after.
    git: Vec<Gitignore>,
    /// Whether this is the top of a repository.
    is_top: bool,
    /// Paths as the rules see them: this, and what comes after so many bytes of the path.
    base: Vec<u8>,
    strip: usize,
}

/// The rules for what is in a directory that was opened.
pub(crate) fn enter(place: &Place<'_>, origin: &Origin) -> Option<Arc<Rules>> {
    let strip = place.path.len() + usize::from(!place.path.ends_with(b"/"));
    let mut above = origin.rules.clone();
    if place.depth == 1 {
        above = outside(place, strip);
    }
    Rules::found(&|name| read(place, name), above, Vec::new(), strip)
}

/// The rules between a PATH and the top of the repository that it lies in.
fn outside(place: &Place<'_>, strip: usize) -> Option<Arc<Rules>> {
    let path = std::fs::canonicalize(OsStr::from_bytes(place.path)).ok()?;
    let height = path.ancestors().position(|one| one.join(".git").exists())?;
    let above: Vec<&Path> = path.ancestors().skip(1).take(height).collect();
    above.into_iter().rev().fold(None, |above, one| {
        let mut base = path.strip_prefix(one).unwrap_or(Path::new("")).as_os_str().as_bytes().to_vec();
        base.push(b'/');
        Rules::found(&|name| std::fs::read(one.join(name)), above, base, strip)
    })
}

impl Rules {
    /// Those of a directory, if it has any; else those above.
    fn found(
        read: &dyn Fn(&str) -> Result<Vec<u8>>,
        above: Option<Arc<Rules>>,
        base: Vec<u8>,
        strip: usize,
    ) -> Option<Arc<Rules>> {
        let ignore = read(".ignore").ok().map(|text| rules(&text));
        let mut git: Vec<Gitignore> = read(".gitignore").ok().map(|text| rules(&text)).into_iter().collect();
        // A directory, but for worktrees and submodules, where it is a file.
        let is_top = match read(".git") {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::IsADirectory,
        };
        if is_top {
            git.extend(read(".git/info/exclude").ok().map(|text| rules(&text)));
            git.extend(everywhere().and_then(|path| std::fs::read(path).ok()).map(|text| rules(&text)));
        }
        if ignore.is_none() && git.is_empty() && !is_top {
            return above;
        }
        Some(Arc::new(Rules { above, ignore, git, is_top, base, strip }))
    }

    /// Whether what has this path is ignored. `scratch` is overwritten.
    pub(crate) fn ignores(&self, path: &[u8], is_dir: bool, scratch: &mut Vec<u8>) -> bool {
        let mut inside = true;
        let mut verdict = None;
        let mut next = Some(self);
        while let Some(rules) = next {
            scratch.clear();
            scratch.extend_from_slice(&rules.base);
            scratch.extend_from_slice(path.get(rules.strip..).unwrap_or_default());
            let path = Path::new(OsStr::from_bytes(scratch));
            if let Some(answer) = rules.ignore.iter().find_map(|file| says(file, path, is_dir)) {
                return answer;
            }
            if inside && verdict.is_none() {
                verdict = rules.git.iter().find_map(|file| says(file, path, is_dir));
            }
            inside &= !rules.is_top;
            next = rules.above.as_deref();
        }
        verdict.unwrap_or(false)
    }
}

fn says(file: &Gitignore, path: &Path, is_dir: bool) -> Option<bool> {
    match file.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// The lines of an ignore file. One that makes no sense is passed over, as git does.
fn rules(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A file of the directory that was opened: by its path, and if that is too long by the descriptor.
fn read(place: &Place<'_>, name: &str) -> Result<Vec<u8>> {
    let mut path = Vec::new();
    place.join(name.as_bytes(), &mut path);
    let mut result = std::fs::read(PathBuf::from(std::ffi::OsString::from_vec(path.clone())));
    if let (Err(error), Some(dir)) = (&result, place.dir)
        && error.kind() == ErrorKind::InvalidFilename
    {
        result = std::fs::read(format!("/proc/self/fd/{}/{name}", dir.as_raw_fd()));
    }
    if let Err(error) = &result
        && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory)
    {
        message::about(&path, &message::plain(error));
    }
    result
}

/// The user's own ignore file for all repositories, where git looks for it unless it is told otherwise.
fn everywhere() -> Option<PathBuf> {
    ignore::gitignore::gitconfig_excludes_path()
}
