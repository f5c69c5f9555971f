//! Row groups, encoded in memory one after the other.
//!
//! Values are encoded as they come, column by column, and compressed page by page: all columns end a page at the same row.

use super::column::{AnyColumn, Chunk, Column, Scratch};
use super::encode::bounds::{NONE, SORTED};
use super::encode::{Bits, Few, Front, Near, Plain, Repeated, Wide, Words};
use super::io_error;
use super::schema::{COLUMNS, Schema};
use crate::bytes::in_common;
use crate::details::{Detail, Value};
use crate::row::Row;
use crate::scan_file::Columns as Wanted;
use crate::time::Unit;
use crate::{extension, time, words};
use ::parquet::errors::Result;
use dents_core::batch::Time;
use dents_core::facts::{Facts, Type};
use dents_core::path::separator;
use std::io;

/// Rows of a page, at most.
const ROWS: usize = 16 << 10;
/// Bytes of names in a page, at most, unless one row has more.
const BYTES: usize = 1 << 20;

/// A row group. Its memory is used for the next one.
pub(super) struct Group<'s> {
    schema: &'s Schema,
    columns: Columns,
    has: Has,
    /// Rows of the page.
    rows: usize,
    last: Last,
    scratch: Scratch,
    is_empty: bool,
}

/// The path of the last row.
#[derive(Default)]
struct Last {
    path: Vec<u8>,
    /// The length of the parent.
    parent: usize,
    /// The start of the name, after the parent and a slash.
    name: usize,
    parent_is_text: bool,
}

impl Last {
    /// Moves to the next row. Returns how many first bytes of its parent and of its path are those of the last row. No byte of a path is
    /// compared twice: a chain of directories has gigabytes of paths.
    fn next(&mut self, row: &Row<'_>) -> [usize; 2] {
        if self.path.get(..self.parent) == Some(row.parent) && self.name > 0 {
            self.path.truncate(self.name);
            self.path.extend_from_slice(row.name);
            return [self.parent, self.name];
        }
        let common = in_common(&self.path, row.parent);
        // Text ends before a slash, and is text again behind it.
        let known = row.parent[..common.min(self.parent)].iter().rposition(|byte| *byte == b'/');
        let known = known.filter(|_| self.parent_is_text).unwrap_or(0);
        self.parent_is_text = is_text(&row.parent[known..]);
        let of_parent = common.min(self.parent);
        self.path.truncate(common);
        for bytes in [&row.parent[common..], separator(row.parent), row.name] {
            self.path.extend_from_slice(bytes);
        }
        self.parent = row.parent.len();
        self.name = self.path.len() - row.name.len();
        [of_parent, common]
    }
}

/// The columns, in the order of the schema.
#[derive(Default)]
struct Columns {
    path: Texts<Front<SORTED>>,
    parent: Column<Repeated>,
    parent_bytes: Column<Front<NONE>>,
    name: Column<Front<NONE>>,
    extension: Column<Words<false>>,
    depth: Column<Few<u32>>,
    kind: Column<Words<false>>,
    ino: Column<Near<u64>>,
    dev: Column<Few<u64>>,
    /// nlink, mode, uid, gid.
    narrow: [Column<Few<u32>>; 4],
    user: Column<Words<true>>,
    user_bytes: Column<Words<false>>,
    group: Column<Words<true>>,
    group_bytes: Column<Words<false>>,
    size: Column<Wide<u64>>,
    allocated: Column<Few<u64>>,
    /// atime, btime, ctime, mtime.
    times: [Column<Near<i64>>; 4],
    target: Texts<Plain>,
    asked: Column<Words<true>>,
    errno: Column<Few<i32>>,
    lazy: Column<Bits>,
    far_times: Column<Plain>,
    details: Vec<DetailColumn>,
}

/// The column of a detail.
enum DetailColumn {
    Narrow(Column<Few<u32>>),
    Wide(Column<Few<u64>>),
    Text(Column<Words<true>>),
}

