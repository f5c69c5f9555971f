//! Directories still to be listed, each in its turn, and those that workers have read ahead.

use super::directory::{Directory, Origin};
use super::open_directory::OpenDirectory;
use super::printer::Printer;
use super::read::ReadStage;
use super::session::Session;
use crate::cycle::ActiveDirectories;
use crate::output::Output;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::Batch;
use dents_core::deadline::Board;
use dents_core::prefetch::{self, Ahead, Prefetch, Small, Start, Started, Turn, Worker};

/// How long the renderer waits for a worker before it flushes its output: to read a local directory takes 0.03 ms.
const PATIENCE_NS: u64 = 20_000_000;

/// A task.
pub(super) enum Task {
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
}

impl Turns {
    /// Enables reading ahead, if there may be enough directories.
    pub(super) fn read_ahead(&mut self, session: &Session<'_>, operands: usize) {
        let plan = session.plan;
        self.is_one = operands == 1;
        let many = plan.recursive || operands >= prefetch::WORTH;
        if many && plan.timeout_ns.is_none() && !plan.streams && Prefetch::suits(&session.resources()) {
            self.prefetch = Some(Arc::default());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
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

    /// The next task; `None` if nothing is left.
    pub(super) fn next(&mut self) -> Option<Task> {
        self.tasks.pop()
    }

    /// Leaves the directory that was entered last.
    pub(super) fn leave(&mut self) {
        self.active.leave();
    }

    /// Workers that read ahead, if they are worth starting now.
    pub(super) fn workers_to_start(
        &mut self,
        read: &mut ReadStage<'_>,
        session: &Session<'_>,
    ) -> Option<(Arc<Prefetch>, Start)> {
        let prefetch = self.prefetch.clone()?;
        let start = self.started.more(&prefetch, &session.resources(), || read.may_read_ahead())?;
        Some((prefetch, start))
    }

    /// Whether a directory below the operand may contain itself. It cannot if the directories of the file system form
    /// a tree and nothing leads out of it: no mount, no followed link, no other operand. This is known once workers
    /// have started; until then the answer is yes. A directory that is mounted or replaced by a link later is listed
    /// once more, but not for ever, because the length of paths is limited.
    pub(super) fn may_loop(&self, read: &mut ReadStage<'_>) -> bool {
        let is_tree = self.is_one && self.started.is_on_a_tree();
        !(is_tree && read.may_read_ahead())
    }

    /// Takes a directory that was read ahead. Before a long wait, the output is flushed.
    pub(super) fn wait_for(
        &self,
        directory: &prefetch::Directory,
        own: Option<&mut Worker<'_>>,
        read: &mut ReadStage<'_>,
        out: &mut Output<'_>,
    ) -> Option<Ahead> {
        let far = self.started.is_far();
        if !directory.is_found() {
            out.let_out(far);
        }
        if let Some(own) = own.filter(|_| !far && read.may_read_ahead())
            && let (Some(prefetch), Some(prefix)) = (&self.prefetch, read.prefix())
        {
            while prefetch.read_ahead(directory, own, &prefix) {}
        }
        let prefetch = self.prefetch.as_ref()?;
        let mut turn = prefetch.take(directory, out.holds_any().then_some(PATIENCE_NS));
        if matches!(turn, Turn::Late) {
            out.flush();
            turn = prefetch.take(directory, None);
        }
        match turn {
            Turn::Found(Ahead::Later) => {
                out.let_out(far);
                None
            }
            Turn::Found(ahead) => Some(ahead),
            _ => None,
        }
    }

    /// Adds the subdirectories of the directory entered last, the first one on top.
    pub(super) fn descend(&mut self, batch: &Batch, order: &[u32], path: &CStr, source: &mut OpenDirectory) {
        self.tasks.push(Task::Leave);
        match source.take_below() {
            // The worker has offered them to the others already.
            Some(below) => self.push(below, Origin::Below, None),
            None => {
                self.offer_and_push(prefetch::all_below(path, batch, order), Origin::Below, source.board())
            }
        }
    }

    /// Enters a directory. Refuses one that is being listed already, because the descent would not end.
    pub(super) fn enter(
        &mut self,
        source: &OpenDirectory,
        directory: Directory<'_>,
        read: &mut ReadStage<'_>,
        printer: &mut Printer<'_, '_>,
    ) -> bool {
        let Directory { path, origin } = directory;
        let identity = if self.may_loop(read) { source.identity() } else { Ok(None) };
        match identity.map(|identity| self.active.enter(identity)) {
            Ok(true) => true,
            Ok(false) => {
                printer.already_listed(path.to_bytes());
                false
            }
            Err(errno) => {
                printer.cannot("cannot determine device and inode of %s", path.to_bytes(), errno, origin);
                false
            }
        }
    }
}
