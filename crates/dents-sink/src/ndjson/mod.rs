//! NDJSON: one JSON object on each line, one line for each row.
//!
//! # The schema, version 1
//!
//! Every line has all fields, in this order; unknown values are `null`, also single facts that an export of ncdu does not know. Only the fields of details may be absent.
//!
//! | field | value |
//! |---|---|
//! | `v` | 1, the version of this schema |
//! | `path` | text, see below |
//! | `parent` | text: the path of the directory it is in; empty for an operand |
//! | `name` | text; of an operand the whole argument |
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
//! | `asked` | the request that failed: `stat`, `link`, `open`, `read`, `loop`; the last three are about the contents of a directory and have a line of their own, beside the line of the directory |
//! | `errno`, `error` | the error of the kernel, as number and as name (`ENOENT`) |
//! | `project`, `flags`, … | the details that were requested ([`crate::Detail`]): numbers and texts; only then they are there |
//!
//! **Text is exact.** Valid UTF-8 is a JSON string. A text that is not valid UTF-8 is left out; `path_bytes` (`parent_bytes`,
//! `name_bytes`, `user_bytes`, `group_bytes`, `target_bytes`) replaces it, with the bytes in base64 (RFC 4648, with padding). So
//! `if "path_bytes" in row: base64.b64decode(row["path_bytes"]) else: row["path"].encode()` is the path in any case. Control
//! characters are escaped, also DEL and U+0080–U+009F, so that lines are safe on a terminal.
//!
//! # The record of the scan
//!
//! The last line has the field `scan` instead of `path` and all fields after it. It records whether the lines are complete:
//!
//! ```json
//! {"v":1,"scan":{"program":"dents 0.1.0","begun":"2026-11-22T10:00:00.000000000Z","ended":"…","complete":true,"rows":157518,"checksum":"0001337fbd0a6e51"}}
//! ```
//!
//! `complete` is false if a root could not be opened or the walk was stopped; `rows` is the number of the other lines, and
//! `checksum` that of their values, whatever their order (`checksum.rs`; files of earlier versions have none). On btrfs there is also `subvolumes`: `UUID:GENERATION` of each subvolume where the scan began, separated by spaces, before the start. Without
//! this line (the file was cut off at the end of a line, or filtered, or written by a program without such a record) it is unknown
//! whether all lines are there. Only rows have a `type`: `jq 'select(.type)'`.
//!
//! Lines of several files may be concatenated, sorted, and split with `split -l`. A reader adds up the rows of all records, and
//! their checksums; if there are fewer lines, rows were lost, and if the checksum is another, they were changed: both are errors.
//!
//! # How it is written
//!
//! Each part fills a buffer of 256 KiB and writes whole lines under a lock. The path of a directory is escaped once for all
//! of its entries. Nothing is allocated for a row, unless its name is not UTF-8.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod line;
mod read;

pub(crate) use read::Lines;

use crate::checksum::Checksum;
use crate::details::{Detail, Value};
use crate::format::{About, Extent};
use crate::output::{Output, Own};
use crate::row::{Fault, Row};
use crate::scan_file::Columns;
use crate::sink::{Part, Sink};
use crate::{SCHEMA, errno_name, subvolumes, time, words};
use dents_core::batch::Time;
use dents_core::facts::{Access, FACTS, Fact, Facts};
use dents_core::path;
use dents_render::record::text::{push_base64, push_escaped, push_member};
use dents_render::record::{Cells, Syntax};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Bytes of one write.
const BUFFER: usize = 256 << 10;

/// An NDJSON file that is being written.
pub struct Ndjson {
    program: String,
    begun: Time,
    ended: Option<Time>,
    subvolumes: String,
    fields: Fields,
    state: Mutex<State>,
}

struct State {
    output: Output,
    /// Rows written.
    rows: u64,
    checksum: Checksum,
}

impl Ndjson {
    /// Begins the file. The record of the scan will have program and start.
    #[must_use]
    pub fn new(output: Output, about: &About<'_>) -> Self {
        let state = Mutex::new(State { output, rows: 0, checksum: Checksum::default() });
        let fields = Fields::new(about.details);
        let (program, subvolumes) = (about.program.to_string(), subvolumes::text(about.subvolumes));
        Ndjson { program, begun: about.begun, ended: about.ended, subvolumes, fields, state }
    }
}

impl Sink for Ndjson {
    fn part(&self) -> Box<dyn Part + '_> {
        let buffer = Vec::with_capacity(BUFFER + 4096);
        let cells = Cells::new(Syntax::Ndjson);
        let (parent, checksum) = (Parent::default(), Checksum::default());
        Box::new(Writer { sink: self, buffer, rows: 0, checksum, parent, cells })
    }

    fn own(&self) -> Option<Own> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).output.own()
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let State { mut output, rows, checksum } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        let ended = self.ended.unwrap_or_else(time::now);
        let texts = [&self.program, &self.subvolumes, &checksum.text()[..]];
        push_record(texts, [self.begun, ended], extent, rows, &mut line);
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
    checksum: Checksum,
    parent: Parent,
    cells: Cells,
}

