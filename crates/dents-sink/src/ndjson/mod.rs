//! NDJSON: one JSON object a line, and a line for each row.
//!
//! # The schema, version 1
//!
//! All fields are in every line, in this order; what is not known is `null`.
//!
//! | field | value |
//! |---|---|
//! | `v` | 1, the version of this schema |
//! | `path` | text, see below |
//! | `parent` | text: the path of the directory it is in; empty for an operand |
//! | `name` | text; of an operand all of what was given |
//! | `depth` | number: 0 for operands |
//! | `type` | `file`, `directory`, `link`, `fifo`, `socket`, `char`, `block`, `whiteout`, `unknown` |
//! | `ino` | number, up to 2⁶⁴ − 1: programs that hold numbers as doubles round beyond 2⁵³ |
//! | `dev` | number: the device as `stat(2)` numbers it (`makedev(3)`); 2049 is 8:1 |
//! | `nlink`, `mode`, `uid`, `gid` | numbers; the mode with its type bits, 33188 is 0100644 |
//! | `user`, `group` | text; null if the id has no name |
//! | `size`, `allocated` | numbers, in bytes |
//! | `atime`, `btime`, `ctime`, `mtime` | RFC 3339 in UTC with nanoseconds; beyond years 0000–9999 see [`crate::time`] |
//! | `target` | text: where a symbolic link leads |
//! | `lazy` | boolean: whether the values may be out of date; null if `statx` was not asked or did not answer |
//! | `asked` | what could not be found out: `stat`, `link`, `open`, `read`, `loop`; the last three are about what is in a directory, and their lines stand beside the line of the directory itself |
//! | `errno`, `error` | what the kernel said, as number and as name (`ENOENT`) |
//!
//! **Text is exact.** What is valid UTF-8 is a JSON string. What is not is not there under its name; in its place stands
//! `path_bytes` (`parent_bytes`, `name_bytes`, `user_bytes`, `group_bytes`, `target_bytes`) with its bytes in base64 (RFC 4648,
//! with padding). So `if "path_bytes" in row: base64.b64decode(row["path_bytes"]) else: row["path"].encode()` is the path in
//! any case. Control characters are escaped, also DEL and those of U+0080–U+009F, so that lines are safe on a terminal.
//!
//! # The record of the scan
//!
//! One more line, the last, has `scan` in the place of `path` and all that follows it, and says whether the lines are all:
//!
//! ```json
//! {"v":1,"scan":{"program":"dents 0.1.0","begun":"2026-11-22T10:00:00.000000000Z","ended":"…","complete":true,"rows":157518}}
//! ```
//!
//! `complete` is false if a root could not be opened or the walk was stopped; `rows` is the number of the other lines. Without
//! this line (the file was cut off at the end of a line, lines were picked out of it, or a program wrote it that knew no
//! such record) nothing says that all is there. Rows alone have a `type`: `jq 'select(.type)'`.
//!
//! Lines of several files may be put together with `cat`, sorted, and split with `split -l`: read again, the records must
//! count as many rows as there are, wherever they stand. If they count more, rows were lost, which is an error.
//!
//! # How it is written
//!
//! Each part fills a buffer of 256 KiB and writes it, whole lines only, under a lock. The directory's part of a line is escaped
//! once for all of its entries. Nothing is allocated per row, unless its name is not UTF-8.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod read;
mod text;

pub(crate) use read::Lines;

use crate::row::{Facts, Fault, Row};
use crate::{About, Extent, Output, Part, SCHEMA, Sink, errno_name, time, words};
use dents_core::batch::Time;
use dents_core::path;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use text::{push_base64, push_escaped, push_field, push_number};

/// How much is written at once.
const BUFFER: usize = 256 << 10;

/// An NDJSON file that is being written.
pub struct Ndjson {
    program: String,
    begun: Time,
    state: Mutex<State>,
}

struct State {
    output: Output,
    /// Rows written.
    rows: u64,
}

impl Ndjson {
    /// Begins to write; program and begin are told in the record of the scan.
    #[must_use]
    pub fn new(output: Output, about: &About<'_>) -> Self {
        let state = Mutex::new(State { output, rows: 0 });
        Ndjson { program: about.program.to_string(), begun: about.begun, state }
    }
}

impl Sink for Ndjson {
    fn part(&self) -> Box<dyn Part + '_> {
        let buffer = Vec::with_capacity(BUFFER + 4096);
        Box::new(Writer { sink: self, buffer, rows: 0, parent: Parent::new(b"") })
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let State { mut output, rows } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        push_record(&self.program, self.begun, extent, rows, &mut line);
        output.write_all(&line)?;
        output.commit(extent)
    }
}

/// One worker's lines.
struct Writer<'s> {
    sink: &'s Ndjson,
    buffer: Vec<u8>,
    /// Rows in the buffer.
    rows: u64,
    parent: Parent,
}

impl Part for Writer<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        if row.parent != self.parent.bytes {
            self.parent = Parent::new(row.parent);
        }
        push_line(row, &self.parent, &mut self.buffer);
        self.rows += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.sink.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.output.write_all(&self.buffer)?;
        state.rows += std::mem::take(&mut self.rows);
        self.buffer.clear();
        Ok(())
    }
}

