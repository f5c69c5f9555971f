//! What the lister and the agent share: what is wanted, the tasks, the boards of directories.

use super::board::{Board, Buffer};
use crate::lock::Mutex;
use crate::needs::NeedsByKind;
use crate::owners::Getent;
use crate::read::Filter;
use crate::stat::Dereference;
use crate::stat::request_counts::RequestCounter;
use crate::watchdog::Watch;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_engine::growing::Growing;
use dents_engine::limit::policy::{Lists, Policy};
use dents_engine::task::{self, Kind as TaskKind};
use dents_engine::wait::Events;
use dents_sys::{OwnedFd, Result};

/// A process that may be abandoned, with its stuck threads.
pub trait Agent: Getent + Sync {
    /// Starts the process, which executes `job`. If it ends before this program, this program must end too: a lock that it held
    /// stays locked.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn start(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;

    /// Starts another thread in that process. Called in that process.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn thread(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;
}

/// What to list, and what to request about it.
pub struct Wanted {
    /// Needs of the entries of a directory.
    pub needs: NeedsByKind,
    /// Needs of the operands.
    pub operand_needs: NeedsByKind,
    /// Which links are followed.
    pub dereference: Dereference,
    /// Which names to keep.
    pub filter: Filter,
    /// Whether directories among the operands are listed.
    pub lists_operands: bool,
    /// Whether subdirectories are listed.
    pub recursive: bool,
    /// Whether values may be stale where that saves requests to a server.
    pub lazy: bool,
    /// Where requests in flight are shown.
    pub watch: Option<&'static Watch>,
    /// Whether to count requests by kind of entry.
    pub explains: bool,
    /// The policy to use instead of those of the file systems: it limits the requests in flight, without stuck ones.
    /// With `None` the policy of each file system is used, which is looked up where answers are round trips, or may be: two
    /// system calls for each directory, without a request to a server.
    pub policy: Option<&'static Policy>,
}

/// State that both processes share. Never freed: a stuck worker may still use it.
pub(super) struct Shared {
    pub(super) wanted: Wanted,
    /// The counts, if requested.
    pub(super) counter: Option<RequestCounter>,
    pub(super) agent: &'static dyn Agent,
    pub(super) crew: Growing<Task>,
    /// Directories that were prefetched and not yet opened by the lister.
    pub(super) boards: Mutex<BTreeMap<Vec<u8>, Arc<Board>>>,
    /// Notified when the lister may find something new.
    pub(super) news: Events,
}

/// A task of the agent.
pub(super) enum Task {
    /// Open a directory and identify it.
    Open { board: Arc<Board>, path: CString, follow: bool },
    /// Read one more buffer of names.
    Read { board: Arc<Board>, dir: Arc<Dir>, buffer: Vec<u8> },
    /// Ask about the entries of a buffer: shared by many workers.
    Ask { board: Arc<Board>, dir: Arc<Dir>, buffer: Arc<Buffer> },
    /// Ask about operands: shared by many workers.
    AskOperands(Arc<Buffer>),
    /// Any other call.
    Call(Box<dyn FnOnce() + Send>),
}

/// An open directory. Dropping its last task closes it.
pub(super) struct Dir {
    pub(super) fd: OwnedFd,
    pub(super) hints: Mutex<Hints>,
}

/// Facts that one worker has found and the next need not find again.
#[derive(Clone, Copy, Default)]
pub(super) struct Hints {
    /// [`Policy::interleave`].
    pub(super) interleave: Option<bool>,
    pub(super) by_text: Option<bool>,
    pub(super) lists: Lists,
    pub(super) smack: Option<bool>,
    pub(super) without_xattrs: Option<(u32, u32)>,
    pub(super) has_policy: bool,
}

impl task::Task for Task {
    fn kind(&self) -> TaskKind {
        match self {
            Task::Open { .. } => TaskKind::Open,
            Task::Read { .. } => TaskKind::Read,
            Task::Ask { .. } | Task::AskOperands(_) => TaskKind::Ask,
            Task::Call(_) => TaskKind::Call,
        }
    }

    fn width(&self) -> usize {
        match self {
            Task::Ask { buffer, .. } | Task::AskOperands(buffer) => buffer.slots.unclaimed(),
            _ => 1,
        }
    }

    fn is_awaited(&self) -> bool {
        if let Task::Read { board, .. } = self { board.state().awaited } else { true }
    }

    fn share(&self) -> Option<Task> {
        match self {
            Task::Ask { board, dir, buffer } => {
                Some(Task::Ask { board: board.clone(), dir: dir.clone(), buffer: buffer.clone() })
            }
            Task::AskOperands(buffer) => Some(Task::AskOperands(buffer.clone())),
            _ => None,
        }
    }
}

impl Task {
    pub(super) fn is_about(&self, wanted: &Arc<Board>) -> bool {
        match self {
            Task::Open { board, .. } | Task::Read { board, .. } | Task::Ask { board, .. } => {
                Arc::ptr_eq(board, wanted)
            }
            Task::AskOperands(_) | Task::Call(_) => false,
        }
    }
}
