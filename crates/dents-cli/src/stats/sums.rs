//! A sum for each value of each key.

use super::Key;
use super::class::{self, AGES, EXTENSIONS, Now, SIZES};
use super::hardlinks::{ByName, Linked, Links};
use super::owners::Names;
use crate::entry::{AnyEntry, Facts};
use dents_core::needs::Kind;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

/// A sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Sum {
    pub(super) entries: u64,
    /// Bytes in regular files, and in the text of links.
    pub(super) size: u128,
    /// Bytes that are allocated.
    pub(super) allocated: u128,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.entries += other.entries;
        self.size += other.size;
        self.allocated += other.allocated;
    }
}

/// A value of a key, and its sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The user's or group's name, the extension, the class, the depth; empty for none.
    pub(super) name: Vec<u8>,
    /// A user's or group's number.
    pub(super) id: Option<u32>,
    pub(super) sum: Sum,
}

/// All rows of a key.
pub(super) struct Tally {
    pub(super) key: Key,
    /// Ages, sizes and depths in their order, others in no order.
    pub(super) rows: Vec<Row>,
}

/// The sums of one worker.
pub(super) struct Sums {
    now: Now,
    users: Option<HashMap<u32, Sum>>,
    groups: Option<HashMap<u32, Sum>>,
    extensions: Option<HashMap<Box<[u8]>, Sum>>,
    ages: Option<HashMap<usize, Sum>>,
    sizes: Option<HashMap<usize, Sum>>,
    depths: Option<HashMap<u32, Sum>>,
    pub(super) names: Names,
}

impl Sums {
    pub(super) fn new(keys: &[Key], now: Now) -> Sums {
        fn map<K, V>(wanted: bool) -> Option<HashMap<K, V>> {
            wanted.then(HashMap::new)
        }
        let has = |key| keys.contains(&key);
        Sums {
            now,
            users: map(has(Key::User)),
            groups: map(has(Key::Group)),
            extensions: map(has(Key::Extension)),
            ages: map(has(Key::Age)),
            sizes: map(has(Key::Size)),
            depths: map(has(Key::Depth)),
            names: Names::default(),
        }
    }

    /// Takes an entry; `names` of its names may be met. An entry without metadata is not counted.
    pub(super) fn see(&mut self, seen: &AnyEntry<'_>, names: u32, links: &Links) {
        let Some(facts) = seen.facts else { return };
        let [user, group] = seen.owners;
        self.names.learn(facts.uid, user, facts.gid, group);
        let sum = sum(seen.kind, &facts);
        if seen.kind == Kind::Dir || names < 2 {
            self.add(seen.kind, &facts, sum);
            return self.add_name(ByName::of(seen), sum);
        }
        let (is_first, last) = links.see(seen, names);
        if is_first {
            self.add(seen.kind, &facts, sum);
        }
        if let Some(linked) = last {
            self.add_linked(linked, links);
        }
    }

    /// Counts what does not depend on the name.
    fn add(&mut self, kind: Kind, facts: &Facts, sum: Sum) {
        count(&mut self.users, facts.uid, sum);
        count(&mut self.groups, facts.gid, sum);
        if kind == Kind::Reg {
            count(&mut self.ages, self.now.age(facts.mtime), sum);
            count(&mut self.sizes, class::size(facts.size), sum);
        }
    }

    fn add_name(&mut self, name: ByName<'_>, sum: Sum) {
        count(&mut self.depths, name.depth, sum);
        if let (Some(extension), Some(extensions)) = (name.extension, &mut self.extensions) {
            count_extension(extensions, extension, sum);
        }
    }

    fn add_linked(&mut self, linked: Linked, links: &Links) {
        let Linked { size, allocated, .. } = linked;
        let sum = Sum { entries: 1, size: size.into(), allocated: allocated.into() };
        links.with_name(linked, |name| self.add_name(name, sum));
    }

    pub(super) fn merge(&mut self, other: Sums) {
        merge(&mut self.users, other.users);
        merge(&mut self.groups, other.groups);
        merge(&mut self.extensions, other.extensions);
        merge(&mut self.ages, other.ages);
        merge(&mut self.sizes, other.sizes);
        merge(&mut self.depths, other.depths);
        self.names.merge(other.names);
    }

    /// The tables, after the walk, with the names of owners. Files of which not all names were met are counted here.
    pub(super) fn into_tables(mut self, keys: &[Key], mut links: Links) -> Vec<Tally> {
        for linked in links.take() {
            self.add_linked(linked, &links);
        }
        self.names
            .resolve(self.users.iter().flat_map(HashMap::keys), self.groups.iter().flat_map(HashMap::keys));
        keys.iter().map(|key| Tally { key: *key, rows: self.rows(*key) }).collect()
    }

    fn rows(&self, key: Key) -> Vec<Row> {
        match key {
            Key::User => rows(&self.users, |id| (self.names.user(*id), Some(*id))),
            Key::Group => rows(&self.groups, |id| (self.names.group(*id), Some(*id))),
            Key::Extension => rows(&self.extensions, |extension| (extension.to_vec(), None)),
            Key::Age => ordered(&self.ages, |class| AGES[*class].1.into()),
            Key::Size => ordered(&self.sizes, |class| SIZES[*class].1.into()),
            Key::Depth => ordered(&self.depths, |depth| depth.to_string().into_bytes()),
        }
    }
}

