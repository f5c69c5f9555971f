//! Formats of `strftime`, with the flags that GNU adds. A format is compiled once and executed for each entry.

use super::civil::Civil;
use crate::number::{Text, pair};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use dents_locale::TimeNames;

/// The names of months and days.
#[derive(Clone, Debug)]
pub(super) struct CalendarNames<'s> {
    /// The names of the locale.
    pub names: TimeNames<'s>,
    /// Abbreviated months, all with the width of the widest: `%b`.
    pub months: [Cow<'s, [u8]>; 12],
    /// Whether conversions are those of the C library: its years have no leading zeros, and years before 0 belong to
    /// the century below.
    pub library: bool,
}

impl CalendarNames<'_> {
    /// The same for conversions that GNU leaves to the C library. GNU aligns only months of a `%b` in the format
    /// itself.
    fn of_library(&self) -> CalendarNames<'_> {
        CalendarNames { names: self.names, months: self.names.short_months.map(Cow::Borrowed), library: true }
    }

    fn make_uppercase(&self, text: &mut [u8]) {
        match self.names.case {
            Some(case) => text.iter_mut().for_each(|byte| *byte = case.upper[usize::from(*byte)]),
            None => text.make_ascii_uppercase(),
        }
    }

    fn make_lowercase(&self, text: &mut [u8]) {
        match self.names.case {
            Some(case) => text.iter_mut().for_each(|byte| *byte = case.lower[usize::from(*byte)]),
            None => text.make_ascii_lowercase(),
        }
    }
}

/// A point in time, in its zone.
pub(super) struct Moment<'a> {
    pub civil: Civil,
    /// Seconds since the epoch.
    pub second: i64,
    pub nanosecond: u32,
    /// Seconds east of UTC.
    pub offset: i32,
    /// The zone's abbreviation.
    pub zone: &'a [u8],
}

impl Moment<'_> {
    /// Whether its offset has a minus sign. As in GNU, a zone without a name of its own (`-00`) has the offset minus
    /// 0.
    fn is_west(&self) -> bool {
        self.offset < 0 || self.offset == 0 && self.zone.starts_with(b"-")
    }

    /// The number that a conversion shows, if it shows one that a numeral can replace.
    fn number(&self, letter: u8) -> Option<i64> {
        let civil = &self.civil;
        let monday_based = (civil.weekday + 6) % 7;
        Some(match letter {
            b'C' => of_int(civil.year).div_euclid(100),
            b'y' => civil.year.rem_euclid(100),
            b'G' => of_int(civil.iso_week().0),
            b'g' => of_int(civil.iso_week().0).rem_euclid(100),
            b'd' | b'e' => i64::from(civil.day),
            b'H' | b'k' => i64::from(civil.hour),
            b'I' | b'l' => i64::from((civil.hour + 11) % 12 + 1),
            b'j' => i64::from(civil.yearday) + 1,
            b'm' => i64::from(civil.month),
            b'M' => i64::from(civil.minute),
            b'S' => i64::from(civil.second),
            b'u' => i64::from(monday_based + 1),
            b'w' => i64::from(civil.weekday),
            b'U' => i64::from((civil.yearday + 7 - civil.weekday) / 7),
            b'W' => i64::from((civil.yearday + 7 - monday_based) / 7),
            b'V' => i64::from(civil.iso_week().1),
            _ => return None,
        })
    }
}

/// The C library counts years in an `int`: after the last of them come the first.
fn of_int(year: i64) -> i64 {
    i64::from(year as i32)
}

/// What a locale has in place of a number.
enum OfLocale<'l> {
    Text(&'l [u8]),
    Signed(&'static [u8], &'l [u8]),
    Year(i64),
}

/// One conversion, `%_10Y`: flag, width, and the letter.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    letter: u8,
    /// Whether there are no flags, no width and no modifier.
    plain: bool,
    /// `E` or `O`; 0 for none.
    modifier: u8,
    /// `_`, `-`, `0` or `+`; 0 for none.
    pad: u8,
    upper: bool,
    /// `#`: changes the case.
    swap: bool,
    width: usize,
    colons: usize,
}

