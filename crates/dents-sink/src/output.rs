//! An output file that appears when it is complete.
//!
//! It is written under a temporary name in its directory (`.NAME.PID-N.part`), synced and then renamed: readers find the old
//! file or the complete new one, even after a crash. If the output is dropped before [`Output::commit`], or if writing
//! fails, the temporary file is removed; `kill -9` leaves it, and its name has the process ID.
//!
//! - The result of a complete scan replaces a file that was there. Its mode is kept; its owner too, if the process may change it.
//! - Any other result is renamed to `NAME.partial` and replaces a file of that name; NAME is left unchanged. A complete scan does not
//!   remove `NAME.partial`.
//! - A symbolic link stays, and the file that it leads to is replaced; `NAME` is then the name of that file.
//! - `-` is stdout. A pipe, a device, and anything of `/dev/fd`, `/dev/std…`, `/proc` is written directly: there is nothing to
//!   rename, and a reader may have read some of it.

use crate::{Extent, message};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The suffix of partial files.
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
    /// Whether a file that is there stays.
    once: bool,
    done: bool,
}

impl Drop for Rename {
    fn drop(&mut self) {
        if !self.done {
            // An error here is ignored: a worse one was reported before.
            let _ = fs::remove_file(&self.from);
        }
    }
}

impl Output {
    /// Begins a file: `stat` of the old file, and `openat`.
    ///
    /// # Errors
    /// If it cannot be created, or if `NAME.partial` is a directory; the message names the file, the problem and a remedy.
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

    /// Begins a file that several processes may write at once, for instance on several machines: the first of them wins. Whatever its
    /// extent is, it gets this name.
    ///
    /// # Errors
    /// If it cannot be created. [`Self::commit`] fails with [`ErrorKind::AlreadyExists`] if another process has won.
    pub(crate) fn create_once(path: &Path) -> io::Result<Output> {
        let (from, file) = create_beside(path, 0o666).map_err(|error| message::cannot_write(path, &error))?;
        let rename = Rename { from, to: path.to_path_buf(), once: true, done: false };
        Ok(Output { file, named: path.to_path_buf(), rename: Some(rename), failed: false })
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
        let (from, file) = create_beside(&target, 0o666)?;
        let output = Output {
            file,
            named: path.to_path_buf(),
            rename: Some(Rename { from, to: target, once: false, done: false }),
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
            // Only root may; otherwise the user becomes the owner, as with editors that rename.
            let _ = std::os::unix::fs::fchown(&self.file, Some(before.uid()), Some(before.gid()));
        }
        self.file.set_permissions(before.permissions())
    }

    /// The path of the temporary file, if there is one: for SQLite, which opens it itself.
    #[must_use]
    pub fn temporary_path(&self) -> Option<&Path> {
        self.rename.as_ref().map(|rename| rename.from.as_path())
    }

    /// The path as the user named it.
    #[must_use]
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Where temporary files of this output go: beside it, or where it is no file, into `$TMPDIR` or `/tmp`.
    pub(crate) fn scratch(&self) -> Scratch {
        let temporary = Scratch::temporary();
        let beside = self.rename.as_ref().map_or(temporary.beside, |rename| rename.to.clone());
        Scratch { beside, output: Some(self.named.clone()) }
    }

    /// Gives the file its final name; if the scan is not complete, that of the partial file: `fdatasync` and `rename`. Both
    /// are left out for a pipe or device. Returns the path if it was renamed.
    ///
    /// # Errors
    /// If one of the two calls fails, or if a write failed before; then no file appears.
    pub fn commit(mut self, extent: Extent) -> io::Result<Option<PathBuf>> {
        if self.failed {
            let problem = io::Error::other("an earlier write failed");
            return Err(message::cannot_write(&self.named, &problem));
        }
        let Some(rename) = &mut self.rename else { return Ok(None) };
        if rename.once {
            let published = self.file.sync_all().and_then(|()| publish(&rename.from, &rename.to));
            return match published {
                // The temporary name is removed when `self` is dropped.
                Ok(true) => Ok(Some(rename.to.clone())),
                Ok(false) => Err(io::Error::from(ErrorKind::AlreadyExists)),
                Err(error) => Err(message::cannot_write(&self.named, &error)),
            };
        }
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

/// Makes temporary files: of an output, or of a program.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// The directory of this path is theirs.
    beside: PathBuf,
    /// The output, as the user named it.
    output: Option<PathBuf>,
}

impl Scratch {
    /// In `$TMPDIR` or `/tmp`.
    #[must_use]
    pub fn temporary() -> Scratch {
        Scratch { beside: std::env::temp_dir().join("dents"), output: None }
    }