/// The sum of one entry.
fn sum(kind: Kind, facts: &Facts) -> Sum {
    let size = if kind.has_length() { facts.size } else { 0 };
    Sum { entries: 1, size: size.into(), allocated: facts.allocated.into() }
}

fn count<K: Eq + Hash>(map: &mut Option<HashMap<K, Sum>>, key: K, sum: Sum) {
    if let Some(map) = map {
        *map.entry(key).or_default() += sum;
    }
}

fn count_extension(map: &mut HashMap<Box<[u8]>, Sum>, extension: &[u8], sum: Sum) {
    let is_full = map.len() >= EXTENSIONS;
    match map.get_mut(extension) {
        Some(all) => *all += sum,
        None if is_full => *map.entry(Box::default()).or_default() += sum,
        None => {
            map.insert(extension.into(), sum);
        }
    }
}

fn merge<K: Eq + Hash>(map: &mut Option<HashMap<K, Sum>>, other: Option<HashMap<K, Sum>>) {
    if let (Some(map), Some(other)) = (map, other) {
        other.into_iter().for_each(|(key, sum)| *map.entry(key).or_default() += sum);
    }
}

fn rows<K>(map: &Option<HashMap<K, Sum>>, name: impl Fn(&K) -> (Vec<u8>, Option<u32>)) -> Vec<Row> {
    let row = |(key, sum): (&K, &Sum)| {
        let (name, id) = name(key);
        Row { name, id, sum: *sum }
    };
    map.iter().flatten().map(row).collect()
}

/// In the order of the keys.
fn ordered<K: Ord>(map: &Option<HashMap<K, Sum>>, name: impl Fn(&K) -> Vec<u8>) -> Vec<Row> {
    let mut sums: Vec<(&K, &Sum)> = map.iter().flatten().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    sums.into_iter().map(|(key, sum)| Row { name: name(key), id: None, sum: *sum }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inode::Inode;

    fn seen<'a>(parent: &'a [u8], name: &'a [u8], ino: u64, nlink: u32, size: u64) -> AnyEntry<'a> {
        let inode = Inode { dev: (8, 1), ino };
        let facts = Facts { inode, nlink, uid: 0, size, allocated: 4096, ..Facts::default() };
        AnyEntry { parent, name, depth: 1, kind: Kind::Reg, facts: Some(facts), owners: [Some(b"ann"), None] }
    }

    #[test]
    fn a_file_counts_once_with_its_least_extension_whoever_met_it() {
        let all = [
            seen(b"t/b", b"x.o", 7, 3, 10),
            seen(b"t/a", b"x.h", 7, 3, 10),
            seen(b"t", b"x.c", 7, 3, 10),
            seen(b"t", b"y.o", 8, 1, 5),
        ];
        for turn in 0..all.len() {
            // The third name may lie elsewhere.
            for names in [3, 4] {
                let keys = [Key::Extension, Key::User];
                let mut crew = [(); 2].map(|()| Sums::new(&keys, Now::live()));
                let links = Links::new(&keys, false);
                for step in 0..all.len() {
                    let one = &all[(step + turn) % all.len()];
                    let names = if one.facts.unwrap().nlink > 1 { names } else { 1 };
                    crew[step % 2].see(one, names, &links);
                }
                let [mut sums, other] = crew;
                sums.merge(other);
                let tables = sums.into_tables(&keys, links);
                let mut extensions = tables[0].rows.clone();
                extensions.sort_by(|a, b| a.name.cmp(&b.name));
                let sum = |entries: u64, size| Sum { entries, size, allocated: 4096 * u128::from(entries) };
                let row = |name: &[u8], id, sum| Row { name: name.to_vec(), id, sum };
                assert_eq!(extensions, [row(b"c", None, sum(1, 10)), row(b"o", None, sum(1, 5))], "{turn}");
                assert_eq!(tables[1].rows, [row(b"ann", Some(0), sum(2, 15))]);
            }
        }
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut sums = Sums::new(&[Key::User], Now::live());
        let links = Links::new(&[Key::User], false);
        let mut one = seen(b"t", b"x", 7, 1, u64::MAX);
        one.facts.as_mut().unwrap().allocated = u64::MAX;
        (0..3).for_each(|_| sums.see(&one, 1, &links));
        let most = 3 * u128::from(u64::MAX);
        let tables = sums.into_tables(&[Key::User], links);
        assert_eq!(tables[0].rows[0].sum, Sum { entries: 3, size: most, allocated: most });
    }

    #[test]
    fn extensions_without_end_become_none() {
        let mut map = HashMap::new();
        let sum = Sum { entries: 1, ..Sum::default() };
        for nth in 0..EXTENSIONS + 100 {
            count_extension(&mut map, format!("x{nth:x}").as_bytes(), sum);
        }
        assert_eq!(map.len(), EXTENSIONS + 1);
        assert_eq!(map[&b""[..]].entries, 100);
    }
}
