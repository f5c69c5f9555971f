//! The data of the page, as its script reads them. Lists are columns or rows without names of fields, because there are many of them.

use super::changes::Changes;
use super::json::{Name, written_length};
use super::series::{Lines, Scan, Series};
use super::sum::Figures;
use super::tree::{Node, Shown, Tree};
use super::{Args, Page};
use crate::diff::{Difference, Growth};
use crate::output::Completion;
use crate::stats::{self, AGES, By, Tally};
use crate::top::{By as Order, Ranked, time_of};
use dents_core::batch::Time;
use dents_render::record::words;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;

/// The number of rows of a table.
const ROWS: usize = 500;
/// Bytes of the paths of a list. A path may have thousands of bytes.
const PATHS: usize = 150 << 10;

#[derive(Serialize)]
pub(super) struct Data<'p> {
    /// The version of this format.
    version: u32,
    program: &'static str,
    /// The scan file, the scan with which it is compared, and the PATHs.
    from: Option<Name<'p>>,
    since: Option<Name<'p>>,
    paths: Vec<Name<'p>>,
    /// In seconds.
    begun: Option<i64>,
    ended: Option<i64>,
    complete: bool,
    errors: u64,
    total: Sum,
    directories: u64,
    roots: u64,
    /// The names of the classes of ages, the youngest first.
    ages: Vec<&'static str>,
    users: Vec<Name<'p>>,
    tree: Columns<'p>,
    files: Files<'p>,
    tables: Vec<Table<'p>>,
    largest: Vec<(Name<'p>, i128)>,
    oldest: Vec<(Name<'p>, i64)>,
    changes: Option<Differences<'p>>,
    series: Option<OverTime<'p>>,
}

/// Entries, bytes, allocated bytes.
type Sum = (u64, u128, u128);

fn sum(figures: &Figures) -> Sum {
    (figures.entries, figures.bytes, figures.allocated)
}

/// The directories, each before those in it.
#[derive(Default, Serialize)]
struct Columns<'p> {
    depth: Vec<usize>,
    name: Vec<Name<'p>>,
    all: Vec<Sum>,
    own: Vec<Sum>,
    directories: Vec<u64>,
    newest: Vec<Option<i64>>,
    age: Vec<Option<usize>>,
    /// The position of the user in `users`.
    user: Vec<Option<usize>>,
}

/// The largest files of directories.
#[derive(Default, Serialize)]
struct Files<'p> {
    /// The position of the directory in the tree.
    of: Vec<usize>,
    name: Vec<Name<'p>>,
    bytes: Vec<u64>,
    allocated: Vec<u64>,
    changed: Vec<Option<i64>>,
    age: Vec<Option<usize>>,
    user: Vec<Option<usize>>,
}

/// Sums of several scans, the oldest first.
#[derive(Serialize)]
struct OverTime<'p> {
    /// The file, the time of its begin in seconds, whether it is complete, its sum.
    scans: Vec<(Name<'p>, i64, bool, Sum)>,
    users: OverTimeRows<'p>,
    directories: OverTimeRows<'p>,
}

/// The rows, each with a sum for each scan, and the sums of all other rows.
#[derive(Serialize)]
struct OverTimeRows<'p> {
    rows: Vec<(Name<'p>, Vec<Sum>)>,
    others: Option<Vec<Sum>>,
}

#[derive(Serialize)]
struct Table<'p> {
    by: String,
    /// Whether only regular files count.
    files: bool,
    /// Whether rows have an order of their own.
    ordered: bool,
    rows: Vec<(Name<'p>, Sum)>,
    /// The number of rows that are left out, and their sum.
    others: Option<(usize, Sum)>,
}

/// Bytes, allocated bytes, entries.
type Growths = (i128, i128, i64);

fn growth(growth: &Growth) -> Growths {
    (growth.bytes, growth.allocated, growth.entries)
}

#[derive(Serialize)]
struct Differences<'p> {
    total: Growths,
    /// New, deleted, changed, moved.
    counts: Vec<Growths>,
    unknown: u64,
    directories: Vec<(Name<'p>, Growths)>,
    users: Vec<(Name<'p>, Growths)>,
    lists: Vec<Vec<Entry<'p>>>,
}

/// Path, old path, type, old size, new size, allocated bytes more, what changed.
type Entry<'p> =
    (Name<'p>, Option<Name<'p>>, &'static str, Option<u64>, Option<u64>, i128, Vec<&'static str>);

pub(super) fn of<'p>(
    args: &'p Args,
    page: &'p Page,
    completion: &Completion<'_>,
    complete: bool,
) -> Data<'p> {
    let Page { span, tables, largest, oldest, tree, changes, series } = page;
    let last = series.as_ref().and_then(|series| series.scans.last());
    let from = args.source.path().or(last.map(|scan| scan.path.as_os_str()));
    // The operands of a series are its scans.
    let paths = if series.is_some() { &[][..] } else { args.walk.given() };
    let seconds = |time: Option<Time>| time.map(|time| time.sec);
    let users: Vec<&Row> =
        tables.iter().find(|tally| tally.by.word() == "user").map(ordered).unwrap_or_default();
    let shown = users.iter().take(ROWS).enumerate();
    let numbers: Numbers = shown.filter_map(|(nth, row)| Some((row.first.id?, nth))).collect();
    Data {
        version: 1,
        program: concat!("dents ", env!("CARGO_PKG_VERSION")),
        from: from.map(|path| Name(path.as_bytes())),
        since: args.since.as_deref().map(|path| Name(path.as_bytes())),
        paths: paths.iter().take(100).map(|path| Name(path.as_bytes())).collect(),
        begun: seconds(span.begun),
        ended: seconds(span.ended),
        complete,
        errors: completion.errors(),
        total: sum(&tree.whole),
        directories: tree.directories,
        roots: tree.roots,
        ages: AGES.iter().map(|(_, name)| *name).collect(),
        users: users.iter().take(ROWS).map(|row| Name(&row.first.name)).collect(),
        tree: columns(tree, &numbers),
        files: files(tree, &numbers),
        tables: tables.iter().map(table).collect(),
        largest: within(largest.iter().map(|one| (Name(&one.path), one.score))),
        oldest: within(oldest.iter().map(oldest_row)),
        changes: changes.as_ref().map(differences),
        series: series.as_ref().map(over_time),
    }
}