impl Part for Writer<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.parent.set(row.parent);
        push_line(row, &self.parent, &self.sink.fields, &mut self.cells, &mut self.buffer);
        self.checksum.add(row);
        self.rows += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.sink.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.output.write_all(&self.buffer)?;
        state.rows += std::mem::take(&mut self.rows);
        state.checksum.take(&mut self.checksum);
        self.buffer.clear();
        Ok(())
    }
}

/// The path of the directory, which the lines of all of its entries have twice.
struct Parent {
    bytes: Vec<u8>,
    /// The path up to the name, escaped; meaningless if it is not UTF-8.
    prefix: Vec<u8>,
    is_text: bool,
}

impl Default for Parent {
    fn default() -> Self {
        Parent { bytes: Vec::new(), prefix: Vec::new(), is_text: true }
    }
}

impl Parent {
    /// Moves to another directory. Of one below the last one, only the rest of the path is escaped: a chain of directories has gigabytes
    /// of paths.
    fn set(&mut self, parent: &[u8]) {
        let Parent { bytes, prefix, is_text } = self;
        if bytes == parent {
            return;
        }
        let last = Some(&bytes[..]).filter(|last| *is_text && !last.is_empty());
        let rest = last.and_then(|last| parent.strip_prefix(last)?.strip_prefix(path::separator(last)));
        let rest = rest.unwrap_or_else(|| {
            bytes.clear();
            prefix.clear();
            parent
        });
        *is_text = std::str::from_utf8(rest).is_ok();
        if *is_text {
            push_escaped(rest, prefix);
            prefix.extend_from_slice(path::separator(parent));
        }
        bytes.extend_from_slice(&parent[bytes.len()..]);
    }

    /// Appends the whole field, with a comma before it.
    fn push(&self, out: &mut Vec<u8>) {
        if !self.is_text {
            out.push(b',');
            return push_member("parent", Some(&self.bytes), out);
        }
        out.extend_from_slice(b",\"parent\":\"");
        let end = self.prefix.len() - path::separator(&self.bytes).len();
        out.extend_from_slice(&self.prefix[..end]);
        out.push(b'"');
    }
}

/// The fields of a line whose names come from tables, with the text before each value.
struct Fields {
    facts: [Key; FACTS.len()],
    details: Vec<(Detail, Key)>,
}

/// The text before a value, and before one that is in base64.
struct Key([Vec<u8>; 2]);

impl Key {
    fn of(word: &str) -> Key {
        Key([format!(",\"{word}\":"), format!(",\"{word}_bytes\":")].map(String::into_bytes))
    }

    fn value(&self) -> &[u8] {
        &self.0[0]
    }

    fn both(&self) -> [&[u8]; 2] {
        self.0.each_ref().map(Vec::as_slice)
    }
}

impl Fields {
    fn new(details: Columns) -> Fields {
        Fields {
            facts: FACTS.map(|fact| Key::of(fact.word)),
            details: Detail::of(details).map(|detail| (detail, Key::of(detail.name()))).collect(),
        }
    }
}

fn push_line(row: &Row<'_>, parent: &Parent, fields: &Fields, cells: &mut Cells, out: &mut Vec<u8>) {
    cells.number(b"{\"v\":", Some(SCHEMA.into()), out);
    if parent.is_text && std::str::from_utf8(row.name).is_ok() {
        out.extend_from_slice(b",\"path\":\"");
        out.extend_from_slice(&parent.prefix);
        let name = out.len();
        push_escaped(row.name, out);
        let name = name..out.len();
        out.push(b'"');
        parent.push(out);
        out.extend_from_slice(b",\"name\":\"");
        out.extend_from_within(name);
        out.push(b'"');
    } else {
        let mut path = Vec::new();
        row.path(&mut path);
        out.extend_from_slice(b",\"path_bytes\":\"");
        push_base64(&path, out);
        out.push(b'"');
        parent.push(out);
        cells.text([b",\"name\":", b",\"name_bytes\":"], Some(row.name), out);
    }
    cells.number(b",\"depth\":", Some(row.depth.into()), out);
    cells.word(b",\"type\":", Some(words::of_kind(row.kind).as_bytes()), out);
    for (fact, key) in FACTS.iter().zip(&fields.facts) {
        if fact.column == Columns::LAZY {
            cells.text([b",\"target\":", b",\"target_bytes\":"], row.target, out);
        }
        push_fact(fact, key, row.facts.as_ref(), cells, out);
    }
    push_fault(row.fault, cells, out);
    for (detail, key) in &fields.details {
        match row.details.get(*detail) {
            Some(Value::Number(number)) => cells.number(key.value(), Some(number), out),
            Some(Value::Text(text)) => cells.text(key.both(), Some(text.as_bytes()), out),
            None => cells.number(key.value(), None, out),
        }
    }
    out.extend_from_slice(b"}\n");
}

