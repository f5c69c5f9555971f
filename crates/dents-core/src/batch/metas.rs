//! The metadata slots of a batch, in chunks of 64.

use super::meta::Meta;
use alloc::vec::Vec;

/// Slots in chunks. While a directory is being read its number of entries is unknown, and a chunk that a thread has
/// filled is moved, not copied.
#[derive(Clone, Default)]
pub(crate) struct Metas(Vec<Vec<Meta>>);

impl Metas {
    const SHIFT: usize = 6;
    /// Slots in every chunk but the last: 4 KiB.
    pub(crate) const CHUNK: usize = 1 << Self::SHIFT;

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Meta> {
        self.0.get(index >> Self::SHIFT)?.get(index % Self::CHUNK)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * Self::CHUNK + last.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Meta> {
        self.0.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Meta> {
        self.0.iter_mut().flatten()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends slots. Moves them if they make up a chunk, else copies them.
    pub(crate) fn append(&mut self, mut metas: Vec<Meta>) {
        let room = self.0.last().map_or(0, |last| Self::CHUNK - last.len());
        if room > 0
            && let Some(last) = self.0.last_mut()
        {
            last.extend(metas.drain(..room.min(metas.len())));
        }
        if metas.len() <= Self::CHUNK {
            if !metas.is_empty() {
                self.0.push(metas);
            }
            return;
        }
        self.0.extend(metas.chunks(Self::CHUNK).map(<[Meta]>::to_vec));
    }
}
