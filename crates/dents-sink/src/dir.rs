//! Directories that other people may reach: the one place that opens them, and the files in them.
//!
//! A directory is opened once. Its files are then reached by its descriptor and a plain name, so nobody can exchange a component of the path.
//! A file is opened only if it is regular; a symbolic link is never followed, and a FIFO is never waited for. A new file is created with
//! `O_EXCL`; names are given, changed and removed by descriptor.
//!
//! | opened by | for | rule |
//! |---|---|---|
//! | [`Dir::open`], [`Dir::make`] | parts, journals | no link; belongs to the user or root; nobody else may write to it |
//! | [`Dir::any`] | outputs, temporary files, scans that are read | as the user named it; [`Named::is_of_others`] decides about what is in it |
//!
//! What is in a directory of the first kind is believed: which directories wait, which rows were found. Therefore a group that may write to
//! it is no exception, not even a project's: each of its members could lead the others to any file. Many processes of one user share such a
//! directory; for several users, root is the one who scans. [`MODE`] makes these directories and their files independent of the umask.
//!
//! An output may lie in `/tmp` or in the directory of a project. There only a name can be prepared by others: a link or a FIFO of another
//! user is refused, and a file of another user is replaced without taking over its owner and mode.

use crate::message;
use crate::message::Refused;
use dents_sys::file::Access;
use dents_sys::stat::{Flags, Mask, Statx};
use dents_sys::{AsFd, AsRawFd, BorrowedFd, CWD, Errno, OwnedFd, dir, file, host, link, stat};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The mode of directories that [`Dir::make`] makes.
const MODE: u32 = 0o755;
/// The mode of files whose contents are believed.
pub(crate) const PRIVATE: u32 = 0o644;
/// The mode of outputs.
pub(crate) const OUTPUT: u32 = 0o666;
/// The mode of files that no other user may read.
pub(crate) const SECRET: u32 = 0o600;

const FACTS: Mask = Mask::TYPE
    .union(Mask::MODE)
    .union(Mask::NLINK)
    .union(Mask::UID)
    .union(Mask::GID)
    .union(Mask::INO)
    .union(Mask::MTIME);
const TYPE: u32 = 0o170_000;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// An open directory. Clones share the descriptor.
#[derive(Clone, Debug)]
pub(crate) struct Dir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    fd: OwnedFd,
    /// For messages.
    path: PathBuf,
}

/// A name in a directory, of a file that may exist.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    dir: Dir,
    name: CString,
}

/// A path as the kernel takes it.
fn terminated(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from(ErrorKind::InvalidInput))
}

/// Whether users other than this one and root may change the names in a directory.
fn is_open_to_others(about: &Statx, user: u32) -> bool {
    ![user, 0].contains(&about.uid()) || about.mode() & WRITABLE_BY_OTHERS != 0
}

fn refusal(about: &Statx, user: u32, path: &Path) -> Refused {
    let owner = about.uid();
    Refused(match [user, 0].contains(&owner) {
        true => format!(
            "other users may write to it (mode {:04o}) and could lead this command to any file; run `chmod go-w {}`, or name another directory",
            about.mode() & 0o7777,
            message::shown(path)
        ),
        false => format!(
            "it belongs to user {owner}, who could lead this command to any file; name a directory of your own, or run this as that user"
        ),
    })
}

impl Dir {
    /// Opens a directory that nobody but the user and root may change: `openat`, `statx`. Errors are the kernel's, and [`Refused`].
    pub(crate) fn open(path: &Path) -> io::Result<Dir> {
        // A slash at the end makes the kernel follow a link.
        let bytes = path.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(bytes.len().min(1), |at| at + 1);
        Dir::checked(CWD, &terminated(&bytes[..end])?, path.to_path_buf())
    }

    fn checked(at: BorrowedFd<'_>, name: &CString, path: PathBuf) -> io::Result<Dir> {
        let fd = dir::open_nofollow(at, name).map_err(|error| {
            let flags = Flags::NOFOLLOW | Flags::NO_AUTOMOUNT;
            let there = stat::statx(at, name, flags, Mask::TYPE);
            let is_link = there.is_ok_and(|there| there.mode() & TYPE == 0o120_000);
            match is_link {
                true => {
                    Refused("it is a symbolic link; name the directory that it leads to".to_string()).into()
                }
                false => io::Error::from(error),
            }
        })?;
        let about = stat::fstat(fd.as_fd(), Mask::TYPE | Mask::MODE | Mask::UID)?;
        let user = host::effective_user();
        match is_open_to_others(&about, user) {
            false => Ok(Dir(Arc::new(Inner { fd, path }))),
            true => Err(refusal(&about, user, &path).into()),
        }
    }

