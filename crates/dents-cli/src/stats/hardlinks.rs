//! Files with several links: each counts once, where the least of its names puts it.
//!
//! Owner, age and size are the file's own and count with the first name that is met. Depth and extension depend on the
//! name. They count when all names were seen, or at the end: by the name that is least deep, and of several such by the
//! one whose extension comes first. So the figures do not depend on the workers, and no path is kept.

use super::Key;
use super::class::{self, EXTENSIONS};
use crate::entry::AnyEntry;
use dents_core::lock::Mutex;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use std::collections::HashMap;

/// What tables take from a name.
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

    /// As bytes whose order is that of depths, then that of extensions.
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

/// A file of which more names may come.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
pub(super) struct Linked {
    /// The number of its least place.
    place: u32,
    pub(super) size: u64,
    pub(super) allocated: u64,
}

/// The files, and numbers in place of places. Shared by all workers.
pub(super) struct Links {
    files: HardLinks<3, Linked>,
    places: Mutex<NameTable>,
    /// Whether a table asks for places.
    are_wanted: bool,
}

impl Links {
    /// For these tables. `keeps`: see [`HardLinks::keeping`].
    pub(super) fn new(keys: &[Key], keeps: bool) -> Links {
        let are_wanted = keys.contains(&Key::Extension) || keys.contains(&Key::Depth);
        Links { files: HardLinks::keeping(keeps), places: Mutex::default(), are_wanted }
    }

    /// Takes one of so many names. Whether it is the first, and with the last what is to be counted by name.
    pub(super) fn see(&self, seen: &AnyEntry<'_>, names: u32) -> (bool, Option<Linked>) {
        let facts = seen.facts.unwrap_or_default();
        let size = if seen.kind.has_length() { facts.size } else { 0 };
        let place = if self.are_wanted { self.places.lock().number(ByName::of(seen)) } else { 0 };
        let new = Linked { place, size, allocated: facts.allocated };
        let mut is_first = false;
        let last = self.files.see(facts.inode.key(), names, |old| {
            is_first = old.is_none();
            old.map_or(new, |old| Linked { place: self.least(old.place, place), ..old })
        });
        (is_first, last)
    }

    fn least(&self, a: u32, b: u32) -> u32 {
        if a == b { a } else { self.places.lock().least(a, b) }
    }

    /// Shows the place of a file.
    pub(super) fn placed(&self, linked: Linked, show: impl FnOnce(ByName<'_>)) {
        if self.are_wanted {
            show(ByName::read(&self.places.lock().texts[linked.place as usize]));
        }
    }

    /// What is left at the end.
    pub(super) fn take(&mut self) -> Vec<Linked> {
        self.files.values_mut().map(|linked| *linked).collect()
    }
}

/// Places by number.
#[derive(Default)]
struct NameTable {
    numbers: HashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
    scratch: Vec<u8>,
}

impl NameTable {
    /// Beyond so many extensions those that are new are none, as in the table.
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

    fn least(&self, a: u32, b: u32) -> u32 {
        if self.texts[a as usize] <= self.texts[b as usize] { a } else { b }
    }
}
