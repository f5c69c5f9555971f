//! A row group, encoded in memory.
//!
//! Values are collected by column, [`BATCH`] rows at a time so that they stay in the cache, and then encoded into pages.

use super::column::{AnyColumn, Bounds, Chunk, Column};
use super::io_error;
use super::schema::{COLUMNS, Schema};
use crate::row::{Facts, Row};
use crate::time::Unit;
use crate::{extension, time, words};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use ::parquet::errors::Result;
use bytes::Bytes;
use dents_core::batch::Time;
use std::io;

/// Rows that are encoded at once.
const BATCH: usize = 1024;

/// One row group.
pub(super) struct Group<'s> {
    schema: &'s Schema,
    columns: Columns,
    /// Rows in `columns`.
    held: usize,
}

impl<'s> Group<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let columns = Columns { unit: schema.unit(), ..Columns::default() };
        Group { schema, columns, held: 0 }
    }

    /// Takes a row, which comes after all others in the order of paths.
    pub(super) fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.columns.push(row);
        self.held += 1;
        if self.held == BATCH { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> io::Result<()> {
        self.held = 0;
        self.columns.encode(self.schema).map_err(io_error)
    }

    /// The encoded columns; none if there were no rows.
    pub(super) fn finish(mut self) -> io::Result<Vec<Chunk>> {
        if self.held > 0 {
            self.encode()?;
        }
        self.columns.close().map_err(io_error)
    }
}

/// The columns, with the definition levels of optional ones.
#[derive(Default)]
struct Columns {
    path: Texts,
    parent: Texts,
    /// A name is a part of its path.
    name: Texts,
    extension: Column<ByteArrayType>,
    depth: Column<Int32Type>,
    kind: Column<ByteArrayType>,
    /// ino, dev, size, allocated.
    wide: [Column<Int64Type>; 4],
    /// nlink, mode, uid, gid.
    narrow: [Column<Int32Type>; 4],
    user: Texts,
    group: Texts,
    /// atime, ctime, mtime.
    times: [Column<Int64Type>; 3],
    btime: Column<Int64Type>,
    target: Texts,
    asked: Column<ByteArrayType>,
    errno: Column<Int32Type>,
    lazy: Column<BoolType>,
    far_times: Column<ByteArrayType>,
    has: Levels,
    unit: Unit,
    /// The paths, one after the other, and where each ends.
    paths: Vec<u8>,
    ends: Vec<End>,
    /// Of the first columns: paths, paths as bytes, parents.
    bounds: [Bounds; 3],
    parents: Last,
    users: Last,
    groups: Last,
}

/// For each row 1 if it has a value.
#[derive(Default)]
struct Levels {
    extension: Vec<i16>,
    facts: Vec<i16>,
    btime: Vec<i16>,
    fault: Vec<i16>,
    far_times: Vec<i16>,
}

/// Where a path ends, how long name and extension at its end are, and whether path and name are text. An extension that is not text is
/// none.
struct End {
    at: usize,
    name: usize,
    extension: usize,
    path_is_text: bool,
    name_is_text: bool,
}

