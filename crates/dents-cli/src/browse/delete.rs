//! Deletes the chosen entries, by descriptors.
//!
//! ```text
//! operand ─► open each directory on the way, without links ─► is it the inode that was scanned? ─► open in it what is deleted
//!            openat O_NOFOLLOW                                 statx                               openat2 RESOLVE_NO_XDEV
//! ```
//!
//! A directory that was renamed or replaced since the scan has another inode, so nothing is deleted there. Mounts are not
//! entered, bind mounts and subvolumes included. One race remains, because Linux deletes by name: between the check of a name and
//! `unlinkat`, a process that may write in that directory can put another file there.

use super::tree::{Id, Tree};
use crate::inode::Inode;
use crate::message;
use dents_core::needs::Kind;
use dents_sys::dir::{self, Dirents};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// An entry that is to be deleted: its path, as it was scanned.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) id: Id,
    /// The operand, the directories below it, and the entry.
    steps: Vec<Step>,
    kind: Kind,
}

#[derive(Clone, Debug)]
struct Step {
    name: CString,
    inode: Inode,
}

impl Target {
    /// `None` for an entry without a directory, or whose name no system call takes.
    pub(super) fn new(tree: &Tree, id: Id) -> Option<Target> {
        let mut all: Vec<Id> =
            std::iter::once(id).chain(tree.ancestors(id)).filter(|id| *id != Id::TOP).collect();
        all.reverse();
        let step = |id: Id| {
            let above = tree.above(id)?;
            let dev = tree.own_device(id).or_else(|| tree.device(above))?;
            Some(Step {
                name: CString::new(tree.name(id)).ok()?,
                inode: Inode { dev, ino: tree.node(id).ino },
            })
        };
        let steps: Option<Vec<Step>> = all.into_iter().map(step).collect();
        Some(Target { id, steps: steps?, kind: tree.node(id).kind })
    }

    fn path(&self) -> Vec<u8> {
        let names = self.steps.iter().map(|step| step.name.to_bytes());
        names.fold(Vec::new(), |path, name| joined(&path, name))
    }
}

fn joined(path: &[u8], name: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    dents_core::path::push(path, name, &mut all);
    all
}

/// A deletion that runs.
#[derive(Default)]
pub(super) struct DeletionProgress {
    /// Entries that were deleted.
    pub(super) deleted: AtomicU64,
    /// Set to end it: what was deleted is gone, the rest stays.
    pub(super) stop: AtomicBool,
}

/// Why something was not deleted.
enum Problem {
    Errno(Errno),
    /// It is not what was scanned.
    Changed,
    Mount,
    Stopped,
}

impl From<Errno> for Problem {
    fn from(errno: Errno) -> Problem {
        // `openat2` refuses to cross a mount point; `unlinkat` refuses to remove one.
        if errno == Errno::XDEV || errno == Errno::BUSY { Problem::Mount } else { Problem::Errno(errno) }
    }
}

impl Problem {
    fn text(&self) -> String {
        match self {
            Problem::Errno(errno) => message::errno_text(errno.raw_os_error()),
            Problem::Changed => {
                "it is not what was scanned any more; scan its directory again with r".to_owned()
            }
            Problem::Mount => "it is a mount point, or on another file system".to_owned(),
            Problem::Stopped => "stopped".to_owned(),
        }
    }
}

/// Deletes an entry with all that is below it. Returns whether all is gone; `complain` gets a message for each entry that is not.
pub(super) fn delete(target: &Target, progress: &DeletionProgress, complain: &mut dyn FnMut(&[u8])) -> bool {
    let mut deletion = Deletion { progress, complain, buffer: vec![0; 1 << 15] };
    match deletion.target(target) {
        Ok(whole) => whole,
        Err(problem) => {
            deletion.report(&target.path(), &problem);
            false
        }
    }
}

struct Deletion<'d> {
    progress: &'d DeletionProgress,
    complain: &'d mut dyn FnMut(&[u8]),
    buffer: Vec<u8>,
}

