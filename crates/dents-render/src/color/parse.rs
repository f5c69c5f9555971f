//! The syntax of `LS_COLORS`: `key=value:*suffix=value:…`, with escape sequences in suffixes and values.

use super::key::{KEYS, Values};
use super::span::Span;
use super::suffix::Pattern;
use alloc::vec::Vec;

/// Why a value of `LS_COLORS` was refused. GNU prints `unparsable value for LS_COLORS environment variable` (and
/// before that `unrecognized prefix: 'xx'`, if a prefix is the reason), and continues without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadColors {
    /// The key whose assignment is wrong: one that does not exist, or one with a bad value.
    pub prefix: Option<[u8; 2]>,
}

/// Reads the value into `keys`, of which `text` has the bytes. Returns the patterns in their order.
pub(super) fn parse(value: &[u8], text: &mut Vec<u8>, keys: &mut Values) -> Result<Vec<Pattern>, BadColors> {
    let mut patterns = Vec::new();
    let mut reader = Reader { rest: value };
    let bad = BadColors { prefix: None };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match first {
            b':' => {}
            b'*' => {
                let suffix = reader.text(text, true).ok_or(bad)?;
                reader.expect(b'=').ok_or(bad)?;
                let value = reader.text(text, false).ok_or(bad)?;
                patterns.push(Pattern { suffix, value });
            }
            first => {
                let second = reader.next().ok_or(bad)?;
                reader.expect(b'=').ok_or(bad)?;
                let prefix = [*first, second];
                let blame = BadColors { prefix: Some(prefix) };
                let nth = KEYS.iter().position(|(name, _)| **name == prefix).ok_or(blame)?;
                keys[nth] = Some(reader.text(text, false).ok_or(blame)?);
            }
        }
    }
    Ok(patterns)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Reads text up to a colon (which is not consumed), the end, or with `ends_at_equals` a `=`, and appends it to
    /// `text` without escape sequences. `None` if an escape sequence is invalid.
    fn text(&mut self, text: &mut Vec<u8>, ends_at_equals: bool) -> Option<Span> {
        let start = text.len();
        while let Some(byte) = self.peek() {
            if byte == b':' || (byte == b'=' && ends_at_equals) {
                break;
            }
            self.next();
            text.push(match byte {
                b'\\' => self.backslash()?,
                b'^' => self.caret()?,
                byte => byte,
            });
        }
        Some(Span { start: start as u32, len: (text.len() - start) as u32 })
    }

    /// The byte of an escape sequence, after the backslash. Numbers may have any number of digits, and wrap around.
    fn backslash(&mut self) -> Option<u8> {
        let byte = self.next()?;
        Some(match byte {
            b'0'..=b'7' => self.number(8, byte - b'0'),
            b'x' | b'X' => self.number(16, 0),
            b'a' => 7,
            b'b' => 8,
            b'e' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'?' => 127,
            b'_' => b' ',
            byte => byte,
        })
    }

    fn number(&mut self, radix: u32, first: u8) -> u8 {
        let mut number = first;
        while let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) {
            self.next();
            number = number.wrapping_mul(radix as u8).wrapping_add(digit as u8);
        }
        number
    }

    /// The byte of an escape sequence, after the caret. `^?` is a delete, and the question mark is read again, as in
    /// GNU.
    fn caret(&mut self) -> Option<u8> {
        match self.peek()? {
            byte @ b'@'..=b'~' => {
                self.next();
                Some(byte & 0o37)
            }
            b'?' => Some(127),
            _ => None,
        }
    }
}
