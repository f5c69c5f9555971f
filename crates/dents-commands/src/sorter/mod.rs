//! Records in the order of their keys, in bounded memory.
//!
//! Records are collected in memory. When it is full, they are sorted and written to a temporary file as a *run*: each key without the
//! bytes that it shares with the key before it. In the end the runs are merged ([`Sorted`]). The file has no name, so it vanishes when
//! the program ends in any way. If all records fit into memory, there is no file.

mod sorted;

use dents_sink::coding::{put_bytes, put_number};
use dents_sink::{Scratch, Temporary};
use sorted::Run;
pub(crate) use sorted::Sorted;
use std::cmp::Ordering;
use std::io;
use std::rc::Rc;

/// Bytes of records in memory.
const MEMORY: usize = 64 << 20;
/// Tests set another number in this variable.
const TEST_MEMORY: &str = "DENTS_TEST_DIFF_MEMORY";
/// The assumed least length of a record, which limits the number of [`Item`]s.
const SHORT: usize = 48;
/// Bytes that are written at once.
const WRITE: usize = 256 << 10;

/// Collects records: a key and a body each.
pub(crate) struct Sorter {
    memory: usize,
    arena: Vec<u8>,
    items: Vec<Item>,
    runs: Vec<Run>,
    file: Option<Temporary>,
    /// The length of the file.
    end: u64,
}

/// A record in the arena: its key, and its body behind it.
#[derive(Clone, Copy)]
struct Item {
    /// The first bytes of the key, which usually decide the order.
    prefix: u64,
    start: u32,
    key: u32,
    body: u32,
}

impl Item {
    fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start as usize..][..self.key as usize]
    }

    fn body<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[(self.start + self.key) as usize..][..self.body as usize]
    }

    fn order(&self, other: &Item, arena: &[u8]) -> Ordering {
        let keys = || self.key(arena).cmp(other.key(arena));
        let bodies = || self.body(arena).cmp(other.body(arena));
        self.prefix.cmp(&other.prefix).then_with(keys).then_with(bodies)
    }
}

/// The first eight bytes of a key as a number of the same order.
fn prefix(key: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = key.len().min(8);
    first[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(first)
}

impl Sorter {
    pub(crate) fn new() -> Sorter {
        let memory = std::env::var(TEST_MEMORY).ok().and_then(|text| text.parse().ok()).unwrap_or(MEMORY);
        Sorter { memory, arena: Vec::new(), items: Vec::new(), runs: Vec::new(), file: None, end: 0 }
    }

    /// Adds a record. An error is one of the temporary file.
    pub(crate) fn push(&mut self, key: &[u8], body: &[u8]) -> io::Result<()> {
        if self.arena.len() + key.len() + body.len() > self.memory || self.items.len() >= self.memory / SHORT
        {
            self.spill()?;
        }
        if self.arena.capacity() == 0 {
            // To double the capacity would copy, and keep up to twice as much. A page of the reserved memory takes nothing until it is used.
            self.arena.reserve_exact(self.memory);
            self.items.reserve_exact(self.memory / SHORT);
        }
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(body);
        self.items.push(Item { prefix: prefix(key), start, key: key.len() as u32, body: body.len() as u32 });
        Ok(())
    }

    /// Sorts the records in memory, and writes them to the temporary file.
    fn spill(&mut self) -> io::Result<()> {
        if self.items.is_empty() {
            return Ok(());
        }
        self.sort();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Scratch::temporary().create()?),
        };
        let start = self.end;
        let mut buffer = Vec::with_capacity(WRITE + (WRITE >> 2));
        let mut before: &[u8] = b"";
        for item in &self.items {
            before = encode(item, before, &self.arena, &mut buffer);
            if buffer.len() >= WRITE {
                file.write_all_at(&buffer, self.end)?;
                self.end += buffer.len() as u64;
                buffer.clear();
            }
        }
        file.write_all_at(&buffer, self.end)?;
        self.end += buffer.len() as u64;
        self.runs.push(Run::Written { start, end: self.end });
        self.arena.clear();
        self.items.clear();
        Ok(())
    }

    fn sort(&mut self) {
        let Sorter { arena, items, .. } = self;
        items.sort_unstable_by(|a, b| a.order(b, arena));
    }

    /// All records in order. If some were written to the disk, the others are written too.
    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        if self.file.is_some() {
            self.spill()?;
            return Sorted::new(self.file.map(Rc::new), self.runs);
        }
        self.sort();
        let mut encoded = Vec::new();
        let mut before: &[u8] = b"";
        for item in &self.items {
            before = encode(item, before, &self.arena, &mut encoded);
        }
        Sorted::new(None, vec![Run::Held(encoded)])
    }
}

/// Appends a record: the number of bytes that its key shares with the beginning of the key before it, the rest of the key, and the body. Returns
/// the key.
fn encode<'a>(item: &Item, before: &[u8], arena: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let key = item.key(arena);
    let shared = before.iter().zip(key).take_while(|(a, b)| a == b).count();
    put_number(out, shared as u64);
    put_bytes(out, &key[shared..]);
    put_bytes(out, item.body(arena));
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    #[test]
    fn records_come_in_order_with_any_memory() {
        let mut state = 5;
        let mut records: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for nth in 0..3000_u32 {
            let length = random(&mut state) % 12;
            let key = (0..length).map(|_| (random(&mut state) % 3) as u8 * 127).collect();
            records.push((key, nth.to_le_bytes()[..(nth % 5) as usize].to_vec()));
        }
        let mut expected = records.clone();
        expected.sort();
        for memory in [1, 100, 5000, MEMORY] {
            let mut sorter = Sorter { memory, ..Sorter::new() };
            records.iter().for_each(|(key, body)| sorter.push(key, body).unwrap());
            let mut sorted = sorter.finish().unwrap();
            for (key, body) in &expected {
                assert_eq!(sorted.head(), Some((&key[..], &body[..])), "{memory}");
                sorted.advance().unwrap();
            }
            assert_eq!(sorted.head(), None);
        }
    }

    #[test]
    fn nothing_is_sorted_too() {
        assert_eq!(Sorter::new().finish().unwrap().head(), None);
    }
}
