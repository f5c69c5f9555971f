//! The user's locale: names of days and months, formats of dates, and what patterns match, from the compiled locales of the C library, as in `dls`.

use dents_core::pattern::Tables;
use dents_locale::find::OTHER_VARIABLES;
use dents_locale::{Files, TimeNames, UserLocale, Variables, copy};
use dents_sys::file;
use std::ffi::{CString, OsStr};
use std::ops::RangeInclusive;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

/// Maps files and never unmaps them.
struct Mapped;

impl Files<'static> for Mapped {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        file::map(&CString::new(path).ok()?).ok()
    }
}

/// The locale that the environment asks for. The first call maps one or two files for another locale than C.
fn user() -> &'static UserLocale<'static, 'static> {
    static USER: OnceLock<UserLocale<'static, 'static>> = OnceLock::new();
    USER.get_or_init(|| {
        // For the life of the program, as what is mapped.
        let value = |name: &[u8]| Some(&*std::env::var_os(OsStr::from_bytes(name))?.into_vec().leak());
        let own: [&[u8]; 6] = [b"LC_ALL", b"LC_CTYPE", b"LC_COLLATE", b"LC_TIME", b"LANG", b"LOCPATH"];
        let [all, ctype, collate, time, lang, locpath] = own.map(value);
        let others: Vec<&[u8]> = OTHER_VARIABLES.iter().filter_map(|name| value(name)).collect();
        let variables = Variables { all, ctype, collate, time, lang };
        UserLocale::find(&variables, others.leak(), locpath, &mut Mapped)
    })
}

/// The names and formats of `LC_TIME`; `None` for the locale C, which costs no system call.
pub(crate) fn time_names() -> Option<TimeNames<'static>> {
    static NAMES: OnceLock<Option<TimeNames<'static>>> = OnceLock::new();
    *NAMES.get_or_init(|| {
        let time = user().time(&mut Mapped)?;
        // A copy: the largest of glibc has 15 KB.
        TimeNames::new(copy(time.get(..1 << 16).unwrap_or(time)).leak())
    })
}

/// The classes and the order of the user's locale, for patterns. It is looked for when a pattern has one of these.
pub(crate) struct OfUser;

impl Tables for OfUser {
    fn class(&self, name: &[u8]) -> Option<Vec<RangeInclusive<u32>>> {
        user().class(name, &mut Mapped)
    }

    fn class_bytes(&self, name: &[u8]) -> Option<Vec<u8>> {
        user().class_bytes(name, &mut Mapped)
    }

    fn range(&self, from: u32, to: u32) -> Option<Vec<RangeInclusive<u32>>> {
        user().range(from, to)
    }

    fn bytes(&self) -> Option<[u8; 256]> {
        user().bytes()
    }

    fn equals(&self, char: u32) -> Option<Vec<RangeInclusive<u32>>> {
        user().equals(char)
    }

    fn equal_bytes(&self, byte: u8) -> Option<Vec<u8>> {
        user().equal_bytes(byte)
    }
}
