//! The text before the first row and after the last, and the state that a document keeps in between.

use super::row::error_word;
use super::schema::VERSION;
use super::tally::{self, Tally};
use super::text::push_member;
use crate::field::{Record, Syntax};
use crate::number::push_number;
use crate::style::{Format, Style};
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::deadline::UNANSWERED;

/// The state of a document. A listing that is neither for programs nor counted has none.
pub(crate) struct State {
    begun: bool,
    /// Whether no row has been written yet.
    pub(super) first: bool,
    failures: Vec<Failure>,
    /// The counts of this directory, with `--count`.
    pub(super) here: Tally,
    /// The counts of the whole listing, with `--summary`.
    all: Option<Tally>,
}

/// Something that could not be listed.
struct Failure {
    path: Vec<u8>,
    errno: i32,
    message: &'static str,
}

impl State {
    pub(crate) fn new(style: &Style) -> Option<Box<State>> {
        let wanted = style.record.is_some() || style.format == Format::Count || style.summary;
        wanted.then(|| {
            Box::new(State {
                begun: false,
                first: true,
                failures: Vec::new(),
                here: Tally::default(),
                all: style.summary.then(Tally::default),
            })
        })
    }

    /// Adds rows to the summary: entries of a directory, or operands if `named`.
    pub(crate) fn sum(&mut self, batch: &Batch, order: &[u32], named: bool) {
        if let Some(all) = &mut self.all {
            all.add(batch, batch.entries(order), named);
        }
    }

    /// Whether there is a summary.
    pub(crate) fn sums(&self) -> bool {
        self.all.is_some()
    }

    /// Records something that could not be listed, for the end of a JSON document.
    pub(crate) fn fail(&mut self, path: &[u8], errno: i32, message: &'static str) {
        self.failures.push(Failure { path: path.to_vec(), errno, message });
    }

    /// Writes the text before the first row.
    pub(super) fn begin(&mut self, style: &Style, out: &mut Vec<u8>) {
        let Some(record) = style.record.as_ref().filter(|_| !core::mem::replace(&mut self.begun, true))
        else {
            return;
        };
        let counts = style.format == Format::Count;
        match record.syntax {
            Syntax::Ndjson => {}
            Syntax::Csv if counts => tally::push_csv_header(out),
            Syntax::Csv => push_csv_header(record, out),
            Syntax::Json => {
                out.extend_from_slice(b"{\"version\":");
                push_number(out, VERSION.into(), 0);
                out.extend_from_slice(b",\"program\":\"dls\",\"lazy\":");
                out.extend_from_slice(if record.lazy { b"true" } else { b"false" });
                out.extend_from_slice(if counts { b",\"counts\":[" } else { b",\"entries\":[" });
            }
        }
    }

    /// Writes the text after the last row.
    pub(crate) fn finish(&mut self, style: &Style, out: &mut Vec<u8>) {
        self.begin(style, out);
        let all = self.all.take();
        match (style.record.as_ref().map(|record| record.syntax), all) {
            (Some(Syntax::Json), all) => {
                out.extend_from_slice(b"\n]");
                if let Some(all) = all {
                    out.extend_from_slice(b",\"summary\":");
                    all.push_summary(out);
                }
                self.push_failures(out);
                out.extend_from_slice(b"}\n");
            }
            (Some(Syntax::Ndjson), Some(all)) => {
                out.extend_from_slice(b"{\"v\":");
                push_number(out, VERSION.into(), 0);
                out.extend_from_slice(b",\"summary\":");
                all.push_summary(out);
                out.extend_from_slice(b"}\n");
            }
            // A table of rows has no place for a sum; the plan refuses it.
            (Some(Syntax::Csv | Syntax::Ndjson), _) => {}
            (None, Some(all)) => all.push_line(style, out),
            (None, None) => {}
        }
    }

    fn push_failures(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"errors\":[");
        for (place, failure) in self.failures.iter().enumerate() {
            out.extend_from_slice(if place > 0 { b",\n{" } else { b"\n{" });
            push_member("path", Some(&failure.path), out);
            out.extend_from_slice(b",\"errno\":");
            if failure.errno == UNANSWERED.raw_os_error() {
                out.extend_from_slice(b"null");
            } else {
                push_number(out, u64::from(failure.errno.unsigned_abs()), 0);
            }
            out.push(b',');
            push_member("error", error_word(failure.errno).map(str::as_bytes), out);
            out.push(b',');
            push_member("message", Some(failure.message.as_bytes()), out);
            out.push(b'}');
        }
        out.push(b']');
    }
}

/// The fields, and after them a column for the bytes of each text that is not UTF-8.
fn push_csv_header(record: &Record, out: &mut Vec<u8>) {
    let texts = record.fields.iter().filter(|field| field.is_text()).map(|field| (field, "_bytes"));
    let all = record.fields.iter().map(|field| (field, "")).chain(texts);
    for (place, (field, suffix)) in all.enumerate() {
        for part in [if place > 0 { "," } else { "" }, field.word(), suffix] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.extend_from_slice(b"\r\n");
}
