//! Merges batches: a hierarchy drawn as one batch, or a directory whose pieces were read by several workers.

use super::{Asked, Batch, Bits, Dent, Meta, NO_SLOT, Name, Slots, Texts};
use crate::needs::Kind;
use alloc::vec;
use alloc::vec::Vec;
use dents_sys::{Errno, Result};

impl Dent {
    /// The same entry with another type.
    pub(crate) fn with_kind(self, kind: Kind) -> Dent {
        Dent { name: Name::new(self.name.offset(), self.name.len(), kind), ..self }
    }
}

impl Batch {
    /// Appends entries of another batch, with their metadata: those at the positions in `order`, in that order. The
    /// other batch must have been filled for this batch's needs at least.
    ///
    /// A link text without room (behind 4 GiB of others) becomes an error of its entry. If the entries have no room,
    /// all of them are left out: see [`Batch::is_full`].
    ///
    /// # Panics
    /// If a position is not below the other's length.
    pub fn absorb(&mut self, other: &Batch, order: &[u32]) {
        if !self.has_room_for(order.len()) {
            return;
        }
        self.absorb_slots(other, order);
        for index in order {
            let dent = other.dents[*index as usize];
            let start = dent.name.offset();
            let name = Name::new(self.arena.len(), dent.name.len(), dent.kind());
            self.arena.extend_from_slice(&other.arena[start..=start + dent.name.len()]);
            self.dents.push(Dent { name, ino: dent.ino });
        }
        self.faulty |= other.faulty;
        self.full |= other.full;
        self.trusts_d_ino |= other.trusts_d_ino;
    }

    /// The slots stay dense if both batches are dense.
    fn absorb_slots(&mut self, other: &Batch, order: &[u32]) {
        let (mine, all) = (self.dents.len(), order.len());
        let dense = matches!(other.slots, Slots::Dense) && (mine == 0 || matches!(self.slots, Slots::Dense));
        if dense {
            self.slots = Slots::Dense;
        } else if !matches!((&self.slots, &other.slots), (Slots::None, Slots::None)) {
            self.make_sparse(mine, all);
        }
        if self.texts.is_empty() {
            self.texts.push(Texts::default());
        }
        let mut metas = Vec::with_capacity(if matches!(other.slots, Slots::None) { 0 } else { all });
        let first = self.metas.len();
        for index in order {
            let meta = other.entry(*index as usize).meta;
            if let Slots::Sparse(slots) = &mut self.slots {
                slots.push(meta.map_or(NO_SLOT, |_| (first + metas.len()) as u32));
            }
            if let Some(meta) = meta {
                let adopted = self.texts[0].adopt(*meta, &other.texts);
                self.faulty |= adopted.is_faulty();
                metas.push(adopted);
            }
        }
        self.metas.append(metas);
    }

    fn make_sparse(&mut self, mine: usize, more: usize) {
        let mut slots = match core::mem::take(&mut self.slots) {
            Slots::None => vec![NO_SLOT; mine],
            Slots::Dense => (0..mine as u32).collect(),
            Slots::Sparse(slots) => slots,
        };
        slots.reserve(more);
        self.slots = Slots::Sparse(slots);
    }
}

impl Texts {
    /// Copies the texts, extra and context of a slot here, and returns the slot with its references to the copies.
    fn adopt(&mut self, mut meta: Meta, from: &[Texts]) -> Meta {
        let Some(theirs) = from.get(usize::from(meta.texts)) else { return meta };
        meta.texts = 0;
        let extra = meta.bits.contains(Bits::EXTRA).then(|| theirs.extras.get(meta.rdev_or_link as usize));
        let mut extra = extra.flatten().copied();
        if meta.bits.contains(Bits::LINK) {
            let start = extra.as_ref().map_or(meta.rdev_or_link, |extra| extra.rdev_or_link);
            match self.copy(theirs, start, u32::from(meta.link_len)) {
                Ok(start) => *extra.as_mut().map_or(&mut meta.rdev_or_link, |e| &mut e.rdev_or_link) = start,
                Err(errno) => {
                    meta.bits.remove(Bits::LINK);
                    meta.set_fault(Asked::Link, errno);
                }
            }
        }
        if let Some(mut extra) = extra {
            let (start, len) = extra.xattrs;
            extra.xattrs = self.copy(theirs, start, len).map_or((0, 0), |start| (start, len));
            meta.rdev_or_link = self.extras.len() as u32;
            self.extras.push(extra);
        }
        if !meta.is_faulty()
            && let Some(nth) = usize::from(meta.errno_or_context).checked_sub(1)
        {
            meta.errno_or_context = theirs.contexts.get(nth).map_or(0, |context| self.intern(context));
        }
        meta
    }

    /// Copies a text here; returns its new start.
    fn copy(&mut self, theirs: &Texts, start: u32, len: u32) -> Result<u32> {
        let here = self.room(len as usize)?;
        let text = theirs.links.get(start as usize..start as usize + len as usize).ok_or(Errno::INVAL)?;
        self.links.extend_from_slice(text);
        Ok(here)
    }

