//! The last two stages, render and write: frames become bytes, and messages go out between them, in order. It keeps
//! the exit status.

use super::batch_notes::Notes;
use super::directory::Directory;
use super::session::Session;
use crate::message::Message;
use crate::output::Output;
use crate::status::Status;
use crate::timing::Phase;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::deadline::UNANSWERED;
use dents_core::owners::Owners;
use dents_core::stat::Report;
use dents_core::team::Team;
use dents_render::tree::Line;
use dents_render::{Frame, FrameKind, Renderer, quote};
use dents_sys::Errno;

/// The output of a listing. Needs frames and errors; gives lines, messages and the status.
pub(super) struct Printer<'l, 'o> {
    pub(super) session: &'l Session<'l>,
    pub(super) out: &'l mut Output<'o>,
    renderer: Renderer<'l>,
    status: Status,
    told_refusal: bool,
    /// The number of directories that no worker of the agent had begun to open.
    pub(super) not_reached: usize,
    /// The operands that are known to be late.
    pub(super) told_late: Vec<Vec<u8>>,
}

impl<'l, 'o> Printer<'l, 'o> {
    pub(super) fn new(session: &'l Session<'l>, out: &'l mut Output<'o>) -> Printer<'l, 'o> {
        let renderer = Renderer::new(&session.plan.style);
        let told_late = Vec::new();
        Printer { session, out, renderer, status: Status::Ok, told_refusal: false, not_reached: 0, told_late }
    }

    /// The line with a directory's name before its entries. `place`: its absolute path, for a hyperlink.
    pub(super) fn header(&mut self, directory: Directory<'_>, place: Option<&[u8]>) {
        self.session.timing.enter(Phase::Render);
        self.renderer.header(directory.name(), place, self.out);
    }

    /// Renders entries.
    pub(super) fn draw(
        &mut self,
        batch: &Batch,
        order: &[u32],
        kind: FrameKind,
        directory: Option<Directory<'_>>,
        (notes, owners): (&Notes<'_>, &Owners),
    ) {
        self.session.timing.enter(Phase::Render);
        let team = if kind == FrameKind::Directory { self.session.team(batch) } else { Team::ALONE };
        let frame = notes.frame(batch, order, kind, owners);
        let frame = Frame { directory: directory.map(Directory::name), ..frame };
        self.renderer.frame(&frame, &team, self.out);
    }

    /// Renders the lines of a tree.
    pub(super) fn draw_tree(&mut self, batch: &Batch, lines: &[Line], notes: &Notes<'_>, owners: &Owners) {
        self.session.timing.enter(Phase::Render);
        let team = self.session.team(batch);
        let frame = notes.frame(batch, &[], FrameKind::Directory, owners);
        self.renderer.tree(&frame, lines, &team, self.out);
    }

    /// The blank line between the operands and the first directory.
    pub(super) fn gap(&mut self) {
        self.renderer.gap(self.out);
    }

    /// The width of each entry's name in columns, for sorting.
    pub(super) fn widths(&mut self, batch: &Batch) -> Vec<isize> {
        self.renderer.widths(batch)
    }

    /// A message that begins with the program's name.
    pub(super) fn message(&self) -> Message {
        Message::new(self.session.plan.program)
    }

    /// A path as messages show it.
    pub(super) fn quoted(&self, path: &[u8]) -> Vec<u8> {
        quote::quoteaf(path, &self.session.plan.locale)
    }

    /// Adds a failure to a document for programs.
    pub(super) fn record(&mut self, path: &[u8], errno: Errno, message: &'static str) {
        self.renderer.fail(path, errno.raw_os_error(), message);
    }

    /// The same, of a request without an answer.
    pub(super) fn record_late(&mut self, path: &[u8], message: &'static str) {
        self.record(path, UNANSWERED, message);
    }

    pub(super) fn raise(&mut self, status: Status) {
        self.status.raise(status);
    }

    /// Counts requests for `--timing`, and reports once that there is no io_uring.
    pub(super) fn take_report(&mut self, report: &Report) {
        self.session.timing.note(report);
        if let Some(errno) = report.refused
            && !core::mem::replace(&mut self.told_refusal, true)
        {
            let what = "io_uring is not available, going on with threads";
            self.message().text(what).errno(errno).send(self.out);
        }
    }

    /// Writes the end of the document.
    pub(super) fn finish(&mut self) -> Status {
        self.renderer.finish(self.out);
        self.out.flush();
        self.status
    }
}