#[derive(Clone, Debug)]
enum Item {
    Byte(u8),
    Spec(Spec),
}

/// A compiled format.
#[derive(Clone, Debug)]
pub(super) struct Format {
    items: Vec<Item>,
    /// The number of items, from the first, whose text is the same for a whole minute.
    pub steady: usize,
}

impl Format {
    pub(super) fn new(text: &[u8]) -> Format {
        let mut items = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mut len = 1;
            if rest[0] != b'%' {
                items.push(Item::Byte(rest[0]));
            } else {
                let spec = Spec::parse(rest, &mut len);
                if spec.letter == 0 {
                    let mut text = rest[..len].to_vec();
                    spec.widen(&mut text, 0);
                    if spec.upper {
                        text.make_ascii_uppercase();
                    }
                    items.extend(text.into_iter().map(Item::Byte));
                } else {
                    items.push(Item::Spec(spec));
                }
            }
            rest = &rest[len..];
        }
        let moves = |item: &Item| matches!(item, Item::Spec(spec) if b"NSsTcrX".contains(&spec.letter));
        let steady = items.iter().position(moves).unwrap_or(items.len());
        Format { items, steady }
    }

    /// Whether nothing in it changes within a minute.
    pub(super) fn is_steady(&self) -> bool {
        self.steady == self.items.len()
    }

    /// Appends the steady items, or the others.
    pub(super) fn write(
        &self,
        moment: &Moment<'_>,
        names: &CalendarNames<'_>,
        steady: bool,
        out: &mut Vec<u8>,
    ) {
        let items = if steady { &self.items[..self.steady] } else { &self.items[self.steady..] };
        for item in items {
            match item {
                Item::Byte(byte) => out.push(*byte),
                Item::Spec(spec) if spec.plain => spec.write_plain(moment, names, out),
                Item::Spec(spec) => spec.write(moment, names, out),
            }
        }
    }
}

impl Spec {
    /// The conversion at the beginning of `text`, and its length. As in GNU, an invalid conversion keeps its flags
    /// and width, has no letter, and is written as it is, padded.
    fn parse(text: &[u8], len: &mut usize) -> Spec {
        let mut spec = Spec::default();
        let mut at = 1;
        while let Some(flag) = text.get(at) {
            match flag {
                b'_' | b'-' | b'0' | b'+' => spec.pad = *flag,
                b'^' => spec.upper = true,
                b'#' => spec.swap = true,
                _ => break,
            }
            at += 1;
        }
        let mut width = 0_u64;
        while let Some(digit @ b'0'..=b'9') = text.get(at) {
            width = width.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            at += 1;
        }
        // No listing needs a greater width.
        spec.width = width.min(1 << 10) as usize;
        if width > i64::MAX as u64 {
            // An error in GNU 9.10, where the flag `-` would hide it: as a time that is too long, it is shown as seconds.
            spec.pad = b'_';
        }
        let modifier = text.get(at).copied().filter(|byte| matches!(byte, b'E' | b'O'));
        spec.modifier = modifier.unwrap_or(0);
        at += usize::from(modifier.is_some());
        let colons = text[at..].iter().take_while(|byte| **byte == b':').count();
        if text.get(at + colons) == Some(&b'z') {
            spec.colons = colons;
            at += colons;
        }
        // A percent sign ends an invalid conversion, and may begin the next one.
        let letter = text.get(at).copied().unwrap_or(0);
        *len = if letter == 0 || (letter == b'%' && at > 1) { at } else { at + 1 };
        let known = match modifier {
            None => &b"%aAbBcCdDeFgGhHIjklmMnNpPqrRsSTtuUVwWxXyYzZ"[..],
            Some(b'E') => b"CcnpPqrRsTtuxXyYzZ",
            Some(_) => b"bBCdeghGHIjklmMnNpPqrRsSTtuUVwWyYzZ",
        };
        if known.contains(&letter) && spec.colons <= 3 && *len > at {
            spec.letter = letter;
        } else {
            // For these two, GNU handles `#` before it finds that they take no `E`.
            spec.upper |= spec.swap && matches!(letter, b'b' | b'h');
        }
        let unchanged = !spec.upper && !spec.swap && spec.width == 0;
        spec.plain = spec.pad == 0 && unchanged && modifier.is_none() && spec.colons == 0;
        spec
    }

