//! What the tests share: the machine's locale files.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU8;

use dents_locale::{Files, UserLocale, Variables};

/// Opens files by reading them, once each; keeps them for good, as a map would.
#[derive(Default)]
pub(crate) struct Disk {
    opened: HashMap<Vec<u8>, Option<&'static [AtomicU8]>>,
    /// The paths asked for, in turn.
    pub(crate) asked: Vec<Vec<u8>>,
}

impl Files<'static> for Disk {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        self.asked.push(path.to_vec());
        let read = || fs::read(Path::new(std::str::from_utf8(path).ok()?)).ok();
        *self.opened.entry(path.to_vec()).or_insert_with(|| {
            read().map(|bytes| &*bytes.into_iter().map(AtomicU8::new).collect::<Vec<_>>().leak())
        })
    }
}

/// The locale of that name for all categories.
pub(crate) fn locale<'v>(name: &'v str, disk: &mut Disk) -> UserLocale<'v, 'static> {
    UserLocale::find(&Variables { all: Some(name.as_bytes()), ..Variables::default() }, &[], None, disk)
}