    /// A new file without a name, which no other user may read: it is removed at once, and its space is free when it is closed.
    /// `O_TMPFILE` would do both in one call, but not on every file system.
    ///
    /// # Errors
    /// Those of the two calls.
    pub fn create(&self) -> io::Result<Temporary> {
        let create = || {
            let (path, file) = create_beside(&self.beside, 0o600)?;
            fs::remove_file(path).map(|()| file)
        };
        let file = create().map_err(|error| self.cannot_write(&error))?;
        Ok(Temporary { file, scratch: self.clone() })
    }

    /// The error for one that comes of creating or writing the file. That of an output is an error of the output.
    fn cannot_write(&self, error: &io::Error) -> io::Error {
        match &self.output {
            Some(named) => message::cannot_write(named, error),
            None => message::temporary("write", self.dir(), error, IN_TMPDIR),
        }
    }

    /// The error for one that comes of reading the file.
    fn cannot_read(&self, error: &io::Error) -> io::Error {
        let cut_off = io::Error::new(error.kind(), "it was cut off");
        let error = if error.kind() == ErrorKind::UnexpectedEof { &cut_off } else { error };
        // The output of a pipe has no directory.
        let way_out = match self.beside == Scratch::temporary().beside {
            true => IN_TMPDIR,
            false => "write the output to another directory",
        };
        message::temporary("read", self.dir(), error, way_out)
    }

    fn dir(&self) -> &Path {
        match self.beside.parent() {
            Some(dir) if dir.as_os_str().is_empty() => Path::new("."),
            dir => dir.unwrap_or(Path::new("/")),
        }
    }
}

const IN_TMPDIR: &str = "name another directory in TMPDIR";

/// A temporary file. Its errors name the directory, or the output that it is for.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    scratch: Scratch,
}

impl Temporary {
    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// Those of `pwrite`.
    pub fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, at).map_err(|error| self.scratch.cannot_write(&error))
    }

    /// Fills the buffer with the bytes at an offset.
    ///
    /// # Errors
    /// Those of `pread`, or that the file ends before.
    pub fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, at).map_err(|error| self.scratch.cannot_read(&error))
    }

    /// As by a full disk that keeps no more than that.
    #[cfg(test)]
    pub(crate) fn cut_off(&self, at: u64) -> io::Result<()> {
        self.file.set_len(at)
    }
}

/// Gives a file a second name, unless there is a file of that name: then it returns false. One `linkat`, and the `fsync` of the directory.
///
/// NFS may lose the answer and repeat the request, which then fails although the first one succeeded; so the link count decides.
pub(crate) fn publish(from: &Path, to: &Path) -> io::Result<bool> {
    if let Err(error) = fs::hard_link(from, to) {
        let is_linked = fs::symlink_metadata(from).is_ok_and(|there| there.nlink() > 1);
        if !is_linked {
            return if error.kind() == ErrorKind::AlreadyExists { Ok(false) } else { Err(error) };
        }
    }
    sync_directory(to.parent().unwrap_or(Path::new("."))).map(|()| true)
}

/// Waits until the names in a directory are on the disk.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// The path with all symbolic links resolved, also if there is no file yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as the kernel follows (`MAXSYMLINKS`).
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        // Links of /proc may lead to files without a name (`pipe:[4711]`); only metadata follows these.
        if is_descriptor(&path) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // EINVAL: not a link. Other errors come again with the open, which reports them.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(40))
}

/// Whether a path names an open descriptor.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|prefix| path.starts_with(prefix))
}

/// The name for the result of an incomplete scan: `NAME.partial`.
fn partial_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().as_bytes();
    // A name may have 255 bytes. Names of 248 bytes and more are cut to 228, which is never the file's own name.
    let stem = if name.len() + PARTIAL.len() > 255 { &name[..220] } else { name };
    target.with_file_name(OsStr::from_bytes(&[stem, PARTIAL].concat()))
}

/// Creates a new file in the same directory, with `O_EXCL`. The name has the process ID and a number, so it exists only if a killed
/// process of the same ID left it.
fn create_beside(target: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let Some(name) = target.file_name() else { return Err(io::Error::from(ErrorKind::IsADirectory)) };
    // A name may have 255 bytes.
    let stem = &name.as_bytes()[..name.len().min(220)];
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = [b".", stem].concat();
        temporary.extend_from_slice(format!(".{}-{number}.part", std::process::id()).as_bytes());
        let path = target.with_file_name(OsString::from_vec(temporary));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (path, file)),
        }
    }
}
