//! From the environment to the data: the locale of each category, whether it is installed, and its bytes.
//!
//! As in `setlocale(LC_ALL, "")`, each category has its own name; if one of them is not installed, all are C. Files
//! are requested through [`Files`], so this module is pure and the caller maps them. If every name is C, POSIX or
//! C.UTF-8, no file is requested; if the locales are in the archive, one file.

use crate::collate::{equal, range};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::sync::atomic::AtomicU8;

use crate::archive::{Archive, Record};
use crate::file::{Category, File, copy};
use crate::name::{Name, is_c, normalized};
use crate::{Charset, Collation, Locale, Variables};

/// The archive that `localedef` fills, Debian's and most others' place for locales.
pub const ARCHIVE: &[u8] = b"/usr/lib/locale/locale-archive";
/// Where locales lie as directories, one file per category.
const DIRECTORY: &[u8] = b"/usr/lib/locale";

/// The variables of categories that a listing does not use. Their locales must be installed too, or `setlocale` fails.
pub const OTHER_VARIABLES: [&[u8]; 9] = [
    b"LC_NUMERIC",
    b"LC_MONETARY",
    b"LC_MESSAGES",
    b"LC_PAPER",
    b"LC_NAME",
    b"LC_ADDRESS",
    b"LC_TELEPHONE",
    b"LC_MEASUREMENT",
    b"LC_IDENTIFICATION",
];

/// Access to files. The caller maps them, so that unread parts cost nothing (the archive has megabytes).
pub trait Files<'d> {
    /// The content of the file; `None` if it cannot be read. A mapped file costs three system calls: open, size, map.
    fn open(&mut self, path: &[u8]) -> Option<&'d [AtomicU8]>;
}

/// Where one category's data come from.
#[derive(Clone, Copy, Debug)]
enum Source<'d> {
    /// C and C.UTF-8 need none.
    BuiltIn {
        utf8: bool,
    },
    Archive(Record<'d>),
    /// A directory of files; those of other categories than collation are opened when they are needed.
    Directory {
        collate: &'d [AtomicU8],
    },
}

/// The user's locale, found.
#[derive(Clone, Debug)]
pub struct UserLocale<'v, 'd> {
    locpath: Option<&'v [u8]>,
    installed: bool,
    locale: Locale,
    collate: Option<&'d [AtomicU8]>,
    /// The name of `LC_TIME`'s locale, and its source.
    time: (&'v [u8], Source<'d>),
    /// The same of `LC_CTYPE`.
    ctype: (&'v [u8], Source<'d>),
}

/// The state of the search.
struct Search<'f, 'v, 'd> {
    files: &'f mut dyn Files<'d>,
    locpath: Option<&'v [u8]>,
    /// `Some(None)`: the archive does not exist.
    archive: Option<Option<Archive<'d>>>,
    found: Vec<(&'v [u8], Source<'d>)>,
}

impl<'v, 'd> UserLocale<'v, 'd> {
    /// Finds the locale of these variables.
    ///
    /// `others` are the values of [`OTHER_VARIABLES`] that are set, `locpath` that of `LOCPATH`: directories to search
    /// instead of the archive. Costs nothing for C and C.UTF-8, one file for names that are in the archive, otherwise
    /// up to 12 attempts for each distinct name.
    #[must_use]
    pub fn find(
        variables: &Variables<'v>,
        others: &[&'v [u8]],
        locpath: Option<&'v [u8]>,
        files: &mut dyn Files<'d>,
    ) -> UserLocale<'v, 'd> {
        let locpath = locpath.filter(|path| !path.is_empty());
        let mut search = Search { files, locpath, archive: None, found: Vec::new() };
        search.all(variables, others).unwrap_or(UserLocale {
            locpath,
            installed: false,
            locale: Locale::C,
            collate: None,
            time: (b"C", Source::BuiltIn { utf8: false }),
            ctype: (b"C", Source::BuiltIn { utf8: false }),
        })
    }

    /// Whether all that the variables name is installed. If not, everything is as in C.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.installed
    }

    /// The charset, and whether names are ordered by [`collate`](Self::collate)'s rules.
    #[must_use]
    pub fn locale(&self) -> Locale {
        self.locale
    }

