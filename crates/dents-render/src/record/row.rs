//! One row: field after field, in any syntax.

use super::cells::Cells;
use super::errno::errno_name;
use super::schema::VERSION;
use super::text::{push_cell, push_member};
use super::words;
use crate::field::{Field, Record, Syntax};
use crate::frame::Frame;
use crate::mode;
use crate::note::{Git, Note, Total};
use crate::number::push_number;
use alloc::vec::Vec;
use dents_core::batch::{Asked, Entry, Extra, Mark, Time};
use dents_core::deadline::UNANSWERED;
use dents_core::needs::Kind;
use dents_core::owners::Owners;

/// Writes rows of one directory.
pub(super) struct Writer<'r> {
    record: &'r Record,
    columns: Vec<Column>,
    directory: Option<&'r [u8]>,
    owners: &'r Owners,
    notes: &'r [Note],
    cells: Cells,
    end: &'static [u8],
}

/// A field, and the text before its value.
struct Column {
    field: Field,
    key: Vec<u8>,
    /// Before base64.
    bytes_key: Vec<u8>,
}

/// The facts about an entry, looked up once.
struct Known<'e> {
    entry: Entry<'e>,
    /// Whether `statx` answered.
    stat: bool,
    extra: Option<&'e Extra>,
}

impl<'r> Writer<'r> {
    /// `first`: whether no row was written before, because JSON has commas between rows.
    pub(super) fn new(record: &'r Record, first: bool, frame: &Frame<'r>) -> Writer<'r> {
        let Frame { directory, owners, notes, .. } = *frame;
        let column = |(place, field): (usize, &Field)| Column {
            field: *field,
            key: key(record.syntax, first, place, field.word(), ""),
            bytes_key: key(record.syntax, first, place, field.word(), "_bytes"),
        };
        Writer {
            record,
            columns: record.fields.iter().enumerate().map(column).collect(),
            directory,
            owners,
            notes,
            cells: Cells::new(record.syntax),
            end: match record.syntax {
                Syntax::Json => b"}",
                Syntax::Ndjson => b"}\n",
                Syntax::Csv => b"\r\n",
            },
        }
    }

    pub(super) fn write(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let stat = entry.is_known();
        let known = Known { entry: *entry, stat, extra: if stat { entry.extra() } else { None } };
        let columns = core::mem::take(&mut self.columns);
        for column in &columns {
            self.field(column, &known, out);
        }
        self.columns = columns;
        self.cells.end_row(out);
        out.extend_from_slice(self.end);
    }

    #[inline]
    fn field(&mut self, column: &Column, known: &Known<'_>, out: &mut Vec<u8>) {
        let Column { field, key, .. } = column;
        match field {
            Field::Mode | Field::Nlink | Field::Uid | Field::Gid | Field::Size | Field::Allocated => {
                self.cells.number(key, known.stat.then(|| known.number(*field)), out);
            }
            Field::Atime | Field::Btime | Field::Ctime | Field::Mtime => {
                self.cells.time(key, known.time(*field), out);
            }
            Field::Directory => self.cells.text([&column.key, &column.bytes_key], self.directory, out),
            Field::Name => self.cells.text([&column.key, &column.bytes_key], Some(known.entry.name()), out),
            Field::User => self.cells.text([&column.key, &column.bytes_key], self.user(known), out),
            Field::Group => self.cells.text([&column.key, &column.bytes_key], self.group(known), out),
            Field::Target => self.cells.text([&column.key, &column.bytes_key], known.target(), out),
            Field::Context => self.cells.text([&column.key, &column.bytes_key], known.entry.context(), out),
            Field::Type => self.cells.word(key, Some(words::of_kind(known.entry.kind()).as_bytes()), out),
            Field::Perm => {
                let letters = known.stat.then(|| mode::letters(known.entry.mode()));
                self.cells.word(key, letters.as_ref().map(|letters| &letters[..]), out);
            }
            Field::Ino => {
                self.cells.number(key, known.entry.knows_ino().then(|| known.entry.ino()), out);
            }
            Field::Dev => self.cells.number(key, known.extra.map(|extra| words::device(extra.dev)), out),
            Field::Rdev => self.cells.number(key, known.rdev(), out),
            Field::Attributes => self.cells.attributes(key, known.extra, out),
            Field::Xattrs => self.cells.xattrs(key, known, out),
            Field::Acl => self.cells.boolean(key, known.acl(), out),
            Field::Lazy => self.cells.boolean(key, known.stat.then_some(self.record.lazy), out),
            Field::Asked | Field::Errno | Field::Error => self.fault(column, known, out),
            Field::GitStaged | Field::GitUnstaged => self.git(column, known, out),
            Field::Total | Field::TotalAllocated | Field::TotalWhole => self.total(column, known, out),
        }
    }

    fn user(&self, known: &Known<'_>) -> Option<&'r [u8]> {
        if known.stat { self.owners.user(known.entry.uid()) } else { None }
    }

    fn group(&self, known: &Known<'_>) -> Option<&'r [u8]> {
        if known.stat { self.owners.group(known.entry.gid()) } else { None }
    }

    fn fault(&mut self, column: &Column, known: &Known<'_>, out: &mut Vec<u8>) {
        let fault = known.entry.fault();
        let key = &column.key;
        match column.field {
            Field::Asked => {
                self.cells.word(key, fault.map(|(asked, _)| words::of_asked(asked).as_bytes()), out);
            }
            Field::Errno => {
                let told = fault.filter(|(_, errno)| *errno != UNANSWERED);
                self.cells.signed(key, told.map(|(_, errno)| errno.raw_os_error().into()), out);
            }
            _ => {
                let word = fault.and_then(|(_, errno)| error_word(errno.raw_os_error()));
                self.cells.word(key, word.map(str::as_bytes), out);
            }
        }
    }

    fn git(&mut self, column: &Column, known: &Known<'_>, out: &mut Vec<u8>) {
        let change = match self.notes.get(known.entry.index()).map(|note| note.git) {
            Some(Git::Status { staged, .. }) if column.field == Field::GitStaged => Some(staged),
            Some(Git::Status { unstaged, .. }) => Some(unstaged),
            _ => None,
        };
        self.cells.word(&column.key, change.map(|change| words::change(change).as_bytes()), out);
    }

    fn total(&mut self, column: &Column, known: &Known<'_>, out: &mut Vec<u8>) {
        let noted = self.notes.get(known.entry.index()).and_then(|note| note.total);
        let total = noted.or_else(|| known.stat.then(|| Total::of_file(&known.entry)).flatten());
        let key = &column.key;
        match column.field {
            Field::Total => self.cells.sum(key, total.map(|total| total.bytes), out),
            Field::TotalAllocated => {
                self.cells.sum(key, total.map(|total| total.blocks.saturating_mul(512)), out);
            }
            _ => self.cells.boolean(key, total.map(|total| total.whole), out),
        }
    }
}

/// The word of an error; `TIMEOUT` if no answer arrived in time.
pub(super) fn error_word(errno: i32) -> Option<&'static str> {
    if errno == UNANSWERED.raw_os_error() { Some("TIMEOUT") } else { errno_name(errno) }
}

