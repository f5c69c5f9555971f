//! A sum for each value of each key, and for each pair of values.

use super::class::{AGES, EXTENSIONS, Now, SIZES};
use super::hardlinks::{Linked, Links};
use super::key::{By, Key, NO_PROJECT};
use super::owners::Names;
use crate::entry::Found;
use dents_core::facts::Facts;
use dents_core::needs::Kind;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;

/// A sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Sum {
    pub(crate) entries: u64,
    /// Bytes in regular files, and in the text of links.
    pub(crate) size: u128,
    /// Bytes that are allocated.
    pub(crate) allocated: u128,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.entries += other.entries;
        self.size += other.size;
        self.allocated += other.allocated;
    }
}

/// A value of a key, in the form in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// The user's or group's name, the extension, the class, the depth, the path; empty for none.
    pub(crate) name: Vec<u8>,
    /// A user's or group's number.
    pub(crate) id: Option<u32>,
    /// The position in the order of the key.
    pub(crate) order: u32,
}

/// A value, or a pair of values, and its sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) first: Value,
    pub(crate) second: Option<Value>,
    pub(crate) sum: Sum,
}

/// All rows of a table, in no order.
pub(crate) struct Tally {
    pub(crate) by: By,
    pub(crate) rows: Vec<Row>,
}

/// Two values as numbers; 0 for a second value that the table does not have.
pub(crate) type Pair = [u32; 2];

/// The sums of one worker.
pub(crate) struct Sums {
    now: Now,
    tables: Vec<(By, HashMap<Pair, Sum>)>,
    texts: Texts,
    pub(crate) names: Names,
    /// The owners of the last entry, whose names are known.
    last: Option<(u32, u32)>,
    scratch: Vec<u8>,
}

impl Sums {
    pub(crate) fn new(tables: &[By], now: Now) -> Sums {
        let tables = tables.iter().map(|by| (by.clone(), HashMap::new())).collect();
        let (texts, names) = (Texts::default(), Names::default());
        Sums { now, tables, texts, names, last: None, scratch: Vec::new() }
    }

    /// Adds an entry; `names` of its names may be found. An entry without metadata is not counted.
    pub(crate) fn see(&mut self, found: &Found<'_>, facts: &Facts<'_>, names: u32, links: &Links) {
        if self.last != Some((facts.uid, facts.gid)) {
            self.names.learn(facts.uid, facts.user, facts.gid, facts.group);
            self.last = Some((facts.uid, facts.gid));
        }
        let sum = sum(found.kind, facts);
        if found.kind == Kind::Dir || names < 2 {
            return self.add(found, facts, sum, |_| true);
        }
        let values = links.are_wanted().then(|| self.values_by_name(found, facts));
        let (is_first, last) = links.see(found.kind, facts, names, values.as_deref());
        if is_first {
            self.add(found, facts, sum, |by| !by.is_by_name());
        }
        if let Some(linked) = last {
            links.with_values(linked, |values| self.add_linked(linked, values));
        }
    }

    /// Adds the sum to the tables that `wanted` selects.
    fn add(&mut self, found: &Found<'_>, facts: &Facts<'_>, sum: Sum, wanted: impl Fn(&By) -> bool) {
        let Sums { now, tables, texts, scratch, .. } = self;
        for (by, sums) in tables.iter_mut().filter(|(by, _)| wanted(by) && counts(by, found.kind)) {
            let mut value = |key: Key| match key.is_text() {
                true => {
                    key.text(found, scratch);
                    texts.number(key, scratch)
                }
                false => key.number(found, facts, *now),
            };
            let pair = [value(by.first), by.second.map_or(0, value)];
            *sums.entry(pair).or_default() += sum;
        }
    }

    /// The values of a name in all tables that depend on it, as bytes that compare by depth first. A text ends with a NUL, which
    /// it cannot contain.
    fn values_by_name(&mut self, found: &Found<'_>, facts: &Facts<'_>) -> Vec<u8> {
        let Sums { now, tables, texts, scratch, .. } = self;
        let mut bytes = found.depth.to_be_bytes().to_vec();
        for (by, _) in tables.iter().filter(|(by, _)| by.is_by_name()) {
            bytes.push(counts(by, found.kind).into());
            for key in by.keys() {
                if key.is_text() {
                    key.text(found, scratch);
                    let number = texts.number(key, scratch);
                    bytes.extend_from_slice(texts.text(number));
                    bytes.push(0);
                } else {
                    bytes.extend_from_slice(&key.number(found, facts, *now).to_be_bytes());
                }
            }
        }
        bytes
    }