    /// The `LC_COLLATE` for a [`Collator`](crate::Collator); `None` if names are ordered by bytes. (`Collator::new`
    /// returns `None` if the locale has no rules.)
    #[must_use]
    pub fn collate(&self) -> Option<&'d [AtomicU8]> {
        self.collate
    }

    /// The name of the locale of times, for the catalog's [`paths`](crate::catalog::paths); `C` where translations do not
    /// apply.
    #[must_use]
    pub fn time_name(&self) -> &'v [u8] {
        self.time.0
    }

    /// The decimal point of the locale that `LC_NUMERIC` names, if that is not a point; `name` as
    /// [`Variables::name`] gives it. At most one file is opened.
    #[must_use]
    pub fn decimal_point(&self, name: &[u8], files: &mut dyn Files<'d>) -> Option<Vec<u8>> {
        self.numeric(name, files)?.string(0).map(copy).filter(|point| *point != b".")
    }

    /// The separator of groups of digits, and how many digits they have from the last on, in the same locale.
    #[must_use]
    pub fn grouping(&self, name: &[u8], files: &mut dyn Files<'d>) -> Option<(Vec<u8>, Vec<u8>)> {
        let numeric = self.numeric(name, files)?;
        Some((copy(numeric.string(1)?), copy(numeric.string(2)?)))
    }

    fn numeric(&self, name: &[u8], files: &mut dyn Files<'d>) -> Option<File<'d, AtomicU8>> {
        if !self.installed || built_in(name).is_some() {
            return None;
        }
        let mut search = Search { files, locpath: self.locpath, archive: None, found: Vec::new() };
        let bytes = match search.archived(name) {
            Some(record) => record.category(Category::Numeric),
            None => open(self.locpath, name, Category::Numeric, search.files),
        };
        File::new(Category::Numeric, bytes?)
    }

    /// The bytes of `LC_TIME`, for [`TimeNames`](crate::TimeNames); `None` where the months are those of C. No file is
    /// opened if the locale is in the archive.
    #[must_use]
    pub fn time(&self, files: &mut dyn Files<'d>) -> Option<&'d [AtomicU8]> {
        self.category(self.time, Category::Time, files)
    }

    /// The bytes of `LC_CTYPE`, for [`Case`](crate::Case); `None` where it is that of C. The same cost.
    #[must_use]
    pub fn ctype(&self, files: &mut dyn Files<'d>) -> Option<&'d [AtomicU8]> {
        self.category(self.ctype, Category::Ctype, files)
    }

    /// The characters of a class, [`class`](crate::class()); `None` in C, and where the locale has no such class. At most one file
    /// is opened: in C.UTF-8 its `LC_CTYPE`, which nothing else needs.
    #[must_use]
    pub fn class(&self, class: &[u8], files: &mut dyn Files<'d>) -> Option<Vec<RangeInclusive<u32>>> {
        let (name, source) = self.ctype;
        let bytes = match source {
            Source::BuiltIn { utf8: false } => None,
            Source::BuiltIn { utf8: true } => open(None, name, Category::Ctype, files),
            _ => self.ctype(files),
        };
        crate::class(bytes?, class)
    }

    /// The bytes of a class in a charset of bytes; `None` in other charsets, where bytes above ASCII are in no class. At most one file
    /// is opened.
    #[must_use]
    pub fn class_bytes(&self, class: &[u8], files: &mut dyn Files<'d>) -> Option<Vec<u8>> {
        matches!(self.locale().charset, Charset::Bytes(_)).then_some(())?;
        crate::class::bytes(self.ctype(files)?, class)
    }

    /// The characters of a range of a pattern, in the order of the locale; `None` where those of code points are meant. The table is of
    /// characters: in other charsets than UTF-8 a pattern is bytes. A locale without an order of its own, `C.UTF-8`, has that of the C locale,
    /// where the characters up to U+FF alone have a place.
    #[must_use]
    pub fn range(&self, from: u32, to: u32) -> Option<Vec<RangeInclusive<u32>>> {
        if !self.locale().is_utf8() {
            return None;
        }
        self.collate.and_then(|collate| range::range(collate, from, to)).or_else(|| {
            let last = if to <= 0xff { to } else { from };
            Some(if from <= 0xff { [from..=last].into() } else { Vec::new() })
        })
    }

    /// The places of bytes in the order of the locale; `None` where bytes decide.
    #[must_use]
    pub fn bytes(&self) -> Option<[u8; 256]> {
        self.collate.and_then(range::bytes)
    }

    /// The characters that sort as this one but for accents and case; `None` where it is alone. The table is of characters, as in
    /// [`range`](Self::range).
    #[must_use]
    pub fn equals(&self, char: u32) -> Option<Vec<RangeInclusive<u32>>> {
        let collate = self.collate.filter(|_| self.locale().is_utf8())?;
        equal::characters(collate, char)
    }

    /// The same of bytes.
    #[must_use]
    pub fn equal_bytes(&self, byte: u8) -> Option<Vec<u8>> {
        self.collate.and_then(|collate| equal::bytes(collate, byte))
    }

    fn category(
        &self,
        (name, source): (&'v [u8], Source<'d>),
        category: Category,
        files: &mut dyn Files<'d>,
    ) -> Option<&'d [AtomicU8]> {
        match source {
            Source::BuiltIn { .. } => None,
            Source::Archive(record) => record.category(category),
            Source::Directory { .. } => open(self.locpath, name, category, files),
        }
    }
}

impl<'v, 'd> Search<'_, 'v, 'd> {
    /// All categories; `None` if one of them is not installed.
    fn all(&mut self, variables: &Variables<'v>, others: &[&'v [u8]]) -> Option<UserLocale<'v, 'd>> {
        let ctype = variables.name(variables.ctype);
        let collate = variables.name(variables.collate);
        let time = variables.name(variables.time);
        // LANG names the locale of all categories without a variable of their own.
        self.one(variables.name(None))?;
        for other in others {
            self.one(variables.name(Some(*other)))?;
        }
        let charset = self.charset(ctype)?;
        let rules = match self.one(collate)? {
            Source::BuiltIn { .. } => None,
            Source::Archive(record) => Some(record.category(Category::Collate)?),
            Source::Directory { collate } => Some(collate),
        };
        let time = (time, self.one(time)?);
        let ctype = (ctype, self.one(ctype)?);
        let collation = if rules.is_some() { Collation::Rules } else { Collation::Bytes };
        let locale = Locale { charset, collation };
        Some(UserLocale { locpath: self.locpath, installed: true, locale, collate: rules, time, ctype })
    }

    /// The charset of this locale; `None` if it is not installed. A name that has UTF-8 as its codeset decides, because it was
    /// compared with the data; otherwise the data do.
    fn charset(&mut self, name: &'v [u8]) -> Option<Charset> {
        let bytes = match self.one(name)? {
            Source::BuiltIn { utf8: false } => return Some(Charset::Ascii),
            Source::BuiltIn { utf8: true } => return Some(Charset::Utf8),
            _ if crate::is_utf8(name) => return Some(Charset::Utf8),
            Source::Archive(record) => record.category(Category::Ctype),
            Source::Directory { .. } => open(self.locpath, name, Category::Ctype, self.files),
        };
        Charset::new(bytes?)
    }

    /// Where a locale's data are; `None` if it is not installed.
    fn one(&mut self, name: &'v [u8]) -> Option<Source<'d>> {
        if let Some(utf8) = built_in(name) {
            return Some(Source::BuiltIn { utf8 });
        }
        // setlocale refuses paths and names that are too long for a file name.
        if name.contains(&b'/') || name.len() > 255 {
            return None;
        }
        if let Some((_, source)) = self.found.iter().find(|(found, _)| *found == name) {
            return Some(*source);
        }
        let source = match self.archived(name) {
            Some(record) => Source::Archive(record),
            None => Source::Directory { collate: open(self.locpath, name, Category::Collate, self.files)? },
        };
        self.found.push((name, source));
        Some(source)
    }

    fn archived(&mut self, name: &[u8]) -> Option<Record<'d>> {
        if self.locpath.is_some() {
            return None;
        }
        let files = &mut *self.files;
        let archive = self.archive.get_or_insert_with(|| files.open(ARCHIVE).and_then(Archive::new));
        archive.as_ref()?.find(&Name::new(name).archived())
    }
}

