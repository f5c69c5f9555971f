//! Files with several links: which names a file has, and which of them counts.

use super::tree::Id;
use crate::inode::Inode;
use std::collections::HashMap;

/// All names of files with several links: 16 bytes for each file, 8 for each name, and the room of the tables.
#[derive(Default)]
pub(super) struct Links {
    /// The name that counts.
    counted: HashMap<[u32; 3], Id>,
    /// The names of a file are a ring: each leads to the next.
    next: HashMap<Id, Id>,
    /// The files, by names that count.
    files: HashMap<Id, [u32; 3]>,
}

impl Links {
    /// The name of a file that counts.
    pub(super) fn counted(&self, inode: Inode) -> Option<Id> {
        self.counted.get(&inode.key()).copied()
    }

    /// Adds a name of a file. It counts if it is the first, or if `counts`.
    pub(super) fn add(&mut self, inode: Inode, id: Id, counts: bool) {
        let key = inode.key();
        let Some(counted) = self.counted.get(&key).copied() else {
            self.next.insert(id, id);
            return self.set(key, id);
        };
        let after = self.next.insert(counted, id).unwrap_or(counted);
        self.next.insert(id, after);
        if counts {
            self.files.remove(&counted);
            self.set(key, id);
        }
    }

    fn set(&mut self, key: [u32; 3], id: Id) {
        self.counted.insert(key, id);
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
        self.counted.capacity() * 17 + (self.next.capacity() * 9) + self.files.capacity() * 17
    }
}
