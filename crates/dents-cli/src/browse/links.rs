//! Files with several links: which names a file has, and which of them counts.

use super::tree::Id;
use dents_commands::inode::Inode;
use std::collections::HashMap;

/// All names of files with several links: 20 bytes for each file, 8 for each name, and the room of the tables.
#[derive(Default)]
pub(super) struct Links {
    /// The name that counts, and the number of links that the file had when it was first found.
    counted: HashMap<[u32; 3], (Id, u32)>,
    /// The names of a file are a ring: each leads to the next.
    next: HashMap<Id, Id>,
    /// The files, by names that count.
    files: HashMap<Id, [u32; 3]>,
}

impl Links {
    /// The name of a file that counts.
    pub(super) fn counted(&self, inode: Inode) -> Option<Id> {
        self.counted.get(&inode.key()).map(|(id, _)| *id)
    }

    /// The number of links of the file with this inode, names that were not scanned included; 0 if it is not known.
    pub(super) fn nlink(&self, inode: Inode) -> u32 {
        self.counted.get(&inode.key()).map_or(0, |(_, nlink)| *nlink)
    }

    /// Adds a name of a file. It counts if it is the first, or if `counts`.
    pub(super) fn add(&mut self, inode: Inode, nlink: u32, id: Id, counts: bool) {
        let key = inode.key();
        let Some((counted, _)) = self.counted.get(&key).copied() else {
            self.next.insert(id, id);
            self.counted.insert(key, (id, nlink));
            self.files.insert(id, key);
            return;
        };
        let after = self.next.insert(counted, id).unwrap_or(counted);
        self.next.insert(id, after);
        if counts {
            self.files.remove(&counted);
            self.set(key, id);
        }
    }

    fn set(&mut self, key: [u32; 3], id: Id) {
        if let Some((counted, _)) = self.counted.get_mut(&key) {
            *counted = id;
        }
        self.files.insert(id, key);
    }

    /// All names of the file with this name, this one first.
    pub(super) fn names(&self, id: Id) -> impl Iterator<Item = Id> {
        let next = move |at: &Id| self.next.get(at).copied().filter(|next| *next != id);
        std::iter::successors(Some(id), next)
    }

    /// Removes a name. If it counted, its heir counts from now on, which is another name of the file.
    pub(super) fn remove(&mut self, id: Id, heir: Option<Id>) {
        if let Some(key) = self.files.remove(&id) {
            match heir {
                Some(heir) => self.set(key, heir),
                None => drop(self.counted.remove(&key)),
            }
        }
        let last = self.names(id).last().unwrap_or(id);
        if let Some(after) = self.next.remove(&id).filter(|_| last != id) {
            self.next.insert(last, after);
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.counted.capacity() * 21 + (self.next.capacity() * 9) + self.files.capacity() * 17
    }
}