    /// The number of a context, counted from 1; each context is stored once. Zero if a slot cannot hold its number.
    fn intern(&mut self, context: &[u8]) -> u16 {
        let known = self.contexts.iter().position(|one| one == context);
        let at = known.unwrap_or_else(|| {
            self.contexts.push(context.to_vec());
            self.contexts.len() - 1
        });
        u16::try_from(at + 1).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Extra;
    use super::*;
    use crate::batch::Target;
    use crate::needs::{Kind, Needs, NeedsByKind};
    use std::ffi::CString;
    use std::format;

    const NEEDS: Needs =
        Needs::TYPE.union(Needs::SIZE).union(Needs::LINK).union(Needs::EXTRA).union(Needs::CONTEXT);

    /// `name -> to-name` for each link; sizes are the positions. The batch is sparse where `asks` is false for most.
    fn batch(label: &str, count: usize, asks: impl Fn(usize) -> bool, extra: bool) -> Batch {
        let mut batch = Batch::new(NeedsByKind::all(NEEDS | Needs::TARGET));
        for nth in 0..count {
            batch.push(&CString::new(format!("{label}{nth}")).unwrap(), Kind::Link, nth as u64);
        }
        let nth = core::cell::Cell::new(0);
        batch.place_slots(|_, _| asks(nth.replace((nth.get() + 1) % count.max(1))));
        let (mut texts, mut metas) = (Texts::default(), Vec::new());
        texts.contexts = vec![b"other".to_vec(), label.as_bytes().to_vec()];
        for nth in (0..count).filter(|nth| asks(*nth)) {
            let text = format!("to-{label}{nth}");
            let bits = Bits::STAT | Bits::LINK | if extra { Bits::EXTRA } else { Bits::empty() };
            let mut meta = Meta {
                size: nth as u64,
                mode: 0o120_777,
                link_len: text.len() as u16,
                bits,
                ..Meta::default()
            };
            meta.errno_or_context = 2;
            meta.rdev_or_link = texts.links.len() as u32;
            if extra {
                meta.rdev_or_link = texts.extras.len() as u32;
                let rdev_or_link = texts.links.len() as u32;
                texts.extras.push(Extra { dev: (nth as u32, 7), rdev_or_link, ..Extra::default() });
            }
            texts.links.extend_from_slice(text.as_bytes());
            metas.push(meta);
        }
        batch.metas.append(metas);
        batch.texts.push(texts);
        batch
    }

    #[test]
    fn all_metadata_is_copied() {
        for extra in [false, true] {
            let all: fn(usize) -> bool = |_| true;
            let few: fn(usize) -> bool = |nth| nth % 5 == 3;
            for shapes in [[all, all], [few, few], [all, few], [few, all]] {
                let (a, b) = (batch("a", 70, shapes[0], extra), batch("b", 90, shapes[1], extra));
                let mut whole = Batch::new(*a.declared());
                let order: Vec<u32> = (0..90).rev().collect();
                whole.absorb(&a, &[]);
                whole.absorb(&b, &order);
                whole.absorb(&a, &[3, 1, 68]);
                assert_eq!(whole.len(), 93);
                let expected =
                    order.iter().map(|i| b.entry(*i as usize)).chain([3, 1, 68].map(|i| a.entry(i)));
                for (mine, theirs) in whole.iter().zip(expected) {
                    assert_eq!((mine.name(), mine.d_ino()), (theirs.name(), theirs.d_ino()));
                    assert_eq!((mine.size(), mine.is_known()), (theirs.size(), theirs.is_known()));
                    assert_eq!((mine.link(), mine.context()), (theirs.link(), theirs.context()));
                    assert_eq!(mine.extra().map(|e| e.dev), theirs.extra().map(|e| e.dev));
                    assert_eq!(mine.target(), Target::Unasked);
                }
            }
        }
    }

    #[test]
    fn a_text_without_room_is_an_error_of_its_entry() {
        let links = batch("a", 2, |_| true, false);
        let mut whole = Batch::new(*links.declared());
        whole.absorb(&links, &[0]);
        let texts = &mut whole.texts[0].links;
        texts.resize(super::super::texts::MOST_TEXT, b'x');
        whole.absorb(&links, &[1]);
        let found: Vec<_> = whole.iter().map(|entry| (entry.link(), entry.fault())).collect();
        assert_eq!(found[0], (Some(&b"to-a0"[..]), None));
        assert_eq!(found[1], (None, Some((Asked::Link, Errno::OVERFLOW))));
        assert!(whole.has_faults());
    }

    #[test]
    fn entries_without_metadata_take_no_slots() {
        let mut names = Batch::new(NeedsByKind::default());
        names.push(c"x", Kind::Dir, 1);
        let mut whole = Batch::new(NeedsByKind::default());
        whole.absorb(&names, &[0]);
        whole.absorb(&names, &[0]);
        assert_eq!((whole.len(), whole.metas.len()), (2, 0));
        assert!(matches!(whole.slots, Slots::None));
        assert_eq!(whole.entry(1).name(), b"x");
    }
}
