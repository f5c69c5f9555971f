//! An output file that appears when it is complete.
//!
//! It is written under a temporary name in its directory (`.NAME.PID-N.part`), synced and then renamed: readers find the old
//! file or the complete new one, even after a crash. If the output is dropped before [`Output::commit`], or if writing
//! fails, the temporary file is removed; `kill -9` leaves it, and its name has the process ID.
//!
//! - The result of a complete scan replaces a file that was there. Its mode is kept; its owner too, if the process may change it.
//! - Any other result is renamed to `NAME.partial` and replaces a file of that name; NAME is left unchanged. A complete scan does not
//!   remove `NAME.partial`.
//! - A symbolic link stays, and the file that it leads to is replaced; `NAME` is then the name of that file. A link, a pipe or a device
//!   that another user may have put there is refused (`dir.rs`).
//! - The directory is opened once: if it gets another name meanwhile, the file appears in it nevertheless.
//! - `-` is stdout. A pipe, a device, and anything of `/dev/fd`, `/dev/std…`, `/proc` is written directly: there is nothing to
//!   rename, and a reader may have read some of it.

use crate::dir::{Dir, Named, OUTPUT, PRIVATE, SECRET};
use crate::format::Extent;
use crate::message;
use crate::message::Refused;
use dents_sys::stat::Statx;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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

/// Names that a scan itself gives or takes away, in one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Device and inode number of the directory.
    pub directory: ((u32, u32), u64),
    /// The names.
    pub names: Vec<Vec<u8>>,
}

impl Own {
    /// What is at this path: the directory of a journal or of a scan in parts, a scan file; `None` if it has no name.
    #[must_use]
    pub fn at(path: &Path) -> Option<Own> {
        let path = path.canonicalize().ok()?;
        let directory = Dir::any(path.parent()?).and_then(|dir| dir.identity()).ok()?;
        Some(Own { directory, names: vec![path.file_name()?.as_bytes().to_vec()] })
    }
}

/// From the temporary name to the final one. Removes the file if it is dropped before it was renamed.
#[derive(Debug)]
struct Rename {
    from: Named,
    to: Named,
    /// Whether a file that is there stays.
    once: bool,
    done: bool,
}

impl Drop for Rename {
    fn drop(&mut self) {
        if !self.done {
            // An error here is ignored: a worse one was reported before.
            let _ = self.from.remove();
        }
    }
}

/// What is at the end of a path.
enum Place {
    /// A pipe or a device, open.
    Special(File),
    /// The name of a file; its metadata, if it exists and the new one takes after it.
    File(Named, Option<Box<Statx>>),
}

impl Output {
    /// Begins a file: `stat` of the old file, and `openat`.
    ///
    /// # Errors
    /// If it cannot be created, or if `NAME.partial` is a directory; the message names the file, the problem and a remedy.
    pub fn create(path: &Path) -> io::Result<Output> {
        let output = Self::begin(path).map_err(|error| message::cannot_write(path, &error))?;
        if let Some(rename) = &output.rename {
            let partial = partial(&rename.to)?;
            if partial.stat().is_ok_and(|there| is_type(&there, DIRECTORY)) {
                let problem = "a directory, where the result goes if the scan is not complete";
                return Err(message::bad_file(&partial.path(), problem, "rename it, or name another file"));
            }
        }
        Ok(output)
    }

    /// Begins a file that several processes may write at once, for instance on several machines: the first of them wins. Whatever its
    /// extent is, it gets this name.
    ///
    /// # Errors
    /// If it cannot be created. [`Self::commit`] fails with [`ErrorKind::AlreadyExists`] if another process has won.
    pub(crate) fn create_once(to: Named) -> io::Result<Output> {
        let created = to.dir().temporary(to.name(), PRIVATE);
        let (from, file) = created.map_err(|error| message::cannot_write(&to.path(), &error))?;
        let named = to.path();
        let rename = Rename { from, to, once: true, done: false };
        Ok(Output { file, named, rename: Some(rename), failed: false })
    }

