//! The results for a directory: its names by buffer, and a slot for each entry.

use crate::batch::{Asked, Batch, Bits, Dent, Extra, Meta, Names, Slots, Texts};
use crate::lock::{Mutex, MutexGuard};
use crate::needs::{Kind, NeedsByKind};
use crate::stat::Tally;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::take;
use core::sync::atomic::{AtomicU64, Ordering};
use dents_engine::board::Chunk;
use dents_sys::{Errno, Result};

/// The error of an entry without an answer in time. Not `ETIMEDOUT`, which a client of a server may return.
pub const UNANSWERED: Errno = Errno::TIME;

/// Device and inode of a directory.
pub type Identity = ((u32, u32), u64);

/// A directory that is read, or waits to be read.
pub struct Board {
    /// The path to open.
    pub(super) path: Vec<u8>,
    /// The parent directory.
    above: Option<Arc<Board>>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// Whether a worker has begun it.
    pub(super) begun: bool,
    /// Device and inode, if the listing is recursive.
    pub(super) opened: Option<Result<Option<Identity>>>,
    /// Buffers that the lister has not taken.
    pub(super) buffers: VecDeque<Arc<Buffer>>,
    pub(super) ended: Option<Result<()>>,
    /// Whether the lister waits for this directory: it is then read without regard to the prefetch limit.
    pub(super) awaited: bool,
}

/// The next buffer, if there is one, and how the directory ended, if it did.
pub(super) type Next = (Option<Arc<Buffer>>, Option<Result<()>>);

impl Board {
    pub(super) fn new(path: Vec<u8>, above: Option<Arc<Board>>) -> Arc<Board> {
        Arc::new(Board { path, above, state: Mutex::default() })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Device and inode, where the listing is recursive.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        self.state().opened.and_then(Result::ok).flatten()
    }

    /// Whether the directory is its own descendant, so that its entries would never end.
    pub(super) fn is_its_own_descendant(&self) -> bool {
        let identity = self.identity();
        let mut above = core::iter::successors(self.above.as_deref(), |board| board.above.as_deref());
        identity.is_some() && above.any(|board| board.identity() == identity)
    }
}

impl State {
    /// Whether the directory was read to its end and all requests are answered.
    pub(super) fn is_whole(&self) -> bool {
        self.ended.is_some() && self.buffers.iter().all(|buffer| buffer.slots.is_complete())
    }

    pub(super) fn take_all(&mut self) -> (Vec<Arc<Buffer>>, Option<Result<()>>) {
        (take(&mut self.buffers).into(), self.ended)
    }

    /// The next buffer with all answers, or the end.
    pub(super) fn next_whole(&mut self) -> Option<Next> {
        let is_ready = match self.buffers.front() {
            Some(buffer) => buffer.slots.is_complete(),
            None => self.ended.is_some(),
        };
        self.awaited = self.buffers.is_empty() && !is_ready;
        is_ready.then(|| self.next())
    }

    /// The next buffer, with or without answers.
    pub(super) fn next(&mut self) -> Next {
        let buffer = self.buffers.pop_front();
        let ended = if buffer.is_some() { None } else { self.ended };
        (buffer, ended)
    }
}

/// The result for one entry.
#[derive(Default)]
pub(super) struct Slot {
    meta: Meta,
    texts: Option<Box<Texts>>,
    /// The request in flight; `stat` for an entry that no worker has claimed.
    waits: Option<Asked>,
}

impl Slot {
    fn new(meta: Meta, texts: Texts, waits: Option<Asked>) -> Slot {
        Slot { meta, texts: (!texts.is_empty()).then(|| Box::new(texts)), waits }
    }
}

/// The names of one buffer. The names never change; the slots are filled.
pub(super) struct Buffer {
    pub(super) names: Batch,
    /// Positions of the entries that need a request.
    asked: Vec<u32>,
    /// The slots of these entries.
    pub(super) slots: Chunk<Slot>,
    /// Room for the next read, if it begins when all slots are claimed.
    pub(super) next: Mutex<Option<Vec<u8>>>,
    /// System calls: `statx`, `readlinkat`, for attributes.
    calls: [AtomicU64; 3],
}

impl Buffer {
    pub(super) fn new(names: Batch, asks: impl Fn(Kind) -> bool) -> Buffer {
        let numbered = (0..).zip(&names.dents);
        let asked: Vec<u32> =
            numbered.filter(|(_, dent)| asks(dent.kind())).map(|(place, _)| place).collect();
        let slot = |_| Slot { waits: Some(Asked::Stat), ..Slot::default() };
        let slots = Chunk::new(asked.iter().map(slot));
        Buffer { slots, next: Mutex::default(), calls: [const { AtomicU64::new(0) }; 3], names, asked }
    }

    /// The entry of a slot, as `readdir` returned it.
    pub(super) fn dent(&self, slot: usize) -> &Dent {
        &self.names.dents[self.asked[slot] as usize]
    }