fn push_fact(fact: &Fact, key: &Key, facts: Option<&Facts<'_>>, cells: &mut Cells, out: &mut Vec<u8>) {
    let facts = facts.filter(|facts| facts.knows(fact.column));
    match fact.access {
        Access::Wide(get, _) => cells.number(key.value(), facts.map(get), out),
        Access::Narrow(get, _) => cells.number(key.value(), facts.map(|facts| get(facts).into()), out),
        Access::Short(get, _) => cells.number(key.value(), facts.map(|facts| get(facts).into()), out),
        Access::Time(get, _) => cells.time(key.value(), facts.and_then(get), out),
        Access::Text(get, _) => cells.text(key.both(), facts.and_then(get), out),
        Access::Flag(get, _) => cells.boolean(key.value(), facts.map(get), out),
    }
}

fn push_fault(fault: Option<Fault>, cells: &Cells, out: &mut Vec<u8>) {
    cells.word(b",\"asked\":", fault.map(|fault| fault.asked.word().as_bytes()), out);
    cells.signed(b",\"errno\":", fault.map(|fault| fault.errno.into()), out);
    let name = fault.and_then(|fault| errno_name(fault.errno));
    cells.word(b",\"error\":", name.map(str::as_bytes), out);
}

/// The record of the scan.
fn push_record(
    [program, subvolumes, checksum]: [&str; 3],
    [begun, ended]: [Time; 2],
    extent: Extent,
    rows: u64,
    out: &mut Vec<u8>,
) {
    let mut cells = Cells::new(Syntax::Ndjson);
    cells.number(b"{\"v\":", Some(SCHEMA.into()), out);
    out.extend_from_slice(b",\"scan\":{");
    push_member("program", Some(program.as_bytes()), out);
    cells.time(b",\"begun\":", Some(begun), out);
    cells.time(b",\"ended\":", Some(ended), out);
    cells.boolean(b",\"complete\":", Some(extent == Extent::Complete), out);
    cells.number(b",\"rows\":", Some(rows), out);
    out.push(b',');
    push_member("checksum", Some(checksum.as_bytes()), out);
    if !subvolumes.is_empty() {
        out.push(b',');
        push_member("subvolumes", Some(subvolumes.as_bytes()), out);
    }
    out.extend_from_slice(b"}}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::details::Details;
    use dents_core::needs::Kind;
    use dents_render::record::Field;
    use serde_json::{Map, Value};

    fn line(name: &[u8]) -> Map<String, Value> {
        let row = Row {
            parent: b"",
            name,
            depth: 0,
            kind: Kind::Reg,
            facts: None,
            target: None,
            details: Details::default(),
            fault: Some(Fault { asked: crate::Asked::Stat, errno: 2 }),
        };
        let mut line = Vec::new();
        push_line(
            &row,
            &Parent::default(),
            &Fields::new(Columns::empty()),
            &mut Cells::new(Syntax::Ndjson),
            &mut line,
        );
        assert!(!String::from_utf8_lossy(&line[..line.len() - 1]).chars().any(char::is_control));
        serde_json::from_slice(&line).expect("JSON")
    }

    #[test]
    fn every_character_comes_back() {
        let all: String = (1..=0x11_0000).step_by(7).chain(1..0x900).filter_map(char::from_u32).collect();
        assert_eq!(line(all.as_bytes())["name"], all);
    }

    #[test]
    fn the_parent_is_right_after_any_other() {
        let paths: [&[u8]; 12] = [
            b"",
            b"/",
            b"/a",
            b"/a/b\n",
            b"/a/b\n/c",
            b"/a/b",
            b"/a/\xff",
            b"/a/\xff/b",
            b"a",
            b"ab",
            b"a\xc3",
            b"a/\xc3\xa9",
        ];
        let pushed = |parent: &Parent| {
            let mut out = Vec::new();
            parent.push(&mut out);
            (parent.is_text.then(|| parent.prefix.clone()), out)
        };
        for before in paths {
            for path in paths {
                let (mut parent, mut alone) = (Parent::default(), Parent::default());
                parent.set(before);
                parent.set(path);
                alone.set(path);
                assert_eq!(pushed(&parent), pushed(&alone), "{before:?} {path:?}");
                let mut field = vec![b','];
                push_member("parent", Some(path), &mut field);
                assert_eq!(pushed(&parent).1, field, "{path:?}");
            }
        }
    }

    #[test]
    fn facts_have_the_names_of_fields_of_listings() {
        let own = ["v", "path", "parent", "depth"];
        let state = [Field::Lazy, Field::Asked, Field::Errno, Field::Error];
        for key in line(b"x").keys().filter(|key| !own.contains(&key.as_str())) {
            assert!(Field::USUAL.iter().chain(&state).any(|field| field.word() == key), "{key}");
        }
    }
}
