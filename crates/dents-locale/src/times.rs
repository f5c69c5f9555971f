//! Names of months and days and formats of dates, from a compiled `LC_TIME`; month names aligned as a listing prints them.

use alloc::vec::Vec;

use crate::file::{Byte, Category, File, copy, word};

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
    /// The eras, a text for each, as `localedef` reads them (locale(5)); each ends with a NUL. Empty in most locales.
    pub eras: &'d [u8],
    /// The format `%Ex`; where it is empty, `%x` takes its place.
    pub era_date: &'d [u8],
    /// Numerals from 0 on, each ending with a NUL: for `%Od`. Empty in most locales.
    pub numerals: &'d [u8],
    /// Whether conversions of the user's format show numerals; those of the locale's own formats (`%x`) always do.
    pub has_numerals_alone: bool,
    /// The format `%Ec`; where it is empty, `%c` takes its place.
    pub era_date_time: &'d [u8],
    /// The format `%EX`; where it is empty, `%X` takes its place.
    pub era_time: &'d [u8],
    /// The names of months that stand alone, `%OB`, and short ones, `%Ob`; empty where they are those of `%B` and `%b`.
    pub alone: [[&'d [u8]; 12]; 2],
    /// How letters change their case, in the locale of `LC_CTYPE`; `None` where only those of ASCII do.
    pub case: Option<&'d Case>,
}

/// The bytes that are the upper and the lower case of each byte. In Turkish and its relatives an `i` has none.
#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    /// By byte: `toupper` of the C library.
    pub upper: [u8; 256],
    /// By byte: `tolower` of the C library.
    pub lower: [u8; 256],
}

impl Case {
    /// Takes the tables from the bytes of an `LC_CTYPE`; `None` if these are not that.
    #[must_use]
    pub fn new<B: Byte>(ctype: &[B]) -> Option<Case> {
        let file = File::new(Category::Ctype, ctype)?;
        // Numbers of 32 bits for the characters from -128 on.
        let table = |field| {
            let field = file.field(field)?;
            let mut table = [0; 256];
            for (byte, slot) in table.iter_mut().enumerate() {
                *slot = word(field, 4 * (128 + byte))?.to_ne_bytes().into_iter().max()?;
            }
            Some(table)
        };
        Some(Case { upper: table(1)?, lower: table(3)? })
    }
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
        eras: b"",
        era_date: b"",
        numerals: b"",
        has_numerals_alone: false,
        era_date_time: b"",
        era_time: b"",
        alone: [[b""; 12]; 2],
        case: None,
    };
}

/// The most that is read of an `LC_TIME`; the largest of glibc has 15 KB.
const MOST: usize = 1 << 16;
/// The number of the field with the eras.
const ERAS: usize = 7 + 7 + 12 + 12 + 2 + 4;
/// The number of the first field with the name of a month that stands alone.
const ALONE: usize = 111;

/// A year of an era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era<'d> {
    /// The name: `%EC`.
    pub name: &'d [u8],
    /// The format `%EY`.
    pub format: &'d [u8],
    /// The number of the year: `%Ey`.
    pub year: i64,
}

