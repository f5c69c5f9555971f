//! The tasks of the agent's workers. Each step may never return, and delays no other.

use super::Shared;
use super::board::{Board, Buffer, Identity};
use crate::batch::{Batch, Bits, Meta, Texts};
use crate::lock::Mutex;
use crate::needs::{Kind, Needs};
use crate::path::below;
use crate::read::Stream;
use crate::stat::ask::Asker;
use crate::stat::operands::follow_to_directory;
use crate::stat::{Dereference, ListedDir, Question, Tally, asks, resolve_by_text};
use crate::watchdog::READING;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::CStr;
use core::mem::{replace, take};
use dents_engine::growing::Worker;
use dents_engine::limit::policy::{FIRST_REPLY, Lists, Policy};
use dents_engine::task::{self, Kind as TaskKind};
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, OwnedFd, Result, dir, statfs};

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
    fd: OwnedFd,
    hints: Mutex<Hints>,
}

/// Facts that one worker has found and the next need not find again.
#[derive(Clone, Copy, Default)]
struct Hints {
    /// [`Policy::interleave`].
    interleave: Option<bool>,
    by_text: Option<bool>,
    lists: Lists,
    smack: Option<bool>,
    without_xattrs: Option<(u32, u32)>,
    has_policy: bool,
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

impl Shared {
    pub(super) fn execute(&self, worker: &mut Worker<'_>, task: Task) {
        let seat = seat(worker);
        let show = |name: &[u8]| self.wanted.watch.iter().for_each(|watch| watch.begin(seat, name));
        match task {
            Task::Open { board, path, follow } => {
                show(path.to_bytes());
                self.open_directory(board, &path, follow);
            }
            Task::Read { board, dir, buffer } => {
                show(READING);
                self.read(board, dir, buffer);
            }
            Task::Ask { board, dir, buffer } => return self.ask(worker, &board, &dir, &buffer),
            Task::AskOperands(buffer) => return self.ask_operands(worker, &buffer),
            Task::Call(what) => {
                what();
                return self.news.notify_all();
            }
        }
        self.wanted.watch.iter().for_each(|watch| watch.end(seat, 0));
    }

    fn open_directory(&self, board: Arc<Board>, path: &CStr, follow: bool) {
        board.state().begun = true;
        let opened = open_and_identify(path, follow, self.wanted.recursive);
        let identity = opened.as_ref().map(|(_, identity)| *identity).map_err(|errno| *errno);
        board.state().opened = Some(identity);
        self.news.notify_all();
        if board.is_its_own_descendant() {
            // The lister reports this when it reaches the directory.
            board.state().ended = Some(Ok(()));
            return self.news.notify_all();
        }
        if let Ok((fd, _)) = opened {
            let dir = Arc::new(Dir { fd, hints: Mutex::default() });
            self.crew.push(Task::Read { board, dir, buffer: Vec::new() });
        }
    }

    /// Reads one buffer; then pushes tasks for its entries and for the next buffer.
    fn read(&self, board: Arc<Board>, dir: Arc<Dir>, mut room: Vec<u8>) {
        let mut names = Batch::default();
        let mut stream = Stream::new(dir.fd.as_fd(), &mut room);
        if dir.hints.lock().interleave == Some(true) {
            stream = stream.with_small_reads();
        }
        let answer = stream.read(&self.wanted.filter, &mut names);
        let was_full = stream.was_full;
        let mut next = (answer == Ok(true)).then_some(room);
        if !names.is_empty() {
            next = self.add(&board, &dir, (names, was_full), next);
        }
        if let Some(buffer) = next {
            self.crew.push(Task::Read { board, dir, buffer });
        } else if answer != Ok(true) {
            board.state().ended = Some(answer.map(drop));
            self.news.notify_all();
        }
    }

