//! The stages from read to write, one value each, and the way of a directory through them.

use super::batch_notes::Notes;
use super::directory::{Directory, Origin};
use super::notes::NoteStage;
use super::open_directory::OpenDirectory;
use super::owners;
use super::printer::Printer;
use super::read::ReadStage;
use super::select::select;
use super::session::Session;
use super::sort::SortStage;
use crate::output::Output;
use crate::timing::Phase;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::Batch;
use dents_core::owners::Owners;
use dents_render::FrameKind;

/// What each stage keeps from one directory to the next.
pub(super) struct Stages<'l, 'o> {
    pub(super) session: &'l Session<'l>,
    pub(super) read: ReadStage<'l>,
    pub(super) owners: Owners,
    pub(super) notes: NoteStage<'l>,
    pub(super) sort: SortStage<'l>,
    pub(super) printer: Printer<'l, 'o>,
}

impl<'l, 'o> Stages<'l, 'o> {
    /// Opens and reads nothing.
    pub(super) fn new(session: &'l Session<'l>, out: &'l mut Output<'o>) -> Stages<'l, 'o> {
        Stages {
            session,
            read: ReadStage::new(session),
            owners: Owners::default(),
            notes: NoteStage::new(session),
            sort: SortStage::new(session),
            printer: Printer::new(session, out),
        }
    }

    /// The operands, stat'ed as the plan demands. Errors are reported.
    pub(super) fn operands(&mut self, names: &[&CStr]) -> Batch {
        let batch = self.read.operands(names, &mut self.printer);
        self.notes.paths.operand_faults(&batch, &mut self.printer);
        batch
    }

    /// The line before a directory's entries. `place`: the absolute path of the directory, for a hyperlink.
    pub(super) fn header(&mut self, directory: Directory<'_>, place: Option<&[u8]>) {
        self.session.timing.enter(Phase::Render);
        if self.session.plan.style.names.hyperlink.is_some() {
            self.tell_nowhere(directory.name(), directory.origin);
        }
        self.printer.header(directory, place);
        self.session.timing.enter(Phase::Read);
    }

    /// With `--hyperlink`, reports a path that cannot be resolved.
    pub(super) fn tell_nowhere(&mut self, path: &[u8], origin: Origin) {
        self.notes.paths.tell_nowhere(path, origin, &mut self.printer);
    }

    /// Lists a directory in one piece, for formats that need all entries before they show the first. Returns its entries
    /// and their order.
    pub(super) fn whole(
        &mut self,
        source: &mut OpenDirectory,
        directory: Directory<'_>,
        place: Option<&[u8]>,
    ) -> (Batch, Vec<u32>) {
        let Stages { session, read, owners, notes, sort, printer } = self;
        let plan = session.plan;
        let batch = read.whole(source, directory, printer);
        owners::learn(owners, &batch, session);
        if plan.top.is_none() {
            printer.faults(&batch, Some(directory.name()));
        }
        let notes = notes.of_directory(&batch, directory, place, printer);
        let order = sort.order(source.take_order(), &batch, &notes, printer);
        let shown = select(plan, &batch, &order);
        if plan.top.is_some() {
            printer.faults_of_top(&batch, &shown, directory.name());
        }
        printer.draw(&batch, &shown, FrameKind::Directory, Some(directory), (&notes, owners));
        drop(shown);
        (batch, order)
    }

    /// Renders entries of a directory, with the names of their owners.
    pub(super) fn draw(
        &mut self,
        batch: &Batch,
        order: &[u32],
        kind: FrameKind,
        directory: Directory<'_>,
        notes: &Notes<'_>,
    ) {
        self.printer.draw(batch, order, kind, Some(directory), (notes, &self.owners));
    }
}