impl<'d> Era<'d> {
    /// The era of this text, if a date belongs to it: `direction:offset:start:end:name:format`, where a date is `2019/05/01`,
    /// or `-*` and `+*` for the ends of time.
    fn parse(text: &'d [u8], date: (i64, u32, u32)) -> Option<Era<'d>> {
        let mut fields = text.splitn(6, |byte| *byte == b':');
        let [direction, offset, start, end, name, format] = core::array::from_fn(|_| fields.next());
        let (start, end) = (era_date(start?)?, era_date(end?)?);
        if !(start <= date && date <= end || end <= date && date <= start) {
            return None;
        }
        let offset: i64 = core::str::from_utf8(offset?).ok()?.parse().ok()?;
        // With `+`, years count from the start towards the end.
        let forwards = (direction? == b"+") == (start <= end);
        let years = date.0.checked_sub(start.0)?;
        let year = offset.checked_add(if forwards { years } else { years.checked_neg()? })?;
        Some(Era { name: name?, format: format?, year })
    }
}

fn era_date(text: &[u8]) -> Option<(i64, u32, u32)> {
    match text {
        b"-*" => return Some((i64::from(i32::MIN), 0, 0)),
        b"+*" => return Some((i64::from(u32::MAX), 0, 0)),
        _ => {}
    }
    // In these texts the year before 1 is -1.
    let mut parts = core::str::from_utf8(text).ok()?.split('/');
    let year: i64 = parts.next()?.parse().ok()?;
    let year = if year < 0 { year + 1 } else { year };
    Some((year, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

impl<'d> TimeNames<'d> {
    /// Of the bytes of an `LC_TIME` those that [`new`](Self::new) looks at, to be copied for it: a third. The names of months
    /// that stand alone are not among them.
    #[must_use]
    pub fn part<B: Byte>(time: &[B]) -> &[B] {
        let fields = ERAS + 6;
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
        names.eras = file.field(ERAS).unwrap_or_default();
        names.numerals = file.field(ERAS + 3).unwrap_or_default();
        for (slot, index) in
            [(&mut names.era_date, 2), (&mut names.era_date_time, 4), (&mut names.era_time, 5)]
        {
            *slot = file.string(ERAS + index).unwrap_or_default();
        }
        Some(names)
    }

    /// The names of months that stand alone, and the short ones, from all bytes of an `LC_TIME`: for [`alone`](Self::alone).
    #[must_use]
    pub fn months_alone<B: Byte>(time: &[B]) -> Option<[[Vec<u8>; 12]; 2]> {
        let file = File::new(Category::Time, time)?;
        let names =
            |first| core::array::from_fn(|month| file.string(first + month).map_or_else(Vec::new, copy));
        Some([names(ALONE), names(ALONE + 24)])
    }

    /// The numeral of a number, if the locale has one.
    #[must_use]
    pub fn numeral(&self, number: i64) -> Option<&'d [u8]> {
        let nth = usize::try_from(number).ok()?;
        self.numerals.split(|byte| *byte == 0).nth(nth).filter(|numeral| !numeral.is_empty())
    }

    /// The era of a date: year (0 is 1 BC), month and day.
    #[must_use]
    pub fn era(&self, date: (i64, u32, u32)) -> Option<Era<'d>> {
        self.eras.split(|byte| *byte == 0).find_map(|text| Era::parse(text, date))
    }

    /// The names padded with spaces to the width of the widest. A name that begins with a digit (`1月`) is padded on its left, another
    /// one on its right, as in GNU `ls`. `width` returns the columns of a name.
    #[must_use]
    pub fn aligned_months(&self, width: &dyn Fn(&[u8]) -> usize) -> [Vec<u8>; 12] {
        let widest = self.short_months.map(width).into_iter().max().unwrap_or(0);
        self.short_months.map(|name| {
            let spaces = core::iter::repeat_n(b' ', widest - width(name));
            let is_number = name.first().is_some_and(u8::is_ascii_digit);
            let name = name.iter().copied();
            if is_number { spaces.chain(name).collect() } else { name.chain(spaces).collect() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn aligned(names: [&str; 12], utf8: bool) -> Vec<String> {
        let width = |name: &[u8]| {
            let text = core::str::from_utf8(name).ok().filter(|_| utf8);
            text.map_or(name.len(), |text| text.chars().map(|char| 1 + usize::from(char > '\u{2e80}')).sum())
        };
        let short_months = names.map(str::as_bytes);
        let names = TimeNames { short_months, ..TimeNames::C }.aligned_months(&width);
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
    fn wide_names_are_whole_and_each_has_its_side() {
        let mut names = ["Jan"; 12];
        (names[0], names[1]) = ("januaryjanuary", "2");
        let aligned = aligned(names, true);
        assert_eq!((&*aligned[0], &*aligned[1]), ("januaryjanuary", "             2"));
    }

    #[test]
    fn other_bytes_have_no_months() {
        assert!(TimeNames::new(b"").is_none());
        assert!(TimeNames::new(&[0; 400]).is_none());
    }
}
