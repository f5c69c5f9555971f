use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// The error of one file or directory of a walk or a listing. It does not end the walk: other entries are still
/// yielded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    path: PathBuf,
    depth: usize,
    is_loop: bool,
    source: io::Error,
}

impl Error {
    pub(crate) fn new(path: &[u8], depth: usize, errno: dents_sys::Errno) -> Error {
        let path = Path::new(OsStr::from_bytes(path)).to_owned();
        Error { path, depth, is_loop: false, source: io::Error::from_raw_os_error(errno.raw_os_error()) }
    }

    pub(crate) fn of_loop(self) -> Error {
        Error { is_loop: true, ..self }
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

    /// Whether this is a symbolic link to a directory above it. The walk does not enter it.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.is_loop
    }

    /// The error without its path.
    #[must_use]
    pub fn into_io_error(self) -> io::Error {
        self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_loop {
            return write!(out, "{}: a symbolic link to a directory above it", self.path.display());
        }
        write!(out, "{}: {}", self.path.display(), self.source)
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
