//! `--git` and `--gitignore`: what git says of entries.
//!
//! One `git status` for each repository, started before its first directory is read and collected before that is drawn
//! (`command`), without the programs that the repository configures (`settings`); its answer, sorted, is looked up entry by
//! entry (`status`). Which repository a directory is in is found by looking for `.git` from there upwards, a `statx` each: what
//! is in none costs no child. Paths are absolute and lead through no symbolic link.

mod command;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod settings;
mod status;

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use command::{About, Question};
use core::ffi::CStr;
use dents_render::Git;
use dents_rt::Running;
use dents_sys::Errno;
use status::Within;

/// What git may take by default, from its start to the moment at which the listing would go on.
pub(crate) const BUDGET_NS: u64 = 200_000_000;

/// What it may take where the answer decides what is listed at all.
pub(crate) const PATIENCE_NS: u64 = 5_000_000_000;

/// Why there is no answer, where there is no end of it.
const TOO_MUCH: &str = "git said more than 64 MiB";

/// Starts programs that run beside the listing.
pub trait Programs {
    /// Starts `argv[0]`, looked for in PATH, with our environment, but for the variables named by `without`, and with
    /// the definitions of `with`. Its standard input and error lead nowhere. `confined`: it may start no process.
    ///
    /// # Errors
    /// Why it could not be started.
    fn start(
        &self,
        argv: &[&CStr],
        without: &[&[u8]],
        with: &[&CStr],
        confined: bool,
    ) -> Result<Running, Errno>;
}

/// Looks whether there is something at a path, as `statx` without following would.
pub(crate) type Look<'l> = dyn Fn(&CStr) -> Result<(), Errno> + 'l;

/// Something to be asked about.
pub(crate) struct Wanted {
    /// The directory whose repository is to be asked.
    pub(crate) directory: Vec<u8>,
    /// That directory, or what of it is wanted.
    pub(crate) path: Vec<u8>,
}

/// A repository that was asked.
struct Repository {
    /// The top of its work tree.
    top: Vec<u8>,
    /// What it was asked about, relative to the top, which itself is the empty path.
    paths: Vec<Vec<u8>>,
    question: Question,
}

/// All repositories that were asked.
pub(crate) struct Repositories<'p> {
    programs: &'p dyn Programs,
    budget_ns: Option<u64>,
    asked: Vec<Repository>,
    /// What has been said of failures: once is enough.
    told: bool,
}

impl<'p> Repositories<'p> {
    /// None yet. `budget_ns`: how long git may take from its start; `None` is for ever.
    pub(crate) fn new(programs: &'p dyn Programs, budget_ns: Option<u64>) -> Self {
        Repositories { programs, budget_ns, asked: Vec::new(), told: false }
    }

    /// Starts git for each repository that these are in and that was not asked about them yet.
    pub(crate) fn ask(&mut self, wanted: Vec<Wanted>, look: &Look<'_>) {
        let mut new: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        let mut known: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for Wanted { directory, path } in wanted {
            // Operands tend to come from one directory.
            let found = known.iter().find(|(looked, _)| *looked == directory).map(|(_, top)| top.clone());
            let top = found.unwrap_or_else(|| {
                let top = top_of(&directory, look);
                known.push((directory, top.clone()));
                top
            });
            let Some(top) = top else { continue };
            let Some(relative) = below(&top, &path).map(<[u8]>::to_vec) else { continue };
            if self.asked.iter().any(|asked| asked.top == top && asked.covers(&relative)) {
                continue;
            }
            match new.iter_mut().find(|(known, _)| *known == top) {
                Some((_, paths)) => paths.push(relative),
                None => new.push((top, Vec::from([relative]))),
            }
        }
        for (top, paths) in new {
            let (programs, budget_ns) = (self.programs, self.budget_ns);
            let question = Question::ask(&About { programs, top: &top, paths: &paths, budget_ns });
            self.asked.push(Repository { top, paths, question });
        }
    }

    /// The same for a directory whose parent was asked about: one `statx` tells whether a repository begins here.
    pub(crate) fn ask_below(&mut self, directory: &[u8], look: &Look<'_>) {
        if begins(directory, look) {
            let wanted = Wanted { directory: directory.to_vec(), path: directory.to_vec() };
            self.ask(Vec::from([wanted]), look);
        }
    }