impl DetailColumn {
    fn of(detail: Detail) -> DetailColumn {
        match detail.kind() {
            Type::Narrow => DetailColumn::Narrow(Column::default()),
            Type::Wide => DetailColumn::Wide(Column::default()),
            Type::Text => DetailColumn::Text(Column::default()),
        }
    }

    /// Adds a value, if it has the type of the column.
    fn put(&mut self, value: Option<Value<'_>>, has: &mut Vec<bool>) {
        match (&mut *self, value) {
            (DetailColumn::Narrow(column), Some(Value::Number(number))) => column.values.put(number as u32),
            (DetailColumn::Wide(column), Some(Value::Number(number))) => column.values.put(number),
            (DetailColumn::Text(column), Some(Value::Text(text))) => column.values.put(text.as_bytes()),
            _ => return has.push(false),
        }
        has.push(true);
    }

    fn any(&mut self) -> &mut dyn AnyColumn {
        match self {
            DetailColumn::Narrow(column) => column,
            DetailColumn::Wide(column) => column,
            DetailColumn::Text(column) => column,
        }
    }
}

/// Two columns of the same values: text, without those that are not UTF-8, and bytes.
#[derive(Default)]
struct Texts<E> {
    text: Column<E>,
    bytes: Column<E>,
}

/// For each row of the page, whether it has a value.
#[derive(Default)]
struct Has {
    path: Vec<bool>,
    parent: Vec<bool>,
    name: Vec<bool>,
    extension: Vec<bool>,
    facts: Vec<bool>,
    /// For each of [`Facts::EACH_UNKNOWABLE`].
    known: [Vec<bool>; 6],
    btime: Vec<bool>,
    user: Vec<bool>,
    user_bytes: Vec<bool>,
    group: Vec<bool>,
    group_bytes: Vec<bool>,
    target: Vec<bool>,
    target_bytes: Vec<bool>,
    fault: Vec<bool>,
    far_times: Vec<bool>,
    details: Vec<Vec<bool>>,
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Records whether there is a value, and encodes it.
fn put<T>(has: &mut Vec<bool>, value: Option<T>, put: impl FnOnce(T)) {
    has.push(value.is_some());
    if let Some(value) = value {
        put(value);
    }
}

impl<'s> Group<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let details = schema.details();
        let columns = Columns {
            details: details.iter().map(|detail| DetailColumn::of(*detail)).collect(),
            ..Columns::default()
        };
        Group {
            schema,
            columns,
            has: Has { details: vec![Vec::new(); details.len()], ..Has::default() },
            rows: 0,
            last: Last::default(),
            scratch: Scratch::default(),
            is_empty: true,
        }
    }

    /// Takes a row, which comes after all others in the order of paths.
    pub(super) fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.put_names(row);
        self.put_target(row);
        let Group { columns, has, .. } = self;
        columns.depth.values.put(row.depth);
        columns.kind.values.put(words::of_kind(row.kind).as_bytes());
        put(&mut has.fault, row.fault, |fault| {
            columns.asked.values.put(fault.asked.word().as_bytes());
            columns.errno.values.put(fault.errno);
        });
        self.put_facts(row.facts.as_ref());
        self.put_details(row);
        self.rows += 1;
        let Columns { path, parent, target, .. } = &self.columns;
        let held = [path.bytes.values.held(), parent.values.held(), target.bytes.values.held()];
        let is_long = held.into_iter().any(|bytes| bytes >= BYTES);
        if self.rows == ROWS || is_long { self.end_page().map_err(io_error) } else { Ok(()) }
    }

    fn put_names(&mut self, row: &Row<'_>) {
        let Group { columns, has, last, .. } = self;
        let [of_parent, of_path] = last.next(row);
        // This holds for columns of text only if that row has a value in them.
        let known = |has: &[bool], known| if has.last() == Some(&true) { known } else { 0 };
        let (path, name_is_text) = (&last.path[..], is_text(row.name));
        let path_is_text = last.parent_is_text && name_is_text;
        columns.path.bytes.values.put(path, of_path);
        let of_path = known(&has.path, of_path);
        put(&mut has.path, path_is_text.then_some(path), |path| columns.path.text.values.put(path, of_path));
        columns.parent_bytes.values.put(row.parent, of_parent);
        let of_parent = known(&has.parent, of_parent);
        let parent = last.parent_is_text.then_some(row.parent);
        put(&mut has.parent, parent, |parent| columns.parent.values.put(parent, of_parent));
        put(&mut has.name, name_is_text.then_some(row.name), |name| columns.name.values.put(name, 0));
        // An extension that is not text counts as none.
        let extension =
            Some(extension(row.name)).filter(|it| !it.is_empty() && (name_is_text || is_text(it)));
        put(&mut has.extension, extension, |it| columns.extension.values.put(it));
    }

    fn put_target(&mut self, row: &Row<'_>) {
        let Group { columns: Columns { target, .. }, has, .. } = self;
        put(&mut has.target_bytes, row.target, |bytes| target.bytes.values.put(bytes));
        put(&mut has.target, row.target.filter(|bytes| is_text(bytes)), |text| target.text.values.put(text));
    }

    fn put_facts(&mut self, facts: Option<&Facts<'_>>) {
        let unit = self.schema.unit();
        let Group { columns, has, .. } = self;
        has.facts.push(facts.is_some());
        for (has, column) in has.known.iter_mut().zip(Facts::EACH_UNKNOWABLE) {
            has.push(facts.is_some_and(|facts| facts.knows(column)));
        }
        let (user, group) = (facts.and_then(|facts| facts.user), facts.and_then(|facts| facts.group));
        put(&mut has.user_bytes, user, |user| columns.user_bytes.values.put(user));
        put(&mut has.user, user.filter(|user| is_text(user)), |user| columns.user.values.put(user));
        put(&mut has.group_bytes, group, |group| columns.group_bytes.values.put(group));
        put(&mut has.group, group.filter(|group| is_text(group)), |group| columns.group.values.put(group));
        has.btime.push(facts.is_some_and(|facts| facts.btime.is_some()));
        let are_near = facts.is_none_or(|facts| columns.put_numbers(facts, unit));
        let far_times = facts.filter(|_| !are_near).map(|facts| far_times(facts, unit));
        put(&mut has.far_times, far_times, |text| columns.far_times.values.put(text.as_bytes()));
    }

    fn put_details(&mut self, row: &Row<'_>) {
        let Group { schema, columns, has, .. } = self;
        let columns = columns.details.iter_mut().zip(&mut has.details);
        for (detail, (column, has)) in schema.details().iter().zip(columns) {
            column.put(row.details.get(*detail), has);
        }
    }

    fn end_page(&mut self) -> Result<()> {
        let Group { columns, has, rows, scratch, .. } = self;
        for (column, has) in columns.all(has) {
            column.end_page(*rows, has, scratch)?;
        }
        has.clear();
        *rows = 0;
        self.is_empty = false;
        Ok(())
    }

    /// Ends the row group: the encoded columns, none if there were no rows.
    pub(super) fn finish(&mut self) -> io::Result<Vec<Chunk>> {
        self.close().map_err(io_error)
    }

    fn close(&mut self) -> Result<Vec<Chunk>> {
        if self.rows > 0 {
            self.end_page()?;
        }
        if std::mem::replace(&mut self.is_empty, true) {
            return Ok(Vec::new());
        }
        let columns = self.columns.all(&self.has).enumerate();
        columns.map(|(index, (column, _))| column.close(self.schema, index)).collect()
    }
}

