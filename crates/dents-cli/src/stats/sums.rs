//! A sum for each value of each key.

use super::Key;
use super::class::{self, AGES, Now, SIZES};
use super::owners::Names;
use crate::inode::{Inode, path_order};
use crate::seen::{Facts, Seen};
use dents::needs::Kind;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

/// So many extensions are told apart; more are no extensions, but numbers by another name.
const EXTENSIONS: usize = 1 << 16;

/// What is summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Sum {
    pub(super) entries: u64,
    /// Bytes in regular files, and in the text of links.
    pub(super) size: u64,
    /// Bytes that are allocated.
    pub(super) allocated: u64,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.entries += other.entries;
        self.size += other.size;
        self.allocated += other.allocated;
    }
}

/// The value of a key, and what is known by it.
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
    /// In their own order where they have one, in any other order else.
    pub(super) rows: Vec<Row>,
}

/// A file with several links: what it adds, and where its first name puts it.
struct Linked {
    path: Box<[u8]>,
    depth: u32,
    kind: Kind,
    facts: Facts,
}

/// What one worker saw.
pub(super) struct Sums {
    now: Now,
    /// Links are followed: any file may come again.
    follows: bool,
    users: Option<HashMap<u32, Sum>>,
    groups: Option<HashMap<u32, Sum>>,
    extensions: Option<HashMap<Box<[u8]>, Sum>>,
    ages: Option<HashMap<usize, Sum>>,
    sizes: Option<HashMap<usize, Sum>>,
    depths: Option<HashMap<u32, Sum>>,
    linked: HashMap<Inode, Linked>,
    pub(super) names: Names,
    path: Vec<u8>,
}

impl Sums {
    pub(super) fn new(keys: &[Key], now: Now, follows: bool) -> Sums {
        fn map<K, V>(wanted: bool) -> Option<HashMap<K, V>> {
            wanted.then(HashMap::new)
        }
        let has = |key| keys.contains(&key);
        Sums {
            now,
            follows,
            users: map(has(Key::User)),
            groups: map(has(Key::Group)),
            extensions: map(has(Key::Extension)),
            ages: map(has(Key::Age)),
            sizes: map(has(Key::Size)),
            depths: map(has(Key::Depth)),
            linked: HashMap::new(),
            names: Names::default(),
            path: Vec::new(),
        }
    }

    /// Takes an entry. One of which nothing is known counts nowhere.
    pub(super) fn see(&mut self, seen: &Seen<'_>) {
        let Some(facts) = seen.facts else { return };
        let [user, group] = seen.owners;
        self.names.learn(facts.uid, user, facts.gid, group);
        if seen.kind == Kind::Dir || (facts.nlink < 2 && !self.follows) {
            return self.add(seen.name, seen.depth, seen.kind, &facts);
        }
        seen.path(&mut self.path);
        let path = self.path.as_slice().into();
        self.set_aside(Linked { path, depth: seen.depth, kind: seen.kind, facts });
    }

    /// Keeps one of the names of a file: the first, in the order of paths.
    fn set_aside(&mut self, new: Linked) {
        match self.linked.get_mut(&new.facts.inode) {
            Some(old) if path_order(&old.path, &new.path) != Ordering::Greater => {}
            Some(old) => *old = new,
            None => {
                self.linked.insert(new.facts.inode, new);
            }
        }
    }

    fn add(&mut self, name: &[u8], depth: u32, kind: Kind, facts: &Facts) {
        // What a directory or a device calls its size cannot be added to that of files.
        let size = if matches!(kind, Kind::Reg | Kind::Link) { facts.size } else { 0 };
        let sum = Sum { entries: 1, size, allocated: facts.allocated };
        count(&mut self.users, facts.uid, sum);
        count(&mut self.groups, facts.gid, sum);
        count(&mut self.depths, depth, sum);
        if kind == Kind::Reg {
            count(&mut self.ages, self.now.age(facts.mtime), sum);
            count(&mut self.sizes, class::size(size), sum);
            if let Some(extensions) = &mut self.extensions {
                count_extension(extensions, class::extension(name), sum);
            }
        }
    }

    pub(super) fn merge(&mut self, other: Sums) {
        merge(&mut self.users, other.users);
        merge(&mut self.groups, other.groups);
        merge(&mut self.extensions, other.extensions);
        merge(&mut self.ages, other.ages);
        merge(&mut self.sizes, other.sizes);
        merge(&mut self.depths, other.depths);
        other.linked.into_values().for_each(|linked| self.set_aside(linked));
        self.names.merge(other.names);
    }

    /// When all is seen: a table for each key, and its owners by their names.
    pub(super) fn into_tables(mut self, keys: &[Key]) -> Vec<Tally> {
        for linked in std::mem::take(&mut self.linked).into_values() {
            self.add(&linked.path, linked.depth, linked.kind, &linked.facts);
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

    fn seen<'a>(parent: &'a [u8], name: &'a [u8], ino: u64, nlink: u32, size: u64) -> Seen<'a> {
        let inode = Inode { dev: (8, 1), ino };
        let facts = Facts { inode, nlink, uid: 0, size, allocated: 4096, ..Facts::default() };
        Seen { parent, name, depth: 1, kind: Kind::Reg, facts: Some(facts), owners: [Some(b"ann"), None] }
    }

    #[test]
    fn a_file_counts_once_with_its_first_name_whoever_met_it() {
        let all = [
            seen(b"t/b", b"x.c", 7, 3, 10),
            seen(b"t/a", b"x.h", 7, 3, 10),
            seen(b"t", b"x.o", 7, 3, 10),
            seen(b"t", b"y.o", 8, 1, 5),
        ];
        for turn in 0..all.len() {
            let keys = [Key::Extension, Key::User];
            let mut crew = [(); 2].map(|()| Sums::new(&keys, Now::live(), false));
            for step in 0..all.len() {
                crew[step % 2].see(&all[(step + turn) % all.len()]);
            }
            let [mut sums, other] = crew;
            sums.merge(other);
            let tables = sums.into_tables(&keys);
            let mut extensions = tables[0].rows.clone();
            extensions.sort_by(|a, b| a.name.cmp(&b.name));
            let sum = |entries, size| Sum { entries, size, allocated: 4096 * entries };
            let row = |name: &[u8], id, sum| Row { name: name.to_vec(), id, sum };
            assert_eq!(extensions, [row(b"h", None, sum(1, 10)), row(b"o", None, sum(1, 5))], "{turn}");
            assert_eq!(tables[1].rows, [row(b"ann", Some(0), sum(2, 15))]);
        }
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
