//! Parses formats.

use super::{Face, Field, Format, Item, Shape, zone};
use crate::{locale, message};
use dents_core::needs::Needs;
use dents_locale::TimeNames;
use dents_render::{LongStyle, Style, TimeStyle};

impl Format {
    /// Parses a format. An error names the directive and its position.
    pub(crate) fn parse(text: &[u8]) -> Result<Format, String> {
        let mut parser = Parser { text, at: 0, items: Vec::new(), styles: Vec::new() };
        while parser.item()? {}
        let Parser { items, styles, .. } = parser;
        Ok(Format { items, styles, zone: zone::local() })
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    items: Vec<Item>,
    styles: Vec<Style>,
}

impl Parser<'_> {
    /// Parses an item; false at the end.
    fn item(&mut self) -> Result<bool, String> {
        match self.next() {
            None => return Ok(false),
            Some(b'%') => self.directive()?,
            Some(b'\\') => return self.escape(),
            Some(byte) => self.push(byte),
        }
        Ok(true)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Appends to the text before the next field.
    fn push(&mut self, byte: u8) {
        match self.items.last_mut() {
            Some(Item::Text(text)) => text.push(byte),
            _ => self.items.push(Item::Text(vec![byte])),
        }
    }

    /// The escape after a backslash; false for `\c`, which ends the format.
    fn escape(&mut self) -> Result<bool, String> {
        let start = self.at - 1;
        let byte = match self.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(b'\\') => b'\\',
            Some(b'c') => return Ok(false),
            Some(digit @ b'0'..=b'7') => self.octal(digit),
            _ => return Err(self.wrong(start, "is no escape")),
        };
        self.push(byte);
        Ok(true)
    }

    /// Up to three octal digits; the low eight bits count.
    fn octal(&mut self, first: u8) -> u8 {
        let mut value = u16::from(first - b'0');
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.peek() else { break };
            value = value << 3 | u16::from(digit - b'0');
            self.at += 1;
        }
        value as u8
    }

    /// The directive after a `%`.
    fn directive(&mut self) -> Result<(), String> {
        let start = self.at - 1;
        if self.peek() == Some(b'%') {
            self.at += 1;
            self.push(b'%');
            return Ok(());
        }
        let shape = self.shape(start)?;
        let letter = self.next();
        let field = match letter {
            Some(b'a') => self.time(Needs::ATIME, None),
            Some(b'c') => self.time(Needs::CTIME, None),
            Some(b't') => self.time(Needs::MTIME, None),
            Some(b'A') => self.time_as(Needs::ATIME),
            Some(b'B') => self.time_as(Needs::BTIME),
            Some(b'C') => self.time_as(Needs::CTIME),
            Some(b'T') => self.time_as(Needs::MTIME),
            Some(letter) => plain(letter),
            None => None,
        };
        let field = field.ok_or_else(|| self.wrong(start, "is no directive"))?;
        self.items.push(Item::Field(field, shape));
        Ok(())
    }

    /// Flags, width and precision.
    fn shape(&mut self, start: usize) -> Result<Shape, String> {
        let mut shape = Shape::default();
        while let Some(flag) = self.peek() {
            match flag {
                b'-' => shape.left = true,
                b'0' => shape.zeros = true,
                b'+' => shape.plus = true,
                b' ' => shape.blank = true,
                b'#' => shape.alternate = true,
                _ => break,
            }
            self.at += 1;
        }
        shape.width = self.number(start)?.unwrap_or(0);
        if self.peek() == Some(b'.') {
            self.at += 1;
            shape.precision = Some(self.number(start)?.unwrap_or(0));
        }
        Ok(shape)
    }

    /// A number; one that is too large for a width is an error.
    fn number(&mut self, start: usize) -> Result<Option<usize>, String> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            let value = number.unwrap_or(0) * 10 + usize::from(digit - b'0');
            if value > 1 << 20 {
                return Err(self.wrong(start, "is wider than a MiB"));
            }
            number = Some(value);
        }
        Ok(number)
    }

    /// A time with the conversion that follows.
    fn time_as(&mut self, which: Needs) -> Option<Field> {
        match self.next()? {
            b'@' => Some(Field::Time(which, Face::Seconds)),
            letter => {
                self.time(which, Some(conversion(letter, &locale::time_names().unwrap_or(TimeNames::C))?))
            }
        }
    }

    /// A time in a format of `strftime` with the words of the locale, or as ctime(3) has it, with the words of C.
    fn time(&mut self, which: Needs, format: Option<Vec<u8>>) -> Option<Field> {
        let time_names = if format.is_some() { locale::time_names() } else { None };
        let format = format.unwrap_or_else(|| b"%a %b %e %H:%M:%S.%N0 %Y".to_vec());
        let time_style = TimeStyle::Custom { recent: format.clone(), other: format };
        self.styles.push(Style {
            long: LongStyle { time_style, time_names, ..LongStyle::default() },
            locale: *message::locale(),
            ..Style::default()
        });
        Some(Field::Time(which, Face::Style(self.styles.len() - 1)))
    }

    fn wrong(&self, start: usize, problem: &str) -> String {
        let [item, text] = [&self.text[start..self.at], self.text].map(message::quoted_text);
        format!("{item} {problem}, at byte {} of {text}; dents scan --help lists what is known", start + 1)
    }
}

