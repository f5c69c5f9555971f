//! Names of months and days and formats of dates, from a compiled `LC_TIME`; month names aligned as a listing prints them.

use alloc::vec::Vec;

use crate::file::{Byte, Category, File};

/// GNU `ls` cuts month names at this many columns.
const MAX_WIDTH: usize = 12;

/// Names and formats of dates and times, in the locale's charset. Field by field as `langinfo.h` numbers them from
/// `ABDAY_1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeNames<'d> {
    /// Abbreviated names of the days, Sunday first: `%a`.
    pub short_days: [&'d [u8]; 7],
    /// Names of the days: `%A`.
    pub days: [&'d [u8]; 7],
    /// Abbreviated names of the months, January first: `%h`, and aligned `%b`.
    pub short_months: [&'d [u8]; 12],
    /// Names of the months: `%B`.
    pub months: [&'d [u8]; 12],
    /// Before and after noon: `%p`; empty where the clock has 24 hours.
    pub half_days: [&'d [u8]; 2],
    /// The format `%c`.
    pub date_time: &'d [u8],
    /// The format `%x`.
    pub date: &'d [u8],
    /// The format `%X`.
    pub time: &'d [u8],
    /// The format `%r`; empty where the clock has 24 hours.
    pub time_12: &'d [u8],
}

impl TimeNames<'static> {
    /// Those of the C locale.
    pub const C: TimeNames<'static> = TimeNames {
        short_days: [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"],
        days: [b"Sunday", b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday"],
        short_months: [
            b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
        ],
        months: [
            b"January",
            b"February",
            b"March",
            b"April",
            b"May",
            b"June",
            b"July",
            b"August",
            b"September",
            b"October",
            b"November",
            b"December",
        ],
        half_days: [b"AM", b"PM"],
        date_time: b"%a %b %e %H:%M:%S %Y",
        date: b"%m/%d/%y",
        time: b"%H:%M:%S",
        time_12: b"%I:%M:%S %p",
    };
}

/// The most that is read of an `LC_TIME`; the largest of glibc has 15 KB.
const MOST: usize = 1 << 16;

impl<'d> TimeNames<'d> {
    /// Of the bytes of an `LC_TIME` those that [`new`](Self::new) looks at, to be copied for it: a third.
    #[must_use]
    pub fn part<B: Byte>(time: &[B]) -> &[B] {
        let fields = 7 + 7 + 12 + 12 + 2 + 4;
        let end = File::new(Category::Time, time).and_then(|file| file.offset(fields));
        &time[..end.unwrap_or(MOST).min(MOST).min(time.len())]
    }

    /// Takes the names from the bytes of an `LC_TIME`; `None` if these are not that.
    #[must_use]
    pub fn new(time: &'d [u8]) -> Option<TimeNames<'d>> {
        let file = File::new(Category::Time, time)?;
        let mut fields = (0..).map_while(|index| file.string(index));
        let mut names = TimeNames::C;
        let slots = (names.short_days.iter_mut())
            .chain(&mut names.days)
            .chain(&mut names.short_months)
            .chain(&mut names.months)
            .chain(&mut names.half_days)
            .chain([&mut names.date_time, &mut names.date, &mut names.time, &mut names.time_12]);
        for slot in slots {
            *slot = fields.next()?;
        }
        Some(names)
    }

    /// The names padded with spaces to the width of the widest, at most 12 columns: longer ones are cut. Names that
    /// begin with a digit (`1月`) are padded on their left, others on their right, as in GNU `ls`; the name of January
    /// decides for all twelve.
    ///
    /// `width` returns the columns of a character; without UTF-8 each byte has one.
    #[must_use]
    pub fn aligned_months(&self, utf8: bool, width: &dyn Fn(char) -> usize) -> [Vec<u8>; 12] {
        let cut = self.short_months.map(|name| cut(name, utf8, width));
        let widest = cut.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
        let right = self.short_months[0].first().is_some_and(u8::is_ascii_digit);
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
        let short_months = names.map(str::as_bytes);
        let names = TimeNames { short_months, ..TimeNames::C }.aligned_months(utf8, &wide);
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
        let mut names = ["Jan"; 12];
        names[0] = "januaryjanuary";
        assert_eq!(aligned(names, true)[0], "januaryjanua");
        assert_eq!(aligned(names, false)[0], "januaryjanua");
        names[0] = "a一二三四五六";
        assert_eq!(aligned(names, true)[0], "a一二三四五");
    }

    #[test]
    fn other_bytes_have_no_months() {
        assert!(TimeNames::new(b"").is_none());
        assert!(TimeNames::new(&[0; 400]).is_none());
    }
}
