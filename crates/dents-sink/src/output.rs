//! A file that is there when it is whole, and not before.
//!
//! It is written under a temporary name in the directory it belongs to (`.NAME.PID-N.part`), brought to the disk and then
//! renamed: so whoever looks finds the old file or all of the new one, even after a crash. If the output is dropped before
//! [`Output::commit`], or if writing fails, the temporary file is removed; `kill -9` leaves it, and its name says whose it was.
//!
//! - The result of a complete scan replaces a file that was there. Its mode is kept; its owner too, if we may give files away.
//! - Any other result is renamed to `NAME.partial` and replaces what has that name; NAME is left as it was. No scan removes
//!   the `NAME.partial` of another.
//! - A symbolic link stays, and what it leads to is replaced; `NAME` is then the name that it leads to.
//! - `-` is stdout. A pipe, a device, and anything of `/dev/fd`, `/dev/std…`, `/proc` is written as it is: there is nothing to
//!   rename, and what a reader has read stays read.

use crate::{Extent, message};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What the name of a partial file ends in.
const PARTIAL: &[u8] = b".partial";

/// One file that is being written. Unbuffered: each `write` is a system call.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// As the user named it, for messages.
    named: PathBuf,
    rename: Option<Rename>,
    failed: bool,
}

/// From the temporary name to the final one. Removes the file if it is dropped before it was renamed.
#[derive(Debug)]
struct Rename {
    from: PathBuf,
    to: PathBuf,
    done: bool,
}

impl Drop for Rename {
    fn drop(&mut self) {
        if !self.done {
            // If it cannot be removed there is nobody to tell who has not heard of something worse.
            let _ = fs::remove_file(&self.from);
        }
    }
}

impl Output {
    /// Begins a file: a look at what is there, and an `openat`.
    ///
    /// # Errors
    /// If it cannot be created, or if no partial result could replace a directory of that name; the message names the
    /// file, the problem and the way out.
    pub fn create(path: &Path) -> io::Result<Output> {
        let output = Self::begin(path).map_err(|error| message::cannot_write(path, &error))?;
        if let Some(rename) = &output.rename {
            let partial = partial_path(&rename.to);
            if fs::symlink_metadata(&partial).is_ok_and(|there| there.is_dir()) {
                let problem = "a directory, where the result goes if the scan is not complete";
                return Err(message::bad_file(&partial, problem, "rename it, or name another file"));
            }
        }
        Ok(output)
    }

    fn begin(path: &Path) -> io::Result<Output> {
        let as_it_is = |file| Output { file, named: path.to_path_buf(), rename: None, failed: false };
        if path.as_os_str() == "-" {
            return Ok(as_it_is(File::from(io::stdout().as_fd().try_clone_to_owned()?)));
        }
        let target = end_of_links(path)?;
        let before = match fs::metadata(&target) {
            Ok(there) if there.is_dir() => return Err(io::Error::from(ErrorKind::IsADirectory)),
            Ok(there) if !there.is_file() || is_descriptor(&target) => {
                return Ok(as_it_is(OpenOptions::new().write(true).open(path)?));
            }
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (from, file) = create_beside(&target)?;
        let output = Output {
            file,
            named: path.to_path_buf(),
            rename: Some(Rename { from, to: target, done: false }),
            failed: false,
        };
        if let Some(before) = before {
            output.take_after(&before)?;
        }
        Ok(output)
    }

    /// The owner first: giving a file away clears set-user-ID bits.
    fn take_after(&self, before: &Metadata) -> io::Result<()> {
        let now = self.file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            // Only root may; anybody else becomes the owner, as with any editor that renames.
            let _ = std::os::unix::fs::fchown(&self.file, Some(before.uid()), Some(before.gid()));
        }
        self.file.set_permissions(before.permissions())
    }

    /// Where the bytes are now, if they will be renamed: for whoever writes there by its own means.
    #[must_use]
    pub fn temporary_path(&self) -> Option<&Path> {
        self.rename.as_ref().map(|rename| rename.from.as_path())
    }

    /// The path as the user named it.
    #[must_use]
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Gives the file its name, once it is on the disk, or if the scan is not complete that of the partial file: an
    /// `fdatasync` and a `rename`. Both are left out for what is written as it is. Gives the path that the file has then.
    ///
    /// # Errors
    /// If the disk or the directory refuses, or if a write failed before; then no file appears.
    pub fn commit(mut self, extent: Extent) -> io::Result<Option<PathBuf>> {
        if self.failed {
            let problem = io::Error::other("an earlier write failed");
            return Err(message::cannot_write(&self.named, &problem));
        }
        let Some(rename) = &mut self.rename else { return Ok(None) };
        let to = match extent {
            Extent::Complete => rename.to.clone(),
            Extent::Partial => partial_path(&rename.to),
        };
        let named = if extent == Extent::Complete { &self.named } else { &to };
        let renamed = self.file.sync_data().and_then(|()| fs::rename(&rename.from, &to));
        rename.done = renamed.is_ok();
        match renamed {
            Err(error) => Err(message::cannot_write(named, &error)),
            Ok(()) => Ok(Some(to)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| {
            if error.kind() == ErrorKind::Interrupted {
                return error;
            }
            self.failed = true;
            message::cannot_write(&self.named, &error)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a path leads to in the end, also if nothing is there yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as the kernel follows (`MAXSYMLINKS`).
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        // The links of /proc lead to what has no name (`pipe:[4711]`); metadata follows them all the same.
        if is_descriptor(&path) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // EINVAL: no link. Anything else will be met again where it can be told better.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(40))
}

/// Whether a path names an open descriptor, whatever that is.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|prefix| path.starts_with(prefix))
}

/// Where the result of a scan goes that is not complete: `NAME.partial`.
fn partial_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().as_bytes();
    // A name may have 255 bytes. Only names of 248 and more are cut, and come out with 228: so never as the file's own.
    let stem = if name.len() + PARTIAL.len() > 255 { &name[..220] } else { name };
    target.with_file_name(OsStr::from_bytes(&[stem, PARTIAL].concat()))
}

/// A new file in the same directory. `O_EXCL`, and a name that is ours by process and number, so one attempt is enough but
/// for what a killed process of the same number left behind.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let Some(name) = target.file_name() else { return Err(io::Error::from(ErrorKind::IsADirectory)) };
    // A name may have 255 bytes.
    let stem = &name.as_bytes()[..name.len().min(220)];
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = [b".", stem].concat();
        temporary.extend_from_slice(format!(".{}-{number}.part", std::process::id()).as_bytes());
        let path = target.with_file_name(OsString::from_vec(temporary));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (path, file)),
        }
    }
}
