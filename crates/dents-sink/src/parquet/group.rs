//! Rows become a row group: one worker's part of the file.
//!
//! Rows are held in columns, [`BATCH`] at a time so that they stay in the cache, and then given to the encoders, which keep
//! pages. When there are rows enough, the finished chunks go to the file.

use super::column::{AnyColumn, Column};
use super::schema::{COLUMNS, Schema};
use super::{Parquet, io_error};
use crate::row::{Facts, Row};
use crate::{Part, time, words};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use ::parquet::errors::Result;
use bytes::Bytes;
use dents::batch::Time;
use std::io;

/// Rows that are encoded at once.
const BATCH: usize = 1024;

/// One worker's row group.
pub(super) struct Writer<'s> {
    sink: &'s Parquet,
    columns: Columns,
    /// Rows in `columns`, and rows in the encoders.
    held: usize,
    encoded: usize,
}

impl<'s> Writer<'s> {
    pub(super) fn new(sink: &'s Parquet) -> Self {
        Writer { sink, columns: Columns::default(), held: 0, encoded: 0 }
    }

    fn encode(&mut self) -> io::Result<()> {
        self.columns.encode(&self.sink.schema).map_err(io_error)?;
        self.encoded += std::mem::take(&mut self.held);
        if self.encoded >= self.sink.rows_of_a_part() { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.encoded = 0;
        let mut chunks = Vec::with_capacity(COLUMNS);
        for (column, _) in self.columns.all() {
            chunks.extend(column.close().map_err(io_error)?);
        }
        self.sink.append(chunks)
    }
}

impl Part for Writer<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.columns.push(row);
        self.held += 1;
        if self.held == BATCH { self.encode() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held > 0 {
            self.encode()?;
        }
        if self.encoded > 0 { self.hand_over() } else { Ok(()) }
    }
}

/// The columns, and which rows have a value in those that may lack one.
#[derive(Default)]
struct Columns {
    path: Column<ByteArrayType>,
    parent: Column<ByteArrayType>,
    depth: Column<Int32Type>,
    kind: Column<ByteArrayType>,
    /// ino, dev, size, allocated.
    wide: [Column<Int64Type>; 4],
    /// nlink, mode, uid, gid.
    narrow: [Column<Int32Type>; 4],
    user: Column<ByteArrayType>,
    group: Column<ByteArrayType>,
    /// atime, ctime, mtime.
    times: [Column<Int64Type>; 3],
    btime: Column<Int64Type>,
    target: Column<ByteArrayType>,
    asked: Column<ByteArrayType>,
    errno: Column<Int32Type>,
    lazy: Column<BoolType>,
    far_times: Column<ByteArrayType>,
    has: Levels,
    /// The paths, one after the other, and where each ends.
    paths: Vec<u8>,
    ends: Vec<usize>,
    parents: Last,
    users: Last,
    groups: Last,
}

/// For each row 1 if it has something.
#[derive(Default)]
struct Levels {
    facts: Vec<i16>,
    user: Vec<i16>,
    group: Vec<i16>,
    btime: Vec<i16>,
    target: Vec<i16>,
    fault: Vec<i16>,
    far_times: Vec<i16>,
}

impl Columns {
    fn push(&mut self, row: &Row<'_>) {
        row.path(&mut self.paths);
        self.ends.push(self.paths.len());
        self.parent.values.push(self.parents.of(row.parent));
        self.depth.values.push(row.depth as i32);
        self.kind.values.push(word(words::of_kind(row.kind)));
        self.has.target.push(i16::from(row.target.is_some()));
        self.target.values.extend(row.target.map(ByteArray::from));
        self.has.fault.push(i16::from(row.fault.is_some()));
        if let Some(fault) = row.fault {
            self.asked.values.push(word(words::of_asked(fault.asked)));
            self.errno.values.push(fault.errno);
        }
        self.has.facts.push(i16::from(row.facts.is_some()));
        let facts = row.facts.as_ref();
        self.has.user.push(i16::from(facts.is_some_and(|facts| facts.user.is_some())));
        self.has.group.push(i16::from(facts.is_some_and(|facts| facts.group.is_some())));
        self.has.btime.push(i16::from(facts.is_some_and(|facts| facts.btime.is_some())));
        let near = facts.is_none_or(|facts| self.push_facts(facts));
        self.has.far_times.push(i16::from(!near));
        if let Some(facts) = facts.filter(|_| !near) {
            self.far_times.values.push(ByteArray::from(far_times(facts).as_str()));
        }
    }