    /// Whether reading and requests take turns in a directory whose first read returned so many names: see [`Policy::interleave`].
    /// The file system is looked up if these may be a server's first reply, which is short ([`FIRST_REPLY`]), or fills the buffer on
    /// Linux 6.1: two system calls.
    fn interleaves(&self, dir: &Dir, names: usize, was_full: bool) -> bool {
        if let Some(known) = dir.hints.lock().interleave {
            return known;
        }
        let may_be = was_full || names <= *FIRST_REPLY.end();
        let of_mount = || Policy::of(statfs::of_mount(dir.fd.as_fd()).ok());
        let policy = may_be.then(|| self.wanted.policy.unwrap_or_else(of_mount));
        let interleaves = policy.is_some_and(|policy| policy.interleave);
        let mut hints = dir.hints.lock();
        hints.interleave = Some(interleaves);
        hints.lists = policy.map_or(hints.lists, |policy| policy.lists);
        interleaves
    }

    /// Adds the names of a buffer: pushes a task for its entries, and prefetches the directories among them. Returns the room for
    /// the next read if that can begin at once.
    fn add(
        &self,
        board: &Arc<Board>,
        dir: &Arc<Dir>,
        (names, was_full): (Batch, bool),
        mut next: Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        self.wanted.watch.iter().for_each(|watch| watch.add_read(names.len()));
        if let Some(counter) = &self.counter {
            counter.note_directory(statfs::of_mount(dir.fd.as_fd()).ok(), names.len());
        }
        self.crew.queue().add(names.len());
        let follow = self.follows();
        let buffer = Arc::new(Buffer::new(names, |kind| asks(&self.wanted.needs, follow, kind)));
        board.state().buffers.push_back(buffer.clone());
        if buffer.slots.is_complete() {
            self.news.notify_all();
        } else {
            if next.is_some() && self.interleaves(dir, buffer.names.len(), was_full) {
                *buffer.next.lock() = next.take();
            }
            self.crew.push(Task::Ask { board: board.clone(), dir: dir.clone(), buffer: buffer.clone() });
        }
        let is_directory = |entry: &crate::batch::Entry<'_>| entry.d_kind() == Kind::Dir;
        buffer.names.iter().filter(is_directory).for_each(|entry| self.descend(board, entry.name()));
        next
    }

    /// Prefetches a directory that will be listed.
    fn descend(&self, board: &Arc<Board>, name: &[u8]) {
        if self.wanted.recursive && !matches!(name, b"." | b"..") {
            self.read_ahead(below(&board.path, name), Some(board));
        }
    }

    fn follows(&self) -> bool {
        self.wanted.dereference == Dereference::Always
    }

    /// Asks about entries one by one, until all are claimed or the limit has no room for this worker. `current` is the slot. Calls
    /// `at_last` when the last is claimed, before its request, which may never be answered.
    fn ask_each(
        &self,
        worker: &mut Worker<'_>,
        buffer: &Buffer,
        current: &Cell<usize>,
        at_last: impl Fn(),
        mut ask: impl FnMut(Kind, &CStr) -> (Meta, Texts, Tally),
    ) {
        while let Some(slot) = buffer.slots.claim() {
            current.set(slot);
            if buffer.slots.is_last(slot) {
                at_last();
            }
            let dent = buffer.dent(slot);
            let (meta, texts, tally) = ask(dent.kind(), dent.c_name(buffer.arena()));
            if buffer.answer(slot, meta, texts, tally) {
                self.news.notify_all();
            }
            if !self.crew.answered(worker) {
                break;
            }
        }
    }

