//! Fuzz targets; see `dents-fuzz`.

use crate::archive::Archive;
use crate::collate::{equal, range};
use crate::file::{Byte, Category, File};
use crate::{Catalog, Collator, TimeNames, copy};
use alloc::vec::Vec;
use core::sync::atomic::AtomicU8;

/// Names that meet every way through tables of collation.
const NAMES: [&[u8]; 8] = [
    b"",
    b"aB-c_d",
    b"chCH--cz",
    b"0123456789",
    "\u{e9}\u{e1}\u{df}\u{c9}f".as_bytes(),
    "a\u{3042}\u{3044}\u{ac00}".as_bytes(),
    b"\xff\xc3\x80\xc3",
    b"x",
];

/// The bytes as a mapped file has them.
fn mapped(bytes: &[u8]) -> Vec<AtomicU8> {
    bytes.iter().copied().map(AtomicU8::new).collect()
}

/// A compiled `LC_COLLATE`: the ranges of `[a-z]` are ascending, keys are as long as names and weights allow, and the two parts of a key make up the whole.
pub fn collate(bytes: &[u8]) {
    let bytes = mapped(bytes);
    let ranges = range::range(&bytes, u32::from(b'a'), u32::from(b'z')).unwrap_or_default();
    assert!(ranges.is_sorted_by(|one, next| one.end() < next.start()));
    let equals = equal::characters(&bytes, u32::from(b'e')).unwrap_or_default();
    assert!(equals.is_sorted_by(|one, next| one.end() < next.start()));
    let equals = equal::bytes(&bytes, b'e').unwrap_or_default();
    assert!(equals.is_empty() || equals.contains(&b'e'));
    let Some(mut collator) = Collator::new(&bytes) else { return };
    for name in NAMES {
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        collator.key(name, &mut whole);
        collator.first(name, &mut parts);
        collator.rest(name, &mut parts);
        assert_eq!(whole, parts);
        // At most 255 levels; of each element at most 255 bytes of weight and two of position.
        assert!(whole.len() <= 255 * (1 + name.len() * 257));
    }
}

/// A compiled `LC_TIME`: names are inside the file and end before a NUL, and aligned months have the same width.
pub fn time(bytes: &[u8]) {
    let part = copy(TimeNames::part(&mapped(bytes)));
    let Some(names) = TimeNames::new(&part) else { return };
    let all = names.short_days.iter().chain(&names.days).chain(&names.short_months).chain(&names.months);
    for name in
        all.chain(&names.half_days).chain([&names.date_time, &names.date, &names.time, &names.time_12])
    {
        assert!(!name.contains(&0));
        assert!(
            part.as_ptr_range().start <= name.as_ptr() && name.as_ptr_range().end <= part.as_ptr_range().end
        );
    }
    let months = names.aligned_months(&<[u8]>::len);
    assert!(months.iter().all(|month| month.len() == months[0].len()));
}

/// A catalog of messages: a translation is inside the file, is not empty, and has no NUL.
pub fn catalog(bytes: &[u8]) {
    let bytes = mapped(bytes);
    let Some(catalog) = Catalog::new(&bytes) else { return };
    for message in [&b""[..], b"file", b"%b %e  %Y", b"zzz", b"\xff\x04x"] {
        if let Some(text) = catalog.get(message) {
            assert!(!text.is_empty() && !text.contains(&0) && text.len() <= bytes.len());
        }
    }
    assert!(catalog.charset().is_none_or(|charset| charset.len() < bytes.len()));
}

/// The archive of locales, and `LC_CTYPE` and `LC_NUMERIC` in it: all results are inside the archive.
pub fn archive(bytes: &[u8]) {
    let bytes = mapped(bytes);
    for category in [Category::Ctype, Category::Numeric, Category::Time, Category::Collate] {
        let whole = File::new(category, &bytes);
        let found = Archive::new(&bytes).and_then(|archive| archive.find(b"en_US.utf8")?.category(category));
        assert!(found.is_none_or(|found| found.len() <= bytes.len()));
        for file in found.and_then(|found| File::new(category, found)).into_iter().chain(whole) {
            let _ = file.codeset();
            for index in [0, 1, 2, 43, usize::MAX - 1] {
                assert!(file.string(index).is_none_or(|text| text.iter().all(|byte| byte.get() != 0)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::file::Category;
    use crate::testing;

    use std::vec::Vec;

    #[test]
    fn collate() {
        // glibc's files have twelve kilobytes, of which few are read: damage should hit those often enough.
        let made = include_bytes!("../tests/fixtures/small/LC_COLLATE").to_vec();
        let small = testing::collate();
        dents_fuzz::check("collate", &[small.clone(), small, made], super::collate);
    }

    #[test]
    fn time() {
        let made = include_bytes!("../tests/fixtures/small/LC_TIME").to_vec();
        dents_fuzz::check("time", &[testing::time(), made], super::time);
    }

    #[test]
    fn catalog() {
        let words =
            |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let (head, text) = (
            28 + 2 * 3 * 8,
            b"\0Content-Type: text/plain; charset=UTF-8\n\0%b %e  %Y\0%e %b  %Y\0file\0Datei\0",
        );
        let at = |offset: u32| head + offset;
        let tables = [0, at(0), 9, at(42), 4, at(62), 40, at(1), 9, at(52), 5, at(67)];
        let made =
            [&words(&[0x9504_12de, 0, 3, 28, 28 + 3 * 8, 0, head]), &words(&tables)[..], text].concat();
        let bytes = testing::mapped(&made);
        let catalog = crate::Catalog::new(bytes).expect("a catalog");
        assert_eq!(catalog.get(b"file"), Some(b"Datei".to_vec()));
        assert_eq!(catalog.charset(), Some(b"UTF-8".to_vec()));
        dents_fuzz::check("catalog", &[made], super::catalog);
    }

    #[test]
    fn archive() {
        let (ctype, time) = (testing::ctype("UTF-8"), testing::time());
        let numeric = testing::file(Category::Numeric, &[b",\0", b".\0", b"\x03\x03\0"]);
        let made =
            testing::archive(&[("en_US.utf8", [&ctype, &time, b"x"]), ("fr_FR", [&ctype, b"y", b"z"])]);
        dents_fuzz::check("archive", &[made, numeric, ctype], super::archive);
    }
}