    pub(super) fn arena(&self) -> Names<'_> {
        Names { bytes: &self.names.arena, from: 0 }
    }

    /// Returns the callback of an asker: it stores a partial result into the current slot before the next request.
    pub(super) fn learner<'l>(&'l self, current: &'l Cell<usize>) -> impl Fn(&Meta, &Texts, Asked) + 'l {
        |meta, texts, waits| self.slots.update(current.get(), Slot::new(*meta, texts.clone(), Some(waits)))
    }

    /// Publishes a complete result. Returns true for the last one.
    pub(super) fn answer(&self, slot: usize, meta: Meta, texts: Texts, tally: Tally) -> bool {
        for (calls, made) in self.calls.iter().zip([tally.stats, tally.links, tally.xattrs]) {
            if made > 0 {
                calls.fetch_add(made, Ordering::Relaxed);
            }
        }
        self.slots.publish(slot, Slot::new(meta, texts, None))
    }
}

/// Entries that are being copied into a batch.
pub(super) struct Taken {
    pub(super) batch: Batch,
    pub(super) tally: Tally,
    pub(super) unanswered: usize,
}

impl Taken {
    /// First all names, because their number decides where the slots are; then the results, in the same order.
    pub(super) fn from_buffers(
        buffers: &[Arc<Buffer>],
        needs: &NeedsByKind,
        asks: impl Fn(Kind) -> bool,
    ) -> Taken {
        let mut taken = Taken { batch: Batch::new(*needs), tally: Tally::default(), unanswered: 0 };
        // Buffers whose names fit.
        let mut named = 0;
        for buffer in buffers {
            taken.batch.append_copy(&buffer.names);
            named += usize::from(!taken.batch.is_full());
        }
        let _ = taken.batch.place_slots(|kind, _| asks(kind));
        let mut texts = Texts::default();
        buffers[..named].iter().for_each(|buffer| taken.answers(buffer, &mut texts));
        taken.batch.texts = Vec::from([texts]);
        taken.batch.faulty = taken.tally.faults > 0 || taken.unanswered > 0;
        taken
    }

    fn answers(&mut self, buffer: &Buffer, texts: &mut Texts) {
        self.tally.entries += buffer.names.len() as u64;
        self.tally.avoided += (buffer.names.len() - buffer.asked.len()) as u64;
        let [stats, links, xattrs] = buffer.calls.each_ref().map(|calls| calls.load(Ordering::Relaxed));
        self.tally.stats += stats;
        self.tally.links += links;
        self.tally.xattrs += xattrs;
        let is_dense = matches!(self.batch.slots, Slots::Dense);
        let mut metas = Vec::with_capacity(buffer.names.len());
        for (slot, place) in buffer.asked.iter().enumerate() {
            if is_dense {
                metas.resize(*place as usize, Meta::default());
            }
            // Locked only by a worker that was killed while writing, or that publishes late.
            let known = buffer.slots.with(slot, |slot| (slot.meta, slot.texts.take(), slot.waits));
            let (mut meta, own, waits) = known.unwrap_or((Meta::default(), None, Some(Asked::Stat)));
            if let Some(own) = own {
                keep(texts, &mut meta, *own);
            }
            if let Some(asked) = waits {
                meta.set_fault(asked, UNANSWERED);
                self.unanswered += 1;
            }
            self.tally.faults += u64::from(meta.is_faulty());
            metas.push(meta);
        }
        if is_dense {
            metas.resize(buffer.names.len(), Meta::default());
        }
        self.batch.metas.append(metas);
    }
}

/// Moves an entry's texts behind those of all entries.
fn keep(all: &mut Texts, meta: &mut Meta, texts: Texts) {
    meta.texts = 0;
    let start = match all.room(texts.links.len()) {
        Ok(start) => start,
        Err(errno) => {
            meta.bits.remove(Bits::LINK | Bits::EXTRA);
            return meta.set_fault(Asked::Link, errno);
        }
    };
    all.links.extend_from_slice(&texts.links);
    let is_link = meta.bits.contains(Bits::LINK);
    if let (true, Some(extra)) = (meta.bits.contains(Bits::EXTRA), texts.extras.first()) {
        let rdev_or_link = extra.rdev_or_link + if is_link { start } else { 0 };
        let (list, len) = extra.xattrs;
        meta.rdev_or_link = all.extras.len() as u32;
        all.extras.push(Extra { rdev_or_link, xattrs: (start + list, len), ..*extra });
    } else if is_link {
        meta.rdev_or_link = start;
    }
    // In a faulty slot this field holds the error.
    if !meta.is_faulty()
        && let Some(context) =
            texts.contexts.into_iter().nth(usize::from(meta.errno_or_context).wrapping_sub(1))
    {
        let known = &mut all.contexts;
        let nth = known.iter().rposition(|one| *one == context).unwrap_or_else(|| {
            known.push(context);
            known.len() - 1
        });
        meta.errno_or_context = u16::try_from(nth + 1).unwrap_or(0);
    }
}
