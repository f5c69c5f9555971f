//! What goes wrong with a file, in one sentence: the file, the problem, the way out.

use std::io::{Error, ErrorKind};
use std::path::Path;

/// A file that cannot be written, and what to do about it.
pub(crate) fn cannot_write(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        // Whoever reads has gone, and no message would reach them: the kind is all that the caller needs.
        ErrorKind::BrokenPipe => return Error::from(ErrorKind::BrokenPipe),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "nothing is kept of this output; free some space, or write to another file system"
        }
        ErrorKind::NotFound => "make the directory first, or name a file in one that is there",
        ErrorKind::NotADirectory => "what is to hold the file is no directory; name another",
        ErrorKind::IsADirectory => "name a file in it",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a file in a directory where you may write"
        }
        ErrorKind::FileTooLarge => "raise the limit (ulimit -f), or scan in parts",
        _ => "nothing is kept of this output; try another place",
    };
    Error::new(error.kind(), format!("{}: cannot write: {}; {way_out}", shown(path), plain(error)))
}

/// A file that cannot be opened or read.
pub(crate) fn cannot_read(path: &Path, error: &Error) -> Error {
    let way_out = match error.kind() {
        ErrorKind::NotFound => "name a file that a scan has written",
        ErrorKind::IsADirectory => "name a file; to look at a live tree, name it as a path",
        ErrorKind::PermissionDenied => "ask its owner, or read as somebody who may",
        _ => "copy it anew, or scan again",
    };
    Error::new(error.kind(), format!("{}: cannot read: {}; {way_out}", shown(path), plain(error)))
}

/// A file whose contents are not what they should be.
pub(crate) fn bad_file(path: &Path, problem: &str, way_out: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{}: {problem}; {way_out}", shown(path)))
}

/// A file that ends too early, or was changed.
pub(crate) fn damaged(path: &Path, problem: &str) -> Error {
    bad_file(path, &format!("cut off or damaged: {problem}"), "copy it anew, or scan again")
}

/// A file that a later program wrote.
pub(crate) fn too_new(path: &Path, version: u64) -> Error {
    let ours = crate::SCHEMA;
    let problem =
        format!("written with version {version} of the schema, and this program knows up to {ours}");
    bad_file(path, &problem, "read it with the program that wrote it, or a newer one")
}

/// A path that no terminal takes for more than text.
fn shown(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().utf8_chunks().fold(String::new(), |mut shown, chunk| {
        for c in chunk.valid().chars() {
            if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        shown
    })
}

/// An error as people read it: what strerror(3) calls it, without std's "(os error 28)".
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
    fn file_problem_and_way_out_stand_in_one_line() {
        let path = Path::new(OsStr::from_bytes(b"a\n\xff\x1bb"));
        let error = cannot_write(path, &Error::from_raw_os_error(28));
        assert_eq!(
            error.to_string(),
            "a\\n\\xff\\u{1b}b: cannot write: No space left on device; nothing is kept of this output; \
             free some space, or write to another file system"
        );
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
