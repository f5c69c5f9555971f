//! `/usr/lib/locale/locale-archive`: every locale that `localedef` compiled, in one file.
//!
//! A head of offsets, a hash table from names to records, and per record the place of each category. The file is
//! megabytes long and a search reads a few dozen bytes of it, so the caller should map it, not read it.

use core::sync::atomic::AtomicU8;

use crate::file::{Byte, Category, until_nul, word};

const MAGIC: u32 = 0xde02_0109;
/// A slot of the hash table: hash, offset of the name, offset of the record.
const SLOT: usize = 12;
/// The categories of a record, `LC_CTYPE` (0) to `LC_IDENTIFICATION` (12).
const CATEGORIES: usize = 13;

/// The archive's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'d> {
    bytes: &'d [AtomicU8],
    slots: usize,
    table: usize,
}

/// One locale of the archive.
#[derive(Clone, Copy, Debug)]
pub struct Record<'d> {
    bytes: &'d [AtomicU8],
    at: usize,
}

impl<'d> Archive<'d> {
    /// Takes the content of the file; `None` if it is not an archive of this format.
    #[must_use]
    pub fn new(bytes: &'d [AtomicU8]) -> Option<Archive<'d>> {
        let table = word(bytes, 8)? as usize;
        let slots = word(bytes, 16)? as usize;
        (word(bytes, 0)? == MAGIC && slots > 2).then_some(Archive { bytes, slots, table })
    }

    /// The locale of that name, whose codeset must be normalised: `en_US.utf8`. A deleted locale keeps its slot in the
    /// table, without a record.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<Record<'d>> {
        let hash = hash(name);
        let mut slot = hash as usize % self.slots;
        let step = 1 + hash as usize % (self.slots - 2);
        for _ in 0..self.slots {
            let at = self.table.checked_add(slot.checked_mul(SLOT)?)?;
            let named = word(self.bytes, at + 4)? as usize;
            if named == 0 {
                return None;
            }
            let is_named =
                |bytes: &[AtomicU8]| until_nul(bytes).iter().map(Byte::get).eq(name.iter().copied());
            if word(self.bytes, at)? == hash && is_named(self.bytes.get(named..)?) {
                let at = word(self.bytes, at + 8)? as usize;
                return (at != 0).then_some(Record { bytes: self.bytes, at });
            }
            slot = (slot + step) % self.slots;
        }
        None
    }
}

impl<'d> Record<'d> {
    /// The bytes of one category.
    #[must_use]
    pub fn category(&self, category: Category) -> Option<&'d [AtomicU8]> {
        debug_assert!((category as usize) < CATEGORIES);
        let at = self.at.checked_add(4 + 8 * category as usize)?;
        let start = word(self.bytes, at)? as usize;
        let length = word(self.bytes, at + 4)? as usize;
        self.bytes.get(start..start.checked_add(length)?)
    }
}

/// The hash of a name: rotate by nine, add the byte; never zero, which marks a free slot.
pub(crate) fn hash(name: &[u8]) -> u32 {
    let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
    let hash = name.iter().fold(length, |hash, byte| hash.rotate_left(9).wrapping_add(u32::from(*byte)));
    if hash == 0 { u32::MAX } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::copy;
    use crate::testing::{self, mapped};

    #[test]
    fn locales_are_found_by_name() {
        let bytes = testing::archive(&[
            ("en_US.utf8", [b"ctype", b"time", b"collate"]),
            ("fr_FR.utf8", [b"a", b"b", b"c"]),
            ("fr_FR", [b"d", b"e", b"f"]),
        ]);
        let archive = Archive::new(mapped(&bytes)).unwrap();
        let get = |name: &[u8], category| archive.find(name)?.category(category).map(copy);
        assert_eq!(get(b"en_US.utf8", Category::Ctype), Some(b"ctype".to_vec()));
        assert_eq!(get(b"en_US.utf8", Category::Collate), Some(b"collate".to_vec()));
        assert_eq!(get(b"fr_FR.utf8", Category::Time), Some(b"b".to_vec()));
        assert_eq!(get(b"fr_FR", Category::Time), Some(b"e".to_vec()));
        for name in [&b"en_US.UTF-8"[..], b"en_US", b"", b"de_DE.utf8"] {
            assert!(archive.find(name).is_none());
        }
    }

    /// `localedef --delete-from-archive` leaves the name in the table and takes its record away.
    #[test]
    fn a_deleted_locale_is_not_found() {
        let files: [&[u8]; 3] = [b"ctype", b"time", b"collate"];
        let mut bytes = testing::archive(&[("en_US.utf8", files), ("fr_FR.utf8", files)]);
        assert!(testing::delete(&mut bytes, "en_US.utf8"));
        let archive = Archive::new(mapped(&bytes)).unwrap();
        assert!(archive.find(b"en_US.utf8").is_none());
        assert!(archive.find(b"fr_FR.utf8").is_some());
    }

    #[test]
    fn a_broken_archive_has_no_locales() {
        let whole = testing::archive(&[("en_US.utf8", [b"ctype", b"time", b"collate"])]);
        let ask = |bytes: &[u8]| {
            let archive = Archive::new(mapped(bytes))?;
            let _ = archive.find(b"de_DE.utf8");
            archive.find(b"en_US.utf8")?.category(Category::Collate).map(<[AtomicU8]>::len)
        };
        assert_eq!(ask(&whole), Some(7));
        for length in 0..whole.len() {
            // The places of the categories after collation may be cut off unnoticed.
            let answer = ask(&whole[..length]);
            assert!(answer.is_none() || length > whole.len() - 9 * 8 - 1, "{length}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            let _ = ask(&bytes);
        }
    }
}