    /// The conversions of the usual styles, without flags: the same as [`Spec::write`], and faster.
    fn write_plain(&self, moment: &Moment<'_>, names: &CalendarNames<'_>, out: &mut Vec<u8>) {
        let civil = &moment.civil;
        let two = match self.letter {
            b'm' => civil.month,
            b'd' => civil.day,
            b'H' => civil.hour,
            b'M' => civil.minute,
            b'S' => civil.second,
            b'e' if civil.day < 10 => return out.extend_from_slice(&[b' ', b'0' + civil.day as u8]),
            b'e' => civil.day,
            b'b' => return out.extend_from_slice(&names.months[civil.month as usize - 1]),
            b'Y' if (1_000..10_000).contains(&civil.year) => {
                let [century, year] = [civil.year as u32 / 100, civil.year as u32 % 100].map(pair);
                return out.extend_from_slice(&[century[0], century[1], year[0], year[1]]);
            }
            _ => return self.write(moment, names, out),
        };
        out.extend_from_slice(&pair(two));
    }

    fn write(&self, moment: &Moment<'_>, names: &CalendarNames<'_>, out: &mut Vec<u8>) {
        if self.is_of_library(moment, names) {
            return self.write_library(moment, names, out);
        }
        let civil = &moment.civil;
        let hour12 = (civil.hour + 11) % 12 + 1;
        let month = civil.month as usize - 1;
        match self.letter {
            b'Y' => self.year(out, civil.year, names),
            b'm' => self.two(out, civil.month, b'0'),
            b'd' => self.two(out, civil.day, b'0'),
            b'e' => self.two(out, civil.day, b'_'),
            b'H' => self.two(out, civil.hour, b'0'),
            b'M' => self.two(out, civil.minute, b'0'),
            b'S' => self.two(out, civil.second, b'0'),
            b'N' => self.nanoseconds(out, moment.nanosecond),
            b'b' | b'h' => self.month(out, month, 1, names),
            b'B' => self.month(out, month, 0, names),
            b'a' => self.text(out, names.names.short_days[civil.weekday as usize], true, names),
            b'A' => self.text(out, names.names.days[civil.weekday as usize], true, names),
            b'p' | b'P' => self.half_of_day(out, civil.hour >= 12, names),
            b'Z' => self.text(out, moment.zone, false, names),
            b'z' => self.offset(out, moment),
            b'k' => self.two(out, civil.hour, b'_'),
            b'l' => self.two(out, hour12, b'_'),
            b'I' => self.two(out, hour12, b'0'),
            b'j' => self.number(out, i64::from(civil.yearday) + 1, 3, b'0'),
            b'q' => self.number(out, i64::from(civil.month + 2) / 3, 1, b'0'),
            b's' => self.number(out, moment.second, 1, b'0'),
            b'u' => self.number(out, i64::from((civil.weekday + 6) % 7 + 1), 1, b'0'),
            b'w' => self.number(out, i64::from(civil.weekday), 1, b'0'),
            b'U' => self.two(out, (civil.yearday + 7 - civil.weekday) / 7, b'0'),
            b'W' => self.two(out, (civil.yearday + 7 - (civil.weekday + 6) % 7) / 7, b'0'),
            b'V' => self.two(out, civil.iso_week().1, b'0'),
            b'G' => self.year(out, civil.iso_week().0, names),
            b'g' if names.library => self.number(out, of_int(civil.iso_week().0).rem_euclid(100), 2, b'0'),
            b'g' => self.year_of_century(out, civil.iso_week().0, names),
            b'C' if names.library => self.number(out, of_int(civil.year).div_euclid(100), 1, b'0'),
            b'C' => self.signed(out, civil.year < 0, civil.year.unsigned_abs() / 100, 2, b'0'),
            b'y' => self.year_of_century(out, civil.year, names),
            b'F' => self.iso_date(out, civil, names),
            b'D' => self.american_date(out, civil, names),
            b'n' => self.text(out, b"\n", false, names),
            b't' => self.text(out, b"\t", false, names),
            _ => out.push(b'%'),
        }
    }

