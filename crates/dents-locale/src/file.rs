//! One compiled category of a glibc locale: `LC_COLLATE`, `LC_TIME`, … as `localedef` writes it, as a file or as a
//! part of the archive.
//!
//! The format: a magic number that contains the category, the number of fields, the offsets of the fields, the fields.
//! All numbers have 32 bits in the machine's byte order (`localedef` writes for the machine it runs on). Every read is
//! checked, because the bytes are not trusted.
//!
//! Files are mapped, and other processes may write to them at the same time. So their bytes are atomic, a value that
//! was read once is not assumed to be there again, and values that are kept are copied.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, Ordering};

/// A byte of a file: one that was read, or one that is mapped.
pub trait Byte {
    /// Its value now.
    fn get(&self) -> u8;
}

impl Byte for u8 {
    fn get(&self) -> u8 {
        *self
    }
}

impl Byte for AtomicU8 {
    fn get(&self) -> u8 {
        self.load(Ordering::Relaxed)
    }
}

/// The bytes as they are now.
#[must_use]
pub fn copy<B: Byte>(bytes: &[B]) -> Vec<u8> {
    bytes.iter().map(B::get).collect()
}

/// A category of the locale, by the number that glibc's `<locale.h>` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// `LC_CTYPE`: the charset.
    Ctype = 0,
    /// `LC_NUMERIC`: the decimal point.
    Numeric = 1,
    /// `LC_TIME`: names of months and days.
    Time = 2,
    /// `LC_COLLATE`: the order of names.
    Collate = 3,
}

impl Category {
    /// The name of the variable, and of the file in a locale's directory.
    #[must_use]
    pub fn name(self) -> &'static [u8] {
        match self {
            Category::Ctype => b"LC_CTYPE",
            Category::Numeric => b"LC_NUMERIC",
            Category::Time => b"LC_TIME",
            Category::Collate => b"LC_COLLATE",
        }
    }

    /// The number at the beginning of the file. Collation and character types have formats of their own.
    pub(crate) fn magic(self) -> u32 {
        let base = match self {
            Category::Ctype => 0x2009_0720,
            Category::Numeric | Category::Time => 0x2003_1115,
            Category::Collate => 0x2005_1014,
        };
        base ^ self as u32
    }

    /// The field that names the codeset, as in `nl_langinfo`; `LC_TIME`'s has moved between versions.
    fn codeset(self) -> Option<usize> {
        match self {
            Category::Ctype => Some(14),
            Category::Collate => Some(18),
            Category::Numeric | Category::Time => None,
        }
    }
}

/// The fields of one category.
#[derive(Debug)]
pub struct File<'d, B> {
    category: Category,
    bytes: &'d [B],
    fields: usize,
}

/// The four bytes at `at` as a number of this machine.
pub(crate) fn word<B: Byte>(bytes: &[B], at: usize) -> Option<u32> {
    let [a, b, c, d] = bytes.get(at..at.checked_add(4)?)? else { return None };
    Some(u32::from_ne_bytes([a.get(), b.get(), c.get(), d.get()]))
}

/// A table of three levels: by the first bits of a character, then by bits in the middle, then by the last ones. Offsets of levels count from
/// the beginning; 0 stands for nothing.
pub(crate) struct Levels<'t, B> {
    table: &'t [B],
    /// How far the first level shifts a character, its length, how far the second one shifts, and the masks of the second and the third.
    head: [u32; 5],
}

impl<'t, B: Byte> Levels<'t, B> {
    pub(crate) fn new(table: &'t [B]) -> Option<Self> {
        let [shift1, bound, shift2, mask2, mask3] = [0, 4, 8, 12, 16].map(|at| word(table, at));
        Some(Levels { table, head: [shift1?, bound?, shift2?, mask2?, mask3?] })
    }

    /// The last level of this character, which [`value`](Self::value) takes; 0 if there is none.
    pub(crate) fn last(&self, char: u32) -> Option<u32> {
        let [shift1, bound, shift2, mask2, _] = self.head;
        let first = char.checked_shr(shift1)?;
        if first >= bound {
            return Some(0);
        }
        let middle = self.at(20, first)?;
        if middle == 0 { Some(0) } else { self.at(middle, char.checked_shr(shift2)? & mask2) }
    }

    /// The value at the place `index` of a last level.
    pub(crate) fn value(&self, last: u32, index: u32) -> Option<u32> {
        self.at(last, index & self.head[4])
    }

    /// The number of values of a last level.
    pub(crate) fn length(&self) -> Option<u32> {
        self.head[4].checked_add(1)
    }

    fn at(&self, offset: u32, index: u32) -> Option<u32> {
        word(self.table, (offset as usize).checked_add(4 * index as usize)?)
    }
}

/// The bytes before the first NUL.
pub(crate) fn until_nul<B: Byte>(bytes: &[B]) -> &[B] {
    bytes.split(|byte| byte.get() == 0).next().unwrap_or_default()
}

impl<'d, B: Byte> File<'d, B> {
    /// Takes the bytes for this category; `None` if they are not that.
    #[must_use]
    pub fn new(category: Category, bytes: &'d [B]) -> Option<File<'d, B>> {
        let fields = word(bytes, 4)? as usize;
        let header = fields.checked_mul(4)?.checked_add(8)?;
        (word(bytes, 0)? == category.magic() && header <= bytes.len()).then_some(File {
            category,
            bytes,
            fields,
        })
    }

    /// The bytes of a field, up to the beginning of the next one.
    #[must_use]
    pub fn field(&self, index: usize) -> Option<&'d [B]> {
        let start = self.offset(index)?;
        let end = self.offset(index + 1).unwrap_or(self.bytes.len());
        self.bytes.get(start..end)
    }

    /// A field that is a string.
    #[must_use]
    pub fn string(&self, index: usize) -> Option<&'d [B]> {
        self.field(index).map(until_nul)
    }

    /// The name of the charset for which the locale was compiled, if this category has it.
    #[must_use]
    pub fn codeset(&self) -> Option<Vec<u8>> {
        self.string(self.category.codeset()?).map(copy)
    }

    pub(crate) fn offset(&self, index: usize) -> Option<usize> {
        if index >= self.fields {
            return None;
        }
        word(self.bytes, 8 + 4 * index).map(|offset| offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_magic_and_a_whole_header_are_taken() {
        let mut bytes = std::vec::Vec::new();
        for number in [0x2003_1115u32 ^ 2, 2, 16, 20] {
            bytes.extend(number.to_ne_bytes());
        }
        bytes.extend(b"Mo\0\0Tu\0");
        let file = File::new(Category::Time, &bytes).unwrap();
        assert_eq!(file.string(0), Some(&b"Mo"[..]));
        assert_eq!(file.field(0), Some(&b"Mo\0\0"[..]));
        assert_eq!(file.string(1), Some(&b"Tu"[..]));
        assert_eq!(file.string(2), None);
        assert_eq!(file.codeset(), None);
        assert!(File::new(Category::Collate, &bytes).is_none());
        for length in 0..16 {
            assert!(File::new(Category::Time, &bytes[..length]).is_none());
        }
        bytes[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(File::new(Category::Time, &bytes).is_none());
    }
}