/// What the lines of one directory have in common.
struct Parent {
    bytes: Vec<u8>,
    /// The path up to the name, escaped; `None` if it is not UTF-8.
    prefix: Option<Vec<u8>>,
    /// The whole field, with a comma before it.
    field: Vec<u8>,
}

impl Parent {
    fn new(parent: &[u8]) -> Parent {
        let mut field = Vec::new();
        push_field("parent", parent, &mut field);
        let prefix = std::str::from_utf8(parent).is_ok().then(|| {
            let mut prefix = Vec::new();
            push_escaped(parent, &mut prefix);
            prefix.extend_from_slice(path::separator(parent));
            prefix
        });
        Parent { bytes: parent.to_vec(), prefix, field }
    }
}

fn push_line(row: &Row<'_>, parent: &Parent, out: &mut Vec<u8>) {
    push_number(b"{\"v\":", u64::from(SCHEMA), out);
    match &parent.prefix {
        Some(prefix) if std::str::from_utf8(row.name).is_ok() => {
            out.extend_from_slice(b",\"path\":\"");
            out.extend_from_slice(prefix);
            let name = out.len();
            push_escaped(row.name, out);
            let name = name..out.len();
            out.push(b'"');
            out.extend_from_slice(&parent.field);
            out.extend_from_slice(b",\"name\":\"");
            out.extend_from_within(name);
            out.push(b'"');
        }
        _ => {
            let mut path = Vec::new();
            row.path(&mut path);
            out.extend_from_slice(b",\"path_bytes\":");
            push_base64(&path, out);
            out.extend_from_slice(&parent.field);
            push_field("name", row.name, out);
        }
    }
    push_number(b",\"depth\":", u64::from(row.depth), out);
    push_word(b",\"type\":\"", words::of_kind(row.kind), out);
    match &row.facts {
        Some(facts) => push_facts(facts, out),
        None => out.extend_from_slice(NO_FACTS.as_bytes()),
    }
    push_optional("target", row.target, out);
    match row.facts {
        Some(Facts { lazy: true, .. }) => out.extend_from_slice(b",\"lazy\":true"),
        Some(Facts { lazy: false, .. }) => out.extend_from_slice(b",\"lazy\":false"),
        None => out.extend_from_slice(b",\"lazy\":null"),
    }
    push_fault(row.fault, out);
    out.extend_from_slice(b"}\n");
}

/// The record of the scan.
fn push_record(program: &str, begun: Time, extent: Extent, rows: u64, out: &mut Vec<u8>) {
    push_number(b"{\"v\":", u64::from(SCHEMA), out);
    out.extend_from_slice(b",\"scan\":{\"program\":\"");
    push_escaped(program.as_bytes(), out);
    push_time(b"\",\"begun\":\"", begun, out);
    push_time(b",\"ended\":\"", time::now(), out);
    let complete = extent == Extent::Complete;
    out.extend_from_slice(if complete { b",\"complete\":true" } else { b",\"complete\":false" });
    push_number(b",\"rows\":", rows, out);
    out.extend_from_slice(b"}}\n");
}

const NO_FACTS: &str = concat!(
    ",\"ino\":null,\"dev\":null,\"nlink\":null,\"mode\":null,\"uid\":null,\"gid\":null,\"user\":null,\"group\":null",
    ",\"size\":null,\"allocated\":null,\"atime\":null,\"btime\":null,\"ctime\":null,\"mtime\":null"
);

fn push_facts(facts: &Facts<'_>, out: &mut Vec<u8>) {
    push_number(b",\"ino\":", facts.ino, out);
    push_number(b",\"dev\":", words::device(facts.dev), out);
    push_number(b",\"nlink\":", u64::from(facts.nlink), out);
    push_number(b",\"mode\":", u64::from(facts.mode), out);
    push_number(b",\"uid\":", u64::from(facts.uid), out);
    push_number(b",\"gid\":", u64::from(facts.gid), out);
    push_optional("user", facts.user, out);
    push_optional("group", facts.group, out);
    push_number(b",\"size\":", facts.size, out);
    push_number(b",\"allocated\":", facts.allocated, out);
    push_time(b",\"atime\":\"", facts.atime, out);
    match facts.btime {
        Some(btime) => push_time(b",\"btime\":\"", btime, out),
        None => out.extend_from_slice(b",\"btime\":null"),
    }
    push_time(b",\"ctime\":\"", facts.ctime, out);
    push_time(b",\"mtime\":\"", facts.mtime, out);
}

fn push_fault(fault: Option<Fault>, out: &mut Vec<u8>) {
    let Some(Fault { asked, errno }) = fault else {
        out.extend_from_slice(b",\"asked\":null,\"errno\":null,\"error\":null");
        return;
    };
    push_word(b",\"asked\":\"", words::of_asked(asked), out);
    out.extend_from_slice(b",\"errno\":");
    out.extend_from_slice(itoa::Buffer::new().format(errno).as_bytes());
    match errno_name(errno) {
        Some(name) => push_word(b",\"error\":\"", name, out),
        None => out.extend_from_slice(b",\"error\":null"),
    }
}

fn push_optional(name: &str, text: Option<&[u8]>, out: &mut Vec<u8>) {
    match text {
        Some(text) => push_field(name, text, out),
        None => {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":null");
        }
    }
}

fn push_word(before: &[u8], word: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

fn push_time(before: &[u8], at: Time, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    time::write(at, out);
    out.push(b'"');
}
