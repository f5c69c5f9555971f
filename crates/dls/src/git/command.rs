//! The child: how git is called, and how long it is waited for.

use super::Programs;
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

/// What would have git look for another repository than the one that was found: all that `git rev-parse
/// --local-env-vars` names but settings. A repository named by GIT_DIR would also escape the check of its owner.
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

/// Nothing is written, no lock taken that another git would stumble over; and nothing is fetched.
const WITH: &[&CStr] = &[c"GIT_OPTIONAL_LOCKS=0", c"GIT_NO_LAZY_FETCH=1"];

/// Before the top of the work tree. That it has a `.git` is known; should git disagree, it must not take a bare repository,
/// which anybody can hide in what others clone, for one.
const BEFORE: &[&CStr] = &[c"git", c"--literal-pathspecs", c"-c", c"safe.bareRepository=explicit", c"-C"];

/// After it, and before the paths.
const AFTER: &[&CStr] =
    &[c"status", c"--porcelain=v2", c"-z", c"--untracked-files=normal", c"--ignored=matching", c"--"];

/// A question to git, and its answer once that is there.
pub(super) enum Question {
    /// Under way.
    Asked {
        /// The child.
        git: Running,
        /// What it has said so far.
        said: Vec<u8>,
        /// When it was started, by [`clock::monotonic_ns`].
        since_ns: u64,
    },
    /// It has answered, after so many nanoseconds.
    Answered(Statuses, u64),
    /// It was not waited for any longer.
    Late(u64),
    /// There is no answer, for this reason.
    Failed(String),
}

impl Question {
    /// Starts git: about the paths, relative to the `top` of its work tree; about all of it if one of them is the top
    /// itself.
    pub(super) fn ask(programs: &dyn Programs, top: &[u8], paths: &[Vec<u8>]) -> Question {
        let all = paths.len() > MOST_PATHS || paths.iter().any(Vec::is_empty);
        let paths = if all { &[] } else { paths };
        let owned = |path: &[u8]| CString::new(path).unwrap_or_default();
        let (top, paths) = (owned(top), paths.iter().map(|path| owned(path)).collect::<Vec<_>>());
        let mut argv = BEFORE.to_vec();
        argv.push(&top);
        argv.extend(AFTER);
        argv.extend(paths.iter().map(CString::as_c_str));
        let since_ns = clock::monotonic_ns();
        match programs.start(&argv, WITHOUT, WITH) {
            Ok(git) => Question::Asked { git, said: Vec::new(), since_ns },
            Err(errno) => Question::Failed(format!("cannot run git: {}", message(errno))),
        }
    }

    /// Waits for the answer until the budget, counted from the start, is spent; without one, as long as it takes.
    pub(super) fn settle(&mut self, budget_ns: Option<u64>) {
        /// One wait of several.
        const LONG_NS: u64 = 60_000_000_000;
        let Question::Asked { git, said, since_ns } = self else { return };
        let since_ns = *since_ns;
        *self = loop {
            let spent_ns = || clock::monotonic_ns().saturating_sub(since_ns);
            let left_ns = budget_ns.map_or(LONG_NS, |budget_ns| budget_ns.saturating_sub(spent_ns()));
            match git.step(left_ns, said) {
                Ok(Step::On) if left_ns > 0 => {}
                Ok(Step::Late) if budget_ns.is_none() => {}
                Ok(Step::On | Step::Late) => break Question::Late(spent_ns()),
                Ok(Step::Ended(status)) => break answer(status, core::mem::take(said), spent_ns()),
                Err(errno) => break Question::Failed(format!("cannot read from git: {}", message(errno))),
            }
        };
    }
}

fn answer(status: Status, said: Vec<u8>, took_ns: u64) -> Question {
    let failed = match status {
        Status::Exited(0) => match Statuses::parse(said) {
            Some(statuses) => return Question::Answered(statuses, took_ns),
            None => "git said more than 4 GiB".into(),
        },
        Status::Exited(status) => format!("git ended with status {status}"),
        Status::Signaled(signal) => format!("git was ended by signal {signal}"),
        Status::Unknown => "how git ended cannot be known: SIGCHLD is ignored".into(),
    };
    Question::Failed(failed)
}
