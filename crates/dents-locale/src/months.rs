//! Abbreviated month names from a compiled `LC_TIME`, aligned as a listing prints them.

use alloc::vec::Vec;

use crate::C_MONTHS;
use crate::file::{Category, File};

/// The field of January's abbreviation (`ABMON_1`); the other months follow.
const ABMON_1: usize = 14;
/// GNU `ls` cuts month names at this many columns.
const MAX_WIDTH: usize = 12;

/// Abbreviated month names, January first, in the locale's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthNames<'d>([&'d [u8]; 12]);

impl Default for MonthNames<'_> {
    /// Those of the C locale.
    fn default() -> Self {
        MonthNames(C_MONTHS.map(str::as_bytes))
    }
}

impl<'d> MonthNames<'d> {
    /// Takes the names from the bytes of an `LC_TIME`; `None` if these are not that.
    #[must_use]
    pub fn new(time: &'d [u8]) -> Option<MonthNames<'d>> {
        let file = File::new(Category::Time, time)?;
        let mut names: [&[u8]; 12] = [&[]; 12];
        for (name, field) in names.iter_mut().zip(ABMON_1..) {
            *name = file.string(field)?;
        }
        Some(MonthNames(names))
    }

    /// The names as they are.
    #[must_use]
    pub fn names(&self) -> [&'d [u8]; 12] {
        self.0
    }

    /// The names padded with spaces to the columns of the widest, which is 12 at most: longer ones are cut. Names that
    /// begin with a digit (`1月`) are padded on their left, others on their right, as in GNU `ls`; one rule for all
    /// twelve, chosen by January's.
    ///
    /// `width` says how many columns a character takes; without UTF-8 each byte takes one.
    #[must_use]
    pub fn aligned(&self, utf8: bool, width: &dyn Fn(char) -> usize) -> [Vec<u8>; 12] {
        let cut = self.0.map(|name| cut(name, utf8, width));
        let widest = cut.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
        let right = self.0[0].first().is_some_and(u8::is_ascii_digit);
        cut.map(|(name, columns)| {
            let spaces = core::iter::repeat_n(b' ', widest - columns);
            let name = name.iter().copied();
            if right { spaces.chain(name).collect() } else { name.chain(spaces).collect() }
        })
    }
}

/// As much of a name as `MAX_WIDTH` columns hold, and how many it takes of them.
fn cut<'a>(name: &'a [u8], utf8: bool, width: &dyn Fn(char) -> usize) -> (&'a [u8], usize) {
    let Some(text) = core::str::from_utf8(name).ok().filter(|_| utf8) else {
        let length = name.len().min(MAX_WIDTH);
        return (&name[..length], length);
    };
    let mut columns = 0;
    for (at, character) in text.char_indices() {
        let more = columns + width(character);
        if more > MAX_WIDTH {
            return (&name[..at], columns);
        }
        columns = more;
    }
    (name, columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn aligned(names: [&str; 12], utf8: bool) -> Vec<String> {
        let wide = |character: char| if character > '\u{2e80}' { 2 } else { 1 };
        let names = MonthNames(names.map(str::as_bytes)).aligned(utf8, &wide);
        names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
    }

    #[test]
    fn padded_by_columns_to_the_widest() {
        let names = [
            "janv.", "févr.", "mars", "avril", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.",
            "déc.",
        ];
        let padded = aligned(names, true);
        assert_eq!(padded[1], "févr.");
        assert_eq!(padded[7], "août ");
        assert_eq!(padded[4], "mai  ");
    }

    #[test]
    fn numbers_are_padded_on_their_left() {
        let names = ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"];
        let padded = aligned(names, true);
        assert_eq!((padded[0].as_str(), padded[9].as_str()), (" 1月", "10月"));
    }

    #[test]
    fn what_is_too_wide_is_cut() {
        let mut names = C_MONTHS;
        names[0] = "januaryjanuary";
        assert_eq!(aligned(names, true)[0], "januaryjanua");
        assert_eq!(aligned(names, false)[0], "januaryjanua");
        names[0] = "a一二三四五六";
        assert_eq!(aligned(names, true)[0], "a一二三四五");
    }

    #[test]
    fn other_bytes_have_no_months() {
        assert!(MonthNames::new(b"").is_none());
        assert!(MonthNames::new(&[0; 400]).is_none());
        assert_eq!(MonthNames::default().names()[11], b"Dec");
    }
}