    fn ask(&self, worker: &mut Worker<'_>, board: &Arc<Board>, dir: &Arc<Dir>, buffer: &Buffer) {
        let mut hints = *dir.hints.lock();
        let (fd, needs, counter) = (dir.fd.as_fd(), &self.wanted.needs, self.counter.as_ref());
        let by_text = hints
            .by_text
            .unwrap_or_else(|| resolve_by_text(Some(&buffer.names.dents), needs, &ListedDir::new(fd, None)));
        let question = Question {
            dir: fd,
            needs,
            follow: self.follows(),
            by_text,
            lists: hints.lists,
            lazy: self.wanted.lazy && stat::takes_dont_sync(fd),
            counter,
            watch: self.wanted.watch,
        };
        let current = Cell::new(0);
        let learn = buffer.learner(&current);
        let mut asker = Asker::new(question, 0);
        (asker.smack, asker.without_xattrs) = (hints.smack, hints.without_xattrs);
        asker.learns = Some(&learn);
        asker.seat = seat(worker);
        if self.crew.limit().is_far() {
            asker.hold();
            hints.has_policy = true;
            if !replace(&mut dir.hints.lock().has_policy, true) && self.wanted.policy.is_none() {
                self.crew.limit().cap(Policy::of(statfs::of_mount(fd).ok()).most);
            }
        }
        let read_on = || {
            if let Some(room) = buffer.next.lock().take() {
                self.crew.push(Task::Read { board: board.clone(), dir: dir.clone(), buffer: room });
            }
        };
        self.ask_each(worker, buffer, &current, read_on, |kind, name| {
            let mut meta = Meta::default();
            asker.ask(kind, name, &mut meta);
            if let Some(counter) = counter {
                asker.leave_notes();
                counter.note_in_flight(self.crew.limit().running());
            }
            if kind != Kind::Dir && is_directory(&meta) {
                self.descend(board, name.to_bytes());
            }
            (meta, take(&mut asker.texts), take(&mut asker.tally))
        });
        // If a link's text is needed, nothing had to be looked up, and the next buffer may have a link whose text is not needed.
        if needs.get(Kind::Link).contains(Needs::TARGET) && !by_text {
            hints.by_text = Some(false);
        }
        (hints.smack, hints.without_xattrs) = (asker.smack, asker.without_xattrs);
        hints.lists = asker.question.lists;
        *dir.hints.lock() = hints;
    }

    fn ask_operands(&self, worker: &mut Worker<'_>, buffer: &Buffer) {
        let dereference = self.wanted.dereference;
        let question = Question {
            dir: CWD,
            needs: &self.wanted.operand_needs,
            follow: matches!(dereference, Dereference::Operands | Dereference::Always),
            by_text: true,
            lists: Lists::WithMetadata,
            lazy: false,
            counter: None,
            watch: self.wanted.watch,
        };
        let current = Cell::new(0);
        let learn = buffer.learner(&current);
        let mut asker = Asker::new(question, 0);
        let mut through = Asker::new(Question { follow: true, ..question }, 1);
        asker.learns = Some(&learn);
        (asker.seat, through.seat) = (seat(worker), seat(worker));
        let nothing_waits = || {};
        self.ask_each(worker, buffer, &current, nothing_waits, |kind, name| {
            let mut meta = Meta::default();
            asker.ask(kind, name, &mut meta);
            if dereference == Dereference::OperandDirectories {
                follow_to_directory(&mut through, kind, name, &mut meta);
            }
            let mut tally = take(&mut asker.tally);
            tally += take(&mut through.tally);
            let (first, second) = (take(&mut asker.texts), take(&mut through.texts));
            // Opened before the lister asks for it.
            if self.wanted.lists_operands && is_directory(&meta) {
                self.read_ahead(name.to_bytes().to_vec(), None);
            }
            let texts = if meta.texts == 1 { second } else { first };
            (meta, texts, tally)
        });
    }
}

/// The seat of the worker; the lister has seat 0.
fn seat(worker: &Worker<'_>) -> usize {
    1 + worker.number
}

fn is_directory(meta: &Meta) -> bool {
    meta.bits.contains(Bits::STAT) && Kind::from_mode(meta.mode) == Kind::Dir
}

fn open_and_identify(path: &CStr, follow: bool, recursive: bool) -> Result<(OwnedFd, Option<Identity>)> {
    let fd = if follow { dir::open(CWD, path)? } else { dir::open_nofollow(CWD, path)? };
    let identity = if recursive { Some(identify(fd.as_fd())?) } else { None };
    Ok((fd, identity))
}

fn identify(fd: BorrowedFd<'_>) -> Result<Identity> {
    let statx = stat::fstat(fd, Mask::INO)?;
    Ok((statx.dev(), statx.ino()))
}
