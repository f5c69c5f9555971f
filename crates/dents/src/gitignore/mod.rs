//! Files that git ignores: the rules of `.gitignore` and `.ignore` files, chained from each directory up to the top of
//! its repository.
//!
//! The nearest file with a matching rule decides; `.ignore` files win over `.gitignore` files. Rules from above a
//! repository do not apply inside it. A directory without these files costs three system calls. An ignored entry is
//! neither listed nor entered. The roots of a walk are never ignored; `.git` always is.

use dents_sys::file::{self, Links};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{BorrowedFd, CWD, Errno};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The maximum size of an ignore file in bytes. It is larger than any real list of patterns, and limits the memory
/// that a hostile file can take.
const MOST: usize = 1 << 20;

/// The rules that one directory adds to those of its ancestors.
pub struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<Gitignore>,
    /// The rules of `.gitignore`; at the top of a repository, those for the whole repository follow.
    git: Vec<Arc<Gitignore>>,
    /// Whether this is the top of a repository.
    is_top: bool,
    /// Rules match a path whose first `strip` bytes are replaced by this prefix.
    base: Vec<u8>,
    strip: usize,
}

/// Called with the path of an ignore file that cannot be used, and the reason.
pub type Complain<'c> = dyn FnMut(&[u8], &str) + 'c;

/// The rules inside a directory that was opened. `is_root` is true for the roots of a walk.
pub fn enter(
    path: &[u8],
    is_root: bool,
    dir: BorrowedFd<'_>,
    above: Option<&Arc<Rules>>,
    complain: &mut Complain<'_>,
) -> Option<Arc<Rules>> {
    let strip = path.len() + usize::from(!path.ends_with(b"/"));
    let above = if is_root { outside(path, strip, complain) } else { above.cloned() };
    Rules::found(&mut IgnoreDir { at: dir, prefix: b"", path, complain }, above, Vec::new(), strip)
}

/// The rules of the directories between a PATH and the top of its repository.
fn outside(path: &[u8], strip: usize, complain: &mut Complain<'_>) -> Option<Arc<Rules>> {
    let path = std::fs::canonicalize(OsStr::from_bytes(path)).ok()?;
    let height = path.ancestors().position(|one| one.join(".git").exists())?;
    let above: Vec<&Path> = path.ancestors().skip(1).take(height).collect();
    above.into_iter().rev().fold(None, |above, one| {
        let mut base = path.strip_prefix(one).unwrap_or(Path::new("")).as_os_str().as_bytes().to_vec();
        base.push(b'/');
        let one = one.as_os_str().as_bytes();
        Rules::found(&mut IgnoreDir { at: CWD, prefix: one, path: one, complain }, above, base, strip)
    })
}

impl Rules {
    /// The rules of a directory, if it has any; else those of its parent.
    fn found(
        dir: &mut IgnoreDir<'_, '_>,
        above: Option<Arc<Rules>>,
        base: Vec<u8>,
        strip: usize,
    ) -> Option<Arc<Rules>> {
        let ignore = dir.read(b".ignore").map(|text| rules(&text));
        let mut git: Vec<_> =
            dir.read(b".gitignore").map(|text| Arc::new(rules(&text))).into_iter().collect();
        let top = dir.repository();
        if let Some(repository) = &top {
            let exclude = repository.as_ref().and_then(|kept| dir.read(&join(kept, b"info/exclude")));
            git.extend(exclude.map(|text| Arc::new(rules(&text))));
            git.extend(everywhere(dir.complain).cloned());
        }
        let is_top = top.is_some();
        if ignore.is_none() && git.is_empty() && !is_top {
            return above;
        }
        Some(Arc::new(Rules { above, ignore, git, is_top, base, strip }))
    }