impl Columns {
    /// Returns whether the columns can represent all times.
    fn put_numbers(&mut self, facts: &Facts<'_>, unit: Unit) -> bool {
        self.ino.values.page.push(facts.ino);
        self.dev.values.put(words::device(facts.dev));
        let narrow = [
            Some(facts.nlink),
            facts.known(Wanted::MODE, u32::from(facts.mode)),
            facts.known(Wanted::UID, facts.uid),
            facts.known(Wanted::GID, facts.gid),
        ];
        for (column, value) in self.narrow.iter_mut().zip(narrow) {
            value.into_iter().for_each(|value| column.values.put(value));
        }
        self.size.values.page.push(facts.size);
        self.allocated.values.put(facts.allocated);
        self.lazy.values.0.push(facts.lazy);
        let mut are_near = true;
        for (column, at) in self.times.iter_mut().zip(times(facts)) {
            let Some((count, is_near)) = at.map(|at| unit.count(at)) else { continue };
            column.values.page.push(count);
            are_near &= is_near;
        }
        are_near
    }

    /// All columns in the order of the schema, each with the flags of its values.
    fn all<'c>(
        &'c mut self,
        has: &'c Has,
    ) -> impl Iterator<Item = (&'c mut dyn AnyColumn, Option<&'c [bool]>)> {
        let details = self.details.iter_mut().zip(&has.details);
        let details = details.map(|(column, has)| (column.any(), Some(&has[..])));
        let facts = Some(&has.facts[..]);
        let [has_mode, has_uid, has_gid, has_atime, has_ctime, has_mtime] =
            has.known.each_ref().map(|has| Some(&has[..]));
        let [nlink, mode, uid, gid] = &mut self.narrow;
        let [atime, btime, ctime, mtime] = &mut self.times;
        let usual: [(&mut dyn AnyColumn, Option<&[bool]>); COLUMNS] = [
            (&mut self.path.text, Some(&has.path)),
            (&mut self.path.bytes, None),
            (&mut self.parent, Some(&has.parent)),
            (&mut self.parent_bytes, None),
            (&mut self.name, Some(&has.name)),
            (&mut self.extension, Some(&has.extension)),
            (&mut self.depth, None),
            (&mut self.kind, None),
            (&mut self.ino, facts),
            (&mut self.dev, facts),
            (nlink, facts),
            (mode, has_mode),
            (uid, has_uid),
            (gid, has_gid),
            (&mut self.user, Some(&has.user)),
            (&mut self.user_bytes, Some(&has.user_bytes)),
            (&mut self.group, Some(&has.group)),
            (&mut self.group_bytes, Some(&has.group_bytes)),
            (&mut self.size, facts),
            (&mut self.allocated, facts),
            (atime, has_atime),
            (btime, Some(&has.btime)),
            (ctime, has_ctime),
            (mtime, has_mtime),
            (&mut self.target.text, Some(&has.target)),
            (&mut self.target.bytes, Some(&has.target_bytes)),
            (&mut self.asked, Some(&has.fault)),
            (&mut self.errno, Some(&has.fault)),
            (&mut self.lazy, facts),
            (&mut self.far_times, Some(&has.far_times)),
        ];
        usual.into_iter().chain(details)
    }
}

