//! Sums, with hard links and removals, against a computation from scratch.

use super::*;
use crate::browse::tree::Flags;
use std::collections::{HashMap, HashSet};

/// A generator of numbers: the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Allocated bytes and entries of a directory: each file under its first name, in the order of directories and names.
fn brute(tree: &Tree, top: Id) -> HashMap<Id, (u64, u64)> {
    let mut all: Vec<(Vec<Vec<u8>>, Vec<u8>, Id)> = Vec::new();
    let mut waiting: Vec<(Id, Vec<Vec<u8>>)> = vec![(top, Vec::new())];
    while let Some((id, path)) = waiting.pop() {
        for child in tree.children(id) {
            let name = tree.name(child).to_vec();
            all.push((path.clone(), name.clone(), child));
            waiting.push((child, [path.clone(), vec![name]].concat()));
        }
    }
    all.sort();
    let (mut seen, mut sums) = (HashSet::new(), HashMap::new());
    for (_, _, id) in all {
        let node = tree.node(id);
        let own = if node.is_dir() { 4096 } else { node.allocated };
        if node.is_dir() || !node.has(Flags::LINKED) || seen.insert(node.ino) {
            for above in tree.ancestors(id) {
                let sum: &mut (u64, u64) = sums.entry(above).or_default();
                sum.0 += own;
                sum.1 += 1;
            }
        }
    }
    sums
}

#[test]
fn random_trees_with_links_and_removals() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut tree = Tree::new();
        tree.add(Id::TOP, [directory("root", 1)]);
        let mut directories = vec![find(&tree, "root")];
        let mut everything = Vec::new();
        for step in 0..60_u64 {
            let above = directories[random.below(directories.len())];
            let name = format!("{:02}", random.below(90));
            if tree.children(above).any(|id| tree.name(id) == name.as_bytes()) || !tree.is_attached(above) {
                continue;
            }
            let is_directory = random.below(3) == 0;
            let ino = if is_directory { 1000 + step } else { 2 + random.below(12) as u64 };
            // One of twelve files, each with several names.
            let facts = Known { nlink: 9, ..known(ino, ino * 1000) };
            let fresh = match is_directory {
                true => Fresh { name: name.as_bytes(), ..directory("", ino) },
                false => Fresh { name: name.as_bytes(), kind: Kind::Reg, facts: Some(facts) },
            };
            tree.add(above, [fresh]);
            let id = tree.children(above).next().expect("it was added");
            everything.push(id);
            if is_directory {
                directories.push(id);
            }
            if random.below(9) == 0 {
                let gone = everything[random.below(everything.len())];
                if tree.is_attached(gone) {
                    tree.remove(gone);
                }
            }
            let sums = brute(&tree, Id::TOP);
            for id in directories.iter().copied().filter(|id| tree.is_attached(*id)).chain([Id::TOP]) {
                let own = if id == Id::TOP { 0 } else { 4096 };
                let (allocated, entries) = sums.get(&id).copied().unwrap_or_default();
                let node = tree.node(id);
                assert_eq!(
                    (node.allocated, u64::from(node.entries)),
                    (allocated + own, entries),
                    "{seed} {step}"
                );
            }
        }
    }
}

#[test]
fn rows_of_a_directory_may_come_before_its_own() {
    let mut tree = Tree::new();
    let root = tree.directory(Id::TOP, b"/srv");
    let deep = tree.directory(root, b"a");
    tree.add(deep, [file("f", 3, 100)]);
    assert_eq!((tree.node(root).allocated, tree.node(root).entries), (4096, 1));
    tree.add(root, [directory("a", 2)]);
    tree.add(Id::TOP, [directory("/srv", 1)]);
    assert_eq!((tree.node(root).allocated, tree.node(root).entries), (3 * 4096, 2));
    assert_eq!(tree.children(Id::TOP).count(), 1);
    assert_eq!((tree.path(deep), tree.node(Id::TOP).entries), (b"/srv/a".to_vec(), 3));
}

#[test]
fn names_of_any_length_come_back() {
    let mut tree = Tree::new();
    for length in [0, 1, 127, 128, 255, 16_383, 16_384, 3 << 20] {
        let name = vec![b'x'; length];
        let id = tree.directory(Id::TOP, &name);
        assert_eq!(tree.name(id), name, "{length}");
        assert_eq!(tree.directory(Id::TOP, &name), id);
    }
}

/// The memory that the documentation promises: 120 bytes for each file with a name of 20 bytes, also if each file has two links.
#[test]
fn memory_for_each_file() {
    for links in [1, 2] {
        let mut tree = Tree::new();
        tree.add(Id::TOP, [directory("root", 1)]);
        let root = find(&tree, "root");
        let mut ino = 2;
        for nth in 0..400 {
            let name = format!("directory{nth}");
            let at = tree.directory(root, name.as_bytes());
            let names: Vec<String> = (0..1000).map(|nth| format!("{nth:020}")).collect();
            let all = names.iter().map(|name| {
                ino += 1;
                let facts = Known { nlink: links, ..known(ino / u64::from(links), 100) };
                Fresh { name: name.as_bytes(), kind: Kind::Reg, facts: Some(facts) }
            });
            tree.add(at, all);
        }
        let each = tree.bytes() / 400_000;
        assert!(each <= 120, "{each} bytes with {links} links");
    }
}
