//! Which bytes are a character, as far as a listing must know it: the charset of a compiled `LC_CTYPE`.

use crate::file::{Byte, Category, File, word};
use crate::name::normalized;

/// The charset of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// Every byte is a character, and only those of ASCII can be printed.
    #[default]
    Ascii,
    /// UTF-8.
    Utf8,
    /// Every byte is a character. Bit `n` tells whether byte `0x80 + n` can be printed.
    Bytes(u128),
    /// A character has up to four bytes, the first of them above ASCII.
    Multibyte(Multibyte),
}

/// The charsets of several bytes that locales of glibc have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multibyte {
    /// Traditional Chinese.
    Big5,
    /// The same with Hong Kong's characters.
    Big5Hkscs,
    /// Simplified Chinese: GB2312.
    EucCn,
    /// Japanese.
    EucJp,
    /// Korean.
    EucKr,
    /// Traditional Chinese: CNS 11643.
    EucTw,
    /// Chinese.
    Gbk,
    /// All of Unicode, compatible with GBK.
    Gb18030,
}

impl Charset {
    /// The charset of the bytes of an `LC_CTYPE`; `None` if these are not that.
    #[must_use]
    pub fn new<B: Byte>(ctype: &[B]) -> Option<Charset> {
        /// The numbers of fields, as `langinfo.h` counts them.
        const CLASSES: usize = 0;
        const LONGEST: usize = 13;
        let file = File::new(Category::Ctype, ctype)?;
        Some(match &normalized(&file.codeset()?)[..] {
            b"utf8" => Charset::Utf8,
            b"big5" => Charset::Multibyte(Multibyte::Big5),
            b"big5hkscs" => Charset::Multibyte(Multibyte::Big5Hkscs),
            b"gb2312" => Charset::Multibyte(Multibyte::EucCn),
            b"eucjp" => Charset::Multibyte(Multibyte::EucJp),
            b"euckr" => Charset::Multibyte(Multibyte::EucKr),
            b"euctw" => Charset::Multibyte(Multibyte::EucTw),
            b"gbk" => Charset::Multibyte(Multibyte::Gbk),
            b"gb18030" => Charset::Multibyte(Multibyte::Gb18030),
            // Of other charsets of several bytes only ASCII is known.
            _ if word(file.field(LONGEST)?, 0)? != 1 => Charset::Ascii,
            _ => printable(file.field(CLASSES)?).map_or(Charset::Ascii, Charset::Bytes),
        })
    }

    /// Whether it is UTF-8.
    #[must_use]
    pub fn is_utf8(self) -> bool {
        self == Charset::Utf8
    }

    /// Whether a character may have several bytes.
    #[must_use]
    pub fn is_multibyte(self) -> bool {
        matches!(self, Charset::Utf8 | Charset::Multibyte(_))
    }
}

/// Which bytes above ASCII can be printed: those with the bit of `isprint` in a table of classes, which has 16 bits for each
/// of the characters from -128 on. The bits are in the same place of memory in either order of bytes.
fn printable<B: Byte>(classes: &[B]) -> Option<u128> {
    const PRINT: u8 = 0x40;
    (0..128).try_fold(0, |bits, nth| {
        let class = classes.get(2 * (128 + 128 + nth) + 1)?.get();
        Some(bits | u128::from(class & PRINT != 0) << nth)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_data_tell_the_charset() {
        assert_eq!(Charset::new(&testing::ctype("UTF-8")), Some(Charset::Utf8));
        let japanese = Charset::new(&testing::ctype("EUC-JP"));
        assert_eq!(japanese, Some(Charset::Multibyte(Multibyte::EucJp)));
        assert_eq!(Charset::new(&testing::ctype("ISO-8859-1")), Some(Charset::Bytes(u128::MAX << 32)));
        assert_eq!(Charset::new(b"nothing"), None);
        let whole = testing::ctype("ISO-8859-1");
        for length in 0..whole.len() {
            let _ = Charset::new(&whole[..length]);
        }
    }
}