/// A directory that is being emptied.
struct Level {
    dir: OwnedFd,
    name: CString,
    path: Vec<u8>,
    device: (u32, u32),
    /// Names that were read and not deleted yet.
    names: Vec<CString>,
    /// Whether something in it was deleted since it was last read from its beginning.
    has_moved: bool,
    /// Whether something in it could not be deleted.
    is_kept: bool,
}

impl Deletion<'_> {
    fn report(&mut self, path: &[u8], problem: &Problem) {
        let text =
            [&b"cannot delete "[..], &message::quoteaf(path), b": ", problem.text().as_bytes()].concat();
        (self.complain)(&text);
    }

    fn target(&mut self, target: &Target) -> Result<bool, Problem> {
        let Some((last, above)) = target.steps.split_last() else { return Err(Problem::Changed) };
        if above.is_empty() {
            // An operand: its directory was not scanned.
            return Err(Problem::Changed);
        }
        let mut at: Option<OwnedFd> = None;
        for (nth, step) in above.iter().enumerate() {
            let from = at.as_ref().map_or(CWD, AsFd::as_fd);
            // An operand may be a link that the scan followed: the inode decides.
            let next =
                if nth == 0 { dir::open(from, &step.name) } else { dir::open_nofollow(from, &step.name) };
            let next =
                next.map_err(|errno| if errno == Errno::NOTDIR { Problem::Changed } else { errno.into() })?;
            is_same(&stat::fstat(next.as_fd(), Mask::INO | Mask::TYPE)?, step.inode, Kind::Dir)?;
            at = Some(next);
        }
        let at = at.ok_or(Problem::Changed)?;
        let statx = stat::statx(
            at.as_fd(),
            &last.name,
            Flags::NOFOLLOW | Flags::NO_AUTOMOUNT,
            Mask::INO | Mask::TYPE,
        )?;
        is_same(&statx, last.inode, target.kind)?;
        if target.kind != Kind::Dir {
            dir::unlink(at.as_fd(), &last.name)?;
            self.progress.deleted.fetch_add(1, Relaxed);
            return Ok(true);
        }
        let above = above.last().map(|step| step.inode.dev).ok_or(Problem::Changed)?;
        let level = Level::open(at.as_fd(), &last.name, target.path(), above)?;
        let statx = stat::fstat(level.dir.as_fd(), Mask::INO | Mask::TYPE)?;
        is_same(&statx, last.inode, Kind::Dir)?;
        self.empty(at.as_fd(), level)
    }

    /// Empties a directory, then removes it from the directory `at`. Returns whether it is gone.
    fn empty(&mut self, at: BorrowedFd<'_>, level: Level) -> Result<bool, Problem> {
        let mut levels = vec![level];
        loop {
            if self.progress.stop.load(Relaxed) {
                return Err(Problem::Stopped);
            }
            let Some(level) = levels.last_mut() else { return Ok(true) };
            match self.next(level) {
                Ok(Next::Enter(level)) => levels.push(level),
                Ok(Next::Again) => {}
                Ok(Next::Empty) => {
                    let Some(Level { name, path, is_kept, .. }) = levels.pop() else { return Ok(true) };
                    let above = levels.last_mut();
                    let dir = above.as_ref().map_or(at, |above| above.dir.as_fd());
                    let removed = if is_kept { Err(None) } else { dir::remove_dir(dir, &name).map_err(Some) };
                    if removed.is_ok() {
                        self.progress.deleted.fetch_add(1, Relaxed);
                    }
                    if let Err(Some(errno)) = removed {
                        self.report(&path, &errno.into());
                    }
                    match above {
                        Some(above) if removed.is_ok() => above.has_moved = true,
                        Some(above) => above.is_kept = true,
                        None => return Ok(removed.is_ok()),
                    }
                }
                Err((path, problem)) => {
                    level.is_kept = true;
                    self.report(&path, &problem);
                }
            }
        }
    }

    /// Deletes the next entry of a directory, or opens it.
    fn next(&mut self, level: &mut Level) -> Result<Next, (Vec<u8>, Problem)> {
        let Some(name) = level.names.pop() else { return self.read(level) };
        let path = |level: &Level| joined(&level.path, name.to_bytes());
        match dir::unlink(level.dir.as_fd(), &name) {
            Ok(()) => {
                self.progress.deleted.fetch_add(1, Relaxed);
                level.has_moved = true;
                Ok(Next::Again)
            }
            Err(Errno::NOENT) => Ok(Next::Again),
            // Linux says EISDIR, POSIX EPERM.
            Err(Errno::ISDIR | Errno::PERM) => {
                match Level::open(level.dir.as_fd(), &name, path(level), level.device) {
                    Ok(below) => Ok(Next::Enter(below)),
                    Err(Problem::Errno(Errno::NOTDIR)) => Err((path(level), Problem::Errno(Errno::PERM))),
                    Err(problem) => Err((path(level), problem)),
                }
            }
            Err(errno) => Err((path(level), errno.into())),
        }
    }

    /// Reads further. At the end reads again from the beginning, if something was deleted: some file systems skip entries then.
    fn read(&mut self, level: &mut Level) -> Result<Next, (Vec<u8>, Problem)> {
        let failed = |level: &Level, errno: Errno| (level.path.clone(), Problem::Errno(errno));
        let length = dir::getdents64(level.dir.as_fd(), &mut self.buffer).map_err(|errno| {
            // What cannot be read is not read again.
            level.has_moved = false;
            failed(level, errno)
        });
        let length = match length {
            Ok(length) => length,
            Err(_) if level.is_kept => return Ok(Next::Empty),
            Err(problem) => return Err(problem),
        };
        if length > 0 {
            let names = Dirents::new(&self.buffer[..length]).map(|entry| entry.name);
            let names = names.filter(|name| !matches!(name.to_bytes(), b"." | b".."));
            level.names = names.map(CStr::to_owned).collect();
            return Ok(Next::Again);
        }
        if !std::mem::take(&mut level.has_moved) || level.is_kept {
            return Ok(Next::Empty);
        }
        dir::rewind(level.dir.as_fd()).map_err(|errno| failed(level, errno))?;
        Ok(Next::Again)
    }
}