    /// Whether GNU leaves this conversion to the C library: if it depends on the locale, and with `O` if it is a
    /// number that is not negative, in a locale where that has numerals. (9.7 did so in all locales, and lost flags.)
    fn is_of_library(&self, moment: &Moment<'_>, names: &CalendarNames<'_>) -> bool {
        let negative = match self.letter {
            b'C' => moment.civil.year < 0,
            b'G' => moment.civil.iso_week().0 < 0,
            b'z' => moment.is_west(),
            _ => false,
        };
        match self.modifier {
            b'O' if b"CdegGHIjklmMSuUVwWyz".contains(&self.letter) => {
                !negative && self.colons == 0 && (names.library || names.names.has_numerals_alone)
            }
            b'E' if b"CyY".contains(&self.letter) => true,
            _ => b"cxXrTR".contains(&self.letter),
        }
    }

    /// Writes the text of the C library. GNU passes it neither flags nor width, and pads its text as a word.
    #[cold]
    fn write_library(&self, moment: &Moment<'_>, names: &CalendarNames<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        let locale = &names.names;
        let library = names.of_library();
        match (self.format_of_library(moment, locale), self.of_locale(moment, locale)) {
            (Some(format), _) => {
                let format = Format::new(format);
                format.write(moment, &library, true, out);
                format.write(moment, &library, false, out);
            }
            (None, Some(OfLocale::Text(text))) => out.extend_from_slice(text),
            (None, Some(OfLocale::Signed(sign, text))) => out.extend_from_slice(&[sign, text].concat()),
            (None, Some(OfLocale::Year(year))) => Spec::default().number(out, year, 2, b'0'),
            (None, None) => Spec { letter: self.letter, ..Spec::default() }.write(moment, &library, out),
        }
        self.finish(out, start, names);
    }

    /// The format that the C library has for this conversion.
    fn format_of_library<'l>(&self, moment: &Moment<'_>, locale: &TimeNames<'l>) -> Option<&'l [u8]> {
        let era = self.modifier == b'E';
        let of_era = |format: &'l [u8], usual| if era && !format.is_empty() { format } else { usual };
        Some(match self.letter {
            b'c' => of_era(locale.era_date_time, locale.date_time),
            b'x' => of_era(locale.era_date, locale.date),
            b'X' => of_era(locale.era_time, locale.time),
            b'T' => b"%H:%M:%S",
            b'R' => b"%H:%M",
            b'r' if locale.time_12.is_empty() => b"%I:%M:%S %p",
            b'r' => locale.time_12,
            b'Y' if era => locale.era(moment.civil.date())?.format,
            _ => return None,
        })
    }

    /// The year of an era, its name, or a numeral of the locale.
    fn of_locale<'l>(&self, moment: &Moment<'_>, locale: &TimeNames<'l>) -> Option<OfLocale<'l>> {
        match (self.modifier, self.letter) {
            (b'E', b'C') => Some(OfLocale::Text(locale.era(moment.civil.date())?.name)),
            (b'E', b'y') => Some(OfLocale::Year(of_int(locale.era(moment.civil.date())?.year))),
            (b'O', b'z') => {
                let minutes = moment.offset.unsigned_abs() / 60;
                let numeral = locale.numeral(i64::from(minutes / 60 * 100 + minutes % 60))?;
                Some(OfLocale::Signed(if moment.is_west() { b"-" } else { b"+" }, numeral))
            }
            (b'O', _) => locale.numeral(moment.number(self.letter)?).map(OfLocale::Text),
            _ => None,
        }
    }

    fn year(&self, out: &mut Vec<u8>, year: i64, names: &CalendarNames<'_>) {
        if names.library {
            self.number(out, of_int(year), 1, b'0');
        } else {
            self.number(out, year, 4, b'0');
        }
    }

