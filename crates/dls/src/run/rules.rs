//! The order of names in the user's locale, for `dents-core` to sort by.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::AtomicU8;
use dents_core::sort::Collate;
use dents_locale::Collator;

/// The order of names in the user's locale.
#[derive(Clone)]
pub(super) struct Rules(Collator<'static>);

impl Rules {
    /// On the heap, in a function of its own: its 20 KiB on the stack would cost every listing five page faults.
    #[cold]
    #[inline(never)]
    pub(super) fn new(tables: &'static [AtomicU8]) -> Option<Box<Rules>> {
        Collator::new(tables).map(Rules).map(Box::new)
    }
}

impl Collate for Rules {
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
        self.0.first(name, key);
    }

    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
        self.0.rest(name, key);
    }

    fn fork(&self) -> Box<dyn Collate + '_> {
        Box::new(Rules(self.0.clone()))
    }
}
