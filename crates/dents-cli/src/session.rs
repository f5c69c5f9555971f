//! One run of a command: by the program `dents`, or inside another program.
//!
//! | | the program | another program |
//! |---|---|---|
//! | messages | standard error | [`Host::message`] |
//! | stopped by | signals ([`interrupt`]) | [`Session::stop`] |
//! | progress | a line on the terminal | [`Session::seen`] |
//! | the result | standard output | [`Records`], or rows in a [`Sink`](dents_sink::Sink) |

use crate::interrupt;
use crate::message::{self, errno_text, quoteaf, quoted};
use crate::output::Records;
use crate::progress::Counters;
use dents_core::mounts::Mounts;
use dents_core::tree::{Failure, Problem};
use dents_sink::Own;
use dents_sys::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The exit status of a command: 0; 1 if something could not be read or written; 2 for wrong options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u8);

impl Status {
    pub(crate) const SUCCESS: Status = Status(0);
    pub(crate) const FAILURE: Status = Status(1);
    pub(crate) const WRONG: Status = Status(2);
    /// 128 and the number of SIGINT.
    pub(crate) const INTERRUPTED: Status = Status(130);
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.0)
    }
}

/// A message. The program `dents` writes it to standard error, after its name.
#[derive(Clone, Copy, Debug)]
pub struct Message<'m> {
    /// Its text: a line without a newline. Names are quoted and escaped.
    pub text: &'m [u8],
    /// The file or directory for which a system call failed.
    pub path: Option<&'m [u8]>,
    /// The error number of the call.
    pub errno: Option<i32>,
}

/// The program inside which a command runs.
pub trait Host: Send + Sync {
    /// Receives a message. All workers call it, so it must not wait long.
    fn message(&self, message: &Message<'_>);
}

/// One run of a command.
pub struct Session {
    inside: Option<Inside>,
    /// What the run itself reads or writes, and leaves out where it comes across it.
    own: Mutex<Vec<Own>>,
    mounts: Mutex<Mounts>,
    /// Computed once: `du` asks for each operand.
    mounts_loop: OnceLock<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of a run inside another program.
struct Inside {
    host: Box<dyn Host>,
    stop: Arc<AtomicBool>,
    counters: Counters,
    table: Mutex<Option<Records>>,
}

impl Session {
    /// A run of the program. From now on the first SIGINT, SIGTERM or SIGHUP stops it.
    pub(crate) fn program() -> Session {
        interrupt::flag();
        Session::new(None)
    }

    /// A run inside another program.
    pub fn inside(host: impl Host + 'static) -> Session {
        let (stop, counters) = (Arc::default(), Counters::default());
        let inside = Inside { host: Box::new(host), stop, counters, table: Mutex::new(None) };
        Session::new(Some(inside))
    }

    fn new(inside: Option<Inside>) -> Session {
        Session { inside, own: Mutex::default(), mounts: Mutex::default(), mounts_loop: OnceLock::new() }
    }

    /// Walks that begin from now on leave these out, too.
    pub(crate) fn leave_out(&self, own: impl IntoIterator<Item = Own>) {
        lock(&self.own).extend(own);
    }

    /// What is left out.
    pub(crate) fn own(&self) -> Vec<Own> {
        lock(&self.own).clone()
    }

    /// Whether a walk may find the same files below two mount points. See [`Mounts::overlap`].
    pub(crate) fn mounts_overlap(&self) -> bool {
        lock(&self.mounts).overlap()
    }

    /// Whether a directory is mounted below itself. See [`Mounts::any_loop`].
    pub(crate) fn mounts_loop(&self) -> bool {
        *self.mounts_loop.get_or_init(|| lock(&self.mounts).any_loop())
    }

    /// Stops the run: its workers end after their present system calls.
    pub fn stop(&self) {
        self.stop_flag().store(true, Relaxed);
    }

    /// The numbers of directories and of entries that the walk has found so far.
    #[must_use]
    pub fn seen(&self) -> [u64; 2] {
        self.counters().map_or([0; 2], Counters::seen)
    }