    fn begin(path: &Path) -> io::Result<Output> {
        let as_it_is = |file| Output { file, named: path.to_path_buf(), rename: None, failed: false };
        if path.as_os_str() == "-" {
            return Ok(as_it_is(File::from(io::stdout().as_fd().try_clone_to_owned()?)));
        }
        match end_of_links(path)? {
            Place::Special(file) => Ok(as_it_is(file)),
            Place::File(to, before) => Self::replace(to, before.as_deref(), path.to_path_buf()),
        }
    }

    /// Begins a file in a directory of this crate, where a link is nothing to follow.
    pub(crate) fn create_in(to: Named) -> io::Result<Output> {
        let path = to.path();
        let begun = match to.stat() {
            Err(error) if error.kind() == ErrorKind::NotFound => Self::replace(to, None, path.clone()),
            Err(error) => Err(error),
            Ok(there) if is_type(&there, REGULAR) => Self::replace(to, Some(&there), path.clone()),
            Ok(_) => Err(io::Error::other("not a regular file")),
        };
        begun.map_err(|error| message::cannot_write(&path, &error))
    }

    fn replace(to: Named, before: Option<&Statx>, named: PathBuf) -> io::Result<Output> {
        let (from, file) = to.dir().temporary(to.name(), OUTPUT)?;
        let rename = Rename { from, to, once: false, done: false };
        let output = Output { file, named, rename: Some(rename), failed: false };
        if let Some(before) = before {
            output.take_after(before)?;
        }
        Ok(output)
    }

