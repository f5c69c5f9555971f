//! The user's locale, as far as a listing needs it: the charset of names, their order, the names of the months, translated
//! messages.
//!
//! Pure: the values of the environment variables and the bytes of the files are passed in, nothing is read. The data
//! are those of the machine's C library, in its own formats, so that order and months are those of the machine's other
//! programs:
//!
//! ```text
//! Variables ─► UserLocale::find ─► locale()     charset, kind of order
//!                asks Files for    collate() ─► Collator::new ─► key(name): compare keys by bytes
//!                the archive       time() ────► TimeNames::new ─► aligned_months()
//!                                  time_name() ► catalog::paths ─► Catalog::get(b"%b %e  %Y")
//! ```
//!
//! [`Locale::new`] goes by the names alone: charset from the name, order by bytes, months of the C locale.
//!
//! Locales with another charset than UTF-8 (`de_DE.ISO-8859-1`, `ja_JP.eucJP`): names are ordered as the C library
//! does, whose tables are indexed by bytes of that charset; what can be printed is in [`Charset`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod archive;
pub mod catalog;
mod charset;
mod class;
mod collate;
pub mod file;
pub mod find;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod name;
#[cfg(test)]
mod testing;
mod times;

pub use catalog::Catalog;
pub use charset::{Charset, Multibyte};
pub use class::class;
pub use collate::Collator;
pub use file::copy;
pub use find::{Files, UserLocale};
pub use times::{Case, Era, TimeNames};

/// The values of the environment variables that choose the locale; `None` where a variable is unset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'a> {
    /// `LC_ALL`: overrides every other one.
    pub all: Option<&'a [u8]>,
    /// `LC_CTYPE`: the charset.
    pub ctype: Option<&'a [u8]>,
    /// `LC_COLLATE`: the order of names.
    pub collate: Option<&'a [u8]>,
    /// `LC_TIME`: names of months and days.
    pub time: Option<&'a [u8]>,
    /// `LANG`: the locale of all categories without another variable.
    pub lang: Option<&'a [u8]>,
}

impl<'a> Variables<'a> {
    /// The name of the locale of one category, whose own variable has the value `own`. Empty variables count as unset
    /// (POSIX, Base Definitions 8.2).
    #[must_use]
    pub fn name(&self, own: Option<&'a [u8]>) -> &'a [u8] {
        let set = |value: &Option<&'a [u8]>| value.is_some_and(|value| !value.is_empty());
        [self.all, own, self.lang].into_iter().find(set).flatten().unwrap_or(b"C")
    }
}

/// How names are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collation {
    /// As bytes, as `strcmp` would.
    #[default]
    Bytes,
    /// By the keys of a [`Collator`], made from [`UserLocale::collate`]; names with equal keys stay in the directory's
    /// order.
    Rules,
}

/// The user's locale, as far as a listing depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locale {
    /// The charset of names.
    pub charset: Charset,
    /// The order of names.
    pub collation: Collation,
}

impl Locale {
    /// The C locale: bytes, English months.
    pub const C: Locale = Locale { charset: Charset::Ascii, collation: Collation::Bytes };

    /// The C locale over UTF-8, which glibc calls `C.UTF-8`.
    pub const C_UTF8: Locale = Locale { charset: Charset::Utf8, ..Locale::C };

    /// The locale that these variables ask for. A name that asks for UTF-8 gets it whether or not the C
    /// library of the machine has the locale installed.
    #[must_use]
    pub fn new(variables: &Variables<'_>) -> Locale {
        if is_utf8(variables.name(variables.ctype)) { Locale::C_UTF8 } else { Locale::C }
    }

    /// Whether the charset is UTF-8.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.charset.is_utf8()
    }
}

/// Whether the codeset of a locale's name (`language[_territory][.codeset][@modifier]`) is UTF-8. As in glibc
/// only letters and digits of a codeset count, in either case: `UTF-8`, `utf8`.
fn is_utf8(name: &[u8]) -> bool {
    let name = name.split(|byte| *byte == b'@').next().unwrap_or(name);
    let Some(dot) = name.iter().position(|byte| *byte == b'.') else { return false };
    name[dot + 1..]
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .eq(b"utf8".iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charset_is_read_from_the_name() {
        for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8", "de_DE.utf8@euro", "x.Utf-8"] {
            assert!(is_utf8(name.as_bytes()), "{name}");
        }
        for name in ["", "C", "POSIX", "en_US", "en_US.ISO-8859-1", "de_DE@utf8", "C.UTF-16", "C.utf", "utf8"]
        {
            assert!(!is_utf8(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn lc_all_comes_before_lc_ctype_before_lang() {
        let all = Variables {
            all: Some(b"C"),
            ctype: Some(b"C.UTF-8"),
            lang: Some(b"C.UTF-8"),
            ..Variables::default()
        };
        assert_eq!(Locale::new(&all), Locale::C);
        assert_eq!(Locale::new(&Variables { all: Some(b""), ..all }), Locale::C_UTF8);
        assert!(Locale::new(&Variables { lang: Some(b"en_GB.UTF-8"), ..Variables::default() }).is_utf8());
        assert!(!Locale::new(&Variables { time: Some(b"C.UTF-8"), ..Variables::default() }).is_utf8());
        assert_eq!(Locale::new(&Variables::default()), Locale::C);
    }
}
