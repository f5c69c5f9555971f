//! The first two stages, read and stat. They are one type because in a large directory the stat begins while names are
//! read, and because a worker or the agent returns the results of both.

use super::directory::{Directory, Origin};
use super::open_directory::{NotOpen, OpenDirectory};
use super::printer::Printer;
use super::root::Root;
use super::session::Session;
use super::unanswered::Answered;
use crate::explain::Seen;
use crate::timing::Phase;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use dents_core::batch::Batch;
use dents_core::deadline::{Board, Opened, Part};
use dents_core::needs::{Kind, NeedsByKind};
use dents_core::prefetch::{Ahead, Small};
use dents_core::read::Reader;
use dents_core::stat::{self, Asking, Mode, Report};
use dents_sys::{CWD, Errno, OwnedFd, Result};

/// Needs paths; gives a [`OpenDirectory`], and from it a batch with the names and the metadata of its entries.
pub(super) struct ReadStage<'l> {
    session: &'l Session<'l>,
    /// The operand that the next directories are below.
    root: Option<Root>,
    /// The buffer of the last directory, which the next reuses.
    spare: Vec<u8>,
    /// The listed entries, counted for `--explain`.
    pub(super) seen: Option<Box<Seen>>,
}

impl<'l> ReadStage<'l> {
    pub(super) fn new(session: &'l Session<'l>) -> ReadStage<'l> {
        let seen = session.plan.explain.as_ref().map(|_| Box::default());
        ReadStage { session, root: None, spare: Vec::new(), seen }
    }

    /// Opens a directory, unless a worker has read it ahead.
    pub(super) fn source(
        &mut self,
        path: &CStr,
        above: Option<&Arc<Board>>,
        ahead: Option<Ahead>,
        printer: &mut Printer<'_, '_>,
    ) -> core::result::Result<OpenDirectory, NotOpen> {
        match ahead {
            Some(Ahead::Closed(errno)) => Err(NotOpen::Failed(errno)),
            Some(Ahead::Small(small)) => Ok(OpenDirectory::Small(small)),
            Some(Ahead::Later) | None => self.open(path, true, above, printer),
        }
    }

    pub(super) fn open(
        &mut self,
        path: &CStr,
        follow: bool,
        above: Option<&Arc<Board>>,
        printer: &mut Printer<'_, '_>,
    ) -> core::result::Result<OpenDirectory, NotOpen> {
        let Some(deadline) = self.session.deadline() else {
            let watch = self.session.threads.watching();
            watch.iter().for_each(|watch| watch.begin(0, path.to_bytes()));
            let below = self.open_below(path, printer).map(|opened| opened.map(Reader::new));
            let mut opened = below.unwrap_or_else(|| Reader::open(CWD, path, follow));
            if matches!(opened, Err(Errno::MFILE)) && self.session.system.rings.close_now() {
                opened = Reader::open(CWD, path, follow);
            }
            watch.iter().for_each(|watch| watch.end(0, 0));
            return opened.map(OpenDirectory::Reader).map_err(NotOpen::Failed);
        };
        match deadline.open(path, follow, above) {
            Opened::Board(board) => Ok(OpenDirectory::Board(board)),
            Opened::Failed(errno) => Err(NotOpen::Failed(errno)),
            Opened::Late => Err(NotOpen::Late { reached: true }),
            Opened::NotReached => Err(NotOpen::Late { reached: false }),
        }
    }

    /// Opens a directory below the operand, if it is on the same mount. The root of another mount may never answer, so
    /// the output is flushed before it is opened.
    fn open_below(&mut self, path: &CStr, printer: &mut Printer<'_, '_>) -> Option<Result<OwnedFd>> {
        let root = self.root.as_mut().filter(|root| !root.is_beyond(path))?;
        match root.open(path) {
            Err(Errno::XDEV) => {
                root.set_mount(path);
                printer.out.flush();
            }
            // The kernel does not have `openat2`, or no second descriptor is allowed.
            Err(Errno::NOSYS | Errno::PERM | Errno::MFILE | Errno::NFILE) => self.root = None,
            opened => return Some(opened),
        }
        None
    }

    /// Whether the renderer may read directories below the operand ahead. It must not get stuck in one, and links that
    /// are followed may lead to any file system.
    pub(super) fn may_read_ahead(&mut self) -> bool {
        let mounts = &self.session.mounts;
        !self.session.plan.follows_entries() && self.root.as_mut().is_some_and(|root| root.is_alone(mounts))
    }

    /// The beginning of the paths of all directories below the operand.
    pub(super) fn prefix(&self) -> Option<Vec<u8>> {
        self.root.as_ref().map(Root::prefix)
    }

    /// The entry that the lister stats next may be the root of a mount, which may never answer: then the output is
    /// flushed. Costs five system calls for an operand of which so much was listed, and nothing for a smaller one; a ring
    /// is for the fewest calls, so there the output waits.
    pub(super) fn let_out_before_mounts(
        &mut self,
        path: &CStr,
        source: &OpenDirectory,
        printer: &mut Printer<'_, '_>,
    ) {
        let is_asked = matches!(source, OpenDirectory::Reader(_)) && self.session.plan.needs.asks_any();
        if is_asked
            && self.session.plan.mode != Mode::Iou
            && printer.out.holds_much()
            && let Some(root) = &mut self.root
            && root.holds_mount(path, &self.session.mounts)
        {
            printer.out.flush();
        }
    }

    /// The operands, stat'ed as the plan demands.
    pub(super) fn operands(&mut self, names: &[&CStr], printer: &mut Printer<'_, '_>) -> Batch {
        self.session.timing.enter(Phase::Stat);
        let (batch, report) = self.stat_operands(names, printer);
        printer.take_report(&report);
        if let Some(seen) = &mut self.seen {
            seen.operands += names.len() as u64;
            seen.operand_stats += report.tally.stats;
            // With a deadline the lister itself makes no request that may never be answered.
            if self.session.plan.timeout_ns.is_none() {
                names.iter().for_each(|name| seen.operand(name));
            }
        }
        batch
    }

    fn stat_operands(&self, names: &[&CStr], printer: &mut Printer<'_, '_>) -> (Batch, Report) {
        if let Some(deadline) = self.session.deadline() {
            let part = deadline.operands(names);
            printer.tell_late_operands(&part.batch);
            return (part.batch, part.report);
        }
        let (needs, dereference) = (&self.session.plan.operand_needs, self.session.plan.dereference);
        let mut batch = Batch::new(*needs);
        for name in names {
            batch.push(name, Kind::Unknown, 0);
        }
        let report = stat::fill_operands(&mut batch, CWD, needs, dereference, &self.session.resources());
        (batch, report)
    }

    /// Lets a directory be read into the buffer of the last one.
    pub(super) fn with_buffer(&mut self, source: OpenDirectory) -> OpenDirectory {
        source.with_buffer(&mut self.spare)
    }

    /// All entries of a directory, which is then closed. Errors are reported.
    pub(super) fn whole(
        &mut self,
        source: &mut OpenDirectory,
        directory: Directory<'_>,
        printer: &mut Printer<'_, '_>,
    ) -> Batch {
        let (batch, report, ended) = self.take_all(source, directory.path, printer);
        self.close(source, directory);
        if let Err(errno) = ended {
            printer.cannot("reading directory %s", directory.name(), errno, directory.origin);
        }
        printer.take_report(&report);
        self.count_entries(&batch);
        batch
    }

    /// Reads and stats all entries.
    #[inline]
    pub(super) fn take_all(
        &mut self,
        source: &mut OpenDirectory,
        path: &CStr,
        printer: &mut Printer<'_, '_>,
    ) -> (Batch, Report, Result<()>) {
        match source {
            OpenDirectory::Reader(reader) => self.fill_whole(reader),
            OpenDirectory::Board(board) => self.take_whole(board, path, printer),
            OpenDirectory::Small(small) => (mem::take(&mut small.batch), small.report, small.ended),
            OpenDirectory::Done(_) => (Batch::new(self.session.plan.needs), Report::default(), Ok(())),
        }
    }

    fn fill_whole(&mut self, reader: &mut Reader) -> (Batch, Report, Result<()>) {
        let plan = self.session.plan;
        let mut batch = Batch::new(plan.needs);
        let resources = self.session.resources();
        let asking = Asking { needs: &plan.needs, follow: plan.follows_entries(), resources: &resources };
        let progress = stat::read(&mut batch, reader, &plan.filter, &asking);
        self.session.timing.enter(Phase::Stat);
        let (report, ended) = stat::fill_read(progress, &mut batch, reader, &plan.filter, &asking);
        (batch, report, ended)
    }

    /// All entries of a directory that the agent reads, with the answers so far.
    fn take_whole(
        &self,
        board: &Arc<Board>,
        path: &CStr,
        printer: &mut Printer<'_, '_>,
    ) -> (Batch, Report, Result<()>) {
        let Some(deadline) = self.session.deadline() else {
            return (Batch::default(), Report::default(), Ok(()));
        };
        let Part { batch, report, unanswered, ended } = deadline.whole(board);
        let answered = Answered { entries: batch.len(), unanswered, ended: ended.is_some() };
        printer.tell_unanswered(path.to_bytes(), answered);
        (batch, report, ended.unwrap_or(Ok(())))
    }

    /// The next entries of a directory, in place of those in the batch. `Ok(false)` at its end.
    pub(super) fn next(
        &mut self,
        source: &mut OpenDirectory,
        batch: &mut Batch,
        answered: &mut Answered,
        printer: &mut Printer<'_, '_>,
    ) -> Result<bool> {
        self.session.timing.enter(Phase::Read);
        match source {
            OpenDirectory::Reader(reader) => {
                let more = self.read_more(reader, batch)?;
                if more {
                    self.fill(reader, batch, &self.session.plan.needs, printer);
                    self.count_entries(batch);
                }
                Ok(more)
            }
            OpenDirectory::Board(board) => self.take_next(board, batch, answered, printer),
            // A streamed directory is not read ahead, because the first names would appear later.
            OpenDirectory::Small(small) => {
                *batch = mem::take(&mut small.batch);
                small.ended.map(|()| !batch.is_empty())
            }
            OpenDirectory::Done(_) => Ok(false),
        }
    }

    /// The next entries that the agent has read.
    fn take_next(
        &mut self,
        board: &Arc<Board>,
        batch: &mut Batch,
        answered: &mut Answered,
        printer: &mut Printer<'_, '_>,
    ) -> Result<bool> {
        let Some(deadline) = self.session.deadline() else { return Ok(false) };
        let part = deadline.next(board);
        answered.entries += part.batch.len();
        answered.unanswered += part.unanswered;
        answered.ended |= part.ended.is_some();
        *batch = part.batch;
        printer.take_report(&part.report);
        self.count_entries(batch);
        match part.ended {
            Some(Err(errno)) => Err(errno),
            _ => Ok(!batch.is_empty()),
        }
    }

    /// Reads one buffer of names. `Ok(false)` at the end of the directory.
    pub(super) fn read_more(&self, reader: &mut Reader, batch: &mut Batch) -> Result<bool> {
        stat::read_more(batch, reader, &self.session.plan.filter, self.session.threads.watching())
    }

    /// Stats entries for these needs.
    pub(super) fn fill(
        &self,
        reader: &Reader,
        batch: &mut Batch,
        needs: &NeedsByKind,
        printer: &mut Printer<'_, '_>,
    ) {
        self.session.timing.enter(Phase::Stat);
        let (follow, resources) = (self.session.plan.follows_entries(), self.session.resources());
        let report = stat::fill(batch, reader.dir(), &Asking { needs, follow, resources: &resources });
        printer.take_report(&report);
    }

    /// Counts entries for `--explain`.
    pub(super) fn count_entries(&mut self, batch: &Batch) {
        if let Some(seen) = &mut self.seen {
            batch.iter().for_each(|entry| seen.entry(entry.kind(), entry.d_kind()));
        }
    }

    /// Closes a directory that has been read. If it is an operand, the directories below it will be opened from it.
    pub(super) fn close(&mut self, source: &mut OpenDirectory, directory: Directory<'_>) {
        let is_operand = directory.origin == Origin::Operand && self.session.plan.recursive;
        if is_operand && matches!(source, OpenDirectory::Reader(_)) {
            self.root = Some(Root::new(directory.path));
        }
        source.close(self.session.system.rings);
    }

    /// Ends the use of a source, of which nothing more is needed. Returns the memory of a worker.
    pub(super) fn end(&mut self, source: OpenDirectory) -> Option<Box<Small>> {
        match source {
            OpenDirectory::Small(small) => return Some(small),
            source => {
                if let Some(buffer) = source.into_buffer(self.session.system.rings) {
                    self.spare = buffer;
                }
            }
        }
        None
    }

    /// Ends the use of the operand: no directory below it remains.
    pub(super) fn leave_root(&mut self) {
        if let Some(directory) = self.root.take().and_then(Root::into_directory) {
            self.session.system.rings.close_later(directory);
        }
    }
}