    fn year_of_century(&self, out: &mut Vec<u8>, year: i64, names: &CalendarNames<'_>) {
        let year = if names.library { year.rem_euclid(100) } else { year.abs() % 100 };
        self.number(out, year, 2, b'0');
    }

    /// `%F`: flags and width apply to the year, which gets the width that the rest leaves.
    fn iso_date(&self, out: &mut Vec<u8>, civil: &Civil, names: &CalendarNames<'_>) {
        let (pad, width) = match (self.pad, self.width) {
            (0, 0) => (b'+', 4),
            (pad, width) => (pad, width.saturating_sub(b"-mm-dd".len()).max(1)),
        };
        Spec { letter: b'Y', pad, width, ..Spec::default() }.year(out, civil.year, names);
        let [month, day] = [civil.month, civil.day].map(pair);
        out.extend_from_slice(&[b'-', month[0], month[1], b'-', day[0], day[1]]);
    }

    /// `%D`: flags apply to the year.
    fn american_date(&self, out: &mut Vec<u8>, civil: &Civil, names: &CalendarNames<'_>) {
        let start = out.len();
        let [month, day] = [civil.month, civil.day].map(pair);
        out.extend_from_slice(&[month[0], month[1], b'/', day[0], day[1], b'/']);
        Spec { letter: b'y', pad: self.pad, ..Spec::default() }.year_of_century(out, civil.year, names);
        self.widen(out, start);
    }

    fn two(&self, out: &mut Vec<u8>, n: u32, pad: u8) {
        if self.pad == 0 && self.width == 0 && pad == b'0' {
            out.extend_from_slice(&pair(n));
        } else {
            self.number(out, i64::from(n), 2, pad);
        }
    }

    fn number(&self, out: &mut Vec<u8>, n: i64, digits: usize, pad: u8) {
        self.signed(out, n < 0, n.unsigned_abs(), digits, pad);
    }

    /// A number of at least `digits` characters, its sign among them. (There is a century -0.)
    fn signed(&self, out: &mut Vec<u8>, negative: bool, n: u64, digits: usize, pad: u8) {
        let pad = if self.pad == 0 { pad } else { self.pad };
        let width = match pad {
            b'-' => 0,
            _ if self.width > 0 => self.width,
            _ => digits,
        };
        let text = Text::number(n);
        // `%+4Y` marks years of more than four digits, ISO 8601's expanded form.
        let expanded = text.len() > digits || width > digits;
        let sign: &[u8] = if negative {
            b"-"
        } else if pad == b'+' && expanded && b"CgGyY".contains(&self.letter) {
            b"+"
        } else {
            b""
        };
        let missing = width.saturating_sub(sign.len() + text.len());
        if pad == b'_' {
            out.resize(out.len() + missing, b' ');
            out.extend_from_slice(sign);
        } else {
            out.extend_from_slice(sign);
            out.resize(out.len() + missing, b'0');
        }
        out.extend_from_slice(text.as_bytes());
    }

    /// The first digits of the fraction of a second, nine without a width. `-` removes the zeros at the end, `_`
    /// replaces them by spaces.
    fn nanoseconds(&self, out: &mut Vec<u8>, nanosecond: u32) {
        let digits = if self.width == 0 { 9 } else { self.width };
        let start = out.len();
        let mut fraction = [b'0'; 9];
        let text = Text::number(u64::from(nanosecond));
        fraction[9 - text.len().min(9)..].copy_from_slice(text.as_bytes());
        out.extend_from_slice(&fraction[..digits.min(9)]);
        if !matches!(self.pad, b'-' | b'_') {
            return out.resize(start + digits, b'0');
        }
        while out.len() > start + 1 && out.ends_with(b"0") {
            out.pop();
        }
        if self.pad == b'_' {
            out.resize(start + digits, b' ');
        }
    }

