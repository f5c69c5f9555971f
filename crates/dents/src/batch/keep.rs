//! Copying entries from one batch to another, numbers and all: for whoever keeps some of many.

use super::{Batch, Bits, Meta, Slots};
use alloc::vec;
use alloc::vec::Vec;

impl Batch {
    /// Copies entries of another batch behind those of this one, in the order given. What stands in numbers comes along (what
    /// to sort by, what went wrong); texts do not: links, contexts and all of [`super::Extra`] are unknown afterwards.
    ///
    /// This batch must have been filled in this way alone. Costs no system call, 16 bytes an entry beside its name, and 64 more if anything was asked of an entry of either batch.
    ///
    /// # Panics
    /// If a position is not below the other batch's length.
    pub fn keep(&mut self, from: &Batch, positions: impl IntoIterator<Item = usize>) {
        if !matches!(from.slots, Slots::None) && !matches!(self.slots, Slots::Dense) {
            self.metas.append(vec![Meta::default(); self.len()]);
            self.slots = Slots::Dense;
        }
        let dense = matches!(self.slots, Slots::Dense);
        let mut metas = Vec::new();
        for position in positions {
            let entry = from.entry(position);
            self.push(entry.c_name(), entry.d_kind(), entry.d_ino());
            if dense {
                let mut meta = entry.meta.copied().unwrap_or_default();
                meta.bits.remove(Bits::LINK | Bits::EXTRA);
                if !meta.is_faulty() {
                    meta.errno_or_context = 0;
                }
                metas.push(meta);
            }
        }
        self.metas.append(metas);
        self.faulty |= from.faulty;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Asked;
    use super::*;
    use crate::needs::{Kind, Needs, NeedsByKind};
    use dents_sys::Errno;

    fn batch(names: &[&core::ffi::CStr], sizes: Option<&[u64]>) -> Batch {
        let mut batch = Batch::new(NeedsByKind::all(Needs::SIZE));
        names.iter().for_each(|name| batch.push(name, Kind::Reg, 5));
        if let Some(sizes) = sizes {
            batch.slots = Slots::Dense;
            let meta =
                |size: &u64| Meta { size: *size, mode: 0o100_644, bits: Bits::STAT, ..Meta::default() };
            batch.metas.append(sizes.iter().map(meta).collect());
        }
        batch
    }

    #[test]
    fn numbers_come_along() {
        let from = batch(&[c"a", c"b", c"c"], Some(&[1, 2, 3]));
        let mut kept = Batch::new(NeedsByKind::all(Needs::SIZE));
        kept.keep(&from, [2, 0]);
        kept.keep(&from, [1]);
        let all: Vec<_> = kept.iter().map(|entry| (entry.name(), entry.size(), entry.d_ino())).collect();
        assert_eq!(all, [(&b"c"[..], 3, 5), (b"a", 1, 5), (b"b", 2, 5)]);
    }

    #[test]
    fn batches_that_were_asked_and_others_mix() {
        let (asked, unasked) = (batch(&[c"a"], Some(&[7])), batch(&[c"b", c"c"], None));
        let mut kept = Batch::new(NeedsByKind::all(Needs::SIZE));
        kept.keep(&unasked, 0..2);
        assert!(matches!(kept.slots, Slots::None));
        kept.keep(&asked, 0..1);
        kept.keep(&unasked, [1]);
        let all: Vec<_> = kept.iter().map(|entry| (entry.name(), entry.is_known(), entry.size())).collect();
        assert_eq!(all, [(&b"b"[..], false, 0), (b"c", false, 0), (b"a", true, 7), (b"c", false, 0)]);
    }

    #[test]
    fn faults_come_along() {
        let mut from = batch(&[c"a"], Some(&[0]));
        let mut failed = Meta::default();
        failed.set_fault(Asked::Stat, Errno::ACCESS);
        from.metas.clear();
        from.metas.append(vec![failed]);
        from.faulty = true;
        let mut kept = Batch::new(NeedsByKind::all(Needs::SIZE));
        kept.keep(&from, [0]);
        assert!(kept.has_faults());
        assert_eq!(kept.entry(0).fault(), Some((Asked::Stat, Errno::ACCESS)));
    }
}