    /// The owner first: giving a file away clears set-user-ID bits.
    fn take_after(&self, before: &Statx) -> io::Result<()> {
        let now = self.file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            // Only root may; otherwise the user becomes the owner, as with editors that rename.
            let _ = std::os::unix::fs::fchown(&self.file, Some(before.uid()), Some(before.gid()));
        }
        self.file.set_permissions(Permissions::from_mode(before.mode() & 0o7777))
    }

    /// Where it is written, for a scan that may come across it; `None` if there is no file.
    #[must_use]
    pub fn own(&self) -> Option<Own> {
        let Rename { from, to, .. } = self.rename.as_ref()?;
        let directory = to.dir().identity().ok()?;
        Some(Own { directory, names: [from, to].map(|named| named.name().as_bytes().to_vec()).to_vec() })
    }

    /// Whether it has a temporary file, and so can be read and written anywhere.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.rename.is_some()
    }

    /// A path of the temporary file without symbolic links, if there is one: for SQLite, which opens it itself. `open` gets it; fails if the
    /// path led to another file then.
    ///
    /// # Errors
    /// Those of `realpath` and of `open`.
    pub fn by_path<T>(&self, open: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<Option<T>> {
        let Some(rename) = &self.rename else { return Ok(None) };
        let dir =
            rename.from.dir().real_path().map_err(|error| message::cannot_write(&self.named, &error))?;
        let path = dir.join(rename.from.name());
        let opened = open(&path)?;
        let (there, ours) = (path.symlink_metadata()?, self.file.metadata()?);
        match (there.dev(), there.ino()) == (ours.dev(), ours.ino()) {
            true => Ok(Some(opened)),
            false => {
                Err(message::cannot_write(&self.named, &io::Error::other("its directory was exchanged")))
            }
        }
    }

    /// The path as the user named it.
    #[must_use]
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Where temporary files of this output go: beside it, or where it is no file, into `$TMPDIR` or `/tmp`.
    pub(crate) fn scratch(&self) -> Scratch {
        let beside = self.rename.as_ref().map(|rename| rename.to.clone());
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
            let published = self.file.sync_all().and_then(|()| rename.from.publish(&rename.to));
            return match published {
                // The temporary name is removed when `self` is dropped.
                Ok(true) => Ok(Some(rename.to.path())),
                Ok(false) => Err(io::Error::from(ErrorKind::AlreadyExists)),
                Err(error) => Err(message::cannot_write(&self.named, &error)),
            };
        }
        let to = match extent {
            Extent::Complete => rename.to.clone(),
            Extent::Partial => partial(&rename.to)?,
        };
        let path = to.path();
        let named = if extent == Extent::Complete { &self.named } else { &path };
        let renamed = self.file.sync_data().and_then(|()| rename.from.rename(&to));
        rename.done = renamed.is_ok();
        match renamed {
            Err(error) => Err(message::cannot_write(named, &error)),
            Ok(()) => Ok(Some(path)),
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
    /// The directory of this file is theirs; without one, `$TMPDIR` or `/tmp`.
    beside: Option<Named>,
    /// The output, as the user named it.
    output: Option<PathBuf>,
}

impl Scratch {
    /// In `$TMPDIR` or `/tmp`.
    #[must_use]
    pub fn temporary() -> Scratch {
        Scratch { beside: None, output: None }
    }

    /// A new file without a name, which no other user may read: it is removed at once, and its space is free when it is closed.
    /// `O_TMPFILE` would do both in one call, but not on every file system.
    ///
    /// # Errors
    /// Those of the two calls.
    pub fn create(&self) -> io::Result<Temporary> {
        let create = || {
            let (named, file) = match &self.beside {
                Some(beside) => beside.dir().temporary(beside.name(), SECRET),
                None => Dir::any(&std::env::temp_dir())?.temporary(OsStr::new("dents"), SECRET),
            }?;
            named.remove().map(|()| file)
        };
        let file = create().map_err(|error| self.cannot_write(&error))?;
        Ok(Temporary { file, scratch: self.clone() })
    }

    /// The error for one that comes of creating or writing the file. That of an output is an error of the output.
    fn cannot_write(&self, error: &io::Error) -> io::Error {
        match &self.output {
            Some(named) => message::cannot_write(named, error),
            None => message::temporary("write", &self.dir(), error, IN_TMPDIR),
        }
    }

    /// The error for one that comes of reading the file.
    fn cannot_read(&self, error: &io::Error) -> io::Error {
        let cut_off = io::Error::new(error.kind(), "it was cut off");
        let error = if error.kind() == ErrorKind::UnexpectedEof { &cut_off } else { error };
        // The output of a pipe has no directory.
        let way_out = match self.beside {
            None => IN_TMPDIR,
            Some(_) => "write the output to another directory",
        };
        message::temporary("read", &self.dir(), error, way_out)
    }

    fn dir(&self) -> PathBuf {
        let dir =
            self.beside.as_ref().map_or_else(std::env::temp_dir, |beside| beside.dir().path().to_path_buf());
        if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir }
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

const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;

fn is_type(about: &Statx, kind: u32) -> bool {
    about.mode() & 0o170_000 == kind
}

/// Follows the symbolic links at the end of a path, also if there is no file yet: each directory is opened once.
fn end_of_links(path: &Path) -> io::Result<Place> {
    /// As many as the kernel follows (`MAXSYMLINKS`).
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        // Links of /proc may lead to files without a name (`pipe:[4711]`); only the kernel follows these.
        if is_descriptor(&path) {
            return OpenOptions::new().write(true).open(&path).map(Place::Special);
        }
        let is_plain = !path.as_os_str().as_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| is_plain) else {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        };
        let named = Dir::any(path.parent().unwrap_or(Path::new("")))?.file(name)?;
        let there = match named.stat() {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::File(named, None)),
            Err(error) => return Err(error),
        };
        let is_of_others = named.is_of_others(&there)?;
        if is_type(&there, REGULAR) {
            return Ok(Place::File(named, Some(Box::new(there)).filter(|_| !is_of_others)));
        }
        if is_type(&there, DIRECTORY) {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        }
        let target = named.target();
        if is_of_others {
            let what = if target.is_some() { "symbolic link" } else { "pipe or device" };
            let (user, shown) = (there.uid(), message::shown(&named.path()));
            let problem =
                format!("{shown} is a {what} of user {user}, who may have put it there; name another file");
            return Err(Refused(problem).into());
        }
        match target {
            Some(target) => path = target,
            None => return named.open_special().map(Place::Special),
        }
    }
    Err(io::Error::from_raw_os_error(40))
}

/// Whether a path names an open descriptor.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|prefix| path.starts_with(prefix))
}

/// The name for the result of an incomplete scan: `NAME.partial`.
fn partial(target: &Named) -> io::Result<Named> {
    let name = target.name().as_bytes();
    // A name may have 255 bytes. Names of 248 bytes and more are cut to 228, which is never the file's own name.
    let stem = if name.len() + PARTIAL.len() > 255 { &name[..220] } else { name };
    target.beside(OsStr::from_bytes(&[stem, PARTIAL].concat()))
}
