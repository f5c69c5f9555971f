//! Lists a directory buffer by buffer while it is read, if neither its order nor its columns need all entries.

use super::batch_notes::Notes;
use super::directory::Directory;
use super::open_directory::OpenDirectory;
use super::owners;
use super::select::of_shown_types;
use super::stages::Stages;
use super::unanswered::Answered;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Entry};
use dents_render::FrameKind;

impl Stages<'_, '_> {
    /// Shows each buffer of names before the next is read: constant memory, and the first names appear at once.
    pub(super) fn stream(
        &mut self,
        source: &mut OpenDirectory,
        directory: Directory<'_>,
        place: Option<&[u8]>,
    ) {
        let mut batch = Batch::new(self.session.plan.needs);
        let mut answered = Answered::default();
        loop {
            match self.read.next(source, &mut batch, &mut answered, &mut self.printer) {
                Ok(false) => break,
                Ok(true) => {}
                Err(errno) => {
                    self.printer.cannot("reading directory %s", directory.name(), errno, directory.origin);
                    break;
                }
            }
            owners::learn(&mut self.owners, &batch, self.session);
            let notes = self.notes.of_directory(&batch, directory, place, &mut self.printer);
            self.chunk(&batch, directory, &notes);
            self.printer.out.flush();
            batch.clear();
        }
        batch.clear();
        self.draw(&batch, &[], FrameKind::Chunk { last: true }, directory, &Notes::default());
        self.printer.tell_unanswered(directory.name(), answered);
    }

    /// Shows entries in reading order. The message about an entry follows the entries before it.
    fn chunk(&mut self, batch: &Batch, directory: Directory<'_>, notes: &Notes<'_>) {
        let order: Vec<u32> = (0..batch.len() as u32).collect();
        let order = of_shown_types(self.session.plan, batch, &order).unwrap_or(order);
        let (mut shown, kind) = (0, FrameKind::Chunk { last: false });
        let faulty = |entry: &Entry<'_>| batch.has_faults() && entry.fault().is_some();
        for entry in batch.iter().filter(faulty) {
            let end = order.partition_point(|index| (*index as usize) < entry.index());
            self.draw(batch, &order[shown..end], kind, directory, notes);
            shown = end;
            if let Some((asked, errno)) = entry.fault() {
                self.printer.fault(&entry, asked, errno, Some(directory.name()));
            }
        }
        self.draw(batch, &order[shown..], kind, directory, notes);
    }
}
