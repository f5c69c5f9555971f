//! The git processes: how they are started, and how long `dls` waits for them.
//!
//! There are two for each request. `git status` is started confined: the kernel lets it start no process, whatever the
//! repository configures. Meanwhile `git config --list` prints the configured programs (`settings`). Most repositories
//! configure none, and the output of `git status` is used. If the repository configures some, `git status` is started
//! again with these settings removed; if the user's own configuration does, it is started again with that
//! configuration, unconfined.

use super::programs::Programs;
use super::settings::Settings;
use super::status::Statuses;
use crate::errno::message;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_rt::{Running, Status, Step};
use dents_sys::clock;

/// Paths named to git at most. Beyond, it is asked about the whole work tree: it compares each file with each of these.
const MOST_PATHS: usize = 64;

/// Variables that would make git use another repository than the one that was found: all that `git rev-parse
/// --local-env-vars` prints, except settings. A repository in GIT_DIR would also bypass git's check of the owner.
const WITHOUT: &[&[u8]] = &[
    b"GIT_DIR",
    b"GIT_WORK_TREE",
    b"GIT_COMMON_DIR",
    b"GIT_INDEX_FILE",
    b"GIT_OBJECT_DIRECTORY",
    b"GIT_ALTERNATE_OBJECT_DIRECTORIES",
    b"GIT_PREFIX",
    b"GIT_NAMESPACE",
    b"GIT_SHALLOW_FILE",
    b"GIT_GRAFT_FILE",
    b"GIT_INTERNAL_SUPER_PREFIX",
];

/// Git writes nothing, takes no lock that could disturb another git, and fetches nothing: the second variable tells
/// git 2.45 and later, the third, which allows no protocol, all versions.
const WITH: &[&CStr] = &[c"GIT_OPTIONAL_LOCKS=0", c"GIT_NO_LAZY_FETCH=1", c"GIT_ALLOW_PROTOCOL="];

/// The arguments before the options and the top of the work tree. The top has a `.git`; if git does not accept it, it
/// must not use a bare repository instead, because a cloned repository can contain one.
const BEFORE: &[&CStr] = &[c"git", c"--literal-pathspecs", c"-c", c"safe.bareRepository=explicit"];

/// The first question.
const CONFIG: &[&CStr] = &[c"config", c"--list", c"--show-scope", c"-z"];

/// The arguments of `git status` before the paths. It must not look into submodules: for that it would start another
/// git, with the configuration of the submodule.
const STATUS: &[&CStr] = &[c"status", c"--porcelain=v2", c"-z", c"--ignore-submodules=dirty"];
/// With a search for untracked and ignored files, and without.
const SEARCH: &[&CStr] = &[c"--untracked-files=normal", c"--ignored=matching", c"--"];
const NO_SEARCH: &[&CStr] = &[c"--untracked-files=no", c"--"];

/// The largest output: about a million paths. A git that prints more is killed.
const MOST_SAID: usize = 64 << 20;

/// A request to git, then its answer.
pub(super) enum GitRequest {
    /// `git config` and a confined `git status` run.
    Preparing(Preparing),
    /// The `git status` whose output will be used.
    Asked(Child),
    /// It has answered, after so many nanoseconds.
    Answered(Statuses, u64),
    /// It was not waited for any longer.
    Late(u64),
    /// The output was longer than [`MOST_SAID`].
    TooMuch,
    /// Git failed, for this reason.
    Failed(String),
}

/// The arguments of a request, and how git is started.
pub(super) struct GitArguments<'a> {
    pub(super) programs: &'a dyn Programs,
    /// The top of the work tree.
    pub(super) top: &'a [u8],
    /// Relative to it.
    pub(super) paths: &'a [Vec<u8>],
    /// Whether ignored files must be known, whatever git is set to search for.
    pub(super) hides: bool,
    /// How long git may take from the begin of the search for its repository; without one, as long as it takes.
    pub(super) budget_ns: Option<u64>,
}

/// Both children.
pub(super) struct Preparing {
    config: Child,
    /// The confined `git status`. `None` if no process could be confined.
    status: Option<Child>,
}

/// One of the children.
pub(super) struct Child {
    git: Running,
    /// Its output so far.
    said: Vec<u8>,
    /// When the search for the repository began, by [`clock::monotonic_ns`].
    since_ns: u64,
}

impl GitRequest {
    /// Starts git, whose time counts from `since_ns`.
    pub(super) fn ask(about: &GitArguments<'_>, since_ns: u64) -> GitRequest {
        // Refused where the kernel cannot confine it.
        let status = about.status(&Settings::nothing(), true, since_ns).ok();
        Self::prepare(about, status, since_ns).unwrap_or_else(|failed| failed)
    }

    fn prepare(
        about: &GitArguments<'_>,
        status: Option<Child>,
        since_ns: u64,
    ) -> Result<GitRequest, GitRequest> {
        let config = about.start(&Settings::default(), CONFIG, status.is_some(), since_ns)?;
        Ok(GitRequest::Preparing(Preparing { config, status }))
    }

