//! `--top=N`: the first N entries of a directory, without ever holding many more.
//!
//! The directory is read buffer by buffer. Of each entry only what the order must know is asked; from time to time all but
//! the best N are forgotten. What the format wants to know is asked of these alone: `-lS --top=10` of a million files asks
//! for a million sizes and ten times for all the rest.

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

/// Entries held beside N and N more before they are sorted: enough that sorting a few again does not count.
const ROOM: usize = 16_384;

impl Listing<'_, '_, '_> {
    /// The best of a directory, shown.
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
            // What failed before has been told.
            if let Some((asked, errno)) = entry.fault()
                && kept.entry(entry.index()).fault().is_none()
            {
                self.fault(&entry, asked, errno, Some(directory.name()));
            }
        }
        let notes = self.notes(&batch, directory, place);
        self.draw(&batch, &all(&batch), FrameKind::Directory, Some(directory), &notes);
    }

    /// Where all had to be asked at once, what [`Self::top`] would have told: what the order had to know of all, and what is
    /// wrong with those that are shown.
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

    /// The first entries in the order of the plan, and of each no more than that order must know.
    fn best(&mut self, most: usize, reader: &mut Reader, directory: Directory<'_>) -> Batch {
        let needs = self.plan.order.needs(self.plan.style.time);
        let unsorted = self.plan.order.key == Key::None;
        let (mut best, mut more) = (Batch::new(needs), Batch::new(needs));
        while !(unsorted && best.len() >= most) {
            self.timing.enter(Phase::Read);
            match stat::read_more(&mut more, reader, &self.plan.filter, self.means.threads.watching()) {
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

    /// Has these needs answered.
    fn ask(&mut self, batch: &mut Batch, reader: &Reader, needs: &NeedsByKind) {
        self.timing.enter(Phase::Stat);
        let asking = Asking { needs, follow: self.plan.follows_entries(), means: &self.means };
        let report = stat::fill(batch, reader.dir(), &asking);
        self.take_report(&report);
    }
}

/// Every position.
fn all(batch: &Batch) -> Vec<u32> {
    (0..batch.len() as u32).collect()
}
