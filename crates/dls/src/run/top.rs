//! `--top=N`: the first N entries of a directory, in memory for few more than N.
//!
//! The directory is read buffer by buffer. All entries are asked only for the facts that the order needs; from time to
//! time all but the first N are dropped. Only these N are asked for the facts that the format needs: `-lS --top=10` of
//! a million files requests a million sizes and all other facts ten times.

use super::directory::Directory;
use super::owners;
use super::stages::Stages;
use crate::timing::Phase;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::read::Reader;
use dents_core::sort::Key;
use dents_render::FrameKind;

/// The number of entries, beside N and as many again, after which they are sorted: so many that sorting the N kept
/// ones again costs little.
const ROOM: usize = 16_384;

impl Stages<'_, '_> {
    /// Lists the first entries of a directory.
    #[cold]
    #[inline(never)]
    pub(super) fn top(
        &mut self,
        most: usize,
        reader: &mut Reader,
        directory: Directory<'_>,
        place: Option<&[u8]>,
    ) {
        let kept = self.best(most, reader, directory);
        let needs = self.session.plan.needs;
        let mut batch = Batch::new(needs);
        kept.iter().for_each(|entry| batch.push(entry.c_name(), entry.d_kind(), entry.d_ino()));
        self.read.fill(reader, &mut batch, &needs, &mut self.printer);
        owners::learn(&mut self.owners, &batch, self.session);
        for entry in batch.iter() {
            // An error of the first request has been reported already.
            if let Some((asked, errno)) = entry.fault()
                && kept.entry(entry.index()).fault().is_none()
            {
                self.printer.fault(&entry, asked, errno, Some(directory.name()));
            }
        }
        let notes = self.notes.of_directory(&batch, directory, place, &mut self.printer);
        self.draw(&batch, &all(&batch), FrameKind::Directory, directory, &notes);
    }

    /// The first entries in the order of the plan, asked only for the facts that this order needs.
    fn best(&mut self, most: usize, reader: &mut Reader, directory: Directory<'_>) -> Batch {
        let order = &self.session.plan.order;
        let needs = order.needs(self.session.plan.style.long.time);
        let unsorted = order.key == Key::None;
        let (mut best, mut more) = (Batch::new(needs), Batch::new(needs));
        while !(unsorted && best.len() >= most) {
            self.session.timing.enter(Phase::Read);
            match self.read.read_more(reader, &mut more) {
                Ok(false) => break,
                Ok(true) => {}
                Err(errno) => {
                    self.printer.cannot("reading directory %s", directory.name(), errno, directory.origin);
                    break;
                }
            }
            self.read.fill(reader, &mut more, &needs, &mut self.printer);
            self.read.count_entries(&more);
            self.printer.faults(&more, Some(directory.name()));
            best.absorb(&more, &all(&more));
            more.clear();
            if best.len() >= most.saturating_mul(2).saturating_add(ROOM) {
                best = self.first(&best, most);
            }
        }
        self.first(&best, most)
    }

    /// The first entries of a batch.
    fn first(&mut self, batch: &Batch, most: usize) -> Batch {
        self.session.timing.enter(Phase::Sort);
        let order = self.sort.by(&self.session.plan.order, batch, &mut self.printer);
        let mut first = Batch::new(*batch.declared());
        first.absorb(batch, &order[..order.len().min(most)]);
        first
    }
}

/// The position of every entry.
fn all(batch: &Batch) -> Vec<u32> {
    (0..batch.len() as u32).collect()
}
