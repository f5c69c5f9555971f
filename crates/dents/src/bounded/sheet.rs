//! What has been learnt of a directory so far: its names, buffer by buffer, and a slot for each answer.

use super::{UNANSWERED, Wanted};
use crate::batch::{Asked, Batch, Bits, Dent, Extra, Meta, Names, Slots, Texts};
use crate::lock::Mutex;
use crate::needs::{Kind, NeedsByKind};
use crate::stat::{Tally, asks};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use dents_sys::Result;

/// Device and inode of a directory.
pub type Identity = ((u32, u32), u64);

/// A directory being read, or waiting to be.
pub struct Sheet {
    /// As it is opened.
    pub(super) path: Vec<u8>,
    /// The directory that it was found in.
    above: Option<Arc<Sheet>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    begun: bool,
    opened: Option<Result<()>>,
    identity: Option<Identity>,
    leaves: Vec<Arc<Leaf>>,
    /// Leaves at the beginning that the lister has.
    taken: usize,
    ended: Option<Result<()>>,
    /// The lister waits for more of it, so it is read on however much has been read ahead.
    waited_for: bool,
}

/// A leaf, if there is one, and how the directory ended, if it did.
pub(super) type Next = (Option<Arc<Leaf>>, Option<Result<()>>);

impl Sheet {
    pub(super) fn new(path: Vec<u8>, above: Option<Arc<Sheet>>) -> Sheet {
        Sheet { path, above, state: Mutex::default() }
    }

    /// Device and inode, where the listing is recursive.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        self.state.lock().identity
    }

    pub(super) fn begin(&self) {
        self.state.lock().begun = true;
    }

    pub(super) fn is_begun(&self) -> bool {
        self.state.lock().begun
    }

    pub(super) fn set_opened(&self, outcome: Result<Option<Identity>>) {
        let mut state = self.state.lock();
        state.identity = outcome.ok().flatten();
        state.opened = Some(outcome.map(drop));
    }

    pub(super) fn opened(&self) -> Option<Result<()>> {
        self.state.lock().opened
    }

    /// Whether a directory above is this same one: then its entries would never end.
    pub(super) fn is_its_own_descendant(&self) -> bool {
        let Some(identity) = self.identity() else { return false };
        let mut above = self.above.as_deref();
        while let Some(sheet) = above {
            if sheet.identity() == Some(identity) {
                return true;
            }
            above = sheet.above.as_deref();
        }
        false
    }

    pub(super) fn add(&self, leaf: Arc<Leaf>) {
        self.state.lock().leaves.push(leaf);
    }

    pub(super) fn end(&self, how: Result<()>) {
        self.state.lock().ended = Some(how);
    }

    pub(super) fn want(&self) {
        self.state.lock().waited_for = true;
    }

    pub(super) fn is_waited_for(&self) -> bool {
        self.state.lock().waited_for
    }

    /// Whether it has been read to its end and all that was asked is answered.
    pub(super) fn is_whole(&self) -> bool {
        let state = self.state.lock();
        state.ended.is_some() && state.leaves.iter().all(|leaf| leaf.is_answered())
    }

    pub(super) fn take_all(&self) -> (Vec<Arc<Leaf>>, Option<Result<()>>) {
        let mut state = self.state.lock();
        (core::mem::take(&mut state.leaves), state.ended)
    }

    /// The next leaf, if it has answered; or the end.
    pub(super) fn next_whole(&self) -> Option<Next> {
        let mut state = self.state.lock();
        let leaf = state.leaves.get(state.taken);
        let (is_there, is_ready) = (leaf.is_some(), leaf.is_some_and(|leaf| leaf.is_answered()));
        state.waited_for = !is_there && state.ended.is_none();
        (is_ready || (!is_there && state.ended.is_some())).then(|| state.next())
    }

    /// The next leaf, answered or not.
    pub(super) fn next_as_it_is(&self) -> Next {
        self.state.lock().next()
    }
}

