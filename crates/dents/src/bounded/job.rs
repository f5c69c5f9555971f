//! What the agent's threads do. Each step may never return; nobody waits behind it.

use super::{AHEAD, Board, Wanted, below};
use crate::batch::{Asked, Batch, Bits, Meta, Texts};
use crate::lock::Mutex;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::Stream;
use crate::stat::ask::Asker;
use crate::stat::operands::follow_to_directory;
use crate::stat::{Dereference, Place, Question, asks, links_lie};
use crate::watchdog::READING;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::sync::atomic::Ordering;
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, OwnedFd, Result, dir, statfs};

use super::crew::Desk;
use super::sheet::{Identity, Leaf, Sheet};

/// Something to be done aside.
pub(super) enum Job {
    /// Open a directory, and find out which it is.
    Open { sheet: Arc<Sheet>, path: CString, follow: bool },
    /// Read one more buffer of it.
    Read { sheet: Arc<Sheet>, dir: Arc<Dir>, buffer: Vec<u8> },
    /// Ask about the entries of a buffer: a job for many at once.
    Ask { sheet: Arc<Sheet>, dir: Arc<Dir>, leaf: Arc<Leaf> },
    /// Ask about operands: the same.
    AskOperands(Arc<Leaf>),
    /// Anything else.
    Call(Box<dyn FnOnce() + Send>),
}

/// An open directory. It is closed with the last job about it.
pub(super) struct Dir {
    fd: OwnedFd,
    hints: Mutex<Hints>,
}

/// What one asker has found out and the next need not.
#[derive(Clone, Copy, Default)]
struct Hints {
    by_text: Option<bool>,
    smack: Option<bool>,
    without_xattrs: Option<(u32, u32)>,
}

impl Job {
    /// How many could do some of it now.
    pub(super) fn hands(&self) -> usize {
        match self {
            Job::Ask { leaf, .. } | Job::AskOperands(leaf) => leaf.unclaimed(),
            _ => 1,
        }
    }

    /// The same once more, for somebody else, if it is for many.
    pub(super) fn share(&self) -> Option<Job> {
        match self {
            Job::Ask { sheet, dir, leaf } => {
                Some(Job::Ask { sheet: sheet.clone(), dir: dir.clone(), leaf: leaf.clone() })
            }
            Job::AskOperands(leaf) => Some(Job::AskOperands(leaf.clone())),
            _ => None,
        }
    }

    fn is_about(&self, wanted: &Arc<Sheet>) -> bool {
        match self {
            Job::Open { sheet, .. } | Job::Read { sheet, .. } | Job::Ask { sheet, .. } => {
                Arc::ptr_eq(sheet, wanted)
            }
            _ => false,
        }
    }
}

impl Board {
    /// What the lister waits for goes first.
    pub(super) fn hurry(&self, sheet: &Arc<Sheet>) {
        let mut queue = self.queue.lock();
        if let Some(at) = queue.iter().position(|job| job.is_about(sheet))
            && let Some(job) = queue.remove(at)
        {
            queue.push_front(job);
        }
    }

    pub(super) fn perform(&'static self, job: Job, desk: &Desk<'_>) {
        desk.begin();
        let watched = |name: &[u8], what: &dyn Fn()| {
            self.wanted.watch.iter().for_each(|watch| watch.begin(desk.number, name));
            what();
            self.wanted.watch.iter().for_each(|watch| watch.end(desk.number, 0));
        };
        match job {
            Job::Open { sheet, path, follow } => {
                watched(path.to_bytes(), &|| self.open_directory(&sheet, &path, follow));
            }
            Job::Read { sheet, dir, buffer } => {
                let buffer = Cell::new(buffer);
                watched(READING, &|| self.read(sheet.clone(), dir.clone(), buffer.take()));
            }
            Job::Ask { sheet, dir, leaf } => self.ask(&sheet, &dir, &leaf, desk),
            Job::AskOperands(leaf) => self.ask_operands(&leaf, desk),
            Job::Call(what) => {
                what();
                self.tell();
            }
        }
        desk.end();
    }

