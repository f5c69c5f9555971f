//! Error messages about files, in one sentence: the file, the problem, a remedy.

use dents_render::invisible::must_escape;
use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The problem of a directory or file that another user could exchange or has put there, and a way out, in one sentence.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::new(ErrorKind::PermissionDenied, refused)
    }
}

/// The error for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        // The reader of the pipe has closed it. The caller only needs the kind of error.
        ErrorKind::BrokenPipe => return Error::from(ErrorKind::BrokenPipe),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "nothing is kept of this output; free some space, or write to another file system"
        }
        ErrorKind::NotFound => "make the directory first, or name a file in one that exists",
        ErrorKind::NotADirectory => "a component of the path is not a directory; name another",
        ErrorKind::IsADirectory => "name a file in it",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a file in a directory where you may write"
        }
        ErrorKind::FileTooLarge => "raise the limit (ulimit -f), or scan in parts",
        _ => "nothing is kept of this output; try another place",
    };
    sentence(path, "cannot write", error, way_out)
}

/// The error for a directory, or a file in it, that cannot be used for a journal.
pub(crate) fn no_journal(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a directory where you may write",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or name a directory on another file system"
        }
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "name a directory, or a path that does not exist"
        }
        _ => "name a directory on another file system",
    };
    sentence(path, "cannot use it for a journal", error, way_out)
}

/// The error for a temporary file in this directory that the program cannot `write` or `read`.
pub(crate) fn temporary(act: &str, dir: &Path, error: &Error, way_out: &str) -> Error {
    let (dir, problem) = (shown(dir), plain(error));
    let text = format!("cannot {act} a temporary file in '{dir}': {problem}; {way_out}");
    Error::new(error.kind(), text)
}

/// The error for a file that cannot be opened or read.
pub(crate) fn cannot_read(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        ErrorKind::NotFound => "name a file that a scan has written",
        ErrorKind::IsADirectory => "name a file; to scan a tree, name it as a path",
        ErrorKind::PermissionDenied => "ask its owner for permission, or read as another user",
        _ => "copy it again, or scan again",
    };
    sentence(path, "cannot read", error, way_out)
}

/// The error for a directory of a scan in parts that cannot be opened.
pub(crate) fn cannot_open(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        ErrorKind::NotFound => "dents parts start makes one",
        _ => "name another directory",
    };
    sentence(path, "cannot open", error, way_out)
}

/// A refusal has a way out of its own.
fn sentence(path: &Path, problem: &str, error: &Error, way_out: &str) -> Error {
    let is_refused = error.get_ref().is_some_and(|inner| inner.is::<Refused>());
    let end = if is_refused { String::new() } else { format!("; {way_out}") };
    Error::new(error.kind(), format!("{}: {problem}: {}{end}", shown(path), plain(error)))
}

/// The error for a file with wrong contents.
pub(crate) fn bad_file(path: &Path, problem: &str, way_out: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{}: {problem}; {way_out}", shown(path)))
}

/// The error for a file that was cut off or changed.
pub(crate) fn damaged(path: &Path, problem: &str) -> Error {
    bad_file(path, &format!("cut off or damaged: {problem}"), "copy it again, or scan again")
}

/// The error for a file that another program has locked.
pub(crate) fn in_use(path: &Path, problem: &str) -> Error {
    let text = format!(
        "{}: cannot read: {problem}; another program writes it: try again when that has ended",
        shown(path)
    );
    Error::new(ErrorKind::ResourceBusy, text)
}

/// The error for a file of a later version of the schema.
pub(crate) fn too_new(path: &Path, version: u64, ours: u32) -> Error {
    let problem =
        format!("written with version {version} of the schema, and this program knows up to {ours}");
    bad_file(path, &problem, "read it with the program that wrote it, or a newer one")
}

/// A path with its control characters, and those that are not visible or change the direction of writing, escaped.
pub(crate) fn shown(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().utf8_chunks().fold(String::new(), |mut shown, chunk| {
        for (at, c) in chunk.valid().char_indices() {
            if c.is_control() || must_escape(chunk.valid().as_bytes(), at, c.len_utf8()) {
                shown.extend(c.escape_default())
            } else {
                shown.push(c)
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        shown
    })
}

/// The text of an error, that of strerror(3), without std's "(os error 28)".
pub fn plain(error: &Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text[..at].to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_journal_has_a_way_out() {
        let told = |error| no_journal(Path::new("j"), &Error::from_raw_os_error(error)).to_string();
        let expected =
            "j: cannot use it for a journal: Permission denied; name a directory where you may write";
        assert_eq!(told(13), expected);
        assert!(told(17).ends_with("; name a directory, or a path that does not exist"));
    }

    #[test]
    fn file_problem_and_way_out_stand_in_one_line() {
        let path = Path::new(OsStr::from_bytes(b"a\n\xff\x1bb\xe2\x80\xae"));
        let error = cannot_write(path, &Error::from_raw_os_error(28));
        assert_eq!(
            error.to_string(),
            "a\\n\\xff\\u{1b}b\\u{202e}: cannot write: No space left on device; nothing is kept of this output; \
             free some space, or write to another file system"
        );
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