    fn half_of_day(&self, out: &mut Vec<u8>, is_second: bool, names: &CalendarNames<'_>) {
        let start = out.len();
        self.text(out, names.names.half_days[usize::from(is_second)], false, names);
        if self.letter == b'P' || self.swap {
            names.make_lowercase(&mut out[start..]);
        }
    }

    /// The name of a month, with `O` as it is alone: long (0) or short (1).
    fn month(&self, out: &mut Vec<u8>, month: usize, short: usize, names: &CalendarNames<'_>) {
        let locale = &names.names;
        let usual = [&locale.months, &locale.short_months][short][month];
        let alone = locale.alone[short][month];
        let is_alone = self.modifier == b'O' && !alone.is_empty();
        self.text(out, if is_alone { alone } else { usual }, true, names);
    }

    /// A word; `#` makes it upper case if `swaps_up`, else lower case.
    fn text(&self, out: &mut Vec<u8>, text: &[u8], swaps_up: bool, names: &CalendarNames<'_>) {
        let start = out.len();
        out.extend_from_slice(text);
        self.widen(out, start);
        if self.swap && !swaps_up {
            names.make_lowercase(&mut out[start..]);
        } else if self.swap || self.upper {
            names.make_uppercase(&mut out[start..]);
        }
    }

    /// The zone's offset with a sign: `+hhmm`. With one or two colons it has that many separated parts, with three as
    /// many as are not zero; without colons there are no seconds. It is padded with zeros to its usual width or the
    /// given one; `_` pads with spaces before the sign instead, `-` not at all.
    fn offset(&self, out: &mut Vec<u8>, moment: &Moment<'_>) {
        let start = out.len();
        let east = moment.offset.unsigned_abs();
        let (hours, minutes, seconds) = (east / 3600, east / 60 % 60, east % 60);
        let (shown, usual) = match self.colons {
            0 => (0, 5),
            1 => (1, 6),
            2 => (2, 9),
            _ if seconds != 0 => (2, 9),
            _ if minutes != 0 => (1, 6),
            _ => (0, 3),
        };
        let first = if self.colons == 0 { hours * 100 + minutes } else { hours };
        out.extend_from_slice(Text::number(u64::from(first)).as_bytes());
        for part in [minutes, seconds].into_iter().take(shown) {
            out.push(b':');
            out.extend_from_slice(&pair(part));
        }
        let sign = if moment.is_west() { b'-' } else { b'+' };
        let width = if self.width == 0 { usual } else { self.width };
        match self.pad {
            b'-' => out.insert(start, sign),
            b'_' => {
                out.insert(start, sign);
                Spec { width, ..*self }.widen(out, start);
            }
            _ => {
                Spec { width: width - 1, pad: b'0', ..*self }.widen(out, start);
                out.insert(start, sign);
            }
        }
    }

    /// Pads the text from `start` on, and makes it upper case if a flag demands it.
    fn finish(&self, out: &mut Vec<u8>, start: usize, names: &CalendarNames<'_>) {
        self.widen(out, start);
        if self.upper {
            names.make_uppercase(&mut out[start..]);
        }
    }

