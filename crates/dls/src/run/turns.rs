//! Directories still to be listed, each in its turn, and those that workers have read ahead.

use super::Listing;
use super::directory::{Directory, Origin};
use super::source::{Closed, Source};
use crate::cycle::ActiveDirectories;
use crate::plan::Plan;
use crate::timing::Phase;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use dents_core::batch::Batch;
use dents_core::deadline::Board;
use dents_core::mounts::Mounts;
use dents_core::path::below;
use dents_core::prefetch::{self, Ahead, Prefetch, Small, Start, Started, Turn, Wanted, Worker};
use dents_core::sort::{Collate, Key};
use dents_core::stat::{Mode, Resources};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result, dir};

/// How long the renderer waits for a worker before it flushes its output: to read a local directory takes 0.03 ms.
const PATIENCE_NS: u64 = 20_000_000;

/// A task.
enum Task {
    List {
        directory: Arc<prefetch::Directory>,
        origin: Origin,
        above: Option<Arc<Board>>,
    },
    /// Leaves the directory that was entered last: everything below it has been listed.
    Leave,
}

/// The tasks of a listing.
#[derive(Default)]
pub(super) struct Turns {
    /// A stack: the next task is the last.
    tasks: Vec<Task>,
    active: ActiveDirectories,
    /// The directories that are read ahead, if any are.
    prefetch: Option<Arc<Prefetch>>,
    started: Started,
    /// Whether there is one operand, so that every directory found is below it.
    is_one: bool,
    root: Option<Root>,
}

/// The current operand, from which directories below are opened.
struct Root {
    path: CString,
    /// Opened at its first use (`O_PATH`): until then its descriptor may be the only one left for other files.
    directory: Option<OwnedFd>,
    /// The length of its own part of paths below it.
    len: usize,
    /// The mount point below it that was opened last.
    mount: Option<CString>,
    /// Whether nothing is mounted below it; `None` until that is needed.
    is_alone: Option<bool>,
}

impl Root {
    /// Opens a directory below it: one `openat2`, which fails with `EXDEV` at a mount point.
    fn open(&mut self, path: &CStr) -> Result<OwnedFd> {
        let name = path.to_bytes_with_nul().get(self.len..).unwrap_or_default();
        let name = CStr::from_bytes_with_nul(name).map_err(|_| Errno::NOSYS)?;
        dir::open_on_same_mount(self.directory().ok_or(Errno::NOSYS)?, name, true)
    }

    fn directory(&mut self) -> Option<BorrowedFd<'_>> {
        self.directory = self.directory.take().or_else(|| dir::open_place(CWD, &self.path).ok());
        self.directory.as_ref().map(AsFd::as_fd)
    }

    /// Whether nothing is mounted below it, so that all directories there are on one file system.
    fn is_alone(&mut self, mounts: &Mounts) -> bool {
        let known = self.is_alone;
        let is_alone = known.unwrap_or_else(|| self.directory().is_some_and(|dir| !mounts.any_below(dir)));
        *self.is_alone.insert(is_alone)
    }

    /// Whether something may be mounted right in the directory with this path.
    fn holds_mount(&mut self, path: &CStr, mounts: &Mounts) -> bool {
        let rest = path.to_bytes().get(self.len..).unwrap_or_default();
        !self.is_alone(mounts) && self.directory().is_none_or(|dir| mounts.any_in(dir, rest))
    }

    /// The beginning of the paths of all directories below it.
    fn prefix(&self) -> Vec<u8> {
        below(self.path.to_bytes(), b"")
    }

    /// Whether the path contains the mount point that was opened last.
    fn is_beyond(&self, path: &CStr) -> bool {
        let mount = self.mount.as_deref().map_or(&b"/"[..], CStr::to_bytes);
        path.to_bytes().strip_prefix(mount).is_some_and(|rest| rest.starts_with(b"/"))
    }
}