/// The text before a value: the separator, and in JSON the name.
fn key(syntax: Syntax, first_row: bool, place: usize, name: &str, suffix: &str) -> Vec<u8> {
    let mut key = Vec::new();
    match (syntax, place) {
        (Syntax::Csv, 0) => return key,
        (_, 1..) => key.push(b','),
        (Syntax::Json, 0) => key.extend_from_slice(if first_row { b"\n{" } else { b",\n{" }),
        (Syntax::Ndjson, 0) => {
            key.extend_from_slice(b"{\"v\":");
            push_number(&mut key, VERSION.into(), 0);
            key.push(b',');
        }
    }
    if syntax != Syntax::Csv {
        for part in ["\"", name, suffix, "\":"] {
            key.extend_from_slice(part.as_bytes());
        }
    }
    key
}

impl<'e> Known<'e> {
    fn number(&self, field: Field) -> u64 {
        let entry = &self.entry;
        match field {
            Field::Mode => entry.mode().into(),
            Field::Nlink => entry.nlink().into(),
            Field::Uid => entry.uid().into(),
            Field::Gid => entry.gid().into(),
            Field::Size => entry.size(),
            _ => entry.blocks().saturating_mul(512),
        }
    }

    fn time(&self, field: Field) -> Option<Time> {
        let extra = self.extra?;
        let time = match field {
            Field::Atime => extra.atime,
            Field::Btime => extra.btime,
            Field::Ctime => extra.ctime,
            _ => extra.mtime,
        };
        (time != Time::UNKNOWN).then_some(time)
    }

    fn target(&self) -> Option<&'e [u8]> {
        if self.entry.kind() == Kind::Link { self.entry.link() } else { None }
    }

    fn rdev(&self) -> Option<u64> {
        let device = self.stat && matches!(self.entry.kind(), Kind::Char | Kind::Block);
        device.then(|| words::device(self.entry.rdev()))
    }

    fn acl(&self) -> Option<bool> {
        let is_faulty = matches!(self.entry.fault(), Some((Asked::Xattr, _)));
        let is_known = self.stat && self.entry.knows_mark() && !is_faulty;
        is_known.then(|| self.entry.mark() == Mark::Acl)
    }
}

impl Cells {
    /// A list; in CSV its words with spaces between them.
    fn attributes(&self, key: &[u8], extra: Option<&Extra>, out: &mut Vec<u8>) {
        let Some(extra) = extra else { return self.null(key, out) };
        out.extend_from_slice(key);
        let words = words::attributes(extra.attributes & extra.attributes_mask).enumerate();
        if self.syntax == Syntax::Csv {
            for (place, word) in words {
                out.extend((place > 0).then_some(b' '));
                out.extend_from_slice(word.as_bytes());
            }
            return;
        }
        out.push(b'[');
        for (place, word) in words {
            out.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
            out.extend_from_slice(word.as_bytes());
            out.push(b'"');
        }
        out.push(b']');
    }

    /// A list of objects; in CSV the same JSON in one cell.
    #[cold]
    fn xattrs(&self, key: &[u8], known: &Known<'_>, out: &mut Vec<u8>) {
        let asked = known.stat && !matches!(known.entry.fault(), Some((Asked::Xattr, _)));
        if !asked {
            return self.null(key, out);
        }
        out.extend_from_slice(key);
        let mut list = Vec::from(b"[");
        for (place, (name, size)) in known.entry.xattr_list().enumerate() {
            list.extend_from_slice(if place > 0 { b",{" } else { b"{" });
            push_member("name", Some(name), &mut list);
            list.extend_from_slice(b",\"size\":");
            match size {
                Some(size) => push_number(&mut list, size.into(), 0),
                None => list.extend_from_slice(b"null"),
            }
            list.push(b'}');
        }
        list.push(b']');
        if self.syntax != Syntax::Csv {
            return out.extend_from_slice(&list);
        }
        // Escaped as JSON it holds no control characters, so it is a cell.
        push_cell(&list, out);
    }
}