enum Next {
    Enter(Level),
    Again,
    /// Nothing is left that could be deleted.
    Empty,
}

impl Level {
    /// Opens a directory on the file system and the mount of the directory above, which is on `device`.
    fn open(at: BorrowedFd<'_>, name: &CStr, path: Vec<u8>, device: (u32, u32)) -> Result<Level, Problem> {
        let dir = match dir::open_on_same_mount(at, name, false) {
            // An old kernel, or a filter of system calls.
            Err(Errno::NOSYS | Errno::PERM) => open_and_compare(at, name)?,
            other => other?,
        };
        let statx = stat::fstat(dir.as_fd(), Mask::TYPE)?;
        if statx.dev() != device {
            return Err(Problem::Mount);
        }
        let (names, has_moved, is_kept) = (Vec::new(), false, false);
        Ok(Level { dir, name: name.to_owned(), path, device, names, has_moved, is_kept })
    }
}

/// As [`dir::open_on_same_mount`], by the numbers of the mounts: Linux 5.8.
fn open_and_compare(at: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Problem> {
    let dir = dir::open_nofollow(at, name)?;
    let mount = |dir: BorrowedFd<'_>| {
        let statx = stat::fstat(dir, Mask::TYPE | Mask::MNT_ID)?;
        if statx.mask().contains(Mask::MNT_ID) {
            Ok(statx.mnt_id())
        } else {
            Err(Problem::Errno(Errno::NOSYS))
        }
    };
    if mount(at)? == mount(dir.as_fd())? { Ok(dir) } else { Err(Problem::Mount) }
}

fn is_same(statx: &stat::Statx, inode: Inode, kind: Kind) -> Result<(), Problem> {
    let is_same = statx.dev() == inode.dev && statx.ino() == inode.ino;
    let is_same = is_same && Kind::from_mode(statx.mode() as u16) == kind;
    if is_same { Ok(()) } else { Err(Problem::Changed) }
}
