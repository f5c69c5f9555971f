//! Finds loops: a directory and its ancestors, by device and inode.

use alloc::sync::Arc;

/// Major and minor number.
pub(super) type Device = (u32, u32);

/// A directory and its ancestors.
pub(super) struct Ancestors {
    device: Device,
    ino: u64,
    parent: Option<Arc<Ancestors>>,
}

impl Ancestors {
    /// The child of `parent`, unless it is one of its own ancestors. Compares it with all of them.
    pub(super) fn child(parent: Option<&Arc<Ancestors>>, device: Device, ino: u64) -> Option<Arc<Ancestors>> {
        let is_loop = parent.is_some_and(|parent| parent.has(device, ino));
        (!is_loop).then(|| Arc::new(Ancestors { device, ino, parent: parent.cloned() }))
    }

    /// Whether a directory is this one or an ancestor. Compares it with all of them.
    pub(super) fn has(&self, device: Device, ino: u64) -> bool {
        core::iter::successors(Some(self), |one| one.parent.as_deref())
            .any(|one| (one.device, one.ino) == (device, ino))
    }
}

impl core::fmt::Debug for Ancestors {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Ancestors").field(&self.device).field(&self.ino).finish_non_exhaustive()
    }
}

/// Iterative: the generated drop would recurse as deep as the tree.
impl Drop for Ancestors {
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
    fn ancestors_find_loops_and_are_dropped_without_recursion() {
        let mut last = Ancestors::child(None, (1, 1), 0);
        for ino in 1..1_000_000 {
            // Without the search, which would make this quadratic.
            last = Some(Arc::new(Ancestors { device: (1, 1), ino, parent: last }));
        }
        assert!(Ancestors::child(last.as_ref(), (1, 1), 77).is_none());
        assert!(Ancestors::child(last.as_ref(), (1, 2), 77).is_some());
    }
}
