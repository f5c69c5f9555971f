//! `--git` and `--gitignore`: the git state of entries.
//!
//! For each repository there is one `git status`. `dls` starts it before it reads the first directory and collects its
//! output before it renders (`command`), without the programs that the repository configures (`settings`). The output
//! is sorted once, and looked up for each entry (`status`). The repository of a directory is found by one `statx` of
//! `.git` in it and in each directory above, up to a ceiling; outside of repositories no git is started. The directories
//! above may be on a server that does not answer, and the user did not name them: so their look-up has a part of git's time
//! limit. Paths are absolute and contain no symbolic link.

mod command;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod programs;
mod settings;
mod status;

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use command::{GitArguments, GitRequest};
use core::ffi::CStr;
use core::iter::successors;
use dents_render::Git;
use dents_sys::Errno;
pub use programs::Programs;
pub(crate) use settings::is_false;
use status::Within;

/// The default time limit of git, from its start to the moment when the listing would otherwise continue.
pub(crate) const BUDGET_NS: u64 = 200_000_000;

/// The time limit if git decides which entries are listed.
pub(crate) const PATIENCE_NS: u64 = 5_000_000_000;

/// The reason if the output is too long.
const TOO_MUCH: &str = "git said more than 64 MiB";

/// The major and minor number of a device.
pub(crate) type Device = (u32, u32);

/// The device of a path, by `statx` without following links.
pub(crate) type Look<'l> = dyn Fn(&CStr) -> Result<Device, Errno> + 'l;

/// Where the search for a repository ends.
pub(crate) struct Bounds {
    /// See [`ceilings`].
    pub(crate) ceilings: Vec<Vec<u8>>,
    /// Whether it goes on above a mount point: GIT_DISCOVERY_ACROSS_FILESYSTEM.
    pub(crate) crosses: bool,
    /// Whether a look-up may wait, or mount something: then each directory above is compared with the device first, as git does.
    pub(crate) is_wary: bool,
}

/// What the look-up of a directory's repository found: the top of its work tree, if it is in one.
pub(crate) type WorkTree = Option<Vec<u8>>;

/// The look-up of the repositories of directories: a [`WorkTree`] for each, or none without an answer in time.
pub(crate) type Find<'f> = dyn FnMut(Vec<Vec<u8>>) -> Vec<Option<WorkTree>> + 'f;

/// Something to be asked about.
pub(crate) struct GitPath {
    /// The directory whose repository is asked.
    pub(crate) directory: Vec<u8>,
    /// The path to ask about: that directory, or something in it.
    pub(crate) path: Vec<u8>,
}

/// A repository that was asked.
struct Repository {
    /// The top of its work tree.
    top: Vec<u8>,
    /// The requested paths, relative to the top; the top itself is the empty path.
    paths: Vec<Vec<u8>>,
    question: GitRequest,
}

/// All repositories that were asked.
pub(crate) struct Repositories<'p> {
    programs: &'p dyn Programs,
    budget_ns: Option<u64>,
    hides: bool,
    asked: Vec<Repository>,
    /// The directories whose repository was not found in time.
    late: Vec<Vec<u8>>,
    /// Whether a failure was reported: one message is enough.
    told: bool,
}

impl<'p> Repositories<'p> {
    /// None yet. `budget_ns`: how long git may take from its start; `None` is for ever. `hides`: whether the answer decides what is listed.
    pub(crate) fn new(programs: &'p dyn Programs, budget_ns: Option<u64>, hides: bool) -> Self {
        Repositories { programs, budget_ns, hides, asked: Vec::new(), late: Vec::new(), told: false }
    }

    /// Starts git for each repository that these are in and that was not asked about them yet. Its time counts from
    /// `since_ns`. After one look-up without an answer there are no others.
    pub(crate) fn ask(&mut self, wanted: Vec<GitPath>, since_ns: u64, find: &mut Find<'_>) {
        // Operands tend to come from one directory.
        let mut directories: Vec<Vec<u8>> = wanted.iter().map(|wanted| wanted.directory.clone()).collect();
        directories.sort_unstable();
        directories.dedup();
        // Under a deadline an empty path had no answer itself.
        let searches = self.late.is_empty() && directories.first().is_none_or(|first| !first.is_empty());
        let found = if searches { find(directories.clone()) } else { Vec::new() };
        let mut new: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        for GitPath { directory, path } in wanted {
            let nth = directories.binary_search(&directory).ok();
            let Some(top) = nth.and_then(|nth| found.get(nth)?.as_ref()) else {
                self.late.push(directory);
                continue;
            };
            let Some(top) = top else { continue };
            let Some(relative) = below(top, &path).map(<[u8]>::to_vec) else { continue };
            if self.asked.iter().any(|asked| asked.top == *top && asked.covers(&relative)) {
                continue;
            }
            match new.iter_mut().find(|(known, _)| known == top) {
                Some((_, paths)) => paths.push(relative),
                None => new.push((top.clone(), Vec::from([relative]))),
            }
        }
        for (top, paths) in new {
            let (programs, budget_ns, hides) = (self.programs, self.budget_ns, self.hides);
            let question = GitRequest::ask(
                &GitArguments { programs, top: &top, paths: &paths, hides, budget_ns },
                since_ns,
            );
            self.asked.push(Repository { top, paths, question });
        }
    }