    /// What git says of a directory's entries, waiting for it as long as it may take.
    pub(crate) fn within(&mut self, directory: &[u8]) -> Answer<'_> {
        let (programs, budget_ns, mut best) = (self.programs, self.budget_ns, None);
        // All of them go on, while one is waited for.
        for Repository { top, paths, question } in &mut self.asked {
            question.proceed(&About { programs, top, paths, budget_ns });
        }
        for (nth, asked) in self.asked.iter().enumerate() {
            let deeper = best.is_none_or(|best: usize| asked.top.len() >= self.asked[best].top.len());
            if deeper && below(&asked.top, directory).is_some_and(|path| asked.concerns(path)) {
                best = Some(nth);
            }
        }
        let Some(best) = best else { return Answer::Outside };
        let Repository { top, paths, question } = &mut self.asked[best];
        question.settle(&About { programs, top, paths, budget_ns });
        match question {
            Question::Answered(statuses, _) => {
                Answer::Within(statuses.within(below(top, directory).unwrap_or_default()))
            }
            Question::Failed(_) => Answer::Outside,
            _ => Answer::Late,
        }
    }

    /// Why something is not known, if it is not, and was not told before. Where it only takes letters away (`hides` is
    /// false), the letters say so, but for what is no fault of time or place.
    pub(crate) fn tell_once(&mut self, hides: bool) -> Option<String> {
        let told = self.asked.iter().find_map(|asked| match &asked.question {
            Question::TooMuch => Some(TOO_MUCH.into()),
            Question::Failed(why) if hides => Some(why.clone()),
            Question::Late(ns) if hides => Some(format!("git did not answer within {} ms", ns / 1_000_000)),
            _ => None,
        });
        told.filter(|_| !core::mem::replace(&mut self.told, true))
    }

    /// A line for each repository, for `--explain`.
    pub(crate) fn account(&self) -> String {
        let mut text = String::new();
        for Repository { top, question, .. } in &self.asked {
            let top = String::from_utf8_lossy(top);
            let ms = |ns: u64| format!("{}.{:02} ms", ns / 1_000_000, ns % 1_000_000 / 10_000);
            let what = match question {
                Question::Preparing(..) | Question::Asked(_) => "asked, and not waited for".into(),
                Question::TooMuch => TOO_MUCH.into(),
                Question::Answered(statuses, ns) => {
                    format!("{} paths differ; answered {} after its start", statuses.len(), ms(*ns))
                }
                Question::Late(ns) => format!("late: given up {} after its start", ms(*ns)),
                Question::Failed(why) => why.clone(),
            };
            text.extend(["git: ", &top.escape_debug().collect::<String>(), ": ", &what, "\n"]);
        }
        if self.asked.is_empty() {
            text.push_str("git: not asked: nothing listed is in a repository\n");
        }
        text
    }
}

impl Repository {
    /// Whether the answer tells all about this path.
    fn covers(&self, path: &[u8]) -> bool {
        self.paths.iter().any(|asked| below(asked, path).is_some())
    }

    /// Whether it tells something about this path, or of what is below it.
    fn concerns(&self, path: &[u8]) -> bool {
        self.covers(path) || self.paths.iter().any(|asked| below(path, asked).is_some())
    }
}

/// What git says of a directory.
pub(crate) enum Answer<'s> {
    /// It is in no repository, or in one that git cannot read.
    Outside,
    /// Not yet, and now it is too late.
    Late,
    /// This.
    Within(Within<'s>),
}

impl Answer<'_> {
    /// What it says of one of its entries.
    pub(crate) fn entry(&self, name: &[u8]) -> Git {
        match self {
            Answer::Outside => Git::Outside,
            Answer::Late => Git::Late,
            Answer::Within(within) => within.entry(name),
        }
    }

    /// Whether all of it is ignored.
    pub(crate) fn is_ignored(&self) -> bool {
        matches!(self, Answer::Within(within) if within.is_ignored())
    }
}

/// The top of the work tree that a directory is in: one `statx` for each directory from there upwards.
fn top_of(directory: &[u8], look: &Look<'_>) -> Option<Vec<u8>> {
    let mut here = directory;
    loop {
        if begins(here, look) {
            return Some(here.to_vec());
        }
        here = parent(here)?;
    }
}

/// Whether a repository begins in this directory. `.git` is a directory with `refs` in it, as git demands it, or, in a
/// submodule or a second work tree, a file that says where that is.
fn begins(directory: &[u8], look: &Look<'_>) -> bool {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    let Ok(path) = CString::new([directory, slash, b".git/refs"].concat()) else { return false };
    matches!(look(&path), Ok(()) | Err(Errno::NOTDIR))
}

/// The directory above one, if there is one.
fn parent(path: &[u8]) -> Option<&[u8]> {
    match memchr::memrchr(b'/', path)? {
        0 if path.len() == 1 => None,
        0 => Some(b"/"),
        slash => Some(&path[..slash]),
    }
}

/// What is left of a path below a directory; nothing of the directory's own. The empty directory is above all relative
/// paths.
fn below<'p>(directory: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(directory)?;
    match rest {
        [] => Some(rest),
        [b'/', rest @ ..] if !directory.is_empty() => Some(rest),
        _ if directory.is_empty() || directory.ends_with(b"/") => Some(rest),
        _ => None,
    }
}