    fn open_directory(&self, sheet: &Arc<Sheet>, path: &CString, follow: bool) {
        sheet.begin();
        let opened = open_and_identify(path, follow, self.wanted.recursive);
        sheet.set_opened(opened.as_ref().map(|(_, identity)| *identity).map_err(|errno| *errno));
        self.tell();
        // The lister says so when it comes here.
        if sheet.is_its_own_descendant() {
            return sheet.end(Ok(()));
        }
        if let Ok((fd, _)) = opened {
            let dir = Arc::new(Dir { fd, hints: Mutex::default() });
            self.push(Job::Read { sheet: sheet.clone(), dir, buffer: Vec::new() });
        }
    }

    /// One buffer; then there are entries to ask, and the next buffer to read.
    fn read(&self, sheet: Arc<Sheet>, dir: Arc<Dir>, mut buffer: Vec<u8>) {
        let far_ahead = || self.ahead.load(Ordering::Relaxed) >= AHEAD && !sheet.is_waited_for();
        if far_ahead() {
            self.parked.lock().push(Job::Read { sheet: sheet.clone(), dir, buffer });
            // The lister may have come between our look and that.
            if !far_ahead() {
                self.unpark();
            }
            return;
        }
        let mut names = Batch::default();
        let answer = Stream::new(dir.fd.as_fd(), &mut buffer).read(&self.wanted.filter, &mut names);
        let follow = self.wanted.follows();
        if !names.is_empty() {
            self.wanted.watch.iter().for_each(|watch| watch.add_read(names.len()));
            if let Some(ledger) = &self.ledger {
                ledger.note_directory(statfs::of_mount(dir.fd.as_fd()).ok(), names.len());
            }
            self.ahead.fetch_add(names.len(), Ordering::Relaxed);
            let leaf = Arc::new(Leaf::new(names, |kind| asks(&self.wanted.needs, follow, kind)));
            sheet.add(leaf.clone());
            if leaf.is_answered() {
                self.tell();
            } else {
                self.push(Job::Ask { sheet: sheet.clone(), dir: dir.clone(), leaf: leaf.clone() });
            }
            if self.wanted.recursive {
                let known = |entry: &crate::batch::Entry<'_>| entry.d_kind() == Kind::Dir;
                leaf.names.iter().filter(known).for_each(|entry| self.descend(&sheet, entry.name()));
            }
        }
        if answer == Ok(true) {
            return self.push(Job::Read { sheet, dir, buffer });
        }
        sheet.end(answer.map(drop));
        self.tell();
    }

    fn descend(&self, sheet: &Arc<Sheet>, name: &[u8]) {
        if !matches!(name, b"." | b"..") {
            self.foresee(below(&sheet.path, name), Some(sheet));
        }
    }

