//! The user's locale: names of days and months and formats of dates, from the compiled locales of the C library, as in `dls`.

use dents_locale::find::OTHER_VARIABLES;
use dents_locale::{Files, TimeNames, UserLocale, Variables, copy};
use dents_sys::file;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

/// Maps files and never unmaps them.
struct Mapped;

impl Files<'static> for Mapped {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        file::map(&CString::new(path).ok()?).ok()
    }
}

/// The names and formats of `LC_TIME`; `None` for the locale C, which costs no system call. For other locales the first call
/// maps one or two files.
pub(crate) fn time_names() -> Option<TimeNames<'static>> {
    static NAMES: OnceLock<Option<TimeNames<'static>>> = OnceLock::new();
    *NAMES.get_or_init(|| {
        let values = |names: &[&[u8]]| -> Vec<Option<OsString>> {
            names.iter().map(|name| std::env::var_os(OsStr::from_bytes(name))).collect()
        };
        let own = values(&[b"LC_ALL", b"LC_CTYPE", b"LC_COLLATE", b"LC_TIME", b"LANG", b"LOCPATH"]);
        let [all, ctype, collate, time, lang, locpath] =
            std::array::from_fn(|nth| own[nth].as_deref().map(OsStr::as_bytes));
        let others = values(&OTHER_VARIABLES);
        let others: Vec<&[u8]> = others.iter().flatten().map(|value| value.as_bytes()).collect();
        let variables = Variables { all, ctype, collate, time, lang };
        let user = UserLocale::find(&variables, &others, locpath, &mut Mapped);
        // A copy: the largest of glibc has 15 KB.
        let time = user.time(&mut Mapped)?;
        TimeNames::new(copy(time.get(..1 << 16).unwrap_or(time)).leak())
    })
}
