use dents_sys::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// The error of one file or directory of a walk or a listing. It does not end the walk: other entries are still
/// yielded. Only [`is_cancelled`](Error::is_cancelled) and [`is_timeout`](Error::is_timeout) tell of the end.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    path: PathBuf,
    depth: usize,
    problem: Problem,
    source: io::Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    /// A system call failed, or the path cannot be one.
    Failed,
    Loop,
    Cancelled,
    TimedOut,
}

impl Error {
    pub(crate) fn new(path: &[u8], depth: usize, errno: Errno) -> Error {
        let path = Path::new(OsStr::from_bytes(path)).to_owned();
        let source = io::Error::from_raw_os_error(errno.raw_os_error());
        Error { path, depth, problem: Problem::Failed, source }
    }

    pub(crate) fn of_loop(self) -> Error {
        Error { problem: Problem::Loop, ..self }
    }

    /// The last item of a walk from `root` that ended early: cancelled, or else timed out.
    pub(crate) fn of_end(root: &Path, is_cancelled: bool) -> Error {
        let (problem, errno) = match is_cancelled {
            true => (Problem::Cancelled, Errno::CANCELED),
            false => (Problem::TimedOut, Errno::TIMEDOUT),
        };
        Error { problem, ..Error::new(root.as_os_str().as_bytes(), 0, errno) }
    }

    /// The path of the file or directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The depth of the file: 0 for a root.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The kind of error, in std's terms.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The kernel's error number (errno(3)).
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// Whether this is one of the directories above it, through a symbolic link. The walk does not enter it.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.problem == Problem::Loop
    }

    /// Whether the walk ended here because its [`Cancel`](crate::Cancel) was cancelled: not everything was seen. It is the last item.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.problem == Problem::Cancelled
    }

    /// Whether the walk ended here because its [timeout](crate::Walk::timeout) passed: not everything was seen. It is the last item.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.problem == Problem::TimedOut
    }

    /// The error without its path.
    #[must_use]
    pub fn into_io_error(self) -> io::Error {
        self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.problem {
            Problem::Failed => write!(out, "{path}: {}", self.source),
            Problem::Loop => write!(out, "{path}: a loop: it is one of the directories above it"),
            Problem::Cancelled => write!(out, "{path}: cancelled before everything was seen"),
            Problem::TimedOut => write!(out, "{path}: timed out before everything was seen"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<Error> for io::Error {
    /// The new error has the kind of this error, and contains it, with its path.
    fn from(error: Error) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}