    /// Waits until it is known which `git status` counts: a matter of a millisecond or two.
    pub(super) fn proceed(&mut self, about: &GitArguments<'_>) {
        while let GitRequest::Preparing(preparing) = self {
            *self = preparing.end(about).unwrap_or_else(|failed| failed);
        }
    }

    /// Waits for the answer until the budget, counted from the start, is spent.
    pub(super) fn settle(&mut self, about: &GitArguments<'_>) {
        self.proceed(about);
        let GitRequest::Asked(child) = self else { return };
        *self = match child.wait(about.budget_ns) {
            Err(end) => end,
            Ok(Status::Exited(0)) => {
                let took_ns = clock::monotonic_ns().saturating_sub(child.since_ns);
                GitRequest::Answered(Statuses::parse(core::mem::take(&mut child.said)), took_ns)
            }
            Ok(status) => failed(status),
        };
    }
}

impl Preparing {
    fn end(&mut self, about: &GitArguments<'_>) -> Result<GitRequest, GitRequest> {
        let ended = self.config.wait(about.budget_ns)?;
        let (status, since_ns) = (self.status.take(), self.config.since_ns);
        let confined = status.is_some();
        if ended != Status::Exited(0) {
            // Git exits with status 128 or 129 itself. Another status comes from a wrapper script that must start
            // processes: `dls` trusts it, because it is in the user's PATH.
            let refused = !confined || matches!(ended, Status::Exited(128 | 129));
            return if refused { Err(failed(ended)) } else { GitRequest::prepare(about, None, since_ns) };
        }
        let unreadable = || GitRequest::Failed("what git says of its configuration cannot be read".into());
        let mut settings = Settings::parse(&self.config.said).ok_or_else(unreadable)?;
        settings.tracked_alone &= !about.hides;
        let counts = status.filter(|_| settings == Settings::nothing());
        counts
            .map_or_else(|| about.status(&settings, confined && !settings.own_programs, since_ns), Ok)
            .map(GitRequest::Asked)
    }
}

impl GitArguments<'_> {
    /// Asks about the paths, or about all of the work tree if one of them is its top.
    fn status(&self, settings: &Settings, confined: bool, since_ns: u64) -> Result<Child, GitRequest> {
        let all = self.paths.len() > MOST_PATHS || self.paths.iter().any(Vec::is_empty);
        let paths = if all { &[] } else { self.paths };
        let paths: Vec<CString> = paths.iter().map(|path| c_string(path)).collect();
        let search = if settings.tracked_alone { NO_SEARCH } else { SEARCH };
        let mut command = [STATUS, search].concat();
        command.extend(paths.iter().map(CString::as_c_str));
        self.start(settings, &command, confined, since_ns)
    }

    fn start(
        &self,
        settings: &Settings,
        command: &[&CStr],
        confined: bool,
        since_ns: u64,
    ) -> Result<Child, GitRequest> {
        let top = c_string(self.top);
        let mut argv = BEFORE.to_vec();
        argv.extend(settings.options.iter().map(CString::as_c_str));
        argv.extend([c"-C", &top]);
        argv.extend(command);
        let mut with = WITH.to_vec();
        with.extend(settings.variables.iter().map(CString::as_c_str));
        match self.programs.start(&argv, WITHOUT, &with, confined) {
            Ok(git) => Ok(Child { git, said: Vec::new(), since_ns }),
            Err(errno) => Err(GitRequest::Failed(format!("cannot run git: {}", message(errno)))),
        }
    }
}

impl Child {
    /// Waits for its end: the status, or the state of the request if there is none.
    fn wait(&mut self, budget_ns: Option<u64>) -> Result<Status, GitRequest> {
        /// One wait of several.
        const LONG_NS: u64 = 60_000_000_000;
        let since_ns = self.since_ns;
        let spent_ns = || clock::monotonic_ns().saturating_sub(since_ns);
        loop {
            let left_ns = budget_ns.map_or(LONG_NS, |budget_ns| budget_ns.saturating_sub(spent_ns()));
            let step = self.git.step(left_ns, &mut self.said);
            if self.said.len() > MOST_SAID {
                return Err(GitRequest::TooMuch);
            }
            match step {
                Ok(Step::On) if left_ns > 0 => {}
                Ok(Step::Late) if budget_ns.is_none() => {}
                Ok(Step::On | Step::Late) => return Err(GitRequest::Late(spent_ns())),
                Ok(Step::Ended(status)) => return Ok(status),
                Err(errno) => {
                    return Err(GitRequest::Failed(format!("cannot read from git: {}", message(errno))));
                }
            }
        }
    }
}

fn c_string(path: &[u8]) -> CString {
    CString::new(path).unwrap_or_default()
}

fn failed(status: Status) -> GitRequest {
    GitRequest::Failed(match status {
        Status::Exited(status) => format!("git ended with status {status}"),
        Status::Signaled(signal) => format!("git was ended by signal {signal}"),
        Status::Unknown => "how git ended cannot be known: SIGCHLD is ignored".into(),
    })
}
