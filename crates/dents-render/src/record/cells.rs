//! Values as JSON and as cells of CSV: numbers, words, times, texts. The one writer of rows, for listings and for scans.

use super::text::{push_base64, push_cell, push_string};
use super::{Syntax, time};
use crate::human::SizeFormat;
use crate::number::{Text, push_number};
use alloc::vec::Vec;
use dents_core::batch::Time;

/// Writes values in a syntax, each after its `key`: the separator and the name.
pub struct Cells {
    pub(super) syntax: Syntax,
    /// The cells at the end of a CSV row: texts that are not UTF-8, as base64.
    tail: Vec<u8>,
    clock: time::Writer,
}

impl Cells {
    /// A writer in this syntax.
    #[must_use]
    pub fn new(syntax: Syntax) -> Cells {
        Cells { syntax, tail: Vec::new(), clock: time::Writer::default() }
    }

    /// A value that is not known.
    #[inline]
    pub fn null(&self, key: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(key);
        if self.syntax != Syntax::Csv {
            out.extend_from_slice(b"null");
        }
    }

    /// A number.
    #[inline]
    pub fn number(&self, key: &[u8], number: Option<u64>, out: &mut Vec<u8>) {
        let Some(number) = number else { return self.null(key, out) };
        out.extend_from_slice(key);
        push_number(out, number, 0);
    }

    /// A number with its sign.
    pub fn signed(&self, key: &[u8], number: Option<i64>, out: &mut Vec<u8>) {
        let Some(number) = number else { return self.null(key, out) };
        out.extend_from_slice(key);
        out.extend_from_slice(Text::signed(number).as_bytes());
    }

    /// A sum of sizes in bytes.
    pub(super) fn sum(&self, key: &[u8], sum: Option<u128>, out: &mut Vec<u8>) {
        let Some(sum) = sum else { return self.null(key, out) };
        out.extend_from_slice(key);
        out.extend_from_slice(SizeFormat::BYTES.sum(sum).as_bytes());
    }

    /// Yes or no.
    pub fn boolean(&self, key: &[u8], value: Option<bool>, out: &mut Vec<u8>) {
        let Some(value) = value else { return self.null(key, out) };
        out.extend_from_slice(key);
        out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// A word of our own, which needs no escapes.
    #[inline]
    pub fn word(&self, key: &[u8], word: Option<&[u8]>, out: &mut Vec<u8>) {
        let Some(word) = word else { return self.null(key, out) };
        out.extend_from_slice(key);
        let quote = (self.syntax != Syntax::Csv).then_some(b'"');
        out.extend(quote);
        out.extend_from_slice(word);
        out.extend(quote);
    }

    /// A time: RFC 3339, see [`time`].
    #[inline]
    pub fn time(&mut self, key: &[u8], time: Option<Time>, out: &mut Vec<u8>) {
        let Some(time) = time else { return self.null(key, out) };
        out.extend_from_slice(key);
        let quote = (self.syntax != Syntax::Csv).then_some(b'"');
        out.extend(quote);
        self.clock.write(time, out);
        out.extend(quote);
    }

    /// Text from outside. The keys are those of the text and of its base64.
    #[inline]
    pub fn text(&mut self, [key, bytes_key]: [&[u8]; 2], text: Option<&[u8]>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(key);
        if self.syntax == Syntax::Csv {
            self.tail.push(b',');
            if let Some(text) = text.filter(|text| !push_cell(text, out)) {
                push_base64(text, &mut self.tail);
            }
            return;
        }
        match text {
            None => out.extend_from_slice(b"null"),
            Some(text) if push_string(text, out) => {}
            Some(text) => {
                out.truncate(start);
                out.extend_from_slice(bytes_key);
                out.push(b'"');
                push_base64(text, out);
                out.push(b'"');
            }
        }
    }

    /// The end of a row: in CSV the cells of texts that are not UTF-8.
    pub fn end_row(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.tail);
    }
}
