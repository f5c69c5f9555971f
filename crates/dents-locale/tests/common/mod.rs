//! Helpers for the tests: the machine's locales and their files.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicU8;

use dents_locale::name::Name;
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

/// Locales that differ in charset, tailorings, digraphs, accents read backward, or names of months.
const LOCALES: [&str; 14] = [
    "en_US.UTF-8",
    "fr_FR.UTF-8",
    "de_DE.UTF-8",
    "sv_SE.UTF-8",
    "ja_JP.UTF-8",
    "cs_CZ.UTF-8",
    "da_DK.UTF-8",
    "es_ES.UTF-8",
    "fr_CA.UTF-8",
    "tr_TR.UTF-8",
    "ru_RU.UTF-8",
    "zh_CN.UTF-8",
    "de_DE.ISO-8859-1",
    "ja_JP.eucJP",
];
/// How many more of the machine's locales are tried: each costs a second or two.
const MORE: usize = 3;

/// The names that `locale -a` lists.
pub(crate) fn listed() -> Vec<String> {
    let output = Command::new("locale").arg("-a").output().expect("locale starts").stdout;
    let names = output.split(|byte| *byte == b'\n').filter(|name| !name.is_empty());
    names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
}

/// The locales to compare in: [`LOCALES`], and a few others that this machine happens to have. Names without a territory
/// are left out: aliases (`french`), which glibc expands where it looks for catalogues.
pub(crate) fn locales() -> Vec<String> {
    let same = |a: &str, b: &str| Name::new(a.as_bytes()).archived() == Name::new(b.as_bytes()).archived();
    let mut others = listed();
    others.retain(|name| name.contains('_') && !LOCALES.iter().any(|known| same(known, name)));
    let step = others.len().div_ceil(MORE).max(1);
    LOCALES.iter().map(|name| name.to_string()).chain(others.into_iter().step_by(step)).collect()
}
