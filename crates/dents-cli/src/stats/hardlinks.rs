//! Files with several links: each counts once.
//!
//! Owner, age and size belong to the file and count when its first name is met. Depth and extension depend on the name. They
//! count when all names were met, or at the end: by the name with the least depth, and of several such by the one whose
//! extension comes first. So the figures do not depend on the workers, and no path is kept.

use super::Key;
use super::class::{self, EXTENSIONS};
use crate::entry::AnyEntry;
use dents_core::lock::Mutex;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use std::collections::HashMap;

/// The values of a name that tables use.
#[derive(Clone, Copy)]
pub(super) struct ByName<'a> {
    pub(super) depth: u32,
    /// Of regular files.
    pub(super) extension: Option<&'a [u8]>,
}

impl<'a> ByName<'a> {
    pub(super) fn of(seen: &AnyEntry<'a>) -> ByName<'a> {
        let extension = (seen.kind == Kind::Reg).then(|| class::extension(seen.name));
        ByName { depth: seen.depth, extension }
    }

    /// Writes them as bytes: these compare by depth, then by extension.
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(&self.depth.to_be_bytes());
        bytes.push(self.extension.is_some().into());
        bytes.extend_from_slice(self.extension.unwrap_or_default());
    }

    fn read(bytes: &'a [u8]) -> ByName<'a> {
        let (depth, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[0]));
        let is_file = rest.first() == Some(&1);
        ByName { depth: u32::from_be_bytes(*depth), extension: is_file.then(|| &rest[1..]) }
    }
}

/// A file of which not all names were met yet.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
pub(super) struct Linked {
    /// The number of its first name.
    name: u32,
    pub(super) size: u64,
    pub(super) allocated: u64,
}

/// These files, shared by all workers. Values of names are stored once and referred to by number.
pub(super) struct Links {
    files: HardLinks<3, Linked>,
    names: Mutex<NameTable>,
    /// Whether a table needs the values of names.
    are_wanted: bool,
}

impl Links {
    /// For these tables. `keeps`: see [`HardLinks::keeping`].
    pub(super) fn new(keys: &[Key], keeps: bool) -> Links {
        let are_wanted = keys.contains(&Key::Extension) || keys.contains(&Key::Depth);
        Links { files: HardLinks::keeping(keeps), names: Mutex::default(), are_wanted }
    }

    /// Takes one of `names` names of a file. Returns whether it is the first; with the last, the file to be counted by name.
    pub(super) fn see(&self, seen: &AnyEntry<'_>, names: u32) -> (bool, Option<Linked>) {
        let facts = seen.facts.unwrap_or_default();
        let size = if seen.kind.has_length() { facts.size } else { 0 };
        let name = if self.are_wanted { self.names.lock().number(ByName::of(seen)) } else { 0 };
        let new = Linked { name, size, allocated: facts.allocated };
        let mut is_first = false;
        let last = self.files.see(facts.inode.key(), names, |old| {
            is_first = old.is_none();
            old.map_or(new, |old| Linked { name: self.first(old.name, name), ..old })
        });
        (is_first, last)
    }

    fn first(&self, a: u32, b: u32) -> u32 {
        if a == b { a } else { self.names.lock().first(a, b) }
    }

    /// Gives the values of the first name of a file.
    pub(super) fn with_name(&self, linked: Linked, show: impl FnOnce(ByName<'_>)) {
        if self.are_wanted {
            show(ByName::read(&self.names.lock().texts[linked.name as usize]));
        }
    }

    /// The files that are left at the end.
    pub(super) fn take(&mut self) -> Vec<Linked> {
        self.files.values_mut().map(|linked| *linked).collect()
    }
}

/// Values of names by number.
#[derive(Default)]
struct NameTable {
    numbers: HashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
    scratch: Vec<u8>,
}

impl NameTable {
    /// After [`EXTENSIONS`] different names a new extension counts as none, as in the table.
    fn number(&mut self, mut placed: ByName<'_>) -> u32 {
        placed.write(&mut self.scratch);
        if let Some(number) = self.numbers.get(&*self.scratch) {
            return *number;
        }
        if self.texts.len() >= EXTENSIONS && placed.extension.is_some_and(|extension| !extension.is_empty()) {
            placed.extension = Some(b"");
            return self.number(placed);
        }
        let number = self.texts.len() as u32;
        self.texts.push(self.scratch.as_slice().into());
        self.numbers.insert(self.scratch.as_slice().into(), number);
        number
    }

    fn first(&self, a: u32, b: u32) -> u32 {
        if self.texts[a as usize] <= self.texts[b as usize] { a } else { b }
    }
}