    /// Pads the text from `start` on, with spaces unless a flag sets another character.
    fn widen(&self, out: &mut Vec<u8>, start: usize) {
        let len = out.len() - start;
        let pad = if matches!(self.pad, b'0' | b'+') { b'0' } else { b' ' };
        if self.width > len && self.pad != b'-' {
            let missing = self.width - len;
            out.splice(start..start, core::iter::repeat_n(pad, missing));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn show(format: &str, second: i64, offset: i32) -> String {
        let civil = Civil::new(second + i64::from(offset)).unwrap();
        let moment = Moment { civil, second, nanosecond: 12_345_678, offset, zone: b"CeT" };
        let format = Format::new(format.as_bytes());
        let names = CalendarNames {
            names: TimeNames::C,
            months: TimeNames::C.short_months.map(Cow::Borrowed),
            library: false,
        };
        let mut out = Vec::new();
        format.write(&moment, &names, true, &mut out);
        format.write(&moment, &names, false, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Printed by GNU `date` 9.1 (`date -u -d @1700000000.012345678`), but for the zone.
    #[test]
    fn conversions_as_gnu_prints_them() {
        for (format, text) in [
            ("%Y-%m-%d %H:%M:%S.%N %z", "2023-11-14 22:13:20.012345678 +0000"),
            ("%b %e %k %l %I %p %P %j", "Nov 14 22 10 10 PM pm 318"),
            ("%a %A %h %B %c", "Tue Tuesday Nov November Tue Nov 14 22:13:20 2023"),
            ("%C %y %g %G %V %U %W %u %w %q", "20 23 23 2023 46 46 46 2 2 4"),
            ("%D %x %T %X %R %r %F", "11/14/23 11/14/23 22:13:20 22:13:20 22:13 10:13:20 PM 2023-11-14"),
            ("%s %3N %6N %12N", "1700000000 012 012345 012345678000"),
            ("%_m|%-m|%5m|%_5m|%05e", "11|11|00011|   11|00014"),
            ("%^a %#Z %#p %10a|%-10a", "TUE cet pm        Tue|Tue"),
            ("%:z %::z %:::z %8z", "+00:00 +00:00:00 +00 +0000000"),
            ("%Q %:Y 100%% %n%t %", "%Q %:Y 100% \n\t %"),
            (
                "[%5][%_5Q][%05!][%5%][%-%][%5n][%1Ed][%5EY]",
                "[  %5][ %_5Q][0%05!][   %5%][%-%][    \n][%1Ed][ 2023]",
            ),
            ("[%_z][%-z][%_:z][%-::z][%_:::z][%8::z]", "[   +0][+0][ +0:00][+0:00:00][ +0][+0:00:00]"),
            (
                "[%-N][%_N][%_3N][%-3N][%12N][%_12N]",
                "[012345678][012345678][012][012][012345678000][012345678   ]",
            ),
        ] {
            assert_eq!(show(format, 1_700_000_000, 0), text, "{format}");
        }
    }

    /// As GNU `ls` 9.7 prints them in a locale whose months are not all as wide.
    #[test]
    fn months_are_aligned_where_a_format_names_them_and_no_more() {
        let mut months = TimeNames::C.short_months.map(Cow::Borrowed);
        months[10] = Cow::Borrowed(b"Nov ");
        let names = CalendarNames { names: TimeNames::C, months, library: false };
        let civil = Civil::new(1_700_000_000).unwrap();
        let moment = Moment { civil, second: 1_700_000_000, nanosecond: 0, offset: 0, zone: b"UTC" };
        let mut out = Vec::new();
        for part in ["%b|%-b|%6b|%+6b|%h|", "%^b"] {
            Format::new(part.as_bytes()).write(&moment, &names, true, &mut out);
            Format::new(part.as_bytes()).write(&moment, &names, false, &mut out);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "Nov |Nov|   Nov|000Nov|Nov|NOV");
    }

    #[test]
    fn odd_years_and_offsets() {
        let seen = show("%C %y %G %g %+Y %_Y %6Y %F", -62_167_219_201, 0);
        assert_eq!(seen, "-0 01 -001 01 -001   -1 -00001 -001-12-31");
        assert_eq!(show("%Y %F", 1_000_000_000_000, 0), "33658 +33658-09-27");
        assert_eq!(show("%z %::z", 0, -90), "-0001 -00:01:30");
        assert_eq!(show("%z %:::z", 0, 1172), "+0019 +00:19:32");
        assert_eq!(show("[%_z][%-z][%_:z][%_:::z]", 0, -1172), "[  -19][-19][ -0:19][ -0:19:32]");
    }

    /// Each line was printed by GNU `ls --time-style=+FORMAT` 9.7 for a file of 2005-03-04 00:04:05 at an offset of an hour; those
    /// with `O` by 9.10.
    #[test]
    fn flags_widths_and_modifiers_as_gnu_prints_them() {
        for (format, text) in [
            (
                "%12F|%_12F|%-12F|%+12F|%012F|%10F",
                "002005-03-04|  2005-03-04|2005-03-04|+02005-03-04|002005-03-04|2005-03-04",
            ),
            (
                "%D|%_D|%-D|%12D|%_12D|%+12D|%012D",
                "03/04/05|03/04/ 5|03/04/5|    03/04/05|    03/04/ 5|000003/04/05|000003/04/05",
            ),
            (
                "%+s|%+5d|%+5C|%+5y|%+5Y|%+6g|%+6G|%+4Y|%+2C",
                "1109891045|00004|+0020|+0005|+2005|+00005|+02005|2005|20",
            ),
            (
                "%+12b|%+12T|%_12T|%+14r|%-r|%12R",
                "000000000Mar|000000:04:05|    00:04:05|00012:04:05 AM|12:04:05 AM|       00:04",
            ),
            (
                "%^#Z|%#^p|%^#6p|%^#a|%+5p|%_5n|%05t|%#c",
                "cet|am|    am|FRI|000AM|    \n|0000\t|Fri Mar  4 00:04:05 2005",
            ),
            (
                "%#Q|%^f|%^#Ea|%#Eb|%#J|%+12Q|%012Q|%5:Y|%5::::z|%12::::z",
                "%#Q|%^F|%^#EA|%#EB|%#J|0000000%+12Q|0000000%012Q|  %5:Y|%5::::z|    %12::::z",
            ),
            (
                "%3Od|%1Od|%-Od|%05Od|%Oe|%-Oe|%12Oj|%5OG|%_5OC|%OY|%_6OY|%-9223372036854775807OY",
                "004|4|4|00004| 4|4|000000000063|02005|   20|2005|  2005|2005",
            ),
            (
                "%5Eq|%5Eu|%12Es|%12Os|%5Ez|%5EC|%05EC|%-Ey|%5EY",
                "00001|00005|001109891045|001109891045|+0100|   20|00020|05| 2005",
            ),
            ("%Oq|%5Oq|%O:z|%5O::z|%7Oz|%E:z", "1|00001|+01:00|+1:00:00|+000100|+01:00"),
        ] {
            assert_eq!(show(format, 1_109_891_045, 3600), text, "{format}");
        }
    }

    /// Printed by GNU `ls` 9.7, with `O` by 9.10, for files of these years on tmpfs.
    #[test]
    fn years_of_any_length_as_gnu_prints_them() {
        let years = [253_405_756_800, -62_262_086_400, -62_135_337_600, -66_910_579_200];
        for (format, texts) in [
            ("%F", ["+10000-02-10", "-004-12-29", "0001-01-04", "-151-09-09"]),
            ("%1F", ["10000-02-10", "-4-12-29", "1-01-04", "-151-09-09"]),
            ("%+F", ["+10000-02-10", "-4-12-29", "1-01-04", "-151-09-09"]),
            ("%_12F", [" 10000-02-10", "    -4-12-29", "     1-01-04", "  -151-09-09"]),
            ("%+12F", ["+10000-02-10", "-00004-12-29", "+00001-01-04", "-00151-09-09"]),
            ("%-D", ["02/10/0", "12/29/4", "01/04/1", "09/09/51"]),
            ("%x", ["02/10/00", "12/29/96", "01/04/01", "09/09/49"]),
            ("%+Y %+C %+3y", ["+10000 +100 +00", "-004 -0 +04", "0001 00 +01", "-151 -1 +51"]),
            ("%EC %EY %Ey", ["100 10000 00", "-1 -4 96", "0 1 01", "-2 -151 49"]),
            (
                "%OC %OG %Oy %OY",
                ["100 10000 00 10000", "-0 -004 04 -004", "00 0001 01 0001", "-1 -151 51 -151"],
            ),
            ("%05EC %5OC", ["00100 00100", "000-1 -0000", "00000 00000", "000-2 -0001"]),
        ] {
            assert_eq!(years.map(|second| show(format, second, 0)), texts, "{format}");
        }
        assert_eq!(show("%c", -62_262_086_400, 0), "Sun Dec 29 00:00:00 -4");
        assert_eq!(show("%Oz %O:z", 0, -5400), "-0130 -01:30");
    }
}
