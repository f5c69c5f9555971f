//! Files with several links: each counts once.
//!
//! Owner, age and size belong to the file and count when its first name is met. Depth and extension depend on the name. They
//! count when all names were met, or at the end: by the name with the least depth, and of several such by the one whose
//! extension comes first. So the figures do not depend on the workers, and no path is kept.

use super::key::By;
use crate::entry::Facts;
use dents_core::lock::Mutex;
use dents_core::needs::Kind;
use dents_core::tree::hardlinks::HardLinks;
use std::collections::HashMap;

/// A file of which not all names were met yet.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
pub(super) struct Linked {
    /// The number of the values of its first name.
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
    pub(super) fn new(tables: &[By], keeps: bool) -> Links {
        let are_wanted = tables.iter().any(By::is_by_name);
        Links { files: HardLinks::keeping(keeps), names: Mutex::default(), are_wanted }
    }

    /// Whether a table needs the values of names.
    pub(super) fn are_wanted(&self) -> bool {
        self.are_wanted
    }

    /// Takes one of `names` names of a file, with the values of the name; the first name is that with the least values. Returns whether it is
    /// the first that is met; with the last, the file to be counted by name.
    pub(super) fn see(
        &self,
        kind: Kind,
        facts: &Facts,
        names: u32,
        values: Option<&[u8]>,
    ) -> (bool, Option<Linked>) {
        let size = if kind.has_length() { facts.size } else { 0 };
        let name = values.map_or(0, |values| self.names.lock().number(values));
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
    pub(super) fn with_values(&self, linked: Linked, show: impl FnOnce(&[u8])) {
        if self.are_wanted {
            show(&self.names.lock().texts[linked.name as usize]);
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
}

impl NameTable {
    fn number(&mut self, values: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(values) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(values.into());
        self.numbers.insert(values.into(), number);
        number
    }

    fn first(&self, a: u32, b: u32) -> u32 {
        if self.texts[a as usize] <= self.texts[b as usize] { a } else { b }
    }
}