/// Directives of one letter.
fn plain(letter: u8) -> Option<Field> {
    Some(match letter {
        b'p' => Field::Path,
        b'f' => Field::Name,
        b'h' => Field::Directory,
        b'P' => Field::Below,
        b'H' => Field::Operand,
        b'd' => Field::Depth,
        b's' => Field::Bytes,
        b'b' => Field::Blocks,
        b'k' => Field::Kibibytes,
        b'S' => Field::Sparseness,
        b'n' => Field::Links,
        b'i' => Field::Inode,
        b'y' => Field::Type,
        b'Y' => Field::TargetType,
        b'l' => Field::Target,
        b'm' => Field::Mode,
        b'M' => Field::Letters,
        b'u' => Field::User,
        b'g' => Field::Group,
        b'U' => Field::Uid,
        b'G' => Field::Gid,
        b'D' => Field::Device,
        b'F' => Field::FileSystem,
        _ => return None,
    })
}

/// The `strftime` format for a letter behind `%T`: `S`, `T`, `X` and `+` show ten decimals behind the seconds, the last of them
/// 0; months are not filled up with blanks, as they are in the columns of `ls`.
fn conversion(letter: u8, names: &TimeNames<'_>) -> Option<Vec<u8>> {
    Some(match letter {
        b'S' => b"%S.%N0".to_vec(),
        b'T' => b"%H:%M:%S.%N0".to_vec(),
        b'X' => with_decimals(names.time, names),
        b'+' => b"%Y-%m-%d+%H:%M:%S.%N0".to_vec(),
        b'b' => b"%h".to_vec(),
        _ if b"%aABcCdDeFgGhHIjklmMnpPrRstuUVwWxyYzZ".contains(&letter) => vec![b'%', letter],
        _ => return None,
    })
}

/// A locale's format of the time of day, with decimals behind its seconds.
fn with_decimals(format: &[u8], names: &TimeNames<'_>) -> Vec<u8> {
    let twelve = if names.time_12.is_empty() { TimeNames::C.time_12 } else { names.time_12 };
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((byte, after)) = rest.split_first() {
        let conversion = if *byte == b'%' { after.first() } else { None };
        let taken = match conversion {
            Some(b'T') => (&b"%H:%M:%S.%N0"[..], 2),
            // Only where the locale has a format of 12 hours; none of these contains `%r` itself.
            Some(b'r') if !twelve.windows(2).any(|two| two == b"%r") => {
                out.extend(with_decimals(twelve, names));
                (&b""[..], 2)
            }
            Some(b'S') => (&b"%S.%N0"[..], 2),
            Some(b'O' | b'E') if after.get(1) == Some(&b'S') => (&b"%S.%N0"[..], 3),
            Some(_) => (&rest[..2], 2),
            None => (&rest[..1], 1),
        };
        out.extend_from_slice(taken.0);
        rest = &rest[taken.1..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Format::parse(text.as_bytes()).err().unwrap_or_default()
    }

    #[test]
    fn text_and_fields() {
        let format = Format::parse(b"a\\tb\\1012%%%-5.3p%T@\\0\\c%q").expect("a format");
        let shape = Shape { left: true, width: 5, precision: Some(3), ..Shape::default() };
        let time = Field::Time(Needs::MTIME, Face::Seconds);
        let items = [
            Item::Text(b"a\tbA2%".to_vec()),
            Item::Field(Field::Path, shape),
            Item::Field(time, Shape::default()),
            Item::Text(vec![0]),
        ];
        assert_eq!(format.items, items);
        assert_eq!(format.needs(), Needs::MTIME);
    }

    #[test]
    fn names_and_places_need_nothing() {
        let format = Format::parse(b"%p %f %h %P %H %d\\n").expect("a format");
        assert!(format.needs().is_empty() && !format.wants_extra());
        assert_eq!(Format::parse(b"%u%D").expect("a format").needs(), Needs::UID | Needs::INODE);
    }

    #[test]
    fn decimals_stand_behind_the_seconds_of_every_locale() {
        for (time, expected) in [
            ("%H:%M:%S", "%H:%M:%S.%N0"),
            ("%T", "%H:%M:%S.%N0"),
            ("%r", "%I:%M:%S.%N0 %p"),
            ("%OH\u{6642}%OM\u{5206}%OS\u{79d2}", "%OH\u{6642}%OM\u{5206}%S.%N0\u{79d2}"),
            ("%", "%"),
        ] {
            let names = TimeNames { time: time.as_bytes(), ..TimeNames::C };
            assert_eq!(conversion(b'X', &names).as_deref(), Some(expected.as_bytes()), "{time}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let text = error("%p %5q");
        assert!(text.contains("%5q") && text.contains("at byte 4"), "{text}");
        for wrong in
            ["%", "%5", "%-", "%T", "%Tq", "%A", "\\", "\\q", "\\x41", "%9999999p", "%.9999999p", "%5%"]
        {
            assert!(error(wrong).contains(" is "), "{wrong:?}");
        }
    }
}