    /// Counts a file with several links, by the values of its first name.
    fn add_linked(&mut self, linked: Linked, values: &[u8]) {
        let sum = Sum { entries: 1, size: linked.size.into(), allocated: linked.allocated.into() };
        let Sums { tables, texts, .. } = self;
        let mut values = Values(values.get(4..).unwrap_or_default());
        for (by, sums) in tables.iter_mut().filter(|(by, _)| by.is_by_name()) {
            let is_counted = values.byte() == Some(1);
            let mut value = |key: Key| match key.is_text() {
                true => texts.number(key, values.text()),
                false => values.number(),
            };
            let pair = [value(by.first), by.second.map_or(0, value)];
            if is_counted {
                *sums.entry(pair).or_default() += sum;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Sums) {
        let Sums { tables, texts, .. } = self;
        for ((by, sums), (_, others)) in tables.iter_mut().zip(other.tables) {
            for (pair, sum) in others {
                let mut value = |key: Key, value| match key.is_text() {
                    true => texts.number(key, other.texts.text(value)),
                    false => value,
                };
                let pair = [value(by.first, pair[0]), by.second.map_or(0, |key| value(key, pair[1]))];
                *sums.entry(pair).or_default() += sum;
            }
        }
        self.names.merge(other.names);
    }

    /// The tables after the walk, with the names of owners. Files with names that were not found are counted here.
    pub(crate) fn into_tables(mut self, mut links: Links) -> Vec<Tally> {
        links.count_rest(|linked, values| self.add_linked(linked, values));
        let (users, groups) = (self.all(Key::User), self.all(Key::Group));
        self.names.resolve(users.iter(), groups.iter());
        let tables = std::mem::take(&mut self.tables);
        let rows = |by: &By, sums: HashMap<Pair, Sum>| {
            let row = |([first, second], sum): (Pair, Sum)| Row {
                first: self.value(by.first, first),
                second: by.second.map(|key| self.value(key, second)),
                sum,
            };
            sums.into_iter().map(row).collect()
        };
        tables.into_iter().map(|(by, sums)| Tally { rows: rows(&by, sums), by }).collect()
    }

    /// All values of a key, in any table.
    fn all(&self, key: Key) -> Vec<u32> {
        let of = |(by, sums): &(By, HashMap<Pair, Sum>)| {
            let at = by.keys().position(|one| one == key);
            at.into_iter().flat_map(|at| sums.keys().map(move |pair| pair[at])).collect::<Vec<_>>()
        };
        self.tables.iter().flat_map(of).collect()
    }

    fn value(&self, key: Key, number: u32) -> Value {
        let (name, id) = match key {
            Key::User | Key::Group if number == Facts::NOBODY => (Vec::new(), None),
            Key::User => (self.names.user(number), Some(number)),
            Key::Group => (self.names.group(number), Some(number)),
            Key::Age => (AGES.get(number as usize).map_or(Vec::new(), |age| age.1.into()), None),
            Key::Size => (SIZES[number as usize].1.into(), None),
            Key::Depth => (number.to_string().into_bytes(), None),
            Key::Project if number == NO_PROJECT => (Vec::new(), None),
            Key::Project => (number.to_string().into_bytes(), Some(number)),
            Key::Extension | Key::Directory(_) => (self.texts.text(number).to_vec(), None),
        };
        Value { name, id, order: if key.is_ordered() { number } else { 0 } }
    }
}

/// Whether an entry of this type counts in a table.
fn counts(by: &By, kind: Kind) -> bool {
    kind == Kind::Reg || !by.counts_files()
}

/// The sum of one entry.
fn sum(kind: Kind, facts: &Facts<'_>) -> Sum {
    let size = if kind.has_length() { facts.size } else { 0 };
    Sum { entries: 1, size: size.into(), allocated: facts.allocated.into() }
}

/// Texts by number.
#[derive(Default)]
struct Texts {
    numbers: HashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
    /// The number of texts that are extensions. It is limited, because any text may follow the last dot of a name.
    extensions: usize,
}

impl Texts {
    fn number(&mut self, key: Key, text: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        if key == Key::Extension && !text.is_empty() {
            if self.extensions >= EXTENSIONS {
                return self.number(key, b"");
            }
            self.extensions += 1;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    fn text(&self, number: u32) -> &[u8] {
        &self.texts[number as usize]
    }
}

/// Values that [`Sums::values_by_name`] wrote.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> u32 {
        let Some((number, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u32::from_be_bytes(*number)
    }

    fn text(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ino: u64, nlink: u32, size: u64) -> dents_sink::Facts<'static> {
        let epoch = dents_core::batch::Time::default();
        dents_sink::Facts {
            dev: (8, 1),
            ino,
            mode: 0o100_644,
            nlink,
            uid: 0,
            gid: 0,
            user: Some(b"ann"),
            group: None,
            size,
            allocated: 4096,
            atime: epoch,
            btime: None,
            ctime: epoch,
            mtime: epoch,
            lazy: false,
            unknown: dents_sink::read::Columns::empty(),
        }
    }

    fn row<'a>(parent: &'a [u8], name: &'a [u8], ino: u64, nlink: u32, size: u64) -> dents_sink::Row<'a> {
        let facts = Some(facts(ino, nlink, size));
        dents_sink::Row {
            parent,
            name,
            depth: 1,
            kind: Kind::Reg,
            facts,
            target: None,
            details: Default::default(),
            fault: None,
        }
    }

    fn see(sums: &mut Sums, row: &dents_sink::Row<'_>, names: u32, links: &Links) {
        let found = Found::row(row, 0);
        sums.see(&found, &found.facts().unwrap(), names, links);
    }

    fn tables(keys: &[&str]) -> Vec<By> {
        keys.iter().flat_map(|key| By::parse(key).unwrap()).collect()
    }

    #[test]
    fn a_file_counts_once_with_its_least_extension_whoever_met_it() {
        let all = [
            row(b"t/b", b"x.o", 7, 3, 10),
            row(b"t/a", b"x.h", 7, 3, 10),
            row(b"t", b"x.c", 7, 3, 10),
            row(b"t", b"y.o", 8, 1, 5),
        ];
        for turn in 0..all.len() {
            // The third name may be elsewhere.
            for names in [3, 4] {
                let keys = tables(&["extension", "user", "user,extension"]);
                let mut crew = [(); 2].map(|()| Sums::new(&keys, Now::live()));
                let links = Links::new(&keys, false);
                for step in 0..all.len() {
                    let one = &all[(step + turn) % all.len()];
                    let names = if one.facts.is_some_and(|facts| facts.nlink > 1) { names } else { 1 };
                    see(&mut crew[step % 2], one, names, &links);
                }
                let [mut sums, other] = crew;
                sums.merge(other);
                let mut tables = sums.into_tables(links);
                let sum = |entries: u64, size| Sum { entries, size, allocated: 4096 * u128::from(entries) };
                let value = |name: &[u8], id| Value { name: name.to_vec(), id, order: 0 };
                let (c, o, ann) = (value(b"c", None), value(b"o", None), value(b"ann", Some(0)));
                let row = |first: &Value, second: Option<&Value>, sum| Row {
                    first: first.clone(),
                    second: second.cloned(),
                    sum,
                };
                for Tally { rows, .. } in &mut tables {
                    rows.sort_by_key(|row| std::cmp::Reverse(row.sum.size));
                }
                assert_eq!(tables[0].rows, [row(&c, None, sum(1, 10)), row(&o, None, sum(1, 5))], "{turn}");
                assert_eq!(tables[1].rows, [row(&ann, None, sum(2, 15))]);
                let pairs = [row(&ann, Some(&c), sum(1, 10)), row(&ann, Some(&o), sum(1, 5))];
                assert_eq!(tables[2].rows, pairs);
            }
        }
    }

    #[test]
    fn sums_do_not_overflow() {
        let by = tables(&["user"]);
        let (mut sums, links) = (Sums::new(&by, Now::live()), Links::new(&by, false));
        let mut one = row(b"t", b"x", 7, 1, u64::MAX);
        one.facts.as_mut().unwrap().allocated = u64::MAX;
        (0..3).for_each(|_| see(&mut sums, &one, 1, &links));
        let most = 3 * u128::from(u64::MAX);
        let tables = sums.into_tables(links);
        assert_eq!(tables[0].rows[0].sum, Sum { entries: 3, size: most, allocated: most });
    }

    #[test]
    fn extensions_without_end_become_none() {
        let mut texts = Texts::default();
        for nth in 0..EXTENSIONS + 100 {
            texts.number(Key::Extension, format!("x{nth:x}").as_bytes());
        }
        let none = texts.number(Key::Extension, b"");
        assert_eq!(texts.number(Key::Extension, b"another"), none);
        assert_eq!(texts.texts.len(), EXTENSIONS + 1);
        assert_ne!(texts.number(Key::Directory(1), b"another"), none);
    }
}
