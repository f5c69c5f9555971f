//! Lists a directory buffer by buffer while it is read, if neither its order nor its columns need all entries.

use super::Listing;
use super::directory::Directory;
use super::notes::Notes;
use super::source::Source;
use crate::timing::Phase;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Entry};
use dents_core::read::Reader;
use dents_core::stat::{self, Asking};
use dents_render::FrameKind;

impl Listing<'_, '_, '_> {
    /// Shows each buffer of names before the next is read: constant memory, and the first names appear at once.
    pub(super) fn stream(&mut self, source: &mut Source, directory: Directory<'_>, place: Option<&[u8]>) {
        let mut batch = Batch::new(self.plan.needs);
        loop {
            self.timing.enter(Phase::Read);
            let more = match source {
                Source::Reader(reader) => self.fill_next(reader, &mut batch),
                Source::Board(board) => self.take_next(board, &mut batch),
                // A streamed directory is not read ahead, because the first names would appear later.
                Source::Small(small) => {
                    batch = core::mem::take(&mut small.batch);
                    small.ended.map(|()| !batch.is_empty())
                }
                Source::Done(_) => Ok(false),
            };
            match more {
                Ok(false) => break,
                Ok(true) => {}
                Err(errno) => {
                    break self.cannot("reading directory %s", directory.name(), errno, directory.origin);
                }
            }
            self.learn_owners(&batch);
            let notes = self.notes(&batch, directory, place);
            self.chunk(&batch, directory, &notes);
            self.out.flush();
            batch.clear();
        }
        batch.clear();
        self.draw(&batch, &[], FrameKind::Chunk { last: true }, Some(directory), &Notes::default());
        self.tell_unanswered_of_stream(directory.path);
    }

    /// Reads and stats one buffer of names.
    fn fill_next(&mut self, reader: &mut Reader, batch: &mut Batch) -> dents_sys::Result<bool> {
        let more = stat::read_more(batch, reader, &self.plan.filter, self.resources.threads.watching())?;
        if more {
            self.fill(batch, reader);
        }
        Ok(more)
    }

    /// Shows entries in reading order. The message about an entry follows the entries before it.
    fn chunk(&mut self, batch: &Batch, directory: Directory<'_>, notes: &Notes<'_>) {
        let order: Vec<u32> = (0..batch.len() as u32).collect();
        let order = self.of_shown_types(batch, &order).unwrap_or(order);
        let (mut shown, kind) = (0, FrameKind::Chunk { last: false });
        let faulty = |entry: &Entry<'_>| batch.has_faults() && entry.fault().is_some();
        for entry in batch.iter().filter(faulty) {
            let end = order.partition_point(|index| (*index as usize) < entry.index());
            self.draw(batch, &order[shown..end], kind, Some(directory), notes);
            shown = end;
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, Some(directory.name()));
            }
        }
        self.draw(batch, &order[shown..], kind, Some(directory), notes);
    }

    /// Stats the entries.
    fn fill(&mut self, batch: &mut Batch, reader: &Reader) {
        self.timing.enter(Phase::Stat);
        let asking = Asking {
            needs: &self.plan.needs,
            follow: self.plan.follows_entries(),
            resources: &self.resources,
        };
        let report = stat::fill(batch, reader.dir(), &asking);
        self.take_report(&report);
        self.count_entries(batch);
    }
}