    /// The same, and makes it if there is none, with its parents.
    pub(crate) fn make(path: &Path) -> io::Result<Dir> {
        DirBuilder::new().recursive(true).mode(MODE).create(path)?;
        Dir::open(path)
    }

    /// Opens any directory, only to reach its files.
    pub(crate) fn any(path: &Path) -> io::Result<Dir> {
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let fd = dir::open_place(CWD, &terminated(named.as_os_str().as_bytes())?)?;
        Ok(Dir(Arc::new(Inner { fd, path: path.to_path_buf() })))
    }

    /// A directory in this one, by the same rules. Opening it makes an NFS client ask for changes.
    pub(crate) fn sub(&self, name: &str) -> io::Result<Dir> {
        Dir::checked(self.fd(), &terminated(name.as_bytes())?, self.path().join(name))
    }

    /// The same, and makes it if there is none.
    pub(crate) fn make_sub(&self, name: &str) -> io::Result<Dir> {
        match dir::make(self.fd(), &terminated(name.as_bytes())?, MODE) {
            Ok(()) | Err(Errno::EXIST) => self.sub(name),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Its present path without symbolic links, for a library that opens files by itself.
    pub(crate) fn real_path(&self) -> io::Result<PathBuf> {
        let of_descriptor = std::fs::read_link(format!("/proc/self/fd/{}", self.fd().as_raw_fd()));
        of_descriptor.or_else(|_| {
            if self.path().as_os_str().is_empty() { Path::new(".") } else { self.path() }.canonicalize()
        })
    }

    /// The identity of the directory: device and inode number.
    pub(crate) fn identity(&self) -> io::Result<((u32, u32), u64)> {
        let about = stat::fstat(self.fd(), Mask::INO)?;
        Ok((about.dev(), about.ino()))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }

    /// A name in it: a plain one, so that it leads nowhere else.
    pub(crate) fn file(&self, name: impl AsRef<OsStr>) -> io::Result<Named> {
        let name = name.as_ref().as_bytes();
        match name {
            b"" | b"." | b".." => Err(io::Error::from(ErrorKind::IsADirectory)),
            name if name.contains(&b'/') => Err(io::Error::from(ErrorKind::InvalidInput)),
            name => Ok(Named { dir: self.clone(), name: terminated(name)? }),
        }
    }

    /// All names: `openat`, and `getdents64` until it returns none.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let opened = dir::open_nofollow(self.fd(), c".")?;
        let (mut names, mut buffer) = (Vec::new(), vec![0; 32 << 10]);
        loop {
            let filled = match dir::getdents64(opened.as_fd(), &mut buffer)? {
                0 => return Ok(names),
                filled => filled,
            };
            let mut entries = dir::Dirents::new(&buffer[..filled]);
            let plain = entries.by_ref().map(|entry| entry.name.to_bytes());
            let plain = plain.filter(|name| !matches!(*name, b"." | b".."));
            names.extend(plain.map(|name| OsString::from_vec(name.to_vec())));
            if entries.malformed() {
                return Err(io::Error::from(Errno::IO));
            }
        }
    }

    /// Waits until its names are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::from(dir::open_nofollow(self.fd(), c".")?).sync_all()
    }

    /// Creates a file under a name with the process ID and a number, so it exists only if a killed process of the same ID left it.
    pub(crate) fn temporary(&self, stem: &OsStr, mode: u32) -> io::Result<(Named, File)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // A name may have 255 bytes.
        let stem = &stem.as_bytes()[..stem.len().min(220)];
        loop {
            let number = NUMBER.fetch_add(1, Relaxed);
            let end = format!(".{}-{number}.part", std::process::id());
            let named = self.file(OsStr::from_bytes(&[b".", stem, end.as_bytes()].concat()))?;
            match named.create(mode) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => return other.map(|file| (named, file)),
            }
        }
    }
}