    fn ask(&self, sheet: &Arc<Sheet>, dir: &Dir, leaf: &Leaf, desk: &Desk<'_>) {
        let mut hints = *dir.hints.lock();
        let (needs, follow) = (&self.wanted.needs, self.wanted.follows());
        let by_text = hints
            .by_text
            .unwrap_or_else(|| links_lie(Some(&leaf.names.dents), needs, &Place::new(dir.fd.as_fd(), None)));
        let fd = dir.fd.as_fd();
        let lazy = self.wanted.lazy && stat::takes_dont_sync(fd);
        let (ledger, watch) = (self.ledger.as_ref(), self.wanted.watch);
        let question = Question { dir: fd, needs, follow, by_text, lazy, ledger, watch };
        let current = Cell::new(0);
        let learn = |meta: &Meta, texts: &Texts, waits: Asked| leaf.learn(current.get(), meta, texts, waits);
        let mut asker = Asker::new(question, 0);
        (asker.smack, asker.without_xattrs) = (hints.smack, hints.without_xattrs);
        asker.learns = Some(&learn);
        asker.desk = desk.number;
        if self.crew.is_far() {
            asker.hold();
        }
        while let Some(slot) = leaf.claim() {
            current.set(slot);
            let (dent, mut meta) = (leaf.dent(slot), Meta::default());
            let name = dent.c_name(leaf.arena());
            asker.ask(dent.kind(), name, &mut meta);
            if let Some(ledger) = &self.ledger {
                asker.leave_notes();
                ledger.note_in_flight(self.crew.running());
            }
            let (texts, tally) = (core::mem::take(&mut asker.texts), core::mem::take(&mut asker.tally));
            if leaf.answer(slot, meta, texts, tally) {
                self.tell();
            }
            let found = meta.bits.contains(Bits::STAT) && Kind::from_mode(meta.mode) == Kind::Dir;
            if self.wanted.recursive && found && dent.kind() != Kind::Dir {
                self.descend(sheet, name.to_bytes());
            }
            if !desk.answered(&self.crew) {
                break;
            }
        }
        // Of a link whose text is wanted nothing had to be found out, and the next buffer may hold one where it is not.
        if needs.get(Kind::Link).contains(Needs::TARGET) && !by_text {
            hints.by_text = Some(false);
        }
        (hints.smack, hints.without_xattrs) = (asker.smack, asker.without_xattrs);
        *dir.hints.lock() = hints;
    }

    fn ask_operands(&self, leaf: &Leaf, desk: &Desk<'_>) {
        let needs = operand_needs(&self.wanted);
        let dereference = self.wanted.dereference;
        let follow = matches!(dereference, Dereference::Operands | Dereference::Always);
        let question = Question {
            dir: CWD,
            needs: &needs,
            follow,
            by_text: true,
            lazy: false,
            ledger: None,
            watch: self.wanted.watch,
        };
        let current = Cell::new(0);
        let learn = |meta: &Meta, texts: &Texts, waits: Asked| leaf.learn(current.get(), meta, texts, waits);
        while let Some(slot) = leaf.claim() {
            current.set(slot);
            let (mut asker, mut through) =
                (Asker::new(question, 0), Asker::new(Question { follow: true, ..question }, 1));
            asker.learns = Some(&learn);
            (asker.desk, through.desk) = (desk.number, desk.number);
            let (dent, mut meta) = (leaf.dent(slot), Meta::default());
            let name = dent.c_name(leaf.arena());
            asker.ask(dent.kind(), name, &mut meta);
            if dereference == Dereference::OperandDirectories {
                follow_to_directory(&mut through, dent.kind(), name, &mut meta);
            }
            let mut tally = asker.tally;
            tally += through.tally;
            let texts: Texts = if meta.texts == 1 { through.texts } else { asker.texts };
            // First, so that it is under way before the lister asks for it.
            if self.wanted.lists_operands
                && meta.bits.contains(Bits::STAT)
                && Kind::from_mode(meta.mode) == Kind::Dir
            {
                self.foresee(name.to_bytes().to_vec(), None);
            }
            if leaf.answer(slot, meta, texts, tally) {
                self.tell();
            }
            if !desk.answered(&self.crew) {
                break;
            }
        }
    }
}

/// What [`fill_operands`](crate::stat::fill_operands) asks.
pub(super) fn operand_needs(wanted: &Wanted) -> NeedsByKind {
    wanted.operand_needs | NeedsByKind::all(Needs::TYPE)
}

fn open_and_identify(path: &CString, follow: bool, recursive: bool) -> Result<(OwnedFd, Option<Identity>)> {
    let fd = if follow { dir::open(CWD, path)? } else { dir::open_nofollow(CWD, path)? };
    let identity = if recursive { Some(identify(fd.as_fd())?) } else { None };
    Ok((fd, identity))
}

fn identify(fd: BorrowedFd<'_>) -> Result<Identity> {
    let statx = stat::fstat(fd, Mask::INO)?;
    Ok((statx.dev(), statx.ino()))
}