type Row = stats::Row;

/// The position of each user in `users`.
type Numbers = HashMap<u32, usize>;

fn files<'p>(tree: &'p Tree, numbers: &Numbers) -> Files<'p> {
    let mut files = Files::default();
    for Shown { directory, name, file } in &tree.files {
        files.of.push(*directory);
        files.name.push(Name(name));
        files.bytes.push(file.bytes);
        files.allocated.push(file.allocated);
        files.changed.push(file.changed.map(|(seconds, _)| seconds));
        files.age.push(file.changed.map(|(_, age)| age));
        files.user.push(file.user.and_then(|user| numbers.get(&user).copied()));
    }
    files
}

fn figures(sum: &stats::Sum) -> Sum {
    (sum.entries, sum.size, sum.allocated)
}

fn scan(one: &Scan) -> (Name<'_>, i64, bool, Sum) {
    (Name(one.path.as_bytes()), one.begun, one.complete, figures(&one.total))
}

fn over_time(series: &Series) -> OverTime<'_> {
    OverTime {
        scans: series.scans.iter().map(scan).collect(),
        users: lines(&series.users),
        directories: lines(&series.directories),
    }
}

fn lines(lines: &Lines) -> OverTimeRows<'_> {
    let all = |sums: &[stats::Sum]| sums.iter().map(figures).collect::<Vec<Sum>>();
    OverTimeRows {
        rows: within(lines.rows.iter().map(|(name, sums)| (Name(name), all(sums)))),
        others: lines.others.as_deref().map(all),
    }
}

fn columns<'p>(tree: &'p Tree, numbers: &Numbers) -> Columns<'p> {
    let mut columns = Columns::default();
    for Node { depth, name, all, own, directories, newest, age, user, .. } in &tree.nodes {
        columns.depth.push(*depth);
        columns.name.push(Name(name));
        columns.all.push(sum(all));
        columns.own.push(sum(own));
        columns.directories.push(*directories);
        columns.newest.push(*newest);
        columns.age.push(*age);
        columns.user.push(user.and_then(|user| numbers.get(&user).copied()));
    }
    columns
}

/// The rows in the order of the key, else the largest first.
fn ordered(tally: &Tally) -> Vec<&Row> {
    let mut rows: Vec<&Row> = tally.rows.iter().collect();
    match tally.by.first.is_ordered() {
        true => rows.sort_unstable_by_key(|row| row.first.order),
        false => rows.sort_unstable_by_key(|row| {
            (Reverse(row.sum.allocated), Reverse(row.sum.entries), &row.first.name, row.first.id)
        }),
    }
    rows
}

fn table(tally: &Tally) -> Table<'_> {
    let by: &By = &tally.by;
    let rows = ordered(tally);
    let all = rows.iter().map(|row| (Name(&row.first.name), figures(&row.sum)));
    let shown = within(all.take(ROWS));
    let rest = &rows[shown.len()..];
    let add = |(a, b, c): Sum, row: &&Row| (a + row.sum.entries, b + row.sum.size, c + row.sum.allocated);
    let others = (!rest.is_empty()).then(|| (rest.len(), rest.iter().fold((0, 0, 0), add)));
    Table { by: by.word(), files: by.counts_files(), ordered: by.first.is_ordered(), rows: shown, others }
}

fn oldest_row(one: &Ranked) -> (Name<'_>, i64) {
    (Name(&one.path), time_of(Order::Oldest, one.score).sec)
}

/// The first rows, as long as their names are within the limit.
fn within<'p, R>(rows: impl Iterator<Item = (Name<'p>, R)>) -> Vec<(Name<'p>, R)> {
    let mut room = PATHS;
    let fits = |(name, _): &(Name<'p>, R)| {
        room = room.saturating_sub(written_length(name.0));
        room > 0
    };
    rows.take_while(fits).collect()
}

fn differences(changes: &Changes) -> Differences<'_> {
    Differences {
        total: growth(&changes.total),
        counts: changes.counts.iter().map(growth).collect(),
        unknown: changes.unknown,
        directories: grown(&changes.directories),
        users: grown(&changes.users),
        lists: changes.lists.iter().map(|list| entries(list)).collect(),
    }
}

fn grown(rows: &[(Vec<u8>, Growth)]) -> Vec<(Name<'_>, Growths)> {
    within(rows.iter().map(|(name, more)| (Name(name), growth(more))))
}

fn entries(list: &[Difference]) -> Vec<Entry<'_>> {
    let mut room = PATHS;
    let fits = |one: &&Difference| {
        let old = one.old_path.as_deref().map_or(0, written_length);
        room = room.saturating_sub(written_length(&one.path) + old);
        room > 0
    };
    list.iter().take_while(fits).map(entry).collect()
}

fn entry(one: &Difference) -> Entry<'_> {
    let Difference { path, kind, old_size, new_size, old_path, changes, growth, .. } = one;
    let old_path = old_path.as_deref().map(Name);
    let changes = changes.words().collect();
    (Name(path), old_path, words::of_kind(*kind), *old_size, *new_size, growth.allocated, changes)
}
