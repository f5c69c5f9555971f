//! Characters that a terminal does not show, or with which a text looks like another one.
//!
//! glibc calls them printable, so GNU's format writes them raw, and so does ours. Everywhere else names with them are escaped
//! ([`Quoter::and_invisible`](crate::quote::Quoter::and_invisible)). The set is that of Unicode's general categories `Cf` (format), `Zl` and
//! `Zp` (separators of lines and paragraphs), and of the four blank letters of Hangul; without `Cf` characters that have a glyph
//! (`Prepended_Concatenation_Mark`). Both joiners stay between two characters from U+0590 on, where Persian, Indic scripts and emoji need
//! them. Variation selectors stay: they belong to the character before them.

/// First and last characters, in order: Unicode 16.
const RANGES: [(u32, u32); 17] = [
    (0xad, 0xad),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x2064),
    (0x2066, 0x206f),
    (0x3164, 0x3164),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff9, 0xfffb),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
];
/// ZERO WIDTH NON-JOINER and ZERO WIDTH JOINER.
const JOINERS: core::ops::RangeInclusive<u32> = 0x200c..=0x200d;
/// The first character of the scripts that are joined: Hebrew, Arabic, and all behind them.
const JOINED: u32 = 0x590;

/// Whether a character is one of these.
#[must_use]
pub fn is_invisible(char: char) -> bool {
    let char = u32::from(char);
    RANGES.iter().any(|(first, last)| (*first..=*last).contains(&char))
}

/// Whether a character whose UTF-8 begins with this byte can be one of these: most letters of most scripts are passed over by it.
const fn may_begin(byte: u8) -> bool {
    matches!(byte, 0xc2 | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3)
}

/// Whether the character of `len` bytes at `at`, which is valid UTF-8, must be escaped there.
#[must_use]
pub fn must_escape(text: &[u8], at: usize, len: usize) -> bool {
    if !text.get(at).is_some_and(|byte| may_begin(*byte)) {
        return false;
    }
    let Some(char) = first(&text[at..at + len]) else { return false };
    if !is_invisible(char) {
        return false;
    }
    let joins =
        |char: Option<char>| char.is_some_and(|char| u32::from(char) >= JOINED && !is_invisible(char));
    !(JOINERS.contains(&u32::from(char)) && joins(last(&text[..at])) && joins(first(&text[at + len..])))
}

/// The first character of a text that begins with UTF-8.
fn first(text: &[u8]) -> Option<char> {
    text.get(..text.len().min(4))?.utf8_chunks().next()?.valid().chars().next()
}

/// The last character of a text that ends with UTF-8.
fn last(text: &[u8]) -> Option<char> {
    let begin = (1..=text.len().min(4)).map(|back| text.len() - back).find(|at| text[*at] & 0xc0 != 0x80)?;
    first(&text[begin..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_first_byte() {
        let mut room = [0; 4];
        for char in ('\0'..=char::MAX).filter(|char| is_invisible(*char)) {
            let text = char.encode_utf8(&mut room).as_bytes();
            assert!(must_escape(text, 0, text.len()), "{}", char.escape_unicode());
        }
    }
}
