//! `--top=N`: the first N entries of a directory, in memory for few more than N.
//!
//! The directory is read buffer by buffer. All entries are asked only for the facts that the order needs; from time to
//! time all but the first N are dropped. Only these N are asked for the facts that the format needs: `-lS --top=10` of
//! a million files requests a million sizes and all other facts ten times.

use super::Listing;
use super::directory::Directory;
use crate::timing::Phase;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::{Batch, Entry};
use dents_core::needs::NeedsByKind;
use dents_core::read::Reader;
use dents_core::sort::Key;
use dents_core::stat::{self, Asking};
use dents_render::FrameKind;

/// The number of entries, beside N and as many again, after which they are sorted: so many that sorting the N kept
/// ones again costs little.
const ROOM: usize = 16_384;

impl Listing<'_, '_, '_> {
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
        let mut batch = Batch::new(self.plan.needs);
        kept.iter().for_each(|entry| batch.push(entry.c_name(), entry.d_kind(), entry.d_ino()));
        self.ask(&mut batch, reader, &self.plan.needs);
        self.learn_owners(&batch);
        for entry in batch.iter() {
            // An error of the first request has been reported already.
            if let Some((asked, errno)) = entry.fault()
                && kept.entry(entry.index()).fault().is_none()
            {
                self.fault(&entry, asked, errno, Some(directory.name()));
            }
        }
        let notes = self.notes(&batch, directory, place);
        self.draw(&batch, &all(&batch), FrameKind::Directory, Some(directory), &notes);
    }

    /// Reports the same errors as [`Self::top`] if all entries were asked at once: those of facts that the order
    /// needs, for all entries; all others for the shown entries.
    #[cold]
    #[inline(never)]
    pub(super) fn faults_of_top(&mut self, batch: &Batch, shown: &[u32], path: &CStr) {
        if !batch.has_faults() {
            return;
        }
        let needs = self.plan.order.needs(self.plan.style.time);
        let sorts = |entry: &Entry<'_>| needs.asks(entry.d_kind());
        let shown = batch.entries(shown).filter(|entry| !sorts(entry));
        for entry in batch.iter().filter(sorts).chain(shown) {
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, Some(path.to_bytes()));
            }
        }
    }

    /// The first entries in the order of the plan, asked only for the facts that this order needs.
    fn best(&mut self, most: usize, reader: &mut Reader, directory: Directory<'_>) -> Batch {
        let needs = self.plan.order.needs(self.plan.style.time);
        let unsorted = self.plan.order.key == Key::None;
        let (mut best, mut more) = (Batch::new(needs), Batch::new(needs));
        while !(unsorted && best.len() >= most) {
            self.timing.enter(Phase::Read);
            match stat::read_more(&mut more, reader, &self.plan.filter, self.resources.threads.watching()) {
                Ok(false) => break,
                Ok(true) => {}
                Err(errno) => {
                    self.cannot("reading directory %s", directory.name(), errno, directory.origin);
                    break;
                }
            }
            self.ask(&mut more, reader, &needs);
            self.count_entries(&more);
            self.faults(&more, Some(directory.name()));
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
        self.timing.enter(Phase::Sort);
        let order = self.sort_by(&self.plan.order, batch);
        let mut first = Batch::new(*batch.declared());
        first.absorb(batch, &order[..order.len().min(most)]);
        first
    }

    /// Stats entries for these needs.
    fn ask(&mut self, batch: &mut Batch, reader: &Reader, needs: &NeedsByKind) {
        self.timing.enter(Phase::Stat);
        let asking = Asking { needs, follow: self.plan.follows_entries(), resources: &self.resources };
        let report = stat::fill(batch, reader.dir(), &asking);
        self.take_report(&report);
    }
}

/// The position of every entry.
fn all(batch: &Batch) -> Vec<u32> {
    (0..batch.len() as u32).collect()
}
