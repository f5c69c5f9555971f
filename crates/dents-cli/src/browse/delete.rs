//! Deletes the chosen entries, by descriptors: what was counted, and nothing else.
//!
//! ```text
//! operand ─► open each directory on the way, without links ─► is it the inode that was scanned? ─► open in it what is deleted
//!            openat O_NOFOLLOW                                 statx                               openat2 RESOLVE_NO_XDEV
//! ```
//!
//! The names come from the tree, not from the directories: each entry that the question counted is deleted if it is still the inode
//! that was scanned. Entries that appeared since are in no list, so they stay, and the directory that has one cannot be removed
//! (`ENOTEMPTY`). A directory that was renamed or replaced has another inode, so nothing is deleted there. Mounts are not
//! entered, bind mounts and subvolumes included. At most [`HELD`] directories are open at any depth; the way back is `..`, and
//! must lead to the inode that it came from. An entry costs `statx` and `unlinkat`. One race remains, because Linux deletes by name: between the check of a name and
//! `unlinkat`, a process that may write in that directory can put another file there.

use super::gather::Shared;
use super::tree::{self, Id, Tree};
use dents_commands::inode::Inode;
use dents_commands::message;
use dents_core::needs::Kind;
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, dir};
use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// So many directories are open, the deepest ones.
const HELD: usize = 16;

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
    /// Whether a directory stays because it has entries that were not counted.
    pub(super) met_new: AtomicBool,
}

/// What the question counted: the entries of the tree that were known then.
#[derive(Clone)]
pub(super) struct Counted {
    pub(super) shared: Arc<Shared>,
    /// The number of the first entry that was not known.
    pub(super) limit: Id,
}

/// Why something was not deleted.
enum Problem {
    Errno(Errno),
    /// It is not what was scanned.
    Changed,
    /// A directory has entries that were not counted.
    New,
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
            Problem::New => "it has entries that were not counted; d asks again".to_owned(),
            Problem::Mount => "it is a mount point, or on another file system".to_owned(),
            Problem::Stopped => "stopped".to_owned(),
        }
    }
}

/// Deletes an entry with all that is below it. Returns whether all is gone; `complain` gets a message for each entry that is not.
pub(super) fn delete(
    target: &Target,
    counted: &Counted,
    progress: &DeletionProgress,
    complain: &mut dyn FnMut(&[u8]),
) -> bool {
    let mut deletion = Deletion { counted, progress, complain };
    match deletion.target(target) {
        Ok(whole) => whole,
        Err(problem) => {
            deletion.report(&target.path(), &problem);
            false
        }
    }
}

struct Deletion<'d> {
    counted: &'d Counted,
    progress: &'d DeletionProgress,
    complain: &'d mut dyn FnMut(&[u8]),
}

/// A directory that is being emptied.
struct Level {
    id: Id,
    inode: Inode,
    /// The entry that is deleted next.
    next: Option<Id>,
    /// Whether something in it stays.
    is_kept: bool,
}

/// An entry, as it was scanned.
struct Scanned {
    id: Id,
    name: CString,
    inode: Inode,
    kind: Kind,
    is_mount: bool,
}