impl Named {
    /// For messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join(self.name())
    }

    pub(crate) fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Another name in the same directory.
    pub(crate) fn beside(&self, name: impl AsRef<OsStr>) -> io::Result<Named> {
        self.dir.file(name)
    }

    fn open_for(&self, access: Access) -> io::Result<File> {
        let opened = file::open_regular(self.dir.fd(), &self.name, access);
        opened.map(File::from).map_err(|error| match error {
            Errno::LOOP => io::Error::other("a symbolic link, where a regular file is expected"),
            Errno::ISDIR | Errno::INVAL | Errno::NXIO => io::Error::other("not a regular file"),
            error => error.into(),
        })
    }

    /// Opens it to read: a regular file.
    pub(crate) fn open(&self) -> io::Result<File> {
        self.open_for(Access::Read)
    }

    /// Opens it to read and write.
    pub(crate) fn open_both(&self) -> io::Result<File> {
        self.open_for(Access::Both)
    }

    /// Opens it to write at its end.
    pub(crate) fn append(&self) -> io::Result<File> {
        self.open_for(Access::Append)
    }

    /// Opens a FIFO or a device to write to it.
    pub(crate) fn open_special(&self) -> io::Result<File> {
        Ok(file::open_to_write(self.dir.fd(), &self.name).map(File::from)?)
    }

    /// Its contents.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Creates it, which must not exist.
    pub(crate) fn create(&self, mode: u32) -> io::Result<File> {
        Ok(file::create_new(self.dir.fd(), &self.name, mode).map(File::from)?)
    }

    /// Opens it, or creates it. (With `O_CREAT` alone, a link would be followed.)
    pub(crate) fn open_or_create(&self, mode: u32) -> io::Result<File> {
        loop {
            match self.open_both() {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                other => return other,
            }
            match self.create(mode) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => return other,
            }
        }
    }

    /// The metadata, of a link its own.
    pub(crate) fn stat(&self) -> io::Result<Statx> {
        let flags = Flags::NOFOLLOW | Flags::NO_AUTOMOUNT;
        Ok(stat::statx(self.dir.fd(), &self.name, flags, FACTS)?)
    }

    pub(crate) fn exists(&self) -> bool {
        self.stat().is_ok()
    }

    /// Where a symbolic link leads; `None` if it is no link.
    pub(crate) fn target(&self) -> Option<PathBuf> {
        // `PATH_MAX`.
        let mut buffer = [0; 4096];
        let text = link::readlinkat(self.dir.fd(), &self.name, &mut buffer).ok()?;
        Some(self.dir.path().join(OsStr::from_bytes(text)))
    }

    /// Whether another user may have prepared what stands here: it belongs neither to the user nor to root, and such a user may write to the
    /// directory.
    pub(crate) fn is_of_others(&self, about: &Statx) -> io::Result<bool> {
        let user = host::effective_user();
        if [user, 0].contains(&about.uid()) {
            return Ok(false);
        }
        let mask = Mask::TYPE | Mask::MODE | Mask::UID;
        Ok(is_open_to_others(&stat::fstat(self.dir.fd(), mask)?, user))
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(dir::unlink(self.dir.fd(), &self.name)?)
    }

    /// Gives it another name, which replaces a file of that name.
    pub(crate) fn rename(&self, to: &Named) -> io::Result<()> {
        Ok(dir::rename(self.dir.fd(), &self.name, to.dir.fd(), &to.name)?)
    }

    /// Gives it a second name. Fails if there is a file of that name.
    pub(crate) fn link(&self, to: &Named) -> io::Result<()> {
        Ok(dir::link(self.dir.fd(), &self.name, to.dir.fd(), &to.name)?)
    }

    /// Gives it a second name, unless there is a file of that name: then it returns false. One `linkat`, and the `fsync` of the directory.
    ///
    /// NFS may lose the answer and repeat the request, which then fails although the first one succeeded; so the link count decides.
    pub(crate) fn publish(&self, to: &Named) -> io::Result<bool> {
        if let Err(error) = self.link(to) {
            let is_linked = self.stat().is_ok_and(|there| there.nlink() > 1);
            if !is_linked {
                return if error.kind() == ErrorKind::AlreadyExists { Ok(false) } else { Err(error) };
            }
        }
        to.dir.sync().map(|()| true)
    }
}