    /// The states of the entries of a directory. Waits for git within its time limit.
    pub(crate) fn within(&mut self, directory: &[u8]) -> Answer<'_> {
        let (programs, budget_ns, hides, mut best) = (self.programs, self.budget_ns, self.hides, None);
        // All of them go on, while one is waited for.
        for Repository { top, paths, question } in &mut self.asked {
            question.proceed(&GitArguments { programs, top, paths, hides, budget_ns });
        }
        for (nth, asked) in self.asked.iter().enumerate() {
            let deeper = best.is_none_or(|best: usize| asked.top.len() >= self.asked[best].top.len());
            if deeper && below(&asked.top, directory).is_some_and(|path| asked.concerns(path)) {
                best = Some(nth);
            }
        }
        let Some(best) = best else {
            let is_late = self.late.iter().any(|late| below(late, directory).is_some());
            return if is_late { Answer::Late } else { Answer::Outside };
        };
        let Repository { top, paths, question } = &mut self.asked[best];
        question.settle(&GitArguments { programs, top, paths, hides, budget_ns });
        match question {
            GitRequest::Answered(statuses, _) => {
                Answer::Within(statuses.within(below(top, directory).unwrap_or_default()))
            }
            GitRequest::Failed(_) => Answer::Outside,
            _ => Answer::Late,
        }
    }

    /// The reason why states are unknown, if it was not reported yet. If only letters are missing (`hides` is false),
    /// the column shows that, so errors of the repository are reported alone, not those of time or place.
    pub(crate) fn tell_once(&mut self, hides: bool) -> Option<String> {
        let told = self.asked.iter().find_map(|asked| match &asked.question {
            GitRequest::TooMuch => Some(TOO_MUCH.into()),
            GitRequest::Failed(why) if hides => Some(why.clone()),
            GitRequest::Late(ns) if hides => Some(format!("git did not answer within {} ms", ns / 1_000_000)),
            _ => None,
        });
        let late = || {
            let ms = self.budget_ns.unwrap_or_default() / 1_000_000;
            (hides && !self.late.is_empty())
                .then(|| format!("the search for .git did not end within {ms} ms"))
        };
        told.or_else(late).filter(|_| !core::mem::replace(&mut self.told, true))
    }

    /// A line for each repository, for `--explain`.
    pub(crate) fn account(&self) -> String {
        let mut text = String::new();
        for Repository { top, question, .. } in &self.asked {
            let top = String::from_utf8_lossy(top);
            let ms = |ns: u64| format!("{}.{:02} ms", ns / 1_000_000, ns % 1_000_000 / 10_000);
            let what = match question {
                GitRequest::Preparing(..) | GitRequest::Asked(_) => "asked, and not waited for".into(),
                GitRequest::TooMuch => TOO_MUCH.into(),
                GitRequest::Answered(statuses, ns) => {
                    format!("{} paths differ; answered {} after its start", statuses.len(), ms(*ns))
                }
                GitRequest::Late(ns) => format!("late: given up {} after its start", ms(*ns)),
                GitRequest::Failed(why) => why.clone(),
            };
            text.extend(["git: ", &top.escape_debug().collect::<String>(), ": ", &what, "\n"]);
        }
        for late in &self.late {
            let late = String::from_utf8_lossy(late);
            text.extend([
                "git: ",
                &late.escape_debug().collect::<String>(),
                ": late: .git was not found in time\n",
            ]);
        }
        if self.asked.is_empty() && self.late.is_empty() {
            text.push_str("git: not asked: nothing listed is in a repository\n");
        }
        text
    }
}

impl Repository {
    /// Whether the answer covers this path.
    fn covers(&self, path: &[u8]) -> bool {
        self.paths.iter().any(|asked| below(asked, path).is_some())
    }