    /// The flag that stops the run.
    pub(crate) fn stop_flag(&self) -> &Arc<AtomicBool> {
        match &self.inside {
            None => interrupt::flag(),
            Some(inside) => &inside.stop,
        }
    }

    /// Whether the run must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop_flag().load(Relaxed)
    }

    /// The status of a run that was stopped: 128 plus the number of the signal.
    pub(crate) fn stopped(&self) -> Option<Status> {
        match &self.inside {
            None => interrupt::status(),
            Some(_) => self.is_stopped().then_some(Status::INTERRUPTED),
        }
    }

    /// The status after the reader of the output has closed it. A run of the program `dents` ends here.
    pub(crate) fn closed_pipe(&self) -> Status {
        if self.is_program() { interrupt::die_of_closed_pipe() } else { Status::FAILURE }
    }

    /// Whether this is a run of the program `dents`.
    pub(crate) fn is_program(&self) -> bool {
        self.inside.is_none()
    }

    /// The counters of a run inside another program.
    pub(crate) fn counters(&self) -> Option<&Counters> {
        self.inside.as_ref().map(|inside| &inside.counters)
    }

    /// The place for the table of a run inside another program.
    pub(crate) fn table(&self) -> Option<MutexGuard<'_, Option<Records>>> {
        self.inside.as_ref().map(|inside| lock(&inside.table))
    }

    fn give(&self, text: &[u8], path: Option<&[u8]>, errno: Option<i32>) {
        match &self.inside {
            None => message::say(text),
            Some(inside) => inside.host.message(&Message { text, path, errno }),
        }
    }

    /// Writes a message, or passes it to the other program.
    pub(crate) fn say(&self, text: &[u8]) {
        self.give(text, None, None);
    }

    /// Reports wrong options.
    pub(crate) fn wrong(&self, error: &str) -> Status {
        self.say(error.as_bytes());
        Status::WRONG
    }

    /// `PROBLEM 'NAME': REASON`: the form of all messages about a failed operation on a file.
    pub(crate) fn about(&self, problem: &str, name: &[u8], reason: &str) {
        self.failed(problem, name, reason, None);
    }

    fn failed(&self, problem: &str, name: &[u8], reason: &str, errno: Option<Errno>) {
        let text = [problem.as_bytes(), b" ", &quoteaf(name), b": ", reason.as_bytes()].concat();
        self.give(&text, Some(name), errno.map(Errno::raw_os_error));
    }

    /// `'NAME': STATE`: a message about a file that was read.
    pub(crate) fn of(&self, name: &OsStr, state: &str) {
        let name = name.as_bytes();
        self.give(&[&quoteaf(name), &b": "[..], state.as_bytes()].concat(), Some(name), None);
    }

    /// Reports a directory that could not be entered or read to its end.
    pub(crate) fn complain(&self, failure: &Failure<'_>) {
        let (problem, path) = (failure.problem, failure.path);
        let reason = errno_text(failure.errno.raw_os_error());
        match problem {
            Problem::Open => self.cannot_open(path, failure.errno),
            Problem::Read => self.failed("reading directory", path, &reason, Some(failure.errno)),
            Problem::Loop => {
                let reason = "File system loop: it is one of the directories above it";
                self.failed("cannot enter", path, reason, Some(Errno::LOOP));
            }
        }
    }

    /// Reports a directory that could not be opened.
    pub(crate) fn cannot_open(&self, path: &[u8], errno: Errno) {
        self.failed("cannot open directory", path, &errno_text(errno.raw_os_error()), Some(errno));
    }

    /// Reports an entry for which `statx` failed.
    pub(crate) fn cannot_access(&self, path: &[u8], errno: Errno) {
        self.failed("cannot access", path, &errno_text(errno.raw_os_error()), Some(errno));
    }

    /// Reports a PATH that a scan does not have.
    pub(crate) fn not_in_scan(&self, path: &[u8], file: &[u8]) {
        let [path, file] = [path, file].map(quoted);
        self.say(&[b"cannot find ", &path[..], b" in ", &file, b"; name it as the scan does"].concat());
    }
}