/// Bytes, and whether they are UTF-8.
#[derive(Clone)]
struct Value {
    bytes: ByteArray,
    is_text: bool,
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Value {
        Value { bytes: ByteArray::from(bytes), is_text: is_text(bytes) }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Two columns of the same values: text, null where it is not UTF-8, and bytes.
#[derive(Default)]
struct Texts {
    text: Column<ByteArrayType>,
    has_text: Vec<i16>,
    bytes: Column<ByteArrayType>,
    has_bytes: Vec<i16>,
}

impl Texts {
    fn push(&mut self, value: Option<Value>) {
        self.has_bytes.push(i16::from(value.is_some()));
        let text = value.as_ref().filter(|value| value.is_text);
        self.push_text(text.map(|text| text.bytes.clone()));
        self.bytes.values.extend(value.map(|value| value.bytes));
    }

    /// Clears the values, after they were encoded.
    fn clear(&mut self) {
        self.has_text.clear();
        self.has_bytes.clear();
    }

    fn push_text(&mut self, text: Option<ByteArray>) {
        self.has_text.push(i16::from(text.is_some()));
        self.text.values.extend(text);
    }
}

impl Columns {
    fn push(&mut self, row: &Row<'_>) {
        row.path(&mut self.paths);
        let parent = self.parents.of(row.parent);
        let name_is_text = is_text(row.name);
        let path_is_text = parent.is_text && name_is_text;
        let extension = extension(row.name);
        let extension = if name_is_text || is_text(extension) { extension.len() } else { 0 };
        let (at, name) = (self.paths.len(), row.name.len());
        self.ends.push(End { at, name, extension, path_is_text, name_is_text });
        self.parent.push(Some(parent));
        self.depth.values.push(row.depth as i32);
        self.kind.values.push(word(words::of_kind(row.kind)));
        self.target.push(row.target.map(Value::from));
        self.has.fault.push(i16::from(row.fault.is_some()));
        if let Some(fault) = row.fault {
            self.asked.values.push(word(words::of_asked(fault.asked)));
            self.errno.values.push(fault.errno);
        }
        self.has.facts.push(i16::from(row.facts.is_some()));
        let facts = row.facts.as_ref();
        let (user, group) = (facts.and_then(|facts| facts.user), facts.and_then(|facts| facts.group));
        self.user.push(user.map(|user| self.users.of(user)));
        self.group.push(group.map(|group| self.groups.of(group)));
        self.has.btime.push(i16::from(facts.is_some_and(|facts| facts.btime.is_some())));
        let near = facts.is_none_or(|facts| self.push_facts(facts));
        self.has.far_times.push(i16::from(!near));
        if let Some(facts) = facts.filter(|_| !near) {
            self.far_times.values.push(ByteArray::from(far_times(facts, self.unit).as_str()));
        }
    }

    /// Returns whether the columns can represent all times.
    fn push_facts(&mut self, facts: &Facts<'_>) -> bool {
        let wide = [facts.ino, words::device(facts.dev), facts.size, facts.allocated];
        for (column, value) in self.wide.iter_mut().zip(wide) {
            column.values.push(value as i64);
        }
        let narrow = [facts.nlink, u32::from(facts.mode), facts.uid, facts.gid];
        for (column, value) in self.narrow.iter_mut().zip(narrow) {
            column.values.push(value as i32);
        }
        self.lazy.values.push(facts.lazy);
        let (mut near, unit) = (true, self.unit);
        let mut count = |at: Time| {
            let (count, reached) = unit.count(at);
            near &= reached;
            count
        };
        for (column, at) in self.times.iter_mut().zip([facts.atime, facts.ctime, facts.mtime]) {
            column.values.push(count(at));
        }
        self.btime.values.extend(facts.btime.map(count));
        near
    }

    fn encode(&mut self, schema: &Schema) -> Result<()> {
        let paths = Bytes::from(std::mem::take(&mut self.paths));
        let mut start = 0;
        for End { at, name, extension, path_is_text, name_is_text } in self.ends.drain(..) {
            let slice = |start| ByteArray::from(paths.slice(start..at));
            self.path.push(Some(Value { bytes: slice(start), is_text: path_is_text }));
            self.name.push_text(name_is_text.then(|| slice(at - name)));
            self.has.extension.push(i16::from(extension > 0));
            self.extension.values.extend((extension > 0).then(|| slice(at - extension)));
            start = at;
        }
        let [text, bytes, parent] = &mut self.bounds;
        let rows = self.path.bytes.values.len();
        text.take_sorted(&self.path.text.values, rows);
        bytes.take_sorted(&self.path.bytes.values, rows);
        parent.take(&self.parent.text.values, rows);
        for (index, (column, levels)) in self.all().into_iter().enumerate() {
            column.encode(schema, index, levels)?;
        }
        self.has.clear();
        for texts in [
            &mut self.path,
            &mut self.parent,
            &mut self.name,
            &mut self.user,
            &mut self.group,
            &mut self.target,
        ] {
            texts.clear();
        }
        Ok(())
    }

    /// Ends all columns; none if nothing was encoded.
    fn close(&mut self) -> Result<Vec<Chunk>> {
        let bounds = std::mem::take(&mut self.bounds);
        let mut bounds = bounds.into_iter();
        let mut chunks = Vec::with_capacity(COLUMNS);
        for (column, _) in self.all() {
            let Some(chunk) = column.close()? else { continue };
            chunks.push(match bounds.next() {
                Some(bounds) => chunk.with(bounds)?,
                None => chunk,
            });
        }
        Ok(chunks)
    }

    /// In the order of the schema.
    fn all(&mut self) -> [(&mut dyn AnyColumn, Option<&[i16]>); COLUMNS] {
        let has = &self.has;
        let facts = Some(&has.facts[..]);
        let [ino, dev, size, allocated] = &mut self.wide;
        let [nlink, mode, uid, gid] = &mut self.narrow;
        let [atime, ctime, mtime] = &mut self.times;
        [
            (&mut self.path.text, Some(&self.path.has_text)),
            (&mut self.path.bytes, None),
            (&mut self.parent.text, Some(&self.parent.has_text)),
            (&mut self.parent.bytes, None),
            (&mut self.name.text, Some(&self.name.has_text)),
            (&mut self.extension, Some(&has.extension)),
            (&mut self.depth, None),
            (&mut self.kind, None),
            (ino, facts),
            (dev, facts),
            (nlink, facts),
            (mode, facts),
            (uid, facts),
            (gid, facts),
            (&mut self.user.text, Some(&self.user.has_text)),
            (&mut self.user.bytes, Some(&self.user.has_bytes)),
            (&mut self.group.text, Some(&self.group.has_text)),
            (&mut self.group.bytes, Some(&self.group.has_bytes)),
            (size, facts),
            (allocated, facts),
            (atime, facts),
            (&mut self.btime, Some(&has.btime)),
            (ctime, facts),
            (mtime, facts),
            (&mut self.target.text, Some(&self.target.has_text)),
            (&mut self.target.bytes, Some(&self.target.has_bytes)),
            (&mut self.asked, Some(&has.fault)),
            (&mut self.errno, Some(&has.fault)),
            (&mut self.lazy, facts),
            (&mut self.far_times, Some(&has.far_times)),
        ]
    }
}

impl Levels {
    fn clear(&mut self) {
        let Levels { extension, facts, btime, fault, far_times } = self;
        for levels in [extension, facts, btime, fault, far_times] {
            levels.clear();
        }
    }
}

/// A value that is mostly equal to the previous one: copied once, then shared.
#[derive(Default)]
struct Last(Option<Value>);

impl Last {
    fn of(&mut self, bytes: &[u8]) -> Value {
        match &self.0 {
            Some(last) if last.bytes.data() == bytes => last.clone(),
            _ => self.0.insert(Value::from(bytes)).clone(),
        }
    }
}

fn word(word: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(word.as_bytes()))
}

/// The times that 64 bits of this unit cannot represent, as text: `atime=+292277026596-12-04T15:30:07.000000000Z mtime=…`.
fn far_times(facts: &Facts<'_>, unit: Unit) -> String {
    let all = [
        ("atime", Some(facts.atime)),
        ("btime", facts.btime),
        ("ctime", Some(facts.ctime)),
        ("mtime", Some(facts.mtime)),
    ];
    let far = all.into_iter().filter_map(|(name, at)| Some((name, at.filter(|at| !unit.count(*at).1)?)));
    far.map(|(name, at)| format!("{name}={}", time::text(at))).collect::<Vec<_>>().join(" ")
}