impl State {
    fn next(&mut self) -> Next {
        let leaf = self.leaves.get_mut(self.taken).map(|leaf| {
            // What the lister has it needs no more.
            core::mem::replace(leaf, Arc::new(Leaf::new(Batch::default(), |_| false)))
        });
        self.taken += usize::from(leaf.is_some());
        let ended = if leaf.is_some() { None } else { self.ended };
        (leaf, ended)
    }
}

/// What is known of one entry.
#[derive(Default)]
struct Slot {
    meta: Meta,
    texts: Option<Box<Texts>>,
    /// The question it waits for; of one that nobody has come to, `stat`.
    waits: Option<Asked>,
}

/// The names of one buffer. They never change; the slots fill.
pub(crate) struct Leaf {
    pub(super) names: Batch,
    /// The entries that are asked, by their place.
    asked: Vec<u32>,
    slots: Vec<Mutex<Slot>>,
    /// The first that nobody has come to.
    next: AtomicUsize,
    /// How many have yet to answer.
    left: AtomicUsize,
    /// System calls: `statx`, `readlinkat`, for attributes.
    calls: [AtomicU64; 3],
}

impl Leaf {
    pub(super) fn new(names: Batch, asks: impl Fn(Kind) -> bool) -> Leaf {
        let numbered = (0..names.len() as u32).zip(&names.dents);
        let asked: Vec<u32> =
            numbered.filter(|(_, dent)| asks(dent.kind())).map(|(place, _)| place).collect();
        let slot = || Mutex::new(Slot { waits: Some(Asked::Stat), ..Slot::default() });
        Leaf {
            slots: asked.iter().map(|_| slot()).collect(),
            left: AtomicUsize::new(asked.len()),
            next: AtomicUsize::new(0),
            calls: [const { AtomicU64::new(0) }; 3],
            names,
            asked,
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Entries that nobody has come to.
    pub(super) fn unclaimed(&self) -> usize {
        self.slots.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// The next entry to ask: its slot. Each comes once.
    pub(super) fn claim(&self) -> Option<usize> {
        if self.unclaimed() == 0 {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|slot| *slot < self.slots.len())
    }

    /// What `readdir` said of the entry of a slot.
    pub(super) fn dent(&self, slot: usize) -> &Dent {
        &self.names.dents[self.asked[slot] as usize]
    }

    pub(super) fn arena(&self) -> Names<'_> {
        Names { bytes: &self.names.arena, from: 0 }
    }

    /// Some is known, and the next question is about to be asked.
    pub(super) fn learn(&self, slot: usize, meta: &Meta, texts: &Texts, waits: Asked) {
        let texts = (!texts.is_empty()).then(|| Box::new(texts.clone()));
        *self.slots[slot].lock() = Slot { meta: *meta, texts, waits: Some(waits) };
    }

    /// All is known. True if it was the last one.
    pub(super) fn answer(&self, slot: usize, meta: Meta, texts: Texts, tally: Tally) -> bool {
        for (calls, made) in self.calls.iter().zip([tally.stats, tally.links, tally.xattrs]) {
            if made > 0 {
                calls.fetch_add(made, Ordering::Relaxed);
            }
        }
        let texts = (!texts.is_empty()).then(|| Box::new(texts));
        *self.slots[slot].lock() = Slot { meta, texts, waits: None };
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Leaves on their way into a batch: all names first, for where the slots stand depends on how many there are.
pub(super) struct Taken {
    batch: Batch,
    texts: Texts,
    tally: Tally,
    unanswered: usize,
    /// Leaves whose names found room.
    pub(super) named: usize,
}

impl Taken {
    pub(super) fn new(needs: &NeedsByKind) -> Taken {
        let (texts, tally) = (Texts::default(), Tally::default());
        Taken { batch: Batch::new(*needs), texts, tally, unanswered: 0, named: 0 }
    }

    pub(super) fn names(&mut self, leaf: &Leaf) {
        self.batch.append_copy(&leaf.names);
        self.named += usize::from(!self.batch.is_full());
    }

    pub(super) fn place(&mut self, wanted: &Wanted) {
        let follow = wanted.follows();
        let _ = self.batch.place_slots(|kind, _| asks(&wanted.needs, follow, kind));
    }

    /// A slot for each.
    pub(super) fn place_all(&mut self) {
        let _ = self.batch.place_slots(|_, _| true);
    }

    /// In the order in which the names were taken.
    pub(super) fn answers(&mut self, leaf: &Leaf) {
        self.tally.entries += leaf.names.len() as u64;
        self.tally.avoided += (leaf.names.len() - leaf.asked.len()) as u64;
        let calls = |nth: usize| leaf.calls[nth].load(Ordering::Relaxed);
        self.tally.stats += calls(0);
        self.tally.links += calls(1);
        self.tally.xattrs += calls(2);
        let mut metas = Vec::with_capacity(leaf.names.len());
        for (place, slot) in leaf.asked.iter().zip(&leaf.slots) {
            if matches!(self.batch.slots, Slots::Dense) {
                metas.resize(*place as usize, Meta::default());
            }
            metas.push(self.answer_in(slot));
        }
        if matches!(self.batch.slots, Slots::Dense) {
            metas.resize(leaf.names.len(), Meta::default());
        }
        self.batch.metas.append(metas);
    }

    fn answer_in(&mut self, slot: &Mutex<Slot>) -> Meta {
        // Held only by one that was killed while it wrote, or is about to be done and too late.
        let Some(mut slot) = slot.try_lock() else {
            let mut meta = Meta::default();
            meta.set_fault(Asked::Stat, UNANSWERED);
            self.unanswered += 1;
            return meta;
        };
        let mut meta = slot.meta;
        if let Some(texts) = slot.texts.take() {
            self.keep(&mut meta, *texts);
        }
        if let Some(asked) = slot.waits {
            meta.set_fault(asked, UNANSWERED);
            self.unanswered += 1;
        }
        self.tally.faults += u64::from(meta.is_faulty());
        meta
    }

    /// Adds an entry's texts to those of all.
    fn keep(&mut self, meta: &mut Meta, texts: Texts) {
        meta.texts = 0;
        let start = match self.texts.room(texts.links.len()) {
            Ok(start) => start,
            Err(errno) => {
                meta.bits.remove(Bits::LINK | Bits::EXTRA);
                return meta.set_fault(Asked::Link, errno);
            }
        };
        self.texts.links.extend_from_slice(&texts.links);
        let is_link = meta.bits.contains(Bits::LINK);
        if let (true, Some(extra)) = (meta.bits.contains(Bits::EXTRA), texts.extras.first()) {
            let rdev_or_link = extra.rdev_or_link + if is_link { start } else { 0 };
            let (list, len) = extra.xattrs;
            meta.rdev_or_link = self.texts.extras.len() as u32;
            self.texts.extras.push(Extra { rdev_or_link, xattrs: (start + list, len), ..*extra });
        } else if is_link {
            meta.rdev_or_link = start;
        }
        // Of one that is faulty the field holds the error.
        if !meta.is_faulty()
            && let Some(context) =
                texts.contexts.into_iter().nth(usize::from(meta.errno_or_context).wrapping_sub(1))
        {
            let known = &mut self.texts.contexts;
            let nth = known.iter().rposition(|one| *one == context).unwrap_or_else(|| {
                known.push(context);
                known.len() - 1
            });
            meta.errno_or_context = u16::try_from(nth + 1).unwrap_or(0);
        }
    }

    pub(super) fn into_batch(mut self) -> (Batch, Tally, usize) {
        self.batch.texts = Vec::from([self.texts]);
        self.batch.faulty = self.tally.faults > 0 || self.unanswered > 0;
        (self.batch, self.tally, self.unanswered)
    }
}