    /// Whether the answer covers this path or a path below it.
    fn concerns(&self, path: &[u8]) -> bool {
        self.covers(path) || self.paths.iter().any(|asked| below(path, asked).is_some())
    }
}

/// The git states of a directory.
pub(crate) enum Answer<'s> {
    /// It is in no repository, or in one that git cannot read.
    Outside,
    /// Not yet, and now it is too late.
    Late,
    /// This.
    Within(Within<'s>),
}

impl Answer<'_> {
    /// The state of one of its entries.
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

/// The top of the work tree that contains a directory: one `statx` for the directory and for each one above, below the
/// ceiling. Above a mount point is no repository of it, as git has it.
pub(crate) fn top_of(directory: &[u8], bounds: &Bounds, look: &Look<'_>) -> WorkTree {
    let ceiling = ceiling_of(directory, &bounds.ceilings);
    let mut here = directory;
    loop {
        if begins(here, look) {
            let is_reached = bounds.crosses || is_on_one_device(directory, here, look);
            return is_reached.then(|| here.to_vec());
        }
        here = parent(here).filter(|above| ceiling.is_none_or(|ceiling| above.len() > ceiling.len()))?;
        if bounds.is_wary && !bounds.crosses && device(here, look) != device(directory, look) {
            return None;
        }
    }
}

/// Whether no file system begins between a directory and its top. Asked only where a repository was found above: outside of
/// repositories it would be a call more for each level, which [`Bounds::is_wary`] alone is worth.
fn is_on_one_device(directory: &[u8], top: &[u8], look: &Look<'_>) -> bool {
    let between =
        successors(parent(directory), |path| parent(path)).take_while(|path| path.len() >= top.len());
    let mut between = between.peekable();
    // The usual listing is that of the top itself.
    between.peek().is_none()
        || device(directory, look).is_some_and(|first| between.all(|path| device(path, look) == Some(first)))
}

fn device(path: &[u8], look: &Look<'_>) -> Option<Device> {
    look(&CString::new(path).ok()?).ok()
}

/// The longest of these paths that is above a directory: neither it nor what is above it is looked into, as in git
/// (`longest_ancestor_length`). The directory itself is.
fn ceiling_of<'c>(directory: &[u8], ceilings: &'c [Vec<u8>]) -> Option<&'c [u8]> {
    let above = |ceiling: &&[u8]| below(ceiling, directory).is_some_and(|rest| !rest.is_empty());
    ceilings.iter().map(Vec::as_slice).filter(above).max_by_key(|ceiling| ceiling.len())
}

/// The paths of GIT_CEILING_DIRECTORIES that git uses: the absolute ones. `resolve` makes them canonical, but not those
/// behind an empty one: git promises that these cost no system call.
pub(crate) fn ceilings(value: &[u8], resolve: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut resolves = true;
    let mut paths = Vec::new();
    for path in value.split(|byte| *byte == b':') {
        match path {
            [] => resolves = false,
            [b'/', ..] if resolves => paths.push(resolve(path)),
            [b'/', ..] => paths.push(path.to_vec()),
            _ => {}
        }
    }
    paths
}

/// Whether a directory is the top of a repository: `.git` is a directory that contains `refs`, as git demands, or, in
/// a submodule or a second work tree, a file with the place of that directory. `.git` itself is looked up first: in an autofs,
/// where every name may be a server's, a path through it would mount that.
pub(crate) fn begins(directory: &[u8], look: &Look<'_>) -> bool {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    let has = |name: &[u8]| {
        let path = CString::new([directory, slash, name].concat()).map_err(|_| Errno::INVAL)?;
        look(&path)
    };
    has(b".git").is_ok() && matches!(has(b".git/refs"), Ok(_) | Err(Errno::NOTDIR))
}

/// The directory above a path, if it has one.
fn parent(path: &[u8]) -> Option<&[u8]> {
    match memchr::memrchr(b'/', path)? {
        0 if path.len() == 1 => None,
        0 => Some(b"/"),
        slash => Some(&path[..slash]),
    }
}

/// The part of a path below a directory; empty for the directory itself. All relative paths are below the empty
/// directory.
fn below<'p>(directory: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(directory)?;
    match rest {
        [] => Some(rest),
        [b'/', rest @ ..] if !directory.is_empty() => Some(rest),
        _ if directory.is_empty() || directory.ends_with(b"/") => Some(rest),
        _ => None,
    }
}