impl Turns {
    /// Enables reading ahead, if there may be enough directories.
    pub(super) fn read_ahead(&mut self, plan: &Plan<'_>, resources: &Resources<'_>, operands: usize) {
        self.is_one = operands == 1;
        let many = plan.recursive || operands >= prefetch::WORTH;
        if many && plan.timeout_ns.is_none() && !plan.streams && Prefetch::suits(resources) {
            self.prefetch = Some(Arc::default());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The directories from the operand down to the one being listed.
    pub(super) fn active(&mut self) -> &mut ActiveDirectories {
        &mut self.active
    }

    /// Adds operands, the first one on top.
    pub(super) fn push_operands(&mut self, paths: impl Iterator<Item = CString>) {
        self.offer_and_push(paths.map(prefetch::Directory::new).collect(), Origin::Operand, None);
    }

    fn offer_and_push(
        &mut self,
        directories: Vec<Arc<prefetch::Directory>>,
        origin: Origin,
        above: Option<&Arc<Board>>,
    ) {
        if let Some(prefetch) = &self.prefetch {
            prefetch.offer(&directories);
        }
        self.push(directories, origin, above);
    }

    /// Adds directories on top of the stack.
    fn push(
        &mut self,
        directories: Vec<Arc<prefetch::Directory>>,
        origin: Origin,
        above: Option<&Arc<Board>>,
    ) {
        let list = |directory| Task::List { directory, origin, above: above.cloned() };
        self.tasks.extend(directories.into_iter().rev().map(list));
    }

    /// Returns the memory of a directory that was read ahead and has been shown.
    pub(super) fn reuse(&self, small: Box<Small>) {
        if let Some(prefetch) = &self.prefetch {
            prefetch.reuse(small);
        }
    }
}

impl Listing<'_, '_, '_> {
    /// Lists all directories of the stack, and those that they add. Starts workers once there are enough directories.
    pub(super) fn take_turns(&mut self, mut own: Option<&mut Worker<'_>>) {
        while !self.turns.is_empty() {
            if let Some(prefetch) = self.turns.prefetch.clone()
                && let Some(start) = self.workers_to_start(&prefetch)
            {
                return self.take_turns_with(&prefetch, start);
            }
            match self.turns.tasks.pop() {
                Some(Task::List { directory, origin, above }) => {
                    self.timing.enter(Phase::Read);
                    let ahead = self.wait_for(&directory, own.as_deref_mut());
                    let directory = Directory { path: directory.payload(), origin };
                    self.directory(directory, above.as_ref(), ahead);
                }
                Some(Task::Leave) => self.turns.active.leave(),
                None => {}
            }
        }
    }

    fn workers_to_start(&mut self, prefetch: &Prefetch) -> Option<Start> {
        let (mut started, resources) = (mem::take(&mut self.turns.started), self.resources);
        let start = started.more(prefetch, &resources, || self.may_read_ahead());
        self.turns.started = started;
        start
    }

    /// Whether the renderer may read directories below the operand ahead. It must not get stuck in one, and links that
    /// are followed may lead to any file system.
    fn may_read_ahead(&mut self) -> bool {
        let mounts = &self.session.mounts;
        !self.plan.follows_entries() && self.turns.root.as_mut().is_some_and(|root| root.is_alone(mounts))
    }

    /// Whether a directory below the operand may contain itself. It cannot if the directories of the file system form
    /// a tree and nothing leads out of it: no mount, no followed link, no other operand. This is known once workers
    /// have started; until then the answer is yes. A directory that is mounted or replaced by a link later is listed
    /// once more, but not for ever, because the length of paths is limited.
    fn may_loop(&mut self) -> bool {
        let is_tree = self.turns.is_one && self.turns.started.is_on_a_tree();
        !(is_tree && self.may_read_ahead())
    }

    fn take_turns_with(&mut self, prefetch: &Prefetch, start: Start) {
        let (plan, resources) = (self.plan, self.resources);
        // Workers cannot sort by width, which the renderer measures, or by totals, which are computed later.
        let sorted = plan.order.key != Key::Width && plan.hierarchy.total_ns.is_none();
        let wanted = Wanted {
            filter: &plan.filter,
            needs: &plan.needs,
            follow: plan.follows_entries(),
            order: sorted.then_some(&plan.order),
            recursive: sorted && plan.recursive && !self.git_hides(),
            identity: plan.recursive && self.may_loop(),
        };
        // Each worker has sorting rules of its own, because they reuse buffers.
        let rules = self.collate.clone();
        let rules = rules.as_deref().map(|rules| rules as &dyn Collate);
        prefetch.run(start, wanted, &resources, rules, &mut |own| self.take_turns(Some(own)));
    }

    /// Takes a directory that was read ahead. Before a long wait, the output is flushed.
    fn wait_for(&mut self, directory: &prefetch::Directory, own: Option<&mut Worker<'_>>) -> Option<Ahead> {
        let far = self.turns.started.is_far();
        if !directory.is_found() {
            self.out.let_out(far);
        }
        if let Some(own) = own.filter(|_| !far && self.may_read_ahead())
            && let (Some(prefetch), Some(root)) = (&self.turns.prefetch, &self.turns.root)
        {
            let prefix = root.prefix();
            while prefetch.read_ahead(directory, own, &prefix) {}
        }
        let prefetch = self.turns.prefetch.as_ref()?;
        let mut turn = prefetch.take(directory, self.out.holds_any().then_some(PATIENCE_NS));
        if matches!(turn, Turn::Late) {
            self.out.flush();
            turn = prefetch.take(directory, None);
        }
        match turn {
            Turn::Found(Ahead::Later) => {
                self.out.let_out(far);
                None
            }
            Turn::Found(ahead) => Some(ahead),
            _ => None,
        }
    }

    /// Lists one directory, if it can be opened.
    fn directory(&mut self, directory: Directory<'_>, above: Option<&Arc<Board>>, ahead: Option<Ahead>) {
        let Directory { path, origin } = directory;
        if origin == Origin::Operand {
            self.leave_root();
        }
        match self.source(path, above, ahead) {
            Ok(source) => {
                self.let_out_before_mounts(path, &source);
                self.list(source, directory);
            }
            Err(Closed::Failed(errno)) => {
                self.cannot("cannot open directory %s", path.to_bytes(), errno, origin);
            }
            Err(Closed::Late { reached }) => self.late(path.to_bytes(), origin, reached),
        }
    }

    /// The entry that the lister stats next may be the root of a mount, which may never answer: then the output is
    /// flushed. Costs five system calls for an operand of which so much was listed, and nothing for a smaller one; a ring
    /// is for the fewest calls, so there the output waits.
    fn let_out_before_mounts(&mut self, path: &CStr, source: &Source) {
        let is_asked = matches!(source, Source::Reader(_)) && self.plan.needs.asks_any();
        if is_asked
            && self.plan.mode != Mode::Iou
            && self.out.holds_much()
            && let Some(root) = &mut self.turns.root
            && root.holds_mount(path, &self.session.mounts)
        {
            self.out.flush();
        }
    }

    /// Opens a directory below the operand, if it is on the same mount. The root of another mount may never answer, so
    /// the output is flushed before it is opened.
    pub(super) fn open_below(&mut self, path: &CStr) -> Option<Result<OwnedFd>> {
        let root = self.turns.root.as_mut().filter(|root| !root.is_beyond(path))?;
        match root.open(path) {
            Err(Errno::XDEV) => {
                root.mount = Some(path.into());
                self.out.flush();
            }
            // The kernel does not have `openat2`, or no second descriptor is allowed.
            Err(Errno::NOSYS | Errno::PERM | Errno::MFILE | Errno::NFILE) => self.turns.root = None,
            opened => return Some(opened),
        }
        None
    }

    /// Closes a directory that has been read. If it is an operand, the directories below it will be opened from it.
    pub(super) fn close(&mut self, source: &mut Source, directory: Directory<'_>) {
        let path = directory.path;
        if directory.origin == Origin::Operand && self.plan.recursive && matches!(source, Source::Reader(_)) {
            let len = below(path.to_bytes(), b"").len();
            self.turns.root =
                Some(Root { path: path.into(), directory: None, len, mount: None, is_alone: None });
        }
        source.close(self.system.rings);
    }

    /// Ends the use of the operand: no directory below it remains.
    pub(super) fn leave_root(&mut self) {
        if let Some(directory) = self.turns.root.take().and_then(|root| root.directory) {
            self.system.rings.close_later(directory);
        }
    }

    /// Adds the subdirectories of the directory entered last, the first one on top.
    pub(super) fn descend(&mut self, batch: &Batch, order: &[u32], path: &CStr, source: &mut Source) {
        self.turns.tasks.push(Task::Leave);
        match source.take_below() {
            // The worker has offered them to the others already.
            Some(below) => self.turns.push(below, Origin::Below, None),
            None => self.turns.offer_and_push(
                prefetch::all_below(path, batch, order),
                Origin::Below,
                source.board(),
            ),
        }
    }

    /// Enters a directory. Refuses one that is being listed already, because the descent would not end.
    pub(super) fn enter(&mut self, source: &Source, directory: Directory<'_>) -> bool {
        let Directory { path, origin } = directory;
        let identity = if self.may_loop() { source.identity() } else { Ok(None) };
        match identity.map(|identity| self.turns.active.enter(identity)) {
            Ok(true) => true,
            Ok(false) => {
                self.already_listed(path.to_bytes());
                false
            }
            Err(errno) => {
                self.cannot("cannot determine device and inode of %s", path.to_bytes(), errno, origin);
                false
            }
        }
    }
}