    /// Whether this path is ignored. `scratch` is overwritten.
    #[must_use]
    pub fn ignores(&self, path: &[u8], is_dir: bool, scratch: &mut Vec<u8>) -> bool {
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

/// Parses an ignore file. Skips invalid lines, as git does.
fn rules(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A directory whose ignore files are being read.
struct IgnoreDir<'h, 'c> {
    /// Names are relative to this directory, after the prefix.
    at: BorrowedFd<'h>,
    prefix: &'h [u8],
    /// Its path in messages.
    path: &'h [u8],
    complain: &'h mut Complain<'c>,
}

impl IgnoreDir<'_, '_> {
    /// Reads an ignore file of this directory. `None` if it does not exist; `None` and a message if it is not a regular
    /// file of at most [`MOST`] bytes.
    fn read(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        match self.open(name) {
            Ok(text) => Some(text),
            Err(errno) => {
                self.complain(name, errno);
                None
            }
        }
    }

    fn open(&self, name: &[u8]) -> Result<Vec<u8>, Errno> {
        file::read_regular(self.at, &self.c_path(name)?, Links::Refuse, MOST)
    }

    fn c_path(&self, name: &[u8]) -> Result<CString, Errno> {
        CString::new(join(self.prefix, name)).map_err(|_| Errno::INVAL)
    }

    /// If this is the top of a repository, the directory where git keeps the files that all worktrees share.
    ///
    /// That directory is `.git`. In worktrees and submodules `.git` is a file that names another directory
    /// (gitrepository-layout(5)). A link to the directory counts, as for git.
    fn repository(&mut self) -> Option<Option<Vec<u8>>> {
        let text = match self.open(b".git") {
            Ok(text) => text,
            Err(Errno::ISDIR) => return Some(Some(b".git".to_vec())),
            Err(Errno::LOOP) if self.is_directory(b".git") => return Some(Some(b".git".to_vec())),
            Err(errno) => {
                self.complain(b".git", errno);
                return None;
            }
        };
        let Some(kept) = text.strip_prefix(b"gitdir: ") else { return Some(None) };
        let kept = first_line(kept);
        let shared = self.read(&join(kept, b"commondir"));
        Some(Some(shared.map_or_else(|| kept.to_vec(), |shared| join(kept, first_line(&shared)))))
    }

    fn is_directory(&self, name: &[u8]) -> bool {
        let statx =
            self.c_path(name).and_then(|path| stat::statx(self.at, &path, Flags::empty(), Mask::TYPE));
        statx.is_ok_and(|statx| statx.mode() & 0o170_000 == 0o040_000)
    }

    /// Reports a file that exists and cannot be read: without it the walk lists more than git would.
    fn complain(&mut self, name: &[u8], errno: Errno) {
        let problem = match errno {
            Errno::NOENT | Errno::NOTDIR => return,
            Errno::ISDIR | Errno::INVAL => "not a regular file".to_owned(),
            Errno::LOOP => "a symbolic link, which is not followed".to_owned(),
            Errno::FBIG => "more than 1 MiB".to_owned(),
            errno => without_number(&std::io::Error::from_raw_os_error(errno.raw_os_error())),
        };
        (self.complain)(&join(self.path, name), &format!("{problem}: ignored"));
    }
}

/// Joins two paths; an absolute second path replaces the first.
fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    match directory {
        _ if path.starts_with(b"/") => path.to_vec(),
        b"" => path.to_vec(),
        _ if directory.ends_with(b"/") => [directory, path].concat(),
        _ => [directory, b"/", path].concat(),
    }
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default()
}

/// The rules of the user's global ignore file, at git's default path. Read once. It may be a symbolic link.
fn everywhere(complain: &mut Complain<'_>) -> Option<&'static Arc<Gitignore>> {
    static RULES: OnceLock<Option<Arc<Gitignore>>> = OnceLock::new();
    let read = || {
        let path = ignore::gitignore::gitconfig_excludes_path()?.into_os_string().into_vec();
        let mut dir = IgnoreDir { at: CWD, prefix: b"", path: b"", complain };
        let text = file::read_regular(CWD, &dir.c_path(&path).ok()?, Links::Follow, MOST);
        match text {
            Ok(text) => Some(Arc::new(rules(&text))),
            Err(errno) => {
                dir.complain(&path, errno);
                None
            }
        }
    };
    RULES.get_or_init(read).as_ref()
}

/// The system's error message, without the number that std appends.
fn without_number(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