/// Whether a locale needs no data, and whether it is then UTF-8. `C.UTF-8` counts as installed: glibc has it since
/// 2.35, Debian always had it, and its order is that of bytes.
fn built_in(name: &[u8]) -> Option<bool> {
    if is_c(name) {
        return Some(false);
    }
    let parts = Name::new(name);
    let plain = parts.language == b"C" && parts.territory.is_none() && parts.modifier.is_none();
    (plain && crate::is_utf8(name)).then_some(true)
}

/// Opens one category of a locale that lies in a directory: each name it may go by, in each directory. A file for
/// another charset than the one asked for does not count.
fn open<'d>(
    locpath: Option<&[u8]>,
    name: &[u8],
    category: Category,
    files: &mut dyn Files<'d>,
) -> Option<&'d [AtomicU8]> {
    let codeset = Name::new(name).codeset.map(normalized);
    paths(locpath, name, category).into_iter().find_map(|path| {
        let bytes = files.open(&path)?;
        let theirs = File::new(category, bytes)?.codeset().map(|codeset| normalized(&codeset));
        let agree = match (&codeset, theirs) {
            (Some(wanted), Some(theirs)) => *wanted == theirs,
            _ => true,
        };
        agree.then_some(bytes)
    })
}

/// The files in which one category of a locale may lie, in glibc's order.
#[must_use]
pub fn paths(locpath: Option<&[u8]>, name: &[u8], category: Category) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    let own = locpath.into_iter().flat_map(|list| list.split(|byte| *byte == b':'));
    let own = own.filter(|directory| !directory.is_empty());
    let directories: Vec<&[u8]> = own.chain([DIRECTORY]).collect();
    for candidate in Name::new(name).candidates() {
        for directory in &directories {
            let parts: [&[u8]; 5] = [directory, b"/", &candidate, b"/", category.name()];
            paths.push(parts.concat());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TimeNames, testing};
    use std::string::String;

    /// Files that are only imagined, and which of them were asked for.
    struct Imagined {
        files: Vec<(String, &'static [AtomicU8])>,
        asked: Vec<String>,
    }

    impl Files<'static> for Imagined {
        fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
            let path = String::from_utf8(path.to_vec()).unwrap();
            self.asked.push(path.clone());
            self.files.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
        }
    }

    /// An archive with two locales of UTF-8 and one of Latin 1, and a directory with one.
    fn imagined() -> Imagined {
        let [utf8, latin, time, collate] =
            [testing::ctype("UTF-8"), testing::ctype("ISO-8859-1"), testing::time(), testing::collate()];
        let archive = testing::archive(&[
            ("xx_XX.utf8", [&utf8, &time, &collate]),
            ("yy_YY", [&utf8, &time, &collate]),
            ("zz_ZZ", [&latin, &time, &collate]),
        ]);
        let directory = |name: &str| std::format!("/usr/lib/locale/{name}");
        let files = [
            (String::from_utf8(ARCHIVE.to_vec()).unwrap(), archive),
            (directory("dd.utf8/LC_COLLATE"), collate.clone()),
            (directory("dd.utf8/LC_TIME"), time),
            (directory("ee/LC_COLLATE"), collate),
            (directory("ee/LC_CTYPE"), latin),
        ];
        let files = files.into_iter().map(|(name, bytes)| (name, testing::mapped(&bytes))).collect();
        Imagined { files, asked: Vec::new() }
    }

    fn all(name: &str) -> Variables<'_> {
        Variables { all: Some(name.as_bytes()), ..Variables::default() }
    }

    #[test]
    fn c_asks_for_nothing() {
        let files = &mut imagined();
        for (name, utf8) in [("C", false), ("POSIX", false), ("C.UTF-8", true), ("C.utf8", true), ("", false)]
        {
            let found = UserLocale::find(&all(name), &[], None, files);
            assert_eq!(found.locale(), if utf8 { Locale::C_UTF8 } else { Locale::C });
            assert!(found.collate().is_none() && found.time(files).is_none());
        }
        assert!(files.asked.is_empty());
    }

    #[test]
    fn the_archive_is_the_one_file_asked_for() {
        let files = &mut imagined();
        let found = UserLocale::find(&all("xx_XX.UTF-8"), &[], None, files);
        assert_eq!(found.locale(), Locale { collation: Collation::Rules, ..Locale::C_UTF8 });
        assert_eq!(found.collate().map(copy), Some(testing::collate()));
        assert_eq!(
            TimeNames::new(&copy(TimeNames::part(found.time(files).unwrap()))).unwrap().short_months[11],
            b"m12"
        );
        assert_eq!(found.time_name(), b"xx_XX.UTF-8");
        assert_eq!(files.asked, ["/usr/lib/locale/locale-archive"]);
    }

    #[test]
    fn without_a_codeset_the_data_tell_the_charset() {
        let files = &mut imagined();
        assert!(UserLocale::find(&all("yy_YY"), &[], None, files).locale().is_utf8());
        assert!(!UserLocale::find(&all("zz_ZZ"), &[], None, files).locale().is_utf8());
        assert!(!UserLocale::find(&all("ee"), &[], None, files).locale().is_utf8());
    }

    #[test]
    fn one_category_that_is_missing_makes_all_c() {
        let files = &mut imagined();
        let variables = Variables { lang: Some(b"xx_XX.UTF-8"), ..Variables::default() };
        assert!(UserLocale::find(&variables, &[], None, files).locale().is_utf8());
        let found = UserLocale::find(&variables, &[b"qq_QQ.UTF-8"], None, files);
        assert_eq!((found.locale(), found.time_name()), (Locale::C, &b"C"[..]));
        for broken in [b"qq_QQ.UTF-8".as_slice(), b"../xx_XX.UTF-8", &[b'x'; 300]] {
            let variables = Variables { time: Some(broken), ..variables };
            assert_eq!(UserLocale::find(&variables, &[], None, files).locale(), Locale::C);
            // LC_ALL hides it.
            let variables = Variables { all: Some(b"xx_XX.UTF-8"), ..variables };
            assert!(UserLocale::find(&variables, &[broken], None, files).locale().is_utf8());
        }
        // LANG is the locale of the other categories, so it must be installed too.
        let named = Some(&b"xx_XX.UTF-8"[..]);
        let variables = Variables {
            ctype: named,
            collate: named,
            time: named,
            lang: Some(b"qq"),
            ..Variables::default()
        };
        assert_eq!(UserLocale::find(&variables, &[], None, files).locale(), Locale::C);
    }

    #[test]
    fn categories_go_each_their_way() {
        let files = &mut imagined();
        let variables = Variables { collate: Some(b"C"), lang: Some(b"xx_XX.UTF-8"), ..Variables::default() };
        let found = UserLocale::find(&variables, &[], None, files);
        assert_eq!(found.locale(), Locale::C_UTF8);
        assert!(found.collate().is_none() && found.time(files).is_some());
    }

    #[test]
    fn directories_come_after_the_archive() {
        let files = &mut imagined();
        let found = UserLocale::find(&all("dd.UTF-8"), &[], None, files);
        assert_eq!(found.locale(), Locale { collation: Collation::Rules, ..Locale::C_UTF8 });
        assert!(found.time(files).is_some());
        // That locale is Latin 1's by its own word, if it has one; a name that asks for another is not it.
        assert_eq!(UserLocale::find(&all("C.ISO-8859-1"), &[], None, files).locale(), Locale::C);
    }

    #[test]
    fn locpath_comes_instead_of_the_archive() {
        let files = &mut imagined();
        let found = UserLocale::find(&all("xx_XX.UTF-8"), &[], Some(b"/a:/b"), files);
        assert_eq!(found.locale(), Locale::C);
        assert_eq!(files.asked[0], "/a/xx_XX.UTF-8/LC_COLLATE");
        assert_eq!(files.asked[1], "/b/xx_XX.UTF-8/LC_COLLATE");
        assert_eq!(files.asked[2], "/usr/lib/locale/xx_XX.UTF-8/LC_COLLATE");
        assert_eq!(files.asked.len(), 18);
    }
}
