//! Files that git ignores: the rules of `.gitignore` and `.ignore` files, chained from each directory up to the top of
//! its repository.
//!
//! The nearest file with a matching rule decides; `.ignore` files win over `.gitignore` files. Rules from above a
//! repository do not apply inside it. A directory without these files costs three system calls. An ignored entry is
//! neither listed nor entered. The roots of a walk are never ignored; `.git` always is.
//!
//! `pattern` has the rules of git for a line, `config` the settings that change which files hold and how.

use config::Config;
use dents_sys::file::{self, Links};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{BorrowedFd, CWD, Errno};
use pattern::IgnoreFile;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

mod config;
mod pattern;

/// The maximum size of an ignore file in bytes. It is larger than any real list of patterns, and limits the memory
/// that a hostile file can take.
const MOST: usize = 1 << 20;

/// The rules that one directory adds to those of its ancestors.
pub struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<IgnoreFile>,
    /// The rules of `.gitignore`; at the top of a repository, those for the whole repository follow.
    git: Vec<Arc<IgnoreFile>>,
    /// Whether this is the top of a repository.
    is_top: bool,
    /// Whether letters match in either case, in this repository.
    fold: bool,
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
        let top = dir.repository();
        let config = top.as_ref().map(|kept| dir.config(kept.as_deref()));
        let fold = config
            .as_ref()
            .map_or_else(|| above.as_ref().is_some_and(|above| above.fold), |config| config.fold);
        let rules = |text: Vec<u8>| IgnoreFile::new(&text, fold);
        let ignore = dir.read(b".ignore").map(rules);
        let mut git: Vec<_> = dir.read(b".gitignore").map(|text| Arc::new(rules(text))).into_iter().collect();
        if let (Some(kept), Some(config)) = (&top, &config) {
            let exclude = kept.as_ref().and_then(|kept| dir.read(&join(kept, b"info/exclude")));
            git.extend(exclude.map(|text| Arc::new(rules(text))));
            git.extend(everywhere(config, dir));
        }
        let is_top = top.is_some();
        if ignore.is_none() && git.is_empty() && !is_top {
            return above;
        }
        Some(Arc::new(Rules { above, ignore, git, is_top, fold, base, strip }))
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
            if let Some(answer) = rules.ignore.as_ref().and_then(|file| file.says(scratch, is_dir)) {
                return answer;
            }
            if inside && verdict.is_none() {
                verdict = rules.git.iter().find_map(|file| file.says(scratch, is_dir));
            }
            inside &= !rules.is_top;
            next = rules.above.as_deref();
        }
        verdict.unwrap_or(false)
    }
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

    /// The settings of the repository whose files are in `kept`.
    fn config(&mut self, kept: Option<&[u8]>) -> Config {
        let user = Config::of_user(&mut |file| {
            let file = file.as_os_str().as_bytes();
            read_anywhere(file).inspect_err(|errno| self.complain_of(file, *errno)).ok()
        });
        let Some(kept) = kept else { return user };
        let mut first = true;
        user.with(Path::new(OsStr::from_bytes(&join(kept, b"config"))), &mut |file| {
            let file = file.as_os_str().as_bytes();
            // Files that it includes may be anywhere, as links may.
            let text = if std::mem::take(&mut first) {
                self.open(file)
            } else {
                read_anywhere(&join(self.path, file))
            };
            text.inspect_err(|errno| self.complain(file, *errno)).ok()
        })
    }

    fn is_directory(&self, name: &[u8]) -> bool {
        let statx =
            self.c_path(name).and_then(|path| stat::statx(self.at, &path, Flags::empty(), Mask::TYPE));
        statx.is_ok_and(|statx| statx.mode() & 0o170_000 == 0o040_000)
    }

    /// Reports a file that exists and cannot be read: without it the walk lists more than git would.
    fn complain(&mut self, name: &[u8], errno: Errno) {
        self.complain_of(&join(self.path, name), errno);
    }

    fn complain_of(&mut self, path: &[u8], errno: Errno) {
        let problem = match errno {
            Errno::NOENT | Errno::NOTDIR => return,
            Errno::ISDIR | Errno::INVAL => "not a regular file".to_owned(),
            Errno::LOOP => "a symbolic link, which is not followed".to_owned(),
            Errno::FBIG => "more than 1 MiB".to_owned(),
            errno => without_number(&std::io::Error::from_raw_os_error(errno.raw_os_error())),
        };
        (self.complain)(path, &format!("{problem}: ignored"));
    }
}

/// Reads a regular file that the user or a setting names. It may be a symbolic link.
fn read_anywhere(path: &[u8]) -> Result<Vec<u8>, Errno> {
    file::read_regular(CWD, &CString::new(path).map_err(|_| Errno::INVAL)?, Links::Follow, MOST)
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

/// The rules of the file of patterns that `core.excludesFile` names, or the default one. A walk of many repositories reads it
/// once, and complains of it once.
fn everywhere(config: &Config, dir: &mut IgnoreDir<'_, '_>) -> Option<Arc<IgnoreFile>> {
    type Last = Option<((Vec<u8>, bool), Option<Arc<IgnoreFile>>)>;
    static LAST: Mutex<Last> = Mutex::new(None);
    let top = if dir.prefix.is_empty() { dir.path } else { dir.prefix };
    let wanted = (config.excludes_file(top)?, config.fold);
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((read, rules)) = &*last
        && *read == wanted
    {
        return rules.clone();
    }
    let rules = match read_anywhere(&wanted.0) {
        Ok(text) => Some(Arc::new(IgnoreFile::new(&text, config.fold))),
        Err(errno) => {
            dir.complain_of(&wanted.0, errno);
            None
        }
    };
    *last = Some((wanted, rules.clone()));
    rules
}

/// For the fuzz target: rules, and names behind a NUL each; the same bytes as a configuration.
#[cfg(any(test, fuzzing))]
pub(crate) fn any_bytes(bytes: &[u8]) {
    let mut pieces = bytes.split(|byte| *byte == 0);
    let text = pieces.next().unwrap_or_default();
    let rules = [false, true].map(|fold| IgnoreFile::new(text, fold));
    for name in pieces {
        rules
            .iter()
            .for_each(|rules| assert!(rules.says(name, true).is_some() || rules.says(name, false).is_none()));
    }
    let mut text = Some(bytes.to_vec());
    let _ = Config::default().with(Path::new("config"), &mut |_| text.take());
}

/// The system's error message, without the number that std appends.
fn without_number(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
