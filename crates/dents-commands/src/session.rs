//! One run of a command: by the program `dents`, or inside another program.
//!
//! | | the program | another program |
//! |---|---|---|
//! | messages | [`Host::message`]: standard error | [`Host::message`] |
//! | stopped by | signals | [`Session::stop`] |
//! | progress | [`Host::progress`]: a line on the terminal | [`Session::seen`] |
//! | the result | standard output | [`Records`], or rows in a [`Sink`](dents_sink::Sink) |

pub use crate::counters::Counters;
use crate::message::{errno_text, quoteaf, quoted};
use crate::rows::Records;
use dents_core::mounts::Mounts;
use dents_core::tree::{Failure, Problem};
use dents_sink::Own;
use dents_sys::Errno;
use std::any::Any;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The exit status of a command: 0; 1 if something could not be read or written; 2 for wrong options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u8);

impl Status {
    /// All was read and written.
    pub const SUCCESS: Status = Status(0);
    /// Something could not be read or written.
    pub const FAILURE: Status = Status(1);
    /// Wrong options.
    pub const WRONG: Status = Status(2);
    /// 128 and the number of SIGINT.
    pub const INTERRUPTED: Status = Status(130);
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

/// What lasts until it is dropped.
pub type Guard = Box<dyn Any + Send>;

/// Progress that is shown until this is dropped.
pub trait Progress: Send + Sync {
    /// The counters that workers update.
    fn counters(&self) -> &Counters;
}

/// The program that runs a command.
pub trait Host: Send + Sync {
    /// Receives a message. All workers call it, so it must not wait long.
    fn message(&self, message: &Message<'_>);

    /// Begins to show progress: at once if the user `asked` for it; otherwise where it is of use.
    fn progress(&self, asked: bool, output_is_elsewhere: bool) -> Option<Box<dyn Progress>> {
        let _ = (asked, output_is_elsewhere);
        None
    }

    /// A file is being completed, until the guard is dropped: a stop waits for that.
    fn hold(&self) -> Guard {
        Box::new(())
    }

    /// The status of a run that was stopped.
    fn stopped(&self) -> Status {
        Status::INTERRUPTED
    }

    /// The reader of the output has closed it. The program may end here.
    fn closed_pipe(&self) -> Status {
        Status::FAILURE
    }
}

/// One run of a command.
pub struct Session {
    host: Box<dyn Host>,
    stop: Arc<AtomicBool>,
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
#[derive(Default)]
struct Inside {
    counters: Counters,
    table: Mutex<Option<Records>>,
}

impl Session {
    /// A run of the program `dents`, which `stop` stops.
    pub fn program(host: impl Host + 'static, stop: Arc<AtomicBool>) -> Session {
        Session::new(Box::new(host), stop, None)
    }

    /// A run inside another program.
    pub fn inside(host: impl Host + 'static) -> Session {
        Session::new(Box::new(host), Arc::default(), Some(Inside::default()))
    }

    fn new(host: Box<dyn Host>, stop: Arc<AtomicBool>, inside: Option<Inside>) -> Session {
        let (own, mounts, mounts_loop) = (Mutex::default(), Mutex::default(), OnceLock::new());
        Session { host, stop, inside, own, mounts, mounts_loop }
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
        self.stop.store(true, Relaxed);
    }

    /// The numbers of directories and of entries that the walk has found so far.
    #[must_use]
    pub fn seen(&self) -> [u64; 2] {
        self.counters().map_or([0; 2], Counters::seen)
    }

    /// The flag that stops the run.
    pub fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Whether the run must stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// The status of a run that was stopped: 128 plus the number of the signal.
    pub fn stopped(&self) -> Option<Status> {
        self.is_stopped().then(|| self.host.stopped())
    }

    /// The status after the reader of the output has closed it. A run of the program `dents` ends here.
    pub fn closed_pipe(&self) -> Status {
        self.host.closed_pipe()
    }

    /// Begins to show progress. See [`Host::progress`].
    pub(crate) fn progress(&self, asked: bool, output_is_elsewhere: bool) -> Option<Box<dyn Progress>> {
        self.host.progress(asked, output_is_elsewhere)
    }

    /// A file is being completed. See [`Host::hold`].
    #[must_use]
    pub(crate) fn hold(&self) -> Guard {
        self.host.hold()
    }

    /// The same for the file at `path`. Not for standard output (`-`): a stalled reader could block that forever.
    #[must_use]
    pub(crate) fn hold_for(&self, path: &Path) -> Option<Guard> {
        (path != Path::new("-")).then(|| self.hold())
    }

    /// Whether this is a run of the program `dents`.
    pub fn is_program(&self) -> bool {
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
        self.host.message(&Message { text, path, errno });
    }

    /// Writes a message, or passes it to the other program.
    pub fn say(&self, text: &[u8]) {
        self.give(text, None, None);
    }

    /// Reports wrong options.
    pub fn wrong(&self, error: &str) -> Status {
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