impl Deletion<'_> {
    fn report(&mut self, path: &[u8], problem: &Problem) {
        if let Problem::New = problem {
            self.progress.met_new.store(true, Relaxed);
        }
        let text =
            [&b"cannot delete "[..], &message::quoteaf(path), b": ", problem.text().as_bytes()].concat();
        (self.complain)(&text);
    }

    fn report_id(&mut self, id: Id, problem: &Problem) {
        let path = self.counted.shared.lock().path(id);
        self.report(&path, problem);
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
            let next = next.map_err(not_a_directory)?;
            is_same(&stat::fstat(next.as_fd(), Mask::INO | Mask::TYPE)?, step.inode, Kind::Dir)?;
            at = Some(next);
        }
        let at = at.ok_or(Problem::Changed)?;
        if above.last().is_some_and(|step| step.inode.dev != last.inode.dev) {
            return Err(Problem::Mount);
        }
        if target.kind != Kind::Dir {
            unlink(at.as_fd(), &last.name, last.inode, target.kind)?;
            self.progress.deleted.fetch_add(1, Relaxed);
            return Ok(true);
        }
        let dir = match open(at.as_fd(), &last.name, last.inode) {
            Err(Problem::Errno(Errno::ACCESS)) => {
                return self.closed(at.as_fd(), &last.name, last.inode).map(|()| true);
            }
            other => other?,
        };
        let level = self.level(target.id, last.inode);
        self.empty(at.as_fd(), &last.name, level, dir)
    }

    fn level(&self, id: Id, inode: Inode) -> Level {
        let next = self.counted.shared.lock().first_before(id, self.counted.limit);
        Level { id, inode, next, is_kept: false }
    }

    /// Empties a directory, then removes it from the directory `at`. Returns whether it is gone.
    fn empty(
        &mut self,
        at: BorrowedFd<'_>,
        name: &CStr,
        first: Level,
        dir: OwnedFd,
    ) -> Result<bool, Problem> {
        let (mut above, mut level, mut held) = (Vec::new(), first, Held::new(dir));
        loop {
            if self.progress.stop.load(Relaxed) {
                return Err(Problem::Stopped);
            }
            if let Some(entry) = self.next(&mut level) {
                match self.entry(held.deepest(), &entry) {
                    Ok(Some(dir)) => {
                        let below = self.level(entry.id, entry.inode);
                        above.push(std::mem::replace(&mut level, below));
                        held.enter(dir);
                    }
                    Ok(None) => {}
                    Err(problem) => {
                        level.is_kept = true;
                        self.report_id(entry.id, &problem);
                    }
                }
                continue;
            }
            let Some(parent) = above.pop() else { return Ok(self.remove(at, name, &level)) };
            held.leave(parent.inode)?;
            let name = self.counted.shared.lock().name(level.id).to_vec();
            let is_gone = CString::new(name).is_ok_and(|name| self.remove(held.deepest(), &name, &level));
            level = parent;
            level.is_kept |= !is_gone;
        }
    }

    /// Removes a directory that was emptied. Returns whether it is gone.
    fn remove(&mut self, at: BorrowedFd<'_>, name: &CStr, level: &Level) -> bool {
        if level.is_kept {
            return false;
        }
        match dir::remove_dir(at, name) {
            Ok(()) => {
                self.progress.deleted.fetch_add(1, Relaxed);
                return true;
            }
            Err(Errno::NOENT) => return true,
            // POSIX permits both.
            Err(Errno::NOTEMPTY | Errno::EXIST) => self.report_id(level.id, &Problem::New),
            Err(errno) => self.report_id(level.id, &not_a_directory(errno)),
        }
        false
    }

    /// Removes a directory that the user may not read, if it is empty.
    fn closed(&mut self, at: BorrowedFd<'_>, name: &CStr, inode: Inode) -> Result<(), Problem> {
        is_still(at, name, inode, Kind::Dir)?;
        match dir::remove_dir(at, name) {
            // What is in it is not known.
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(Errno::ACCESS.into()),
            other => {
                other?;
                self.progress.deleted.fetch_add(1, Relaxed);
                Ok(())
            }
        }
    }

    /// The next entry of a directory.
    fn next(&self, level: &mut Level) -> Option<Scanned> {
        let Counted { shared, limit } = self.counted;
        let entries = shared.lock();
        let id = level.next?;
        level.next = entries.next_before(id, *limit);
        let node = entries.node(id);
        // A name with a NUL is in no directory: it is not found.
        let name = CString::new(entries.name(id)).unwrap_or_default();
        let inode = Inode { dev: level.inode.dev, ino: node.ino };
        Some(Scanned { id, name, inode, kind: node.kind, is_mount: node.has(tree::Flags::MOUNT) })
    }

    /// Deletes an entry; a directory is opened instead.
    fn entry(&mut self, at: BorrowedFd<'_>, entry: &Scanned) -> Result<Option<OwnedFd>, Problem> {
        if entry.is_mount {
            return Err(Problem::Mount);
        }
        let done = match entry.kind {
            Kind::Dir => match open(at, &entry.name, entry.inode) {
                Err(Problem::Errno(Errno::ACCESS)) => {
                    self.closed(at, &entry.name, entry.inode).map(|()| None)
                }
                other => other.map(Some),
            },
            kind => unlink(at, &entry.name, entry.inode, kind).map(|()| {
                self.progress.deleted.fetch_add(1, Relaxed);
                None
            }),
        };
        // Another process was faster.
        if let Err(Problem::Errno(Errno::NOENT)) = done { Ok(None) } else { done }
    }
}

/// The descriptors of the directories on the way, of the deepest [`HELD`] alone: `ulimit -n` limits no depth.
struct Held(VecDeque<OwnedFd>);

impl Held {
    fn new(dir: OwnedFd) -> Held {
        Held(VecDeque::from([dir]))
    }

    /// The directory that is being emptied.
    fn deepest(&self) -> BorrowedFd<'_> {
        self.0.back().map_or(CWD, AsFd::as_fd)
    }

    fn enter(&mut self, dir: OwnedFd) {
        if self.0.len() == HELD {
            self.0.pop_front();
        }
        self.0.push_back(dir);
    }

    /// Goes to the directory above, which must be this inode: the directory that was left may have been moved.
    fn leave(&mut self, above: Inode) -> Result<(), Problem> {
        if self.0.len() == 1 {
            let dir = dir::open_nofollow(self.deepest(), c"..")?;
            is_same(&stat::fstat(dir.as_fd(), Mask::INO | Mask::TYPE)?, above, Kind::Dir)?;
            self.0.push_front(dir);
        }
        self.0.pop_back();
        Ok(())
    }
}

/// Removes the name of a file that is still the one that was scanned.
fn unlink(at: BorrowedFd<'_>, name: &CStr, inode: Inode, kind: Kind) -> Result<(), Problem> {
    is_still(at, name, inode, kind)?;
    Ok(dir::unlink(at, name)?)
}

/// Whether a name is still that of the inode that was scanned.
fn is_still(at: BorrowedFd<'_>, name: &CStr, inode: Inode, kind: Kind) -> Result<(), Problem> {
    let flags = Flags::NOFOLLOW | Flags::NO_AUTOMOUNT;
    is_same(&stat::statx(at, name, flags, Mask::INO | Mask::TYPE)?, inode, kind)
}

/// Opens a directory that is still the one that was scanned, on the mount of the directory above.
fn open(at: BorrowedFd<'_>, name: &CStr, inode: Inode) -> Result<OwnedFd, Problem> {
    let dir = match dir::open_on_same_mount(at, name, false) {
        // An old kernel, or a filter of system calls.
        Err(Errno::NOSYS | Errno::PERM) => open_and_compare(at, name)?,
        other => other.map_err(not_a_directory)?,
    };
    let statx = stat::fstat(dir.as_fd(), Mask::INO | Mask::TYPE)?;
    if statx.dev() != inode.dev {
        return Err(Problem::Mount);
    }
    is_same(&statx, inode, Kind::Dir)?;
    Ok(dir)
}

/// What was scanned as a directory is a file or a link now.
fn not_a_directory(errno: Errno) -> Problem {
    if errno == Errno::NOTDIR || errno == Errno::LOOP { Problem::Changed } else { errno.into() }
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