    /// Returns whether all times are exact in their columns.
    fn push_facts(&mut self, facts: &Facts<'_>) -> bool {
        let wide = [facts.ino, words::device(facts.dev), facts.size, facts.allocated];
        for (column, value) in self.wide.iter_mut().zip(wide) {
            column.values.push(value as i64);
        }
        let narrow = [facts.nlink, u32::from(facts.mode), facts.uid, facts.gid];
        for (column, value) in self.narrow.iter_mut().zip(narrow) {
            column.values.push(value as i32);
        }
        self.user.values.extend(facts.user.map(|user| self.users.of(user)));
        self.group.values.extend(facts.group.map(|group| self.groups.of(group)));
        self.lazy.values.push(facts.lazy);
        let mut near = true;
        let mut nanos = |at: Time| {
            let (nanos, exact) = time::nanos(at);
            near &= exact;
            nanos
        };
        for (column, at) in self.times.iter_mut().zip([facts.atime, facts.ctime, facts.mtime]) {
            column.values.push(nanos(at));
        }
        self.btime.values.extend(facts.btime.map(nanos));
        near
    }

    fn encode(&mut self, schema: &Schema) -> Result<()> {
        let paths = Bytes::from(std::mem::take(&mut self.paths));
        let mut start = 0;
        self.path.values.extend(self.ends.drain(..).map(|end| {
            let path = paths.slice(start..end);
            start = end;
            ByteArray::from(path)
        }));
        for (index, (column, levels)) in self.all().into_iter().enumerate() {
            column.encode(schema, index, levels)?;
        }
        self.has.clear();
        Ok(())
    }

    /// In the order of the schema.
    fn all(&mut self) -> [(&mut dyn AnyColumn, Option<&[i16]>); COLUMNS] {
        let has = &self.has;
        let facts = Some(&has.facts[..]);
        let [ino, dev, size, allocated] = &mut self.wide;
        let [nlink, mode, uid, gid] = &mut self.narrow;
        let [atime, ctime, mtime] = &mut self.times;
        [
            (&mut self.path, None),
            (&mut self.parent, None),
            (&mut self.depth, None),
            (&mut self.kind, None),
            (ino, facts),
            (dev, facts),
            (nlink, facts),
            (mode, facts),
            (uid, facts),
            (gid, facts),
            (&mut self.user, Some(&has.user)),
            (&mut self.group, Some(&has.group)),
            (size, facts),
            (allocated, facts),
            (atime, facts),
            (&mut self.btime, Some(&has.btime)),
            (ctime, facts),
            (mtime, facts),
            (&mut self.target, Some(&has.target)),
            (&mut self.asked, Some(&has.fault)),
            (&mut self.errno, Some(&has.fault)),
            (&mut self.lazy, facts),
            (&mut self.far_times, Some(&has.far_times)),
        ]
    }
}

impl Levels {
    fn clear(&mut self) {
        let Levels { facts, user, group, btime, target, fault, far_times } = self;
        for levels in [facts, user, group, btime, target, fault, far_times] {
            levels.clear();
        }
    }
}

/// A value that mostly is the one before: copied once, then shared.
#[derive(Default)]
struct Last(Option<ByteArray>);

impl Last {
    fn of(&mut self, bytes: &[u8]) -> ByteArray {
        match &self.0 {
            Some(last) if last.data() == bytes => last.clone(),
            _ => self.0.insert(ByteArray::from(bytes)).clone(),
        }
    }
}

fn word(word: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(word.as_bytes()))
}

/// The times that nanoseconds do not reach, in full: `atime=+292277026596-12-04T15:30:07.000000000Z mtime=…`.
fn far_times(facts: &Facts<'_>) -> String {
    let all = [
        ("atime", Some(facts.atime)),
        ("btime", facts.btime),
        ("ctime", Some(facts.ctime)),
        ("mtime", Some(facts.mtime)),
    ];
    let far = all.into_iter().filter_map(|(name, at)| Some((name, at.filter(|at| !time::nanos(*at).1)?)));
    far.map(|(name, at)| format!("{name}={}", time::text(at))).collect::<Vec<_>>().join(" ")
}
