//! Subdirectories that wait to be opened. Those of one directory stay together.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Major and minor number.
pub(super) type Device = (u32, u32);

/// What is known of a directory beside its path.
#[derive(Clone)]
pub(super) struct About<S> {
    pub(super) id: u64,
    pub(super) parent: u64,
    /// Of its entries.
    pub(super) depth: u32,
    pub(super) state: S,
    /// Itself and all directories above it; only where links are followed.
    pub(super) lineage: Option<Arc<Lineage>>,
    /// Where the walk must stay on one.
    pub(super) device: Option<Device>,
}

impl<S: Default> About<S> {
    /// What the operands are in.
    pub(super) fn operands() -> Self {
        About { id: 0, parent: 0, depth: 0, state: S::default(), lineage: None, device: None }
    }
}

/// The subdirectories of one directory, or those of a piece of it. Whoever has this may take the next.
pub(super) struct Kin<S> {
    /// The directory they are in; empty for operands.
    pub(super) path: Box<[u8]>,
    /// What is known of that.
    pub(super) about: About<S>,
    /// Whether they may be symbolic links.
    pub(super) follow: bool,
    first_id: u64,
    names: Box<[u8]>,
    starts: Box<[u32]>,
    next: AtomicUsize,
}

/// Marks the start of a name that may be a link to something else than a directory.
const PERHAPS: u32 = 1 << 31;

impl<S> Kin<S> {
    /// Takes the next one, which nobody else gets then.
    pub(super) fn claim(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Relaxed);
        (index < self.starts.len()).then_some(index)
    }

    /// How many nobody took yet.
    pub(super) fn remaining(&self) -> usize {
        self.starts.len().saturating_sub(self.next.load(Relaxed))
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn name(&self, index: usize) -> &CStr {
        let start = (self.starts[index] & !PERHAPS) as usize;
        CStr::from_bytes_until_nul(&self.names[start..]).unwrap_or_default()
    }

    /// Whether it may turn out to be no directory, which is no failure then.
    pub(super) fn perhaps(&self, index: usize) -> bool {
        self.starts[index] & PERHAPS != 0
    }

    pub(super) fn id(&self, index: usize) -> u64 {
        self.first_id + index as u64
    }
}

/// Gathers subdirectories, with memory that serves again.
#[derive(Default)]
pub(super) struct Gathering {
    names: Vec<u8>,
    starts: Vec<u32>,
    pub(super) inos: Vec<u64>,
}

impl Gathering {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.starts.clear();
        self.inos.clear();
    }

    /// A piece has at most some thousands of names of at most 255 bytes, operands as many as fit on a command line: 31
    /// bits are plenty, and what goes beyond them is left out.
    pub(super) fn push(&mut self, name: &CStr, perhaps: bool, ino: u64) {
        let start = self.names.len() as u32;
        if self.names.len() < PERHAPS as usize {
            self.starts.push(if perhaps { start | PERHAPS } else { start });
            self.names.extend_from_slice(name.to_bytes_with_nul());
            self.inos.push(ino);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn kin<S>(&self, path: &[u8], about: About<S>, follow: bool, first_id: u64) -> Arc<Kin<S>> {
        Arc::new(Kin {
            path: path.into(),
            about,
            follow,
            first_id,
            names: self.names.as_slice().into(),
            starts: self.starts.as_slice().into(),
            next: AtomicUsize::new(0),
        })
    }
}

/// A directory and all above it, by device and inode: to find loops.
pub(super) struct Lineage {
    device: Device,
    ino: u64,
    parent: Option<Arc<Lineage>>,
}

impl Lineage {
    /// The child of `parent`, unless it is one of its own ancestors. Looks at all of them.
    pub(super) fn child(parent: Option<&Arc<Lineage>>, device: Device, ino: u64) -> Option<Arc<Lineage>> {
        if parent.is_some_and(|parent| parent.has(device, ino)) {
            return None;
        }
        Some(Arc::new(Lineage { device, ino, parent: parent.cloned() }))
    }

    /// Whether this is one of them. Looks at all.
    pub(super) fn has(&self, device: Device, ino: u64) -> bool {
        let mut next = Some(self);
        while let Some(one) = next {
            if (one.device, one.ino) == (device, ino) {
                return true;
            }
            next = one.parent.as_deref();
        }
        false
    }
}

impl core::fmt::Debug for Lineage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Lineage").field(&self.device).field(&self.ino).finish_non_exhaustive()
    }
}

/// One after the other: the compiler's own way would go as deep into the stack as the tree is deep.
impl Drop for Lineage {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(mut only) = parent.and_then(Arc::into_inner) {
            parent = only.parent.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once() {
        let mut gathering = Gathering::default();
        gathering.push(c"a", false, 1);
        gathering.push(c"longer", true, 2);
        let kin = gathering.kin::<()>(b"dir", About::operands(), false, 7);
        assert_eq!((kin.len(), kin.remaining()), (2, 2));
        let taken: Vec<_> = core::iter::from_fn(|| kin.claim()).collect();
        assert_eq!(taken, [0, 1]);
        assert_eq!((kin.claim(), kin.remaining()), (None, 0));
        assert_eq!((kin.name(0), kin.perhaps(0), kin.id(0)), (c"a", false, 7));
        assert_eq!((kin.name(1), kin.perhaps(1), kin.id(1)), (c"longer", true, 8));
    }

    #[test]
    fn a_lineage_knows_loops_and_is_forgotten_without_recursion() {
        let mut last = Lineage::child(None, (1, 1), 0);
        for ino in 1..1_000_000 {
            // Without the search, which would make this quadratic.
            last = Some(Arc::new(Lineage { device: (1, 1), ino, parent: last }));
        }
        assert!(Lineage::child(last.as_ref(), (1, 1), 77).is_none());
        assert!(Lineage::child(last.as_ref(), (1, 2), 77).is_some());
    }
}
