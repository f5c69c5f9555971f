//! The syntax of `LS_COLORS`: `key=value:*suffix=value:…`, with escape sequences in suffixes and values.

use super::suffix::Pattern;
use super::{Colors, KEYS, Span};
use alloc::vec::Vec;

/// Why a value of `LS_COLORS` was refused. GNU prints `unparsable value for LS_COLORS environment variable`, and
/// before that `unrecognized prefix: 'xx'` if there is a prefix to blame, and goes on without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadColors {
    /// The key whose assignment is wrong: one that does not exist, or one with a bad value.
    pub prefix: Option<[u8; 2]>,
}

/// Reads the value into the keys of `colors`; gives the patterns in the order they stand in.
pub(super) fn parse(value: &[u8], colors: &mut Colors) -> Result<Vec<Pattern>, BadColors> {
    let mut patterns = Vec::new();
    let mut reader = Reader { rest: value };
    let bad = BadColors { prefix: None };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match first {
            b':' => {}
            b'*' => {
                let suffix = reader.text(&mut colors.text, true).ok_or(bad)?;
                reader.expect(b'=').ok_or(bad)?;
                let value = reader.text(&mut colors.text, false).ok_or(bad)?;
                patterns.push(Pattern { suffix, value });
            }
            first => {
                let second = reader.next().ok_or(bad)?;
                reader.expect(b'=').ok_or(bad)?;
                let prefix = [*first, second];
                let blame = BadColors { prefix: Some(prefix) };
                let nth = KEYS.iter().position(|(name, _)| **name == prefix).ok_or(blame)?;
                colors.keys[nth] = Some(reader.text(&mut colors.text, false).ok_or(blame)?);
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

    /// Text up to a colon (which stays), the end, or `=` where that is asked; appended to `text` without its
    /// escape sequences. `None` if one of them is wrong.
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

    /// What follows a backslash. Numbers have as many digits as there are, and wrap around.
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

    /// What follows a caret. `^?` is a delete *and* leaves the question mark to be read again: GNU does so.
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
