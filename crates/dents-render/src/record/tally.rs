//! Counts entries by type: `--count` for a directory, `--summary` for all that was listed.
//!
//! `.` and `..` of a directory do not count, because they are no entries of their own; as operands they do. The type
//! is that of `readdir`, so neither option makes a request where `readdir` returns types. Bytes are those of regular
//! files; they are shown only if something else needs the sizes.

use super::text::{push_base64, push_cell, push_member};
use super::words;
use crate::human::SizeFormat;
use crate::number::{digits, push_number};
use crate::style::Style;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Entry};
use dents_core::needs::{Kind, Needs};

/// The counts.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    entries: u64,
    kinds: [u64; 16],
    bytes: u128,
    /// Whether there was a batch whose sizes were not requested.
    unsized_batch: bool,
}

impl Tally {
    /// Counts entries of a batch: those of a directory, or operands if `named`.
    pub(crate) fn add<'b>(
        &mut self,
        batch: &'b Batch,
        entries: impl Iterator<Item = Entry<'b>>,
        named: bool,
    ) {
        let sized = batch.declared().get(Kind::Reg).contains(Needs::SIZE);
        self.unsized_batch |= !sized;
        for entry in entries.filter(|entry| named || !matches!(entry.name(), b"." | b"..")) {
            let kind = entry.kind();
            self.entries += 1;
            self.kinds[kind as usize] += 1;
            if sized && kind == Kind::Reg {
                self.bytes += u128::from(entry.size());
            }
        }
    }

    fn bytes(&self) -> Option<u128> {
        (!self.unsized_batch).then_some(self.bytes)
    }

    /// `"entries":3,"types":{"file":2,…}`
    fn push_members(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"entries\":");
        push_number(out, self.entries, 0);
        out.extend_from_slice(b",\"types\":{");
        for (place, (kind, word, ..)) in words::KINDS.iter().enumerate() {
            for part in [if place > 0 { ",\"" } else { "\"" }, word, "\":"] {
                out.extend_from_slice(part.as_bytes());
            }
            push_number(out, self.kinds[*kind as usize], 0);
        }
        out.push(b'}');
    }

    /// The summary as a JSON object.
    pub(super) fn push_summary(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        self.push_members(out);
        out.extend_from_slice(b",\"bytes\":");
        match self.bytes() {
            Some(bytes) => out.extend_from_slice(SizeFormat::BYTES.sum(bytes).as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
    }

    /// The summary as a line: `12 entries, 4096 bytes: 10 files, 2 directories`.
    pub(super) fn push_line(&self, style: &Style, out: &mut Vec<u8>) {
        push_number(out, self.entries, 0);
        out.extend_from_slice(if self.entries == 1 { b" entry" } else { b" entries" });
        if let Some(bytes) = self.bytes() {
            out.extend_from_slice(b", ");
            out.extend_from_slice(style.long.file_size.sum(bytes).as_bytes());
            if style.long.file_size == SizeFormat::BYTES {
                out.extend_from_slice(if bytes == 1 { b" byte" } else { b" bytes" });
            }
        }
        let mut before: &[u8] = b": ";
        for (kind, _, one, many) in words::KINDS {
            let count = self.kinds[kind as usize];
            if count > 0 {
                out.extend_from_slice(before);
                push_number(out, count, 0);
                out.push(b' ');
                out.extend_from_slice(if count == 1 { one } else { many }.as_bytes());
                before = b", ";
            }
        }
        out.push(style.eol);
    }

    /// A line for each type with its number of entries, and a line with the total.
    pub(super) fn push_lines(&self, eol: u8, out: &mut Vec<u8>) {
        let width = digits(self.entries);
        for (kind, word, ..) in words::KINDS {
            let count = self.kinds[kind as usize];
            if count > 0 {
                push_number(out, count, width);
                out.push(b' ');
                out.extend_from_slice(word.as_bytes());
                out.push(eol);
            }
        }
        push_number(out, self.entries, width);
        out.extend_from_slice(b" total");
        out.push(eol);
    }

    pub(super) fn push_json(&self, directory: Option<&[u8]>, out: &mut Vec<u8>) {
        push_member("directory", directory, out);
        out.push(b',');
        self.push_members(out);
    }

    pub(super) fn push_csv(&self, directory: Option<&[u8]>, out: &mut Vec<u8>) {
        let text = directory.is_none_or(|path| push_cell(path, out));
        out.push(b',');
        push_number(out, self.entries, 0);
        for (kind, ..) in words::KINDS {
            out.push(b',');
            push_number(out, self.kinds[kind as usize], 0);
        }
        out.push(b',');
        if let Some(path) = directory.filter(|_| !text) {
            push_base64(path, out);
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// The header of `--count --csv`.
pub(super) fn push_csv_header(out: &mut Vec<u8>) {
    out.extend_from_slice(b"directory,entries");
    for (_, word, ..) in words::KINDS {
        out.extend_from_slice(b",type_");
        out.extend_from_slice(word.as_bytes());
    }
    out.extend_from_slice(b",directory_bytes\r\n");
}