impl Has {
    fn clear(&mut self) {
        let Has { path, parent, name, extension, facts, btime, .. } = self;
        [path, parent, name, extension, facts, btime].into_iter().for_each(Vec::clear);
        let Has { user, user_bytes, group, group_bytes, target, target_bytes, fault, far_times, .. } = self;
        self.details.iter_mut().chain(&mut self.known).for_each(Vec::clear);
        let others = [user, user_bytes, group, group_bytes, target, target_bytes, fault, far_times];
        others.into_iter().for_each(Vec::clear);
    }
}

/// The known times: atime, btime, ctime, mtime.
fn times(facts: &Facts<'_>) -> [Option<Time>; 4] {
    [
        facts.known(Wanted::ATIME, facts.atime),
        facts.btime,
        facts.known(Wanted::CTIME, facts.ctime),
        facts.known(Wanted::MTIME, facts.mtime),
    ]
}

/// The times that 64 bits of this unit cannot represent, as text: `atime=+292277026596-12-04T15:30:07.000000000Z mtime=…`.
fn far_times(facts: &Facts<'_>, unit: Unit) -> String {
    let far = ["atime", "btime", "ctime", "mtime"].into_iter().zip(times(facts));
    let far = far.filter_map(|(name, at)| Some((name, at.filter(|at| !unit.count(*at).1)?)));
    far.map(|(name, at)| format!("{name}={}", time::text(at))).collect::<Vec<_>>().join(" ")
}
